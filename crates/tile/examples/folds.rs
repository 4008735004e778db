//! How long folds take: `cargo run --release -p weft-tile --example folds`. Each line is a shape, the axes folded, and the least time of many.
#![allow(unsafe_code)]

use std::time::Instant;

use weft_ir::Scalar;
use weft_tile::fold::{Axis, Fold, FoldOp, Outer, Types};

fn main() {
    let f32s = Types::all(Scalar::F32);
    let f64s = Types::all(Scalar::F64);
    let to = |elem, compute, result| Types { elem, compute, result };
    for (op, name) in [(FoldOp::Add, "sum"), (FoldOp::Maximum, "max"), (FoldOp::Multiply, "prod")] {
        time(name, op, f32s, &[10_000_000], &[0]);
        time(name, op, f32s, &[4000, 1000], &[1]);
        time(name, op, f32s, &[4000, 1000], &[0]);
        time(name, op, f32s, &[4000, 1000], &[0, 1]);
        time(name, op, f64s, &[1000, 1000], &[0]);
        time(name, op, f64s, &[1000, 1000], &[1]);
        time(name, op, f32s, &[1_000_000, 3], &[1]);
        time(name, op, f32s, &[1_000_000, 3], &[0]);
        time(name, op, f32s, &[1_000_000, 3], &[0, 1]);
        time(name, op, f32s, &[3, 1_000_000], &[0]);
        time(name, op, f32s, &[100_000, 30], &[1]);
        time(name, op, f32s, &[100_000, 30], &[0]);
        time(name, op, f32s, &[100_000, 30], &[0, 1]);
        time(name, op, f32s, &[100, 100, 1000], &[0]);
        time(name, op, f32s, &[100, 100, 1000], &[1]);
        time(name, op, f32s, &[100, 100, 100], &[1]);
        time(name, op, f32s, &[100, 100, 100], &[0, 2]);
        // A Fortran array.
        time(name, op, f32s, &[4000, 1000], &[1, 0]);
        time(name, op, f32s, &[10], &[0]);
        time(name, op, f32s, &[1000], &[0]);
    }
    time("sum i8", FoldOp::Add, to(Scalar::I8, Scalar::I64, Scalar::I64), &[1_000_000], &[0]);
    time(
        "sum i32",
        FoldOp::Add,
        to(Scalar::I32, Scalar::I64, Scalar::I64),
        &[1_000_000],
        &[0],
    );
    time(
        "sum f16",
        FoldOp::Add,
        to(Scalar::F16, Scalar::F32, Scalar::F16),
        &[1_000_000],
        &[0],
    );
    time(
        "sum bf16",
        FoldOp::Add,
        to(Scalar::BF16, Scalar::F32, Scalar::BF16),
        &[1_000_000],
        &[0],
    );
    time("sum c64", FoldOp::Add, Types::all(Scalar::C64), &[1_000_000], &[0]);
    time("sum c128", FoldOp::Add, Types::all(Scalar::C128), &[1_000_000], &[0]);
    time("prod c64", FoldOp::Multiply, Types::all(Scalar::C64), &[1_000_000], &[0]);
    time("any bool", FoldOp::Or, Types::all(Scalar::Bool), &[1_000_000], &[0]);
    time("max u8", FoldOp::Maximum, Types::all(Scalar::U8), &[1_000_000], &[0]);
    time("sum i64", FoldOp::Add, Types::all(Scalar::I64), &[1000, 1000], &[0]);
    time(
        "sum f16",
        FoldOp::Add,
        to(Scalar::F16, Scalar::F32, Scalar::F16),
        &[1000, 1000],
        &[0],
    );
}

fn time(name: &str, op: FoldOp, types: Types, shape: &[u64], folded: &[usize]) {
    let size = types.elem.size() as i64;
    let memory = vec![1u8; shape.iter().product::<u64>() as usize * types.elem.size()];
    let mut out = vec![0u8; memory.len() + 64];
    let (mut outer, mut inner, mut stride, mut out_stride) = (Vec::new(), Vec::new(), size, types.result.size() as i64);
    for axis in (0..shape.len()).rev() {
        let extent = shape[axis];
        if folded.contains(&axis) {
            let at = if folded.is_sorted() { 0 } else { inner.len() };
            inner.insert(at, Axis { extent, stride });
        } else {
            let (input, output) = (stride, out_stride);
            outer.insert(0, Outer { extent, input, output });
            out_stride *= extent as i64;
        }
        stride *= extent as i64;
    }
    let mut least = f64::INFINITY;
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < 0.3 {
        let start = Instant::now();
        let repeats = if memory.len() < 100_000 { 1000 } else { 1 };
        for _ in 0..repeats {
            let fold = Fold::new(op, types, &outer, &inner).expect("the types go together");
            // SAFETY: the arrays are as large as extents and strides say.
            unsafe { fold.run(std::hint::black_box(memory.as_ptr()), out.as_mut_ptr(), 0..fold.units()) };
        }
        least = least.min(start.elapsed().as_secs_f64() / repeats as f64);
    }
    let speed = memory.len() as f64 / least / 1e9;
    println!("{name:9} {shape:?} along {folded:?}: {:.2} us, {speed:.1} GB/s", least * 1e6);
}
