//! What is asked of a field of an operation or statement, whatever it is: the walks are made of it.

use std::convert::Infallible;

use crate::module::{ArrayId, Block, ConstId, ErrorKind, FenceScope, FuncId, Id, Label, Local, PrintItem, Reduction, Spread, Value};
use crate::op::{AxisSlice, Const, Geometry, Index, Libm, Op, Part, Routine, ThreadState};
use crate::table::{AtomicOp, BarrierOp, BinOp, CmpOp, Effect, UnOp, WarpOp};
use crate::types::Scalar;

/// A field of an operation or statement. Most hold nothing of what is asked for.
pub(crate) trait Field {
    /// Calls `f` with every value in it, in order, until it fails. Nested blocks are left out here and below.
    fn try_values<E, F: FnMut(Value) -> Result<(), E>>(&self, _f: &mut F) -> Result<(), E> {
        Ok(())
    }

    fn values(&self, f: &mut dyn FnMut(Value)) {
        let Ok(()) = self.try_values::<Infallible, _>(&mut |value| {
            f(value);
            Ok(())
        });
    }

    fn values_mut(&mut self, _f: &mut dyn FnMut(&mut Value)) {}

    /// Calls `f` with every entry of an index list in it.
    fn indices(&self, _f: &mut dyn FnMut(&Index)) {}
    fn indices_mut(&mut self, _f: &mut dyn FnMut(&mut Index)) {}

    /// Calls `f` with every local that a statement sets by it.
    fn sets(&self, _f: &mut dyn FnMut(Local)) {}

    /// Calls `f` with everything else in it that has a number in its function.
    fn ids_mut(&mut self, _f: &mut dyn FnMut(Id<'_>)) {}

    fn block(&self) -> Option<&Block> {
        None
    }
    fn block_mut(&mut self) -> Option<&mut Block> {
        None
    }

    /// The function that is called.
    fn callee(&self) -> Option<FuncId> {
        None
    }

    /// The name of an operator, which is that of its operation.
    fn operator(&self) -> Option<&'static str> {
        None
    }

    /// The effect of an operation, which is that of its statement.
    fn inner_effect(&self) -> Option<Effect> {
        None
    }
}

impl Field for Value {
    #[inline(always)]
    fn try_values<E, F: FnMut(Value) -> Result<(), E>>(&self, f: &mut F) -> Result<(), E> {
        f(*self)
    }
    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        f(self);
    }
}

impl Field for Index {
    fn try_values<E, F: FnMut(Value) -> Result<(), E>>(&self, f: &mut F) -> Result<(), E> {
        f(self.value)
    }
    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        f(&mut self.value);
    }
    fn indices(&self, f: &mut dyn FnMut(&Index)) {
        f(self);
    }
    fn indices_mut(&mut self, f: &mut dyn FnMut(&mut Index)) {
        f(self);
    }
}

impl Field for AxisSlice {
    fn try_values<E, F: FnMut(Value) -> Result<(), E>>(&self, f: &mut F) -> Result<(), E> {
        match self {
            AxisSlice::At(index) => f(index.value),
            AxisSlice::Range { start, len, step } => [start, len, step].into_iter().try_for_each(|v| f(*v)),
            AxisSlice::Full | AxisSlice::New => Ok(()),
        }
    }
    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        match self {
            AxisSlice::At(index) => f(&mut index.value),
            AxisSlice::Range { start, len, step } => [start, len, step].into_iter().for_each(f),
            AxisSlice::Full | AxisSlice::New => {}
        }
    }
    fn indices(&self, f: &mut dyn FnMut(&Index)) {
        match self {
            AxisSlice::At(index) => f(index),
            AxisSlice::Range { .. } | AxisSlice::Full | AxisSlice::New => {}
        }
    }
    fn indices_mut(&mut self, f: &mut dyn FnMut(&mut Index)) {
        match self {
            AxisSlice::At(index) => f(index),
            AxisSlice::Range { .. } | AxisSlice::Full | AxisSlice::New => {}
        }
    }
}

