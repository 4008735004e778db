//! `x * y + z` with one rounding, for devices whose own does not.
//!
//! - float32 where there is float64: the product is exact in it, and a sum rounded to odd can be rounded once more.
//! - float64: the product as two numbers, the sum of three by exact sums of two (Boldo and Melquiond: the last but one sum is rounded to
//!   odd). Exponents are taken off before and put back after, so that nothing overflows or underflows on the way.
//! - float32 where there is none: integers. Mantissas of the product and of `z` are lined up in 64 bits, of which the last remembers what
//!   fell out below.

use naga::Scalar as Register;
use weft_ir::Scalar;

use super::bits::leading_zeros;
use super::body::{Body, Val};
use super::float::{Format, copy_sign, magnitude, sign};
use super::half::rounded_shift;

pub(super) fn fma(b: &mut Body, s: Scalar, x: Val, y: Val, z: Val) -> Option<Val> {
    match s {
        Scalar::F64 => Some(by_exact_sums(b, x, y, z)),
        Scalar::F32 if b.features.float64 => Some(by_float64(b, [x, y, z])),
        Scalar::F32 if b.features.int64 => Some(by_integers(b, x, y, z)),
        _ => None,
    }
}

fn by_float64(b: &mut Body, args: [Val; 3]) -> Val {
    let [x, y, z] = args.map(|v| b.convert(v, Register::F64));
    let product = b.mul(x, y);
    let sum = odd_sum(b, product, z);
    b.convert(sum, Register::F32)
}

/// A sum and what rounding took from it.
fn exact_sum(b: &mut Body, x: Val, y: Val) -> (Val, Val) {
    let sum = b.add(x, y);
    let from_y = b.sub(sum, x);
    let from_x = b.sub(sum, from_y);
    let (lost_x, lost_y) = (b.sub(x, from_x), b.sub(y, from_y));
    (sum, b.add(lost_x, lost_y))
}

/// A sum; where it is not exact, that one of its neighbours whose last bit is set.
fn odd_sum(b: &mut Body, x: Val, y: Val) -> Val {
    let (sum, error) = exact_sum(b, x, y);
    let zero = b.float(sum.ty, 0.0);
    let (more, less) = (b.gt(error, zero), b.lt(error, zero));
    let inexact = b.or(more, less);
    let positive = b.gt(sum, zero);
    let away = b.eq(more, positive);
    let bits = b.bits(sum);
    let (one, minus, none) = (b.int(bits.ty, 1), b.int(bits.ty, -1), b.int(bits.ty, 0));
    let last = b.and(bits, one);
    let even = b.is_zero(last);
    let moves = b.and(inexact, even);
    let step = b.select(away, one, minus);
    let step = b.select(moves, step, none);
    let bits = b.add(bits, step);
    b.float_of_bits(bits)
}

/// How far a product may lie above `z` or `z` above the product before it only counts whether there is something.
const FAR: i64 = 120;
/// Exponents below which everything is rounded to zero; none that is lower is computed with.
const LEAST: i64 = -1300;

fn by_exact_sums(b: &mut Body, x: Val, y: Val, z: Val) -> Val {
    let (special, result) = special_case(b, x, y, z);
    let [(mx, ex), (my, ey), (mz, ez)] = [x, y, z].map(|v| significand(b, v));
    let (far, near) = (b.int(Register::I32, FAR), b.int(Register::I32, -FAR));
    let product_exponent = b.add(ex, ey);
    let lower = b.sub(ez, far);
    let exponent = b.max(product_exponent, lower);
    let distance = b.sub(ez, exponent);
    let distance = b.max(distance, near);
    let addend = scaled(b, mz, distance);

    let (product, rest) = exact_product(b, mx, my);
    let (upper, lowest) = exact_sum(b, addend, rest);
    let (total, lost) = exact_sum(b, product, upper);
    let tail = odd_sum(b, lost, lowest);
    let nearest = placed(b, total, tail, exponent);
    b.select(special, result, nearest)
}

/// A float that is not zero as one between 1 and 2, and its exponent.
fn significand(b: &mut Body, x: Val) -> (Val, Val) {
    let size = magnitude(b, x);
    let hidden = b.int(size.ty, Format::F64.hidden() as i64);
    let subnormal = b.lt(size, hidden);
    let up = b.float(x.ty, 2f64.powi(54));
    let raised = b.mul(x, up);
    let normal = b.select(subnormal, raised, x);
    let size = magnitude(b, normal);
    let place = b.u32(Format::F64.fraction);
    let stored = b.shr(size, place);
    let stored = b.resize(stored, Register::I32);
    let [usual, low] = [0, 54].map(|n| b.int(Register::I32, Format::F64.bias() + n));
    let offset = b.select(subnormal, low, usual);
    let kept = b.int(size.ty, !(Format::F64.infinity() as i64));
    let one = b.int(size.ty, 1f64.to_bits() as i64);
    let bits = b.bits(normal);
    let bits = b.and(bits, kept);
    let bits = b.or(bits, one);
    (b.float_of_bits(bits), b.sub(stored, offset))
}

