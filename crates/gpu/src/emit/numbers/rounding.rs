//! Floats rounded to integers, for devices whose own rounding is wrong.

use weft_ir::UnOp;

use super::body::{Body, Val};
use super::float::{Format, copy_sign, magnitude, sign_bit};

/// `floor`, `ceil`, `trunc`, or the nearest integer, half to even. Infinities, NaN and what has no place for a fraction are themselves.
///
/// A sum with the least number whose last place is 1 is rounded to the nearest integer; that may be one too far from zero or too near.
pub(super) fn to_integer(b: &mut Body, op: UnOp, x: Val) -> Val {
    let format = Format::of(x.ty);
    let bits = magnitude(b, x);
    let first = 2f64.powi(format.fraction as i32);
    let (size, least) = (b.float_of_bits(bits), b.float(x.ty, first));
    let sum = b.add(size, least);
    let nearest = b.sub(sum, least);

    let one = b.float(x.ty, 1.0);
    let nearest_bits = b.bits(nearest);
    let (over, under) = (b.gt(nearest_bits, bits), b.lt(nearest_bits, bits));
    let (less, more) = (b.sub(nearest, one), b.add(nearest, one));
    let (inner, outer) = (b.select(over, less, nearest), b.select(under, more, nearest));
    let negative = sign_bit(b, x);
    let rounded = match op {
        UnOp::Floor => b.select(negative, outer, inner),
        UnOp::Ceil => b.select(negative, inner, outer),
        UnOp::Trunc => inner,
        _ => nearest,
    };
    let rounded = copy_sign(b, rounded, x);
    let limit = b.int(bits.ty, (format.bias() + i64::from(format.fraction)) << format.fraction);
    let whole = b.ge(bits, limit);
    b.select(whole, x, rounded)
}
