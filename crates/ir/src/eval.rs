//! Arithmetic on constants: what every operation means, exactly. The interpreter and constant folding share it.
//!
//! Every function gives nothing when the operation is not defined for the operands' types, which the verifier rules out.

mod cast;
mod float;
mod half;
mod int;

pub use cast::{bitcast, cast};

use crate::module::ReduceOp;
use crate::op::{AtomicOp, BinOp, CmpOp, Const, UnOp};
use crate::types::Scalar;

/// A number of any kind, unpacked from its bits.
#[derive(Clone, Copy, Debug)]
enum Num {
    Bool(bool),
    Int(Scalar, i64),
    /// A 16-bit float, which float32 holds exactly.
    Half(Scalar, f32),
    F32(f32),
    F64(f64),
    C64([f32; 2]),
    C128([f64; 2]),
}

impl From<Const> for Num {
    fn from(c: Const) -> Num {
        match c {
            Const::Bool(b) => Num::Bool(b),
            Const::Int(s, v) => Num::Int(s, v),
            Const::F16(b) => half::of_f16(b),
            Const::BF16(b) => half::of_bf16(b),
            Const::F32(b) => Num::F32(f32::from_bits(b)),
            Const::F64(b) => Num::F64(f64::from_bits(b)),
            Const::C64(re, im) => Num::C64([f32::from_bits(re), f32::from_bits(im)]),
            Const::C128(re, im) => Num::C128([f64::from_bits(re), f64::from_bits(im)]),
        }
    }
}

impl From<Num> for Const {
    fn from(n: Num) -> Const {
        match n {
            Num::Bool(b) => Const::Bool(b),
            Num::Int(s, v) => Const::Int(s, s.wrap(v)),
            Num::Half(s, x) => half::round(s, x.into()),
            Num::F32(x) => Const::f32(x),
            Num::F64(x) => Const::f64(x),
            Num::C64([re, im]) => Const::C64(re.to_bits(), im.to_bits()),
            Num::C128([re, im]) => Const::C128(re.to_bits(), im.to_bits()),
        }
    }
}

/// The zero of a type.
pub fn zero(scalar: Scalar) -> Const {
    match scalar {
        Scalar::Bool => Const::Bool(false),
        Scalar::F16 => Const::F16(0),
        Scalar::BF16 => Const::BF16(0),
        Scalar::F32 => Const::F32(0),
        Scalar::F64 => Const::F64(0),
        Scalar::C64 => Const::C64(0, 0),
        Scalar::C128 => Const::C128(0, 0),
        int => Const::Int(int, 0),
    }
}

pub fn unary(op: UnOp, a: Const) -> Option<Const> {
    match Num::from(a) {
        Num::Bool(b) if op == UnOp::Not => Some(Const::Bool(!b)),
        Num::Bool(_) => None,
        Num::Int(s, v) => int::unary(op, s, v).map(|v| Num::Int(s, v).into()),
        Num::Half(s, x) => float::unary(op, x)
            .map(|x| Num::Half(s, x).into())
            .or_else(|| float::test(op, x.into())),
        Num::F32(x) => float::unary(op, x).map(Const::f32).or_else(|| float::test(op, x.into())),
        Num::F64(x) => float::unary(op, x).map(Const::f64).or_else(|| float::test(op, x)),
        Num::C64(z) => float::complex_unary(op, z).map(|z| Num::C64(z).into()),
        Num::C128(z) => float::complex_unary(op, z).map(|z| Num::C128(z).into()),
    }
}

pub fn binary(op: BinOp, a: Const, b: Const) -> Option<Const> {
    let result = match (Num::from(a), Num::from(b)) {
        (Num::Bool(a), Num::Bool(b)) => Num::Bool(int::logical(op, a, b)?),
        (Num::Int(s, a), Num::Int(t, b)) => Num::Int(s, int::binary(op, s, a, t, b)?),
        (Num::Half(s, a), Num::Half(t, b)) if s == t => Num::Half(s, float::binary(op, a, b)?),
        (Num::F32(a), Num::F32(b)) => Num::F32(float::binary(op, a, b)?),
        (Num::F64(a), Num::F64(b)) => Num::F64(float::binary(op, a, b)?),
        (Num::C64(a), Num::C64(b)) => Num::C64(float::complex_binary(op, a, b)?),
        (Num::C128(a), Num::C128(b)) => Num::C128(float::complex_binary(op, a, b)?),
        _ => return None,
    };
    Some(result.into())
}

pub fn compare(op: CmpOp, a: Const, b: Const) -> Option<bool> {
    match (Num::from(a), Num::from(b)) {
        (Num::Bool(a), Num::Bool(b)) => Some(ordered(op, &a, &b)),
        (Num::Int(s, a), Num::Int(t, b)) if s == t => Some(match s {
            Scalar::U64 => ordered(op, &(a as u64), &(b as u64)),
            _ => ordered(op, &a, &b),
        }),
        (Num::Half(s, a), Num::Half(t, b)) if s == t => Some(ordered(op, &a, &b)),
        (Num::F32(a), Num::F32(b)) => Some(ordered(op, &a, &b)),
        (Num::F64(a), Num::F64(b)) => Some(ordered(op, &a, &b)),
        (Num::C64(a), Num::C64(b)) => equal(op, a == b),
        (Num::C128(a), Num::C128(b)) => equal(op, a == b),
        _ => None,
    }
}

