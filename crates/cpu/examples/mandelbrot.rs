//! Times the first launch and later ones of a Mandelbrot kernel, from IR text on.
//!
//!     cargo run --release -p weft-cpu --example mandelbrot -- 2500 50

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_cpu::CpuDevice;
use weft_ir::text;
use weft_runtime::{CallOptions, CompileOptions, Device, Inspect, Launch};

const KERNEL: &str = "
device @escape(%0 x: f64, %1 y: f64, %2 limit: i64) -> i64 contract {
  local $0 z: c128
  %3: c128 = complex %0, %1
  %4: c128 = (0.0, 0.0)
  set $0 = %4
  %5: i64 = 0
  %6: i64 = 1
  for %7 i: i64 = %5 to %2 step %6 {
    %8: c128 = get $0
    %9: c128 = mul %8, %8
    %10: c128 = add %9, %3
    set $0 = %10
    %11: c128 = get $0
    %12: f64 = re %11
    %13: f64 = mul %12, %12
    %14: f64 = im %11
    %15: f64 = mul %14, %14
    %16: f64 = add %13, %15
    %17: f64 = 4.0
    %18: bool = ge %16, %17
    if %18 {
      return %7
    }
  }
  return %2
}

entry kernel @mandelbrot(%0 x0: f64, %1 x1: f64, %2 y0: f64, %3 y1: f64, %4 image: view<i32, 2, C, global>, %5 limit: i64) contract {
  %6: i64 = thread_idx.x
  %7: i64 = block_idx.x
  %8: i64 = block_dim.x
  %9: i64 = mul %7, %8
  %10: i64 = add %9, %6
  %11: i64 = thread_idx.y
  %12: i64 = block_idx.y
  %13: i64 = block_dim.y
  %14: i64 = mul %12, %13
  %15: i64 = add %14, %11
  %16: i64 = dim %4, 0
  %17: bool = lt %10, %16
  if %17 {
    %18: i64 = dim %4, 1
    %19: bool = lt %15, %18
    if %19 {
      %20: f64 = cast %15
      %21: f64 = sub %1, %0
      %22: f64 = mul %20, %21
      %23: f64 = cast %18
      %24: f64 = div %22, %23
      %25: f64 = add %0, %24
      %26: f64 = cast %10
      %27: f64 = sub %3, %2
      %28: f64 = mul %26, %27
      %29: f64 = cast %16
      %30: f64 = div %28, %29
      %31: f64 = add %2, %30
      %32: i64 = call @escape(%25, %31, %5)
      %33: i32 = cast %32
      store %4[%10, %15] = %33
    }
  }
}
";

fn argument<T: std::str::FromStr>(position: usize, default: T) -> T {
    std::env::args().nth(position).and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (size, limit) = (argument(1, 2500u64), argument(2, 50u64));
    let mut image = vec![0i32; (size * size) as usize];
    let data = image.as_mut_ptr() as u64;
    let corner = |x: f64| x.to_bits();
    let args = [
        corner(-2.0),
        corner(1.0),
        corner(-1.5),
        corner(1.5),
        data,
        size,
        size,
        4 * size,
        4,
        limit,
    ];

    let start = Instant::now();
    let module = Arc::new(text::parse(KERNEL)?);
    let parsed = start.elapsed();
    let exe = CpuDevice.compile(module, CompileOptions::default()).map_err(|e| format!("{e:?}"))?;
    let lowered = start.elapsed() - parsed;
    let plan = CpuDevice.plan_forall(&[size, size]);
    let launch = || {
        exe.run(Launch::Grid(plan), &args, &mut [], &CallOptions::default())
            .map_err(|e| format!("{e:?}"))
    };
    let before = Instant::now();
    launch()?;
    println!("text {parsed:?}, passes {lowered:?}, first launch {:?}", before.elapsed());

    let mut best = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        launch()?;
        best = best.min(start.elapsed());
    }
    println!(
        "best of ten launches {best:?}; sum {}",
        image.iter().map(|&n| i64::from(n)).sum::<i64>()
    );
    if std::env::args().nth(3).is_some() {
        println!("{}", exe.inspect(Inspect::Llvm).map_err(|e| format!("{e:?}"))?);
        println!("{}", exe.inspect(Inspect::Asm).map_err(|e| format!("{e:?}"))?);
    }
    Ok(())
}
