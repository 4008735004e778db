//! Operations that are one expression of naga's and mean what the IR means, on every platform.
//!
//! Why others are not: naga compares floats by "ordered and not equal"; devices may take subnormal numbers for zeros; bools have no order, no exclusive or, no minimum; quotients of
//! integers are undefined for some operands or guarded for WGSL's sake; shifts are undefined beyond the width; conversions from floats
//! clamp; counting bits knows 32-bit integers only; `min`, `max` and `fma` of floats do what the hardware does.

use naga::{BinaryOperator as B, Expression, Handle, MathFunction, ScalarKind, UnaryOperator};
use weft_ir::{BinOp, CmpOp, Scalar, UnOp};

use super::{Number, register};
use crate::features::{Comparisons, Features};

/// A single expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// The operand itself.
    Same,
    Unary(UnaryOperator),
    Binary(B),
    Math(MathFunction),
    /// A conversion, or the same bits.
    As(ScalarKind, Option<u8>),
}

impl Plain {
    /// Nothing where it is the operand itself.
    pub fn expression(self, args: &[Handle<Expression>]) -> Option<Expression> {
        let arg = *args.first()?;
        let more = |n: usize| args.get(n).copied();
        Some(match self {
            Plain::Same => return None,
            Plain::Unary(op) => Expression::Unary { op, expr: arg },
            Plain::Binary(op) => Expression::Binary {
                op,
                left: arg,
                right: more(1)?,
            },
            Plain::Math(fun) => Expression::Math {
                fun,
                arg,
                arg1: more(1),
                arg2: more(2),
                arg3: None,
            },
            Plain::As(kind, convert) => Expression::As { expr: arg, kind, convert },
        })
    }

    /// The result's type for an operand's.
    pub(super) fn result(self, operand: naga::Scalar) -> naga::Scalar {
        match self {
            Plain::Binary(B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual) => naga::Scalar::BOOL,
            Plain::As(kind, width) => naga::Scalar {
                kind,
                width: width.unwrap_or(operand.width),
            },
            _ => operand,
        }
    }
}

/// Fills its register.
fn is_whole(s: Scalar) -> bool {
    s.is_int() && s.bits() >= 32
}

fn is_wide_float(s: Scalar) -> bool {
    matches!(s, Scalar::F32 | Scalar::F64)
}

impl Number {
    /// The operation as a single expression on registers, where it is one.
    pub fn plain(self, features: &Features) -> Option<Plain> {
        match self {
            Number::Binary(BinOp::Div, s, _) if is_wide_float(s) && !(divides(features, s) && features.subnormals(s).divided) => None,
            Number::Unary(UnOp::Sqrt, s) if is_wide_float(s) && !(has_roots(features, s) && features.subnormals(s).rooted) => None,
            Number::Unary(UnOp::Abs, s) if is_wide_float(s) && !clears_signs(features, s) => None,
            Number::Unary(UnOp::Neg, s) if is_wide_float(s) && !features.subnormals(s).negated => None,
            Number::Unary(UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint, s) if is_wide_float(s) && !rounds(features, s) => None,
            Number::Unary(op, s) => unary(op, s),
            Number::Binary(op, s, t) if s == t => binary(op, s),
            Number::Compare(_, s) if is_wide_float(s) && features.subnormals(s).compared != Comparisons::Own => None,
            Number::Compare(op, s) => comparison(op, s).map(Plain::Binary),
            Number::Fma(s) if is_wide_float(s) && fuses(features, s) && features.subnormals(s).fused => {
                Some(Plain::Math(MathFunction::Fma))
            }
            Number::Cast {
                from: Scalar::F32,
                to: Scalar::F64,
            } if !features.exact_widening => None,
            Number::Cast {
                from: Scalar::F64,
                to: Scalar::F32,
            } if !features.exact_narrowing => None,
            Number::Cast { from, to } => conversion(from, to),
            Number::Bitcast { from, to } => same_bits(from, to),
            Number::Binary(..) | Number::Fma(_) | Number::Atomic(..) => None,
        }
    }

    /// The same where an operand is a float that is neither zero nor subnormal: what is compared with it may be taken for zero.
    pub fn plain_beside_normal(self, features: &Features) -> Option<Plain> {
        match self {
            Number::Compare(op, s) => comparison(op, s).map(Plain::Binary),
            _ => self.plain(features),
        }
    }
}

/// A number's size. A driver without `exact_zeros` makes nothing of it where it takes the number for no less than 0: a root may be -0.
fn clears_signs(features: &Features, s: Scalar) -> bool {
    features.exact_zeros && features.subnormals(s).absolute
}

/// Does the device's `fma` round once, where no number is subnormal?
pub(super) fn fuses(features: &Features, s: Scalar) -> bool {
    if s == Scalar::F64 {
        features.exact_fma64
    } else {
        features.exact_fma32
    }
}

/// Are the device's square roots rounded correctly, where no number is subnormal?
pub(super) fn has_roots(features: &Features, s: Scalar) -> bool {
    if s == Scalar::F64 {
        features.exact_sqrt64
    } else {
        features.exact_sqrt
    }
}

/// Are the device's quotients rounded correctly, where no number is subnormal?
pub(super) fn divides(features: &Features, s: Scalar) -> bool {
    if s == Scalar::F64 {
        features.exact_divide64
    } else {
        features.exact_divide
    }
}

/// Does the device round to integers as it should?
fn rounds(features: &Features, s: Scalar) -> bool {
    if s == Scalar::F64 {
        features.exact_rounding64
    } else {
        features.exact_rounding32
    }
}

