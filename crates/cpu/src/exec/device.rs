//! The CPU as a device.

use std::sync::Arc;

use weft_ir::Module;
use weft_runtime::{Buffer, CompileError, CompileOptions, Device, DeviceInfo, Executable, GridShape, RunError};

use super::code;
use super::executable::CpuExecutable;
use super::memory::HostBuffer;
use super::pool;
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
        Ok(Arc::new(CpuExecutable::new(module, options, target)?))
    }
}

impl Device for CpuDevice {
    fn info(&self) -> DeviceInfo {
        let host = weft_llvm::host();
        DeviceInfo {
            name: "cpu".into(),
            description: processor_name().unwrap_or_else(|| host.cpu.clone()),
            cores: pool::num_threads(),
            simd_bits: host.vector_bits as usize,
            features: host.level.into(),
            memory_bytes: memory_bytes(),
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

    fn allocate(&self, bytes: usize) -> Result<Box<dyn Buffer>, RunError> {
        HostBuffer::boxed(bytes)
    }

    /// Launches are over when `run` returns.
    fn synchronize(&self) -> Result<(), RunError> {
        Ok(())
    }
}

/// What the processor calls itself, where the system tells.
fn processor_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn memory_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
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
