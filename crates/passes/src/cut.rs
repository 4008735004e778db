//! How an index space is cut for reductions of the fixed order ([`weft_ir::order`]), as code of the program itself.

use weft_ir::order::{BLOCK, CHUNKS, LEAST, ROW};
use weft_ir::{BinOp, Builder, CmpOp, Op, StmtKind, Type, Value};

/// A [`Cut`](weft_ir::order::Cut) of extents that are known when the program runs.
pub struct RunCut {
    columns: Value,
    rows: Value,
    pub rows_per_block: Value,
    pub blocks_per_row: Value,
    pub blocks: Value,
    /// A chunk ends where a row does.
    whole_rows: bool,
}

impl RunCut {
    pub fn new(b: &mut Builder, extents: &[Value]) -> RunCut {
        let one = b.i64(1);
        let (columns, outer) = extents.split_last().map_or((one, &[][..]), |(last, outer)| (*last, outer));
        let rows = outer.iter().copied().reduce(|rows, n| b.binary(BinOp::Mul, rows, n)).unwrap_or(one);
        let length = b.i64(BLOCK as i64);
        let some = b.binary(BinOp::Max, columns, one);
        let fit = b.binary(BinOp::FloorDiv, length, some);
        let rows_per_block = match outer {
            // There is but one.
            [] => b.binary(BinOp::Max, fit, one),
            _ => {
                let row = b.i64(ROW as i64);
                let long = b.compare(CmpOp::Ge, columns, row);
                b.select(long, one, fit)
            }
        };
        let blocks_per_row = divided_up(b, some, length);
        let groups = divided_up(b, rows, rows_per_block);
        let (blocks, zero) = (b.binary(BinOp::Mul, groups, blocks_per_row), b.i64(0));
        let empty = b.compare(CmpOp::Eq, columns, zero);
        let blocks = b.select(empty, zero, blocks);
        RunCut {
            columns,
            rows,
            rows_per_block,
            blocks_per_row,
            blocks,
            whole_rows: !outer.is_empty(),
        }
    }

    /// The rows and columns of a block: from, to.
    pub fn block(&self, b: &mut Builder, number: Value) -> [Value; 4] {
        let group = b.binary(BinOp::FloorDiv, number, self.blocks_per_row);
        let first_row = b.binary(BinOp::Mul, group, self.rows_per_block);
        let last_row = b.binary(BinOp::Add, first_row, self.rows_per_block);
        let last_row = b.binary(BinOp::Min, last_row, self.rows);
        let part = b.binary(BinOp::Mod, number, self.blocks_per_row);
        let length = b.i64(BLOCK as i64);
        let first_column = b.binary(BinOp::Mul, part, length);
        let last_column = b.binary(BinOp::Add, first_column, length);
        let last_column = b.binary(BinOp::Min, last_column, self.columns);
        [first_row, last_row, first_column, last_column]
    }

    pub fn blocks_per_chunk(&self, b: &mut Builder) -> Value {
        let (chunks, least) = (b.i64(CHUNKS as i64), b.i64(LEAST as i64));
        let shared = divided_up(b, self.blocks, chunks);
        let blocks = b.binary(BinOp::Max, shared, least);
        match self.whole_rows {
            true => {
                let rows = divided_up(b, blocks, self.blocks_per_row);
                b.binary(BinOp::Mul, rows, self.blocks_per_row)
            }
            false => blocks,
        }
    }
}

/// `value / by`, rounded up, of numbers that are not negative.
pub fn divided_up(b: &mut Builder, value: Value, by: Value) -> Value {
    let one = b.i64(1);
    let less = b.binary(BinOp::Sub, by, one);
    let sum = b.binary(BinOp::Add, value, less);
    b.binary(BinOp::FloorDiv, sum, by)
}

/// The indices of a point from its number, which is the index where there is one axis; the last axis is the fastest.
pub fn index_of(b: &mut Builder, indices: &[Value], extents: &[Value], number: Value) {
    let mut rest = number;
    for axis in (1..indices.len()).rev() {
        b.push(StmtKind::Let(indices[axis], Op::Binary(BinOp::Mod, rest, extents[axis])));
        let before = match axis {
            1 => indices[0],
            _ => b.func.new_value(Type::I64),
        };
        b.push(StmtKind::Let(before, Op::Binary(BinOp::FloorDiv, rest, extents[axis])));
        rest = before;
    }
}
