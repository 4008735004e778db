//! Reductions in the order that suits a device: each thread goes through the points as far as there are threads from one to the next and
//! reduces what it meets into locals of its own; each block combines those of its threads through shared memory, as a tree, and leaves one
//! element per reduction.

use weft_ir::order::Stage;
use weft_ir::{Axis, BinOp, Builder, Function, Geometry, ReduceOp, Reduction, Scalar, StmtKind, Type, Value};

use super::{SharedArrays, THREADS, Total, geometry, halve, kernel_of, kernel_of_partials, load, run_body, store, when_below};
use crate::counted::counted;
use crate::cut::index_of;

/// Points that a thread goes through before there is a second block, and the most blocks.
const POINTS: u64 = 4;
const MOST_BLOCKS: u64 = 2048;

pub fn stage(extents: &[u64]) -> Stage {
    let points = extents.iter().fold(1u64, |points, n| points.saturating_mul(*n));
    let partials = points.div_ceil(u64::from(THREADS) * POINTS).clamp(1, MOST_BLOCKS);
    Stage {
        blocks: partials as u32,
        partials,
        chunk: 1,
    }
}

pub fn first(function: &Function, rank: usize, reductions: &[Reduction]) -> Function {
    let (mut b, extents, totals) = kernel_of(function, rank, reductions);
    let indices = &function.params[..rank];
    let all = extents.iter().copied().reduce(|points, n| b.binary(BinOp::Mul, points, n));
    let points = all.unwrap_or_else(|| b.i64(1));
    let thread = geometry(&mut b, Geometry::ThreadIdx(Axis::X));
    let block = geometry(&mut b, Geometry::BlockIdx(Axis::X));
    let threads = b.i64(i64::from(THREADS));
    let before = b.binary(BinOp::Mul, block, threads);
    let start = b.binary(BinOp::Add, before, thread);
    let all_blocks = geometry(&mut b, Geometry::GridDim(Axis::X));
    let step = b.binary(BinOp::Mul, all_blocks, threads);
    let number = match indices {
        [only] => *only,
        _ => b.func.new_value(Type::I64),
    };
    counted(&mut b, number, [start, points, step], |b| {
        index_of(b, indices, &extents, number);
        run_body(b, function);
    });
    combine(&mut b, &totals, thread, block);
    b.finish()
}

pub fn second(function: &Function, scalars: &[(ReduceOp, Scalar)]) -> Function {
    let (mut b, [partials, _], totals) = kernel_of_partials(function, scalars);
    let thread = geometry(&mut b, Geometry::ThreadIdx(Axis::X));
    let threads = b.i64(i64::from(THREADS));
    let number = b.func.new_value(Type::I64);
    counted(&mut b, number, [thread, partials, threads], |b| {
        for total in &totals {
            let part = load(b, total.out, number);
            total.add(b, part);
        }
    });
    let zero = b.i64(0);
    combine(&mut b, &totals, thread, zero);
    b.finish()
}

/// Combines what the threads of a block have and leaves the totals in an element of each `out`.
fn combine(b: &mut Builder, totals: &[Total], thread: Value, place: Value) {
    let mut arrays = SharedArrays::default();
    for total in totals {
        let (shared, used) = arrays.of(b, total.scalar);
        if used {
            b.push(StmtKind::Barrier);
        }
        let own = b.get(total.local);
        store(b, shared, thread, own);
        let mut half = THREADS / 2;
        while half > 0 {
            halve(b, total.op, shared, (thread, thread), half);
            half /= 2;
        }
        when_below(b, thread, 1, |b| {
            let sum = load(b, shared, thread);
            store(b, total.out, place, sum);
        });
    }
}
