//! Conversions of 16-bit floats, which are held as their bits. Rounded once, half to even; a NaN stays one.

use naga::Scalar as Register;

use super::body::{Body, Val};
use super::float::{Format, magnitude};

/// float32 or float64 to float16.
pub(super) fn round_f16(b: &mut Body, x: Val) -> Val {
    let (from, to) = (Format::of(x.ty), Format::F16);
    let size = magnitude(b, x);
    let ty = size.ty;
    let dropped = from.fraction - to.fraction;
    let rebias = (from.bias() - to.bias()) << from.fraction;

    let exponent_down = b.int(ty, rebias);
    let normal = b.sub(size, exponent_down);
    let places = b.u32(dropped);
    let normal = rounded_shift(b, normal, places);

    // In units of the least subnormal: the mantissa, as many places lower as the exponent is below float16's least.
    let (place, low, hidden) = (
        b.u32(from.fraction),
        b.int(ty, from.hidden() as i64 - 1),
        b.int(ty, from.hidden() as i64),
    );
    let exponent = b.shr(size, place);
    let low = b.and(size, low);
    let mantissa = b.or(low, hidden);
    let least = b.int(ty, from.bias() - to.bias() + 1 + i64::from(dropped));
    let down = b.sub(least, exponent);
    let most = b.int(ty, i64::from(from.bits) - 1);
    let down = b.min(down, most);
    let one = b.int(ty, 1);
    let down = b.max(down, one);
    let down = b.resize(down, Register::U32);
    let subnormal = rounded_shift(b, mantissa, down);

    let first_normal = b.int(ty, (from.bias() - to.bias() + 1) << from.fraction);
    let is_subnormal = b.lt(size, first_normal);
    let digits = b.select(is_subnormal, subnormal, normal);
    let (infinity, nan) = (b.int(ty, to.infinity() as i64), b.int(ty, to.nan() as i64));
    // From half a unit beyond the largest number.
    let end = b.int(ty, ((from.bias() + to.bias() + 1) << from.fraction) - (1 << (dropped - 1)));
    let endless = b.ge(size, end);
    let digits = b.select(endless, infinity, digits);
    let top = b.int(ty, from.infinity() as i64);
    let is_nan = b.gt(size, top);
    let digits = b.select(is_nan, nan, digits);
    let digits = b.resize(digits, Register::U32);
    with_sign(b, x, digits)
}

/// Shifted right by `places` bits, at least one, and rounded to the nearest, half to even.
pub(super) fn rounded_shift(b: &mut Body, x: Val, places: Val) -> Val {
    let (one, one_count) = (b.int(x.ty, 1), b.u32(1));
    let last = b.shr(x, places);
    let odd = b.and(last, one);
    let before = b.sub(places, one_count);
    let half = b.shl(one, before);
    let less = b.sub(half, one);
    let sum = b.add(x, less);
    let sum = b.add(sum, odd);
    b.shr(sum, places)
}

/// float32 to bfloat16.
pub(super) fn round_bf16(b: &mut Body, x: Val) -> Val {
    let bits = b.bits(x);
    let places = b.u32(16);
    let digits = rounded_shift(b, bits, places);
    let is_nan = super::float::is_nan(b, x);
    let nan = b.u32(0x7fc0);
    let nan = with_sign(b, x, nan);
    b.select(is_nan, nan, digits)
}

/// The 16 bits of a magnitude with the sign of a float.
fn with_sign(b: &mut Body, x: Val, digits: Val) -> Val {
    let negative = super::float::sign_bit(b, x);
    let sign = b.u32(0x8000);
    let signed = b.or(digits, sign);
    b.select(negative, signed, digits)
}

/// float16 to float32.
pub(super) fn of_f16(b: &mut Body, x: Val) -> Val {
    let [mask, digits, first_normal, end, up] = [0x8000, 0x7fff, 0x400, 0x7c00, 13].map(|v| b.u32(v));
    let (sign, size) = (b.and(x, mask), b.and(x, digits));
    let rebias = b.u32(((Format::F32.bias() - Format::F16.bias()) as u32) << 23);
    let placed = b.shl(size, up);
    let normal = b.add(placed, rebias);
    let endless = b.add(normal, rebias);
    let is_endless = b.ge(size, end);
    let normal = b.select(is_endless, endless, normal);
    // Exact: an integer below 2^10 times a power of two, which is no subnormal float32.
    let unit = b.float(Register::F32, 2f64.powi(-24));
    let count = b.convert(size, Register::F32);
    let subnormal = b.mul(count, unit);
    let subnormal = b.bits(subnormal);
    let is_subnormal = b.lt(size, first_normal);
    let bits = b.select(is_subnormal, subnormal, normal);
    let half = b.u32(16);
    let sign = b.shl(sign, half);
    let bits = b.or(bits, sign);
    b.float_of_bits(bits)
}

/// bfloat16 to float32.
pub(super) fn of_bf16(b: &mut Body, x: Val) -> Val {
    let half = b.u32(16);
    let bits = b.shl(x, half);
    b.float_of_bits(bits)
}
