//! Scalar constants and strings as text. Floats are written in the shortest decimal that gives the same bits back; NaNs other than
//! the quiet one as their bits in hexadecimal.

use std::fmt::Write;

use crate::op::Const;
use crate::types::Scalar;
use crate::{eval, repr};

const QUIET_NAN_16: u16 = 0x7e00;
const QUIET_NAN_B16: u16 = 0x7fc0;
const QUIET_NAN_32: u32 = 0x7fc0_0000;
const QUIET_NAN_64: u64 = 0x7ff8_0000_0000_0000;

/// A constant without its type: `5`, `-0.0`, `nan`, `0x7ff8000000000001`, `(1.0, inf)`.
pub(super) fn constant(c: Const) -> String {
    match c {
        Const::Bool(b) => b.to_string(),
        Const::Int(Scalar::U64, v) => (v as u64).to_string(),
        Const::Int(_, v) => v.to_string(),
        Const::F16(bits) | Const::BF16(bits) => small_float(c, bits),
        Const::F32(bits) => float32(bits),
        Const::F64(bits) => float64(bits),
        Const::C64(re, im) => format!("({}, {})", float32(re), float32(im)),
        Const::C128(re, im) => format!("({}, {})", float64(re), float64(im)),
    }
}

fn small_float(c: Const, bits: u16) -> String {
    let quiet_nan = if c.scalar() == Scalar::F16 { QUIET_NAN_16 } else { QUIET_NAN_B16 };
    let value = repr::shortest(c);
    match (value.is_nan(), bits) {
        (true, _) if bits == quiet_nan => "nan".into(),
        (true, _) => format!("{bits:#06x}"),
        _ => format!("{value:?}"),
    }
}

fn float32(bits: u32) -> String {
    let value = f32::from_bits(bits);
    match (value.is_nan(), bits) {
        (true, QUIET_NAN_32) => "nan".into(),
        (true, _) => format!("{bits:#010x}"),
        _ => format!("{value:?}"),
    }
}

fn float64(bits: u64) -> String {
    let value = f64::from_bits(bits);
    match (value.is_nan(), bits) {
        (true, QUIET_NAN_64) => "nan".into(),
        (true, _) => format!("{bits:#018x}"),
        _ => format!("{value:?}"),
    }
}

/// A 16-bit float written as the wider ones are.
pub(super) fn parse_small(scalar: Scalar, text: &str) -> Option<Const> {
    match text.strip_prefix("0x") {
        Some(hex) => Const::from_bytes(scalar, &u16::from_str_radix(hex, 16).ok()?.to_le_bytes()),
        None => eval::cast(Const::F64(parse_f64(text)?), scalar),
    }
}

/// The bits of a float written as a number, `nan`, `inf`, `-inf` or bits in hexadecimal.
pub(super) fn parse_f32(text: &str) -> Option<u32> {
    match text {
        "nan" => Some(QUIET_NAN_32),
        "inf" => Some(f32::INFINITY.to_bits()),
        "-inf" => Some(f32::NEG_INFINITY.to_bits()),
        _ => match text.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => text.parse::<f32>().ok().map(f32::to_bits),
        },
    }
}

pub(super) fn parse_f64(text: &str) -> Option<u64> {
    match text {
        "nan" => Some(QUIET_NAN_64),
        "inf" => Some(f64::INFINITY.to_bits()),
        "-inf" => Some(f64::NEG_INFINITY.to_bits()),
        _ => match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => text.parse::<f64>().ok().map(f64::to_bits),
        },
    }
}

/// An integer of any type as it is held in 64 bits.
pub(super) fn parse_int(text: &str) -> Option<i64> {
    let wide: i128 = text.parse().ok()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&wide).then_some(wide as i64)
}

/// The elements of an array's bytes as constants, or nothing if they are not whole elements of the type.
pub(super) fn elements(elem: Scalar, bytes: &[u8]) -> Option<Vec<Const>> {
    if !bytes.len().is_multiple_of(elem.size()) {
        return None;
    }
    bytes
        .chunks_exact(elem.size())
        .map(|chunk| Const::from_bytes(elem, chunk))
        .collect()
}

/// A string in double quotes.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Can the name stand without quotes?
pub(super) fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(super) fn name(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { quote(name) }
}
