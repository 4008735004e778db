//! Additions and comparisons in memory that the lanes of a gang do together: where all have the same element they are combined first, and
//! where each has its own, and nobody else writes there meanwhile, they are one load and one store.
//!
//! A float's sum then has another order than lane after lane, as it has on other devices: nothing is promised of it.

use weft_ir::{AtomicOp, BinOp, Index, Part, ReduceOp, Scalar, Value};

use super::combine::identity;
use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res, ViewVal, elem};
use super::writer::Ty;

impl Fx<'_, '_> {
    /// An atomic operation whose result nobody reads; false where lanes have to take their turns.
    pub fn together(&mut self, op: AtomicOp, view: &ViewVal, indices: &[Index], value: Value) -> Res<bool> {
        let s = view.ty.elem;
        let Some(fold) = folded(op, s).filter(|_| self.gang.lanes > 1 && self.scalar(value).is_ok_and(|given| given == s)) else {
            return Ok(false);
        };
        match self.element_offset(view, indices, Part::Whole)? {
            Num::Uniform(at) => {
                let given = self.num(value)?;
                let all = self.folded_lanes(fold, s, given)?;
                let (ptr, new) = (self.w.offset(view.base, at), self.take(all, Ty::scalar(elem(s))));
                self.atomic_at(self.is_own_memory(view), op, s, ptr, new, new)?;
                Ok(true)
            }
            Num::Affine(_, step) if step.unsigned_abs() >= s.size() as u64 && self.is_own_memory(view) => {
                let (found, given) = (self.load_element(view, indices, Part::Whole)?, self.num(value)?);
                let result = self.binary(plain(op), s, found, given, s)?;
                self.store_element(view, indices, result, Part::Whole)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The lanes that are on, combined.
    fn folded_lanes(&mut self, fold: ReduceOp, s: Scalar, given: Num) -> Res<Num> {
        let on = match self.gang.mask {
            Mask::Full => given,
            Mask::Lanes(_) => {
                let bits = Num::Varying(self.bits_now());
                self.select(s, bits, given, identity(fold, s))
            }
        };
        self.combine_lanes(fold, s, on)
    }
}

/// How the lanes' values are combined into one of which the operation then does the same.
fn folded(op: AtomicOp, s: Scalar) -> Option<ReduceOp> {
    match op {
        AtomicOp::Add | AtomicOp::Sub if s.is_int() || matches!(s, Scalar::F32 | Scalar::F64) => Some(ReduceOp::Add),
        AtomicOp::Min if s.is_int() => Some(ReduceOp::Min),
        AtomicOp::Max if s.is_int() => Some(ReduceOp::Max),
        AtomicOp::And if s.is_int() => Some(ReduceOp::And),
        AtomicOp::Or if s.is_int() => Some(ReduceOp::Or),
        AtomicOp::Xor if s.is_int() => Some(ReduceOp::Xor),
        _ => None,
    }
}

fn plain(op: AtomicOp) -> BinOp {
    match op {
        AtomicOp::Sub => BinOp::Sub,
        AtomicOp::Min => BinOp::Min,
        AtomicOp::Max => BinOp::Max,
        AtomicOp::And => BinOp::And,
        AtomicOp::Or => BinOp::Or,
        AtomicOp::Xor => BinOp::Xor,
        _ => BinOp::Add,
    }
}
