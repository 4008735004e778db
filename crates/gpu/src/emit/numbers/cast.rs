//! Conversions between types of different kinds, and bits taken for another type.

use naga::{Scalar as Register, ScalarKind};
use weft_ir::Scalar;

use super::body::{Body, Val};
use super::float::{Format, magnitude, sign, sign_bit};
use super::{Number, half, int, register};

const TWO_31: f64 = 2_147_483_648.0;
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

pub(super) fn cast(b: &mut Body, from: Scalar, to: Scalar, x: Val) -> Option<Val> {
    if from.is_complex() || to.is_complex() {
        return None;
    }
    match (from, to) {
        (_, Scalar::Bool) if from.is_half() => {
            let mask = b.u32(0x7fff);
            let magnitude = b.and(x, mask);
            Some(b.is_some(magnitude))
        }
        (_, Scalar::Bool) => {
            let magnitude = magnitude(b, x);
            Some(b.is_some(magnitude))
        }
        (Scalar::F32, Scalar::F64) => Some(widened(b, x)),
        (Scalar::F64, Scalar::F32) => Some(narrowed(b, x)),
        (Scalar::F64, Scalar::F16) => Some(half::round_f16(b, x)),
        (Scalar::F32, Scalar::F16) => Some(half::round_f16(b, x)),
        (Scalar::F32, Scalar::BF16) => Some(half::round_bf16(b, x)),
        (Scalar::F16, Scalar::F32) => Some(half::of_f16(b, x)),
        (Scalar::BF16, Scalar::F32) => Some(half::of_bf16(b, x)),
        _ if from.is_half() || to.is_half() => {
            // float32 has every 16-bit float; integers that it rounds are beyond float16, and bfloat16 is rounded from it.
            let single = b.number(Number::Cast { from, to: Scalar::F32 }, &[x])?;
            b.number(Number::Cast { from: Scalar::F32, to }, &[single])
        }
        _ if from.is_float() => Some(float_to_int(b, to, x)),
        _ => Some(int::convert(b, to, x)),
    }
}

/// float32 to float64, for devices to which subnormal float32 are zeros: those are integers times the least of them.
fn widened(b: &mut Body, x: Val) -> Val {
    let size = magnitude(b, x);
    let hidden = b.int(size.ty, Format::F32.hidden() as i64);
    let result = b.convert(x, Register::F64);
    let result = b.var(result);
    let small = b.lt(size, hidden);
    b.when(small, |b| {
        let count = b.convert(size, Register::F64);
        let least = 2f64.powi(-149);
        let (up, down) = (b.float(Register::F64, least), b.float(Register::F64, -least));
        let negative = sign_bit(b, x);
        let unit = b.select(negative, down, up);
        let exact = b.mul(count, unit);
        b.set(result, exact);
    });
    b.get(result)
}

/// float64 to float32, for devices that give no subnormal float32: their bits are the number of the least of them, which a sum with 2^52
/// rounds.
fn narrowed(b: &mut Body, x: Val) -> Val {
    let size = magnitude(b, x);
    let normal = b.int(size.ty, f64::from(f32::MIN_POSITIVE).to_bits() as i64);
    let result = b.convert(x, Register::F32);
    let result = b.var(result);
    let small = b.lt(size, normal);
    b.when(small, |b| {
        let (many, whole) = (b.float(Register::F64, 2f64.powi(149)), b.float(Register::F64, 2f64.powi(52)));
        let size = b.float_of_bits(size);
        let count = b.mul(size, many);
        let count = b.add(count, whole);
        let count = b.bits(count);
        let count = b.convert(count, Register::U32);
        let half = b.u32(32);
        let sign = sign(b, x);
        let sign = b.shr(sign, half);
        let sign = b.convert(sign, Register::U32);
        let bits = b.or(count, sign);
        let exact = b.float_of_bits(bits);
        b.set(result, exact);
    });
    b.get(result)
}

