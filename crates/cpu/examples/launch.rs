//! Times warm launches of a small kernel with three arrays: what a launch costs besides its work.
//!
//!     cargo run --release -p weft-cpu --example launch

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_cpu::CpuDevice;
use weft_ir::text;
use weft_runtime::{CallOptions, CompileOptions, Device, GridShape, Launch};

const KERNEL: &str = "
entry kernel @add(%0 a: view<f32, 1, C, global, ro>, %1 b: view<f32, 1, C, global, ro>, %2 c: view<f32, 1, C, global>) {
  %3: i64 = thread_idx.x
  %4: i64 = block_idx.x
  %5: i64 = block_dim.x
  %6: i64 = mul %4, %5
  %7: i64 = add %6, %3
  %8: i64 = dim %2, 0
  %9: bool = lt %7, %8
  if %9 {
    %10: f32 = load %0[%7]
    %11: f32 = load %1[%7]
    %12: f32 = add %10, %11
    store %2[%7] = %12
  }
}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let exe = CpuDevice
        .compile(Arc::new(text::parse(KERNEL)?), CompileOptions::default())
        .map_err(|e| format!("{e:?}"))?;
    for blocks in [1u32, 2, 16, 64, 256, 1024, 16384] {
        let n = 128 * blocks as usize;
        let mut arrays = [vec![1f32; n], vec![2f32; n], vec![0f32; n]];
        let slots: Vec<u64> = arrays.iter_mut().flat_map(|a| [a.as_mut_ptr() as u64, n as u64, 4]).collect();
        let shape = GridShape {
            block: [128, 1, 1],
            grid: [blocks, 1, 1],
        };
        let mut best = Duration::MAX;
        for _ in 0..20 {
            let start = Instant::now();
            for _ in 0..100 {
                exe.run(Launch::Grid(shape), &slots, &mut [], &CallOptions::default())
                    .map_err(|e| format!("{e:?}"))?;
            }
            best = best.min(start.elapsed() / 100);
        }
        println!("{blocks:6} blocks of 128 threads: {best:?}");
    }
    Ok(())
}
