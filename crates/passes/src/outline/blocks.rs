//! Reductions of the fixed order over two axes where memory lies along the first: lanes lie along the rows, each of which is some blocks of
//! that order. Each block leaves its part in an array; the parts are combined in order.

use weft_ir::order::{BLOCK, ROW};
use weft_ir::{BinOp, Block, Builder, CmpOp, Layout, Op, Reduction, Scalar, Space, Spread, StmtKind, Type, Value, ViewType};

use super::ordered::{joined, load, store};
use crate::counted::counted;
use crate::cut::RunCut;

/// An index space of two axes, and what is done at its points.
pub struct Reduced<'a> {
    pub vars: [Value; 2],
    pub extents: [Value; 2],
    pub reductions: &'a [Reduction],
    pub spread: Spread,
    pub body: Block,
}

/// Where the parts of a reduction are, one a block, and what it starts from.
struct Parts {
    reduction: Reduction,
    array: Value,
    identity: Value,
}

impl Parts {
    /// The verifier has seen that there is an identity.
    fn new(b: &mut Builder, reduction: Reduction, blocks: Value) -> Option<Parts> {
        let scalar: Scalar = b.func.local_ty(reduction.local).scalar()?;
        let identity = reduction.op.identity(scalar)?;
        let ty = ViewType {
            elem: scalar,
            rank: 1,
            layout: Layout::C,
            space: Space::Global,
            writable: true,
        };
        let alloc = Op::Alloc {
            zeroed: false,
            shape: vec![blocks],
        };
        Some(Parts {
            reduction,
            array: b.emit(Type::View(ty), alloc),
            identity: b.constant(identity),
        })
    }
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
pub fn write(b: &mut Builder, points: Reduced<'_>) -> Value {
    let cut = RunCut::new(b, &points.extents);
    let parts: Vec<Parts> = points.reductions.iter().filter_map(|r| Parts::new(b, *r, cut.blocks)).collect();
    let before: Vec<Value> = parts.iter().map(|part| b.get(part.reduction.local)).collect();
    let column = at_every_block(b, points, &cut, &parts);
    for (part, before) in parts.iter().zip(before) {
        combine(b, part, before, &cut);
    }
    column
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
        b.set(part.reduction.local, part.identity);
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
        let sum = b.get(part.reduction.local);
        store(b, part.array, number, sum);
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
fn combine(b: &mut Builder, part: &Parts, before: Value, cut: &RunCut) {
    let Reduction { local, op, .. } = part.reduction;
    let ty = b.func.local_ty(local).clone();
    let chunk = b.func.new_local(ty, "");
    let [zero, one, start, number] = [b.i64(0), b.i64(1), b.func.new_value(Type::I64), b.func.new_value(Type::I64)];
    let per_chunk = cut.blocks_per_chunk(b);
    b.set(local, part.identity);
    let add = |b: &mut Builder, into, value| {
        let so_far = b.get(into);
        let sum = joined(b, op, so_far, value);
        b.set(into, sum);
    };
    counted(b, start, [zero, cut.blocks, per_chunk], |b| {
        let end = b.binary(BinOp::Add, start, per_chunk);
        let end = b.binary(BinOp::Min, end, cut.blocks);
        b.set(chunk, part.identity);
        counted(b, number, [start, end, one], |b| {
            let block = load(b, part.array, number);
            add(b, chunk, block);
        });
        let sum = b.get(chunk);
        add(b, local, sum);
    });
    let total = b.get(local);
    let all = joined(b, op, before, total);
    b.set(local, all);
}
