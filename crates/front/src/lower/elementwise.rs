//! Element-wise loops over the points of a shape: how they are spread, and the filling and storing of arrays, overlapping ones too.

use std::rc::Rc;

use weft_array::loops::{point, store};
use weft_array::{Emit, Expr, Leaf, Walk};
use weft_ir::{Block, Builder, CmpOp, ErrorKind, Index, Label, Op, Reduction, Scalar, Span, Spread, StmtKind, Type, Value, ViewType};

use super::Lower;
use super::broadcast::Aligned;
use super::lazy::fresh_type;
use super::loops::LoopKind;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Num, Ty, join_views};
use crate::value::Val;

impl Lower<'_> {
    /// Runs `body` at every point of a shape: lanes and threads on the host, a nest of loops elsewhere.
    pub fn at_every_point(
        &mut self,
        extents: &[Value],
        reductions: Vec<Reduction>,
        body: &mut dyn FnMut(&mut Self, &[Value]) -> Res<()>,
    ) -> Res<()> {
        self.spread_over(self.spread(), extents, reductions, body)
    }

    /// Index spaces that nothing else is said of: threads share them where the function is compiled for that.
    pub fn spread(&self) -> Spread {
        match self.unit.options.parallel {
            true => Spread::Gangs,
            false => Spread::Lanes,
        }
    }

    /// The same, on the calling thread.
    pub fn in_lanes_here(
        &mut self,
        extents: &[Value],
        reductions: Vec<Reduction>,
        body: &mut dyn FnMut(&mut Self, &[Value]) -> Res<()>,
    ) -> Res<()> {
        self.spread_over(Spread::Lanes, extents, reductions, body)
    }

    fn spread_over(
        &mut self,
        spread: Spread,
        extents: &[Value],
        reductions: Vec<Reduction>,
        body: &mut dyn FnMut(&mut Self, &[Value]) -> Res<()>,
    ) -> Res<()> {
        let has_order = reductions.iter().any(|r| self.b.func.is_ordered(*r));
        match self.walk(spread, extents, has_order) {
            Walk::InOrder => self.in_order(extents, body),
            walk => weft_array::at_every_point(self, walk, extents, reductions, body),
        }
    }

    /// How the points of a shape are gone through. Inside lanes they are iterations, unless the order shows in what they are combined to, and
    /// is the fixed one.
    pub fn walk(&mut self, spread: Spread, extents: &[Value], has_order: bool) -> Walk {
        if !self.in_host() || extents.is_empty() || self.in_lanes() && !has_order {
            return Walk::InOrder;
        }
        self.found.needs_host = true;
        Walk::Spread(spread)
    }

    /// Runs `body` at every point of a shape, in C order.
    pub fn in_order(&mut self, extents: &[Value], body: &mut dyn FnMut(&mut Self, &[Value]) -> Res<()>) -> Res<()> {
        weft_array::at_every_point(self, Walk::InOrder, extents, Vec::new(), body)
    }

    /// Inside a loop whose iterations are lanes: loops there run in order.
    pub fn in_lanes(&self) -> bool {
        self.unit.in_parallel || self.nest.frames.iter().any(|l| l.kind == LoopKind::Lanes)
    }

    /// An element of an expression; the leaves are of the shape that the point is of.
    pub fn element_at(&mut self, expr: &Expr, leaves: &[Leaf], vars: &[Value]) -> Val {
        let value = expr.element(self, &mut |l, leaf| {
            let (view, ty) = leaves[leaf];
            l.load_value(view, ty, point(vars, ty.rank))
        });
        Val::Num(value, Num::strong(expr.elem))
    }

    /// One element of an expression that has only one array in it; others are computed whole.
    pub fn lazy_element(&mut self, expr: &Expr, indices: &[Index]) -> Option<Val> {
        let [(view, ty)] = *expr.leaves.as_slice() else { return None };
        if usize::from(ty.rank) != indices.len() {
            return None;
        }
        let value = expr.element(self, &mut |l, _| l.load_value(view, ty, indices.to_vec()));
        Some(Val::Num(value, Num::strong(expr.elem)))
    }

    /// Stores every element of an expression into an array of the aligned shape.
    pub fn fill(&mut self, out: Value, ty: ViewType, expr: &Expr, aligned: &Aligned, span: Span) -> Res<()> {
        let extents = aligned.shape.clone();
        self.with_leaves(&expr.leaves, aligned, &mut |l, leaves| {
            l.at_every_point(&extents, Vec::new(), &mut |l, vars| {
                let val = l.element_at(expr, leaves, vars);
                let value = l.number_as(&val, ty.elem, span)?;
                store(&mut l.b, (out, ty), vars, value);
                Ok(())
            })
        })
    }

    /// `view[...] = val`.
    pub fn store_array(&mut self, view: Value, ty: ViewType, val: &Val, span: Span) -> Res<()> {
        let number = match val.num() {
            Some(_) => Some(Val::Num(self.number_as(val, ty.elem, span)?, Num::strong(ty.elem))),
            None if val.is_array() => None,
            None => return Err(self.typing(span, format!("{} cannot be stored into an array", val.ty()))),
        };
        let mut expr = self.as_expression(number.as_ref().unwrap_or(val), span)?;
        let overlaps = match expr.leaves.iter().find(|(leaf, _)| !self.arrays.apart(view, *leaf)) {
            Some((leaf, _)) if !self.in_host() => {
                self.refuse_overwritten(view, *leaf, span)?;
                false
            }
            found => found.is_some(),
        };
        if overlaps {
            expr = self.reading_apart(view, &expr, span)?;
        }
        let shape = self.shape_of(view, ty);
        let aligned = self.align(&expr.leaves, Some(&shape), span)?;
        self.fill(view, ty, &expr, &aligned, span)
    }

    /// Refuses, where there is no memory for a copy, to read an array that is being overwritten.
    pub fn refuse_overwritten(&self, view: Value, leaf: Value, span: Span) -> Res<()> {
        if self.arrays.root(leaf) != self.arrays.root(view) {
            return Ok(());
        }
        let message = "this reads elements of the array while it overwrites them, which takes a temporary array";
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
        Err(diag
            .help("kernels and device functions have none: write a loop in the right order")
            .into())
    }

    /// The expression with copies of the arrays that lie in memory which a store into `view` overwrites: its value is what it was before, as
    /// in NumPy. Whether they do, where their names do not say it, is asked when the program runs.
    fn reading_apart(&mut self, view: Value, expr: &Expr, span: Span) -> Res<Rc<Expr>> {
        let mut leaves = Vec::with_capacity(expr.leaves.len());
        for leaf in &expr.leaves {
            leaves.push(match self.arrays.apart(view, leaf.0) {
                true => *leaf,
                false => self.copy_unless_apart(view, *leaf, span)?,
            });
        }
        Ok(Rc::new(self.nodes.of_leaves(expr, &leaves)))
    }

    fn copy_unless_apart(&mut self, view: Value, (leaf, ty): Leaf, span: Span) -> Res<Leaf> {
        let shape = self.shape_of(leaf, ty);
        let held = join_views(ty, fresh_type(ty.elem, ty.rank)).unwrap_or(ty);
        let local = self.b.func.new_local(held.into(), "");
        let apart = self.b.emit(Type::BOOL, Op::Apart(view, leaf));
        self.open_block();
        let kept = self.relax_view(leaf, ty, held);
        self.b.set(local, kept);
        let then = self.close_block();
        self.open_block();
        let copy = match self.copy_array(&Val::View(leaf, ty), span)? {
            Val::View(copy, copied) => self.relax_view(copy, copied, held),
            _ => leaf,
        };
        self.b.set(local, copy);
        let other = self.close_block();
        self.b.push(StmtKind::If { cond: apart, then, other });
        let value = self.b.get(local);
        self.know_shape(value, shape);
        Ok((value, held))
    }

    /// `view[mask] = val` for a number: stored where the mask is true.
    pub fn store_masked(&mut self, (view, ty): (Value, ViewType), mask: &Val, val: &Val, span: Span) -> Res<()> {
        let value = self.number_as(val, ty.elem, span)?;
        let mask = self.materialise_unless_simple(view, mask)?;
        for (axis, n) in self.shape(&mask)?.into_iter().enumerate() {
            let m = self.dim(view, axis as u8);
            if n != m {
                let differs = self.b.compare(CmpOp::Ne, n, m);
                self.raise_if(differs, ErrorKind::Index, "boolean index did not match indexed array")?;
            }
        }
        let expr = self.as_expression(&mask, span)?;
        if expr.rank != ty.rank {
            return Err(self.typing(span, format!("a {}-d mask for a {}", expr.rank, Ty::View(ty))));
        }
        let shape = self.shape_of(view, ty);
        let aligned = self.align(&expr.leaves, Some(&shape), span)?;
        let extents = aligned.shape.clone();
        self.with_leaves(&expr.leaves, &aligned, &mut |l, leaves| {
            l.at_every_point(&extents, Vec::new(), &mut |l, vars| {
                let test = l.element_at(&expr, leaves, vars);
                let test = l.truth_value(&test, span)?;
                l.emit_if(test, |l| {
                    store(&mut l.b, (view, ty), vars, value);
                    Ok(())
                })
            })
        })
    }

    /// A mask is computed first where it reads what the store overwrites.
    fn materialise_unless_simple(&mut self, view: Value, mask: &Val) -> Res<Val> {
        match mask {
            Val::Lazy(expr) if self.in_host() && expr.leaves.iter().any(|(leaf, _)| !self.arrays.apart(view, *leaf)) => {
                self.materialise(mask.clone())
            }
            _ => Ok(mask.clone()),
        }
    }

    pub fn copy_array(&mut self, val: &Val, span: Span) -> Res<Val> {
        let expr = self.as_expression(val, span)?;
        self.compute(&expr, span)
    }

    /// The element type of an array.
    pub fn elem_of(&self, val: &Val, span: Span) -> Res<Scalar> {
        match val.ty() {
            Ty::View(v) => Ok(v.elem),
            other => Err(self.typing(span, format!("an array is needed here, and this is {other}"))),
        }
    }
}

impl Emit for Lower<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn open(&mut self) {
        self.open_block();
    }

    fn close(&mut self) -> Block {
        self.close_block()
    }

    fn index(&mut self) -> Value {
        let index = self.b.func.new_value(Type::I64);
        self.facts.mark_nonneg(index);
        index
    }

    fn label(&mut self) -> Label {
        self.blocks.fresh_label()
    }
}
