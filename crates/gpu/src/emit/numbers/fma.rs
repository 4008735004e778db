//! `x * y + z` with one rounding, for devices whose own does not.
//!
//! float32 goes through float64 where there is one: the product is exact in it, and a sum rounded to odd can be rounded once more. The rest is
//! integers: mantissas of the product and of `z` are lined up in one number (float32: 64 bits, float64: 128), in which bits that fall out
//! below are remembered in the last one.

use naga::{Scalar as Register, ScalarKind};
use weft_ir::Scalar;

use super::bits::leading_zeros;
use super::body::{Body, Val};
use super::float::{Format, magnitude, of_bits, sign};

pub(super) fn fma(b: &mut Body, s: Scalar, x: Val, y: Val, z: Val) -> Option<Val> {
    match s {
        Scalar::F32 if b.features.float64 => Some(by_float64(b, [x, y, z])),
        Scalar::F32 | Scalar::F64 if b.features.int64 => Some(by_integers(b, x, y, z)),
        _ => None,
    }
}

fn by_float64(b: &mut Body, args: [Val; 3]) -> Val {
    let [x, y, z] = args.map(|v| b.convert(v, Register::F64));
    let product = b.mul(x, y);
    let sum = odd_sum(b, product, z);
    b.convert(sum, Register::F32)
}

