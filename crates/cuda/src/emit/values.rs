//! What an IR value is while it is written: a number, a view, a tuple of them.

use std::rc::Rc;

use weft_ir::{BinOp, Layout, ViewType};

use super::EmitError;
use super::func::Fx;
use super::number::Num;
use super::writer::Operand;

pub type Res<T> = Result<T, EmitError>;

#[derive(Clone, Debug)]
pub enum Val {
    Num(Num),
    View(Rc<View>),
    Tuple(Vec<Val>),
}

/// A window on an array.
#[derive(Clone, Debug)]
pub struct View {
    pub ty: ViewType,
    /// Address of the first element.
    pub base: Operand,
    pub shape: Vec<Num>,
    /// Bytes, as `i64`s; empty where the layout gives them.
    pub strides: Vec<Num>,
    /// Element numbers of a contiguous array fit 32 bits.
    pub short: bool,
    /// Bytes every element's address is a multiple of.
    pub align: usize,
}

/// Do a view's strides follow from its shape?
pub const fn is_contiguous(layout: Layout) -> bool {
    matches!(layout, Layout::C | Layout::F)
}

impl Fx<'_, '_> {
    /// A view's strides in bytes, as far as its layout leaves them open also computed from the shape.
    pub fn strides(&mut self, view: &View) -> Vec<Num> {
        let size = Num::int(view.ty.elem.size() as i64);
        let rank = view.shape.len();
        let mut strides = vec![size; rank];
        match view.ty.layout {
            Layout::C => {
                for axis in (1..rank).rev() {
                    strides[axis - 1] = self.whole(BinOp::Mul, strides[axis], view.shape[axis]);
                }
            }
            Layout::F => {
                for axis in 1..rank {
                    strides[axis] = self.whole(BinOp::Mul, strides[axis - 1], view.shape[axis - 1]);
                }
            }
            Layout::Row | Layout::Any => return view.strides.clone(),
        }
        strides
    }

    /// A view of a type, with the strides only if the type needs them.
    pub fn viewed(&self, ty: ViewType, base: Operand, shape: Vec<Num>, strides: Vec<Num>, of: &View) -> View {
        View {
            ty,
            base,
            shape,
            strides: if is_contiguous(ty.layout) { Vec::new() } else { strides },
            short: of.short,
            align: of.align,
        }
    }
}
