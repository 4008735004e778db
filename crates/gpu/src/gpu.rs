//! What everything on one GPU shares, whether the device is open or not: who it is, what it can do, its output, and the opened device.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use weft_forks as forks;
use weft_runtime::{DeviceId, DeviceInfo, DeviceKind, DriverError, Limits, Output, RunError, lock};

use crate::callbacks::Callbacks;
use crate::features::{Features, FloatControls, Platform};
use crate::hal;
use crate::live::Live;
use crate::stream::GpuStream;

/// Features of wgpu that are used where a device has them.
const WANTED: wgpu::Features = wgpu::Features::SHADER_F64
    .union(wgpu::Features::SHADER_INT64)
    .union(wgpu::Features::SHADER_I16)
    .union(wgpu::Features::SHADER_INT64_ATOMIC_MIN_MAX)
    .union(wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS)
    .union(wgpu::Features::SHADER_FLOAT32_ATOMIC)
    .union(wgpu::Features::MEMORY_DECORATION_COHERENT)
    .union(wgpu::Features::SUBGROUP)
    .union(wgpu::Features::SUBGROUP_BARRIER)
    .union(wgpu::Features::IMMEDIATES)
    .union(wgpu::Features::PIPELINE_CACHE)
    .union(wgpu::Features::PASSTHROUGH_SHADERS)
    .union(wgpu::Features::TIMESTAMP_QUERY)
    .union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

/// Bytes of parameters that are brought along with commands, however many the driver takes: command buffers hold them.
const MOST_IMMEDIATES: u32 = 256;

/// Addresses of a device's memory have this bit, which no address of the host has, and the device's number above bit 56.
const DEVICE_ADDRESSES: u64 = 1 << 62;
const DEVICE_SHIFT: u32 = 56;
/// Addresses between two pieces of memory, so that none runs into the next, and what pieces are aligned to.
const GAP: u64 = 64 << 10;
const ALIGNED: u64 = 4 << 10;

#[derive(Debug)]
pub struct Gpu {
    pub id: DeviceId,
    pub info: DeviceInfo,
    pub limits: Limits,
    pub adapter: wgpu::Adapter,
    /// What is known of the device before it is opened; see [`Live::features`].
    pub said: Features,
    /// What `forks::count` was when the driver was started.
    forks: u32,
    live: RwLock<Option<Arc<Live>>>,
    /// Makes one thread open the device. How often it was.
    opening: Mutex<u64>,
    /// The next piece of memory's address. None is used twice.
    addresses: AtomicU64,
    /// The most bytes that buffers may take.
    pub memory_limit: AtomicU64,
    default: OnceLock<Arc<GpuStream>>,
    handles: AtomicU64,
    pub callbacks: Callbacks,
    /// What kernels printed and waits collected.
    pub output: Output,
}

