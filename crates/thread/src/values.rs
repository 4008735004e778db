//! What an IR value is while it is written: a number, a view, a tuple of them; and where locals live.

use std::fmt::Debug;
use std::rc::Rc;

use weft_ir::{Layout, Scalar, ViewType};

use super::number::{Num, Register};

/// The types of what one kind of code is made of.
pub trait Machine: Copy + Debug {
    type Operand: Register;
    /// Memory of the thread's own for one number.
    type Variable: Copy + Debug;
    /// Where a view's first element lies.
    type Place: Clone + Debug;
    /// The variables that hold a place.
    type PlaceSlot: Clone + Debug;
    /// Where an element lies, and what else an access to it wants to know.
    type Address;

    /// As what variables hold strides: `i64`, or `i32` where they wrap.
    const STRIDE: Scalar;
}

#[derive(Clone, Debug)]
pub enum Val<M: Machine> {
    Num(Num<M::Operand>),
    View(Rc<View<M>>),
    Tuple(Vec<Val<M>>),
}

/// A window on an array.
#[derive(Clone, Debug)]
pub struct View<M: Machine> {
    pub ty: ViewType,
    pub place: M::Place,
    pub shape: Vec<Num<M::Operand>>,
    /// In the machine's unit; empty where the layout gives them.
    pub strides: Vec<Num<M::Operand>>,
}

impl<M: Machine> View<M> {
    /// A view of an array whose shape is known when it is compiled.
    pub fn fixed(ty: ViewType, place: M::Place, shape: &[u64]) -> View<M> {
        View {
            ty,
            place,
            shape: shape.iter().map(|n| Num::int(*n as i64)).collect(),
            strides: Vec::new(),
        }
    }

    /// A view of a type, with the strides only if the type needs them.
    pub fn of(ty: ViewType, place: M::Place, shape: Vec<Num<M::Operand>>, strides: Vec<Num<M::Operand>>) -> View<M> {
        let strides = if is_contiguous(ty.layout) { Vec::new() } else { strides };
        View { ty, place, shape, strides }
    }
}

/// Do a view's strides follow from its shape?
pub const fn is_contiguous(layout: Layout) -> bool {
    matches!(layout, Layout::C | Layout::F)
}

/// Where a local lives.
#[derive(Clone, Debug)]
pub enum Slot<M: Machine> {
    Number {
        variable: M::Variable,
        /// An `i64` that is held in 32 bits.
        short: bool,
    },
    View {
        ty: ViewType,
        place: M::PlaceSlot,
        shape: Vec<M::Variable>,
        strides: Vec<M::Variable>,
        /// Lengths are held in 32 bits.
        short: bool,
    },
}
