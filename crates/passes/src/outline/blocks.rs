//! Reductions of the fixed order over two axes where memory lies along the first: lanes lie along the rows, each of which is some blocks of
//! that order. Each block leaves its part in an array; the parts are combined in order.

use weft_ir::order::{BLOCK, ROW};
use weft_ir::{BinOp, Block, Builder, CmpOp, Op, Reduction, Spread, StmtKind, Type, Value};

use crate::cut::RunCut;
use crate::elements::Elements;
use crate::error::PassError;
use crate::join::Join;
use crate::statements::counted;

/// An index space of two axes, and what is done at its points.
pub struct Reduced<'a> {
    pub vars: [Value; 2],
    pub extents: [Value; 2],
    pub reductions: &'a [Reduction],
    pub spread: Spread,
    pub body: Block,
}

/// Where the parts of a reduction are, one a block.
struct Parts {
    join: Join,
    elements: Elements,
}

/// Rows that lanes are worth having.
const ENOUGH: i64 = 16;

/// Are there so many rows, and so long that no block has two?
pub fn are_worth_lanes(b: &mut Builder, [rows, columns]: [Value; 2]) -> Value {
    let (row, enough) = (b.i64(ROW as i64), b.i64(ENOUGH));
    let long = b.compare(CmpOp::Ge, columns, row);
    let many = b.compare(CmpOp::Ge, rows, enough);
    b.binary(BinOp::And, long, many)
}

/// Leaves in the locals what the reductions give. Gives the last index of the index spaces that are the blocks.
pub fn write(b: &mut Builder, points: Reduced<'_>) -> Result<Value, PassError> {
    let cut = RunCut::new(b, &points.extents);
    let joins = Join::all(&b.func, points.reductions, b.span)?;
    let parts = joins.into_iter().map(|join| Parts {
        join,
        elements: Elements::of_alloc(b, join.scalar, cut.blocks),
    });
    let parts: Vec<Parts> = parts.collect();
    let before: Vec<Value> = parts.iter().map(|part| b.get(part.join.local)).collect();
    let column = at_every_block(b, points, &cut, &parts);
    for (part, before) in parts.iter().zip(before) {
        combine(b, part, before, &cut);
    }
    Ok(column)
}

/// Lanes are along the last of the two indices, the row.
fn at_every_block(b: &mut Builder, points: Reduced<'_>, cut: &RunCut, parts: &[Parts]) -> Value {
    let ([row, column], [rows, columns]) = (points.vars, points.extents);
    let [in_row, at] = [(); 2].map(|()| b.func.new_value(Type::I64));
    b.open();
    let length = b.i64(BLOCK as i64);
    let first = b.binary(BinOp::Mul, in_row, length);
    let left = b.binary(BinOp::Sub, columns, first);
    let width = b.binary(BinOp::Min, left, length);
    for part in parts {
        part.join.clear(b, part.join.local);
    }
    b.open();
    b.push(StmtKind::Let(column, Op::Binary(BinOp::Add, first, at)));
    let mut body = b.close();
    body.0.extend(points.body.0);
    b.push(StmtKind::ParFor {
        vars: vec![at],
        extents: vec![width],
        reductions: points.reductions.to_vec(),
        spread: Spread::Lanes,
        body,
    });
    let before = b.binary(BinOp::Mul, row, cut.blocks_per_row);
    let number = b.binary(BinOp::Add, before, in_row);
    for part in parts {
        let sum = b.get(part.join.local);
        part.elements.store(b, number, sum);
    }
    let body = b.close();
    b.push(StmtKind::ParFor {
        vars: vec![in_row, row],
        extents: vec![cut.blocks_per_row, rows],
        reductions: Vec::new(),
        spread: points.spread,
        body,
    });
    at
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
