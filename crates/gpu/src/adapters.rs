//! Adapters: what this machine has of GPUs besides CUDA's: asked of the drivers once, when someone first wants to know.

use std::panic::catch_unwind;
use std::sync::Arc;

use weft_forks::{self as forks, Once};
use weft_runtime::{DeviceId, DeviceKind};

use crate::device::GpuDevice;
use crate::gpu::Gpu;
use crate::hal;

/// `none` hides all of them.
const WISH: &str = "WEFT_GPU";

/// OpenGL lacks too much.
const BACKENDS: wgpu::Backends = wgpu::Backends::VULKAN.union(wgpu::Backends::METAL).union(wgpu::Backends::DX12);

/// The drivers' devices.
#[derive(Debug)]
pub struct Platform {
    pub devices: Vec<Arc<GpuDevice>>,
    /// A line for each device that Weft does not use: why.
    pub unsupported: Vec<String>,
}

impl Platform {
    /// Asks all drivers for their devices. The error is one line.
    pub fn open() -> Result<Platform, String> {
        match std::env::var(WISH) {
            Ok(wish) if wish == "none" => return Err(format!("{WISH} is none")),
            Ok(wish) if !wish.is_empty() => return Err(format!("{WISH} is '{wish}': 'none' hides GPUs, and nothing else is known")),
            _ => {}
        }
        let forks = forks::watch();
        // A driver that wgpu does not expect may make it panic; no call of ours does.
        let asked = catch_unwind(enumerate).map_err(|_| "the drivers of this machine's GPUs fail when they are asked for devices")?;
        let (mut adapters, loader) = asked;
        if adapters.is_empty() {
            return Err(nothing_found(loader).into());
        }
        adapters.sort_by_key(|adapter| {
            let wide = adapter.features().contains(wgpu::Features::SHADER_F64);
            (rank(adapter.get_info().device_type), !wide)
        });
        let mut platform = Platform {
            devices: Vec::new(),
            unsupported: Vec::new(),
        };
        for adapter in adapters {
            platform.add(adapter, forks);
        }
        Ok(platform)
    }

    fn add(&mut self, adapter: wgpu::Adapter, forks: u32) {
        let info = adapter.get_info();
        let Some(kind) = kind_of(info.backend) else { return };
        let index = self.devices.iter().filter(|known| known.gpu().id.kind == kind).count();
        let id = DeviceId { kind, index: index as u32 };
        match Gpu::new(id, adapter, forks) {
            Ok(gpu) => self.devices.push(Arc::new(GpuDevice::new(gpu))),
            Err(why) => self.unsupported.push(format!("{} ({}): {why}", info.name, kind.name())),
        }
    }
}

fn enumerate() -> (Vec<wgpu::Adapter>, bool) {
    let mut wanted = wgpu::InstanceDescriptor::new_without_display_handle();
    wanted.backends = BACKENDS;
    wanted.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(wanted);
    let adapters = pollster::block_on(instance.enumerate_adapters(BACKENDS));
    let loader = hal::has_vulkan(&instance);
    (adapters, loader)
}

fn nothing_found(loader: bool) -> &'static str {
    if cfg!(target_vendor = "apple") {
        "no GPU that Metal drives"
    } else if loader {
        "Vulkan's loader is there, but no driver that gives it a device"
    } else {
        "Vulkan's loader (libvulkan.so.1 or vulkan-1.dll) was not found or does not start: install the GPU's driver"
    }
}

/// Faster ones first; what runs on the CPU last. Of equals those with float64 come first.
fn rank(ty: wgpu::DeviceType) -> u8 {
    match ty {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => 2,
        wgpu::DeviceType::Cpu => 3,
    }
}

fn kind_of(backend: wgpu::Backend) -> Option<DeviceKind> {
    match backend {
        wgpu::Backend::Vulkan => Some(DeviceKind::Vulkan),
        wgpu::Backend::Metal => Some(DeviceKind::Metal),
        wgpu::Backend::Dx12 => Some(DeviceKind::Dx12),
        _ => None,
    }
}

/// This machine's, asked for at the first call; the error says in one line why there is none.
pub fn platform() -> Result<&'static Platform, &'static str> {
    static PLATFORM: Once<Result<Platform, String>> = Once::new();
    let found = PLATFORM.get_or_init(Platform::open);
    found.as_ref().map_err(String::as_str)
}

/// The GPUs that Weft runs on, software last; none where there are no drivers.
pub fn devices() -> &'static [Arc<GpuDevice>] {
    platform().map_or(&[], |platform| &platform.devices)
}

/// For people: a line for each GPU, or one that says why there is none.
pub fn status() -> Result<Vec<String>, String> {
    let platform = platform()?;
    let mut lines = Vec::new();
    for device in &platform.devices {
        let info = &device.gpu().info;
        let memory = info.memory_bytes >> 20;
        let software = if info.software { ", runs on the CPU" } else { "" };
        lines.push(format!(
            "{}: {}, {}, {memory} MiB{software}",
            info.name, info.description, info.features
        ));
    }
    lines.extend(platform.unsupported.iter().cloned());
    Ok(lines)
}
