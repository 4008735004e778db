//! What an element becomes when it is changed atomically, for loops of compare and swap.

use weft_ir::{AtomicOp, BinOp, CmpOp, Scalar};

use super::Number;
use super::body::{Body, Val};
use super::float::is_nan;

/// `args` are the old value and the operand; for `Cas` the old value, the expected and the new one.
pub(super) fn becomes(b: &mut Body, op: AtomicOp, s: Scalar, args: &[Val]) -> Option<Val> {
    let (&old, &value) = (args.first()?, args.last()?);
    let as_binary = |op| Number::Binary(op, s, s);
    let simple = match op {
        AtomicOp::Add => BinOp::Add,
        AtomicOp::Sub => BinOp::Sub,
        AtomicOp::Min | AtomicOp::NanMin => BinOp::Min,
        AtomicOp::Max | AtomicOp::NanMax => BinOp::Max,
        AtomicOp::And => BinOp::And,
        AtomicOp::Or => BinOp::Or,
        AtomicOp::Xor => BinOp::Xor,
        AtomicOp::Exch => return Some(value),
        AtomicOp::Cas => return exchanged(b, s, old, *args.get(1)?, value),
        AtomicOp::Inc | AtomicOp::Dec => return counted(b, op, s, old, value),
    };
    let result = b.number(as_binary(simple), &[old, value])?;
    if matches!(op, AtomicOp::NanMin | AtomicOp::NanMax) && s.is_float() {
        let (no_old, no_value) = (is_nan(b, old), is_nan(b, value));
        let result = b.select(no_value, old, result);
        return Some(b.select(no_old, value, result));
    }
    Some(result)
}

/// Bits are compared.
fn exchanged(b: &mut Body, s: Scalar, old: Val, expected: Val, value: Val) -> Option<Val> {
    let same = if s.is_float() {
        let (x, y) = (b.bits(old), b.bits(expected));
        b.eq(x, y)
    } else {
        b.number(Number::Compare(CmpOp::Eq, s), &[old, expected])?
    };
    Some(b.select(same, value, old))
}

/// Up or down by one, wrapping round at a limit.
fn counted(b: &mut Body, op: AtomicOp, s: Scalar, old: Val, limit: Val) -> Option<Val> {
    if !s.is_int() {
        return None;
    }
    let (zero, one) = (b.int(old.ty, 0), b.int(old.ty, 1));
    if op == AtomicOp::Inc {
        let next = b.number(Number::Binary(BinOp::Add, s, s), &[old, one])?;
        let full = b.ge(old, limit);
        return Some(b.select(full, zero, next));
    }
    let next = b.number(Number::Binary(BinOp::Sub, s, s), &[old, one])?;
    let (none, over) = (b.eq(old, zero), b.gt(old, limit));
    let restarts = b.or(none, over);
    Some(b.select(restarts, limit, next))
}
