//! Reductions of the fixed order over two axes where memory lies along the first: lanes lie along the blocks of that order, which are rows or
//! groups of them. Each block leaves its part in an array; the parts are combined in order.

use weft_ir::order::BLOCK;
use weft_ir::{BinOp, Block, Builder, CmpOp, Op, Reduction, Spread, StmtKind, Type, Value};

use crate::counted::counted;
use crate::cut::RunCut;
use crate::elements::Elements;
use crate::error::PassError;
use crate::join::Join;

/// An index space of two axes, and what is done at its points.
pub struct Reduced<'a> {
    pub vars: &'a [Value],
    pub extents: &'a [Value],
    pub reductions: &'a [Reduction],
    pub spread: Spread,
    pub body: Block,
}

/// Where the parts of a reduction are, one a block.
struct Parts {
    join: Join,
    elements: Elements,
}

/// Leaves in the locals what the reductions give. Gives the last index of the index spaces that are the blocks.
pub fn write(b: &mut Builder, cut: &RunCut, points: Reduced<'_>) -> Result<Value, PassError> {
    let joins = Join::all(&b.func, points.reductions, b.span)?;
    let parts = joins.into_iter().map(|join| Parts {
        join,
        elements: Elements::of_alloc(b, join.scalar, cut.blocks),
    });
    let parts: Vec<Parts> = parts.collect();
    let before: Vec<Value> = parts.iter().map(|part| b.get(part.join.local)).collect();
    let column = at_every_block(b, points, cut, &parts);
    for (part, before) in parts.iter().zip(before) {
        combine(b, part, before, cut);
    }
    Ok(column)
}

fn at_every_block(b: &mut Builder, points: Reduced<'_>, cut: &RunCut, parts: &[Parts]) -> Value {
    let length = b.i64(BLOCK as i64);
    let width = b.binary(BinOp::Min, points.extents[1], length);
    let [in_row, group, row, column] = [(); 4].map(|()| b.func.new_value(Type::I64));
    b.open();
    for part in parts {
        part.join.clear(b, part.join.local);
    }
    b.open();
    at_point(b, &points, cut, [in_row, group, row, column]);
    let body = b.close();
    b.push(StmtKind::ParFor {
        vars: vec![row, column],
        extents: vec![cut.rows_per_block, width],
        reductions: points.reductions.to_vec(),
        spread: Spread::Lanes,
        body,
    });
    let before = b.binary(BinOp::Mul, group, cut.blocks_per_row);
    let number = b.binary(BinOp::Add, before, in_row);
    for part in parts {
        let sum = b.get(part.join.local);
        part.elements.store(b, number, sum);
    }
    let body = b.close();
    b.push(StmtKind::ParFor {
        vars: vec![in_row, group],
        extents: vec![cut.blocks_per_row, cut.groups],
        reductions: Vec::new(),
        spread: points.spread,
        body,
    });
    column
}

/// The body at a point of a block; the last rows and columns of a block may be no points.
fn at_point(b: &mut Builder, points: &Reduced<'_>, cut: &RunCut, [in_row, group, row, column]: [Value; 4]) {
    let length = b.i64(BLOCK as i64);
    let (rows_before, columns_before) = (
        b.binary(BinOp::Mul, group, cut.rows_per_block),
        b.binary(BinOp::Mul, in_row, length),
    );
    let mut inside = Vec::new();
    for (axis, (before, at)) in [(rows_before, row), (columns_before, column)].into_iter().enumerate() {
        b.push(StmtKind::Let(points.vars[axis], Op::Binary(BinOp::Add, before, at)));
        inside.push(b.compare(CmpOp::Lt, points.vars[axis], points.extents[axis]));
    }
    let then = Block(vec![weft_ir::Stmt {
        kind: StmtKind::If {
            cond: inside[0],
            then: points.body.clone(),
            other: Block::default(),
        },
        span: b.span,
    }]);
    b.push(StmtKind::If {
        cond: inside[1],
        then,
        other: Block::default(),
    });
}

/// The blocks of a chunk in order, and the chunks.
fn combine(b: &mut Builder, Parts { join, elements }: &Parts, before: Value, cut: &RunCut) {
    let chunk = b.func.new_local(join.scalar.into(), "");
    let [zero, one, start, number] = [b.i64(0), b.i64(1), b.func.new_value(Type::I64), b.func.new_value(Type::I64)];
    let per_chunk = cut.blocks_per_chunk(b);
    join.clear(b, join.local);
    counted(b, start, [zero, cut.blocks, per_chunk], |b| {
        let end = b.binary(BinOp::Add, start, per_chunk);
        let end = b.binary(BinOp::Min, end, cut.blocks);
        join.clear(b, chunk);
        counted(b, number, [start, end, one], |b| {
            let block = elements.load(b, number);
            join.add(b, chunk, block);
        });
        let sum = b.get(chunk);
        join.add(b, join.local, sum);
    });
    let total = b.get(join.local);
    let all = join.join(b, before, total);
    b.set(join.local, all);
}
