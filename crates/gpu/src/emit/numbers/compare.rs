//! Comparisons that are no single expression: of bools, floats that differ, and floats on devices that take subnormal numbers for zeros when
//! they compare them.

use naga::BinaryOperator;
use weft_ir::{CmpOp, Scalar};

use super::body::{Body, Val};
use super::float::{Format, magnitude, sign_bit};
use crate::features::Comparisons;

pub(super) fn compare(b: &mut Body, op: CmpOp, s: Scalar, x: Val, y: Val) -> Option<Val> {
    if s == Scalar::Bool {
        return bools(b, op, x, y);
    }
    let operator = match op {
        CmpOp::Lt => BinaryOperator::Less,
        CmpOp::Le => BinaryOperator::LessEqual,
        CmpOp::Gt => BinaryOperator::Greater,
        CmpOp::Ge => BinaryOperator::GreaterEqual,
        // Not equal, or no numbers.
        CmpOp::Eq | CmpOp::Ne => BinaryOperator::Equal,
    };
    let holds = match b.features.subnormals(s).compared {
        _ if !matches!(s, Scalar::F32 | Scalar::F64) => return None,
        Comparisons::Own => b.binary(operator, x, y),
        Comparisons::Scaled => scaled(b, operator, x, y),
        Comparisons::ByBits => by_bits(b, operator, x, y),
    };
    Some(if op == CmpOp::Ne { b.not(holds) } else { holds })
}

/// By the device's comparison, which is right but where it takes both for zeros, and that of both times a power of two, by which no number
/// is subnormal. That one is right unless products are too large: then it takes them for equal. So what needs one to be less holds if
/// either says so, the others if both do.
fn scaled(b: &mut Body, op: BinaryOperator, x: Val, y: Val) -> Val {
    let places = Format::of(x.ty).fraction + 1;
    let up = b.float(x.ty, 2f64.powi(places as i32));
    let (more_x, more_y) = (b.mul(x, up), b.mul(y, up));
    let (own, of_products) = (b.binary(op, x, y), b.binary(op, more_x, more_y));
    match op {
        BinaryOperator::Less | BinaryOperator::Greater => b.or(own, of_products),
        _ => b.and(own, of_products),
    }
}

/// By integers in the numbers' order.
fn by_bits(b: &mut Body, op: BinaryOperator, x: Val, y: Val) -> Val {
    let (x_size, y_size) = (magnitude(b, x), magnitude(b, y));
    let infinity = b.int(x_size.ty, Format::of(x.ty).infinity() as i64);
    let most = b.max(x_size, y_size);
    let numbers = b.le(most, infinity);
    let (x, y) = (place(b, x, x_size), place(b, y, y_size));
    let holds = b.binary(op, x, y);
    b.and(numbers, holds)
}

/// An integer that is the larger the larger the float: its size with its sign. Both zeros have one.
fn place(b: &mut Body, x: Val, size: Val) -> Val {
    let (negative, zero) = (sign_bit(b, x), b.int(size.ty, 0));
    let below = b.sub(zero, size);
    let place = b.select(negative, below, size);
    b.reinterpret(place, naga::ScalarKind::Sint)
}

fn bools(b: &mut Body, op: CmpOp, x: Val, y: Val) -> Option<Val> {
    Some(match op {
        CmpOp::Lt => less(b, x, y),
        CmpOp::Gt => less(b, y, x),
        CmpOp::Le => {
            let greater = less(b, y, x);
            b.not(greater)
        }
        CmpOp::Ge => {
            let less = less(b, x, y);
            b.not(less)
        }
        CmpOp::Eq | CmpOp::Ne => return None,
    })
}

/// Of bools.
fn less(b: &mut Body, x: Val, y: Val) -> Val {
    let off = b.not(x);
    b.and(off, y)
}
