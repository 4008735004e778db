//! Combining partial results of reductions: two of them, and the lanes of one as a tree.

use weft_ir::{BinOp, Const, ReduceOp, Reduction, Scalar};

use super::func::Fx;
use super::values::{Num, Res, elem};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    /// [`Fx::binary`] of any scalar, 16-bit floats by way of float32: for what the passes do not see.
    pub fn combine(&mut self, op: BinOp, s: Scalar, a: Num, b: Num) -> Res<Num> {
        if !s.is_half() {
            return self.binary(op, s, a, b, s);
        }
        let (a, b) = (self.cast(s, Scalar::F32, a), self.cast(s, Scalar::F32, b));
        let wide = self.binary(op, Scalar::F32, a, b, Scalar::F32)?;
        Ok(self.cast(Scalar::F32, s, wide))
    }

    pub fn combine_lanes(&mut self, op: ReduceOp, s: Scalar, n: Num) -> Res<Num> {
        let ty = self.gang.vector_ty(elem(s));
        let (mut vector, mut lanes) = (self.take(n, ty), ty.lanes);
        while lanes > 1 {
            let (from, half) = (Ty { lanes, ..ty }, lanes / 2);
            let low = self.part(vector, from, 0, half);
            let high = self.part(vector, from, half, half);
            let joined = self.with_lanes(half, |fx| fx.combine(op.binary(), s, Num::Varying(low), Num::Varying(high)))?;
            vector = self.take(joined, Ty { lanes: half, ..ty });
            lanes = half;
        }
        let one = Ty { lanes: 1, ..ty };
        Ok(Num::Uniform(
            self.w.inst(format_args!("extractelement {}, i64 0", vector.typed(one))),
        ))
    }
}

/// A sum in any order, whose rounding errors would add up.
pub fn is_sum(r: Reduction, s: Scalar) -> bool {
    r.op == ReduceOp::Add && s.is_float() && !r.fixed
}

/// What changes nothing when combined.
pub fn identity(op: ReduceOp, s: Scalar) -> Num {
    Num::Uniform(match op.identity(s) {
        Some(Const::Bool(b)) => Operand::Bool(b),
        Some(Const::Int(_, v)) => Operand::Int(v),
        Some(Const::F16(bits) | Const::BF16(bits)) => Operand::Int(bits.into()),
        Some(Const::F32(bits)) => Operand::F32(bits),
        Some(Const::F64(bits)) => Operand::F64(bits),
        Some(Const::C64(..) | Const::C128(..)) | None => Operand::Zero,
    })
}
