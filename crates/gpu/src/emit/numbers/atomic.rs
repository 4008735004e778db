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
        AtomicOp::Min | AtomicOp::NanMin | AtomicOp::Max | AtomicOp::NanMax => return least_or_most(b, op, s, old, value),
        AtomicOp::And => BinOp::And,
        AtomicOp::Or => BinOp::Or,
        AtomicOp::Xor => BinOp::Xor,
        AtomicOp::Exch => return Some(value),
        AtomicOp::Cas => return exchanged(b, s, old, *args.get(1)?, value),
        AtomicOp::Inc | AtomicOp::Dec => return counted(b, op, s, old, value),
    };
    b.number(as_binary(simple), &[old, value])
}

/// The value where it is less or greater than the element, or where the element is a missing value.
fn least_or_most(b: &mut Body, op: AtomicOp, s: Scalar, old: Val, value: Val) -> Option<Val> {
    let least = matches!(op, AtomicOp::Min | AtomicOp::NanMin);
    let how = if least { CmpOp::Gt } else { CmpOp::Lt };
    let better = b.number(Number::Compare(how, s), &[old, value])?;
    let kept = b.select(better, value, old);
    if !matches!(op, AtomicOp::NanMin | AtomicOp::NanMax) || !s.is_float() {
        return Some(kept);
    }
    let missing = is_nan(b, old);
    Some(b.select(missing, value, kept))
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
