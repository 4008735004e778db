//! Reductions in the fixed order of [`weft_ir::order`]: each thread is a chain, so many neighbours as there are chains a block of that order.

use weft_ir::order::{CHAINS, CHUNKS, Cut, Stage};
use weft_ir::{Axis, BinOp, CmpOp, Function, Geometry, ReduceOp, Reduction, Scalar, StmtKind, Type};

use super::{SharedArrays, THREADS, geometry, halve, kernel_of, kernel_of_partials, load, run_body, store, when, when_below};
use crate::counted::counted;
use crate::cut::{RunCut, divided_up, index_of};

/// Blocks of the order that one block of threads computes.
const AT_ONCE: u64 = THREADS as u64 / CHAINS;

pub fn stage(extents: &[u64]) -> Stage {
    let cut = Cut::new(extents);
    let partials = cut.blocks().max(1);
    Stage {
        blocks: u32::try_from(partials.div_ceil(AT_ONCE)).unwrap_or(u32::MAX),
        partials,
        chunk: cut.blocks_per_chunk(),
    }
}

pub fn first(function: &Function, rank: usize, reductions: &[Reduction]) -> Function {
    let (mut b, extents, totals) = kernel_of(function, rank, reductions);
    let thread = geometry(&mut b, Geometry::ThreadIdx(Axis::X));
    let chains = b.i64(CHAINS as i64);
    let (group, chain) = (b.binary(BinOp::FloorDiv, thread, chains), b.binary(BinOp::Mod, thread, chains));
    let block = geometry(&mut b, Geometry::BlockIdx(Axis::X));
    let at_once = b.i64(AT_ONCE as i64);
    let before = b.binary(BinOp::Mul, block, at_once);
    let number = b.binary(BinOp::Add, before, group);

    let cut = RunCut::new(&mut b, &extents);
    let [first_row, last_row, first_column, last_column] = cut.block(&mut b, number);
    let start = b.binary(BinOp::Add, first_column, chain);
    let one = b.i64(1);
    let (column, outer) = match function.params[..rank].split_last() {
        Some((last, outer)) => (*last, outer),
        None => (b.func.new_value(Type::I64), &[][..]),
    };
    let row = match outer {
        [only] => *only,
        _ => b.func.new_value(Type::I64),
    };
    counted(&mut b, row, [first_row, last_row, one], |b| {
        index_of(b, outer, &extents, row);
        counted(b, column, [start, last_column, chains], |b| run_body(b, function));
    });

    let mut arrays = SharedArrays::default();
    for total in &totals {
        let (shared, used) = arrays.of(&mut b, total.scalar);
        if used {
            b.push(StmtKind::Barrier);
        }
        let own = b.get(total.local);
        store(&mut b, shared, thread, own);
        let mut half = CHAINS as u32 / 2;
        while half > 0 {
            halve(&mut b, total.op, shared, (thread, chain), half);
            half /= 2;
        }
        let some = b.compare(CmpOp::Lt, number, cut.blocks);
        when(&mut b, some, |b| {
            when_below(b, chain, 1, |b| {
                let sum = load(b, shared, thread);
                store(b, total.out, number, sum);
            });
        });
    }
    b.finish()
}

/// Each chunk is one thread's; the first combines the chunks.
pub fn second(function: &Function, scalars: &[(ReduceOp, Scalar)]) -> Function {
    let (mut b, [partials, chunk], totals) = kernel_of_partials(function, scalars);
    let thread = geometry(&mut b, Geometry::ThreadIdx(Axis::X));
    let one = b.i64(1);
    when_below(&mut b, thread, CHUNKS as u32, |b| {
        let start = b.binary(BinOp::Mul, thread, chunk);
        let end = b.binary(BinOp::Add, start, chunk);
        let end = b.binary(BinOp::Min, end, partials);
        let number = b.func.new_value(Type::I64);
        counted(b, number, [start, end, one], |b| {
            for total in &totals {
                let part = load(b, total.out, number);
                total.add(b, part);
            }
        });
    });
    let chunks = divided_up(&mut b, partials, chunk);
    let zero = b.i64(0);
    let mut arrays = SharedArrays::default();
    for total in &totals {
        let (shared, used) = arrays.of(&mut b, total.scalar);
        if used {
            b.push(StmtKind::Barrier);
        }
        let own = b.get(total.local);
        store(&mut b, shared, thread, own);
        b.push(StmtKind::Barrier);
        when_below(&mut b, thread, 1, |b| {
            total.start(b);
            let number = b.func.new_value(Type::I64);
            counted(b, number, [zero, chunks, one], |b| {
                let part = load(b, shared, number);
                total.add(b, part);
            });
            let sum = b.get(total.local);
            store(b, total.out, zero, sum);
        });
    }
    b.finish()
}
