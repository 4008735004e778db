//! The entry function: its parameters, and for a loop the points each thread takes.

use std::rc::Rc;

use weft_ir::{Axis, FuncKind, Geometry, Layout, Scalar, Type, Value, ViewType};
use weft_passes::range::Range;

use super::EmitError;
use super::code::PlaceOf;
use super::number::{Basic, Num, Overflow};
use super::statements::Statements;
use super::values::{Val, View};

/// A view among the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub value: Value,
    pub ty: ViewType,
    /// How many views come before it.
    pub index: u32,
    /// The slot of its data address.
    pub slot: u32,
}

/// The function as a whole.
pub trait Entry<'m>: Statements<'m> {
    /// A slot of the argument block in a register of its type.
    fn slot(&mut self, slot: u32, s: Scalar) -> Self::Operand;

    /// Puts off a scalar parameter that the machine has no type for: it is of use only where it is made another type.
    fn puts_off(&mut self, _value: Value, _s: Scalar, _slot: u32) -> bool {
        false
    }

    fn param_place(&mut self, param: &Param) -> Result<PlaceOf<'m, Self>, Self::Error>;

    fn param_stride(&mut self, ty: ViewType, slot: u32) -> Num<Self::Operand>;

    /// Memory for the function's arrays.
    fn make_arrays(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// What stands before the body of a kernel.
    fn make_ready(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The loop over the points of a thread: their numbers are the first, and each further a stride on, below the total. A point is its indices
    /// ([`Entry::point`]) and the body.
    fn each_point(&mut self, numbers: [Self::Operand; 3], indices: &'m [Value], extents: &[Num<Self::Operand>]) -> Result<(), Self::Error>;

    /// Quotient and remainder of two numbers that are not negative.
    fn divided(&mut self, x: Self::Operand, by: Self::Operand) -> (Self::Operand, Self::Operand);

    fn entry(&mut self) -> Result<(), Self::Error> {
        match &self.f.kind {
            FuncKind::Kernel => self.kernel(),
            FuncKind::Loop { rank, reductions } if reductions.is_empty() => self.points(*rank as usize),
            FuncKind::Loop { .. } => self.unsupported("a reduction over a loop on a GPU"),
            kind @ (FuncKind::Host | FuncKind::Device) => Err(EmitError::Internal(format!("an entry of kind {kind:?} for a GPU")).into()),
        }
    }

    fn kernel(&mut self) -> Result<(), Self::Error> {
        let f = self.f;
        self.params(&f.params, 0)?;
        self.make_slots()?;
        self.make_arrays()?;
        self.make_ready()?;
        self.block(&f.body)
    }

    /// A loop: every thread takes each point as far as there are threads from the last.
    fn points(&mut self, rank: usize) -> Result<(), Self::Error> {
        let f = self.f;
        let extents: Vec<_> = (0..rank as u32).map(|slot| self.extent(slot)).collect();
        let (indices, rest) = f.params.split_at(rank);
        self.params(rest, rank as u32)?;
        self.make_slots()?;
        self.make_arrays()?;
        let total = extents.iter().copied().fold(Num::int(1), |total, n| self.count(total, n));
        let first = self.grid_thread(Axis::X);
        let (blocks, threads) = (
            self.geometry(Geometry::GridDim(Axis::X)),
            self.geometry(Geometry::BlockDim(Axis::X)),
        );
        let stride = self.grid_count(blocks, threads);
        let numbers = [first, total, stride].map(|n| self.linear(n));
        self.each_point(numbers, indices, &extents)
    }

    /// Numbers of points are 32-bit in narrow code.
    fn linear(&mut self, n: Num<Self::Operand>) -> Self::Operand {
        if self.sizes.narrow { self.take_short(n) } else { self.take(n) }
    }

    fn numbered(&self, op: Self::Operand) -> Num<Self::Operand> {
        if self.sizes.narrow {
            Num::Short(op, self.sizes.lengths())
        } else {
            Num::Reg(op)
        }
    }

    fn count(&mut self, a: Num<Self::Operand>, b: Num<Self::Operand>) -> Num<Self::Operand> {
        if a.const_int() == Some(1) {
            return b;
        }
        let (x, y) = (self.linear(a), self.linear(b));
        let product = self.basic(Basic::Mul, Overflow::Never, x, y);
        self.numbered(product)
    }

    /// The indices of a point from its number, the last axis fastest.
    fn point(&mut self, indices: &[Value], extents: &[Num<Self::Operand>], number: Self::Operand) {
        let mut rest = number;
        for (axis, index) in indices.iter().enumerate().rev() {
            let mut at = rest;
            if axis > 0 {
                let extent = self.linear(extents[axis]);
                (rest, at) = self.divided(rest, extent);
            }
            let at = self.numbered(at);
            self.define(*index, Val::Num(at));
        }
    }

    fn params(&mut self, params: &'m [Value], first: u32) -> Result<(), Self::Error> {
        let (mut slot, mut views) = (first, 0);
        for value in params {
            let ty = self.f.ty(*value);
            match ty {
                Type::Scalar(s) if self.puts_off(*value, *s, slot) => {}
                Type::Scalar(s) if !s.is_complex() => {
                    let n = self.scalar_param(*s, slot);
                    self.define(*value, Val::Num(n));
                }
                Type::View(ty) => {
                    let view = self.view_param(&Param {
                        value: *value,
                        ty: *ty,
                        index: views,
                        slot,
                    })?;
                    self.define(*value, Val::View(Rc::new(view)));
                    views += 1;
                }
                Type::Scalar(_) | Type::Tuple(_) => return self.internal(format!("a parameter of type {ty}")),
            }
            slot += ty.slots() as u32;
        }
        Ok(())
    }

    fn scalar_param(&mut self, s: Scalar, slot: u32) -> Num<Self::Operand> {
        let limit = self.sizes.limit;
        if s == Scalar::I64 && self.sizes.small {
            return Num::Short(self.slot(slot, Scalar::I32), Range::new(-limit, limit));
        }
        Num::Reg(self.slot(slot, s))
    }

    fn view_param(&mut self, param: &Param) -> Result<View<Self::Machine>, Self::Error> {
        let Param { ty, slot, .. } = *param;
        let rank = u32::from(ty.rank);
        let place = self.param_place(param)?;
        let shape = (0..rank).map(|axis| self.extent(slot + 1 + axis)).collect();
        let open = match ty.layout {
            Layout::C | Layout::F => 0,
            Layout::Row => rank.saturating_sub(1),
            Layout::Any => rank,
        };
        let mut strides: Vec<_> = (0..open).map(|axis| self.param_stride(ty, slot + 1 + rank + axis)).collect();
        if ty.layout == Layout::Row && rank > 0 {
            strides.push(Num::int(self.element_stride(ty)));
        }
        Ok(View { ty, place, shape, strides })
    }

    /// The length in a slot.
    fn extent(&mut self, slot: u32) -> Num<Self::Operand> {
        if self.sizes.narrow {
            return Num::Short(self.slot(slot, Scalar::I32), self.sizes.lengths());
        }
        Num::Reg(self.slot(slot, Scalar::I64))
    }
}
