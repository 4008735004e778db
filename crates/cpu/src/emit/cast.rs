//! Numeric conversions.

use weft_ir::Scalar;

use super::func::Fx;
use super::values::{Num, elem};
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    pub fn cast(&mut self, from: Scalar, to: Scalar, a: Num) -> Num {
        if from == to {
            return a;
        }
        if (from.is_half() && to != Scalar::F32) || (to.is_half() && from != Scalar::F32) {
            // Only sums that were kept as doubles come here: the passes leave no other conversion, and these are not exact anyway.
            let single = self.cast(from, Scalar::F32, a);
            return self.cast(Scalar::F32, to, single);
        }
        if let (Some(v), true) = (a.const_int(), from.is_int() && to.is_int()) {
            return Num::int(wrap_const(v, to));
        }
        if let (Num::Affine(base, step), true) = (a, to.is_int() && to.bits() < from.bits()) {
            return self.narrow_affine(to, base, step);
        }
        let src = self.gang.ty_of(a, elem(from));
        let dst = src.with(elem(to));
        let x = self.take(a, src);
        let result = match (from, to) {
            (Scalar::F16 | Scalar::BF16, Scalar::F32) => self.widen_half(from, x, src),
            (Scalar::F32, Scalar::F16 | Scalar::BF16) => self.narrow_half(to, x, src),
            (_, Scalar::Bool) => self.is_not_zero(x, src),
            (Scalar::Bool, _) if to.is_float() => self.convert("uitofp", x, src, dst),
            (Scalar::Bool, _) => self.convert("zext", x, src, dst),
            (Scalar::F32, Scalar::F64) => self.convert("fpext", x, src, dst),
            (Scalar::F64, Scalar::F32) => self.convert("fptrunc", x, src, dst),
            _ if from.is_float() => self.float_to_int(x, src, to),
            (Scalar::I64, Scalar::F64) if src.lanes > 0 && self.converts_by_bits() => self.long_to_double(x, src),
            _ if to.is_float() => self.convert(if from.is_signed() { "sitofp" } else { "uitofp" }, x, src, dst),
            _ => self.resize_int(x, src, dst, from.is_signed()),
        };
        self.wrap(result, dst)
    }

    fn is_not_zero(&mut self, x: Operand, ty: Ty) -> Operand {
        match ty.elem {
            Elem::F32 => self.w.inst(format_args!("fcmp une {}, {}", x.typed(ty), Operand::F32(0).of(ty))),
            Elem::F64 => self.w.inst(format_args!("fcmp une {}, {}", x.typed(ty), Operand::F64(0).of(ty))),
            _ => self.w.inst(format_args!("icmp ne {}, {}", x.typed(ty), Operand::Int(0).of(ty))),
        }
    }

    pub fn bitcast(&mut self, from: Scalar, to: Scalar, a: Num) -> Num {
        let src = self.gang.ty_of(a, elem(from));
        let dst = src.with(elem(to));
        let x = self.take(a, src);
        if src == dst {
            let x = x.int().map_or(x, |v| Operand::Int(wrap_const(v, to)));
            return self.wrap(x, dst);
        }
        let result = self.w.inst(format_args!("bitcast {} to {dst}", x.typed(src)));
        self.wrap(result, dst)
    }
}

impl Fx<'_, '_> {
    /// A number that steps from lane to lane as a narrower integer, which wraps as its base and its steps do: one addition of short lanes.
    fn narrow_affine(&mut self, to: Scalar, base: Operand, step: i64) -> Num {
        let ty = self.gang.vector_ty(elem(to));
        let base = self.convert("trunc", base, Ty::I64, Ty::scalar(elem(to)));
        let base = self.splat(base, ty);
        let steps = self.narrow_steps(step, ty);
        Num::Varying(self.plain("add", ty, base, steps))
    }

    /// `0, step, 2 * step, …` as integers of fewer bits.
    pub fn narrow_steps(&mut self, step: i64, ty: Ty) -> Operand {
        let (steps, longs) = (self.lane_steps(step), self.gang.vector_ty(Elem::I64));
        self.w.entry_inst(format_args!("trunc {} to {ty}", steps.typed(longs)))
    }

    /// A number that steps from lane to lane and is exact as a double: one conversion and an addition.
    pub fn affine_to_float(&mut self, to: Scalar, base: Operand, step: i64) -> Num {
        let ty = self.gang.vector_ty(Elem::F64);
        let base = self.convert("sitofp", base, Ty::I64, Ty::scalar(Elem::F64));
        let base = self.splat(base, ty);
        let lanes = self.lane_steps(step);
        let longs = self.gang.vector_ty(Elem::I64);
        let lanes = self.w.entry_inst(format_args!("sitofp {} to {ty}", lanes.typed(longs)));
        let exact = self.plain("fadd", ty, base, lanes);
        if to == Scalar::F64 {
            return Num::Varying(exact);
        }
        let narrow = self.gang.vector_ty(Elem::F32);
        Num::Varying(self.convert("fptrunc", exact, ty, narrow))
    }

