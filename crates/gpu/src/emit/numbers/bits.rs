//! Counting and reversing bits, for every width. naga and Vulkan know 32 bits.

use naga::{MathFunction, Scalar as Register, ScalarKind};
use weft_ir::{Scalar, UnOp};

use super::body::{Body, Val};
use super::int::wrap;

pub(super) fn unary(b: &mut Body, op: UnOp, s: Scalar, x: Val) -> Option<Val> {
    let bits = b.bits(x);
    let result = if s.bits() == 64 {
        wide(b, op, bits)?
    } else {
        narrow(b, op, s, bits)?
    };
    let held = b.reinterpret(result, x.ty.kind);
    Some(wrap(b, s, held))
}

/// Of a type of 32 bits or fewer.
fn narrow(b: &mut Body, op: UnOp, s: Scalar, x: Val) -> Option<Val> {
    let spare = 32 - s.bits();
    let mask = b.u32(u32::MAX >> spare);
    let low = b.and(x, mask);
    Some(match op {
        UnOp::Popcount => b.math(MathFunction::CountOneBits, &[low]),
        UnOp::Clz => {
            let (zeros, spare) = (leading_zeros(b, low), b.u32(spare));
            b.sub(zeros, spare)
        }
        UnOp::Ctz => {
            let zeros = b.math(MathFunction::CountTrailingZeros, &[low]);
            let most = b.u32(s.bits());
            b.min(zeros, most)
        }
        UnOp::BitReverse => {
            let (reversed, spare) = (b.math(MathFunction::ReverseBits, &[low]), b.u32(spare));
            b.shr(reversed, spare)
        }
        UnOp::Neg | UnOp::Not | UnOp::Abs | UnOp::Conj | UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => return None,
        UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => return None,
    })
}

/// Of a `u64`, by its halves.
fn wide(b: &mut Body, op: UnOp, x: Val) -> Option<Val> {
    let (high, low) = halves(b, x);
    let count = match op {
        UnOp::Popcount => {
            let (high, low) = (
                b.math(MathFunction::CountOneBits, &[high]),
                b.math(MathFunction::CountOneBits, &[low]),
            );
            b.add(high, low)
        }
        UnOp::Clz => return Some(wide_leading_zeros(b, x)),
        UnOp::Ctz => {
            let (in_high, in_low) = (trailing_zeros(b, high), trailing_zeros(b, low));
            let (none, half) = (b.is_zero(low), b.u32(32));
            let more = b.add(in_high, half);
            b.select(none, more, in_low)
        }
        UnOp::BitReverse => {
            let (high, low) = (
                b.math(MathFunction::ReverseBits, &[high]),
                b.math(MathFunction::ReverseBits, &[low]),
            );
            return Some(joined(b, low, high));
        }
        UnOp::Neg | UnOp::Not | UnOp::Abs | UnOp::Conj | UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => return None,
        UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => return None,
    };
    Some(b.convert(count, Register::U64))
}

/// Of an unsigned register, as one of the same type.
pub(super) fn leading_zeros(b: &mut Body, x: Val) -> Val {
    if x.ty == Register::U64 {
        return wide_leading_zeros(b, x);
    }
    b.math(MathFunction::CountLeadingZeros, &[x])
}

fn wide_leading_zeros(b: &mut Body, x: Val) -> Val {
    let (high, low) = halves(b, x);
    let (in_high, in_low) = (leading_zeros(b, high), leading_zeros(b, low));
    let (none, half) = (b.is_zero(high), b.u32(32));
    let more = b.add(in_low, half);
    let count = b.select(none, more, in_high);
    b.convert(count, Register::U64)
}

fn trailing_zeros(b: &mut Body, x: Val) -> Val {
    b.math(MathFunction::CountTrailingZeros, &[x])
}

/// The high and the low half of a `u64`.
pub(super) fn halves(b: &mut Body, x: Val) -> (Val, Val) {
    let half = b.u32(32);
    let high = b.shr(x, half);
    (b.convert(high, Register::U32), b.convert(x, Register::U32))
}

/// The `u64` of two halves.
pub(super) fn joined(b: &mut Body, high: Val, low: Val) -> Val {
    let (high, low) = (b.convert(high, Register::U64), b.convert(low, Register::U64));
    let half = b.u32(32);
    let placed = b.shl(high, half);
    b.or(placed, low)
}

/// The kind of integers that a register's bits are.
pub(super) const fn unsigned(ty: Register) -> Register {
    Register {
        kind: ScalarKind::Uint,
        width: ty.width,
    }
}
