//! `x * y + z` with one rounding, for devices whose own does not.

use naga::{MathFunction, Scalar as Register};
use weft_ir::Scalar;

use super::Number;
use super::body::{Body, Val};
use super::exact::{exact_product, exact_sum, odd_sum, placed, scaled, significand, unless_small};
use super::float::{Format, magnitude};
use super::plain;

pub(super) fn fma(b: &mut Body, s: Scalar, x: Val, y: Val, z: Val) -> Option<Val> {
    if matches!(s, Scalar::F32 | Scalar::F64) && plain::fuses(b.features, s) {
        let own = b.math(MathFunction::Fma, &[x, y, z]);
        return unless_small(b, own, &[x, y, z, own], |b| exact(b, s, x, y, z));
    }
    exact(b, s, x, y, z)
}

fn exact(b: &mut Body, s: Scalar, x: Val, y: Val, z: Val) -> Option<Val> {
    match s {
        Scalar::F32 if b.features.float64 => by_float64(b, [x, y, z]),
        Scalar::F32 | Scalar::F64 => Some(by_exact_sums(b, x, y, z)),
        _ => None,
    }
}

/// Of float32: the product is exact in float64, and a sum rounded to odd can be rounded once more.
fn by_float64(b: &mut Body, args: [Val; 3]) -> Option<Val> {
    let (single, double) = (Scalar::F32, Scalar::F64);
    let mut wide = |v| b.number(Number::Cast { from: single, to: double }, &[v]);
    let [x, y, z] = [wide(args[0])?, wide(args[1])?, wide(args[2])?];
    let product = b.mul(x, y);
    let sum = odd_sum(b, product, z);
    b.number(Number::Cast { from: double, to: single }, &[sum])
}

/// The product as two numbers, the sum of three by exact sums of two, of which the last but one is rounded to odd (Boldo and Melquiond).
fn by_exact_sums(b: &mut Body, x: Val, y: Val, z: Val) -> Val {
    let (special, result) = special_case(b, x, y, z);
    // How far the product may lie above `z`, or `z` above the product, before it only counts whether there is something.
    let far = if Format::of(x.ty).bits == 32 { 56 } else { 120 };
    let [(mx, ex), (my, ey), (mz, ez)] = [x, y, z].map(|v| significand(b, v));
    let (far, near) = (b.int(Register::I32, far), b.int(Register::I32, -far));
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
