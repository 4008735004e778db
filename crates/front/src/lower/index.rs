//! Basic indexing: subscripts that are elements, slices and new axes; the lengths of axes.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprSlice, ExprSubscript};
use ruff_text_size::Ranged;
use weft_ir::{AxisSlice, BinOp, CmpOp, Const, Index, Kind, Layout, Op, Part, Scalar, Span, StmtKind, Type, UnOp, Value, ViewType};

use super::Lower;
use super::gather::Gathered;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::Val;

/// What a subscript selects.
pub enum Selected {
    Element {
        view: Value,
        ty: ViewType,
        indices: Vec<Index>,
    },
    View(Value, ViewType),
    Value(Val),
    /// By arrays of indices.
    Gathered(Rc<Gathered>),
}

/// One entry of a subscript.
pub enum Entry {
    At(Index),
    /// An array of indices or bools.
    Array(Val),
    Slice(Bounds),
    Full,
    New,
    Ellipsis,
}

pub struct Bounds {
    start: Option<Value>,
    stop: Option<Value>,
    step: Option<(Value, Option<i128>)>,
}

impl Lower<'_> {
    pub fn subscript(&mut self, e: &ExprSubscript) -> Res<Val> {
        let base = self.expr(&e.value)?;
        let selected = self.select(&base, &e.slice)?;
        self.load_selected(&selected, self.b.span)
    }

    pub fn load_selected(&mut self, selected: &Selected, span: Span) -> Res<Val> {
        match selected {
            Selected::Element { view, ty, indices } => Ok(self.load(*view, *ty, indices.clone())),
            Selected::View(view, ty) => Ok(Val::View(*view, *ty)),
            Selected::Value(val) => Ok(val.clone()),
            Selected::Gathered(gathered) => self.gather(gathered, span),
        }
    }

    pub fn load(&mut self, view: Value, ty: ViewType, indices: Vec<Index>) -> Val {
        Val::Num(self.load_value(view, ty, indices), Num::strong(ty.elem))
    }

    /// The same, as a value.
    pub fn load_value(&mut self, view: Value, ty: ViewType, indices: Vec<Index>) -> Value {
        let (view, part) = self.part_of(view).map_or((view, Part::Whole), |of| (of.view, of.part));
        let value = self.b.emit(ty.elem, Op::Load { view, indices, part });
        if ty.elem.kind() == Kind::Unsigned {
            self.facts.mark_nonneg(value);
        }
        value
    }

    pub fn select(&mut self, base: &Val, index: &Expr) -> Res<Selected> {
        let span = self.span(index.range());
        if let Val::Tuple(items) = base {
            return self.tuple_item(items, index, span).map(Selected::Value);
        }
        if let Val::Enum(class) = base {
            return self.member_by_name(class, index).map(Selected::Value);
        }
        if !base.is_array() {
            let diag = Diagnostic::new(DiagnosticKind::Typing, self.b.span, format!("{} cannot be indexed", base.ty()));
            return Err(match base {
                Val::Other(..) => diag
                    .help("compiled code takes frozen tuples and NumPy arrays from outside, not lists or dicts")
                    .into(),
                _ => diag.into(),
            });
        }
        let entries = self.entries(index)?;
        if let Val::Lazy(lazy) = base
            && let Some(indices) = all_at(&entries)
            && let Some(element) = self.lazy_element(lazy, &indices)
        {
            return Ok(Selected::Value(element));
        }
        let base = self.materialise(base.clone())?;
        let Val::View(view, ty) = base else {
            return Err(self.typing(span, format!("{} cannot be indexed", base.ty())));
        };
        self.select_entries(view, ty, entries, span)
    }

    /// A subscript whose one index is evaluated already.
    pub fn select_value(&mut self, view: Value, ty: ViewType, index: &Val, span: Span) -> Res<Selected> {
        let mut entries = Vec::new();
        self.value_entry(index, span, &mut entries)?;
        self.select_entries(view, ty, entries, span)
    }

    fn entries(&mut self, index: &Expr) -> Res<Vec<Entry>> {
        let mut entries = Vec::new();
        match index {
            Expr::Tuple(t) => {
                for e in &t.elts {
                    self.entry(e, &mut entries)?;
                }
            }
            e => self.entry(e, &mut entries)?,
        }
        Ok(entries)
    }

    fn entry(&mut self, e: &Expr, entries: &mut Vec<Entry>) -> Res<()> {
        let span = self.span(e.range());
        if let Expr::Slice(s) = e {
            entries.push(self.slice_entry(s)?);
            return Ok(());
        }
        let val = match e {
            Expr::Starred(s) => self.expr(&s.value)?,
            _ => self.expr(e)?,
        };
        self.value_entry(&val, span, entries)
    }

    fn value_entry(&mut self, val: &Val, span: Span, entries: &mut Vec<Entry>) -> Res<()> {
        match val {
            Val::None => entries.push(Entry::New),
            Val::Ellipsis => entries.push(Entry::Ellipsis),
            Val::Slice([None, None, None | Some(1)]) => entries.push(Entry::Full),
            Val::Slice([start, stop, step]) => {
                let mut bound = |b: &Option<i64>| b.map(|i| self.b.i64(i));
                let (start, stop) = (bound(start), bound(stop));
                let step = step.map(|i| (self.b.i64(i), Some(i128::from(i))));
                entries.push(Entry::Slice(Bounds { start, stop, step }));
            }
            Val::Tuple(items) if !items.is_tuple() => {
                let array = self.listed_index(val, span)?;
                entries.push(Entry::Array(array));
            }
            // `a[t]` with a tuple of indices.
            Val::Tuple(items) => {
                for item in items {
                    self.value_entry(item, span, entries)?;
                }
            }
            Val::View(view, ty) if ty.rank == 0 => {
                let index = self.load(*view, *ty, Vec::new());
                self.value_entry(&index, span, entries)?;
            }
            Val::View(..) | Val::Lazy(_) => entries.push(Entry::Array(val.clone())),
            Val::Num(..) | Val::Lit(_) if val.num().is_some_and(|n| n.scalar == Scalar::Bool) => {
                return Err(self.typing(span, "a bool cannot be an index"));
            }
            _ => entries.push(Entry::At(self.index_of(val, span)?)),
        }
        Ok(())
    }

    pub fn index_of(&mut self, val: &Val, span: Span) -> Res<Index> {
        if val.num().is_some_and(|num| num.scalar == Scalar::U64) {
            // One of 2**63 or more is negative in 64 bits: it is outside every array and must not count from the end.
            let value = self.index_value(val, span)?;
            return Ok(Index { value, wrap: false });
        }
        let value = self.index_value(val, span)?;
        let wrap = !self.facts.is_nonneg(value);
        Ok(Index { value, wrap })
    }

    fn slice_entry(&mut self, s: &ExprSlice) -> Res<Entry> {
        let mut bound = |e: &Option<Box<Expr>>| -> Res<Option<(Value, Option<i128>)>> {
            let Some(e) = e else { return Ok(None) };
            let val = self.expr(e)?;
            if matches!(val, Val::None) {
                return Ok(None);
            }
            let span = self.span(e.range());
            Ok(Some((self.bound_value(&val, span)?, val.const_int())))
        };
        let (start, stop, step) = (bound(&s.lower)?, bound(&s.upper)?, bound(&s.step)?);
        if start.is_none() && stop.is_none() && step.is_none_or(|(_, known)| known == Some(1)) {
            return Ok(Entry::Full);
        }
        if step.is_some_and(|(_, known)| known == Some(0)) {
            let diag = self.error(DiagnosticKind::Value, s.range, "a slice's step cannot be zero");
            return Err(diag.into());
        }
        Ok(Entry::Slice(Bounds {
            start: start.map(|(v, _)| v),
            stop: stop.map(|(v, _)| v),
            step,
        }))
    }

    fn select_entries(&mut self, view: Value, ty: ViewType, entries: Vec<Entry>, span: Span) -> Res<Selected> {
        if entries.iter().any(|e| matches!(e, Entry::Array(_))) {
            return self.gather_entries(view, ty, entries, span);
        }
        let taken = entries.iter().filter(|e| !matches!(e, Entry::New | Entry::Ellipsis)).count();
        let rank = ty.rank as usize;
        if taken > rank {
            let message = format!("{taken} indices for a {}", Ty::View(ty));
            return Err(self.typing(span, message));
        }
        let mut axes = Vec::with_capacity(rank);
        let mut spread = false;
        let mut axis = 0;
        for entry in &entries {
            match entry {
                Entry::Ellipsis if !spread => {
                    spread = true;
                    axes.resize(axes.len() + rank - taken, AxisSlice::Full);
                    axis += rank - taken;
                    continue;
                }
                Entry::Ellipsis => return Err(self.typing(span, "an index holds one ... at most")),
                Entry::New => {
                    axes.push(AxisSlice::New);
                    continue;
                }
                Entry::At(index) => axes.push(AxisSlice::At(*index)),
                Entry::Array(_) => return Err(self.typing(span, "an array of indices stands beside others only")),
                Entry::Full => axes.push(AxisSlice::Full),
                Entry::Slice(bounds) => {
                    let slice = self.range_slice(view, axis as u8, bounds)?;
                    axes.push(slice);
                }
            }
            axis += 1;
        }
        while axis < rank {
            axes.push(AxisSlice::Full);
            axis += 1;
        }
        if spread && axes.is_empty() {
            // Of a 0-d array that is the array, not its element.
            return Ok(Selected::View(view, ty));
        }
        Ok(self.selected(view, ty, axes))
    }

    fn selected(&mut self, view: Value, ty: ViewType, axes: Vec<AxisSlice>) -> Selected {
        let at = |a: &AxisSlice| match a {
            AxisSlice::At(index) => Some(*index),
            _ => None,
        };
        if let Some(indices) = axes.iter().map(at).collect::<Option<Vec<_>>>() {
            return Selected::Element { view, ty, indices };
        }
        if axes.iter().all(|a| *a == AxisSlice::Full) {
            return Selected::View(view, ty);
        }
        let (value, ty) = self.slice(view, ty, axes);
        Selected::View(value, ty)
    }

    pub fn slice(&mut self, view: Value, ty: ViewType, axes: Vec<AxisSlice>) -> (Value, ViewType) {
        if let Some(of) = self.part_of(view) {
            let (whole, ty) = self.slice(of.view, of.ty, axes);
            return self.part_view(whole, ty, of.part);
        }
        let kept = axes.iter().filter(|a| !matches!(a, AxisSlice::At(_))).count();
        let result = ViewType {
            rank: kept as u8,
            layout: self.slice_layout(ty.layout, &axes),
            ..ty
        };
        let op = Op::Slice { view, axes: axes.clone() };
        let value = self.b.emit(result, op);
        self.arrays.derived(value, view);
        self.arrays.slices.insert(value, (view, axes));
        (value, result)
    }

    /// What is still known of the strides: whole trailing axes of a C array stay C, a last axis that is not stepped keeps unit stride.
    pub fn slice_layout(&self, layout: Layout, axes: &[AxisSlice]) -> Layout {
        if !matches!(layout, Layout::C | Layout::Row) || axes.contains(&AxisSlice::New) {
            return Layout::Any;
        }
        let first_kept = axes.iter().position(|a| !matches!(a, AxisSlice::At(_))).unwrap_or(axes.len());
        let whole = |a: &AxisSlice| *a == AxisSlice::Full;
        match axes.get(first_kept..) {
            Some([]) | None => return layout,
            Some([only]) if self.unit_step(only) => return Layout::C,
            // A range of rows, or whole rows, of a C array is C-contiguous.
            Some([first, rest @ ..]) if layout == Layout::C && self.unit_step(first) && rest.iter().all(whole) => return Layout::C,
            Some(_) => {}
        }
        match axes.last() {
            Some(last) if self.unit_step(last) => Layout::Row,
            _ => Layout::Any,
        }
    }

    fn unit_step(&self, axis: &AxisSlice) -> bool {
        match axis {
            AxisSlice::Full => true,
            AxisSlice::Range { step, .. } => self.facts.is_one(*step),
            AxisSlice::At(_) | AxisSlice::New => false,
        }
    }

    /// A slice of an axis, clamped as Python clamps it.
    pub fn range_slice(&mut self, view: Value, axis: u8, bounds: &Bounds) -> Res<AxisSlice> {
        let n = self.dim(view, axis);
        let zero = self.b.i64(0);
        let one = self.b.i64(1);
        let (step, known) = bounds.step.unwrap_or((one, Some(1)));
        match known {
            Some(k) if k > 0 => {
                if k == 1 {
                    self.facts.mark_one(step);
                }
                let start = match bounds.start {
                    Some(v) => self.clamp_bound(v, n, zero, n),
                    None => zero,
                };
                let stop = match bounds.stop {
                    Some(v) => self.clamp_bound(v, n, zero, n),
                    None => n,
                };
                let len = self.slice_length(start, stop, step, known);
                Ok(AxisSlice::Range { start, len, step })
            }
            Some(_) => self.backward_slice(bounds, n, step, known),
            None => self.signed_slice(bounds, n, step),
        }
    }

    fn backward_slice(&mut self, bounds: &Bounds, n: Value, step: Value, known: Option<i128>) -> Res<AxisSlice> {
        let one = self.b.i64(1);
        let minus_one = self.b.i64(-1);
        let last = self.b.binary(BinOp::Sub, n, one);
        let start = match bounds.start {
            Some(v) => self.clamp_bound(v, n, minus_one, last),
            None => last,
        };
        let stop = match bounds.stop {
            Some(v) => self.clamp_bound(v, n, minus_one, last),
            None => minus_one,
        };
        let len = self.slice_length(start, stop, step, known);
        // An empty slice still needs a start inside the axis.
        let zero = self.b.i64(0);
        let start = self.b.binary(BinOp::Max, start, zero);
        Ok(AxisSlice::Range { start, len, step })
    }

    /// The step's sign is known only at run time.
    fn signed_slice(&mut self, bounds: &Bounds, n: Value, step: Value) -> Res<AxisSlice> {
        let (zero, one, minus_one) = (self.b.i64(0), self.b.i64(1), self.b.i64(-1));
        let none = self.b.compare(CmpOp::Eq, step, zero);
        self.emit_if(none, |l| {
            l.b.push(StmtKind::Raise {
                kind: weft_ir::ErrorKind::Value,
                message: "slice step cannot be zero".into(),
            });
            Ok(())
        })?;
        let back = self.b.compare(CmpOp::Lt, step, zero);
        let last = self.b.binary(BinOp::Sub, n, one);
        let low = self.b.select(back, minus_one, zero);
        let high = self.b.select(back, last, n);
        let start = match bounds.start {
            Some(v) => self.clamp_bound(v, n, low, high),
            None => self.b.select(back, last, zero),
        };
        let stop = match bounds.stop {
            Some(v) => self.clamp_bound(v, n, low, high),
            None => self.b.select(back, minus_one, n),
        };
        let len = self.slice_length(start, stop, step, None);
        let start = self.b.binary(BinOp::Max, start, zero);
        Ok(AxisSlice::Range { start, len, step })
    }

    /// A bound with the end added if negative, then brought between `low` and `high`.
    fn clamp_bound(&mut self, v: Value, n: Value, low: Value, high: Value) -> Value {
        let v = if self.facts.is_nonneg(v) {
            v
        } else {
            let zero = self.b.i64(0);
            let negative = self.b.compare(CmpOp::Lt, v, zero);
            let from_end = self.b.binary(BinOp::Add, v, n);
            let v = self.b.select(negative, from_end, v);
            self.b.binary(BinOp::Max, v, low)
        };
        self.b.binary(BinOp::Min, v, high)
    }

    /// How many numbers `range(start, stop, step)` holds: computed without overflow, 2**63 - 1 where there are more.
    pub fn range_length(&mut self, start: Value, stop: Value, step: Value, known: Option<i128>) -> Value {
        let (low, high) = self.range_ends(start, stop, step, known);
        let natural = |v| self.facts.is_nonneg(v);
        if natural(low) || known.is_none() && natural(start) && natural(stop) {
            return self.length_between(low, high, step, known);
        }
        // What lies between two 64-bit integers is a number of 64 bits without a sign.
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        let back = self.b.compare(CmpOp::Lt, step, zero);
        let opposite = self.b.unary(UnOp::Neg, step);
        let stride = self.b.select(back, opposite, step);
        let span = self.b.binary(BinOp::Sub, high, low);
        let last = self.b.binary(BinOp::Sub, span, one);
        let (last, stride) = (self.b.cast(last, Scalar::U64), self.b.cast(stride, Scalar::U64));
        let whole = self.b.binary(BinOp::FloorDiv, last, stride);
        let most = self.b.constant(Const::Int(Scalar::U64, i64::MAX - 1));
        let whole = self.b.binary(BinOp::Min, whole, most);
        let whole = self.b.cast(whole, Scalar::I64);
        let count = self.b.binary(BinOp::Add, whole, one);
        self.unless_empty(count, low, high)
    }

    /// Likewise of bounds inside an axis.
    fn slice_length(&mut self, start: Value, stop: Value, step: Value, known: Option<i128>) -> Value {
        let (low, high) = self.range_ends(start, stop, step, known);
        self.length_between(low, high, step, known)
    }

    /// The lower and the upper end of a range.
    fn range_ends(&mut self, start: Value, stop: Value, step: Value, known: Option<i128>) -> (Value, Value) {
        match known {
            Some(k) if k > 0 => (start, stop),
            Some(_) => (stop, start),
            None => {
                let zero = self.b.i64(0);
                let back = self.b.compare(CmpOp::Lt, step, zero);
                (self.b.select(back, stop, start), self.b.select(back, start, stop))
            }
        }
    }

    /// How many numbers a range holds whose ends are no more than 2**63 - 1 apart.
    fn length_between(&mut self, low: Value, high: Value, step: Value, known: Option<i128>) -> Value {
        let span = self.b.binary(BinOp::Sub, high, low);
        let most = i128::from(i64::MAX);
        let stride = match known {
            Some(1 | -1) => return self.unless_empty(span, low, high),
            Some(k) => self.b.i64(k.abs().min(most) as i64),
            None => {
                let least = self.b.i64(-i64::MAX);
                let step = self.b.binary(BinOp::Max, step, least);
                self.b.unary(UnOp::Abs, step)
            }
        };
        let one = self.b.i64(1);
        let last = self.b.binary(BinOp::Sub, span, one);
        let whole = self.b.binary(BinOp::FloorDiv, last, stride);
        let count = self.b.binary(BinOp::Add, whole, one);
        self.unless_empty(count, low, high)
    }

    fn unless_empty(&mut self, count: Value, low: Value, high: Value) -> Value {
        let zero = self.b.i64(0);
        let some = self.b.compare(CmpOp::Lt, low, high);
        let count = self.b.select(some, count, zero);
        self.b.binary(BinOp::Max, count, zero)
    }

    /// The length of an axis: known from how the view was made, read before, or read now.
    pub fn dim(&mut self, view: Value, axis: u8) -> Value {
        if let Some(n) = self.arrays.shapes.get(&view).and_then(|shape| shape.get(axis as usize)) {
            return *n;
        }
        if let Some(n) = self.sliced_dim(view, axis) {
            return n;
        }
        if let Some(of) = self.part_of(view) {
            return self.dim(of.view, axis);
        }
        match self.facts.dims.get(&(view, axis)) {
            Some((n, block)) if self.blocks.is_open(*block) => *n,
            _ => {
                let n = self.b.emit(Type::I64, Op::Dim(view, axis));
                self.facts.mark_nonneg(n);
                self.facts.dims.insert((view, axis), (n, self.blocks.current()));
                n
            }
        }
    }

    /// The lengths of a view's axes as it was made.
    pub fn know_shape(&mut self, view: Value, shape: Vec<Value>) {
        self.arrays.shapes.insert(view, shape);
    }

    fn sliced_dim(&mut self, view: Value, axis: u8) -> Option<Value> {
        let (source, axes) = self.arrays.slices.get(&view)?;
        let (source, mut from, mut kept) = (*source, 0, 0);
        for slice in axes {
            if !matches!(slice, AxisSlice::At(_)) {
                if kept == axis {
                    return match *slice {
                        AxisSlice::Range { len, .. } => Some(len),
                        AxisSlice::New => {
                            let one = self.b.i64(1);
                            self.facts.mark_one(one);
                            Some(one)
                        }
                        _ => Some(self.dim(source, from)),
                    };
                }
                kept += 1;
            }
            from += u8::from(!matches!(slice, AxisSlice::New));
        }
        None
    }
}

/// The indices of a subscript that selects one element along every axis it names.
fn all_at(entries: &[Entry]) -> Option<Vec<Index>> {
    let at = |e: &Entry| match e {
        Entry::At(index) => Some(*index),
        _ => None,
    };
    entries.iter().map(at).collect()
}
