//! Numbers while they are written, and `i64` arithmetic in 32 bits where its results are known to fit.
//!
//! Indices are `i64` in the IR, and most of them are small: thread indices, lengths of arrays, what is computed of them. A GPU has 32-bit
//! integer units, so a number whose range is known is held in 32 bits together with the range.

use naga::{BinaryOperator, MathFunction};
use weft_ir::{Axis, BinOp, Geometry, Op, Scalar, Value};
use weft_passes::range::Range;

use super::func::Fx;
use super::writer::{Operand, Ty};

/// A scalar of the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Num {
    /// In a register of its own type.
    Reg(Operand),
    /// An `i64` held in 32 bits, and what it lies between.
    Short(Operand, Range),
}

impl Num {
    pub fn int(v: i64) -> Num {
        match i32::try_from(v) {
            Ok(_) => Num::Short(Ty::I32.int(v), Range::new(v, v)),
            Err(_) => Num::Reg(Ty::I64.int(v)),
        }
    }

    pub fn const_int(self) -> Option<i64> {
        match self {
            Num::Reg(op) | Num::Short(op, _) => op.known(),
        }
    }

    pub fn range(self) -> Option<Range> {
        match self {
            Num::Short(_, range) => Some(range),
            Num::Reg(_) => None,
        }
    }
}

impl Fx<'_> {
    /// What [`Facts::narrow`](super::Facts::narrow) promises that lengths and threads along an axis are below.
    pub fn narrow(&self) -> i64 {
        1 << self.cx.request.facts.bits
    }

    /// Lengths in narrow code.
    pub fn lengths(&self) -> Range {
        Range::new(0, self.narrow() - 1)
    }

    /// The number in a register of its own type.
    pub fn take(&mut self, n: Num) -> Operand {
        match n {
            Num::Reg(op) => op,
            Num::Short(op, _) if op.known().is_none() => {
                let wide = self.w.convert(op, Ty::I64);
                self.veiled(wide)
            }
            Num::Short(op, _) => self.w.convert(op, Ty::I64),
        }
    }

    /// An `i64` in 32 bits: its low half.
    pub fn take_short(&mut self, n: Num) -> Operand {
        match n {
            Num::Reg(op) if op.ty == Ty::I64 => self.w.convert(op, Ty::I32),
            Num::Short(op, _) | Num::Reg(op) => op,
        }
    }

    /// Arithmetic of two `i64`s in 32 bits, where the result is known to fit.
    pub fn short_binary(&mut self, op: BinOp, a: Num, b: Num) -> Option<Num> {
        let (Num::Short(x, r), Num::Short(y, s)) = (a, b) else {
            return None;
        };
        let range = Range::binary(op, r, s)?;
        if let Some(v) = range.constant() {
            return Some(Num::int(v));
        }
        match (op, a.const_int(), b.const_int()) {
            (BinOp::Add | BinOp::Or | BinOp::Xor, Some(0), _) | (BinOp::Mul, Some(1), _) => return Some(Num::Short(y, range)),
            (BinOp::Add | BinOp::Or | BinOp::Xor | BinOp::Sub | BinOp::Shl | BinOp::Shr, _, Some(0))
            | (BinOp::Mul | BinOp::FloorDiv, _, Some(1)) => {
                return Some(Num::Short(x, range));
            }
            _ => {}
        }
        Some(Num::Short(self.short(short_inst(op)?, x, y), range))
    }

    fn short(&mut self, inst: Short, x: Operand, y: Operand) -> Operand {
        match inst {
            Short::Signed(op) => self.w.binary(op, x, y),
            Short::Unsigned(op) => {
                let (x, y) = (self.w.bitcast(x, Ty::U32), self.w.bitcast(y, Ty::U32));
                let result = self.w.binary(op, x, y);
                self.w.bitcast(result, Ty::I32)
            }
            Short::Shift(op) => {
                let y = self.w.bitcast(y, Ty::U32);
                self.w.binary(op, x, y)
            }
            Short::Math(fun) => self.w.math(fun, &[x, y]),
        }
    }

    /// Whole-grid thread numbers: along an axis they are few in narrow code, whatever their factors could be.
    pub fn grid_product(&mut self, a: Value, b: Value) -> Option<Num> {
        let (of_a, of_b) = (self.geometry_of(a)?, self.geometry_of(b)?);
        let axis = match (of_a, of_b) {
            (Geometry::BlockIdx(x) | Geometry::GridDim(x), Geometry::BlockDim(y)) => (x == y).then_some(x),
            (Geometry::BlockDim(x), Geometry::BlockIdx(y) | Geometry::GridDim(y)) => (x == y).then_some(x),
            _ => None,
        };
        axis?;
        let (Ok(a), Ok(b)) = (self.num(a), self.num(b)) else {
            return None;
        };
        Some(self.grid_count(a, b))
    }

    fn geometry_of(&self, value: Value) -> Option<Geometry> {
        match self.defs[value.index()] {
            Some(Op::Geometry(g)) => Some(*g),
            _ => None,
        }
    }

    /// A small integer as an `i64`.
    pub fn widened(&mut self, from: Scalar, x: Operand) -> Option<Num> {
        let range = Range::of(from)?;
        if let Some(v) = x.known() {
            return Some(Num::int(v));
        }
        Some(Num::Short(self.w.convert(x, Ty::I32), range))
    }

    pub fn select_num(&mut self, cond: Operand, a: Num, b: Num) -> Num {
        match (a, b) {
            (Num::Short(x, r), Num::Short(y, s)) => Num::Short(self.w.select(cond, x, y), r.join(s)),
            _ => {
                let (x, y) = (self.take(a), self.take(b));
                Num::Reg(self.w.select(cond, x, y))
            }
        }
    }

    /// A sum, difference or product of lengths and offsets, which does not wrap.
    pub fn whole(&mut self, op: BinOp, a: Num, b: Num) -> Num {
        if let Some(short) = self.short_binary(op, a, b) {
            return short;
        }
        let (x, y) = (self.take(a), self.take(b));
        let inst = match op {
            BinOp::Add => BinaryOperator::Add,
            BinOp::Sub => BinaryOperator::Subtract,
            _ => BinaryOperator::Multiply,
        };
        Num::Reg(self.w.binary(inst, x, y))
    }

    /// This thread's number along an axis of the whole grid.
    pub fn grid_thread(&mut self, axis: Axis) -> Num {
        let (block, dim) = (self.geometry(Geometry::BlockIdx(axis)), self.geometry(Geometry::BlockDim(axis)));
        let start = self.grid_count(block, dim);
        let thread = self.geometry(Geometry::ThreadIdx(axis));
        self.whole(BinOp::Add, start, thread)
    }

    /// Blocks times threads of a block.
    pub fn grid_count(&mut self, blocks: Num, threads: Num) -> Num {
        match (blocks, threads) {
            (Num::Short(x, r), Num::Short(y, s)) if self.cx.request.facts.narrow => {
                Num::Short(self.mul32(x, y), Range::new(r.lo * s.lo, self.narrow()))
            }
            _ => self.whole(BinOp::Mul, blocks, threads),
        }
    }
}

