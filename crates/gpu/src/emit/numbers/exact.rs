//! Float arithmetic beyond a float's bits: exact sums and products, and numbers put together from them.
//!
//! Exponents are taken off before and put back after, so that nothing overflows or underflows on the way, and nothing is subnormal.

use naga::Scalar as Register;

use super::body::{Body, Val};
use super::float::{Format, copy_sign, magnitude, sign};

/// A sum and what rounding took from it.
pub(super) fn exact_sum(b: &mut Body, x: Val, y: Val) -> (Val, Val) {
    let sum = b.add(x, y);
    let from_y = b.sub(sum, x);
    let from_x = b.sub(sum, from_y);
    let (lost_x, lost_y) = (b.sub(x, from_x), b.sub(y, from_y));
    (sum, b.add(lost_x, lost_y))
}

/// A sum; where it is not exact, that one of its neighbours whose last bit is set.
pub(super) fn odd_sum(b: &mut Body, x: Val, y: Val) -> Val {
    let (sum, error) = exact_sum(b, x, y);
    let zero = b.float(sum.ty, 0.0);
    let (more, less) = (b.above(error, zero), b.below(error, zero));
    let inexact = b.or(more, less);
    let positive = b.above(sum, zero);
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

/// The product of two numbers between 1 and 2 and what rounding took from it (Dekker).
pub(super) fn exact_product(b: &mut Body, x: Val, y: Val) -> (Val, Val) {
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
    let low = Format::of(x.ty).fraction / 2 + 1;
    let (half, mask) = (b.int(bits.ty, 1 << (low - 1)), b.int(bits.ty, -1 << low));
    let up = b.add(bits, half);
    let high = b.and(up, mask);
    let high = b.float_of_bits(high);
    (high, b.sub(x, high))
}

/// A float that is finite and not zero as one between 1 and 2 with its sign, and its exponent.
pub(super) fn significand(b: &mut Body, x: Val) -> (Val, Val) {
    let format = Format::of(x.ty);
    let size = magnitude(b, x);
    let hidden = b.int(size.ty, format.hidden() as i64);
    let subnormal = b.lt(size, hidden);
    // Those are so many times the least of them; a product may take them for zeros.
    let count = b.convert(size, x.ty);
    let count = copy_sign(b, count, x);
    let normal = b.select(subnormal, count, x);
    let stored = stored_exponent(b, normal);
    let least = format.bias() + i64::from(format.fraction) - 1;
    let [usual, low] = [0, least].map(|n| b.int(Register::I32, format.bias() + n));
    let offset = b.select(subnormal, low, usual);
    let kept = b.int(size.ty, !(format.infinity() as i64));
    let one = b.int(size.ty, format.bias() << format.fraction);
    let bits = b.bits(normal);
    let bits = b.and(bits, kept);
    let bits = b.or(bits, one);
    (b.float_of_bits(bits), b.sub(stored, offset))
}

fn stored_exponent(b: &mut Body, x: Val) -> Val {
    let size = magnitude(b, x);
    let place = b.u32(Format::of(x.ty).fraction);
    let stored = b.shr(size, place);
    b.resize(stored, Register::I32)
}

/// A number times two to an exponent, neither beyond the least nor beyond the largest normal number.
pub(super) fn scaled(b: &mut Body, x: Val, exponent: Val) -> Val {
    let bits = b.bits(x);
    let exponent = b.resize(exponent, bits.ty);
    let place = b.u32(Format::of(x.ty).fraction);
    let exponent = b.shl(exponent, place);
    let bits = b.add(bits, exponent);
    b.float_of_bits(bits)
}

fn power_of_two(b: &mut Body, ty: Register, exponent: Val) -> Val {
    let one = b.float(ty, 1.0);
    scaled(b, one, exponent)
}

/// A sum of two numbers times two to an exponent, rounded once. The second is far smaller than the first unless that is 0; of what it
/// stands for only the place and whether it is exact need be right, as in a number rounded to odd.
///
/// Where the result is subnormal, the sum is rounded at the place of the last subnormal bit by adding a number whose last bit that is.
pub(super) fn placed(b: &mut Body, total: Val, tail: Val, exponent: Val) -> Val {
    let (ty, format) = (total.ty, Format::of(total.ty));
    // What is lower is rounded to zero, what is higher is infinite, and so is what has one of these.
    let [least, most] = [4 - 2 * format.bias(), 2 * format.bias()].map(|n| b.int(Register::I32, n));
    let exponent = b.max(exponent, least);
    let exponent = b.min(exponent, most);
    let nearest = b.add(total, tail);
    let (bias, least_normal) = (b.int(Register::I32, format.bias()), b.int(Register::I32, 1 - format.bias()));
    let stored = stored_exponent(b, nearest);
    let first = b.sub(stored, bias);
    let first = b.add(first, exponent);
    let subnormal = b.lt(first, least_normal);

    let guide = b.sub(least_normal, exponent);
    let guide = power_of_two(b, ty, guide);
    let guide = copy_sign(b, guide, nearest);
    let (with_guide, lost) = exact_sum(b, guide, total);
    let tail = odd_sum(b, lost, tail);
    let rounded = b.add(with_guide, tail);
    let rounded = b.sub(rounded, guide);

    let digits = b.select(subnormal, rounded, nearest);
    let one = b.u32(1);
    let half = b.shr(exponent, one);
    let other = b.sub(exponent, half);
    let (half, other) = (power_of_two(b, ty, half), power_of_two(b, ty, other));
    let result = b.mul(digits, half);
    let result = b.mul(result, other);
    // What was rounded to zero keeps its sign.
    let (bits, sign) = (b.bits(result), sign(b, nearest));
    let bits = b.or(bits, sign);
    b.float_of_bits(bits)
}

/// What the device makes of these, unless one of them is zero, subnormal or little more, for devices that are right else; then the exact
/// result.
pub(super) fn unless_small(b: &mut Body, own: Val, seen: &[Val], exact: impl FnOnce(&mut Body) -> Option<Val>) -> Option<Val> {
    let sizes: Vec<Val> = seen.iter().map(|&x| magnitude(b, x)).collect();
    let least = sizes.into_iter().reduce(|x, y| b.min(x, y))?;
    let limit = b.int(least.ty, 2 * Format::of(own.ty).hidden() as i64);
    let small = b.lt(least, limit);
    let result = b.var(own);
    let mut known = false;
    b.when(small, |b| {
        if let Some(exact) = exact(b) {
            b.set(result, exact);
            known = true;
        }
    });
    known.then(|| b.get(result))
}
