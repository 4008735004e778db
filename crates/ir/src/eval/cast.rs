//! Conversions between scalar types.

use super::{Num, half};
use crate::op::Const;
use crate::types::Scalar;

/// `Op::Cast`.
pub fn cast(a: Const, to: Scalar) -> Option<Const> {
    if a.scalar() == to {
        return Some(a);
    }
    Some(match (Num::from(a), to) {
        (from, Scalar::Bool) => Const::Bool(is_true(from)),
        (from, Scalar::F16) => half::round(to, to_f64(from)),
        (from, Scalar::BF16) => half::round(to, to_f32(from).into()),
        (from, Scalar::F32) => Const::f32(to_f32(from)),
        (from, Scalar::F64) => Const::f64(to_f64(from)),
        (Num::C128([re, im]), Scalar::C64) => Num::C64([re as f32, im as f32]).into(),
        (Num::C64([re, im]), Scalar::C128) => Num::C128([re.into(), im.into()]).into(),
        (from, Scalar::C64) => Num::C64([to_f32(from), 0.0]).into(),
        (from, Scalar::C128) => Num::C128([to_f64(from), 0.0]).into(),
        (Num::Bool(b), int) => Const::Int(int, b.into()),
        (Num::Int(_, v), int) => Const::Int(int, int.wrap(v)),
        (from, int) => Const::Int(int, float_to_int(to_f64(from), int)),
    })
}

/// `Op::Bitcast`: same bits, other type of the same size.
pub fn bitcast(a: Const, to: Scalar) -> Option<Const> {
    if a.scalar().size() != to.size() {
        return None;
    }
    Const::from_bytes(to, &a.to_bytes())
}

fn is_true(n: Num) -> bool {
    match n {
        Num::Bool(b) => b,
        Num::Int(_, v) => v != 0,
        Num::Half(_, x) | Num::F32(x) => x != 0.0,
        Num::F64(x) => x != 0.0,
        Num::C64(z) => z != [0.0, 0.0],
        Num::C128(z) => z != [0.0, 0.0],
    }
}

fn to_f32(n: Num) -> f32 {
    match n {
        Num::Bool(b) => f32::from(u8::from(b)),
        Num::Int(Scalar::U64, v) => v as u64 as f32,
        Num::Int(_, v) => v as f32,
        Num::Half(_, x) | Num::F32(x) | Num::C64([x, _]) => x,
        Num::F64(x) | Num::C128([x, _]) => x as f32,
    }
}

fn to_f64(n: Num) -> f64 {
    match n {
        Num::Bool(b) => f64::from(u8::from(b)),
        Num::Int(Scalar::U64, v) => v as u64 as f64,
        Num::Int(_, v) => v as f64,
        Num::Half(_, x) | Num::F32(x) | Num::C64([x, _]) => x.into(),
        Num::F64(x) | Num::C128([x, _]) => x,
    }
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// Truncates; see `Op::Cast` for what is out of range.
fn float_to_int(x: f64, to: Scalar) -> i64 {
    match to {
        Scalar::I64 => to_i64(x),
        Scalar::U32 => to.wrap(to_i64(x)),
        Scalar::U64 if (-TWO_63..TWO_63).contains(&x) => x as i64,
        Scalar::U64 if (TWO_63..TWO_64).contains(&x) => x as u64 as i64,
        Scalar::U64 => 0,
        _ => to.wrap(to_i32(x)),
    }
}

fn to_i64(x: f64) -> i64 {
    if (-TWO_63..TWO_63).contains(&x) { x as i64 } else { i64::MIN }
}

fn to_i32(x: f64) -> i64 {
    let whole = x.trunc();
    if whole >= f64::from(i32::MIN) && whole <= f64::from(i32::MAX) {
        whole as i64
    } else {
        i32::MIN.into()
    }
}