impl Field for PrintItem {
    fn try_values<E, F: FnMut(Value) -> Result<(), E>>(&self, f: &mut F) -> Result<(), E> {
        match self {
            PrintItem::Text(_) => Ok(()),
            PrintItem::Value(value) => f(*value),
            PrintItem::Complex(re, im) => [re, im].into_iter().try_for_each(|v| f(*v)),
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

impl Field for Op {
    fn try_values<E, F: FnMut(Value) -> Result<(), E>>(&self, f: &mut F) -> Result<(), E> {
        let mut result = Ok(());
        self.operands(&mut |value| {
            if result.is_ok() {
                result = f(value);
            }
        });
        result
    }
    fn values(&self, f: &mut dyn FnMut(Value)) {
        self.operands(f);
    }
    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        self.operands_mut(f);
    }
    fn ids_mut(&mut self, f: &mut dyn FnMut(Id<'_>)) {
        Op::ids_mut(self, f);
    }
    fn indices(&self, f: &mut dyn FnMut(&Index)) {
        Op::indices(self, f);
    }
    fn indices_mut(&mut self, f: &mut dyn FnMut(&mut Index)) {
        Op::indices_mut(self, f);
    }
    fn callee(&self) -> Option<FuncId> {
        self.function()
    }
    fn inner_effect(&self) -> Option<Effect> {
        Some(self.effect())
    }
}

impl<T: Field> Field for Option<T> {
    fn try_values<E, F: FnMut(Value) -> Result<(), E>>(&self, f: &mut F) -> Result<(), E> {
        self.iter().try_for_each(|item| item.try_values(f))
    }
    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        self.iter_mut().for_each(|item| item.values_mut(f));
    }
}

impl<T: Field> Field for Vec<T> {
    fn try_values<E, F: FnMut(Value) -> Result<(), E>>(&self, f: &mut F) -> Result<(), E> {
        self.iter().try_for_each(|item| item.try_values(f))
    }
    fn values_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        self.iter_mut().for_each(|item| item.values_mut(f));
    }
    fn ids_mut(&mut self, f: &mut dyn FnMut(Id<'_>)) {
        self.iter_mut().for_each(|item| item.ids_mut(f));
    }
    fn indices(&self, f: &mut dyn FnMut(&Index)) {
        self.iter().for_each(|item| item.indices(f));
    }
    fn indices_mut(&mut self, f: &mut dyn FnMut(&mut Index)) {
        self.iter_mut().for_each(|item| item.indices_mut(f));
    }
    fn sets(&self, f: &mut dyn FnMut(Local)) {
        self.iter().for_each(|item| item.sets(f));
    }
}

impl Field for Local {
    fn ids_mut(&mut self, f: &mut dyn FnMut(Id<'_>)) {
        f(Id::Local(self));
    }
    fn sets(&self, f: &mut dyn FnMut(Local)) {
        f(*self);
    }
}

impl Field for Reduction {
    fn ids_mut(&mut self, f: &mut dyn FnMut(Id<'_>)) {
        f(Id::Local(&mut self.local));
    }
    fn sets(&self, f: &mut dyn FnMut(Local)) {
        f(self.local);
    }
}

impl Field for ArrayId {
    fn ids_mut(&mut self, f: &mut dyn FnMut(Id<'_>)) {
        f(Id::Array(self));
    }
}

impl Field for Label {
    fn ids_mut(&mut self, f: &mut dyn FnMut(Id<'_>)) {
        f(Id::Label(self));
    }
}

impl Field for Block {
    fn block(&self) -> Option<&Block> {
        Some(self)
    }
    fn block_mut(&mut self) -> Option<&mut Block> {
        Some(self)
    }
}

impl Field for FuncId {
    fn callee(&self) -> Option<FuncId> {
        Some(*self)
    }
}

macro_rules! operators {
    ($($ty:ident by $name:ident),*) => {$(
        impl Field for $ty {
            fn operator(&self) -> Option<&'static str> {
                Some(self.$name())
            }
        }
    )*};
}

operators!(UnOp by name, BinOp by name, CmpOp by name, Geometry by base_name);

macro_rules! attributes {
    ($($ty:ty),*) => { $(impl Field for $ty {})* };
}

attributes!(
    AtomicOp,
    WarpOp,
    Routine,
    ThreadState,
    Libm,
    BarrierOp,
    Const,
    Part,
    ConstId,
    bool,
    u8,
    u32
);
attributes!(FenceScope, ErrorKind, Scalar, Spread, String);
