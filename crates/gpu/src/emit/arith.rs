//! Arithmetic and comparisons: what is known when code is written, what fits 32 bits, and else [`Numbers`](super::numbers::Numbers).

use naga::BinaryOperator;
use weft_ir::{BinOp, CmpOp, Scalar, UnOp};
use weft_passes::range::Range;

use super::Word;
use super::func::Fx;
use super::number::Num;
use super::numbers::Number;
use super::values::Res;
use super::writer::{Operand, Ty};

impl Fx<'_> {
    /// An operation on registers, as the IR means it.
    pub fn calc(&mut self, number: Number, args: &[Operand]) -> Res<Operand> {
        let ty = Ty::of(number.result());
        let exprs: Vec<_> = args.iter().map(|arg| self.w.expr(*arg)).collect();
        if let Some(plain) = number.plain(self.cx.request.features) {
            return match (plain.expression(&exprs), args.first()) {
                (Some(e), _) => Ok(self.w.inst(ty, e)),
                (None, Some(same)) => Ok(*same),
                (None, None) => self.internal("an operation on nothing"),
            };
        }
        let Some(function) = self.cx.numbers.function(&mut self.w.module, self.cx.request.features, number) else {
            return self.internal(format!("an operation the passes should have removed: {number:?}"));
        };
        Ok(self.w.call(function, args, ty))
    }

    pub fn unary(&mut self, op: UnOp, s: Scalar, a: Num) -> Res<Num> {
        if op == UnOp::Neg && s == Scalar::I64 {
            return Ok(self.sub_i64(Num::int(0), a));
        }
        let x = self.take(a);
        Ok(Num::Reg(self.calc(Number::Unary(op, s), &[x])?))
    }

    /// `count` is the type of the second operand, which differs for shifts and powers.
    pub fn binary(&mut self, op: BinOp, s: Scalar, a: Num, b: Num, count: Scalar) -> Res<Num> {
        if s == Scalar::I64 {
            if let Some(short) = self.short_binary(op, a, b) {
                return Ok(short);
            }
            if let Some(short) = self.short_division(op, a, b)? {
                return Ok(short);
            }
            match op {
                BinOp::Sub => return Ok(self.sub_i64(a, b)),
                BinOp::Add if b.const_int() == Some(0) => return Ok(a),
                BinOp::Mul if b.const_int() == Some(1) => return Ok(a),
                BinOp::And => {
                    if let Some(masked) = self.masked(a, b) {
                        return Ok(masked);
                    }
                }
                _ => {}
            }
        }
        let x = self.take(a);
        if let Some(done) = self.by_constant(op, s, x, b) {
            return Ok(Num::Reg(done));
        }
        let y = self.take(b);
        Ok(Num::Reg(self.calc(Number::Binary(op, s, count), &[x, y])?))
    }

    /// Shifts and divisions by constants that need no function.
    fn by_constant(&mut self, op: BinOp, s: Scalar, x: Operand, b: Num) -> Option<Operand> {
        let n = b.const_int().filter(|_| s.is_int() && s.bits() >= 32)?;
        let power = n > 0 && n & (n - 1) == 0;
        let (inst, count) = match op {
            BinOp::Shl => (BinaryOperator::ShiftLeft, n),
            BinOp::Shr => (BinaryOperator::ShiftRight, n),
            BinOp::FloorDiv if power => (BinaryOperator::ShiftRight, n.trailing_zeros().into()),
            BinOp::Mod if power => return Some(self.w.binary(BinaryOperator::And, x, x.ty.int(n - 1))),
            _ => return None,
        };
        let fits = (0..i64::from(s.bits())).contains(&count);
        fits.then(|| self.w.binary(inst, x, Ty::U32.int(count)))
    }

    /// A wide number cut to a few bits.
    fn masked(&mut self, a: Num, b: Num) -> Option<Num> {
        let (wide, mask) = match (a, b) {
            (Num::Reg(_), Num::Short(_, range)) if range.lo >= 0 => (a, b),
            (Num::Short(_, range), Num::Reg(_)) if range.lo >= 0 => (b, a),
            _ => return None,
        };
        let range = Range::new(0, mask.range()?.hi);
        let (x, y) = (self.take_short(wide), self.take_short(mask));
        Some(Num::Short(self.w.binary(BinaryOperator::And, x, y), range))
    }

    fn sub_i64(&mut self, a: Num, b: Num) -> Num {
        if let Some(short) = self.short_binary(BinOp::Sub, a, b) {
            return short;
        }
        let (x, y) = (self.take(a), self.take(b));
        Num::Reg(self.w.binary(BinaryOperator::Subtract, x, y))
    }

    /// Division of two `i64`s in 32 bits, where the result is known to fit.
    fn short_division(&mut self, op: BinOp, a: Num, b: Num) -> Res<Option<Num>> {
        let (Num::Short(x, r), Num::Short(y, s)) = (a, b) else {
            return Ok(None);
        };
        let most = r.hi.max(-r.lo);
        let range = match op {
            BinOp::FloorDiv if r.lo > Range::I32.lo => Range::new(-most, most),
            BinOp::Mod => Range::new((s.lo + 1).min(0), (s.hi - 1).max(0)),
            BinOp::Rem => {
                let most = most.min(s.hi.max(-s.lo) - 1).max(0);
                Range::new(if r.lo < 0 { -most } else { 0 }, if r.hi > 0 { most } else { 0 })
            }
            _ => return Ok(None),
        };
        let result = match self.by_constant(op, Scalar::I32, x, b) {
            Some(done) => done,
            None => self.calc(Number::Binary(op, Scalar::I32, Scalar::I32), &[x, y])?,
        };
        Ok(Some(Num::Short(result, range)))
    }

    pub fn compare_nums(&mut self, op: CmpOp, s: Scalar, a: Num, b: Num) -> Res<Operand> {
        if let (Num::Short(x, r), Num::Short(y, s)) = (a, b) {
            return match decided(op, r, s) {
                Some(known) => Ok(Operand::bool(known)),
                None => self.calc(Number::Compare(op, Scalar::I32), &[x, y]),
            };
        }
        let range = |n: Num| n.range().or(n.const_int().map(|v| Range::new(v, v)));
        if let (Scalar::I64, Some(r), Some(s)) = (s, range(a), range(b))
            && let Some(known) = decided(op, r, s)
        {
            return Ok(Operand::bool(known));
        }
        let (x, y) = (self.take(a), self.take(b));
        self.calc(Number::Compare(op, s), &[x, y])
    }

    pub fn fma(&mut self, s: Scalar, args: [Num; 3]) -> Res<Num> {
        let args = args.map(|n| self.take(n));
        Ok(Num::Reg(self.calc(Number::Fma(s), &args)?))
    }

    pub fn cast(&mut self, from: Scalar, to: Scalar, a: Num) -> Res<Num> {
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
            return self.cast(Scalar::I32, to, Num::Reg(word));
        }
        let x = if from.is_int() && to.is_float() { self.veiled(x) } else { x };
        if to == Scalar::I64
            && let Some(short) = self.widened(from, x)
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

    pub fn bitcast(&mut self, from: Scalar, to: Scalar, a: Num) -> Res<Num> {
        let x = self.take(a);
        let x = if from.is_int() && to.is_float() { self.veiled(x) } else { x };
        Ok(Num::Reg(self.calc(Number::Bitcast { from, to }, &[x])?))
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

/// A comparison of numbers that lie between these, where that decides it.
fn decided(op: CmpOp, a: Range, b: Range) -> Option<bool> {
    let (below, above) = (a.hi < b.lo, a.lo > b.hi);
    let (at_most, at_least) = (a.hi <= b.lo, a.lo >= b.hi);
    let same = at_most && at_least;
    match op {
        CmpOp::Eq if same => Some(true),
        CmpOp::Eq if below || above => Some(false),
        CmpOp::Ne => decided(CmpOp::Eq, a, b).map(|same| !same),
        CmpOp::Lt if below => Some(true),
        CmpOp::Lt if at_least => Some(false),
        CmpOp::Ge => decided(CmpOp::Lt, a, b).map(|less| !less),
        CmpOp::Gt => decided(CmpOp::Lt, b, a),
        CmpOp::Le => decided(CmpOp::Lt, b, a).map(|more| !more),
        _ => None,
    }
}
