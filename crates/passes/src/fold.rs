//! Constant folding: the numbers that constants are, and which of them change nothing.

use weft_ir::{BinOp, Const, Scalar};

/// An integer or bool constant as the number it is.
pub fn integer(c: Const) -> Option<i128> {
    match c {
        Const::Bool(b) => Some(b.into()),
        Const::Int(Scalar::U64, bits) => Some(i128::from(bits as u64)),
        Const::Int(_, value) => Some(value.into()),
        _ => None,
    }
}

/// Does `x op b` give `x` back, as `x + 0` and `x * 1` do?
pub fn is_identity(op: BinOp, b: Const) -> bool {
    match op {
        BinOp::Add | BinOp::Sub => matches!(b, Const::Int(_, 0)),
        BinOp::Mul | BinOp::FloorDiv => matches!(b, Const::Int(_, 1)),
        _ => false,
    }
}
