//! Values at run time: scalars, views, tuples.

use std::sync::Arc;

use super::memory::BufferId;
use crate::eval;
use crate::op::Const;
use crate::types::{Layout, Scalar, Type, ViewType};

#[derive(Clone, Debug, PartialEq)]
pub enum RtValue {
    Scalar(Const),
    View(Arc<View>),
    Tuple(Arc<[RtValue]>),
    /// What a local holds before it is set, in checked mode.
    Undefined,
}

/// A window on a buffer: element `i, j` lies at byte `offset + i * strides[0] + j * strides[1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub buffer: BufferId,
    pub offset: i64,
    pub shape: Vec<i64>,
    /// In bytes.
    pub strides: Vec<i64>,
    /// The name messages use: the parameter, array or value it came from.
    pub name: Option<Arc<str>>,
}

impl RtValue {
    pub fn unit() -> RtValue {
        RtValue::Tuple(Arc::from([]))
    }

    pub fn bool(value: bool) -> RtValue {
        RtValue::Scalar(Const::Bool(value))
    }

    pub fn i64(value: i64) -> RtValue {
        RtValue::Scalar(Const::i64(value))
    }

    pub fn f64(value: f64) -> RtValue {
        RtValue::Scalar(Const::f64(value))
    }

    pub fn scalar(&self) -> Option<Const> {
        match self {
            RtValue::Scalar(c) => Some(*c),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        match self {
            RtValue::Scalar(Const::Int(Scalar::I64, v)) => Some(*v),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            RtValue::Scalar(Const::Bool(b)) => Some(*b),
            _ => None,
        }
    }

    pub fn as_view(&self) -> Option<&Arc<View>> {
        match self {
            RtValue::View(view) => Some(view),
            _ => None,
        }
    }

    /// Does the value have the type, as far as a value shows it? Element types and spaces of views are the caller's word.
    pub(super) fn fits(&self, ty: &Type) -> bool {
        match (self, ty) {
            (RtValue::Scalar(c), Type::Scalar(s)) => c.scalar() == *s,
            (RtValue::View(view), Type::View(ty)) => view.shape.len() == ty.rank as usize && view.strides.len() == view.shape.len(),
            (RtValue::Tuple(items), Type::Tuple(types)) => {
                items.len() == types.len() && items.iter().zip(types).all(|(item, ty)| item.fits(ty))
            }
            _ => false,
        }
    }

    /// The value of a local nothing has set, in unchecked mode.
    pub(super) fn zero(ty: &Type) -> RtValue {
        match ty {
            Type::Scalar(s) => RtValue::Scalar(eval::zero(*s)),
            Type::View(v) => RtValue::View(Arc::new(View::contiguous(BufferId::NONE, v.elem, &vec![0; v.rank as usize]))),
            Type::Tuple(items) => RtValue::Tuple(items.iter().map(RtValue::zero).collect()),
        }
    }
}

impl View {
    pub fn contiguous(buffer: BufferId, elem: Scalar, shape: &[i64]) -> View {
        let mut strides = vec![0; shape.len()];
        let mut stride = elem.size() as i64;
        for (axis, len) in shape.iter().enumerate().rev() {
            strides[axis] = stride;
            stride = stride.saturating_mul(*len);
        }
        View {
            buffer,
            offset: 0,
            shape: shape.to_vec(),
            strides,
            name: None,
        }
    }

    pub fn named(mut self, name: &str) -> View {
        self.name = Some(name.into());
        self
    }

    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("the array")
    }

    /// Is the view laid out as its type says? The stride of an axis of length 0 or 1 does not matter, nor any of an empty view.
    pub fn has_layout(&self, ty: &ViewType) -> bool {
        let size = ty.elem.size() as i64;
        if self.shape.contains(&0) {
            return true;
        }
        let mut axes = self.shape.iter().zip(&self.strides);
        match ty.layout {
            Layout::Any => true,
            Layout::Row => axes.next_back().is_none_or(|(len, stride)| *len == 1 || *stride == size),
            Layout::C => packed(axes.rev(), size),
            Layout::F => packed(axes, size),
        }
    }
}

/// Does every axis start where the one before it ends?
fn packed<'a>(axes: impl Iterator<Item = (&'a i64, &'a i64)>, size: i64) -> bool {
    let mut expected = size;
    for (len, stride) in axes {
        if *len != 1 && *stride != expected {
            return false;
        }
        expected = expected.saturating_mul(*len);
    }
    true
}
