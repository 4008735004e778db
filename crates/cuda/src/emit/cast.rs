//! Numeric conversions.

use weft_ir::Scalar;
use weft_thread::Numbers;

use super::func::Fx;
use super::values::Num;
use super::writer::{Operand, Ty};

const TWO_31: f64 = 2_147_483_648.0;
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

impl Fx<'_, '_> {
    pub fn cast_num(&mut self, from: Scalar, to: Scalar, a: Num) -> Num {
        if from == to {
            return a;
        }
        if let (Num::Short(x, _), false) = (a, to == Scalar::Bool) {
            return self.cast_short(x, to);
        }
        let x = self.take(a);
        if to == Scalar::I64
            && let Some(short) = self.extended(from, x)
        {
            return short;
        }
        Num::Reg(self.convert(from, to, x))
    }

    fn convert(&mut self, from: Scalar, to: Scalar, x: Operand) -> Operand {
        let ty = Ty::of(to);
        match (from, to) {
            (_, Scalar::Bool) if from.is_float() => self.w.compare("fcmp une", x, x.ty.float_const(0.0)),
            (_, Scalar::Bool) => self.w.compare("icmp ne", x, x.ty.int_const(0)),
            (Scalar::Bool, _) if to.is_float() => self.w.convert("uitofp", x, ty),
            (Scalar::Bool, _) => self.w.convert("zext", x, ty),
            _ if from.is_float() && to.is_float() => self.float_to_float(x, ty),
            _ if x.ty.is_half() => {
                let wide = self.w.convert("fpext", x, Ty::F32);
                self.float_to_int(wide, to)
            }
            _ if from.is_float() => self.float_to_int(x, to),
            _ if to.is_float() => self.int_to_float(from.is_signed(), x, ty),
            _ => match x.int() {
                Some(v) => ty.int_const(to.wrap(v)),
                None => self.w.resize(x, ty, from.is_signed()),
            },
        }
    }

    /// An `i64` that is held in 32 bits.
    fn cast_short(&mut self, x: Operand, to: Scalar) -> Num {
        let ty = Ty::of(to);
        Num::Reg(match x.int() {
            _ if to.is_float() => self.int_to_float(true, x, ty),
            Some(v) => ty.int_const(to.wrap(v)),
            None => self.w.resize(x, ty, true),
        })
    }

    fn int_to_float(&mut self, signed: bool, x: Operand, ty: Ty) -> Operand {
        let name = if signed { "sitofp" } else { "uitofp" };
        if ty == Ty::BF16 {
            let single = self.w.convert(name, x, Ty::F32);
            return self.w.convert("fptrunc", single, ty);
        }
        self.w.convert(name, x, ty)
    }

    /// Rounded once, but on the way from a double to a bfloat16 to a float32 first.
    pub fn float_to_float(&mut self, x: Operand, ty: Ty) -> Operand {
        match (x.ty, ty) {
            (Ty::F16, Ty::BF16) | (Ty::BF16, Ty::F16) => {
                let single = self.w.convert("fpext", x, Ty::F32);
                self.w.convert("fptrunc", single, ty)
            }
            (Ty::F64, Ty::BF16) => {
                let single = self.w.convert("fptrunc", x, Ty::F32);
                self.w.convert("fptrunc", single, ty)
            }
            _ if x.ty.bits() < ty.bits() => self.w.convert("fpext", x, ty),
            _ if x.ty.bits() > ty.bits() => self.w.convert("fptrunc", x, ty),
            _ => x,
        }
    }

    /// Truncation; NaN and values out of range give the minimum of the 32- or 64-bit type the conversion goes through.
    fn float_to_int(&mut self, x: Operand, to: Scalar) -> Operand {
        match to {
            Scalar::U64 => self.float_to_u64(x),
            Scalar::I64 | Scalar::U32 => {
                let whole = self.float_to_signed(x, Ty::I64, TWO_63);
                self.w.resize(whole, Ty::of(to), true)
            }
            _ => {
                let whole = self.float_to_signed(x, Ty::I32, TWO_31);
                self.w.resize(whole, Ty::of(to), true)
            }
        }
    }

    /// The hardware's conversion ends at the type's limits: only what is above, and NaN, is to be something else.
    fn float_to_signed(&mut self, x: Operand, via: Ty, end: f64) -> Operand {
        let whole = self.saturated(if via == Ty::I64 { "ll" } else { "i" }, x, via);
        let below = self.w.compare("fcmp olt", x, x.ty.float_const(end));
        let least = i64::MIN >> (64 - via.bits());
        self.w.select(below, whole, via.int_const(least))
    }

    /// Negative numbers wrap; what fits neither in `i64` nor in `u64` gives 0.
    fn float_to_u64(&mut self, x: Operand) -> Operand {
        let (signed, unsigned) = (self.saturated("ll", x, Ty::I64), self.saturated("ull", x, Ty::I64));
        let zero = Ty::I64.int_const(0);
        let not_low = self.w.compare("fcmp oge", x, x.ty.float_const(-TWO_63));
        let low = self.w.select(not_low, signed, zero);
        let not_high = self.w.compare("fcmp olt", x, x.ty.float_const(TWO_64));
        let high = self.w.select(not_high, unsigned, zero);
        let is_low = self.w.compare("fcmp olt", x, x.ty.float_const(TWO_63));
        self.w.select(is_low, low, high)
    }

    /// The hardware's conversion, `x2NAME`. LLVM's own intrinsics for it come with comparisons of which the hardware has no need.
    fn saturated(&mut self, name: &str, x: Operand, to: Ty) -> Operand {
        let from = if x.ty == Ty::F32 { "f" } else { "d" };
        self.nvvm(&format!("{from}2{name}.rz"), to, &[x])
    }
}
