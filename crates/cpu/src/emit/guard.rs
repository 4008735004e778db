//! Uniformity tests at run time: do all lanes of a gang take one side of a branch, are all lanes in a range?

use weft_ir::{BinOp, CmpOp, Geometry, Op, Scalar, Value};
use weft_passes::numbering::Numbered;

use super::func::Fx;
use super::values::{Num, Res, Val};
use super::writer::{Operand, Ty};

/// A body longer than this is not written twice.
pub const DOUBLED_STATEMENTS: usize = 400;

/// The numbers of a `For`.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub start: Num,
    pub stop: Num,
    pub step: Num,
    /// Does it count up? `None`: known at run time only.
    pub up: Option<bool>,
}

impl Range {
    /// How many iterations, if that is known.
    pub fn trips(&self) -> Option<usize> {
        let (start, stop, step) = (self.start.const_int()?, self.stop.const_int()?, self.step.const_int()?);
        let span = if step > 0 {
            stop.checked_sub(start)?
        } else {
            start.checked_sub(stop)?
        };
        usize::try_from(span.max(0).unsigned_abs().div_ceil(step.unsigned_abs())).ok()
    }

    pub fn uniform(&self) -> bool {
        self.start.is_uniform() && self.stop.is_uniform() && self.step.is_uniform()
    }
}

impl<'m> Fx<'_, 'm> {
    /// A scalar that is true when the whole gang takes the longer side of a branch, and that side.
    pub fn whole_gang_test(&mut self, cond: Value, [then, other]: [Numbered<'m>; 2]) -> Res<Option<(Operand, Numbered<'m>)>> {
        let (side, wanted) = if then.size() >= other.size() {
            (then, true)
        } else {
            (other, false)
        };
        if side.size() > DOUBLED_STATEMENTS {
            return Ok(None);
        }
        Ok(self.all_lanes(cond, wanted)?.map(|test| (test, side)))
    }

    /// A scalar that is true only if `cond` is `wanted` in every lane, where one can be computed from affine and uniform operands.
    pub fn all_lanes(&mut self, cond: Value, wanted: bool) -> Res<Option<Operand>> {
        let Some(Val::Num(known)) = self.known.vals[cond.index()] else {
            return Ok(None);
        };
        if let Num::Uniform(c) = known {
            return Ok(Some(if wanted {
                c
            } else {
                self.w.inst(format_args!("xor {}, true", c.typed(Ty::BOOL)))
            }));
        }
        let Some(op) = self.known.defs[cond.index()] else {
            return Ok(None);
        };
        match op {
            Op::Compare(op, a, b) if *self.f.ty(*a) == weft_ir::Type::I64 => {
                // What a condition from before a barrier was made of may not be here.
                let (Some(Val::Num(a)), Some(Val::Num(b))) = (&self.known.vals[a.index()], &self.known.vals[b.index()]) else {
                    return Ok(None);
                };
                let (a, b) = (*a, *b);
                let op = if wanted { *op } else { op.opposite() };
                Ok(self.all_compare(op, a, b))
            }
            Op::Unary(weft_ir::UnOp::Not, a) => self.all_lanes(*a, !wanted),
            Op::Binary(op @ (BinOp::And | BinOp::Or), a, b) if (*op == BinOp::And) == wanted => {
                let Some(x) = self.all_lanes(*a, wanted)? else {
                    return Ok(None);
                };
                let Some(y) = self.all_lanes(*b, wanted)? else {
                    return Ok(None);
                };
                Ok(Some(self.plain("and", Ty::BOOL, x, y)))
            }
            _ => Ok(None),
        }
    }

    /// Does a comparison hold in every lane: it does if it holds in the lanes where its sides come closest, and no lane has wrapped round.
    fn all_compare(&mut self, op: CmpOp, a: Num, b: Num) -> Option<Operand> {
        let (low_a, high_a) = self.ends(a)?;
        let (low_b, high_b) = self.ends(b)?;
        let (x, y) = match op {
            CmpOp::Lt | CmpOp::Le => (high_a, low_b),
            CmpOp::Gt | CmpOp::Ge => (low_a, high_b),
            CmpOp::Eq | CmpOp::Ne => return None,
        };
        let mut test = self.compare_scalars(op, x, y)?;
        for (low, high) in [(low_a, high_a), (low_b, high_b)] {
            if low != high {
                let ordered = self.compare_scalars(CmpOp::Le, low, high)?;
                test = self.plain("and", Ty::BOOL, test, ordered);
            }
        }
        Some(test)
    }

    fn compare_scalars(&mut self, op: CmpOp, x: Operand, y: Operand) -> Option<Operand> {
        match self.compare(op, Scalar::I64, Num::Uniform(x), Num::Uniform(y)) {
            Num::Uniform(test) => Some(test),
            _ => None,
        }
    }

    /// The least and the greatest value over the lanes, if none of them wraps; else the first is over the second.
    fn ends(&mut self, n: Num) -> Option<(Operand, Operand)> {
        match n {
            Num::Uniform(op) => Some((op, op)),
            Num::Affine(base, step) => {
                let span = step.checked_mul(i64::from(self.gang.lanes) - 1)?;
                let last = self.add_scalar(base, Operand::Int(span));
                Some(if step > 0 { (base, last) } else { (last, base) })
            }
            Num::Strided(..) | Num::Varying(_) => None,
        }
    }

    pub fn range(&mut self, values: [Value; 3]) -> Res<Range> {
        let (start, stop, step) = (self.num(values[0])?, self.num(values[1])?, self.num(values[2])?);
        let up = self.counts_up(values[2], step);
        Ok(Range { start, stop, step, up })
    }

    /// Is `at` before the end, lane by lane.
    pub fn in_range(&mut self, at: Num, range: &Range) -> Num {
        match range.up {
            Some(true) => self.compare(CmpOp::Lt, Scalar::I64, at, range.stop),
            Some(false) => self.compare(CmpOp::Gt, Scalar::I64, at, range.stop),
            None => {
                let up = self.compare(CmpOp::Gt, Scalar::I64, range.step, Num::int(0));
                let below = self.compare(CmpOp::Lt, Scalar::I64, at, range.stop);
                let above = self.compare(CmpOp::Gt, Scalar::I64, at, range.stop);
                self.select(Scalar::Bool, up, below, above)
            }
        }
    }

    /// Are all lanes before the end.
    pub fn all_in_range(&mut self, at: Num, range: &Range) -> Option<Operand> {
        match range.up {
            Some(true) => self.all_compare(CmpOp::Lt, at, range.stop),
            Some(false) => self.all_compare(CmpOp::Gt, at, range.stop),
            None => {
                let below = self.all_compare(CmpOp::Lt, at, range.stop)?;
                let above = self.all_compare(CmpOp::Gt, at, range.stop)?;
                let Num::Uniform(up) = self.compare(CmpOp::Gt, Scalar::I64, range.step, Num::int(0)) else {
                    return None;
                };
                Some(self.select_op(Ty::BOOL, up, below, above))
            }
        }
    }
}

