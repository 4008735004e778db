//! Two kernels for each inner index space of a fold: in *parts* many blocks of threads share a point and leave partial results in memory; in
//! *whole* one block joins those of a point. What an inner index space gives stays in memory for the kernels after it, which do the straight
//! code before theirs again; the last one does the epilogue.

use weft_ir::{BinOp, Function, Geometry, Op, StmtKind, Type, Value};

use super::kernel::{Kernel, clear, geometry, place, when_below};
use super::shape::Shape;
use super::{fixed, free};
use crate::elements::Elements;
use crate::error::PassError;
use crate::join::Join;
use crate::statements::append;

/// Partial results of a point.
pub struct Parts {
    /// Blocks of the first stage for a point.
    pub blocks: Value,
    pub count: Value,
    /// How many of them a chunk has.
    pub chunk: Value,
    /// The point's number.
    pub point: Value,
    /// By point and number.
    pub of: Vec<(Join, Elements)>,
}

/// A kernel of the inner index space of a number. Behind the extents its parameters are blocks of threads a point, partial results of a
/// point, and how many of those a chunk has (`i64`); then, for each reduction of an inner index space before, a view of what it gave at each
/// point, for each of its own one of the partial results, and, if it is not the last, for each of its own one of what it gives at each point.
struct Stage<'a> {
    kernel: Kernel<'a>,
    at: usize,
    counts: [Value; 3],
    /// Of the inner index spaces before.
    given: Vec<Vec<Elements>>,
    joins: Vec<Join>,
    partials: Vec<Elements>,
    gives: Vec<Elements>,
}

impl<'a> Stage<'a> {
    fn new(func: &'a Function, shape: &'a Shape, at: usize, name: &str) -> Result<Stage<'a>, PassError> {
        let mut kernel = Kernel::new(func, shape, &format!("{name}{at}"));
        let made = &mut kernel.b.func;
        let counts = ["blocks", "partials", "chunk"].map(|name| made.new_param(Type::I64, name));
        let (mut given, mut joins) = (Vec::new(), Vec::new());
        for inner in &shape.inner[..=at] {
            joins = kernel.joins(&inner.reductions)?;
            if given.len() < at {
                given.push(wholes(&mut kernel.b.func, &joins));
            }
        }
        let made = &mut kernel.b.func;
        let table = |join: &Join| Elements::of_table_param(made, join.scalar, &format!("parts_{}", join.name()));
        let partials = joins.iter().map(table).collect();
        let gives = match at + 1 < shape.inner.len() {
            true => wholes(&mut kernel.b.func, &joins),
            false => Vec::new(),
        };
        // What divides is one at least.
        let [blocks, partials_of_point, chunk] = counts;
        let one = kernel.b.i64(1);
        let [blocks, chunk] = [blocks, chunk].map(|count| kernel.b.binary(BinOp::Max, count, one));
        Ok(Stage {
            counts: [blocks, partials_of_point, chunk],
            kernel,
            at,
            given,
            joins,
            partials,
            gives,
        })
    }

    /// The straight code before the inner index space, and what those before it gave.
    fn begin(&mut self, point: Value) -> Result<(), PassError> {
        self.kernel.at(point);
        let shape = self.kernel.shape;
        for (inner, given) in shape.inner.iter().zip(&self.given) {
            self.kernel.straight(&inner.before);
            let joins = self.kernel.joins(&inner.reductions)?;
            let b = &mut self.kernel.b;
            for (join, given) in joins.iter().zip(given) {
                let total = given.load(b, point);
                join.add(b, join.local, total);
            }
        }
        self.kernel.straight(&shape.inner[self.at].before);
        Ok(())
    }

    fn parts(&self, point: Value) -> Parts {
        let [blocks, count, chunk] = self.counts;
        Parts {
            blocks,
            count,
            chunk,
            point,
            of: self.joins.iter().copied().zip(self.partials.iter().copied()).collect(),
        }
    }
}

fn wholes(func: &mut Function, joins: &[Join]) -> Vec<Elements> {
    let view = |join: &Join| Elements::of_param(func, join.scalar, &format!("whole_{}", join.name()));
    joins.iter().map(view).collect()
}

pub fn parts(func: &Function, shape: &Shape, at: usize) -> Result<Function, PassError> {
    let mut stage = Stage::new(func, shape, at, "parts")?;
    let blocks = stage.counts[0];
    let place = place(&mut stage.kernel.b, false);
    let block = geometry(&mut stage.kernel.b, Geometry::BlockIdx);
    let point = stage.kernel.number();
    stage
        .kernel
        .b
        .push(StmtKind::Let(point, Op::Binary(BinOp::FloorDiv, block, blocks)));
    let number = stage.kernel.b.binary(BinOp::Mod, block, blocks);
    stage.begin(point)?;
    let space = stage.kernel.space(&shape.inner[at]);
    let parts = stage.parts(point);
    let Kernel { b, shared, .. } = &mut stage.kernel;
    clear(b, &stage.joins);
    match space.ordered {
        true => fixed::part(b, shared, place, &space, &parts, number),
        false => free::part(b, shared, place, &space, &parts, number),
    }
    Ok(stage.kernel.finish())
}

/// One block a point.
pub fn whole(func: &Function, shape: &Shape, at: usize) -> Result<Function, PassError> {
    let mut stage = Stage::new(func, shape, at, "whole")?;
    let place = place(&mut stage.kernel.b, false);
    let block = geometry(&mut stage.kernel.b, Geometry::BlockIdx);
    let ordered = stage.kernel.is_ordered(&shape.inner[at]);
    let parts = stage.parts(block);
    let Kernel { b, shared, .. } = &mut stage.kernel;
    clear(b, &stage.joins);
    match ordered {
        true => fixed::whole(b, shared, place, &parts),
        false => free::whole(b, shared, place, &parts),
    }
    let totals: Vec<Value> = stage.joins.iter().map(|join| b.get(join.local)).collect();
    b.open();
    match stage.gives.is_empty() {
        true => stage.end(block, totals)?,
        false => {
            let given = stage.gives.iter().zip(totals);
            given.for_each(|(given, total)| given.store(b, block, total));
        }
    }
    let first = stage.kernel.b.close();
    when_below(&mut stage.kernel.b, place.thread, 1, |b| append(b, first));
    Ok(stage.kernel.finish())
}

impl Stage<'_> {
    /// Everything at a point but its inner index spaces.
    fn end(&mut self, block: Value, totals: Vec<Value>) -> Result<(), PassError> {
        let point = self.kernel.number();
        let b = &mut self.kernel.b;
        let zero = b.i64(0);
        b.push(StmtKind::Let(point, Op::Binary(BinOp::Add, block, zero)));
        self.begin(point)?;
        let b = &mut self.kernel.b;
        for (join, total) in self.joins.iter().zip(totals) {
            join.add(b, join.local, total);
        }
        let shape = self.kernel.shape;
        self.kernel.straight(&shape.epilogue);
        Ok(())
    }
}
