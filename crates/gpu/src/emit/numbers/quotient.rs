//! Quotients and square roots rounded correctly, for devices whose own are some units off: those are improved once by what is left of the
//! operand, and then moved to the neighbour where what is left is more than half a unit.

use naga::{MathFunction, Scalar as Register};

use super::body::{Body, Val};
use super::exact::{exact_product, placed, scaled, significand, unless_small};
use super::float::{Format, copy_sign, magnitude, of_bits, scalar, sign};
use super::plain;

/// The last bit's place of a number between 1 and 2.
fn unit(b: &mut Body, ty: Register) -> Val {
    let fraction = Format::of(ty).fraction;
    b.float(ty, 2f64.powi(-(fraction as i32)))
}

pub(super) fn quotient(b: &mut Body, x: Val, y: Val) -> Option<Val> {
    if !plain::divides(b.features, scalar(x)) {
        return Some(exact_quotient(b, x, y));
    }
    let own = b.div(x, y);
    unless_small(b, own, &[x, y, own], |b| Some(exact_quotient(b, x, y)))
}

pub(super) fn square_root(b: &mut Body, x: Val) -> Option<Val> {
    if !plain::has_roots(b.features, scalar(x)) {
        return Some(exact_root(b, x));
    }
    let own = b.math(MathFunction::Sqrt, &[x]);
    unless_small(b, own, &[x], |b| Some(exact_root(b, x)))
}

fn exact_quotient(b: &mut Body, x: Val, y: Val) -> Val {
    let (special, result) = ends_or_zeros(b, x, y);
    let [(mx, ex), (my, ey)] = [x, y].map(|v| significand(b, v));
    let [dividend, divisor] = [mx, my].map(|v| absolute(b, v));
    let less = b.below(dividend, divisor);
    let twice = b.add(dividend, dividend);
    let dividend = b.select(less, twice, dividend);
    let exponent = b.sub(ex, ey);
    let borrowed = b.convert(less, Register::I32);
    let exponent = b.sub(exponent, borrowed);

    let guess = b.div(dividend, divisor);
    let left = residual(b, dividend, guess, divisor);
    let step = b.div(left, divisor);
    let near = b.add(guess, step);
    let left = residual(b, dividend, near, divisor);
    let (unit, half) = (unit(b, x.ty), b.float(x.ty, 0.5));
    let whole = b.mul(divisor, unit);
    let limit = b.mul(whole, half);
    let below = b.float(x.ty, 0.0);
    let below = b.sub(below, limit);
    let (up, down) = (b.above(left, limit), b.below(left, below));
    let nearest = moved(b, near, up, down);
    let (less_left, more_left) = (b.sub(left, whole), b.add(left, whole));
    let left = b.select(up, less_left, left);
    let left = b.select(down, more_left, left);

    // Where the result is subnormal, on which side of it the quotient lies decides ties.
    let quarter = b.float(x.ty, 0.25);
    let tail = b.mul(left, quarter);
    let size = placed(b, nearest, tail, exponent);
    let (x_sign, y_sign) = (sign(b, x), sign(b, y));
    let sign = b.xor(x_sign, y_sign);
    let bits = b.bits(size);
    let bits = b.or(bits, sign);
    let rounded = b.float_of_bits(bits);
    b.select(special, result, rounded)
}

fn exact_root(b: &mut Body, x: Val) -> Val {
    let format = Format::of(x.ty);
    let size = magnitude(b, x);
    let infinity = b.int(size.ty, format.infinity() as i64);
    let (zero, end, negative) = (b.is_zero(size), b.ge(size, infinity), sign(b, x));
    let negative = b.is_some(negative);
    let special = b.or(zero, end);
    let special = b.or(special, negative);
    // Zeros, infinity and NaN are their own roots.
    let positive = b.not(negative);
    let has_root = b.or(positive, zero);
    let none = of_bits(b, x.ty, format.nan());
    let own = b.select(has_root, x, none);

    let (m, exponent) = significand(b, x);
    let one = b.int(Register::I32, 1);
    let odd = b.and(exponent, one);
    let is_odd = b.is_some(odd);
    let twice = b.add(m, m);
    let m = b.select(is_odd, twice, m);
    let exponent = b.sub(exponent, odd);

    let guess = b.math(MathFunction::Sqrt, &[m]);
    let left = residual(b, m, guess, guess);
    let double = b.add(guess, guess);
    let step = b.div(left, double);
    let near = b.add(guess, step);
    let left = residual(b, m, near, near);
    let unit = unit(b, x.ty);
    let limit = b.mul(near, unit);
    let below = b.float(x.ty, 0.0);
    let below = b.sub(below, limit);
    // A half unit's square is beyond what can be left, which makes the difference between the two comparisons.
    let (up, above) = (b.above(left, limit), b.above(left, below));
    let down = b.not(above);
    let nearest = moved(b, near, up, down);
    let one = b.u32(1);
    let exponent = b.shr(exponent, one);
    let root = scaled(b, nearest, exponent);
    b.select(special, own, root)
}

/// What is left of a number between 1 and 4 when a product that is near to it is taken off.
fn residual(b: &mut Body, whole: Val, x: Val, y: Val) -> Val {
    let (product, rest) = exact_product(b, x, y);
    let left = b.sub(whole, product);
    b.sub(left, rest)
}

/// A positive number or one of its neighbours.
fn moved(b: &mut Body, x: Val, up: Val, down: Val) -> Val {
    let bits = b.bits(x);
    let (more, less) = (b.convert(up, bits.ty), b.convert(down, bits.ty));
    let bits = b.add(bits, more);
    let bits = b.sub(bits, less);
    b.float_of_bits(bits)
}

fn absolute(b: &mut Body, x: Val) -> Val {
    let one = b.float(x.ty, 1.0);
    copy_sign(b, x, one)
}

/// Is an operand infinite, no number or zero; and the result then.
fn ends_or_zeros(b: &mut Body, x: Val, y: Val) -> (Val, Val) {
    let (no_zero_x, no_zero_y) = (seen(b, x), seen(b, y));
    let result = b.div(no_zero_x, no_zero_y);
    let [xa, ya] = [x, y].map(|v| magnitude(b, v));
    let infinity = b.int(xa.ty, Format::of(x.ty).infinity() as i64);
    let [x_end, y_end] = [xa, ya].map(|v| b.ge(v, infinity));
    let [x_zero, y_zero] = [xa, ya].map(|v| b.is_zero(v));
    let (ends, zeros) = (b.or(x_end, y_end), b.or(x_zero, y_zero));
    (b.or(ends, zeros), result)
}

/// A number, or one that no device takes for zero in place of a subnormal one: beside an infinity or a zero it makes no difference which.
fn seen(b: &mut Body, x: Val) -> Val {
    let size = magnitude(b, x);
    let [least, one] = [1, Format::of(x.ty).hidden() as i64].map(|v| b.int(size.ty, v));
    let (some, small) = (b.ge(size, least), b.lt(size, one));
    let subnormal = b.and(some, small);
    let one = b.float(x.ty, 1.0);
    let one = copy_sign(b, one, x);
    b.select(subnormal, one, x)
}
