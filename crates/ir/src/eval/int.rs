//! Integers and bools. Values are held in 64 bits; the caller brings results back into the type's range.

use crate::op::{BinOp, UnOp};
use crate::types::Scalar;

pub(super) fn unary(op: UnOp, s: Scalar, v: i64) -> Option<i64> {
    let low = (v as u64) & (u64::MAX >> (64 - s.bits()));
    Some(match op {
        UnOp::Neg => v.wrapping_neg(),
        UnOp::Not => !v,
        UnOp::Abs if s.is_signed() => v.wrapping_abs(),
        UnOp::Abs => v,
        UnOp::Popcount => i64::from(low.count_ones()),
        UnOp::Clz => i64::from(low.leading_zeros() - (64 - s.bits())),
        UnOp::Ctz => i64::from(low.trailing_zeros().min(s.bits())),
        UnOp::BitReverse => s.wrap((low.reverse_bits() >> (64 - s.bits())) as i64),
        UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => return None,
        UnOp::Conj | UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => return None,
    })
}

pub(super) fn logical(op: BinOp, a: bool, b: bool) -> Option<bool> {
    match op {
        BinOp::And | BinOp::Min => Some(a & b),
        BinOp::Or | BinOp::Max => Some(a | b),
        BinOp::Xor => Some(a ^ b),
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::FloorDiv | BinOp::Mod | BinOp::Rem => None,
        BinOp::IntPow | BinOp::Shl | BinOp::Shr | BinOp::CopySign => None,
    }
}

/// `b` has a type of its own, `t`: a shift's count and a power's exponent may differ from `a` in it.
pub(super) fn binary(op: BinOp, s: Scalar, a: i64, t: Scalar, b: i64) -> Option<i64> {
    match op {
        BinOp::Shl | BinOp::Shr => return Some(shift(op, s, a, b)),
        BinOp::IntPow => return Some(power(s, a, t, b)),
        _ if s != t => return None,
        _ => {}
    }
    Some(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::FloorDiv | BinOp::Mod | BinOp::Rem if b == 0 => 0,
        BinOp::FloorDiv if s.is_signed() => floor_div(a, b),
        BinOp::FloorDiv => (a as u64 / b as u64) as i64,
        BinOp::Mod if s.is_signed() => floor_mod(a, b),
        BinOp::Rem if s.is_signed() => a.wrapping_rem(b),
        BinOp::Mod | BinOp::Rem => (a as u64 % b as u64) as i64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Min if s == Scalar::U64 => (a as u64).min(b as u64) as i64,
        BinOp::Max if s == Scalar::U64 => (a as u64).max(b as u64) as i64,
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::Div | BinOp::CopySign => return None,
        // Done above, where `b` may have another type.
        BinOp::Shl | BinOp::Shr | BinOp::IntPow => return None,
    })
}

fn floor_div(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    let inexact = a.wrapping_rem(b) != 0;
    if inexact && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn floor_mod(a: i64, b: i64) -> i64 {
    let rest = a.wrapping_rem(b);
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}

/// A count that is negative or at least the width (an unsigned 64-bit one may look negative: it is too large) shifts everything out.
fn shift(op: BinOp, s: Scalar, a: i64, count: i64) -> i64 {
    let in_range = (0..i64::from(s.bits())).contains(&count);
    match (op, in_range) {
        (BinOp::Shl, true) => a << count,
        (BinOp::Shl, false) => 0,
        (_, true) if s.is_signed() => a >> count,
        (_, true) => (a as u64 >> count) as i64,
        (_, false) if s.is_signed() => a >> 63,
        (_, false) => 0,
    }
}

fn power(s: Scalar, base: i64, t: Scalar, exponent: i64) -> i64 {
    if t.is_signed() && exponent < 0 {
        return match base {
            1 => 1,
            -1 if s.is_signed() => 1 - 2 * (exponent & 1),
            _ => 0,
        };
    }
    let (mut result, mut square, mut rest) = (1i64, base, exponent as u64);
    while rest != 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    result
}
