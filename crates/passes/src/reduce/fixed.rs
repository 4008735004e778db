//! Reductions in the fixed order of [`weft_ir::order`]: each thread is a chain, so many neighbours as there are chains a block of that order.

use weft_ir::order::{CHAINS, CHUNKS, Cut, Stage};
use weft_ir::{BinOp, Builder, CmpOp, Local, StmtKind, Type, Value};

use super::kernel::{Place, Space, clear, when_below};
use super::shared::{Shared, tree, tree_apart};
use super::stages::Parts;
use super::{COLUMNS, THREADS};
use crate::cut::{RunCut, divided_up, index_of};
use crate::join::Join;
use crate::statements::{counted, when};

/// Blocks of the order that the most threads of a block compute at once.
const AT_ONCE: u64 = THREADS as u64 / CHAINS;

/// What the first stage leaves of an index space, and what it takes.
pub fn stage(extents: &[u64]) -> Stage {
    let cut = Cut::new(extents);
    let partials = cut.blocks();
    Stage {
        blocks: u32::try_from(partials.div_ceil(AT_ONCE).max(1)).unwrap_or(u32::MAX),
        partials,
        chunk: cut.blocks_per_chunk(),
    }
}

/// A thread's chain, and its group, which does a block of the order.
struct Chain {
    group: Value,
    chain: Value,
}

impl Chain {
    fn of(b: &mut Builder, place: Place) -> Chain {
        let chains = b.i64(CHAINS as i64);
        Chain {
            group: b.binary(BinOp::FloorDiv, place.thread, chains),
            chain: b.binary(BinOp::Mod, place.thread, chains),
        }
    }

    /// The points of a block that the chain has. A number behind the last block has none.
    fn run(&self, b: &mut Builder, cut: &RunCut, number: Value, space: &Space) {
        let (one, chains) = (b.i64(1), b.i64(CHAINS as i64));
        let [first_row, last_row, first_column, last_column] = cut.block(b, number);
        let start = b.binary(BinOp::Add, first_column, self.chain);
        let outer = space.vars.len() - 1;
        let row = match &space.vars[..outer] {
            [only] => *only,
            _ => b.func.new_value(Type::I64),
        };
        counted(b, row, [first_row, last_row, one], |b| {
            index_of(b, &space.vars[..outer], &space.extents[..outer], row);
            counted(b, space.vars[outer], [start, last_column, chains], |b| b.push(space.body.clone()));
        });
    }
}

/// The whole index space by one block of threads, so many blocks of the order at once as there are groups. All threads are left with the
/// result, which all have made in the same order.
pub fn in_block(b: &mut Builder, shared: &mut Shared, place: Place, joins: &[Join], space: &Space) {
    let chain = Chain::of(b, place);
    let cut = RunCut::new(b, &space.extents);
    let per_chunk = cut.blocks_per_chunk(b);
    let [zero, one, chains] = [0, 1, CHAINS as i64].map(|n| b.i64(n));
    let groups = b.binary(BinOp::FloorDiv, place.threads, chains);
    let sums: Vec<(&Join, [Local; 2])> = joins.iter().map(|join| (join, chunk_and_total(b, join))).collect();
    let first = b.func.new_value(Type::I64);
    counted(b, first, [zero, cut.blocks, groups], |b| {
        let number = b.binary(BinOp::Add, first, chain.group);
        clear(b, joins);
        chain.run(b, &cut, number, space);
        let left = b.binary(BinOp::Sub, cut.blocks, first);
        let left = b.binary(BinOp::Min, left, groups);
        for (join, [chunk, total]) in &sums {
            let array = shared.put(b, join, place.thread);
            tree(b, join, array, place, (chain.chain, CHAINS));
            let group = b.func.new_value(Type::I64);
            counted(b, group, [zero, left, one], |b| {
                let number = b.binary(BinOp::Add, first, group);
                let behind = b.binary(BinOp::Mod, number, per_chunk);
                let starts = b.compare(CmpOp::Eq, behind, zero);
                when(b, starts, |b| end_chunk(b, join, *chunk, *total));
                let at = b.binary(BinOp::Mul, group, chains);
                let sum = array.load(b, at);
                join.add(b, *chunk, sum);
            });
        }
    });
    end_last_chunk(b, &sums);
}