/// A sum; where it is not exact, that one of its neighbours whose last bit is set.
fn odd_sum(b: &mut Body, x: Val, y: Val) -> Val {
    let sum = b.add(x, y);
    let from_y = b.sub(sum, x);
    let from_x = b.sub(sum, from_y);
    let (lost_x, lost_y) = (b.sub(x, from_x), b.sub(y, from_y));
    let error = b.add(lost_x, lost_y);
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

/// A float that is finite and not zero: `mantissa`, whose first bit is set, times two to the `exponent`.
struct Parts {
    mantissa: Val,
    exponent: Val,
    sign: Val,
}

/// An unsigned number of 64 bits, or of 128 as two.
#[derive(Clone, Copy)]
struct Wide {
    high: Val,
    low: Option<Val>,
}

fn by_integers(b: &mut Body, x: Val, y: Val, z: Val) -> Val {
    special_cases(b, x, y, z);
    let format = Format::of(x.ty);
    let [x, y, z] = [x, y, z].map(|v| parts(b, format, v));
    let product = product(b, format, x.mantissa, y.mantissa);
    let product_sign = b.xor(x.sign, y.sign);
    let product_exponent = b.add(x.exponent, y.exponent);
    let (product, addend, exponent) = aligned(b, format, product, product_exponent, &z);

    let same = b.eq(product_sign, z.sign);
    let sum = add(b, product, addend);
    let smaller = less(b, product, addend);
    let (over, under) = (sub(b, product, addend), sub(b, addend, product));
    let difference = select(b, smaller, under, over);
    let total = select(b, same, sum, difference);
    let larger_sign = b.select(smaller, z.sign, product_sign);
    let sign = b.select(same, product_sign, larger_sign);
    rounded(b, format, total, exponent, sign)
}

/// Returns what needs no rounding: infinities, NaNs and zeros.
fn special_cases(b: &mut Body, x: Val, y: Val, z: Val) {
    let format = Format::of(x.ty);
    let [xa, ya, za] = [x, y, z].map(|v| magnitude(b, v));
    let infinity = b.int(xa.ty, format.infinity() as i64);
    let [x_end, y_end, z_end] = [xa, ya, za].map(|v| b.ge(v, infinity));
    let [x_zero, y_zero, z_zero] = [xa, ya, za].map(|v| b.is_zero(v));
    let (ends, zeros) = (b.or(x_end, y_end), b.or(x_zero, y_zero));
    let exact = b.or(ends, zeros);
    let product = b.mul(x, y);
    let sum = b.add(product, z);
    b.return_when(exact, sum);
    b.return_when(z_end, z);
    b.return_when(z_zero, product);
}

fn parts(b: &mut Body, format: Format, x: Val) -> Parts {
    let (sign, size) = (sign(b, x), magnitude(b, x));
    let (place, low, hidden) = (
        b.u32(format.fraction),
        b.int(size.ty, format.hidden() as i64 - 1),
        b.int(size.ty, format.hidden() as i64),
    );
    let stored = b.shr(size, place);
    let stored = b.resize(stored, Register::I32);
    let low = b.and(size, low);
    let normal = b.or(low, hidden);
    let subnormal = b.is_zero(stored);
    // A subnormal's first bit is brought to the hidden one's place.
    let zeros = leading_zeros(b, low);
    let zeros = b.resize(zeros, Register::I32);
    let (spare, one) = (
        b.int(Register::I32, i64::from(format.bits - format.fraction) - 1),
        b.int(Register::I32, 1),
    );
    let room = b.sub(zeros, spare);
    let none = b.int(Register::I32, 0);
    let room = b.select(subnormal, room, none);
    let count = b.reinterpret(room, ScalarKind::Uint);
    let raised = b.shl(low, count);
    let mantissa = b.select(subnormal, raised, normal);
    let exponent = b.max(stored, one);
    let exponent = b.sub(exponent, room);
    let offset = b.int(Register::I32, format.bias() + i64::from(format.fraction));
    Parts {
        mantissa: b.resize(mantissa, Register::U64),
        exponent: b.sub(exponent, offset),
        sign,
    }
}

fn product(b: &mut Body, format: Format, x: Val, y: Val) -> Wide {
    if format.bits == 32 {
        return Wide {
            high: b.mul(x, y),
            low: None,
        };
    }
    let (half, mask) = (b.u32(32), b.int(Register::U64, 0xffff_ffff));
    let (xh, yh) = (b.shr(x, half), b.shr(y, half));
    let (xl, yl) = (b.and(x, mask), b.and(y, mask));
    let [ll, lh, hl, hh] = [(xl, yl), (xl, yh), (xh, yl), (xh, yh)].map(|(x, y)| b.mul(x, y));
    let carried = b.shr(ll, half);
    let (lh_low, hl_low) = (b.and(lh, mask), b.and(hl, mask));
    let middle = b.add(carried, lh_low);
    let middle = b.add(middle, hl_low);
    let (low_low, low_high) = (b.and(ll, mask), b.shl(middle, half));
    let low = b.or(low_high, low_low);
    let [lh_high, hl_high, carry] = [lh, hl, middle].map(|v| b.shr(v, half));
    let high = b.add(hh, lh_high);
    let high = b.add(high, hl_high);
    let high = b.add(high, carry);
    Wide { high, low: Some(low) }
}

/// The product and `z` in units of two to one exponent, which comes last. Where `z` is far larger the product loses bits, where it is smaller
/// than the product's last bit `z` does: bits so far down that only whether there are any counts.
fn aligned(b: &mut Body, format: Format, product: Wide, exponent: Val, z: &Parts) -> (Wide, Wide, Val) {
    let room = if format.bits == 32 { 64 } else { 128 } - 3 - i64::from(format.fraction);
    let (none, most) = (b.int(Register::I32, 0), b.int(Register::I32, room));
    let distance = b.sub(z.exponent, exponent);
    let up = b.max(distance, none);
    let up = b.min(up, most);
    let down = b.sub(none, distance);
    let down = b.max(down, none);
    let excess = b.sub(distance, most);
    let excess = b.max(excess, none);

    let lowered = shifted_down(b, z.mantissa, down);
    let zero = b.int(Register::U64, 0);
    let addend = match product.low {
        None => Wide { high: lowered, low: None },
        Some(_) => Wide {
            high: zero,
            low: Some(lowered),
        },
    };
    let addend = shifted_up(b, addend, up);

    let far = b.gt(excess, none);
    let top = with_sticky(b, product);
    let top = shifted_down(b, top, excess);
    let lost = Wide {
        high: top,
        low: product.low.map(|_| zero),
    };
    let product = select(b, far, lost, product);
    (product, addend, b.add(exponent, excess))
}

/// Right by any number of bits; those that fall out are remembered in the last.
fn shifted_down(b: &mut Body, x: Val, n: Val) -> Val {
    let most = b.int(Register::I32, 63);
    let n = b.min(n, most);
    let n = b.bits(n);
    let shifted = b.shr(x, n);
    let back = b.shl(shifted, n);
    let lost = b.binary(naga::BinaryOperator::NotEqual, back, x);
    let lost = b.convert(lost, Register::U64);
    b.or(shifted, lost)
}

/// The upper half, with its last bit set where the lower one is not zero.
fn with_sticky(b: &mut Body, x: Wide) -> Val {
    let Some(low) = x.low else {
        return x.high;
    };
    let some = b.is_some(low);
    let some = b.convert(some, Register::U64);
    b.or(x.high, some)
}

/// Left by fewer bits than it has.
fn shifted_up(b: &mut Body, x: Wide, n: Val) -> Wide {
    let n = b.bits(n);
    let Some(low) = x.low else {
        return Wide {
            high: b.shl(x.high, n),
            low: None,
        };
    };
    let (width, last, one, zero) = (b.u32(64), b.u32(63), b.u32(1), b.int(Register::U64, 0));
    let whole = b.ge(n, width);
    let n = b.and(n, last);
    let rest = b.sub(last, n);
    let over = b.shr(low, one);
    let over = b.shr(over, rest);
    let (high, low) = (b.shl(x.high, n), b.shl(low, n));
    let high = b.or(high, over);
    Wide {
        high: b.select(whole, low, high),
        low: Some(b.select(whole, zero, low)),
    }
}

fn add(b: &mut Body, x: Wide, y: Wide) -> Wide {
    let high = b.add(x.high, y.high);
    let (Some(xl), Some(yl)) = (x.low, y.low) else {
        return Wide { high, low: None };
    };
    let low = b.add(xl, yl);
    let carry = b.lt(low, xl);
    let carry = b.convert(carry, Register::U64);
    Wide {
        high: b.add(high, carry),
        low: Some(low),
    }
}

fn sub(b: &mut Body, x: Wide, y: Wide) -> Wide {
    let high = b.sub(x.high, y.high);
    let (Some(xl), Some(yl)) = (x.low, y.low) else {
        return Wide { high, low: None };
    };
    let borrow = b.lt(xl, yl);
    let borrow = b.convert(borrow, Register::U64);
    Wide {
        high: b.sub(high, borrow),
        low: Some(b.sub(xl, yl)),
    }
}

fn less(b: &mut Body, x: Wide, y: Wide) -> Val {
    let high = b.lt(x.high, y.high);
    let (Some(xl), Some(yl)) = (x.low, y.low) else {
        return high;
    };
    let (same, low) = (b.eq(x.high, y.high), b.lt(xl, yl));
    let low = b.and(same, low);
    b.or(high, low)
}

fn select(b: &mut Body, condition: Val, accept: Wide, reject: Wide) -> Wide {
    let low = accept.low.zip(reject.low);
    Wide {
        high: b.select(condition, accept.high, reject.high),
        low: low.map(|(x, y)| b.select(condition, x, y)),
    }
}

/// The float nearest to a number of units of two to an exponent.
fn rounded(b: &mut Body, format: Format, x: Wide, exponent: Val, sign: Val) -> Val {
    let [none, one, last] = [0, 1, 63].map(|v| b.int(Register::I32, v));
    let zeros = leading_zeros(b, x.high);
    let mut zeros = b.resize(zeros, Register::I32);
    let mut is_zero = b.is_zero(x.high);
    if let Some(low) = x.low {
        let in_low = leading_zeros(b, low);
        let in_low = b.resize(in_low, Register::I32);
        let more = b.add(zeros, in_low);
        zeros = b.select(is_zero, more, zeros);
        let low_zero = b.is_zero(low);
        is_zero = b.and(is_zero, low_zero);
    }
    let shift = b.select(is_zero, none, zeros);
    let normal = shifted_up(b, x, shift);
    let top = with_sticky(b, normal);
    // The stored exponent; what is below 1 is a subnormal.
    let width = if x.low.is_some() { 128 } else { 64 };
    let offset = b.int(Register::I32, format.bias() + width - 1);
    let stored = b.add(exponent, offset);
    let stored = b.sub(stored, zeros);
    let down = b.sub(one, stored);
    let down = b.max(down, none);
    let down = b.add(down, one);
    let down = b.min(down, last);
    let top = shifted_down(b, top, down);
    let places = b.u32(62 - format.fraction);
    let digits = super::half::rounded_shift(b, top, places);

    let limit = b.int(Register::I32, (1 << (format.bits - format.fraction - 1)) - 1);
    let endless = b.ge(stored, limit);
    let stored = b.max(stored, one);
    let stored = b.min(stored, limit);
    let above = b.sub(stored, one);
    let above = b.bits(above);
    let above = b.convert(above, Register::U64);
    let place = b.u32(format.fraction);
    let above = b.shl(above, place);
    let bits = b.add(digits, above);
    let infinity = b.int(Register::U64, format.infinity() as i64);
    let bits = b.select(endless, infinity, bits);
    let bits = b.resize(bits, sign.ty);
    let bits = b.or(bits, sign);
    let result = b.float_of_bits(bits);
    let zero = of_bits(b, result.ty, 0);
    b.select(is_zero, zero, result)
}
