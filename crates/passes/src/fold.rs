//! What operations on constants give, as far as `cleanup` works it out: integers, bools, and conversions.

use weft_ir::{BinOp, CmpOp, Const, Scalar, UnOp};

/// An integer or bool constant as the number it is.
pub fn integer(c: Const) -> Option<i128> {
    match c {
        Const::Bool(b) => Some(b.into()),
        Const::Int(Scalar::U64, bits) => Some(i128::from(bits as u64)),
        Const::Int(_, value) => Some(value.into()),
        _ => None,
    }
}

/// The constant of type `scalar` that is `value` wrapped to its width; `None` if the type is no integer.
pub fn wrapped(scalar: Scalar, value: i128) -> Option<Const> {
    let held = match scalar {
        Scalar::I8 => i64::from(value as i8),
        Scalar::I16 => i64::from(value as i16),
        Scalar::I32 => i64::from(value as i32),
        Scalar::I64 | Scalar::U64 => value as i64,
        Scalar::U8 => i64::from(value as u8),
        Scalar::U16 => i64::from(value as u16),
        Scalar::U32 => i64::from(value as u32),
        _ => return None,
    };
    Some(Const::Int(scalar, held))
}

pub fn unary(op: UnOp, a: Const) -> Option<Const> {
    match (op, a) {
        (UnOp::Not, Const::Bool(b)) => Some(Const::Bool(!b)),
        (UnOp::Neg, Const::Int(scalar, _)) => wrapped(scalar, -integer(a)?),
        (UnOp::Not, Const::Int(scalar, _)) => wrapped(scalar, !integer(a)?),
        (UnOp::Neg, Const::F32(bits)) => Some(Const::F32(bits ^ 1 << 31)),
        (UnOp::Neg, Const::F64(bits)) => Some(Const::F64(bits ^ 1 << 63)),
        _ => None,
    }
}

pub fn binary(op: BinOp, a: Const, b: Const) -> Option<Const> {
    let scalar = a.scalar();
    let (a, b) = (integer(a)?, integer(b)?);
    let value = match op {
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        _ if scalar == Scalar::Bool => return None,
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::FloorDiv | BinOp::Mod if b == 0 => 0,
        BinOp::FloorDiv => floor_div(a, b),
        BinOp::Mod => a - b * floor_div(a, b),
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        _ => return None,
    };
    if scalar == Scalar::Bool {
        return Some(Const::Bool(value != 0));
    }
    wrapped(scalar, value)
}

fn floor_div(a: i128, b: i128) -> i128 {
    a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)
}

pub fn compare(op: CmpOp, a: Const, b: Const) -> Option<Const> {
    let order = integer(a)?.cmp(&integer(b)?);
    Some(Const::Bool(match op {
        CmpOp::Eq => order.is_eq(),
        CmpOp::Ne => order.is_ne(),
        CmpOp::Lt => order.is_lt(),
        CmpOp::Le => order.is_le(),
        CmpOp::Gt => order.is_gt(),
        CmpOp::Ge => order.is_ge(),
    }))
}

/// Conversions that lose nothing or wrap; a float stays one.
pub fn cast(to: Scalar, a: Const) -> Option<Const> {
    match (to, a) {
        (Scalar::F64, Const::F32(bits)) => Some(Const::f64(f32::from_bits(bits).into())).filter(|_| !f32::from_bits(bits).is_nan()),
        (Scalar::F32, Const::F64(bits)) => Some(Const::f32(f64::from_bits(bits) as f32)).filter(|_| !f64::from_bits(bits).is_nan()),
        (Scalar::F64, _) => Some(Const::f64(integer(a)? as f64)),
        (Scalar::F32, _) => Some(Const::f32(integer(a)? as f32)),
        (Scalar::Bool, _) => Some(Const::Bool(integer(a)? != 0)),
        _ => wrapped(to, integer(a)?),
    }
}

/// The operand that an operation with a constant gives back unchanged: `x + 0`, `x * 1`.
pub fn is_identity(op: BinOp, b: Const) -> bool {
    match op {
        BinOp::Add | BinOp::Sub => matches!(b, Const::Int(_, 0)),
        BinOp::Mul | BinOp::FloorDiv => matches!(b, Const::Int(_, 1)),
        _ => false,
    }
}