/// Leaves the results where they belong.
fn end_last_chunk(b: &mut Builder, sums: &[(&Join, [Local; 2])]) {
    for (join, [chunk, total]) in sums {
        end_chunk(b, join, *chunk, *total);
        let sum = b.get(*total);
        b.set(join.local, sum);
    }
}

/// The whole index space by the threads of a point, each a chain: one block of the order after the other. All of them are left with the
/// result.
pub fn by_chains(b: &mut Builder, shared: &mut Shared, place: Place, joins: &[Join], space: &Space, [chain, column]: [Value; 2]) {
    let [zero, one] = [0, 1].map(|n| b.i64(n));
    let cut = RunCut::new(b, &space.extents);
    let per_chunk = cut.blocks_per_chunk(b);
    let own = Chain { group: zero, chain };
    let sums: Vec<(&Join, [Local; 2])> = joins.iter().map(|join| (join, chunk_and_total(b, join))).collect();
    let number = b.func.new_value(Type::I64);
    counted(b, number, [zero, cut.blocks, one], |b| {
        clear(b, joins);
        own.run(b, &cut, number, space);
        let behind = b.binary(BinOp::Mod, number, per_chunk);
        let starts = b.compare(CmpOp::Eq, behind, zero);
        for (join, [chunk, total]) in &sums {
            let array = shared.put(b, join, place.thread);
            tree_apart(b, join, array, place, (chain, CHAINS), COLUMNS);
            when(b, starts, |b| end_chunk(b, join, *chunk, *total));
            let sum = array.load(b, column);
            join.add(b, *chunk, sum);
        }
    });
    end_last_chunk(b, &sums);
}

fn chunk_and_total(b: &mut Builder, join: &Join) -> [Local; 2] {
    let locals = [(); 2].map(|()| b.func.new_local(join.scalar.into(), ""));
    locals.iter().for_each(|local| join.clear(b, *local));
    locals
}

/// A chunk that has no blocks yet changes nothing.
fn end_chunk(b: &mut Builder, join: &Join, chunk: Local, total: Local) {
    let sum = b.get(chunk);
    join.add(b, total, sum);
    join.clear(b, chunk);
}

/// What the first stage's block of a number leaves: a part for each block of the order.
pub fn part(b: &mut Builder, shared: &mut Shared, place: Place, space: &Space, parts: &Parts, number: Value) {
    let chain = Chain::of(b, place);
    let cut = RunCut::new(b, &space.extents);
    let at_once = b.i64(AT_ONCE as i64);
    let before = b.binary(BinOp::Mul, number, at_once);
    let number = b.binary(BinOp::Add, before, chain.group);
    chain.run(b, &cut, number, space);
    let some = b.compare(CmpOp::Lt, number, cut.blocks);
    for (join, partials) in &parts.of {
        let array = shared.put(b, join, place.thread);
        tree(b, join, array, place, (chain.chain, CHAINS));
        when(b, some, |b| {
            when_below(b, chain.chain, 1, |b| {
                let sum = array.load(b, place.thread);
                partials.store_at(b, &[parts.point, number], sum);
            });
        });
    }
}

/// All threads are left with the result: each chunk is one thread's, and all join the chunks.
pub fn whole(b: &mut Builder, shared: &mut Shared, place: Place, parts: &Parts) {
    let [zero, one] = [0, 1].map(|n| b.i64(n));
    when_below(b, place.thread, CHUNKS as i64, |b| {
        let start = b.binary(BinOp::Mul, place.thread, parts.chunk);
        let end = b.binary(BinOp::Add, start, parts.chunk);
        let end = b.binary(BinOp::Min, end, parts.count);
        let number = b.func.new_value(Type::I64);
        counted(b, number, [start, end, one], |b| {
            for (join, partials) in &parts.of {
                let part = partials.load_at(b, &[parts.point, number]);
                join.add(b, join.local, part);
            }
        });
    });
    let chunks = divided_up(b, parts.count, parts.chunk);
    for (join, _) in &parts.of {
        let array = shared.put(b, join, place.thread);
        b.push(StmtKind::Barrier);
        join.clear(b, join.local);
        let number = b.func.new_value(Type::I64);
        counted(b, number, [zero, chunks, one], |b| {
            let part = array.load(b, number);
            join.add(b, join.local, part);
        });
    }
}
