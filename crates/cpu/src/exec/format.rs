//! Numbers as Python's `print` shows them.

use std::fmt::Write;

use weft_ir::Scalar;

/// Appends the value of `slots` (one, or two for complex numbers) as Python prints a scalar of its type.
pub fn push_scalar(out: &mut String, scalar: Scalar, slots: &[u64]) {
    let first = slots.first().copied().unwrap_or(0);
    let second = slots.get(1).copied().unwrap_or(0);
    match scalar {
        Scalar::Bool => out.push_str(if first & 1 != 0 { "True" } else { "False" }),
        Scalar::I8 => push(out, first as i8),
        Scalar::I16 => push(out, first as i16),
        Scalar::I32 => push(out, first as i32),
        Scalar::I64 => push(out, first as i64),
        Scalar::U8 => push(out, first as u8),
        Scalar::U16 => push(out, first as u16),
        Scalar::U32 => push(out, first as u32),
        Scalar::U64 => push(out, first),
        Scalar::F32 => out.push_str(&float32(f32::from_bits(first as u32))),
        Scalar::F64 => out.push_str(&float64(f64::from_bits(first))),
        Scalar::C64 => push_complex(
            out,
            Part::from(f32::from_bits(first as u32)),
            Part::from(f32::from_bits(second as u32)),
        ),
        Scalar::C128 => push_complex(out, Part::from(f64::from_bits(first)), Part::from(f64::from_bits(second))),
    }
}

/// How many slots of a print's operands a scalar takes.
pub fn slots(scalar: Scalar) -> usize {
    if scalar.is_complex() { 2 } else { 1 }
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

/// `repr(float)`: the shortest digits that round back, with an exponent from `1e16` on and below `1e-4`.
pub fn float64(value: f64) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    layout(&format!("{value:e}"))
}

/// As NumPy's float32 prints: the shortest digits that round back to the same float32.
pub fn float32(value: f32) -> String {
    if !value.is_finite() {
        return not_finite(value.into());
    }
    layout(&format!("{value:e}"))
}

fn not_finite(value: f64) -> String {
    let text = if value.is_nan() {
        "nan"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    };
    text.into()
}

/// Lays `-d.ddde-xx`, Rust's shortest form, out as Python does.
fn layout(scientific: &str) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest.replace('.', "")),
        None => ("", mantissa.replace('.', "")),
    };
    if !(-4..16).contains(&exponent) {
        let (head, tail) = digits.split_at(1);
        let point = if tail.is_empty() { "" } else { "." };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{head}{point}{tail}e{exponent_sign}{:02}", exponent.abs());
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// One part of a complex number: its text without a trailing `.0`, and its sign.
struct Part {
    text: String,
    zero: bool,
    negative: bool,
}

impl From<f64> for Part {
    fn from(value: f64) -> Part {
        Part::new(float64(value), value == 0.0, value.is_sign_negative() && !value.is_nan())
    }
}

impl From<f32> for Part {
    fn from(value: f32) -> Part {
        Part::new(float32(value), value == 0.0, value.is_sign_negative() && !value.is_nan())
    }
}

impl Part {
    fn new(text: String, zero: bool, negative: bool) -> Part {
        let text = text.strip_suffix(".0").map(str::to_string).unwrap_or(text);
        Part { text, zero, negative }
    }
}

/// `repr(complex)`: the real part is left out if it is a positive zero.
fn push_complex(out: &mut String, re: Part, im: Part) {
    if re.zero && !re.negative {
        push(out, format_args!("{}j", im.text));
        return;
    }
    let plus = if im.negative { "" } else { "+" };
    push(out, format_args!("({}{plus}{}j)", re.text, im.text));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expectations are what CPython prints.
    #[test]
    fn floats_as_python_prints_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (123456.789, "123456.789"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (5e-324, "5e-324"),
            (1.0 / 3.0, "0.3333333333333333"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (9007199254740993.0, "9007199254740992.0"),
        ];
        for (value, text) in cases {
            assert_eq!(float64(value), text);
        }
        assert_eq!(float32(0.1), "0.1");
        assert_eq!(float32(16777216.0), "16777216.0");
    }

    #[test]
    fn complex_as_python_prints_it() {
        let text = |re: f64, im: f64| {
            let mut out = String::new();
            push_scalar(&mut out, Scalar::C128, &[re.to_bits(), im.to_bits()]);
            out
        };
        assert_eq!(text(1.0, 2.0), "(1+2j)");
        assert_eq!(text(0.0, -1.0), "-1j");
        assert_eq!(text(-0.0, 1.0), "(-0+1j)");
        assert_eq!(text(0.5, f64::NAN), "(0.5+nanj)");
        assert_eq!(text(1e20, -0.0), "(1e+20-0j)");
    }

    #[test]
    fn integers_and_bools() {
        let text = |scalar, slot| {
            let mut out = String::new();
            push_scalar(&mut out, scalar, &[slot]);
            out
        };
        assert_eq!(text(Scalar::I8, (-5i64) as u64), "-5");
        assert_eq!(text(Scalar::U64, u64::MAX), "18446744073709551615");
        assert_eq!(text(Scalar::Bool, 1), "True");
    }
}