impl Gpu {
    /// Looks at a device without opening it. The error is a line that says why Weft does not use it.
    pub fn new(id: DeviceId, adapter: wgpu::Adapter, forks: u32) -> Result<Arc<Gpu>, String> {
        let downlevel = adapter.get_downlevel_capabilities();
        if !downlevel.flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
            return Err("it does not compute, it only draws".into());
        }
        let facts = hal::vulkan_facts(&adapter).unwrap_or_default();
        let said = features(id.kind, &adapter, &facts);
        if said.platform == Platform::Vulkan && !adapter.features().contains(wgpu::Features::PASSTHROUGH_SHADERS) {
            return Err("its driver takes no SPIR-V".into());
        }
        let info = describe(id, &adapter, &said, &facts);
        let limits = limits(&said, &info);
        let mut index = u64::from(id.index);
        index += match id.kind {
            // Devices of several interfaces may be found on one machine.
            DeviceKind::Dx12 => 32,
            _ => 0,
        };
        Ok(Arc::new(Gpu {
            id,
            info,
            limits,
            adapter,
            said,
            forks,
            live: RwLock::default(),
            opening: Mutex::new(0),
            addresses: AtomicU64::new(DEVICE_ADDRESSES | index << DEVICE_SHIFT | ALIGNED),
            memory_limit: AtomicU64::new(u64::MAX),
            default: OnceLock::new(),
            handles: AtomicU64::new(1),
            callbacks: Callbacks::default(),
            output: Output::default(),
        }))
    }

    pub fn is_forked(&self) -> bool {
        forks::count() != self.forks
    }

    /// The opened device. One that was lost is opened again: its memory is gone, but new work is taken.
    #[inline]
    pub fn live(self: &Arc<Self>) -> Result<Arc<Live>, RunError> {
        if self.is_forked() {
            return Err(RunError::Forked(self.id));
        }
        if let Some(live) = &*read(&self.live)
            && !live.is_gone()
        {
            // That it is lost is an error once.
            return live.check().map(|()| live.clone());
        }
        self.open()
    }

    #[cold]
    fn open(self: &Arc<Self>) -> Result<Arc<Live>, RunError> {
        let mut opened = lock(&self.opening);
        if let Some(live) = &*read(&self.live)
            && !live.is_gone()
        {
            return Ok(live.clone());
        }
        *opened += 1;
        let live = Live::open(self, *opened)?;
        let old = self.live.write().unwrap_or_else(PoisonError::into_inner).replace(live.clone());
        drop(old);
        Ok(live)
    }

    /// The opened device, if there is one; what was never opened has nothing to wait for.
    pub fn opened(&self) -> Option<Arc<Live>> {
        if self.is_forked() {
            return None;
        }
        read(&self.live).clone().filter(|live| !live.is_gone())
    }

    /// Features and limits to open the device with.
    pub fn request(&self) -> wgpu::DeviceDescriptor<'static> {
        wgpu::DeviceDescriptor {
            label: None,
            required_features: self.adapter.features() & WANTED,
            required_limits: self.adapter.limits(),
            ..Default::default()
        }
    }

    /// An address for a new piece of memory.
    pub fn new_address(&self, bytes: u64) -> u64 {
        self.addresses.fetch_add(bytes.next_multiple_of(ALIGNED) + GAP, Ordering::Relaxed)
    }

    /// Is this an address of the device's memory, now or in the past?
    pub fn owns(&self, address: u64) -> bool {
        let next = self.addresses.load(Ordering::Relaxed);
        address < next && address >> DEVICE_SHIFT == next >> DEVICE_SHIFT
    }

    pub fn new_handle(&self) -> u64 {
        self.handles.fetch_add(1, Ordering::Relaxed)
    }

    pub fn default_stream(self: &Arc<Self>) -> &Arc<GpuStream> {
        self.default.get_or_init(|| GpuStream::new(self.clone(), 0))
    }

    /// An error of wgpu's as one of the driver.
    pub fn driver_error(call: &'static str, text: impl ToString) -> RunError {
        RunError::Driver(Box::new(DriverError {
            call,
            code: 0,
            name: "wgpu".into(),
            text: text.to_string(),
        }))
    }
}

