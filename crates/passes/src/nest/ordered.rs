//! Reductions of the fixed order ([`weft_ir::order`]) in one lane: it goes through the points one after the other, with the chains in a local
//! array of its own.

use weft_ir::order::{BLOCK, CHAINS, CHUNKS, LEAST};
use weft_ir::{BinOp, Block, Builder, CmpOp, Function, Label, Local, Reduction, Space, StmtKind, Type, Value};

use crate::cut::{RunCut, divided_up, index_of};
use crate::elements::Elements;
use crate::error::PassError;
use crate::join::Join;
use crate::statements::{counted, nested, shifted};

/// An index space that one lane goes through.
pub struct IndexSpace<'a> {
    pub vars: &'a [Value],
    pub extents: &'a [Value],
    pub reductions: &'a [Reduction],
    /// Are its points one block of that order, however many there are?
    pub one_block: bool,
}

/// A reduction on its way.
struct Sum {
    join: Join,
    /// What the local held before.
    before: Value,
    /// Of a block's chains.
    chains: Elements,
    /// Of the chunk's blocks, of the chunks.
    chunk: Local,
    total: Local,
}

/// Does the order of the points show in what they are reduced to?
pub fn shows(func: &Function, reductions: &[Reduction]) -> bool {
    reductions.iter().any(|r| func.is_ordered(*r))
}

/// Runs `body` at every point of the space, and leaves in the locals of its reductions what the fixed order gives. `label` is no other's.
pub fn write(b: &mut Builder, space: &IndexSpace<'_>, body: Block, label: Label) -> Result<(), PassError> {
    let ordered = space.reductions.iter().filter(|r| b.func.is_ordered(**r));
    let joins: Vec<Join> = ordered.map(|r| Join::of(&b.func, *r, b.span)).collect::<Result<_, _>>()?;
    let sums: Vec<Sum> = joins.into_iter().map(|join| Sum::start(b, join)).collect();
    let Some((&column, outer)) = space.vars.split_last() else {
        return Err(PassError::defect(b.span, "an order of points over no axes"));
    };
    let columns = space.extents[outer.len()];
    let (width, one) = (chains_in_use(b, columns), b.i64(1));
    let at_columns = |b: &mut Builder, first, last| counted(b, column, [first, last, one], |b| at_point(b, &sums, column, body, label));
    match outer {
        _ if space.one_block => one_block(b, &sums, space, width, at_columns),
        [] => blocks_of_row(b, &sums, columns, width, at_columns),
        _ => blocks_of_rows(b, &sums, space, width, at_columns),
    }
    sums.iter().for_each(|sum| sum.finish(b));
    Ok(())
}

fn one_block(b: &mut Builder, sums: &[Sum], space: &IndexSpace<'_>, width: Value, at_columns: impl FnOnce(&mut Builder, Value, Value)) {
    let zero = b.i64(0);
    sums.iter().for_each(|sum| sum.clear(b, width));
    let outer = space.vars.len() - 1;
    nested(b, &space.vars[..outer], space.extents, |b| {
        at_columns(b, zero, space.extents[outer])
    });
    sums.iter().for_each(|sum| sum.end_block(b, width));
    sums.iter().for_each(|sum| sum.end_chunk(b));
}

/// The blocks of an index space of one axis.
fn blocks_of_row(b: &mut Builder, sums: &[Sum], columns: Value, width: Value, at_columns: impl FnOnce(&mut Builder, Value, Value)) {
    let at_block = |b: &mut Builder, [start, stop]: [Value; 2], _| {
        sums.iter().for_each(|sum| sum.clear(b, width));
        at_columns(b, start, stop);
        sums.iter().for_each(|sum| sum.end_block(b, width));
    };
    each_block(b, columns, at_block, |b| sums.iter().for_each(|sum| sum.end_chunk(b)));
}

/// Goes through the blocks of a row, each told where it and its chunk begin and end, and does something behind every chunk.
pub fn each_block(
    b: &mut Builder,
    columns: Value,
    at_block: impl FnOnce(&mut Builder, [Value; 2], [Value; 2]),
    behind_chunk: impl FnOnce(&mut Builder),
) {
    let [zero, length, chunk_start, start] = [
        b.i64(0),
        b.i64(BLOCK as i64),
        b.func.new_value(Type::I64),
        b.func.new_value(Type::I64),
    ];
    let chunk_length = chunk_length(b, columns, length);
    counted(b, chunk_start, [zero, columns, chunk_length], |b| {
        let end = b.binary(BinOp::Add, chunk_start, chunk_length);
        let end = b.binary(BinOp::Min, end, columns);
        counted(b, start, [chunk_start, end, length], |b| {
            let stop = b.binary(BinOp::Add, start, length);
            let stop = b.binary(BinOp::Min, stop, end);
            at_block(b, [start, stop], [chunk_start, end]);
        });
        behind_chunk(b);
    });
}

