//! Numbers in naga's expressions: `i64` arithmetic in 32 bits, and where a thread is.

use naga::{BinaryOperator, MathFunction};
use weft_ir::{BinOp, CmpOp, Geometry, Scalar, UnOp};
use weft_passes::range::Range;
use weft_thread::{Basic, Numbers, Overflow};

use super::func::Fx;
use super::numbers::Number;
use super::operand::{Operand, Ty};
use super::values::{Num, Res};

impl<'m> Numbers<'m> for Fx<'m> {
    fn widened(&mut self, x: Operand, _range: Range) -> Operand {
        let wide = self.w.convert(x, Ty::I64);
        self.veiled(wide)
    }

    fn halved(&mut self, x: Operand) -> Operand {
        self.w.convert(x, Ty::I32)
    }

    fn basic(&mut self, op: Basic, _overflow: Overflow, x: Operand, y: Operand) -> Operand {
        let op = match op {
            Basic::Add => BinaryOperator::Add,
            Basic::Sub => BinaryOperator::Subtract,
            Basic::Mul => BinaryOperator::Multiply,
        };
        self.w.binary(op, x, y)
    }

    fn short(&mut self, op: BinOp, _unsigned: bool, x: Operand, y: Operand) -> Option<Operand> {
        let op = match op {
            BinOp::Add => BinaryOperator::Add,
            BinOp::Sub => BinaryOperator::Subtract,
            BinOp::Mul => BinaryOperator::Multiply,
            // They have a range only where no operand is below 0.
            BinOp::FloorDiv => return Some(self.unsigned(BinaryOperator::Divide, x, y)),
            BinOp::Mod | BinOp::Rem => return Some(self.unsigned(BinaryOperator::Modulo, x, y)),
            BinOp::And => BinaryOperator::And,
            BinOp::Or => BinaryOperator::InclusiveOr,
            BinOp::Xor => BinaryOperator::ExclusiveOr,
            BinOp::Shl => return Some(self.shift(BinaryOperator::ShiftLeft, x, y)),
            BinOp::Shr => return Some(self.shift(BinaryOperator::ShiftRight, x, y)),
            BinOp::Min => return Some(self.w.math(MathFunction::Min, &[x, y])),
            BinOp::Max => return Some(self.w.math(MathFunction::Max, &[x, y])),
            BinOp::Div | BinOp::IntPow | BinOp::CopySign => return None,
        };
        Some(self.w.binary(op, x, y))
    }

    fn select(&mut self, cond: Operand, x: Operand, y: Operand) -> Operand {
        self.w.select(cond, x, y)
    }

    fn compare(&mut self, op: CmpOp, s: Scalar, x: Operand, y: Operand) -> Res<Operand> {
        self.calc(Number::Compare(op, s), &[x, y])
    }

    fn compute_unary(&mut self, op: UnOp, s: Scalar, x: Operand) -> Res<Operand> {
        self.calc(Number::Unary(op, s), &[x])
    }

    fn compute(&mut self, op: BinOp, s: Scalar, a: Num, b: Num, count: Scalar) -> Res<Num> {
        if (op, s) == (BinOp::And, Scalar::I64)
            && let Some(masked) = self.masked(a, b)
        {
            return Ok(masked);
        }
        let x = self.take(a);
        if let Some(done) = self.by_constant(op, s, x, b) {
            return Ok(Num::Reg(done));
        }
        let y = self.take(b);
        Ok(Num::Reg(self.calc(Number::Binary(op, s, count), &[x, y])?))
    }

    fn decided(&self, op: CmpOp, a: Num, b: Num) -> Option<bool> {
        let range = |n: Num| n.range().or(n.const_int().map(|v| Range::new(v, v)));
        decided(op, range(a)?, range(b)?)
    }

    fn geometry(&mut self, query: Geometry) -> Num {
        self.place_of_thread(query)
    }
}

impl Fx<'_> {
    fn unsigned(&mut self, op: BinaryOperator, x: Operand, y: Operand) -> Operand {
        let (x, y) = (self.w.bitcast(x, Ty::U32), self.w.bitcast(y, Ty::U32));
        let result = self.w.binary(op, x, y);
        self.w.bitcast(result, Ty::I32)
    }

    /// The count is unsigned.
    fn shift(&mut self, op: BinaryOperator, x: Operand, y: Operand) -> Operand {
        let y = self.w.bitcast(y, Ty::U32);
        self.w.binary(op, x, y)
    }

    /// A small integer as an `i64`.
    pub fn extended(&mut self, from: Scalar, x: Operand) -> Option<Num> {
        let range = Range::of(from)?;
        if let Some(v) = x.known() {
            return Some(Num::int(v));
        }
        Some(Num::Short(self.w.convert(x, Ty::I32), range))
    }
}

/// A comparison of numbers that lie between these, where that decides it.
fn decided(op: CmpOp, a: Range, b: Range) -> Option<bool> {
    let (below, above) = (a.hi < b.lo, a.lo > b.hi);
    let (at_most, at_least) = (a.hi <= b.lo, a.lo >= b.hi);
    match op {
        CmpOp::Eq if at_most && at_least => Some(true),
        CmpOp::Eq => (below || above).then_some(false),
        CmpOp::Ne => decided(CmpOp::Eq, a, b).map(|same| !same),
        CmpOp::Lt if below => Some(true),
        CmpOp::Lt => at_least.then_some(false),
        CmpOp::Ge => decided(CmpOp::Lt, a, b).map(|less| !less),
        CmpOp::Gt => decided(CmpOp::Lt, b, a),
        CmpOp::Le => decided(CmpOp::Lt, b, a).map(|more| !more),
    }
}
