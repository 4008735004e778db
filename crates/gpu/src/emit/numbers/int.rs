//! Integers: wrapping, division, powers, shifts. 8- and 16-bit ones are computed in 32 bits and brought back.

use naga::ScalarKind;
use weft_ir::{BinOp, Scalar, UnOp};

use super::bits;
use super::body::{Body, Val};
use super::register;

pub(super) fn unary(b: &mut Body, op: UnOp, s: Scalar, x: Val) -> Option<Val> {
    if !s.is_int() {
        return None;
    }
    match op {
        UnOp::Neg => {
            let negative = negated(b, x);
            Some(wrap(b, s, negative))
        }
        UnOp::Not => {
            let all = b.int(x.ty, -1);
            let other = b.xor(x, all);
            Some(wrap(b, s, other))
        }
        UnOp::Abs => {
            let (negative, zero) = (negated(b, x), b.int(x.ty, 0));
            let below = b.lt(x, zero);
            let magnitude = b.select(below, negative, x);
            Some(wrap(b, s, magnitude))
        }
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse => bits::unary(b, op, s, x),
        UnOp::Conj | UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => None,
        UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => None,
    }
}

fn negated(b: &mut Body, x: Val) -> Val {
    let zero = b.int(x.ty, 0);
    b.sub(zero, x)
}

/// A register's low bits as a number of the type.
pub(super) fn wrap(b: &mut Body, s: Scalar, x: Val) -> Val {
    let spare = 32u32.saturating_sub(s.bits());
    if spare == 0 || s == Scalar::Bool {
        return x;
    }
    if s.is_signed() {
        let spare = b.u32(spare);
        let high = b.shl(x, spare);
        return b.shr(high, spare);
    }
    let mask = b.u32(u32::MAX >> spare);
    b.and(x, mask)
}

/// `t` is the type of the second operand, a shift's count or a power's exponent.
pub(super) fn binary(b: &mut Body, op: BinOp, s: Scalar, t: Scalar, x: Val, y: Val) -> Option<Val> {
    if !s.is_int() || !t.is_int() {
        return None;
    }
    let result = match op {
        BinOp::Shl | BinOp::Shr => shift(b, op, s, x, y),
        BinOp::IntPow => power(b, s, t, x, y),
        _ if s != t => return None,
        BinOp::Add => b.add(x, y),
        BinOp::Sub => b.sub(x, y),
        BinOp::Mul => b.mul(x, y),
        BinOp::FloorDiv => division(b, Division::Floor, s, x, y),
        BinOp::Mod => division(b, Division::Mod, s, x, y),
        BinOp::Rem => division(b, Division::Rem, s, x, y),
        BinOp::Div | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Min | BinOp::Max | BinOp::CopySign => return None,
    };
    Some(wrap(b, s, result))
}

/// What is asked for of a division.
enum Division {
    /// The quotient, rounded down.
    Floor,
    /// The remainder with the divisor's sign.
    Mod,
    /// The remainder with the dividend's sign.
    Rem,
}

/// Quotients and remainders; a zero divisor gives 0.
fn division(b: &mut Body, op: Division, s: Scalar, x: Val, y: Val) -> Val {
    let zero = b.int(x.ty, 0);
    let none = b.eq(y, zero);
    let divisor = safe_divisor(b, s, x, y, none);
    let quotient = b.div(x, divisor);
    let back = b.mul(quotient, divisor);
    let rest = b.sub(x, back);
    match op {
        Division::Rem => rest,
        Division::Mod if s.is_signed() => {
            let off = floors_down(b, rest, divisor);
            let moved = b.add(rest, divisor);
            b.select(off, moved, rest)
        }
        Division::Mod => rest,
        Division::Floor => {
            let floored = if s.is_signed() {
                floored(b, quotient, rest, divisor)
            } else {
                quotient
            };
            b.select(none, zero, floored)
        }
    }
}