fn ordered<T: PartialOrd>(op: CmpOp, a: &T, b: &T) -> bool {
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Lt => a < b,
        CmpOp::Le => a <= b,
        CmpOp::Gt => a > b,
        CmpOp::Ge => a >= b,
    }
}

fn equal(op: CmpOp, equal: bool) -> Option<bool> {
    match op {
        CmpOp::Eq => Some(equal),
        CmpOp::Ne => Some(!equal),
        CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge => None,
    }
}

/// `a * b + c` with one rounding.
pub fn fma(a: Const, b: Const, c: Const) -> Option<Const> {
    match (Num::from(a), Num::from(b), Num::from(c)) {
        (Num::Half(s, a), Num::Half(t, b), Num::Half(u, c)) if s == t && t == u => Some(half::fma(s, a, b, c)),
        (Num::F32(a), Num::F32(b), Num::F32(c)) => Some(Const::f32(a.mul_add(b, c))),
        (Num::F64(a), Num::F64(b), Num::F64(c)) => Some(Const::f64(a.mul_add(b, c))),
        _ => None,
    }
}

pub fn complex(re: Const, im: Const) -> Option<Const> {
    match (re, im) {
        (Const::F32(re), Const::F32(im)) => Some(Const::C64(re, im)),
        (Const::F64(re), Const::F64(im)) => Some(Const::C128(re, im)),
        _ => None,
    }
}

/// The real and the imaginary part of a complex number.
pub fn parts(a: Const) -> Option<(Const, Const)> {
    match a {
        Const::C64(re, im) => Some((Const::F32(re), Const::F32(im))),
        Const::C128(re, im) => Some((Const::F64(re), Const::F64(im))),
        _ => None,
    }
}

/// What an element becomes. `Cas` compares bits.
pub fn atomic(op: AtomicOp, old: Const, value: Const, expected: Option<Const>) -> Option<Const> {
    match op {
        AtomicOp::Add => binary(BinOp::Add, old, value),
        AtomicOp::Sub => binary(BinOp::Sub, old, value),
        AtomicOp::Min | AtomicOp::Max | AtomicOp::NanMin | AtomicOp::NanMax => {
            let least = matches!(op, AtomicOp::Min | AtomicOp::NanMin);
            let better = compare(if least { CmpOp::Gt } else { CmpOp::Lt }, old, value)?;
            let missing = matches!(op, AtomicOp::NanMin | AtomicOp::NanMax) && compare(CmpOp::Ne, old, old)?;
            Some(if better || missing { value } else { old })
        }
        AtomicOp::And => binary(BinOp::And, old, value),
        AtomicOp::Or => binary(BinOp::Or, old, value),
        AtomicOp::Xor => binary(BinOp::Xor, old, value),
        AtomicOp::Exch => Some(value),
        AtomicOp::Inc if compare(CmpOp::Ge, old, value)? => Some(zero(old.scalar())),
        AtomicOp::Inc => binary(BinOp::Add, old, cast(Const::i64(1), old.scalar())?),
        AtomicOp::Dec if old == zero(old.scalar()) || compare(CmpOp::Gt, old, value)? => Some(value),
        AtomicOp::Dec => binary(BinOp::Sub, old, cast(Const::i64(1), old.scalar())?),
        AtomicOp::Cas => Some(if expected? == old { value } else { old }),
    }
}

impl ReduceOp {
    pub const fn binary(self) -> BinOp {
        match self {
            ReduceOp::Add => BinOp::Add,
            ReduceOp::Mul => BinOp::Mul,
            ReduceOp::Min => BinOp::Min,
            ReduceOp::Max => BinOp::Max,
            ReduceOp::And => BinOp::And,
            ReduceOp::Or => BinOp::Or,
            ReduceOp::Xor => BinOp::Xor,
        }
    }

    /// The value every other is combined with unchanged; a float sum starts from -0.0. Nothing where the reduction is not defined.
    pub fn identity(self, scalar: Scalar) -> Option<Const> {
        let of_int = |v: i64| cast(Const::i64(v), scalar);
        match self {
            ReduceOp::Add => match scalar {
                Scalar::Bool => None,
                float if float.is_float() => cast(Const::f64(-0.0), float),
                Scalar::C64 => Some(Const::C64((-0.0f32).to_bits(), (-0.0f32).to_bits())),
                Scalar::C128 => Some(Const::C128((-0.0f64).to_bits(), (-0.0f64).to_bits())),
                _ => Some(zero(scalar)),
            },
            ReduceOp::Mul if scalar != Scalar::Bool => of_int(1),
            ReduceOp::Min => limit(scalar, true),
            ReduceOp::Max => limit(scalar, false),
            ReduceOp::And if scalar == Scalar::Bool => Some(Const::Bool(true)),
            ReduceOp::And if scalar.is_int() => of_int(-1),
            ReduceOp::Or | ReduceOp::Xor if scalar == Scalar::Bool || scalar.is_int() => Some(zero(scalar)),
            _ => None,
        }
    }
}

/// The largest or smallest value of a type, infinities included.
fn limit(scalar: Scalar, largest: bool) -> Option<Const> {
    let sign = if largest { 1.0 } else { -1.0 };
    Some(match scalar {
        Scalar::Bool => Const::Bool(largest),
        float if float.is_float() => return cast(Const::f64(sign * f64::INFINITY), float),
        Scalar::C64 | Scalar::C128 => return None,
        int if int.is_signed() => {
            let max = i64::MAX >> (64 - int.bits());
            Const::Int(int, if largest { max } else { !max })
        }
        int => Const::Int(int, if largest { int.wrap(-1) } else { 0 }),
    })
}
