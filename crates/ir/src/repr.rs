//! Scalars as Python prints them.

use crate::eval;
use crate::op::Const;
use crate::types::Scalar;

/// `True`, `-3`, `0.1`, `1e+16`, `nan`, `(1-2j)`: what `print` shows for a Python or NumPy scalar.
pub fn python(c: Const) -> String {
    match c {
        Const::Bool(true) => "True".into(),
        Const::Bool(false) => "False".into(),
        Const::Int(Scalar::U64, v) => (v as u64).to_string(),
        Const::Int(_, v) => v.to_string(),
        Const::F16(_) | Const::BF16(_) => float(&Digits::of_f64(shortest(c)), true),
        Const::F32(bits) => float(&Digits::of_f32(f32::from_bits(bits)), true),
        Const::F64(bits) => float(&Digits::of_f64(f64::from_bits(bits)), true),
        Const::C64(re, im) => complex(&Digits::of_f32(f32::from_bits(re)), &Digits::of_f32(f32::from_bits(im))),
        Const::C128(re, im) => complex(&Digits::of_f64(f64::from_bits(re)), &Digits::of_f64(f64::from_bits(im))),
    }
}

/// A 16-bit float as the number whose decimal form is the shortest that rounds to it.
pub(crate) fn shortest(c: Const) -> f64 {
    let Some(Const::F64(bits)) = eval::cast(c, Scalar::F64) else {
        return f64::NAN;
    };
    let exact = f64::from_bits(bits);
    let rounded = |digits: usize| format!("{exact:.digits$e}").parse::<f64>().ok();
    let same = |x: &f64| eval::cast(Const::f64(*x), c.scalar()) == Some(c);
    (0..5).filter_map(rounded).find(same).unwrap_or(exact)
}

/// A float in its shortest decimal form, both ways.
struct Digits {
    value: f64,
    plain: String,
    scientific: String,
}

impl Digits {
    fn of_f32(x: f32) -> Digits {
        Digits {
            value: x.into(),
            plain: format!("{x}"),
            scientific: format!("{x:e}"),
        }
    }

    fn of_f64(x: f64) -> Digits {
        Digits {
            value: x,
            plain: format!("{x}"),
            scientific: format!("{x:e}"),
        }
    }
}

fn float(digits: &Digits, point: bool) -> String {
    if digits.value.is_nan() {
        return "nan".into();
    }
    let (mantissa, exponent) = digits.scientific.split_once('e').unwrap_or((&digits.scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if digits.value.is_finite() && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let whole = digits.value.is_finite() && !digits.plain.contains('.');
    if whole && point {
        format!("{}.0", digits.plain)
    } else {
        digits.plain.clone()
    }
}

fn complex(re: &Digits, im: &Digits) -> String {
    let imaginary = float(im, false);
    if re.value == 0.0 && re.value.is_sign_positive() {
        return format!("{imaginary}j");
    }
    let sign = if imaginary.starts_with('-') { "" } else { "+" };
    format!("({}{sign}{imaginary}j)", float(re, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_python_does() {
        let cases = [
            (0.1, "0.1"),
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e-5, "1.5e-05"),
            (1e-4, "0.0001"),
            (1e300, "1e+300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ];
        for (value, expected) in cases {
            assert_eq!(python(Const::f64(value)), expected);
        }
        assert_eq!(python(Const::f32(0.1)), "0.1");
        for (bits, expected) in [
            (0x3c00, "1.0"),
            (0x2e66, "0.1"),
            (0x7bff, "65500.0"),
            (0x0001, "6e-08"),
            (0xfc00, "-inf"),
        ] {
            assert_eq!(python(Const::F16(bits)), expected);
        }
        assert_eq!(python(Const::BF16(0x3dcd)), "0.1");
        assert_eq!(python(Const::BF16(0x7f7f)), "3.39e+38");
        assert_eq!(python(Const::Bool(true)), "True");
        assert_eq!(python(Const::Int(Scalar::U64, -1)), "18446744073709551615");
        let c = |re: f64, im: f64| python(Const::C128(re.to_bits(), im.to_bits()));
        assert_eq!(c(1.0, -2.0), "(1-2j)");
        assert_eq!(c(0.0, 2.5), "2.5j");
        assert_eq!(c(-0.0, 0.0), "(-0+0j)");
        assert_eq!(c(f64::NAN, f64::INFINITY), "(nan+infj)");
    }
}