/// One in the divisor's place where division is undefined. The least number divided by -1 wraps to what division by 1 gives.
fn safe_divisor(b: &mut Body, s: Scalar, x: Val, y: Val, none: Val) -> Val {
    let one = b.int(x.ty, 1);
    if !s.is_signed() || s.bits() < 32 {
        return b.select(none, one, y);
    }
    let (least, minus) = (b.int(x.ty, i64::MIN >> (64 - s.bits())), b.int(x.ty, -1));
    let (least, minus) = (b.eq(x, least), b.eq(y, minus));
    let overflows = b.and(least, minus);
    let undefined = b.or(none, overflows);
    b.select(undefined, one, y)
}

fn floored(b: &mut Body, quotient: Val, rest: Val, divisor: Val) -> Val {
    let off = floors_down(b, rest, divisor);
    let one = b.int(quotient.ty, 1);
    let less = b.sub(quotient, one);
    b.select(off, less, quotient)
}

/// The remainder is not zero and has not the divisor's sign.
fn floors_down(b: &mut Body, rest: Val, divisor: Val) -> Val {
    let zero = b.int(rest.ty, 0);
    let signs = b.xor(rest, divisor);
    let differ = b.lt(signs, zero);
    let some = b.is_some(rest);
    b.and(differ, some)
}

/// Counts outside the type's bits give 0, or the sign for a signed right shift.
fn shift(b: &mut Body, op: BinOp, s: Scalar, x: Val, count: Val) -> Val {
    let bits = s.bits();
    let unsigned = b.bits(count);
    let end = b.int(unsigned.ty, bits.into());
    let inside = b.lt(unsigned, end);
    let low = b.resize(unsigned, naga::Scalar::U32);
    if op == BinOp::Shr && s.is_signed() {
        let most = b.u32(bits - 1);
        let count = b.select(inside, low, most);
        return b.shr(x, count);
    }
    let (none, zero) = (b.u32(0), b.int(x.ty, 0));
    let count = b.select(inside, low, none);
    let shifted = if op == BinOp::Shl { b.shl(x, count) } else { b.shr(x, count) };
    b.select(inside, shifted, zero)
}

/// By squaring. Negative exponents give 0, but for the bases 1 and -1.
fn power(b: &mut Body, s: Scalar, t: Scalar, x: Val, exponent: Val) -> Val {
    let (zero, one) = (b.int(x.ty, 0), b.int(x.ty, 1));
    if t.is_signed() {
        let none = b.int(exponent.ty, 0);
        let negative = b.lt(exponent, none);
        let first = b.eq(x, one);
        let mut tiny = b.select(first, one, zero);
        if s.is_signed() {
            let minus = b.int(x.ty, -1);
            let alternates = b.eq(x, minus);
            let odd = is_odd(b, exponent);
            let sign = b.select(odd, minus, one);
            tiny = b.select(alternates, sign, tiny);
        }
        b.return_when(negative, tiny);
    }
    let start = b.reinterpret(exponent, ScalarKind::Uint);
    let (result, square, rest) = (b.var(one), b.var(x), b.var(start));
    b.repeat(
        |b| {
            let rest = b.get(rest);
            b.is_some(rest)
        },
        |b| {
            let (now, factor, left) = (b.get(result), b.get(square), b.get(rest));
            let times = b.mul(now, factor);
            let odd = is_odd(b, left);
            let next = b.select(odd, times, now);
            b.set(result, next);
            let squared = b.mul(factor, factor);
            b.set(square, squared);
            let one = b.u32(1);
            let halved = b.shr(left, one);
            b.set(rest, halved);
        },
    );
    b.get(result)
}

fn is_odd(b: &mut Body, x: Val) -> Val {
    let one = b.int(x.ty, 1);
    let last = b.and(x, one);
    b.is_some(last)
}

/// A conversion between integer types.
pub(super) fn convert(b: &mut Body, to: Scalar, x: Val) -> Val {
    let resized = b.resize(x, register(to));
    wrap(b, to, resized)
}
