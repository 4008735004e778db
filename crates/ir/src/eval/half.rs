//! float16 and bfloat16. An operation is computed in float32 and rounded once to the type; for `+ - * /` and the square root that is the
//! correctly rounded result, since float32 has more than twice the bits and two. `fma` is rounded once from the exact value: what float64
//! cannot hold is first rounded to odd there, which no second rounding can tell from the exact value.

use super::Num;
use crate::op::Const;
use crate::types::Scalar;

pub(super) fn of_f16(bits: u16) -> Num {
    let (exponent, fraction) = (bits >> 10 & 0x1f, bits & 0x3ff);
    let magnitude = match exponent {
        0 => f32::from(fraction) * f32::from_bits(103 << 23),
        31 => f32::from_bits(0x7f80_0000 | u32::from(fraction) << 13),
        _ => f32::from_bits((u32::from(exponent) + 112) << 23 | u32::from(fraction) << 13),
    };
    Num::Half(Scalar::F16, if bits >> 15 == 0 { magnitude } else { -magnitude })
}

pub(super) fn of_bf16(bits: u16) -> Num {
    Num::Half(Scalar::BF16, f32::from_bits(u32::from(bits) << 16))
}

/// Rounded to the nearest, half to even; a NaN stays one.
pub(super) fn round(to: Scalar, x: f64) -> Const {
    if to == Scalar::F16 {
        Const::F16(nearest(x, 10, -14))
    } else {
        Const::BF16(nearest(x, 7, -126))
    }
}

/// The bits of a 16-bit float with `fraction` bits after the point, whose least normal number is 2^`least`.
fn nearest(x: f64, fraction: i32, least: i32) -> u16 {
    let sign = u16::from(x.is_sign_negative()) << 15;
    let infinity = 0x7fff >> fraction << fraction;
    if x.is_nan() {
        return sign | infinity | 1 << (fraction - 1);
    }
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).max(least);
    if exponent > 1 - least {
        return sign | infinity;
    }
    // Exact: a power of two. The carry of a number that rounds up to the next power of two lands in the exponent's bits.
    let scale = f64::from_bits(((1023 + fraction - exponent) as u64) << 52);
    let digits = (x.abs() * scale).round_ties_even() as u16;
    sign | (digits + ((exponent - least) << fraction) as u16)
}

/// The product is exact in float64.
pub(super) fn fma(to: Scalar, a: f32, b: f32, c: f32) -> Const {
    round(to, odd_sum(f64::from(a) * f64::from(b), c.into()))
}

/// A sum rounded to odd: where it is not exact, that one of its two neighbours whose last bit is set.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    let bits = sum.to_bits();
    if error == 0.0 || error.is_nan() || bits & 1 == 1 {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}

#[cfg(test)]
mod tests {
    use super::super::{binary, cast, unary};
    use super::*;
    use crate::op::{BinOp, UnOp};

    fn bf(x: f64) -> Const {
        round(Scalar::BF16, x)
    }

    fn hf(x: f64) -> Const {
        round(Scalar::F16, x)
    }

    #[test]
    fn rounds_half_to_even_and_keeps_nans() {
        assert_eq!(hf(65519.999), Const::F16(0x7bff));
        assert_eq!(hf(65520.0), Const::F16(0x7c00));
        assert_eq!(hf(2f64.powi(-25)), Const::F16(0));
        assert_eq!(hf(2f64.powi(-25) * 1.000_000_1), Const::F16(1));
        assert_eq!(hf(1.0 + 2f64.powi(-11)), Const::F16(0x3c00));
        assert_eq!(bf(1.0 + 2f64.powi(-8)), Const::BF16(0x3f80));
        assert_eq!(bf(1.0 + 3.0 * 2f64.powi(-8)), Const::BF16(0x3f82));
        for bits in 0..=u16::MAX {
            for (c, to) in [(Const::F16(bits), Scalar::F32), (Const::BF16(bits), Scalar::F64)] {
                let back = cast(cast(c, to).unwrap(), c.scalar()).unwrap();
                let nan = unary(UnOp::IsNan, c) == Some(Const::Bool(true));
                assert!(
                    back == c || nan && unary(UnOp::IsNan, back) == Some(Const::Bool(true)),
                    "{c:?} {back:?}"
                );
            }
        }
    }

    #[test]
    fn only_float16_is_rounded_from_a_double_at_once() {
        let x = Const::f64(1.0 + 2f64.powi(-8) + 2f64.powi(-50));
        assert_eq!(cast(x, Scalar::BF16), Some(bf(1.0)));
        let x = Const::f64(1.0 + 2f64.powi(-11) + 2f64.powi(-50));
        assert_eq!(cast(x, Scalar::F16), Some(Const::F16(0x3c01)));
        assert_eq!(cast(Const::i64(i64::MIN), Scalar::F16), Some(hf(f64::NEG_INFINITY)));
        assert_eq!(cast(Const::i64(65519), Scalar::F16), Some(Const::F16(0x7bff)));
    }

    #[test]
    fn fma_is_rounded_once_whatever_the_distance() {
        let (half_way, tiny) = (1.0 + 2f32.powi(-7), 2f32.powi(-133));
        // 1.0078125 * 1.5 = 1.51171875 lies halfway between 1.5078125 and 1.515625.
        assert_eq!(fma(Scalar::BF16, half_way, 1.5, 0.0), bf(1.515_625));
        assert_eq!(fma(Scalar::BF16, half_way, 1.5, tiny), bf(1.515_625));
        assert_eq!(fma(Scalar::BF16, half_way, 1.5, -tiny), bf(1.507_812_5));
        assert_eq!(fma(Scalar::F16, 60000.0, 2.0, -60000.0), hf(60000.0));
        assert_eq!(fma(Scalar::F16, f32::INFINITY, 1.0, 1.0), hf(f64::INFINITY));
    }

    #[test]
    fn arithmetic_rounds_after_every_operation() {
        assert_eq!(binary(BinOp::Add, hf(2048.0), hf(1.0)), Some(hf(2048.0)));
        assert_eq!(binary(BinOp::Mul, hf(300.0), hf(300.0)), Some(hf(f64::INFINITY)));
        assert_eq!(unary(UnOp::Sqrt, bf(2.0)), Some(bf(1.414_062_5)));
        assert_eq!(unary(UnOp::Neg, hf(0.0)), Some(Const::F16(0x8000)));
        assert_eq!(unary(UnOp::SignBit, bf(-0.0)), Some(Const::Bool(true)));
        assert_eq!(binary(BinOp::Add, hf(1.0), bf(1.0)), None);
    }
}
