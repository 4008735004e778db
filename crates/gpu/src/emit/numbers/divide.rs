//! Division of floats as NumPy has it: `fmod`, `remainder` and `floor_divide`.

use weft_ir::{BinOp, Scalar, UnOp};

use super::Number;
use super::bits::leading_zeros;
use super::body::{Body, Val};
use super::float::{Format, magnitude, of_bits, sign, sign_bit, signed_zero};

/// The exact remainder with the dividend's sign: mantissas as integers, one bit of the quotient at a time.
///
/// A float is its mantissa times two to an exponent; subnormals have the least exponent. While the dividend's exponent is the greater it is
/// doubled and the divisor's mantissa taken off where it fits. A subnormal divisor can be far smaller than the dividend's mantissa, hence
/// the division at first.
pub(super) fn remainder(b: &mut Body, x: Val, y: Val) -> Val {
    let format = Format::of(x.ty);
    let (sign, xa, ya) = (sign(b, x), magnitude(b, x), magnitude(b, y));
    let infinity = b.int(xa.ty, format.infinity() as i64);
    let (no_divisor, nan, endless) = (b.is_zero(ya), b.gt(ya, infinity), b.ge(xa, infinity));
    let invalid = b.or(no_divisor, nan);
    let invalid = b.or(invalid, endless);
    let none = of_bits(b, x.ty, format.nan());
    b.return_when(invalid, none);
    let less = b.lt(xa, ya);
    b.return_when(less, x);

    let (mx, ex) = mantissa(b, format, xa);
    let (my, ey) = mantissa(b, format, ya);
    let small = b.div(mx, my);
    let small = b.mul(small, my);
    let first = b.sub(mx, small);
    let (rest, exponent) = (b.var(first), b.var(ex));
    b.repeat(
        |b| {
            let exponent = b.get(exponent);
            b.gt(exponent, ey)
        },
        |b| {
            let (rest_now, exponent_now) = (b.get(rest), b.get(exponent));
            let twice = b.add(rest_now, rest_now);
            let over = b.sub(twice, my);
            let fits = b.ge(twice, my);
            let next = b.select(fits, over, twice);
            b.set(rest, next);
            let one = b.int(ey.ty, 1);
            let lower = b.sub(exponent_now, one);
            b.set(exponent, lower);
        },
    );
    let rest = b.get(rest);
    let magnitude = assembled(b, format, rest, ey);
    let bits = b.or(magnitude, sign);
    b.float_of_bits(bits)
}

/// The mantissa with its hidden bit, and the stored exponent, at least 1.
fn mantissa(b: &mut Body, format: Format, magnitude: Val) -> (Val, Val) {
    let ty = magnitude.ty;
    let place = b.u32(format.fraction);
    let stored = b.shr(magnitude, place);
    let low = b.int(ty, format.hidden() as i64 - 1);
    let low = b.and(magnitude, low);
    let hidden = b.int(ty, format.hidden() as i64);
    let normal = b.or(low, hidden);
    let subnormal = b.is_zero(stored);
    let one = b.int(ty, 1);
    (b.select(subnormal, low, normal), b.max(stored, one))
}

/// The magnitude's bits of a mantissa without more bits than the format has, and the stored exponent of its last bit's place.
fn assembled(b: &mut Body, format: Format, mantissa: Val, exponent: Val) -> Val {
    let ty = mantissa.ty;
    let zeros = leading_zeros(b, mantissa);
    let spare = b.int(ty, i64::from(format.bits - format.fraction - 1));
    let room = b.sub(zeros, spare);
    let one = b.int(ty, 1);
    let down = b.sub(exponent, one);
    let none = b.is_zero(mantissa);
    let zero = b.int(ty, 0);
    let shift = b.min(room, down);
    let shift = b.select(none, zero, shift);
    let count = b.resize(shift, naga::Scalar::U32);
    let normal = b.shl(mantissa, count);
    let exponent = b.sub(down, shift);
    let place = b.u32(format.fraction);
    let exponent = b.shl(exponent, place);
    let bits = b.add(normal, exponent);
    b.select(none, zero, bits)
}

/// The remainder, whether there is one, and whether it has not the divisor's sign.
fn parts(b: &mut Body, s: Scalar, x: Val, y: Val) -> Option<(Val, Val, Val)> {
    let rest = b.number(Number::Binary(BinOp::Rem, s, s), &[x, y])?;
    let size = magnitude(b, rest);
    let some = b.is_some(size);
    let (rest_sign, divisor_sign) = (sign_bit(b, rest), sign_bit(b, y));
    let differ = b.xor(rest_sign, divisor_sign);
    let off = b.and(some, differ);
    Some((rest, some, off))
}

pub(super) fn modulo(b: &mut Body, s: Scalar, x: Val, y: Val) -> Option<Val> {
    let (rest, some, off) = parts(b, s, x, y)?;
    let moved = b.add(rest, y);
    let adjusted = b.select(off, moved, rest);
    let zero = signed_zero(b, y);
    Some(b.select(some, adjusted, zero))
}

pub(super) fn floored(b: &mut Body, s: Scalar, x: Val, y: Val) -> Option<Val> {
    let (rest, _, off) = parts(b, s, x, y)?;
    let [zero, one, half] = [0.0, 1.0, 0.5].map(|v| b.float(x.ty, v));
    let exact = b.sub(x, rest);
    let quotient = b.number(Number::Binary(BinOp::Div, s, s), &[exact, y])?;
    let less = b.sub(quotient, one);
    let quotient = b.select(off, less, quotient);
    let floor = b.number(Number::Unary(UnOp::Floor, s), &[quotient])?;
    let gap = b.sub(quotient, floor);
    let up = b.above(gap, half);
    let raised = b.add(floor, one);
    let whole = b.select(up, raised, floor);
    let ratio = b.number(Number::Binary(BinOp::Div, s, s), &[x, y])?;
    let signed_zero = signed_zero(b, ratio);
    let none = b.eq(quotient, zero);
    let result = b.select(none, signed_zero, whole);
    let by_zero = b.eq(y, zero);
    Some(b.select(by_zero, ratio, result))
}
