//! Reductions in the order that suits a device: each thread goes through the points as far as there are threads from one to the next and
//! reduces what it meets into locals of its own; each block joins those of its threads as a tree.
//!
//! This is for what does not show the order (the largest, integers, bools) and for sums that may have any (`prange`): threads have the points
//! between them whatever their number, where the fixed order gives a row of 2,048 to 32 threads. How many blocks there are depends on the
//! extents alone, so that every run gives the same bits.

use weft_ir::order::{CHAINS, Stage};
use weft_ir::{BinOp, Builder, Type, Value};

use super::kernel::{Place, Space, when_below};
use super::shared::{Shared, tree, tree_apart};
use super::stages::Parts;
use super::{COLUMNS, THREADS};
use crate::cut::index_of;
use crate::join::Join;
use crate::statements::counted;

/// Points that a thread goes through before there is a second block, and the most blocks.
const POINTS: u64 = 4;
const MOST_BLOCKS: u64 = 2048;

/// What the first stage leaves of an index space, and what it takes.
pub fn stage(extents: &[u64]) -> Stage {
    let points = extents.iter().fold(1u64, |points, n| points.saturating_mul(*n));
    let partials = points.div_ceil(u64::from(THREADS) * POINTS).clamp(1, MOST_BLOCKS);
    Stage {
        blocks: partials as u32,
        partials,
        chunk: 1,
    }
}

/// The points of numbers from `start`, every so many.
fn run(b: &mut Builder, space: &Space, start: Value, step: Value) {
    let all = space.extents.iter().copied().reduce(|points, n| b.binary(BinOp::Mul, points, n));
    let points = all.unwrap_or_else(|| b.i64(1));
    let number = match space.vars[..] {
        [only] => only,
        _ => b.func.new_value(Type::I64),
    };
    counted(b, number, [start, points, step], |b| {
        index_of(b, &space.vars, &space.extents, number);
        b.push(space.body.clone());
    });
}

/// Leaves all threads with what the block has.
fn join_all<'j>(b: &mut Builder, shared: &mut Shared, place: Place, joins: impl Iterator<Item = &'j Join>) {
    let zero = b.i64(0);
    for join in joins {
        let array = shared.put(b, join, place.thread);
        tree(b, join, array, place, (place.thread, THREADS.into()));
        let sum = array.load(b, zero);
        b.set(join.local, sum);
    }
}

/// The whole index space by one block of threads; all are left with the result.
pub fn in_block(b: &mut Builder, shared: &mut Shared, place: Place, joins: &[Join], space: &Space) {
    run(b, space, place.thread, place.threads);
    join_all(b, shared, place, joins.iter());
}

/// The whole index space by the threads of a point, of which there are so many as chains; all of them are left with the result.
pub fn by_chains(b: &mut Builder, shared: &mut Shared, place: Place, joins: &[Join], space: &Space, [number, column]: [Value; 2]) {
    let threads = b.i64(CHAINS as i64);
    run(b, space, number, threads);
    for join in joins {
        let array = shared.put(b, join, place.thread);
        tree_apart(b, join, array, place, (number, CHAINS), COLUMNS);
        let sum = array.load(b, column);
        b.set(join.local, sum);
    }
}

/// What the first stage's block of a number leaves: one part.
pub fn part(b: &mut Builder, shared: &mut Shared, place: Place, space: &Space, parts: &Parts, number: Value) {
    // That there are so few is known only here: indices are 32-bit then.
    let (most, last) = (b.i64(MOST_BLOCKS as i64), b.i64(MOST_BLOCKS as i64 - 1));
    let (blocks, block) = (b.binary(BinOp::Min, parts.blocks, most), b.binary(BinOp::Min, number, last));
    let before = b.binary(BinOp::Mul, block, place.threads);
    let start = b.binary(BinOp::Add, before, place.thread);
    let step = b.binary(BinOp::Mul, blocks, place.threads);
    run(b, space, start, step);
    join_all(b, shared, place, parts.of.iter().map(|(join, _)| join));
    when_below(b, place.thread, 1, |b| {
        for (join, partials) in &parts.of {
            let sum = b.get(join.local);
            partials.store_at(b, &[parts.point, number], sum);
        }
    });
}

/// All threads are left with the result.
pub fn whole(b: &mut Builder, shared: &mut Shared, place: Place, parts: &Parts) {
    let number = b.func.new_value(Type::I64);
    counted(b, number, [place.thread, parts.count, place.threads], |b| {
        for (join, partials) in &parts.of {
            let part = partials.load_at(b, &[parts.point, number]);
            join.add(b, join.local, part);
        }
    });
    join_all(b, shared, place, parts.of.iter().map(|(join, _)| join));
}