fn unary(op: UnOp, s: Scalar) -> Option<Plain> {
    Some(match op {
        UnOp::Not if s == Scalar::Bool => Plain::Unary(UnaryOperator::LogicalNot),
        UnOp::Not if is_whole(s) || s.is_int() && s.is_signed() => Plain::Unary(UnaryOperator::BitwiseNot),
        UnOp::Neg if is_wide_float(s) || is_whole(s) && s.is_signed() => Plain::Unary(UnaryOperator::Negate),
        UnOp::Abs if s.is_int() && !s.is_signed() => Plain::Same,
        UnOp::Abs if is_wide_float(s) => Plain::Math(MathFunction::Abs),
        UnOp::Sqrt if is_wide_float(s) => Plain::Math(MathFunction::Sqrt),
        UnOp::Floor if is_wide_float(s) => Plain::Math(MathFunction::Floor),
        UnOp::Ceil if is_wide_float(s) => Plain::Math(MathFunction::Ceil),
        UnOp::Trunc if is_wide_float(s) => Plain::Math(MathFunction::Trunc),
        UnOp::Rint if is_wide_float(s) => Plain::Math(MathFunction::Round),
        UnOp::Popcount if s.bits() == 32 && s.is_int() => Plain::Math(MathFunction::CountOneBits),
        UnOp::BitReverse if s.bits() == 32 && s.is_int() => Plain::Math(MathFunction::ReverseBits),
        UnOp::Conj if !s.is_complex() => Plain::Same,
        UnOp::Not | UnOp::Neg | UnOp::Abs | UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint | UnOp::Conj => return None,
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse | UnOp::IsNan | UnOp::IsInf | UnOp::SignBit => return None,
    })
}

fn binary(op: BinOp, s: Scalar) -> Option<Plain> {
    let arithmetic = is_whole(s) || is_wide_float(s);
    let bitwise = s.is_int();
    let op = match op {
        BinOp::Add if arithmetic => B::Add,
        BinOp::Sub if arithmetic => B::Subtract,
        BinOp::Mul if arithmetic => B::Multiply,
        BinOp::Div if is_wide_float(s) => B::Divide,
        BinOp::And if bitwise || s == Scalar::Bool => B::And,
        BinOp::Or if bitwise || s == Scalar::Bool => B::InclusiveOr,
        BinOp::Xor if bitwise => B::ExclusiveOr,
        BinOp::Xor if s == Scalar::Bool => B::NotEqual,
        BinOp::Min if bitwise => return Some(Plain::Math(MathFunction::Min)),
        BinOp::Max if bitwise => return Some(Plain::Math(MathFunction::Max)),
        BinOp::Min if s == Scalar::Bool => B::And,
        BinOp::Max if s == Scalar::Bool => B::InclusiveOr,
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::FloorDiv | BinOp::Mod | BinOp::Rem | BinOp::IntPow => return None,
        BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr | BinOp::Min | BinOp::Max | BinOp::CopySign => return None,
    };
    Some(Plain::Binary(op))
}

fn comparison(op: CmpOp, s: Scalar) -> Option<B> {
    let bool = s == Scalar::Bool;
    if s.is_complex() || s.is_half() {
        return None;
    }
    Some(match op {
        CmpOp::Eq => B::Equal,
        CmpOp::Ne if !s.is_float() => B::NotEqual,
        CmpOp::Lt if !bool => B::Less,
        CmpOp::Le if !bool => B::LessEqual,
        CmpOp::Gt if !bool => B::Greater,
        CmpOp::Ge if !bool => B::GreaterEqual,
        CmpOp::Ne | CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge => return None,
    })
}

/// naga extends an integer by the sign of the result's type, not by the operand's.
fn conversion(from: Scalar, to: Scalar) -> Option<Plain> {
    let (held, wanted) = (register(from), register(to));
    let narrows = to.is_int() && to.bits() < 32;
    Some(match (from, to) {
        _ if from == to => Plain::Same,
        _ if from.is_complex() || to.is_complex() || from.is_half() || to.is_half() => return None,
        (Scalar::F32, Scalar::F64) | (Scalar::F64, Scalar::F32) => Plain::As(ScalarKind::Float, Some(wanted.width)),
        (Scalar::Bool, _) => Plain::As(wanted.kind, Some(wanted.width)),
        (_, Scalar::Bool) if from.is_int() => Plain::As(ScalarKind::Bool, Some(naga::BOOL_WIDTH)),
        _ if from.is_int() && to.is_float() => Plain::As(ScalarKind::Float, Some(wanted.width)),
        _ if from.is_float() || narrows && !holds(to, from) => return None,
        _ if held == wanted => Plain::Same,
        _ if held.kind == wanted.kind => Plain::As(wanted.kind, Some(wanted.width)),
        _ if held.width == wanted.width => Plain::As(wanted.kind, None),
        _ => return None,
    })
}

/// Every value of the one integer type is one of the other's.
fn holds(wide: Scalar, narrow: Scalar) -> bool {
    match (wide.is_signed(), narrow.is_signed()) {
        (false, true) => false,
        (true, false) => wide.bits() > narrow.bits(),
        _ => wide.bits() >= narrow.bits(),
    }
}

/// 8- and 16-bit integers must be brought into the register's form.
fn same_bits(from: Scalar, to: Scalar) -> Option<Plain> {
    if from == to || from.bits() == 16 && !from.is_signed() && !to.is_signed() {
        return Some(Plain::Same);
    }
    (from.bits() == to.bits() && from.bits() >= 32 && !from.is_complex() && !to.is_complex()).then(|| Plain::As(register(to).kind, None))
}
