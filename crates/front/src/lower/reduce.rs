//! Reductions of array expressions: to one number, or along one axis.

use weft_array::loops::point;
use weft_ir::{Const, Local, Part, ReduceOp, Reduction, Span, StmtKind, Value};

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
        let lazy = self.as_expression(val, span)?;
        let aligned = self.align(&lazy.leaves, None, span)?;
        let local: Local = self.b.func.new_local(num.scalar.into(), "");
        let first = self.b.constant(start);
        self.b.set(local, first);
        let extents = aligned.shape.clone();
        // Devices combine only sums of complex numbers.
        let in_order = num.scalar.is_complex() && op != ReduceOp::Add;
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            let mut step = |l: &mut Self, vars: &[Value]| {
                let val = l.element_at(&lazy, leaves, vars);
                let value = l.number_as(&val, num.scalar, span)?;
                let so_far = l.b.get(local);
                let next = l.b.binary(op.binary(), so_far, value);
                l.b.set(local, next);
                Ok(())
            };
            if in_order {
                l.in_order(&extents, &mut step)
            } else {
                l.at_every_point(&extents, vec![Reduction::fixed(local, op)], &mut step)
            }
        })?;
        Ok(Val::Num(self.b.get(local), num))
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
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            l.at_every_point(&extents, Vec::new(), &mut |l, vars| {
                let local = l.b.func.new_local(num.scalar.into(), "");
                let first = l.b.constant(start);
                l.b.set(local, first);
                let inner = std::slice::from_ref(&count);
                l.in_order(inner, &mut |l, along| {
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
                let indices = point(vars, vars.len() as u8);
                let part = Part::Whole;
                let view = out;
                l.b.push(StmtKind::Store {
                    view,
                    indices,
                    value,
                    part,
                });
                Ok(())
            })
        })?;
        Ok(Val::View(out, fresh_type(num.scalar, extents.len() as u8)))
    }
}
