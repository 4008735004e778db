//! Constant folding: Python's arithmetic on numbers known while compiling. Integers are exact up to 127 bits; what is larger is an error,
//! never a number that wraps. What fits no 64 bits in the end is refused where it becomes a value (`Lower::number_as`).

use std::cmp::Ordering;

use ruff_python_ast::{Operator, UnaryOp};
use weft_ir::{CmpOp, Kind};

use crate::types::Num;
use crate::value::{Lit, Number};

/// 2 to this and beyond is no `i128`.
const LARGEST: f64 = 1.701_411_834_604_692_3e38;

/// Why there is no number: the words of the message.
pub type Refused = &'static str;

const TOO_LARGE: Refused = "this integer is too large to compute with: integers have 64 bits here, constants up to 127";
pub const NEGATIVE_SHIFT: Refused = "negative shift count";

/// The value of an operation on two Python numbers. `None` leaves it to run time.
pub fn binary(op: Operator, a: Lit, b: Lit) -> Result<Option<Lit>, Refused> {
    if let (Number::Bool(x), Number::Bool(y)) = (a.value, b.value)
        && let Some(truth) = truths(op, x, y)
    {
        return Ok(Some(Lit::bool(truth)));
    }
    if let (Some(x), Some(y)) = (a.value.int(), b.value.int()) {
        return integers(op, x, y);
    }
    if a.num.scalar.is_complex() || b.num.scalar.is_complex() {
        return Ok(complexes(op, a, b));
    }
    let (x, y) = (a.value.complex().0, b.value.complex().0);
    let value = match op {
        Operator::Add => x + y,
        Operator::Sub => x - y,
        Operator::Mult => x * y,
        Operator::Div if y != 0.0 => x / y,
        Operator::FloorDiv if y != 0.0 => floor_and_rest(x, y).0,
        Operator::Mod if y != 0.0 => floor_and_rest(x, y).1,
        // What Python raises for, run time decides.
        Operator::Pow => match x.powf(y) {
            power if power.is_finite() && x.is_finite() && y.is_finite() => power,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(Lit::float(value)))
}

/// `divmod` of floats, step by step as Python does it.
fn floor_and_rest(x: f64, y: f64) -> (f64, f64) {
    let mut rest = x % y;
    let mut quotient = (x - rest) / y;
    if rest == 0.0 {
        rest = 0f64.copysign(y);
    } else if (y < 0.0) != (rest < 0.0) {
        rest += y;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0f64.copysign(x / y), rest);
    }
    let floor = quotient.floor();
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, rest)
}

/// What of two truths is a truth again.
fn truths(op: Operator, x: bool, y: bool) -> Option<bool> {
    match op {
        Operator::BitAnd => Some(x & y),
        Operator::BitOr => Some(x | y),
        Operator::BitXor => Some(x ^ y),
        _ => None,
    }
}

fn integers(op: Operator, x: i128, y: i128) -> Result<Option<Lit>, Refused> {
    let value = match op {
        Operator::Add => x.checked_add(y),
        Operator::Sub => x.checked_sub(y),
        Operator::Mult => x.checked_mul(y),
        Operator::Div if y != 0 => return Ok(Some(Lit::float(quotient(x, y)))),
        Operator::FloorDiv if y != 0 => floor_quotient(x, y),
        Operator::Mod if y != 0 => x.checked_rem_euclid(y).map(|rest| if y < 0 && rest != 0 { rest + y } else { rest }),
        // As Python: a power of floats.
        Operator::Pow if y < 0 && x != 0 => return Ok(Some(Lit::float((x as f64).powf(y as f64)))),
        Operator::Pow if y >= 0 => power(x, y),
        Operator::LShift | Operator::RShift if y < 0 => return Err(NEGATIVE_SHIFT),
        Operator::LShift if x == 0 => Some(0),
        Operator::LShift => power(2, y).and_then(|p| x.checked_mul(p)),
        Operator::RShift => Some(x >> y.min(127)),
        Operator::BitAnd => Some(x & y),
        Operator::BitOr => Some(x | y),
        Operator::BitXor => Some(x ^ y),
        _ => return Ok(None),
    };
    value.map(|v| Some(Lit::int(v))).ok_or(TOO_LARGE)
}

fn floor_quotient(x: i128, y: i128) -> Option<i128> {
    let quotient = x.checked_div(y)?;
    Some(quotient - i128::from(x % y != 0 && (x < 0) != (y < 0)))
}

fn power(x: i128, y: i128) -> Option<i128> {
    match x {
        0 | 1 => Some(if y == 0 { 1 } else { x }),
        -1 => Some(if y % 2 == 0 { 1 } else { -1 }),
        _ => x.checked_pow(u32::try_from(y).ok()?),
    }
}

/// The float next to a quotient of integers, rounded once as Python's is.
fn quotient(x: i128, y: i128) -> f64 {
    let (size, divisor) = (x.unsigned_abs(), y.unsigned_abs());
    let (mut digits, mut rest, mut scale) = (size / divisor, size % divisor, 0);
    // Two bits more than a float has; what is left over only says on which side of a tie the quotient lies.
    while digits < 1 << 55 && rest != 0 {
        rest <<= 1;
        digits = digits << 1 | u128::from(rest >= divisor);
        rest = if rest >= divisor { rest - divisor } else { rest };
        scale -= 1;
    }
    let value = (digits | u128::from(rest != 0)) as f64 * 2f64.powi(scale);
    if (x < 0) == (y < 0) { value } else { -value }
}

