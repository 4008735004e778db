//! What an IR value is while it is written: uniform, affine, strided or varying numbers, views of them, tuples; and where a local lives.

use std::rc::Rc;

use weft_ir::{Scalar, ViewType};

use super::target::EmitError;
use super::writer::{Elem, Operand};

pub type Res<T> = Result<T, EmitError>;

/// A scalar of the IR across the lanes of a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Num {
    /// The same in every lane: one scalar.
    Uniform(Operand),
    /// Lane `k` holds `base + k * step`; `i64` only.
    Affine(Operand, i64),
    /// The same with a step that only the run tells: two scalars until somebody asks for the vector.
    Strided(Operand, Operand),
    /// One vector.
    Varying(Operand),
}

impl Num {
    pub const fn int(v: i64) -> Num {
        Num::Uniform(Operand::Int(v))
    }

    pub const fn is_uniform(self) -> bool {
        matches!(self, Num::Uniform(_))
    }

    pub const fn const_int(self) -> Option<i64> {
        match self {
            Num::Uniform(op) => op.int(),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Val {
    Num(Num),
    View(Rc<ViewVal>),
    Tuple(Vec<Val>),
}

/// A view: element `i, j, …` lies `offset + i * strides[0] + j * strides[1] + …` bytes after `base`.
#[derive(Clone, Debug)]
pub struct ViewVal {
    pub ty: ViewType,
    pub base: Operand,
    pub offset: Num,
    pub shape: Vec<Num>,
    pub strides: Vec<Num>,
    /// Bytes between neighbouring elements of a C-contiguous view: the element size, times the lanes in local arrays.
    pub pitch: i64,
}

/// Where a local lives.
#[derive(Clone, Debug)]
pub enum Slot {
    /// One scalar for all lanes; with a step, lane `k` is that scalar plus `k * step`.
    Shared { ptr: Operand, elem: Elem, step: i64 },
    /// One value a lane.
    Lanes { ptr: Operand, elem: Elem },
    /// A view: base address, offset, shape and strides, each in its own slot.
    View {
        ty: ViewType,
        pitch: i64,
        base: Operand,
        parts: Vec<Slot>,
    },
}

/// How a scalar sits in a register.
pub fn elem(s: Scalar) -> Elem {
    match s {
        Scalar::Bool => Elem::I1,
        Scalar::I8 | Scalar::U8 => Elem::I8,
        Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::BF16 => Elem::I16,
        Scalar::I32 | Scalar::U32 => Elem::I32,
        Scalar::I64 | Scalar::U64 => Elem::I64,
        Scalar::F32 | Scalar::C64 => Elem::F32,
        Scalar::F64 | Scalar::C128 => Elem::F64,
    }
}

/// How a scalar sits in memory: a bool takes a byte.
pub fn memory_elem(s: Scalar) -> Elem {
    match elem(s) {
        Elem::I1 => Elem::I8,
        other => other,
    }
}
