//! Reductions of the fixed order ([`weft_ir::order`]) in one lane: it goes through the points one after the other, with the chains in a local
//! array of its own.

use weft_ir::order::{BLOCK, CHAINS, CHUNKS, LEAST};
use weft_ir::{
    ArrayDecl, BinOp, Block, Builder, CmpOp, Const, Index, Label, Layout, Local, Op, Part, ReduceOp, Reduction, Scalar, Space, StmtKind,
    Type, Value, ViewType,
};

use crate::counted::counted;
use crate::cut::{RunCut, divided_up, index_of};

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
    local: Local,
    op: ReduceOp,
    identity: Const,
    /// What the local held before.
    before: Value,
    /// Of a block's chains.
    chains: Value,
    /// Of the chunk's blocks, of the chunks.
    chunk: Local,
    total: Local,
}

/// Does the order of the points show in what they are reduced to?
pub fn shows(func: &weft_ir::Function, reductions: &[Reduction]) -> bool {
    reductions.iter().any(|r| func.is_ordered(*r))
}

/// Runs `body` at every point of the space, and leaves in the locals of its reductions what the fixed order gives. `label` is no other's.
pub fn write(b: &mut Builder, space: &IndexSpace<'_>, body: Block, label: Label) {
    let ordered: Vec<Reduction> = space.reductions.iter().copied().filter(|r| b.func.is_ordered(*r)).collect();
    let sums: Vec<Sum> = ordered.into_iter().filter_map(|r| Sum::start(b, r)).collect();
    let Some((&column, outer)) = space.vars.split_last() else { return };
    let columns = space.extents[outer.len()];
    let (width, one) = (chains_in_use(b, columns), b.i64(1));
    let at_columns = |b: &mut Builder, first, last| counted(b, column, [first, last, one], |b| at_point(b, &sums, column, body, label));
    match outer {
        _ if space.one_block => one_block(b, &sums, space, width, at_columns),
        [] => blocks_of_row(b, &sums, columns, width, at_columns),
        _ => blocks_of_rows(b, &sums, space, width, at_columns),
    }
    sums.iter().for_each(|sum| sum.finish(b));
}

fn one_block(b: &mut Builder, sums: &[Sum], space: &IndexSpace<'_>, width: Value, at_columns: impl FnOnce(&mut Builder, Value, Value)) {
    let (zero, one) = (b.i64(0), b.i64(1));
    sums.iter().for_each(|sum| sum.clear(b, width));
    let outer = space.vars.len() - 1;
    space.vars[..outer].iter().for_each(|_| b.open());
    at_columns(b, zero, space.extents[outer]);
    for (var, stop) in space.vars[..outer].iter().zip(space.extents).rev() {
        let body = b.close();
        b.push(StmtKind::For {
            var: *var,
            start: zero,
            stop: *stop,
            step: one,
            body,
        });
    }
    sums.iter().for_each(|sum| sum.end_block(b, width));
    sums.iter().for_each(|sum| sum.end_chunk(b));
}

/// The blocks of an index space of one axis.
fn blocks_of_row(b: &mut Builder, sums: &[Sum], columns: Value, width: Value, at_columns: impl FnOnce(&mut Builder, Value, Value)) {
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
            sums.iter().for_each(|sum| sum.clear(b, width));
            at_columns(b, start, stop);
            sums.iter().for_each(|sum| sum.end_block(b, width));
        });
        sums.iter().for_each(|sum| sum.end_chunk(b));
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
        let so_far = load(b, sum.chains, chain);
        b.set(sum.local, so_far);
    }
    b.push(StmtKind::Scope(label, body));
    for sum in sums {
        let next = b.get(sum.local);
        store(b, sum.chains, chain, next);
    }
}