/// Truncation; NaN and values out of range give the minimum of the 32- or 64-bit type the conversion goes through.
fn float_to_int(b: &mut Body, to: Scalar, x: Val) -> Val {
    match to {
        Scalar::U64 => float_to_u64(b, x),
        Scalar::U32 if !b.features.int64 => low_bits(b, x),
        Scalar::I64 | Scalar::U32 => {
            let whole = float_to_signed(b, x, Register::I64, -TWO_63, TWO_63);
            b.resize(whole, register(to))
        }
        _ => {
            // The least float64 that truncates to the minimum is just above this bound; float32 has none between the two.
            let below = if x.ty == Register::F64 { -TWO_31 - 1.0 } else { -TWO_31 };
            let whole = float_to_signed(b, x, Register::I32, below, TWO_31);
            int::convert(b, to, whole)
        }
    }
}

/// Between two bounds the conversion is defined. The lower one, where it is the minimum, converts to what anything out of range gives.
fn float_to_signed(b: &mut Body, x: Val, to: Register, below: f64, end: f64) -> Val {
    let (below, end, zero) = (b.float(x.ty, below), b.float(x.ty, end), b.float(x.ty, 0.0));
    let (above, less) = (b.above(x, below), b.below(x, end));
    let inside = b.and(above, less);
    let safe = b.select(inside, x, zero);
    let whole = b.convert(safe, to);
    let least = b.int(to, i64::MIN >> (64 - 8 * u32::from(to.width)));
    b.select(inside, whole, least)
}

/// Negative numbers wrap; what fits neither in `i64` nor in `u64` gives 0.
fn float_to_u64(b: &mut Body, x: Val) -> Val {
    let [least, middle, end, zero] = [-TWO_63, TWO_63, TWO_64, 0.0].map(|v| b.float(x.ty, v));
    let (above, below) = (b.ge(x, least), b.below(x, end));
    let inside = b.and(above, below);
    let high = b.ge(x, middle);
    let high = b.and(inside, high);
    let lower = b.sub(x, middle);
    let safe = b.select(inside, x, zero);
    let safe = b.select(high, lower, safe);
    let whole = b.convert(safe, Register::I64);
    let bits = b.bits(whole);
    let top = b.int(Register::U64, i64::MIN);
    let raised = b.or(bits, top);
    b.select(high, raised, bits)
}

/// The low 32 bits of a float32's conversion to `i64`, on devices that have none: its mantissa moved to its place.
fn low_bits(b: &mut Body, x: Val) -> Val {
    let size = magnitude(b, x);
    let (place, fraction, hidden) = (b.u32(23), b.u32(0x7f_ffff), b.u32(0x80_0000));
    let exponent = b.shr(size, place);
    let low = b.and(size, fraction);
    let mantissa = b.or(low, hidden);
    // The last bit of the mantissa stands for 2^(exponent - 150); beyond 2^63 there are no low bits.
    let middle = b.u32(150);
    let (up, down) = (b.sub(exponent, middle), b.sub(middle, exponent));
    let all = b.u32(31);
    let left_most = b.min(up, all);
    let right_most = b.min(down, all);
    let (left, right) = (b.shl(mantissa, left_most), b.shr(mantissa, right_most));
    let zero = b.u32(0);
    let gone = b.u32(150 + 32);
    let fits = b.lt(exponent, gone);
    let left = b.select(fits, left, zero);
    let is_left = b.ge(exponent, middle);
    let whole = b.select(is_left, left, right);
    let negative = b.sub(zero, whole);
    let below = sign_bit(b, x);
    b.select(below, negative, whole)
}

pub(super) fn bitcast(b: &mut Body, from: Scalar, to: Scalar, x: Val) -> Option<Val> {
    let held = from.is_complex() || to.is_complex() || from == Scalar::Bool || to == Scalar::Bool;
    if from.bits() != to.bits() || held {
        return None;
    }
    let kind = if to.is_half() { ScalarKind::Uint } else { register(to).kind };
    let bits = b.reinterpret(x, kind);
    let as_int = if to.is_half() { Scalar::U16 } else { to };
    Some(int::wrap(b, as_int, bits))
}