/// A number between 1 and 2 times two to an exponent, not beyond the least and the largest.
fn scaled(b: &mut Body, x: Val, exponent: Val) -> Val {
    let bits = b.bits(x);
    let exponent = b.resize(exponent, Register::U64);
    let place = b.u32(Format::F64.fraction);
    let exponent = b.shl(exponent, place);
    let bits = b.add(bits, exponent);
    b.float_of_bits(bits)
}

fn power_of_two(b: &mut Body, exponent: Val) -> Val {
    let one = b.float(Register::F64, 1.0);
    scaled(b, one, exponent)
}

/// The product of two numbers between 1 and 2 and what rounding took from it (Dekker).
fn exact_product(b: &mut Body, x: Val, y: Val) -> (Val, Val) {
    let ((xh, xl), (yh, yl)) = (split(b, x), split(b, y));
    let product = b.mul(x, y);
    let [hh, hl, lh, ll] = [(xh, yh), (xh, yl), (xl, yh), (xl, yl)].map(|(x, y)| b.mul(x, y));
    let rest = b.sub(hh, product);
    let rest = b.add(rest, hl);
    let rest = b.add(rest, lh);
    (product, b.add(rest, ll))
}

/// Two numbers with half of the bits each.
fn split(b: &mut Body, x: Val) -> (Val, Val) {
    let bits = b.bits(x);
    let (half, mask) = (b.int(bits.ty, 1 << 26), b.int(bits.ty, -1 << 27));
    let up = b.add(bits, half);
    let high = b.and(up, mask);
    let high = b.float_of_bits(high);
    (high, b.sub(x, high))
}

/// A sum of two numbers, the second rounded to odd, times two to an exponent.
///
/// Where that is subnormal, the sum is rounded at the place of the last subnormal bit by adding a number whose last bit that is.
fn placed(b: &mut Body, total: Val, tail: Val, exponent: Val) -> Val {
    let (least, least_normal) = (b.int(Register::I32, LEAST), b.int(Register::I32, 1 - Format::F64.bias()));
    let exponent = b.max(exponent, least);
    let nearest = b.add(total, tail);
    let size = magnitude(b, nearest);
    let (place, bias) = (b.u32(Format::F64.fraction), b.int(Register::I32, Format::F64.bias()));
    let stored = b.shr(size, place);
    let stored = b.resize(stored, Register::I32);
    let first = b.sub(stored, bias);
    let first = b.add(first, exponent);
    let subnormal = b.lt(first, least_normal);

    let guide = b.sub(least_normal, exponent);
    let guide = power_of_two(b, guide);
    let guide = copy_sign(b, guide, nearest);
    let (with_guide, lost) = exact_sum(b, guide, total);
    let tail = odd_sum(b, lost, tail);
    let rounded = b.add(with_guide, tail);
    let rounded = b.sub(rounded, guide);

    let digits = b.select(subnormal, rounded, nearest);
    let one = b.u32(1);
    let half = b.shr(exponent, one);
    let other = b.sub(exponent, half);
    let (half, other) = (power_of_two(b, half), power_of_two(b, other));
    let result = b.mul(digits, half);
    let result = b.mul(result, other);
    // What was rounded to zero keeps its sign.
    let (bits, sign) = (b.bits(result), sign(b, nearest));
    let bits = b.or(bits, sign);
    b.float_of_bits(bits)
}

/// A float that is finite and not zero: `mantissa`, whose first bit is set, times two to the `exponent`.
struct Parts {
    mantissa: Val,
    exponent: Val,
    sign: Val,
}

/// Of float32, in 64 bits.
fn by_integers(b: &mut Body, x: Val, y: Val, z: Val) -> Val {
    let (special, result) = special_case(b, x, y, z);
    let [x, y, z] = [x, y, z].map(|v| parts(b, v));
    let product = b.mul(x.mantissa, y.mantissa);
    let product_sign = b.xor(x.sign, y.sign);
    let product_exponent = b.add(x.exponent, y.exponent);
    let (product, addend, exponent) = aligned(b, product, product_exponent, &z);

    let same = b.eq(product_sign, z.sign);
    let sum = b.add(product, addend);
    let smaller = b.lt(product, addend);
    let (over, under) = (b.sub(product, addend), b.sub(addend, product));
    let difference = b.select(smaller, under, over);
    let total = b.select(same, sum, difference);
    let larger_sign = b.select(smaller, z.sign, product_sign);
    let sign = b.select(same, product_sign, larger_sign);
    let nearest = rounded(b, total, exponent, sign);
    b.select(special, result, nearest)
}

