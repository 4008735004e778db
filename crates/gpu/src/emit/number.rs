//! Numbers while they are written, and `i64` arithmetic in 32 bits where its results are known to fit.
//!
//! Indices are `i64` in the IR, and most of them are small: thread indices, lengths of arrays, what is computed of them. A GPU has 32-bit
//! integer units, so a number whose range is known is held in 32 bits together with the range.

use naga::{BinaryOperator, MathFunction};
use weft_ir::{Axis, BinOp, Geometry, Op, Scalar, Value};

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

/// `lo..=hi`, both of them 32-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub lo: i64,
    pub hi: i64,
}

/// What [`super::Facts::narrow`] promises of lengths and of threads along an axis.
pub const NARROW: i64 = 1 << 30;

impl Range {
    pub const I32: Range = Range::new(i32::MIN as i64, i32::MAX as i64);
    pub const LENGTH: Range = Range::new(0, NARROW - 1);

    pub const fn new(lo: i64, hi: i64) -> Range {
        Range { lo, hi }
    }

    fn if_short(lo: i128, hi: i128) -> Option<Range> {
        let fits = |v: i128| i32::try_from(v).is_ok();
        (lo <= hi && fits(lo) && fits(hi)).then_some(Range::new(lo as i64, hi as i64))
    }

    pub fn join(self, other: Range) -> Range {
        Range::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    const fn is_constant(self) -> Option<i64> {
        if self.lo == self.hi { Some(self.lo) } else { None }
    }

    /// What a scalar type of at most 32 bits holds, where that fits.
    fn of(s: Scalar) -> Option<Range> {
        Some(match s {
            Scalar::Bool => Range::new(0, 1),
            Scalar::U8 => Range::new(0, 0xFF),
            Scalar::U16 => Range::new(0, 0xFFFF),
            Scalar::I8 => Range::new(i8::MIN as i64, i8::MAX as i64),
            Scalar::I16 => Range::new(i16::MIN as i64, i16::MAX as i64),
            Scalar::I32 => Range::I32,
            _ => return None,
        })
    }
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
        let (inst, range) = short_op(op, r, s)?;
        if let Some(v) = range.is_constant() {
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
        Some(Num::Short(self.short_inst(inst, x, y), range))
    }

    fn short_inst(&mut self, inst: Short, x: Operand, y: Operand) -> Operand {
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
                Num::Short(self.mul32(x, y), Range::new(r.lo * s.lo, NARROW))
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

/// The instruction for `i64` arithmetic in 32 bits and the result's range, if that is known to fit.
fn short_op(op: BinOp, a: Range, b: Range) -> Option<(Short, Range)> {
    let corners = |f: fn(i128, i128) -> i128| {
        let all = [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)].map(|(x, y)| f(x.into(), y.into()));
        let (lo, hi) = all.iter().fold((i128::MAX, i128::MIN), |(lo, hi), v| (lo.min(*v), hi.max(*v)));
        Range::if_short(lo, hi)
    };
    let unsigned = a.lo >= 0 && b.lo >= 0;
    use {BinaryOperator as Bo, Short::Signed};
    let ones_over = |v: i64| (1i64 << (i64::BITS - v.leading_zeros())) - 1;
    let (inst, range) = match op {
        BinOp::Add => (Signed(Bo::Add), corners(|x, y| x + y)?),
        BinOp::Sub => (Signed(Bo::Subtract), corners(|x, y| x - y)?),
        BinOp::Mul => (Signed(Bo::Multiply), corners(|x, y| x * y)?),
        BinOp::FloorDiv if a.lo >= 0 && b.lo > 0 => (Short::Unsigned(Bo::Divide), Range::new(a.lo / b.hi, a.hi / b.lo)),
        BinOp::Mod | BinOp::Rem if a.lo >= 0 && b.lo > 0 => (Short::Unsigned(Bo::Modulo), Range::new(0, a.hi.min(b.hi - 1))),
        BinOp::And if b.lo >= 0 => (Signed(Bo::And), Range::new(0, if a.lo >= 0 { a.hi.min(b.hi) } else { b.hi })),
        BinOp::And if a.lo >= 0 => (Signed(Bo::And), Range::new(0, a.hi)),
        BinOp::Or | BinOp::Xor if unsigned => (
            Signed(if op == BinOp::Or { Bo::InclusiveOr } else { Bo::ExclusiveOr }),
            Range::new(0, ones_over(a.hi.max(b.hi))),
        ),
        BinOp::Or => (Signed(Bo::InclusiveOr), Range::I32),
        BinOp::And => (Signed(Bo::And), Range::I32),
        BinOp::Xor => (Signed(Bo::ExclusiveOr), Range::I32),
        BinOp::Shl if b.lo >= 0 && b.hi < 31 => {
            let ends = [a.lo, a.hi]
                .into_iter()
                .flat_map(|x| [i128::from(x) << b.lo, i128::from(x) << b.hi]);
            let (lo, hi) = ends.fold((i128::MAX, i128::MIN), |(lo, hi), v| (lo.min(v), hi.max(v)));
            (Short::Shift(Bo::ShiftLeft), Range::if_short(lo, hi)?)
        }
        BinOp::Shr if b.lo >= 0 && b.hi < 32 => {
            let ends = [a.lo >> b.lo, a.lo >> b.hi, a.hi >> b.lo, a.hi >> b.hi];
            let (lo, hi) = ends.into_iter().fold((i64::MAX, i64::MIN), |(lo, hi), v| (lo.min(v), hi.max(v)));
            (Short::Shift(Bo::ShiftRight), Range::new(lo, hi))
        }
        BinOp::Min => return Some((Short::Math(MathFunction::Min), Range::new(a.lo.min(b.lo), a.hi.min(b.hi)))),
        BinOp::Max => return Some((Short::Math(MathFunction::Max), Range::new(a.lo.max(b.lo), a.hi.max(b.hi)))),
        _ => return None,
    };
    Some((inst, range))
}
