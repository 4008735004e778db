//! Advanced indexing: subscripts with arrays of indices and of bools, `a[idx]`, `a[mask]`, `a[rows, 2:, cols]`, read, assigned and changed in place.
//!
//! NumPy's rules (its guide to indexing, "Combining advanced and basic indexing"): integers beside arrays count as arrays of one index; all
//! index arrays are broadcast against each other, and the axes of their common shape stand where the first of them stands, or first of
//! all if a slice stands between them.

use std::rc::Rc;

use weft_array::Leaf;
use weft_array::loops::{point, store};
use weft_ir::{AxisSlice, BinOp, CmpOp, ErrorKind, Index, Kind, Scalar, Space, Span, Value, ViewType};

use super::Lower;
use super::broadcast::Aligned;
use super::call::Call;
use super::index::{Entry, Selected};
use crate::stop::Res;
use crate::types::Ty;
use crate::value::Val;

/// What a subscript with arrays selects.
pub struct Gathered {
    /// The array, its other axes sliced as asked.
    view: Value,
    pub ty: ViewType,
    axes: Vec<Axis>,
    /// The arrays of indices and what they are broadcast to.
    leaves: Vec<Leaf>,
    aligned: Aligned,
    /// The shape of what is selected, and where in it the axes of the indices' shape start.
    shape: Vec<Value>,
    start: usize,
}

/// Where the index along an axis of the array comes from.
enum Axis {
    /// The point itself: the axis is one of the result's.
    Kept,
    /// An array of indices, by its number.
    Leaf(usize),
    One(Index),
}

