//! What registers, variables and views are in naga's modules.

use std::rc::Rc;

use weft_ir::{Scalar, ViewType};
use weft_thread::{Machine, Register};

use super::EmitError;
use super::func::Fx;
use super::operand::{Operand, Ty, Variable};
use super::storage::StorageId;

pub type Res<T> = Result<T, EmitError>;
pub type Num = weft_thread::Num<Operand>;
pub type Val = weft_thread::Val<Naga>;
pub type View = weft_thread::View<Naga>;

#[derive(Clone, Copy, Debug)]
pub struct Naga;

impl Machine for Naga {
    type Operand = Operand;
    type Variable = Variable;
    type Place = Place;
    type PlaceSlot = PlaceSlot;
    /// The number of a part in its storage, 32 bits that wrap.
    type Address = Operand;

    /// Parts.
    const STRIDE: Scalar = Scalar::I32;
}

/// Where a view lies. Offset and strides are numbers of *parts* (a part of a complex element is its real or imaginary one), 32 bits
/// that wrap: since no storage has 2³² bytes, what comes out of them for an element that exists is right.
#[derive(Clone, Debug)]
pub struct Place {
    pub base: Base,
    /// The part that is first.
    pub offset: Operand,
}

/// In which storage a view lies.
#[derive(Clone, Debug)]
pub enum Base {
    One(StorageId),
    /// Known at run time: a `u32`, the storage's number. The storages are those it may be.
    Any(Rc<[StorageId]>, Operand),
}

/// The variables of a place: which storage it is, if there are several, and the offset.
#[derive(Clone, Debug)]
pub struct PlaceSlot {
    pub storages: Rc<[StorageId]>,
    pub which: Option<Variable>,
    pub offset: Variable,
}

/// Parts of an element: two of complex numbers.
pub const fn parts(ty: ViewType) -> i64 {
    (ty.elem.size() / ty.elem.part().size()) as i64
}

impl Register for Operand {
    fn constant(s: Scalar, v: i64) -> Operand {
        Ty::of(s).int(v)
    }

    fn truth(holds: bool) -> Operand {
        Operand::bool(holds)
    }

    fn float_constant(s: Scalar, bits: u64) -> Operand {
        Operand::bits(Ty::of(s), bits)
    }

    fn known(self) -> Option<i64> {
        self.known()
    }

    fn is_i64(self) -> bool {
        self.ty == Ty::I64
    }
}

impl Fx<'_> {
    pub fn mul32(&mut self, a: Operand, b: Operand) -> Operand {
        match (a.known(), b.known()) {
            (Some(x), Some(y)) => Ty::I32.int(x.wrapping_mul(y)),
            (Some(0), _) | (_, Some(1)) => a,
            (_, Some(0)) | (Some(1), _) => b,
            _ => self.w.binary(naga::BinaryOperator::Multiply, a, b),
        }
    }

    pub fn add32(&mut self, a: Operand, b: Operand) -> Operand {
        match (a.known(), b.known()) {
            (Some(x), Some(y)) => Ty::I32.int(x.wrapping_add(y)),
            (_, Some(0)) => a,
            (Some(0), _) => b,
            _ => self.w.binary(naga::BinaryOperator::Add, a, b),
        }
    }
}
