//! Arithmetic and conversions: what is known when code is written, what fits 32 bits, and else [`Numbers`](super::numbers::Numbers).

use naga::BinaryOperator;
use weft_ir::{BinOp, Scalar};
use weft_passes::range::Range;
use weft_thread::{Code, Numbers};

use super::Word;
use super::func::Fx;
use super::numbers::Number;
use super::operand::{Operand, Ty, What};
use super::values::{Num, Res};

impl Fx<'_> {
    /// An operation on registers, as the IR means it.
    pub fn calc(&mut self, number: Number, args: &[Operand]) -> Res<Operand> {
        let ty = Ty::of(number.result());
        let exprs: Vec<_> = args.iter().map(|arg| self.w.expr(*arg)).collect();
        let features = self.cx.request.features;
        let plain = match args.iter().any(|arg| is_normal_float(*arg)) {
            true => number.plain_beside_normal(features),
            false => number.plain(features),
        };
        if let Some(plain) = plain {
            return match (plain.expression(&exprs), args.first()) {
                (Some(e), _) => Ok(self.w.inst(ty, e)),
                (None, Some(same)) => Ok(*same),
                (None, None) => self.internal("an operation on nothing"),
            };
        }
        let Some(function) = self.cx.numbers.function(&mut self.w.module, features, number) else {
            return self.internal(format!("an operation the passes should have removed: {number:?}"));
        };
        Ok(self.w.call(function, args, ty))
    }

    /// Shifts and divisions by constants that need no function.
    pub fn by_constant(&mut self, op: BinOp, s: Scalar, x: Operand, b: Num) -> Option<Operand> {
        let n = b.const_int().filter(|_| s.is_int() && s.bits() >= 32)?;
        let power = n > 0 && n & (n - 1) == 0;
        let (inst, count) = match op {
            BinOp::Shl => (BinaryOperator::ShiftLeft, n),
            BinOp::Shr => (BinaryOperator::ShiftRight, n),
            BinOp::FloorDiv if power => (BinaryOperator::ShiftRight, n.trailing_zeros().into()),
            BinOp::Mod if power => return Some(self.w.binary(BinaryOperator::And, x, x.ty.int(n - 1))),
            BinOp::FloorDiv | BinOp::Mod | BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem | BinOp::IntPow => return None,
            BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Min | BinOp::Max | BinOp::CopySign => return None,
        };
        let fits = (0..i64::from(s.bits())).contains(&count);
        fits.then(|| self.w.binary(inst, x, Ty::U32.int(count)))
    }

    /// A wide number cut to a few bits.
    pub fn masked(&mut self, a: Num, b: Num) -> Option<Num> {
        let (wide, mask) = match (a, b) {
            (Num::Reg(_), Num::Short(_, range)) if range.lo >= 0 => (a, b),
            (Num::Short(_, range), Num::Reg(_)) if range.lo >= 0 => (b, a),
            _ => return None,
        };
        let range = Range::new(0, mask.range()?.hi);
        let (x, y) = (self.take_short(wide), self.take_short(mask));
        Some(Num::Short(self.w.binary(BinaryOperator::And, x, y), range))
    }

    pub fn cast_num(&mut self, from: Scalar, to: Scalar, a: Num) -> Res<Num> {
        if from == to {
            return Ok(a);
        }
        if let (Num::Short(x, range), false) = (a, to == Scalar::Bool) {
            let x = if to.is_float() { self.veiled(x) } else { x };
            return self.cast_short(x, range, to);
        }
        let x = self.take(a);
        // A truth value that the driver knows to be false would become a zero, too.
        if from == Scalar::Bool && to.is_float() && !self.cx.request.features.exact_zeros {
            let word = self.calc(Number::Cast { from, to: Scalar::I32 }, &[x])?;
            return self.cast_num(Scalar::I32, to, Num::Reg(word));
        }
        let x = if from.is_int() && to.is_float() { self.veiled(x) } else { x };
        if to == Scalar::I64
            && let Some(short) = self.extended(from, x)
        {
            return Ok(short);
        }
        Ok(Num::Reg(self.calc(Number::Cast { from, to }, &[x])?))
    }

    /// An integer of which the driver is not to know more than we say, where it makes mistakes then: one that becomes a float may be a zero
    /// (it finds out by unrolling loops); one that was made 64 bits wide is compared wrongly with constants.
    pub fn veiled(&mut self, x: Operand) -> Operand {
        if self.cx.request.features.exact_zeros {
            return x;
        }
        let zero = self.word(Word::Zero);
        let zero = self.w.convert(zero, x.ty);
        self.w.binary(BinaryOperator::Add, x, zero)
    }

    /// An `i64` that is held in 32 bits.
    fn cast_short(&mut self, x: Operand, range: Range, to: Scalar) -> Res<Num> {
        Ok(Num::Reg(match x.known() {
            Some(v) if to.is_int() => Ty::of(to).int(to.wrap(v)),
            _ if to == Scalar::U64 && range.lo >= 0 => {
                let x = self.w.bitcast(x, Ty::U32);
                self.w.convert(x, Ty::U64)
            }
            _ => self.calc(Number::Cast { from: Scalar::I32, to }, &[x])?,
        }))
    }

    /// The words of a value of 8 bytes.
    pub fn halves_of(&mut self, x: Operand) -> (Operand, Operand) {
        let bits = self.w.bitcast(x, Ty::U64);
        let low = self.w.convert(bits, Ty::U32);
        let shifted = self.w.binary(BinaryOperator::ShiftRight, bits, Ty::U32.int(32));
        (low, self.w.convert(shifted, Ty::U32))
    }

    pub fn of_halves(&mut self, ty: Ty, low: Operand, high: Operand) -> Operand {
        let (low, high) = (self.w.convert(low, Ty::U64), self.w.convert(high, Ty::U64));
        let shifted = self.w.binary(BinaryOperator::ShiftLeft, high, Ty::U32.int(32));
        let bits = self.w.binary(BinaryOperator::InclusiveOr, low, shifted);
        self.w.bitcast(bits, ty)
    }
}

/// A constant that is neither zero nor subnormal.
fn is_normal_float(x: Operand) -> bool {
    let exponent = match x.ty {
        Ty::F32 => 0x7f80_0000,
        Ty::F64 => 0x7ff0 << 48,
        _ => return false,
    };
    matches!(x.what, What::Known(bits) if bits & exponent != 0)
}