impl Sum {
    fn start(b: &mut Builder, Reduction { local, op, .. }: Reduction) -> Option<Sum> {
        let scalar = b.func.local_ty(local).scalar()?;
        let identity = op.identity(scalar)?;
        let array = b.func.new_array(ArrayDecl {
            name: "chains".into(),
            elem: scalar,
            shape: vec![CHAINS],
            space: Space::Local,
        });
        let view = ViewType {
            elem: scalar,
            rank: 1,
            layout: Layout::C,
            space: Space::Local,
            writable: true,
        };
        let [chunk, total] = [(); 2].map(|()| b.func.new_local(scalar.into(), ""));
        let sum = Sum {
            local,
            op,
            identity,
            before: b.get(local),
            chains: b.emit(Type::View(view), Op::Array(array)),
            chunk,
            total,
        };
        let identity = b.constant(identity);
        b.set(chunk, identity);
        b.set(total, identity);
        Some(sum)
    }

    fn clear(&self, b: &mut Builder, width: Value) {
        let [zero, one, chain] = [b.i64(0), b.i64(1), b.func.new_value(Type::I64)];
        let identity = b.constant(self.identity);
        counted(b, chain, [zero, width, one], |b| store(b, self.chains, chain, identity));
    }

    /// The first half of the chains with the second, until one is left; that one into the chunk's.
    fn end_block(&self, b: &mut Builder, width: Value) {
        let half = b.func.new_local(Type::I64, "");
        let [zero, one, chain] = [b.i64(0), b.i64(1), b.func.new_value(Type::I64)];
        b.set(half, width);
        b.open();
        let pairs = b.get(half);
        let pairs = b.binary(BinOp::Shr, pairs, one);
        b.set(half, pairs);
        let over = b.compare(CmpOp::Eq, pairs, zero);
        b.push(StmtKind::If {
            cond: over,
            then: Block(vec![weft_ir::Stmt {
                kind: StmtKind::Break,
                span: b.span,
            }]),
            other: Block::default(),
        });
        counted(b, chain, [zero, pairs, one], |b| {
            let other = b.binary(BinOp::Add, chain, pairs);
            let (first, second) = (load(b, self.chains, chain), load(b, self.chains, other));
            let both = joined(b, self.op, first, second);
            store(b, self.chains, chain, both);
        });
        let halving = b.close();
        b.push(StmtKind::Loop(halving));
        let block = load(b, self.chains, zero);
        let chunk = b.get(self.chunk);
        let chunk = joined(b, self.op, chunk, block);
        b.set(self.chunk, chunk);
    }

    fn end_chunk(&self, b: &mut Builder) {
        let (total, chunk, identity) = (b.get(self.total), b.get(self.chunk), b.constant(self.identity));
        let total = joined(b, self.op, total, chunk);
        b.set(self.total, total);
        b.set(self.chunk, identity);
    }

    fn finish(&self, b: &mut Builder) {
        let total = b.get(self.total);
        let all = joined(b, self.op, self.before, total);
        b.set(self.local, all);
    }
}

/// Back ends are given no arithmetic of 16-bit floats any more.
pub fn joined(b: &mut Builder, op: ReduceOp, x: Value, y: Value) -> Value {
    let ty = b.ty(x);
    if !ty.scalar().is_some_and(Scalar::is_half) {
        return b.binary(op.binary(), x, y);
    }
    let (x, y) = (b.cast(x, Scalar::F32), b.cast(y, Scalar::F32));
    let both = b.binary(op.binary(), x, y);
    b.cast(both, ty)
}

pub fn load(b: &mut Builder, view: Value, at: Value) -> Value {
    let elem = b.func.ty(view).view().map_or(Scalar::I64, |view| view.elem);
    let indices = vec![Index { value: at, wrap: false }];
    let part = Part::Whole;
    b.emit(elem, Op::Load { view, indices, part })
}

pub fn store(b: &mut Builder, view: Value, at: Value, value: Value) {
    b.push(StmtKind::Store {
        view,
        indices: vec![Index { value: at, wrap: false }],
        value,
        part: Part::Whole,
    });
}
