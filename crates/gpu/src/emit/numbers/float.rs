//! Sign, class and order of floats, by their bits: drivers may take comparisons with NaN for what they like.

use naga::ScalarKind;
use weft_ir::{BinOp, Scalar, UnOp};

use super::body::{Body, Val};
use super::{divide, quotient, rounding};

/// How a float's bits are laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub bits: u32,
    /// Bits of the fraction.
    pub fraction: u32,
}

impl Format {
    pub const F16: Format = Format { bits: 16, fraction: 10 };
    pub const F32: Format = Format { bits: 32, fraction: 23 };
    pub const F64: Format = Format { bits: 64, fraction: 52 };

    /// Of the float in a register.
    pub fn of(ty: naga::Scalar) -> Format {
        if ty.width == 8 { Format::F64 } else { Format::F32 }
    }

    pub const fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// All bits but the sign.
    pub const fn magnitude(self) -> u64 {
        self.sign() - 1
    }

    /// The bit above the fraction, which a normal number does not store.
    pub const fn hidden(self) -> u64 {
        1 << self.fraction
    }

    pub const fn infinity(self) -> u64 {
        self.magnitude() & !(self.hidden() - 1)
    }

    pub const fn nan(self) -> u64 {
        self.infinity() | self.hidden() >> 1
    }

    /// What is added to an exponent before it is stored.
    pub const fn bias(self) -> i64 {
        (1 << (self.bits - self.fraction - 2)) - 1
    }
}

pub(super) fn unary(b: &mut Body, op: UnOp, x: Val) -> Option<Val> {
    if x.ty.kind != ScalarKind::Float {
        return None;
    }
    match op {
        UnOp::IsNan => Some(is_nan(b, x)),
        UnOp::IsInf => {
            let magnitude = magnitude(b, x);
            let infinity = b.int(magnitude.ty, Format::of(x.ty).infinity() as i64);
            Some(b.eq(magnitude, infinity))
        }
        UnOp::SignBit => Some(sign_bit(b, x)),
        UnOp::Abs => {
            let magnitude = magnitude(b, x);
            Some(b.float_of_bits(magnitude))
        }
        UnOp::Sqrt => quotient::square_root(b, x),
        UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => Some(rounding::to_integer(b, op, x)),
        UnOp::Neg => {
            let bits = b.bits(x);
            let sign = b.int(bits.ty, Format::of(x.ty).sign() as i64);
            let bits = b.xor(bits, sign);
            Some(b.float_of_bits(bits))
        }
        UnOp::Not | UnOp::Conj => None,
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse => None,
    }
}

pub(super) fn binary(b: &mut Body, op: BinOp, s: Scalar, x: Val, y: Val) -> Option<Val> {
    if x.ty.kind != ScalarKind::Float {
        return None;
    }
    match op {
        BinOp::Min | BinOp::Max => Some(least_or_most(b, op, x, y)),
        BinOp::Div => quotient::quotient(b, x, y),
        BinOp::CopySign => Some(copy_sign(b, x, y)),
        BinOp::Rem => Some(divide::remainder(b, x, y)),
        BinOp::Mod => divide::modulo(b, s, x, y),
        BinOp::FloorDiv => divide::floored(b, s, x, y),
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::IntPow => None,
        BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr => None,
    }
}

/// The IR's type of a float in a register.
pub(super) fn scalar(x: Val) -> Scalar {
    if x.ty.width == 8 { Scalar::F64 } else { Scalar::F32 }
}

pub(super) fn magnitude(b: &mut Body, x: Val) -> Val {
    let bits = b.bits(x);
    let mask = b.int(bits.ty, Format::of(x.ty).magnitude() as i64);
    b.and(bits, mask)
}

pub(super) fn is_nan(b: &mut Body, x: Val) -> Val {
    let magnitude = magnitude(b, x);
    let infinity = b.int(magnitude.ty, Format::of(x.ty).infinity() as i64);
    b.gt(magnitude, infinity)
}

pub(super) fn sign_bit(b: &mut Body, x: Val) -> Val {
    let sign = sign(b, x);
    b.is_some(sign)
}

/// The sign's bit, alone.
pub(super) fn sign(b: &mut Body, x: Val) -> Val {
    let bits = b.bits(x);
    let mask = b.int(bits.ty, Format::of(x.ty).sign() as i64);
    b.and(bits, mask)
}

pub(super) fn copy_sign(b: &mut Body, x: Val, y: Val) -> Val {
    let (magnitude, sign) = (magnitude(b, x), sign(b, y));
    let bits = b.or(magnitude, sign);
    b.float_of_bits(bits)
}

/// Zero with a sign.
pub(super) fn signed_zero(b: &mut Body, sign_of: Val) -> Val {
    let sign = sign(b, sign_of);
    b.float_of_bits(sign)
}

/// A float by its bits, for those that no literal may be.
pub(super) fn of_bits(b: &mut Body, ty: naga::Scalar, bits: u64) -> Val {
    let bits = b.int(super::bits::unsigned(ty), bits as i64);
    b.float_of_bits(bits)
}

/// `x if x < y else y`, a NaN in either giving NaN.
fn least_or_most(b: &mut Body, op: BinOp, x: Val, y: Val) -> Val {
    let first = if op == BinOp::Min { b.lt(x, y) } else { b.gt(x, y) };
    let nan = is_nan(b, x);
    let first = b.or(first, nan);
    b.select(first, x, y)
}
