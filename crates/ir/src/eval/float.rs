//! Floats and complex numbers, as NumPy computes them.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use crate::op::{BinOp, Const, UnOp};

/// What both float types have in common.
pub(super) trait Float:
    Copy
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
{
    const ZERO: Self;
    const HALF: Self;
    const ONE: Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn rint(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn is_nan(self) -> bool;
}

macro_rules! float {
    ($ty:ident) => {
        impl Float for $ty {
            const ZERO: Self = 0.0;
            const HALF: Self = 0.5;
            const ONE: Self = 1.0;
            fn abs(self) -> Self {
                $ty::abs(self)
            }
            fn sqrt(self) -> Self {
                $ty::sqrt(self)
            }
            fn floor(self) -> Self {
                $ty::floor(self)
            }
            fn ceil(self) -> Self {
                $ty::ceil(self)
            }
            fn trunc(self) -> Self {
                $ty::trunc(self)
            }
            fn rint(self) -> Self {
                $ty::round_ties_even(self)
            }
            fn copysign(self, sign: Self) -> Self {
                $ty::copysign(self, sign)
            }
            fn is_nan(self) -> bool {
                $ty::is_nan(self)
            }
        }
    };
}

float!(f32);
float!(f64);

pub(super) fn unary<T: Float>(op: UnOp, x: T) -> Option<T> {
    Some(match op {
        UnOp::Neg => -x,
        UnOp::Abs => x.abs(),
        UnOp::Sqrt => x.sqrt(),
        UnOp::Floor => x.floor(),
        UnOp::Ceil => x.ceil(),
        UnOp::Trunc => x.trunc(),
        UnOp::Rint => x.rint(),
        UnOp::Not | UnOp::Conj | UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse => return None,
        // They give bools: see `test`.
        UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => return None,
    })
}

/// The operations from float to bool.
pub(super) fn test(op: UnOp, x: f64) -> Option<Const> {
    match op {
        UnOp::IsNan => Some(Const::Bool(x.is_nan())),
        UnOp::IsInf => Some(Const::Bool(x.is_infinite())),
        UnOp::SignBit => Some(Const::Bool(x.is_sign_negative())),
        UnOp::Neg | UnOp::Not | UnOp::Abs | UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => None,
        UnOp::Conj | UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse => None,
    }
}

pub(super) fn binary<T: Float>(op: BinOp, a: T, b: T) -> Option<T> {
    Some(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a / b,
        BinOp::FloorDiv if b == T::ZERO => a / b,
        BinOp::FloorDiv => floor_div_mod(a, b).0,
        BinOp::Mod if b == T::ZERO => a % b,
        BinOp::Mod => floor_div_mod(a, b).1,
        BinOp::Rem => a % b,
        BinOp::Min if a < b || a.is_nan() => a,
        BinOp::Max if a > b || a.is_nan() => a,
        BinOp::Min | BinOp::Max => b,
        BinOp::CopySign => a.copysign(b),
        BinOp::IntPow | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr => return None,
    })
}

/// Floored quotient and its remainder, for a divisor that is not zero, in NumPy's order of operations.
fn floor_div_mod<T: Float>(a: T, b: T) -> (T, T) {
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest == T::ZERO {
        rest = T::ZERO.copysign(b);
    } else if (b < T::ZERO) != (rest < T::ZERO) {
        rest = rest + b;
        quotient = quotient - T::ONE;
    }
    if quotient == T::ZERO {
        return (T::ZERO.copysign(a / b), rest);
    }
    let floor = quotient.floor();
    let snapped = if quotient - floor > T::HALF { floor + T::ONE } else { floor };
    (snapped, rest)
}

pub(super) fn complex_unary<T: Float>(op: UnOp, [re, im]: [T; 2]) -> Option<[T; 2]> {
    match op {
        UnOp::Neg => Some([-re, -im]),
        UnOp::Conj => Some([re, -im]),
        UnOp::Not | UnOp::Abs | UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => None,
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse | UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => None,
    }
}

pub(super) fn complex_binary<T: Float>(op: BinOp, [ar, ai]: [T; 2], [br, bi]: [T; 2]) -> Option<[T; 2]> {
    match op {
        BinOp::Add => Some([ar + br, ai + bi]),
        BinOp::Sub => Some([ar - br, ai - bi]),
        BinOp::Mul => Some([ar * br - ai * bi, ar * bi + ai * br]),
        BinOp::Div => Some(quotient([ar, ai], [br, bi])),
        BinOp::FloorDiv | BinOp::Mod | BinOp::Rem | BinOp::IntPow | BinOp::And | BinOp::Or | BinOp::Xor => None,
        BinOp::Shl | BinOp::Shr | BinOp::Min | BinOp::Max | BinOp::CopySign => None,
    }
}

/// Smith's method as NumPy has it.
fn quotient<T: Float>([ar, ai]: [T; 2], [br, bi]: [T; 2]) -> [T; 2] {
    let (abs_r, abs_i) = (br.abs(), bi.abs());
    if abs_r >= abs_i {
        if abs_r == T::ZERO && abs_i == T::ZERO {
            return [ar / abs_r, ai / abs_r];
        }
        let ratio = bi / br;
        let scale = T::ONE / (br + bi * ratio);
        [(ar + ai * ratio) * scale, (ai - ar * ratio) * scale]
    } else {
        let ratio = br / bi;
        let scale = T::ONE / (bi + br * ratio);
        [(ar * ratio + ai) * scale, (ai * ratio - ar) * scale]
    }
}
