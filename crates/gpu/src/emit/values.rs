//! What an IR value is while it is written: a number, or a view.

use std::rc::Rc;

use weft_ir::{Layout, ViewType};

use super::EmitError;
use super::func::Fx;
use super::number::Num;
use super::storage::StorageId;
use super::writer::{Operand, Ty};

pub type Res<T> = Result<T, EmitError>;

#[derive(Clone, Debug)]
pub enum Val {
    Num(Num),
    View(Rc<View>),
}

/// A window on an array. Offset and strides are numbers of *parts* (a part of a complex element is its real or imaginary one), 32 bits
/// that wrap: since no storage has 2³² bytes, what comes out of them for an element that exists is right.
#[derive(Clone, Debug)]
pub struct View {
    pub ty: ViewType,
    pub base: Base,
    /// The part that is first.
    pub offset: Operand,
    pub shape: Vec<Num>,
    /// `i32`s; empty where the layout gives them.
    pub strides: Vec<Operand>,
}

/// In which storage a view lies.
#[derive(Clone, Debug)]
pub enum Base {
    One(StorageId),
    /// Known at run time: a `u32`, the storage's number. The storages are those it may be.
    Any(Rc<[StorageId]>, Operand),
}

/// Do a view's strides follow from its shape?
pub const fn is_contiguous(layout: Layout) -> bool {
    matches!(layout, Layout::C | Layout::F)
}

/// Parts of an element: two of complex numbers.
pub const fn parts(ty: ViewType) -> i64 {
    (ty.elem.size() / ty.elem.part().size()) as i64
}

impl Fx<'_> {
    /// A view's strides, as far as its layout leaves them open also computed from the shape.
    pub fn strides(&mut self, view: &View) -> Vec<Operand> {
        let size = Ty::I32.int(parts(view.ty));
        let rank = view.shape.len();
        let mut strides = vec![size; rank];
        match view.ty.layout {
            Layout::C => {
                for axis in (1..rank).rev() {
                    strides[axis - 1] = self.steps(strides[axis], view.shape[axis]);
                }
            }
            Layout::F => {
                for axis in 1..rank {
                    strides[axis] = self.steps(strides[axis - 1], view.shape[axis - 1]);
                }
            }
            Layout::Row | Layout::Any => return view.strides.clone(),
        }
        strides
    }

    /// `n` strides.
    pub fn steps(&mut self, stride: Operand, n: Num) -> Operand {
        let n = self.take_short(n);
        self.mul32(n, stride)
    }

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
