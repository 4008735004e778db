//! Times warm launches of a small kernel with three arrays: what a launch costs the host.
//!
//!     cargo run --release -p weft-cuda --example launch_cost

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_ir::text;
use weft_runtime::{Buffer, CallOptions, CompileOptions, Device, GridShape, Launch};

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

const LAUNCHES: u32 = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = weft_cuda::platform()?.devices.first().ok_or("no CUDA device")?;
    let exe = device.compile(Arc::new(text::parse(KERNEL)?), CompileOptions::default())?;
    let n = 128;
    let arrays: Vec<Box<dyn Buffer>> = (0..3).map(|_| device.allocate(4 * n, None)).collect::<Result<_, _>>()?;
    let slots: Vec<u64> = arrays.iter().flat_map(|a| [a.address(), n as u64, 4]).collect();
    let shape = GridShape {
        block: [128, 1, 1],
        grid: [1, 1, 1],
    };
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            exe.run(Launch::Grid(shape), &slots, &mut [], &CallOptions::default())?;
        }
        best = best.min(start.elapsed() / LAUNCHES);
        device.synchronize()?;
    }
    println!("{}: {best:?} a launch", device.info().description);
    Ok(())
}
