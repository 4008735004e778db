//! The CPU as a device.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_ir::Module;
use weft_runtime::{
    Buffer, CompileError, CompileOptions, Device, DeviceId, DeviceInfo, DeviceMemory, Event, Executable, GridShape, HostMemory, Limits,
    MemoryStats, OutOfMemory, Output, RunError, Stream, StreamOptions,
};

use super::code;
use super::executable::CpuExecutable;
use super::memory::{self, HostBuffer};
use super::pool;
use super::spread;
use super::stream::{CpuEvent, CpuStream};
use crate::emit::Target;

/// Threads of a block that `plan_forall` makes, at one axis and at more.
const LINE_BLOCK: u64 = 256;
const ROW_BLOCK: u64 = 512;
/// Lanes of a gang at the most: rows of a block are a multiple of it.
const GANG: u64 = 32;

/// All cores of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuDevice;

impl CpuDevice {
    /// What the emitter is told of this machine.
    pub fn target(&self) -> Target {
        code::target(weft_llvm::host())
    }

    /// What the emitter would be told of a machine with a named level of vector extensions (as in `WEFT_CPU_FEATURES`).
    pub fn target_of_level(&self, level: &str) -> Option<Target> {
        weft_llvm::Target::of_level(level).map(|machine| code::target(&machine))
    }

    /// Compiles for a description of this machine other than its own: another gang width, another form of masks.
    pub fn compile_for(&self, module: Arc<Module>, options: CompileOptions, target: Target) -> Result<Arc<dyn Executable>, CompileError> {
        Ok(CpuExecutable::new(module, options, target)?)
    }
}

/// What graphs printed; launches return theirs.
pub static OUTPUT: Output = Output::new();

/// The most bytes that `allocate` may have out; `u64::MAX` for no limit.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Blocks are as CUDA's, so that kernels rely on the same limits, with as much shared memory as its newer devices have; a grid may have
/// any shape.
static LIMITS: Limits = Limits {
    block: [1024; 3],
    grid: [u32::MAX; 3],
    shared_bytes_optin: 227 << 10,
    cooperative: true,
    ..Limits::COMMON
};

impl Device for CpuDevice {
    fn id(&self) -> DeviceId {
        DeviceId::CPU
    }

    fn info(&self) -> DeviceInfo {
        let host = weft_llvm::host();
        DeviceInfo {
            name: "cpu".into(),
            description: processor_name().unwrap_or_else(|| host.cpu.clone()),
            cores: pool::num_threads(),
            simd_bits: host.vector_bits as usize,
            features: host.level.into(),
            memory_bytes: meminfo("MemTotal:"),
            uuid: None,
            software: false,
        }
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn attribute(&self, _number: i32) -> Option<i32> {
        None
    }

    fn host_accessible(&self) -> bool {
        true
    }

    fn can_access_peer(&self, other: DeviceId) -> bool {
        other == DeviceId::CPU
    }

    fn enable_peer(&self, other: DeviceId) -> Result<(), RunError> {
        match other {
            DeviceId::CPU => Ok(()),
            _ => Err(RunError::Unsupported(format!("the CPU cannot address the memory of {other}"))),
        }
    }

    fn compile(&self, module: Arc<Module>, options: CompileOptions) -> Result<Arc<dyn Executable>, CompileError> {
        self.compile_for(module, options, code::target(weft_llvm::host()))
    }

    /// The last axis of the shape gets the lanes, since it is the one along which elements are neighbours.
    fn plan_forall(&self, shape: &[u64]) -> GridShape {
        let mut block = [1; 3];
        let mut grid = [1; 3];
        for (axis, &extent) in shape.iter().take(3).enumerate() {
            let last = axis + 1 == shape.len().min(3);
            let threads = match (last, shape.len()) {
                (false, _) => 1,
                (true, 1) => LINE_BLOCK,
                (true, _) => extent.next_multiple_of(GANG).clamp(GANG, ROW_BLOCK),
            };
            block[axis] = threads as u32;
            grid[axis] = u32::try_from(extent.div_ceil(threads)).unwrap_or(u32::MAX);
        }
        GridShape { block, grid }
    }

    fn default_stream(&self) -> Result<Arc<dyn Stream>, RunError> {
        Ok(CpuStream::default_stream())
    }

    fn new_stream(&self, _options: StreamOptions) -> Result<Arc<dyn Stream>, RunError> {
        Ok(Arc::new(CpuStream::default()))
    }

    fn external_stream(&self, _raw_handle: u64) -> Result<Arc<dyn Stream>, RunError> {
        Err(RunError::Unsupported("the CPU has no streams of other libraries".into()))
    }

    fn new_event(&self, timing: bool) -> Result<Arc<dyn Event>, RunError> {
        Ok(Arc::new(CpuEvent::new(timing)))
    }

    fn allocate(&self, bytes: usize, _stream: Option<&Arc<dyn Stream>>) -> Result<Box<dyn Buffer>, RunError> {
        let (limit, used) = (LIMIT.load(Ordering::Relaxed), memory::used());
        if used.saturating_add(bytes as u64) > limit {
            return Err(OutOfMemory {
                requested: bytes as u64,
                device: Some(DeviceMemory {
                    free: meminfo("MemAvailable:"),
                    total: meminfo("MemTotal:"),
                    used,
                    pooled: memory::pooled(),
                    limit: Some(limit),
                }),
            }
            .into());
        }
        HostBuffer::boxed(bytes)
    }

    fn allocate_host(&self, bytes: usize, _kind: HostMemory) -> Result<Box<dyn Buffer>, RunError> {
        HostBuffer::boxed(bytes)
    }

    fn pin(&self, address: u64, bytes: usize, _mapped: bool) -> Result<Box<dyn Buffer>, RunError> {
        Ok(Box::new(memory::Borrowed { address, bytes }))
    }

    fn memory_stats(&self) -> Result<MemoryStats, RunError> {
        let limit = LIMIT.load(Ordering::Relaxed);
        Ok(MemoryStats {
            used: memory::used(),
            peak: memory::peak(),
            reserved: memory::used().saturating_add(memory::pooled()),
            limit: (limit != u64::MAX).then_some(limit),
            free: meminfo("MemAvailable:"),
            total: meminfo("MemTotal:"),
        })
    }

    fn set_memory_limit(&self, bytes: Option<u64>) -> Result<(), RunError> {
        LIMIT.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(())
    }

    fn free_all(&self) -> Result<(), RunError> {
        memory::free_all();
        Ok(())
    }

    /// Launches are over when `run` returns.
    fn synchronize(&self) -> Result<(), RunError> {
        Ok(())
    }

    fn threads(&self) -> usize {
        pool::current().helpers() + 1
    }

    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        spread::share(units, work);
    }

    fn take_output(&self) -> String {
        OUTPUT.take()
    }
}

/// What the processor calls itself, where the system tells.
fn processor_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// Bytes that the system says of its memory; 0 where it does not say.
fn meminfo(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forall_covers_every_point() {
        for shape in [&[1u64][..], &[1000], &[3, 5], &[2500, 2500], &[4, 5, 600], &[7, 1]] {
            let plan = CpuDevice.plan_forall(shape);
            for (axis, &extent) in shape.iter().enumerate() {
                assert!(u64::from(plan.block[axis]) * u64::from(plan.grid[axis]) >= extent);
            }
            assert!(plan.block.iter().product::<u32>() <= 1024);
        }
        let plan = CpuDevice.plan_forall(&[10, 40]);
        assert_eq!((plan.block, plan.grid), ([1, 64, 1], [10, 1, 1]));
    }
}
