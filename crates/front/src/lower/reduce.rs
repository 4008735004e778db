//! Reductions of array expressions: to one number, or along some axes.

use std::rc::Rc;

use weft_array::loops::store;
use weft_array::{AlongAxes, Axes, Expr, Fold, Space, State, Walk, fold_axes};
use weft_ir::{CmpOp, Const, ErrorKind, Layout, Op, ReduceOp, Scalar, Span, Value, ViewType};

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

impl Reduce {
    fn state(self) -> State {
        State {
            scalar: self.num.scalar,
            op: self.op,
        }
    }
}

impl Lower<'_> {
    /// Combines all elements of an array expression.
    pub fn reduce(&mut self, val: &Val, how: Reduce, span: Span) -> Res<Val> {
        let Reduce { num, start, .. } = how;
        let mut lazy = self.as_expression(val, span)?;
        if !how.state().has_order() {
            lazy = self.as_row(lazy, span)?;
        }
        let aligned = self.align(&lazy.leaves, None, span)?;
        let first = self.b.constant(start);
        let fold = Fold::start(self, &[how.state()], &[first]);
        let extents = aligned.shape.clone();
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            let walk = l.fold_walk(&extents, how.state());
            let space = Space { walk, extents: &extents };
            fold.combine(l, space, &mut |l, at| {
                let val = l.element_at(&lazy, leaves, at);
                Ok(vec![l.number_as(&val, num.scalar, span)?])
            })
        })?;
        Ok(Val::Num(fold.results(self)[0], num))
    }

    /// How the points of a fold are gone through.
    pub fn fold_walk(&mut self, extents: &[Value], state: State) -> Walk {
        // Devices combine only sums of complex numbers.
        match state.scalar.is_complex() && state.op != ReduceOp::Add {
            true => Walk::InOrder,
            false => self.walk(self.spread(), extents, state.has_order()),
        }
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
        let extents = aligned.shape.clone();
        let most = self.b.i64(i64::from(i32::MAX));
        let long = self.b.compare(CmpOp::Gt, extents[0], most);
        self.raise_if(long, ErrorKind::Value, "a position that takes more than 32 bits")?;
        let none = self.b.cast(extents[0], Scalar::I32);
        let state = State {
            scalar: Scalar::I32,
            op: ReduceOp::Min,
        };
        let fold = Fold::start(self, &[state], &[none]);
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            let walk = l.fold_walk(&extents, state);
            let space = Space { walk, extents: &extents };
            fold.combine(l, space, &mut |l, at| {
                let val = l.element_at(&lazy, leaves, at);
                let is_true = l.truth_value(&val, span)?;
                let here = l.b.cast(at[0], Scalar::I32);
                Ok(vec![l.b.select(is_true, here, none)])
            })
        })?;
        let first = fold.results(self)[0];
        Ok(Val::Num(self.b.cast(first, Scalar::I64), Num::strong(Scalar::I64)))
    }

    /// Combines the elements along some axes: an array of the others.
    pub fn reduce_axes(&mut self, val: &Val, axes: &[usize], how: Reduce, span: Span) -> Res<Val> {
        let Reduce { num, start, .. } = how;
        let lazy = self.as_expression(val, span)?;
        if usize::from(lazy.rank) == axes.len() {
            return self.reduce(val, how, span);
        }
        let aligned = self.align(&lazy.leaves, None, span)?;
        let axes = Axes::new(aligned.shape.len(), axes);
        let (outer, inner) = axes.split(&aligned.shape);
        let out = self.alloc(num.scalar, &outer, false, span)?;
        let ty = fresh_type(num.scalar, outer.len() as u8);
        let states = [how.state()];
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, leaves| {
            let along = AlongAxes {
                axes: &axes,
                outer: Space {
                    walk: l.walk(l.spread(), &outer, false),
                    extents: &outer,
                },
                inner: Space {
                    walk: l.fold_walk(&inner, how.state()),
                    extents: &inner,
                },
                states: &states,
            };
            fold_axes(
                l,
                &along,
                &mut |l| vec![l.b.constant(start)],
                &mut |l, at| {
                    let val = l.element_at(&lazy, leaves, at);
                    Ok(vec![l.number_as(&val, num.scalar, span)?])
                },
                &mut |l, at, results| {
                    store(&mut l.b, (out, ty), at, results[0]);
                    Ok(())
                },
            )
        })?;
        Ok(Val::View(out, ty))
    }
}
