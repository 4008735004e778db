//! What registers and variables hold in naga's modules, and operands: constants and expressions.

use naga::{Expression, Handle};
use weft_ir::Scalar;

/// What a register holds. Integers below 32 bits are held in 32, extended as their sign says; 16-bit floats as their bits in a `u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Ty {
    pub const fn of(s: Scalar) -> Ty {
        match s {
            Scalar::Bool => Ty::Bool,
            Scalar::I8 | Scalar::I16 | Scalar::I32 => Ty::I32,
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::F16 | Scalar::BF16 => Ty::U32,
            Scalar::I64 => Ty::I64,
            Scalar::U64 => Ty::U64,
            Scalar::F32 | Scalar::C64 => Ty::F32,
            Scalar::F64 | Scalar::C128 => Ty::F64,
        }
    }

    /// As what a value is kept in memory, which holds no bools.
    pub const fn in_memory(s: Scalar) -> Ty {
        match s {
            Scalar::Bool => Ty::U32,
            _ => Ty::of(s),
        }
    }

    pub const fn bytes(self) -> u32 {
        match self {
            Ty::Bool | Ty::I32 | Ty::U32 | Ty::F32 => 4,
            Ty::I64 | Ty::U64 | Ty::F64 => 8,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::I32 | Ty::I64)
    }

    /// The unsigned integer of as many bits.
    pub const fn unsigned(self) -> Ty {
        if self.bytes() == 8 { Ty::U64 } else { Ty::U32 }
    }

    pub const fn signed(self) -> Ty {
        if self.bytes() == 8 { Ty::I64 } else { Ty::I32 }
    }

    pub const fn naga(self) -> naga::Scalar {
        match self {
            Ty::Bool => naga::Scalar::BOOL,
            Ty::I32 => naga::Scalar::I32,
            Ty::U32 => naga::Scalar::U32,
            Ty::I64 => naga::Scalar::I64,
            Ty::U64 => naga::Scalar::U64,
            Ty::F32 => naga::Scalar::F32,
            Ty::F64 => naga::Scalar::F64,
        }
    }

    /// An integer constant; what does not fit keeps its low bits.
    pub const fn int(self, v: i64) -> Operand {
        let bits = if self.bytes() == 4 { v as u32 as u64 } else { v as u64 };
        Operand {
            ty: self,
            what: What::Known(bits),
        }
    }
}

/// A value while it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    pub ty: Ty,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A constant by its bits.
    Known(u64),
    Expr(Handle<Expression>),
}

impl Operand {
    pub const fn new(ty: Ty, expr: Handle<Expression>) -> Operand {
        Operand {
            ty,
            what: What::Expr(expr),
        }
    }

    pub const fn bool(b: bool) -> Operand {
        Operand {
            ty: Ty::Bool,
            what: What::Known(b as u64),
        }
    }

    pub const fn bits(ty: Ty, bits: u64) -> Operand {
        Operand {
            ty,
            what: What::Known(bits),
        }
    }

    /// The value of an integer constant, in 64 bits.
    pub const fn known(self) -> Option<i64> {
        match (self.what, self.ty) {
            (What::Known(bits), Ty::I32) => Some(bits as i32 as i64),
            (What::Known(bits), Ty::Bool | Ty::U32 | Ty::I64 | Ty::U64) => Some(bits as i64),
            _ => None,
        }
    }
}

/// A variable that holds a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    pub ty: Ty,
    pub pointer: Handle<Expression>,
}
