//! A block of threads for a row of neighbouring points of a fold: where memory lies along the points, the threads of a warp read it as it lies.
//! Each point has as many threads as the fixed order has chains, which share the points of each inner index space; all do the straight code,
//! and the first of each point the epilogue. A block goes on through the points as far as there are blocks.

use weft_ir::order::CHAINS;
use weft_ir::{BinOp, CmpOp, Function, Geometry, Op, StmtKind, Value};

use super::kernel::{Kernel, Place, clear, geometry};
use super::shape::{Inner, Shape};
use super::shared::Shared;
use super::{COLUMN_THREADS, COLUMNS, fixed, free};
use crate::error::PassError;
use crate::statements::{append, counted, when};

pub fn kernel(func: &Function, shape: &Shape) -> Result<Function, PassError> {
    let mut kernel = Kernel::new(func, shape, "columns");
    kernel.b.func.flags.max_threads = COLUMN_THREADS;
    kernel.shared = Shared::of(COLUMN_THREADS);
    let (points, number) = (kernel.points(), kernel.number());
    let b = &mut kernel.b;
    let [block, blocks, thread] = [Geometry::BlockIdx, Geometry::GridDim, Geometry::ThreadIdx].map(|what| geometry(b, what));
    let [zero, one, columns] = [0, 1, COLUMNS as i64].map(|n| b.i64(n));
    let (chain, column) = (b.binary(BinOp::FloorDiv, thread, columns), b.binary(BinOp::Mod, thread, columns));
    let place = Place {
        thread,
        threads: b.i64(i64::from(COLUMN_THREADS)),
    };
    let first = b.func.new_value(weft_ir::Type::I64);
    b.open();
    // Threads behind the last point do what its own do, up to the epilogue.
    let own = b.binary(BinOp::Add, first, column);
    let last = b.binary(BinOp::Sub, points, one);
    let inside = b.binary(BinOp::Min, own, last);
    b.push(StmtKind::Let(number, Op::Binary(BinOp::Add, inside, zero)));
    kernel.at(number);
    for inner in &shape.inner {
        kernel.straight(&inner.before);
        kernel.share_by_chains(inner, place, [chain, column])?;
    }
    let b = &mut kernel.b;
    let (starts, exists) = (b.compare(CmpOp::Eq, chain, zero), b.compare(CmpOp::Lt, own, points));
    let ends = b.binary(BinOp::And, starts, exists);
    b.open();
    kernel.straight(&shape.epilogue);
    let b = &mut kernel.b;
    let epilogue = b.close();
    when(b, ends, |b| append(b, epilogue));
    let at_points = b.close();
    let [start, step] = [block, blocks].map(|n| b.binary(BinOp::Mul, n, columns));
    counted(b, first, [start, points, step], |b| append(b, at_points));
    Ok(kernel.finish())
}

impl Kernel<'_> {
    /// The points of an inner index space, shared by the threads of a point; its locals hold the same in all of them then.
    fn share_by_chains(&mut self, inner: &Inner, place: Place, of: [Value; 2]) -> Result<(), PassError> {
        let joins = self.joins(&inner.reductions)?;
        let space = self.space(inner);
        let Kernel { b, shared, .. } = self;
        let before: Vec<Value> = joins.iter().map(|join| b.get(join.local)).collect();
        clear(b, &joins);
        match space.ordered {
            true => fixed::by_chains(b, shared, place, &joins, &space, of),
            false => free::by_chains(b, shared, place, &joins, &space, of),
        }
        for (join, before) in joins.iter().zip(before) {
            let total = b.get(join.local);
            let all = join.join(b, before, total);
            b.set(join.local, all);
        }
        Ok(())
    }
}

const _: () = assert!(COLUMN_THREADS as u64 == COLUMNS * CHAINS);
