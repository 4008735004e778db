//! Conversions between float32 and the 16-bit floats, which sit in registers as their bits: all that `weft_passes::halves` leaves to do.
//! Both directions are exact or rounded half to even, subnormals included, and a NaN stays one.

use weft_ir::{AtomicOp, Scalar};

use super::func::Fx;
use super::writer::{Elem, Operand, Ty};

/// Bits of a float32.
const SIGN: i64 = 0x8000_0000;
const INFINITY: i64 = 0x7F80_0000;

impl Fx<'_, '_> {
    /// A 16-bit float as a float32.
    pub fn widen_half(&mut self, s: Scalar, x: Operand, ty: Ty) -> Operand {
        let (word, single) = (ty.with(Elem::I32), ty.with(Elem::F32));
        if s == Scalar::F16 && self.cx.target.half {
            let half = self.convert("bitcast", x, ty, ty.with(Elem::F16));
            return self.convert("fpext", half, ty.with(Elem::F16), single);
        }
        let bits = self.convert("zext", x, ty, word);
        let bits = match s {
            Scalar::F16 => self.widened_bits(bits, word),
            _ => self.plain("shl", word, bits, Operand::Int(16)),
        };
        self.convert("bitcast", bits, word, single)
    }

    /// A float32 rounded to a 16-bit float.
    pub fn narrow_half(&mut self, s: Scalar, x: Operand, single: Ty) -> Operand {
        let (ty, word) = (single.with(Elem::I16), single.with(Elem::I32));
        if s == Scalar::F16 && self.cx.target.half {
            let half = self.convert("fptrunc", x, single, single.with(Elem::F16));
            return self.convert("bitcast", half, single.with(Elem::F16), ty);
        }
        let bits = match s {
            Scalar::F16 => self.narrowed_bits(x, single),
            _ => self.upper_half(x, single),
        };
        self.convert("trunc", bits, word, ty)
    }

    /// A float16's bits moved to where a float32 has them are the number times 2^-112, subnormal or not; infinities and NaNs get the
    /// largest exponent back.
    fn widened_bits(&mut self, bits: Operand, word: Ty) -> Operand {
        const TWO_112: u32 = 0x7780_0000;
        const INFINITY_MOVED: i64 = 0x0F80_0000;
        let single = word.with(Elem::F32);
        let magnitude = self.plain("and", word, bits, Operand::Int(0x7FFF));
        let moved = self.plain("shl", word, magnitude, Operand::Int(13));
        let scaled = self.convert("bitcast", moved, word, single);
        let scaled = self.plain("fmul", single, scaled, Operand::F32(TWO_112));
        let finite = self.convert("bitcast", scaled, single, word);
        let special = self.plain("or", word, moved, Operand::Int(INFINITY));
        let is_special = self.compare_int("uge", word, moved, INFINITY_MOVED);
        let magnitude = self.select_op(word, is_special, special, finite);
        let sign = self.plain("and", word, bits, Operand::Int(0x8000));
        let sign = self.plain("shl", word, sign, Operand::Int(16));
        self.plain("or", word, magnitude, sign)
    }

    /// Adding half a unit (less one bit where the last digit is even) rounds a normal number; adding a float32 whose last digit is
    /// float16's smallest makes the hardware round a subnormal one.
    fn narrowed_bits(&mut self, x: Operand, single: Ty) -> Operand {
        const OVERFLOW: i64 = 143 << 23;
        const NORMAL: i64 = 113 << 23;
        const HALF: u32 = 126 << 23;
        let word = single.with(Elem::I32);
        let all = self.convert("bitcast", x, single, word);
        let sign = self.plain("and", word, all, Operand::Int(SIGN));
        let bits = self.plain("xor", word, all, sign);

        let lifted = self.convert("bitcast", bits, word, single);
        let lifted = self.plain("fadd", single, lifted, Operand::F32(HALF));
        let lifted = self.convert("bitcast", lifted, single, word);
        let subnormal = self.plain("sub", word, lifted, Operand::Int(HALF.into()));

        let unit = self.plain("lshr", word, bits, Operand::Int(13));
        let odd = self.plain("and", word, unit, Operand::Int(1));
        let rebased = self.plain("add", word, bits, Operand::Int(0xFFF - (112 << 23)));
        let rounded = self.plain("add", word, rebased, odd);
        let normal = self.plain("lshr", word, rounded, Operand::Int(13));

        let is_small = self.compare_int("ult", word, bits, NORMAL);
        let finite = self.select_op(word, is_small, subnormal, normal);
        let is_nan = self.compare_int("ugt", word, bits, INFINITY);
        let special = self.select_op(word, is_nan, Operand::Int(0x7E00), Operand::Int(0x7C00));
        let is_large = self.compare_int("uge", word, bits, OVERFLOW);
        let magnitude = self.select_op(word, is_large, special, finite);
        let sign = self.plain("lshr", word, sign, Operand::Int(16));
        self.plain("or", word, magnitude, sign)
    }

    /// The upper 16 bits of a float32, rounded; a NaN's are made quiet.
    fn upper_half(&mut self, x: Operand, single: Ty) -> Operand {
        let word = single.with(Elem::I32);
        let bits = self.convert("bitcast", x, single, word);
        let upper = self.plain("lshr", word, bits, Operand::Int(16));
        let odd = self.plain("and", word, upper, Operand::Int(1));
        let lifted = self.plain("add", word, bits, Operand::Int(0x7FFF));
        let lifted = self.plain("add", word, lifted, odd);
        let rounded = self.plain("lshr", word, lifted, Operand::Int(16));
        let quiet = self.plain("or", word, upper, Operand::Int(0x40));
        let nan = self.w.inst(format_args!("fcmp uno {}, {}", x.typed(single), x.of(single)));
        self.select_op(word, nan, quiet, rounded)
    }

    fn compare_int(&mut self, how: &str, ty: Ty, x: Operand, bound: i64) -> Operand {
        self.w
            .inst(format_args!("icmp {how} {}, {}", x.typed(ty), Operand::Int(bound).of(ty)))
    }
}

/// The integer whose arithmetic a 16-bit float's bits share where an atomic operation only moves them.
pub fn moved_as(op: AtomicOp, s: Scalar) -> Scalar {
    match op {
        AtomicOp::Exch | AtomicOp::Cas if s.is_half() => Scalar::U16,
        _ => s,
    }
}