    /// x86 without AVX-512 has no conversion of long integer vectors; LLVM would convert lane by lane.
    fn converts_by_bits(&self) -> bool {
        !self.cx.target.mask_registers && self.cx.target.features.contains("sse2")
    }

    /// Each half of the bits becomes the mantissa of a double; their sum, rounded once, is the number.
    fn long_to_double(&mut self, x: Operand, ty: Ty) -> Operand {
        const HIGH: u64 = 0x4530_0000_8000_0000;
        const LOW: u64 = 0x4330_0000_0000_0000;
        const BOTH: u64 = 0x4530_0000_8010_0000;
        let double = ty.with(Elem::F64);
        let high = self.plain("lshr", ty, x, Operand::Int(32));
        let high = self.plain("xor", ty, high, Operand::Int(HIGH as i64));
        let low = self.plain("and", ty, x, Operand::Int(0xFFFF_FFFF));
        let low = self.plain("or", ty, low, Operand::Int(LOW as i64));
        let (high, low) = (self.convert("bitcast", high, ty, double), self.convert("bitcast", low, ty, double));
        let high = self.plain("fsub", double, high, Operand::F64(BOTH));
        self.plain("fadd", double, high, low)
    }
}

/// An integer constant as another integer type holds it, in 64 bits.
pub fn wrap_const(v: i64, to: Scalar) -> i64 {
    match to {
        Scalar::I8 => i64::from(v as i8),
        Scalar::I16 => i64::from(v as i16),
        Scalar::I32 => i64::from(v as i32),
        Scalar::U8 => i64::from(v as u8),
        Scalar::U16 | Scalar::F16 | Scalar::BF16 => i64::from(v as u16),
        Scalar::U32 => i64::from(v as u32),
        _ => v,
    }
}

impl Fx<'_, '_> {
    /// Truncation; NaN and values out of range give the minimum of the 32- or 64-bit type the conversion goes through.
    fn float_to_int(&mut self, x: Operand, src: Ty, to: Scalar) -> Operand {
        let dst = src.with(elem(to));
        let via = match to {
            Scalar::I64 | Scalar::U32 => Elem::I64,
            Scalar::U64 => return self.float_to_u64(x, src),
            _ => Elem::I32,
        };
        let min = if via == Elem::I64 { i64::MIN } else { i64::from(i32::MIN) };
        let whole = self.float_to_signed(x, src, via, min);
        self.resize_int(whole, src.with(via), dst, true)
    }

    fn float_to_signed(&mut self, x: Operand, src: Ty, via: Elem, outside: i64) -> Operand {
        let bits = src.with(Elem::I1);
        let high = if via == Elem::I64 {
            9_223_372_036_854_775_808.0
        } else {
            2_147_483_648.0
        };
        let low = -high;
        let above = self.w.inst(format_args!("fcmp oge {}, {}", x.typed(src), float(low, src).of(src)));
        let below = self.w.inst(format_args!("fcmp olt {}, {}", x.typed(src), float(high, src).of(src)));
        let inside = self.plain("and", bits, above, below);
        let dst = src.with(via);
        let whole = self.convert("fptosi", x, src, dst);
        self.select_op(dst, inside, whole, Operand::Int(outside))
    }

    /// Values from 2^63 on are moved down by it and their top bit set; negative ones wrap; what fits neither way gives 0.
    fn float_to_u64(&mut self, x: Operand, src: Ty) -> Operand {
        let dst = src.with(Elem::I64);
        let half = float(9_223_372_036_854_775_808.0, src);
        let low = self.float_to_signed(x, src, Elem::I64, 0);
        let moved = self.plain("fsub", src, x, half);
        let high = self.float_to_signed(moved, src, Elem::I64, i64::MIN);
        let high = self.plain("xor", dst, high, Operand::Int(i64::MIN));
        let large = self.w.inst(format_args!("fcmp oge {}, {}", x.typed(src), half.of(src)));
        self.select_op(dst, large, high, low)
    }
}

fn float(v: f64, ty: Ty) -> Operand {
    if ty.elem == Elem::F32 {
        Operand::F32((v as f32).to_bits())
    } else {
        Operand::F64(v.to_bits())
    }
}