/// How naga computes it.
enum Short {
    Signed(BinaryOperator),
    Unsigned(BinaryOperator),
    /// The count is unsigned.
    Shift(BinaryOperator),
    Math(MathFunction),
}

/// The instruction for `i64` arithmetic in 32 bits whose results fit ([`Range::binary`]).
fn short_inst(op: BinOp) -> Option<Short> {
    use {BinaryOperator as Bo, Short::Signed};
    Some(match op {
        BinOp::Add => Signed(Bo::Add),
        BinOp::Sub => Signed(Bo::Subtract),
        BinOp::Mul => Signed(Bo::Multiply),
        // They have a range only where no operand is below 0.
        BinOp::FloorDiv => Short::Unsigned(Bo::Divide),
        BinOp::Mod | BinOp::Rem => Short::Unsigned(Bo::Modulo),
        BinOp::And => Signed(Bo::And),
        BinOp::Or => Signed(Bo::InclusiveOr),
        BinOp::Xor => Signed(Bo::ExclusiveOr),
        BinOp::Shl => Short::Shift(Bo::ShiftLeft),
        BinOp::Shr => Short::Shift(Bo::ShiftRight),
        BinOp::Min => Short::Math(MathFunction::Min),
        BinOp::Max => Short::Math(MathFunction::Max),
        _ => return None,
    })
}
