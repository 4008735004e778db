//! What a launch, a wait and the opening of a device cost the host: `cargo run --release -p weft-gpu --example overhead`.
//!
//! Times are of the calling thread's work, so that what else the machine does counts for little.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::time::Instant;

use weft_ir::text;
use weft_runtime::{CallOptions, CompileOptions, Device, GridShape, Launch};

const KERNEL: &str = "
entry kernel @triad(%0 x: view<f32, 1, C, global, ro>, %1 y: view<f32, 1, C, global, ro>, %2 z: view<f32, 1, C, global>, %3 a: f32) {
  %4: i64 = thread_idx.x
  %5: i64 = dim %2, 0
  %6: bool = lt %4, %5
  if %6 {
    %7: f32 = load %0[%4]
    %8: f32 = load %1[%4]
    %9: f32 = mul %8, %3
    %10: f32 = add %7, %9
    store %2[%4] = %10
  }
}
";

/// Nanoseconds this thread was on a core.
fn work_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn timed<T>(what: &str, times: u32, work: impl FnOnce() -> T) -> T {
    let (start, begin) = (Instant::now(), work_ns());
    let result = work();
    let (wall, own) = (start.elapsed().as_nanos() as f64, (work_ns() - begin) as f64);
    let each = 1000.0 * f64::from(times);
    println!("{what}: {:.2} µs of work, {:.2} µs by the clock", own / each, wall / each);
    result
}

fn main() {
    let devices = timed("enumerate devices", 1, weft_gpu::devices);
    let gpu = devices.first().expect("there is no GPU");
    println!("{:#?}", weft_gpu::status());
    timed("open the device", 1, || gpu.features().unwrap());
    let module = Arc::new(text::parse(KERNEL).unwrap());
    let exe = timed("lower", 1, || gpu.compile(module, CompileOptions::default()).unwrap());
    let arrays: Vec<_> = (0..3).map(|_| gpu.allocate(1024, None).unwrap()).collect();
    let mut args: Vec<u64> = arrays.iter().flat_map(|array| [array.address(), 256, 4]).collect();
    args.push(u64::from(2.5f32.to_bits()));
    let launch = || {
        let shape = GridShape {
            block: [32, 1, 1],
            grid: [1, 1, 1],
        };
        exe.run(Launch::Grid(shape), &args, &mut [], &CallOptions::default()).unwrap();
    };
    timed("first launch", 1, launch);
    gpu.synchronize().unwrap();
    for round in 0..5 {
        // Less than a batch, so that nothing is submitted meanwhile.
        timed(&format!("launch {round} of a batch"), 500, || (0..500).for_each(|_| launch()));
        gpu.synchronize().unwrap();
        let count = 10_000;
        timed(&format!("launch {round}"), count, || (0..count).for_each(|_| launch()));
        timed("  and wait", count, || gpu.synchronize().unwrap());
    }
    timed("launch and wait", 1000, || {
        for _ in 0..1000 {
            launch();
            gpu.synchronize().unwrap();
        }
    });
    let mut four = [0; 4];
    timed("read 4 bytes", 1000, || {
        (0..1000).for_each(|_| arrays[0].read(0, &mut four).unwrap())
    });
    timed("write 4 bytes", 1000, || (0..1000).for_each(|_| arrays[0].write(0, &four).unwrap()));
    timed("allocate and free", 10_000, || {
        (0..10_000).for_each(|_| drop(gpu.allocate(1000, None).unwrap()));
    });
}
