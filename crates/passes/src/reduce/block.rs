//! One block of threads for each point of a fold: its threads share the points of each inner index space, all do the straight code, and the
//! first the epilogue. A block goes on through the points as far as there are blocks.

use weft_ir::{Function, Geometry, StmtKind, Value};

use super::kernel::{Kernel, Place, clear, geometry, place, when_below};
use super::shape::{Inner, Shape};
use super::{fixed, free};
use crate::error::PassError;
use crate::statements::{append, counted};

pub fn kernel(func: &Function, shape: &Shape) -> Result<Function, PassError> {
    let mut kernel = Kernel::new(func, shape, "block");
    let place = place(&mut kernel.b, true);
    let (block, blocks) = (
        geometry(&mut kernel.b, Geometry::BlockIdx),
        geometry(&mut kernel.b, Geometry::GridDim),
    );
    let (points, number) = (kernel.points(), kernel.number());
    kernel.b.open();
    kernel.at(number);
    for inner in &shape.inner {
        kernel.straight(&inner.before);
        kernel.share(inner, place)?;
    }
    kernel.b.open();
    kernel.straight(&shape.epilogue);
    let epilogue = kernel.b.close();
    when_below(&mut kernel.b, place.thread, 1, |b| append(b, epilogue));
    let at_point = kernel.b.close();
    counted(&mut kernel.b, number, [block, points, blocks], |b| append(b, at_point));
    Ok(kernel.finish())
}

impl Kernel<'_> {
    /// The points of an inner index space, shared by the threads of the block; its locals hold the same in all of them then.
    fn share(&mut self, inner: &Inner, place: Place) -> Result<(), PassError> {
        let joins = self.joins(&inner.reductions)?;
        let space = self.space(inner);
        let Kernel { b, shared, .. } = self;
        if inner.writes {
            // Others may still read what this writes.
            b.push(StmtKind::Barrier);
        }
        let before: Vec<Value> = joins.iter().map(|join| b.get(join.local)).collect();
        clear(b, &joins);
        match space.ordered {
            true => fixed::in_block(b, shared, place, &joins, &space),
            false => free::in_block(b, shared, place, &joins, &space),
        }
        for (join, before) in joins.iter().zip(before) {
            let total = b.get(join.local);
            let all = join.join(b, before, total);
            b.set(join.local, all);
        }
        if inner.writes {
            b.push(StmtKind::Barrier);
        }
        Ok(())
    }
}
