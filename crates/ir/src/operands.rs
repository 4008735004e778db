//! What is asked of a field of an operation or statement, whatever it is: the walks over operands are made of it.

use crate::module::{ArrayId, ConstId, FuncId, Local, PrintItem, Value};
use crate::op::{AtomicOp, AxisSlice, BarrierOp, BinOp, CmpOp, Const, Geometry, Index, Part, UnOp, WarpOp};

/// A field of an operation or statement.
pub(crate) trait Operands {
    /// Calls `f` with every value in it, in order.
    fn values(&self, _f: &mut dyn FnMut(Value)) {}
    fn values_mut(&mut self, _f: &mut dyn FnMut(&mut Value)) {}

    /// The name of an operator, which is that of the operation.
    fn operator(&self) -> Option<&'static str> {
        None
    }
}

impl Operands for Value {
    fn values(&self, f: &mut dyn FnMut(Value)) {
        f(*self);
    }

    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        f(self);
    }
}

impl Operands for Index {
    fn values(&self, f: &mut dyn FnMut(Value)) {
        f(self.value);
    }

    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        f(&mut self.value);
    }
}

impl Operands for AxisSlice {
    fn values(&self, f: &mut dyn FnMut(Value)) {
        match self {
            AxisSlice::At(index) => f(index.value),
            AxisSlice::Range { start, len, step } => [start, len, step].into_iter().for_each(|v| f(*v)),
            AxisSlice::Full | AxisSlice::New => {}
        }
    }

    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        match self {
            AxisSlice::At(index) => f(&mut index.value),
            AxisSlice::Range { start, len, step } => [start, len, step].into_iter().for_each(f),
            AxisSlice::Full | AxisSlice::New => {}
        }
    }
}

impl Operands for PrintItem {
    fn values(&self, f: &mut dyn FnMut(Value)) {
        match self {
            PrintItem::Text(_) => {}
            PrintItem::Value(value) => f(*value),
            PrintItem::Complex(re, im) => [re, im].into_iter().for_each(|v| f(*v)),
        }
    }

    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        match self {
            PrintItem::Text(_) => {}
            PrintItem::Value(value) => f(value),
            PrintItem::Complex(re, im) => [re, im].into_iter().for_each(f),
        }
    }
}

impl<T: Operands> Operands for Option<T> {
    fn values(&self, f: &mut dyn FnMut(Value)) {
        self.iter().for_each(|item| item.values(f));
    }

    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        self.iter_mut().for_each(|item| item.values_mut(f));
    }
}

impl<T: Operands> Operands for Vec<T> {
    fn values(&self, f: &mut dyn FnMut(Value)) {
        self.iter().for_each(|item| item.values(f));
    }

    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        self.iter_mut().for_each(|item| item.values_mut(f));
    }
}

macro_rules! operators {
    ($($ty:ident by $name:ident),*) => {$(
        impl Operands for $ty {
            fn operator(&self) -> Option<&'static str> {
                Some(self.$name())
            }
        }
    )*};
}

operators!(UnOp by name, BinOp by name, CmpOp by name, AtomicOp by name, WarpOp by name, BarrierOp by name, Geometry by base_name);

macro_rules! attributes {
    ($($ty:ty),*) => { $(impl Operands for $ty {})* };
}

attributes!(Const, Local, Part, FuncId, ArrayId, ConstId, bool, u8, u32);