/// Is there an infinity, a NaN or a zero, which need no rounding or no sum; and the result then.
fn special_case(b: &mut Body, x: Val, y: Val, z: Val) -> (Val, Val) {
    let format = Format::of(x.ty);
    let [xa, ya, za] = [x, y, z].map(|v| magnitude(b, v));
    let infinity = b.int(xa.ty, format.infinity() as i64);
    let [x_end, y_end, z_end] = [xa, ya, za].map(|v| b.ge(v, infinity));
    let [x_zero, y_zero, z_zero] = [xa, ya, za].map(|v| b.is_zero(v));
    let (ends, zeros) = (b.or(x_end, y_end), b.or(x_zero, y_zero));
    let exact = b.or(ends, zeros);
    let product = b.mul(x, y);
    let sum = b.add(product, z);
    // A finite product may be infinite when it is rounded.
    let result = b.select(z_end, z, product);
    let result = b.select(exact, sum, result);
    let special = b.or(exact, z_end);
    (b.or(special, z_zero), result)
}

fn parts(b: &mut Body, x: Val) -> Parts {
    let format = Format::F32;
    let (sign, size) = (sign(b, x), magnitude(b, x));
    let [place, low, hidden] = [format.fraction, format.hidden() as u32 - 1, format.hidden() as u32].map(|v| b.u32(v));
    let stored = b.shr(size, place);
    let subnormal = b.is_zero(stored);
    let low = b.and(size, low);
    let normal = b.or(low, hidden);
    // A subnormal's first bit is brought to the hidden one's place.
    let (zeros, spare, none) = (leading_zeros(b, low), b.u32(format.bits - format.fraction - 1), b.u32(0));
    let room = b.sub(zeros, spare);
    let room = b.select(subnormal, room, none);
    let raised = b.shl(low, room);
    let mantissa = b.select(subnormal, raised, normal);
    let one = b.u32(1);
    let exponent = b.max(stored, one);
    let exponent = b.sub(exponent, room);
    let exponent = b.resize(exponent, Register::I32);
    let offset = b.int(Register::I32, format.bias() + i64::from(format.fraction));
    Parts {
        mantissa: b.convert(mantissa, Register::U64),
        exponent: b.sub(exponent, offset),
        sign,
    }
}

/// The product and `z` in units of two to one exponent, which comes last. Where `z` is far larger the product loses bits, where it is smaller
/// than the product's last bit `z` does: bits so far down that only whether there are any counts.
fn aligned(b: &mut Body, product: Val, exponent: Val, z: &Parts) -> (Val, Val, Val) {
    let room = i64::from(64 - 3 - Format::F32.fraction);
    let (none, most) = (b.int(Register::I32, 0), b.int(Register::I32, room));
    let distance = b.sub(z.exponent, exponent);
    let up = b.max(distance, none);
    let up = b.min(up, most);
    let up = b.bits(up);
    let down = b.sub(none, distance);
    let down = b.max(down, none);
    let excess = b.sub(distance, most);
    let excess = b.max(excess, none);
    let addend = shifted_down(b, z.mantissa, down);
    let addend = b.shl(addend, up);
    (shifted_down(b, product, excess), addend, b.add(exponent, excess))
}

/// Right by any number of bits; those that fall out are remembered in the last.
fn shifted_down(b: &mut Body, x: Val, n: Val) -> Val {
    let most = b.int(Register::I32, 63);
    let n = b.min(n, most);
    let n = b.bits(n);
    let shifted = b.shr(x, n);
    let back = b.shl(shifted, n);
    let kept = b.eq(back, x);
    let lost = b.not(kept);
    let lost = b.convert(lost, Register::U64);
    b.or(shifted, lost)
}

/// The float32 nearest to a number of units of two to an exponent.
fn rounded(b: &mut Body, x: Val, exponent: Val, sign: Val) -> Val {
    let format = Format::F32;
    let [none, one, last] = [0, 1, 63].map(|v| b.int(Register::I32, v));
    let is_zero = b.is_zero(x);
    let zeros = leading_zeros(b, x);
    let zeros = b.resize(zeros, Register::I32);
    let zeros = b.min(zeros, last);
    let shift = b.bits(zeros);
    let top = b.shl(x, shift);
    // The stored exponent; what is below 1 is a subnormal.
    let offset = b.int(Register::I32, format.bias() + 63);
    let stored = b.add(exponent, offset);
    let stored = b.sub(stored, zeros);
    let down = b.sub(one, stored);
    let down = b.max(down, none);
    let down = b.add(down, one);
    let top = shifted_down(b, top, down);
    let places = b.u32(62 - format.fraction);
    let digits = rounded_shift(b, top, places);

    let limit = b.int(Register::I32, (format.infinity() >> format.fraction) as i64);
    let endless = b.ge(stored, limit);
    let stored = b.max(stored, one);
    let above = b.sub(stored, one);
    let above = b.bits(above);
    let place = b.u32(format.fraction);
    let above = b.shl(above, place);
    let digits = b.convert(digits, Register::U32);
    let bits = b.add(digits, above);
    let infinity = b.u32(format.infinity() as u32);
    let bits = b.select(endless, infinity, bits);
    let bits = b.or(bits, sign);
    let zero = b.u32(0);
    let bits = b.select(is_zero, zero, bits);
    b.float_of_bits(bits)
}