/// `CHUNKS` chunks at the most, of whole blocks, of `LEAST` at the least.
fn chunk_length(b: &mut Builder, columns: Value, length: Value) -> Value {
    let (most, least) = (b.i64((CHUNKS * BLOCK) as i64), b.i64(LEAST as i64));
    let blocks = divided_up(b, columns, most);
    let blocks = b.binary(BinOp::Max, blocks, least);
    b.binary(BinOp::Mul, blocks, length)
}

/// The blocks of an index space of several axes.
fn blocks_of_rows(
    b: &mut Builder,
    sums: &[Sum],
    space: &IndexSpace<'_>,
    width: Value,
    at_columns: impl FnOnce(&mut Builder, Value, Value),
) {
    let rank = space.vars.len();
    let cut = RunCut::new(b, space.extents);
    let per_chunk = cut.blocks_per_chunk(b);
    let [zero, one, chunk_start, number] = [b.i64(0), b.i64(1), b.func.new_value(Type::I64), b.func.new_value(Type::I64)];
    counted(b, chunk_start, [zero, cut.blocks, per_chunk], |b| {
        let end = b.binary(BinOp::Add, chunk_start, per_chunk);
        let end = b.binary(BinOp::Min, end, cut.blocks);
        counted(b, number, [chunk_start, end, one], |b| {
            sums.iter().for_each(|sum| sum.clear(b, width));
            let [first_row, last_row, first, last] = cut.block(b, number);
            let outer = &space.vars[..rank - 1];
            let row = if let [only] = outer { *only } else { b.func.new_value(Type::I64) };
            counted(b, row, [first_row, last_row, one], |b| {
                index_of(b, outer, &space.extents[..rank - 1], row);
                at_columns(b, first, last);
            });
            sums.iter().for_each(|sum| sum.end_block(b, width));
        });
        sums.iter().for_each(|sum| sum.end_chunk(b));
    });
}

/// A power of two: chains from there on get no point.
fn chains_in_use(b: &mut Builder, columns: Value) -> Value {
    let mut width = b.i64(CHAINS as i64);
    let mut fewer = CHAINS as i64 / 2;
    while fewer > 0 {
        let fewer_chains = b.i64(fewer);
        let enough = b.compare(CmpOp::Le, columns, fewer_chains);
        width = b.select(enough, fewer_chains, width);
        fewer /= 2;
    }
    width
}

/// The point's own code, which finds in the locals what its chain holds.
fn at_point(b: &mut Builder, sums: &[Sum], column: Value, body: Block, label: Label) {
    let last = b.i64(CHAINS as i64 - 1);
    let chain = b.binary(BinOp::And, column, last);
    for sum in sums {
        let so_far = sum.chains.load(b, chain);
        b.set(sum.join.local, so_far);
    }
    b.push(StmtKind::Scope(label, body));
    for sum in sums {
        let next = b.get(sum.join.local);
        sum.chains.store(b, chain, next);
    }
}

impl Sum {
    fn start(b: &mut Builder, join: Join) -> Sum {
        let [chunk, total] = [(); 2].map(|()| b.func.new_local(join.scalar.into(), ""));
        let sum = Sum {
            join,
            before: b.get(join.local),
            chains: Elements::of_array(b, "chains", join.scalar, CHAINS, Space::Local),
            chunk,
            total,
        };
        join.clear(b, chunk);
        join.clear(b, total);
        sum
    }

    fn clear(&self, b: &mut Builder, width: Value) {
        let [zero, one, chain] = [b.i64(0), b.i64(1), b.func.new_value(Type::I64)];
        let identity = self.join.identity(b);
        counted(b, chain, [zero, width, one], |b| self.chains.store(b, chain, identity));
    }

    /// The first half of the chains with the second, until one is left; that one into the chunk's. So do `Panel::join_chains` and
    /// `Panel::end_block` in `outline::panels` for many points at once, with the same bits.
    fn end_block(&self, b: &mut Builder, width: Value) {
        let [zero, one, chain] = [b.i64(0), b.i64(1), b.func.new_value(Type::I64)];
        shifted(b, width, 1, |b, pairs| {
            counted(b, chain, [zero, pairs, one], |b| {
                let other = b.binary(BinOp::Add, chain, pairs);
                let (first, second) = (self.chains.load(b, chain), self.chains.load(b, other));
                let both = self.join.join(b, first, second);
                self.chains.store(b, chain, both);
            });
        });
        let block = self.chains.load(b, zero);
        self.join.add(b, self.chunk, block);
    }

    fn end_chunk(&self, b: &mut Builder) {
        let chunk = b.get(self.chunk);
        self.join.add(b, self.total, chunk);
        self.join.clear(b, self.chunk);
    }

    fn finish(&self, b: &mut Builder) {
        let total = b.get(self.total);
        let all = self.join.join(b, self.before, total);
        b.set(self.join.local, all);
    }
}