fn complexes(op: Operator, a: Lit, b: Lit) -> Option<Lit> {
    let ((ar, ai), (br, bi)) = (a.value.complex(), b.value.complex());
    let (re, im) = match op {
        Operator::Add => (ar + br, ai + bi),
        Operator::Sub => (ar - br, ai - bi),
        _ => return None,
    };
    Some(Lit {
        num: Num::COMPLEX,
        value: Number::Complex(re, im),
    })
}

/// The value of `+x`, `-x` and `~x`. `None` leaves it to run time.
pub fn unary(op: UnaryOp, lit: Lit) -> Result<Option<Lit>, Refused> {
    let strong_unsigned = !lit.num.weak && lit.num.scalar.kind() == Kind::Unsigned;
    let value = match (op, lit.value) {
        (UnaryOp::UAdd, Number::Bool(b)) if lit.num.weak => Number::Int(b.into()),
        (UnaryOp::USub, Number::Bool(b)) if lit.num.weak => Number::Int(-i128::from(b)),
        (_, Number::Bool(_)) => return Ok(None),
        (UnaryOp::UAdd, v) => v,
        (UnaryOp::USub, Number::Int(i)) if !strong_unsigned => Number::Int(i.checked_neg().ok_or(TOO_LARGE)?),
        (UnaryOp::USub, Number::Float(f)) => Number::Float(-f),
        (UnaryOp::USub, Number::Complex(re, im)) => Number::Complex(-re, -im),
        (UnaryOp::Invert, Number::Int(i)) if !strong_unsigned => Number::Int(!i),
        _ => return Ok(None),
    };
    let num = if lit.num == Num::BOOL { Num::INT } else { lit.num };
    Ok(Some(Lit { num, value }))
}

/// A comparison of two numbers by their exact values. `None` where complex numbers take part, which run time compares or refuses.
pub fn compare(op: CmpOp, a: Lit, b: Lit) -> Option<bool> {
    if a.num.scalar.is_complex() || b.num.scalar.is_complex() {
        return None;
    }
    let order = match (a.value.int(), b.value.int()) {
        (Some(x), Some(y)) => Some(x.cmp(&y)),
        (Some(x), None) => with_float(x, b.value.complex().0),
        (None, Some(y)) => with_float(y, a.value.complex().0).map(Ordering::reverse),
        (None, None) => a.value.complex().0.partial_cmp(&b.value.complex().0),
    };
    Some(holds(op, order))
}

/// An integer against a float, neither of them rounded.
fn with_float(x: i128, y: f64) -> Option<Ordering> {
    if !(-LARGEST..LARGEST).contains(&y) {
        return 0.0.partial_cmp(&y);
    }
    Some(x.cmp(&(y as i128)).then(0f64.total_cmp(&(y.fract() + 0.0))))
}

/// Does a comparison hold of things in this order? Without an order they only differ.
pub fn holds(op: CmpOp, order: Option<Ordering>) -> bool {
    match op {
        CmpOp::Eq => order == Some(Ordering::Equal),
        CmpOp::Ne => order != Some(Ordering::Equal),
        CmpOp::Lt => order == Some(Ordering::Less),
        CmpOp::Le => order.is_some_and(Ordering::is_le),
        CmpOp::Gt => order == Some(Ordering::Greater),
        CmpOp::Ge => order.is_some_and(Ordering::is_ge),
    }
}

/// The size of a number, if it has one.
pub fn absolute(lit: Lit) -> Option<Lit> {
    match lit.value {
        Number::Int(v) => v.checked_abs().map(Lit::int),
        Number::Float(v) => Some(Lit::float(v.abs())),
        _ => None,
    }
}

/// The whole number that a float is.
pub fn whole(v: f64) -> Result<i128, Refused> {
    if v.is_nan() {
        Err("cannot convert float NaN to integer")
    } else if v.is_infinite() {
        Err("cannot convert float infinity to integer")
    } else if (-LARGEST..LARGEST).contains(&v) {
        Ok(v as i128)
    } else {
        Err(TOO_LARGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_rounded_once() {
        // Each is next to a tie between floats, which rounding the operands first would miss.
        assert_eq!(quotient((1 << 60) + 1, 3), 384_307_168_202_282_325.0);
        assert_eq!(quotient((1 << 53) + 1, 1), 9_007_199_254_740_992.0);
        assert_eq!(quotient((1 << 54) + 3, -2), -9_007_199_254_740_994.0);
        assert_eq!(quotient(1, i128::MAX), 2f64.powi(-127));
        assert_eq!(quotient(i128::MIN, 1), -(2f64.powi(127)));
        assert_eq!(quotient(0, 7), 0.0);
    }

    #[test]
    fn integers_meet_floats_by_value() {
        assert_eq!(with_float((1 << 53) + 1, 2f64.powi(53)), Some(Ordering::Greater));
        assert_eq!(with_float(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(with_float(0, -0.0), Some(Ordering::Equal));
        assert_eq!(with_float(i128::MAX, f64::INFINITY), Some(Ordering::Less));
        assert_eq!(with_float(0, f64::NAN), None);
    }
}
