//! Reductions of array expressions: to one number, or along one axis.

use std::rc::Rc;

use weft_array::Expr;
use weft_array::loops::store;
use weft_ir::{BinOp, CmpOp, Const, ErrorKind, Layout, Local, Op, ReduceOp, Reduction, Scalar, Span, Value, ViewType};

use super::Lower;
use super::lazy::fresh_type;
use crate::stop::Res;
use crate::types::Num;
use crate::value::Val;

/// How elements are combined: by an operator, in a type, from a first value on.
#[derive(Clone, Copy)]
pub struct Reduce {
    pub op: ReduceOp,
    pub num: Num,
    pub start: Const,
}

impl Lower<'_> {
    /// Combines all elements of an array expression.
    pub fn reduce(&mut self, val: &Val, how: Reduce, span: Span) -> Res<Val> {
        let Reduce { op, num, start } = how;
        let mut lazy = self.as_expression(val, span)?;
        if !Reduction::fixed(Local(0), op).rounds(num.scalar) {
            lazy = self.as_row(lazy, span)?;
        }
        let aligned = self.align(&lazy.leaves, None, span)?;
        let local: Local = self.b.func.new_local(num.scalar.into(), "");
        let first = self.b.constant(start);
        self.b.set(local, first);
        let extents = aligned.shape.clone();
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            let mut step = |l: &mut Self, vars: &[Value]| {
                let val = l.element_at(&lazy, leaves, vars);
                let value = l.number_as(&val, num.scalar, span)?;
                let so_far = l.b.get(local);
                let next = l.b.binary(op.binary(), so_far, value);
                l.b.set(local, next);
                Ok(())
            };
            l.reduced_at(&extents, Reduction::fixed(local, op), &mut step)
        })?;
        Ok(Val::Num(self.b.get(local), num))
    }

    /// The same elements along one axis, as they lie in memory, of an expression that has one contiguous array in it.
    fn as_row(&mut self, expr: Rc<Expr>, span: Span) -> Res<Rc<Expr>> {
        let [(view, ty)] = *expr.leaves.as_slice() else { return Ok(expr) };
        if expr.rank < 2 || !matches!(ty.layout, Layout::C | Layout::F) {
            return Ok(expr);
        }
        let mut array = Val::View(view, ty);
        if ty.layout == Layout::F {
            let order: Vec<u8> = (0..ty.rank).rev().collect();
            array = self.transpose(&array, &order, span)?;
        }
        let Val::View(view, ty) = array else { return Ok(expr) };
        let size = self.size(&array)?;
        let row = ViewType { rank: 1, ..ty };
        let flat = self.b.emit(row, Op::Reshape(view, vec![size]));
        self.arrays.derived(flat, view);
        self.know_shape(flat, vec![size]);
        let mut flattened = self.nodes.of_leaves(&expr, &[(flat, row)]);
        flattened.rank = 1;
        Ok(Rc::new(flattened))
    }

    /// The position of the first true element of a vector; its length if there is none. In 32 bits, of which vectors hold more.
    pub fn first_true(&mut self, mask: &Val, span: Span) -> Res<Val> {
        let lazy = self.as_expression(mask, span)?;
        let aligned = self.align(&lazy.leaves, None, span)?;
        let local: Local = self.b.func.new_local(Scalar::I32.into(), "");
        let extents = aligned.shape.clone();
        let most = self.b.i64(i64::from(i32::MAX));
        let long = self.b.compare(CmpOp::Gt, extents[0], most);
        self.raise_if(long, ErrorKind::Value, "a position that takes more than 32 bits")?;
        let none = self.b.cast(extents[0], Scalar::I32);
        self.b.set(local, none);
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            l.reduced_at(&extents, Reduction::fixed(local, ReduceOp::Min), &mut |l, vars| {
                let val = l.element_at(&lazy, leaves, vars);
                let is_true = l.truth_value(&val, span)?;
                let here = l.b.cast(vars[0], Scalar::I32);
                let so_far = l.b.get(local);
                let sooner = l.b.binary(BinOp::Min, so_far, here);
                let first = l.b.select(is_true, sooner, so_far);
                l.b.set(local, first);
                Ok(())
            })
        })?;
        let first = self.b.get(local);
        Ok(Val::Num(self.b.cast(first, Scalar::I64), Num::strong(Scalar::I64)))
    }

    /// Runs `body`, which combines into a local, at every point of a shape.
    fn reduced_at(&mut self, extents: &[Value], how: Reduction, body: &mut dyn FnMut(&mut Self, &[Value]) -> Res<()>) -> Res<()> {
        let scalar = self.b.func.local_ty(how.local).scalar();
        // Devices combine only sums of complex numbers.
        if scalar.is_some_and(Scalar::is_complex) && how.op != ReduceOp::Add {
            return self.in_order(extents, body);
        }
        self.at_every_point(extents, vec![how], body)
    }

    /// Combines the elements along one axis: an array of one axis less.
    pub fn reduce_axis(&mut self, val: &Val, axis: usize, how: Reduce, span: Span) -> Res<Val> {
        let Reduce { op, num, start } = how;
        let lazy = self.as_expression(val, span)?;
        if lazy.rank == 1 {
            return self.reduce(val, how, span);
        }
        let aligned = self.align(&lazy.leaves, None, span)?;
        let mut extents = aligned.shape.clone();
        let count = extents.remove(axis);
        let out = self.alloc(num.scalar, &extents, false, span)?;
        let ty = fresh_type(num.scalar, extents.len() as u8);
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            l.at_every_point(&extents, Vec::new(), &mut |l, vars| {
                let local = l.b.func.new_local(num.scalar.into(), "");
                let first = l.b.constant(start);
                l.b.set(local, first);
                let inner = std::slice::from_ref(&count);
                l.reduced_at(inner, Reduction::fixed(local, op), &mut |l, along| {
                    let mut at = vars.to_vec();
                    at.insert(axis, along[0]);
                    let val = l.element_at(&lazy, leaves, &at);
                    let value = l.number_as(&val, num.scalar, span)?;
                    let so_far = l.b.get(local);
                    let next = l.b.binary(op.binary(), so_far, value);
                    l.b.set(local, next);
                    Ok(())
                })?;
                let value = l.b.get(local);
                store(&mut l.b, (out, ty), vars, value);
                Ok(())
            })
        })?;
        Ok(Val::View(out, ty))
    }
}