/// What adapter and driver say. [`Live::open`] tries out what they do not say.
fn features(kind: DeviceKind, adapter: &wgpu::Adapter, facts: &hal::VulkanFacts) -> Features {
    let (has, limits, info) = (adapter.features(), adapter.limits(), adapter.get_info());
    let base = match kind {
        DeviceKind::Metal => Features::metal(),
        DeviceKind::Dx12 => Features::dx12(),
        _ => Features::lavapipe(),
    };
    let controls = |said: FloatControls| {
        if kind == DeviceKind::Vulkan {
            said
        } else {
            FloatControls::default()
        }
    };
    Features {
        // Its functions look at bits.
        float64: has.contains(wgpu::Features::SHADER_F64 | wgpu::Features::SHADER_INT64),
        int64: has.contains(wgpu::Features::SHADER_INT64),
        atomic64: has.contains(wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS),
        shared_atomic64: base.shared_atomic64 && has.contains(wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS),
        float_atomics: has.contains(wgpu::Features::SHADER_FLOAT32_ATOMIC),
        coherent: has.contains(wgpu::Features::MEMORY_DECORATION_COHERENT),
        controls32: controls(facts.controls32),
        controls64: controls(facts.controls64),
        subgroup: match has.contains(wgpu::Features::SUBGROUP) && info.subgroup_min_size == info.subgroup_max_size {
            true => info.subgroup_min_size,
            false => 0,
        },
        // Found by trial.
        group: 1,
        group_barriers: base.group_barriers && has.contains(wgpu::Features::SUBGROUP_BARRIER),
        // Of CPUs found by trial.
        fences: info.device_type != wgpu::DeviceType::Cpu,
        block: [
            limits.max_compute_workgroup_size_x,
            limits.max_compute_workgroup_size_y,
            limits.max_compute_workgroup_size_z,
        ],
        threads: limits.max_compute_invocations_per_workgroup,
        groups: limits.max_compute_workgroups_per_dimension,
        shared_bytes: limits.max_compute_workgroup_storage_size,
        binding_bytes: u32::try_from(limits.max_storage_buffer_binding_size).unwrap_or(u32::MAX) & !15,
        immediates: immediates(kind, &info, has, &limits),
        bindings: limits.max_storage_buffers_per_shader_stage.min(limits.max_bindings_per_bind_group),
        ..base
    }
}

/// See [`Features::immediates`]. Mesa's driver for the CPU compiles anew for other values: it takes them for literals.
fn immediates(kind: DeviceKind, info: &wgpu::AdapterInfo, has: wgpu::Features, limits: &wgpu::Limits) -> u32 {
    let takes = kind == DeviceKind::Vulkan && has.contains(wgpu::Features::IMMEDIATES) && info.driver != "llvmpipe";
    if takes {
        limits.max_immediate_size.min(MOST_IMMEDIATES) & !3
    } else {
        0
    }
}

fn describe(id: DeviceId, adapter: &wgpu::Adapter, features: &Features, facts: &hal::VulkanFacts) -> DeviceInfo {
    let info = adapter.get_info();
    let software = info.device_type == wgpu::DeviceType::Cpu;
    let mut words = vec![features.platform.name().to_string()];
    let driver = format!("{} {}", info.driver, info.driver_info);
    words.extend((!driver.trim().is_empty()).then(|| format!("driver {}", driver.trim())));
    for (has, name) in [
        (features.float64, "float64"),
        (features.int64, "int64"),
        (features.atomic64, "int64 atomics"),
    ] {
        words.extend(has.then(|| name.to_string()));
    }
    let cores = match software {
        true => std::thread::available_parallelism().map_or(0, usize::from),
        false => 0,
    };
    DeviceInfo {
        name: id.to_string(),
        description: info.name,
        cores,
        simd_bits: 32 * features.subgroup as usize,
        features: words.join(", "),
        memory_bytes: facts.memory_bytes,
        uuid: facts.uuid,
        software,
    }
}

/// What launches may ask for: CUDA's limits, where the device has as much. Grids are cut to what it takes at once.
fn limits(features: &Features, info: &DeviceInfo) -> Limits {
    let common = Limits::COMMON;
    Limits {
        threads_per_block: common.threads_per_block.min(features.threads),
        block: std::array::from_fn(|axis| common.block[axis].min(features.block[axis])),
        shared_bytes: common.shared_bytes.min(features.shared_bytes),
        shared_bytes_optin: features.shared_bytes,
        multiprocessors: info.cores.max(1) as u32,
        float64: features.float64,
        int64: features.int64,
        ..common
    }
}

fn read<T>(cell: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    cell.read().unwrap_or_else(PoisonError::into_inner)
}