impl Fx<'_, '_> {
    /// Does a range of this step count up, if that is known?
    pub fn counts_up(&self, step: Value, number: Num) -> Option<bool> {
        match number.const_int() {
            Some(v) => Some(v > 0),
            None => self.is_positive(step).then_some(true),
        }
    }

    fn is_positive(&self, value: Value) -> bool {
        match self.known.defs[value.index()] {
            Some(Op::Const(weft_ir::Const::Int(_, v))) => *v > 0,
            Some(Op::Geometry(Geometry::BlockDim(_) | Geometry::GridDim(_))) => true,
            Some(Op::Binary(BinOp::Add | BinOp::Mul, a, b)) => self.magnitude(value) <= 63 && self.is_positive(*a) && self.is_positive(*b),
            _ => false,
        }
    }

    /// The absolute value of an `i64` is below two to the power of this.
    pub fn magnitude(&self, value: Value) -> u32 {
        if let weft_ir::FuncKind::Loop { rank, .. } = self.f.kind
            && self.f.params[..rank as usize].contains(&value)
        {
            // Counted up from 0: no launch lives to see more.
            return 52;
        }
        let Some(op) = self.known.defs[value.index()] else {
            return 64;
        };
        match op {
            Op::Const(weft_ir::Const::Int(_, v)) => 64 - v.unsigned_abs().leading_zeros(),
            Op::Geometry(g) => match g {
                Geometry::ThreadIdx(_) | Geometry::LaneId => 10,
                Geometry::BlockDim(_) => 11,
                Geometry::BlockIdx(_) => 31,
                Geometry::GridDim(_) => 32,
            },
            Op::Binary(BinOp::Add | BinOp::Sub, a, b) => (self.magnitude(*a).max(self.magnitude(*b)) + 1).min(64),
            Op::Binary(BinOp::Mul, a, b) => (self.magnitude(*a) + self.magnitude(*b)).min(64),
            _ => 64,
        }
    }
}
