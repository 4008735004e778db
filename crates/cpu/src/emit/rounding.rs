//! Floats rounded to integers, with instructions for it and without, and their signs.

use super::func::Fx;
use super::writer::{Elem, Operand, Ty};

#[derive(Clone, Copy, Debug)]
pub enum Rounding {
    Floor,
    Ceil,
    Trunc,
    /// Half to even.
    Rint,
}

impl Fx<'_, '_> {
    pub fn sign_bit(&mut self, ty: Ty, x: Operand) -> Operand {
        let int = ty.with(if ty.elem == Elem::F32 { Elem::I32 } else { Elem::I64 });
        let bits = self.w.inst(format_args!("bitcast {} to {int}", x.typed(ty)));
        self.w
            .inst(format_args!("icmp slt {}, {}", bits.typed(int), Operand::Int(0).of(int)))
    }

    pub fn round(&mut self, how: Rounding, ty: Ty, x: Operand) -> Operand {
        if !self.cx.target.rounding {
            return self.round_by_addition(how, ty, x);
        }
        let name = match how {
            Rounding::Floor => "floor",
            Rounding::Ceil => "ceil",
            Rounding::Trunc => "trunc",
            Rounding::Rint => "rint",
        };
        self.float_call(name, ty, &[x])
    }

    /// Rounding where the hardware has no instruction: adding and subtracting 2^52 (2^23) drops the fraction, half to even.
    fn round_by_addition(&mut self, how: Rounding, ty: Ty, x: Operand) -> Operand {
        let (big, one) = if ty.elem == Elem::F32 {
            (Operand::F32(8_388_608f32.to_bits()), Operand::F32(1f32.to_bits()))
        } else {
            (Operand::F64(4_503_599_627_370_496f64.to_bits()), Operand::F64(1f64.to_bits()))
        };
        let bits = ty.with(Elem::I1);
        let magnitude = self.call("fabs", ty, &[x]);
        let up = self.w.inst(format_args!("fadd {}, {}", magnitude.typed(ty), big.of(ty)));
        let even = self.w.inst(format_args!("fsub {}, {}", up.typed(ty), big.of(ty)));
        let whole = match how {
            Rounding::Rint => even,
            Rounding::Trunc => self.step_back(ty, even, magnitude, one),
            Rounding::Floor => {
                let signed = self.call("copysign", ty, &[even, x]);
                self.step_back(ty, signed, x, one)
            }
            Rounding::Ceil => {
                let negated = self.w.inst(format_args!("fneg {}", x.typed(ty)));
                let signed = self.call("copysign", ty, &[even, negated]);
                let floor = self.step_back(ty, signed, negated, one);
                self.w.inst(format_args!("fneg {}", floor.typed(ty)))
            }
        };
        let signed = self.call("copysign", ty, &[whole, x]);
        let small = self.w.inst(format_args!("fcmp olt {}, {}", magnitude.typed(ty), big.of(ty)));
        self.w
            .inst(format_args!("select {}, {}, {}", small.typed(bits), signed.typed(ty), x.typed(ty)))
    }

    /// `rounded - 1` where `rounded` is over `x`.
    fn step_back(&mut self, ty: Ty, rounded: Operand, x: Operand, one: Operand) -> Operand {
        let over = self.w.inst(format_args!("fcmp ogt {}, {}", rounded.typed(ty), x.of(ty)));
        let less = self.w.inst(format_args!("fsub {}, {}", rounded.typed(ty), one.of(ty)));
        self.select_op(ty, over, less, rounded)
    }
}