impl Lower<'_> {
    pub fn gather_entries(&mut self, view: Value, ty: ViewType, entries: Vec<Entry>, span: Span) -> Res<Selected> {
        let entries = self.positions_of_masks(view, ty, entries, span)?;
        let rank = usize::from(ty.rank);
        let taken = entries.iter().filter(|e| !matches!(e, Entry::New | Entry::Ellipsis)).count();
        if taken > rank {
            return Err(self.typing(span, format!("{taken} indices for a {}", Ty::View(ty))));
        }
        // Where the indices' own axes go: where the first of them stands, if nothing stands between them, not even an ellipsis of no axes.
        let is_index = |e: &Entry| matches!(e, Entry::Array(_) | Entry::At(_));
        let first = entries.iter().position(is_index).unwrap_or(0);
        let last = entries.iter().rposition(is_index).unwrap_or(0);
        let together = entries[first..=last].iter().all(is_index);
        let mut whole = vec![];
        for entry in entries {
            match entry {
                Entry::Ellipsis => whole.extend((taken..rank).map(|_| Entry::Full)),
                entry => whole.push(entry),
            }
        }
        let named = whole.iter().filter(|e| !matches!(e, Entry::New)).count();
        whole.extend((named..rank).map(|_| Entry::Full));
        let start = if together {
            whole.iter().position(is_index).unwrap_or(0)
        } else {
            0
        };
        let mut slices = Vec::with_capacity(whole.len());
        let (mut axes, mut leaves, mut from) = (Vec::with_capacity(whole.len()), Vec::new(), 0u8);
        for entry in whole {
            let (slice, axis) = match entry {
                Entry::Array(val) => {
                    leaves.push(self.index_leaf(val, span)?);
                    (AxisSlice::Full, Axis::Leaf(leaves.len() - 1))
                }
                Entry::At(index) => (AxisSlice::Full, Axis::One(index)),
                Entry::New => (AxisSlice::New, Axis::Kept),
                Entry::Slice(bounds) => (self.range_slice(view, from, &bounds)?, Axis::Kept),
                Entry::Full | Entry::Ellipsis => (AxisSlice::Full, Axis::Kept),
            };
            from += u8::from(slice != AxisSlice::New);
            slices.push(slice);
            axes.push(axis);
        }
        let (view, ty) = match slices.iter().all(|s| *s == AxisSlice::Full) {
            true => (view, ty),
            false => self.slice(view, ty, slices),
        };
        let aligned = self.align(&leaves, None, span)?;
        let dims = self.shape_of(view, ty);
        let kept = axes.iter().zip(&dims).filter(|(axis, _)| matches!(axis, Axis::Kept));
        let mut shape: Vec<Value> = kept.map(|(_, n)| *n).collect();
        shape.splice(start..start, aligned.shape.iter().copied());
        Ok(Selected::Gathered(Rc::new(Gathered {
            view,
            ty,
            axes,
            leaves,
            aligned,
            shape,
            start,
        })))
    }

    /// An array of bools stands for the positions of those that are true: one array of indices for each of its axes.
    fn positions_of_masks(&mut self, view: Value, ty: ViewType, entries: Vec<Entry>, span: Span) -> Res<Vec<Entry>> {
        let axes_of = |e: &Entry| match e {
            Entry::New | Entry::Ellipsis => 0,
            Entry::Array(val) => mask_rank(val).map_or(1, usize::from),
            _ => 1,
        };
        let all: usize = entries.iter().map(axes_of).sum();
        let mut found = Vec::with_capacity(entries.len());
        let mut axis = 0;
        for entry in entries {
            let from = axis;
            axis += match entry {
                Entry::Ellipsis => usize::from(ty.rank).saturating_sub(all),
                _ => axes_of(&entry),
            };
            match entry {
                Entry::Array(val) if mask_rank(&val).is_some() => {
                    let mask = self.materialise(val)?;
                    for (i, n) in self.shape(&mask)?.into_iter().enumerate() {
                        if from + i >= usize::from(ty.rank) {
                            return Err(self.typing(span, format!("too many indices for a {}", Ty::View(ty))));
                        }
                        let m = self.dim(view, (from + i) as u8);
                        let differs = self.b.compare(CmpOp::Ne, n, m);
                        self.raise_if(differs, ErrorKind::Index, "boolean index did not match indexed array")?;
                    }
                    let call = Call::new("nonzero".into(), vec![mask], Vec::new(), span);
                    match self.text_call("nonzero", &call)? {
                        Val::Tuple(items) => found.extend(items.into_iter().map(Entry::Array)),
                        one => found.push(Entry::Array(one)),
                    }
                }
                entry => found.push(entry),
            }
        }
        Ok(found)
    }

    fn index_leaf(&mut self, val: Val, span: Span) -> Res<Leaf> {
        let Val::View(view, ty) = self.materialise(val)? else {
            return Err(self.typing(span, "an index is an integer, a slice or an array"));
        };
        if !matches!(ty.elem.kind(), Kind::Signed | Kind::Unsigned) {
            let message = format!(
                "arrays used as indices must be of integer (or boolean) type, and this is a {}",
                Ty::View(ty)
            );
            return Err(self.typing(span, message));
        }
        Ok((view, ty))
    }

    /// The array of indices, or a copy where a store into the array may change it.
    fn kept_index(&mut self, (view, ty): Leaf, array: Value, span: Span) -> Res<Leaf> {
        if ty.space == Space::Constant || (view != array && self.arrays.apart(array, view)) {
            return Ok((view, ty));
        }
        if !self.in_host() {
            self.refuse_overwritten(array, view, span)?;
            return Ok((view, ty));
        }
        match self.copy_array(&Val::View(view, ty), span)? {
            Val::View(view, ty) => Ok((view, ty)),
            _ => Ok((view, ty)),
        }
    }

    /// What is selected, as a fresh array.
    pub fn gather(&mut self, g: &Gathered, span: Span) -> Res<Val> {
        let (out, ty) = crate::builtins::fresh(self, g.ty.elem, &g.shape, false, span)?;
        self.with_leaves(&g.leaves, &g.aligned, &mut |l, leaves| {
            l.at_every_point(&g.shape, Vec::new(), &mut |l, vars| {
                let at = l.gathered_at(g, leaves, vars, true, span)?;
                let element = l.load(g.view, g.ty, point(&at, g.ty.rank));
                let value = l.number_as(&element, g.ty.elem, span)?;
                store(&mut l.b, (out, ty), vars, value);
                Ok(())
            })
        })?;
        Ok(Val::View(out, ty))
    }

    /// Stores a number or an array where the subscript says. An element that is named more than once has what comes last.
    pub fn scatter(&mut self, g: &Gathered, val: &Val, span: Span) -> Res<()> {
        self.refuse_read_only(g.ty, span)?;
        if self.part_of(g.view).is_some() {
            return Err(self.unsupported(span, "a part of a complex array cannot be assigned by arrays of indices"));
        }
        let kept = g
            .leaves
            .iter()
            .map(|leaf| self.kept_index(*leaf, g.view, span))
            .collect::<Res<Vec<_>>>()?;
        // As in NumPy: an index outside leaves the array as it was.
        self.with_leaves(&kept, &g.aligned, &mut |l, leaves| {
            l.at_every_point(&g.aligned.shape, Vec::new(), &mut |l, vars| l.check_indices(g, leaves, vars, span))
        })?;
        if let Some(num) = val.num() {
            let value = Val::Num(self.number_as(val, g.ty.elem, span)?, num.with(g.ty.elem));
            return self.scatter_from(g, (&kept, &[]), &mut |_, _, _| Ok(value.clone()), span);
        }
        if !val.is_array() {
            return Err(self.typing(span, format!("{} cannot be stored into an array", val.ty())));
        }
        let mut lazy = self.as_expression(val, span)?;
        for (leaf, _) in lazy.leaves.iter().filter(|_| !self.in_host()) {
            self.refuse_overwritten(g.view, *leaf, span)?;
        }
        if self.in_host()
            && lazy
                .leaves
                .iter()
                .any(|(leaf, _)| *leaf == g.view || !self.arrays.apart(g.view, *leaf))
        {
            let whole = self.compute(&lazy, span)?;
            lazy = self.as_expression(&whole, span)?;
        }
        let aligned = self.align(&lazy.leaves, Some(&g.shape), span)?;
        self.with_leaves(&lazy.leaves, &aligned, &mut |l, values| {
            l.scatter_from(
                g,
                (&kept, values),
                &mut |l, values, vars| Ok(l.element_at(&lazy, values, vars)),
                span,
            )
        })
    }

    /// Stores where the `kept` indices, which have been checked, say.
    fn scatter_from(&mut self, g: &Gathered, (kept, values): (&[Leaf], &[Leaf]), value_at: &mut ValueAt<'_, Self>, span: Span) -> Res<()> {
        self.with_leaves(kept, &g.aligned, &mut |l, leaves| {
            // One element may be named more than once.
            l.in_order(&g.shape, &mut |l, vars| {
                let val = value_at(l, values, vars)?;
                let value = l.number_as(&val, g.ty.elem, span)?;
                let at = l.gathered_at(g, leaves, vars, false, span)?;
                store(&mut l.b, (g.view, g.ty), &at, value);
                Ok(())
            })
        })
    }

    /// Raises where an index of a point of the indices' shape is outside.
    fn check_indices(&mut self, g: &Gathered, leaves: &[Leaf], own: &[Value], span: Span) -> Res<()> {
        for (axis, from) in g.axes.iter().enumerate() {
            let index = match from {
                Axis::Kept => continue,
                Axis::One(index) => *index,
                Axis::Leaf(i) => self.index_at(leaves[*i], own, span)?,
            };
            self.position(index, g.view, axis as u8, true)?;
        }
        Ok(())
    }

    fn index_at(&mut self, (view, ty): Leaf, own: &[Value], span: Span) -> Res<Index> {
        let index = self.load(view, ty, point(own, ty.rank));
        self.index_of(&index, span)
    }

    /// The element of the array that a point of the result is.
    fn gathered_at(&mut self, g: &Gathered, leaves: &[Leaf], vars: &[Value], checked: bool, span: Span) -> Res<Vec<Value>> {
        let end = g.start + g.aligned.shape.len();
        let own = &vars[g.start..end];
        let mut kept = vars[..g.start].iter().chain(&vars[end..]);
        let mut at = Vec::with_capacity(g.axes.len());
        for (axis, from) in g.axes.iter().enumerate() {
            at.push(match from {
                Axis::Kept => match kept.next() {
                    Some(&value) => value,
                    None => self.b.i64(0),
                },
                Axis::One(index) => self.position(*index, g.view, axis as u8, checked)?,
                Axis::Leaf(i) => {
                    let index = self.index_at(leaves[*i], own, span)?;
                    self.position(index, g.view, axis as u8, checked)?
                }
            });
        }
        Ok(at)
    }

    /// An index counted from the front. One that is `checked` raises where the axis has no such element.
    fn position(&mut self, index: Index, view: Value, axis: u8, checked: bool) -> Res<Value> {
        let n = self.dim(view, axis);
        let zero = self.b.i64(0);
        let mut at = index.value;
        if index.wrap {
            let negative = self.b.compare(CmpOp::Lt, at, zero);
            let from_end = self.b.binary(BinOp::Add, at, n);
            at = self.b.select(negative, from_end, at);
        }
        if checked {
            // One comparison for both ends: what is negative is beyond all lengths as an unsigned number.
            let (unsigned, length) = (self.b.cast(at, Scalar::U64), self.b.cast(n, Scalar::U64));
            let outside = self.b.compare(CmpOp::Ge, unsigned, length);
            self.raise_if(outside, ErrorKind::Index, &format!("index is out of bounds for axis {axis}"))?;
        }
        self.facts.mark_nonneg(at);
        Ok(at)
    }

    /// A list in a subscript is an array of indices.
    pub fn listed_index(&mut self, items: &Val, span: Span) -> Res<Val> {
        if matches!(items, Val::Tuple(items) if items.is_empty()) {
            let none = self.b.i64(0);
            let (view, ty) = crate::builtins::fresh(self, Scalar::I64, &[none], false, span)?;
            return Ok(Val::View(view, ty));
        }
        self.call_of("numpy.array", vec![items.clone()], span)
    }
}

/// An element of what is stored, at a point.
type ValueAt<'a, L> = dyn FnMut(&mut L, &[Leaf], &[Value]) -> Res<Val> + 'a;

/// How many axes an array of bools stands for.
fn mask_rank(val: &Val) -> Option<u8> {
    match val.ty() {
        Ty::View(v) if v.elem == Scalar::Bool => Some(v.rank),
        _ => None,
    }
}
