//! Tuples: subscripts with constant and run-time indices, slices; the fields of named tuples, which are made by calling their class.

use std::sync::Arc;

use ruff_python_ast::{Expr, ExprSlice};
use ruff_text_size::Ranged;
use weft_array::loops::store;
use weft_ir::{ArrayDecl, BinOp, CmpOp, ErrorKind, Index, Layout, Op, Part, Scalar, Space, Span, Value, ViewType};

use super::Lower;
use super::call::Call;
use crate::builtins;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::Val;
use crate::{Items, TupleClass, TupleMaker};

/// Of more items than this one that is chosen at run time is read from an array, not selected.
const LONG: usize = 32;

impl Lower<'_> {
    pub fn tuple_item(&mut self, items: &Items<Val>, index: &Expr, span: Span) -> Res<Val> {
        if items.is_passing() {
            return Err(self.typing(span, "this can only be looped over, not indexed"));
        }
        if let Expr::Slice(s) = index {
            return self.tuple_slice(items, s);
        }
        let index = self.expr(index)?;
        if let Some(i) = index.const_int() {
            let n = items.len() as i128;
            let at = if i < 0 { i + n } else { i };
            return match usize::try_from(at).ok().and_then(|at| items.get(at)) {
                Some(item) => Ok(item.clone()),
                None => {
                    let message = format!("the index {i} is outside a tuple of {n}");
                    Err(Diagnostic::new(DiagnosticKind::Index, span, message).into())
                }
            };
        }
        self.dynamic_item(items, &index, span)
    }

    /// An item chosen at run time: the items must share a type.
    fn dynamic_item(&mut self, items: &[Val], index: &Val, span: Span) -> Res<Val> {
        let Some((first, rest)) = items.split_first() else {
            return Err(Diagnostic::new(DiagnosticKind::Index, span, "the tuple is empty").into());
        };
        let mut ty = first.ty();
        for item in rest {
            let Some(joined) = self.join(&ty, &item.ty()) else {
                let message = format!(
                    "an item chosen at run time must have one type, and this tuple holds {ty} and {}",
                    item.ty()
                );
                return Err(self.typing(span, message));
            };
            ty = joined;
        }
        let Ty::Num(num) = ty else {
            return Err(self.unsupported(span, "only an item of a tuple of numbers can be chosen at run time"));
        };
        let at = self.tuple_position(items.len(), index, span)?;
        if items.len() > LONG {
            return self.item_of_many(items, at, num, span);
        }
        let mut chosen = self.number_as(first, num.scalar, span)?;
        for (i, item) in rest.iter().enumerate() {
            let i = self.b.i64(i as i64 + 1);
            let here = self.b.compare(CmpOp::Eq, at, i);
            let item = self.number_as(item, num.scalar, span)?;
            chosen = self.b.select(here, item, chosen);
        }
        Ok(Val::Num(chosen, num))
    }

    /// A run-time index into a tuple as a position from its start; raises where the tuple has none such.
    fn tuple_position(&mut self, len: usize, index: &Val, span: Span) -> Res<Value> {
        let Index { value, wrap } = self.index_of(index, span)?;
        let n = self.b.i64(len as i64);
        let zero = self.b.i64(0);
        let mut at = value;
        if wrap {
            let negative = self.b.compare(CmpOp::Lt, value, zero);
            let from_end = self.b.binary(BinOp::Add, value, n);
            at = self.b.select(negative, from_end, value);
        }
        let before = self.b.compare(CmpOp::Lt, at, zero);
        let behind = self.b.compare(CmpOp::Ge, at, n);
        let outside = self.b.binary(BinOp::Or, before, behind);
        self.raise_if(outside, ErrorKind::Index, "tuple index out of range")?;
        Ok(at)
    }

    /// The same of a long tuple: its items go into an array, which is a constant where they are.
    fn item_of_many(&mut self, items: &[Val], at: Value, num: Num, span: Span) -> Res<Val> {
        let view = match self.constant_items(items, num.scalar) {
            Some(made) => made,
            None => self.local_items(items, num.scalar, span)?,
        };
        let (index, part) = (Index { value: at, wrap: false }, Part::Whole);
        let indices = vec![index];
        Ok(Val::Num(self.b.emit(num.scalar, Op::Load { view, indices, part }), num))
    }

    fn constant_items(&mut self, items: &[Val], elem: Scalar) -> Option<Value> {
        let mut bytes = vec![0; items.len() * elem.size()];
        for (item, place) in items.iter().zip(bytes.chunks_mut(elem.size())) {
            item.lit()?.constant(elem)?.write_bytes(place);
        }
        let id = self.cx.constants.table(elem, bytes);
        match self.constant_array(id, elem, &[items.len() as u64]) {
            Val::View(view, _) => Some(view),
            _ => None,
        }
    }

    fn local_items(&mut self, items: &[Val], elem: Scalar, span: Span) -> Res<Value> {
        let decl = ArrayDecl {
            name: format!("items{}", self.b.func.arrays.len()),
            elem,
            shape: vec![items.len() as u64],
            space: Space::Local,
        };
        let id = self.b.func.new_array(decl);
        let ty = ViewType {
            elem,
            rank: 1,
            layout: Layout::C,
            space: Space::Local,
            writable: true,
        };
        let view = self.b.emit(ty, Op::Array(id));
        for (i, item) in items.iter().enumerate() {
            let value = self.number_as(item, elem, span)?;
            let at = self.b.i64(i as i64);
            store(&mut self.b, (view, ty), &[at], value);
        }
        Ok(view)
    }

    fn tuple_slice(&mut self, items: &Items<Val>, s: &ExprSlice) -> Res<Val> {
        let mut bound = |e: &Option<Box<Expr>>| -> Res<Option<i128>> {
            let Some(e) = e else { return Ok(None) };
            let val = self.expr(e)?;
            match val.const_int() {
                Some(i) => Ok(Some(i)),
                None => Err(self
                    .error(DiagnosticKind::Typing, e.range(), "a tuple's slice needs constant bounds")
                    .into()),
            }
        };
        let (start, stop, step) = (bound(&s.lower)?, bound(&s.upper)?, bound(&s.step)?);
        let step = step.unwrap_or(1);
        if step == 0 {
            return Err(self.error(DiagnosticKind::Value, s.range, "a slice's step cannot be zero").into());
        }
        let n = items.len() as i128;
        let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
        let clamp = |v: i128| (if v < 0 { v + n } else { v }).clamp(low, high);
        let mut at = start.map_or(if step > 0 { 0 } else { n - 1 }, clamp);
        let stop = stop.map_or(if step > 0 { n } else { -1 }, clamp);
        let mut chosen = Vec::new();
        while (step > 0 && at < stop) || (step < 0 && at > stop) {
            chosen.extend(usize::try_from(at).ok().and_then(|i| items.get(i)).cloned());
            at += step;
        }
        Ok(Val::Tuple(if items.is_list() { items.with(chosen) } else { chosen.into() }))
    }

    // ---- named tuples ----

    /// `p.x`.
    pub fn field(&self, base: &Val, items: &Items<Val>, name: &str, span: Span) -> Res<Val> {
        if let Some(item) = items.field(name) {
            return Ok(item.clone());
        }
        let class = items.class().map_or("tuple", |class| &class.name);
        let message = format!("'{class}' has no field '{name}'; {}", fields(items.class()));
        builtins::methods::of(base, name).ok_or_else(|| self.typing(span, message))
    }

    /// `Point(1, y=2)`.
    pub fn make_named(&mut self, maker: &TupleMaker, call: &Call) -> Res<Val> {
        let class = &maker.class;
        let given = self.by_field(class, call)?;
        let mut items = Vec::with_capacity(given.len());
        for (field, val) in class.fields.iter().zip(given) {
            items.push(match (val, maker.default_of(field)) {
                (Some(val), _) => self.materialise(val)?,
                (None, Some(default)) => self.object(default, call.span)?,
                (None, None) => return Err(call.misfit(format!("'{}' needs the field '{field}'", class.name))),
            });
        }
        Ok(Val::Tuple(Items::of(Some(class.clone()), items)))
    }

    /// `p._replace(x=1)`.
    pub fn replace_fields(&mut self, items: &Items<Val>, call: &Call) -> Res<Val> {
        let Some(class) = items.class().filter(|_| items.is_tuple()) else {
            return Err(self.typing(call.span, "a plain tuple has no method '_replace'"));
        };
        if !call.given().0.is_empty() {
            return Err(call.misfit("_replace takes its values by the names of fields".into()));
        }
        let mut replaced = items.to_vec();
        for (item, val) in replaced.iter_mut().zip(self.by_field(class, call)?) {
            if let Some(val) = val {
                *item = self.materialise(val)?;
            }
        }
        Ok(Val::Tuple(items.with(replaced)))
    }

    /// The values that a call gives, in the order of the fields.
    fn by_field(&self, class: &Arc<TupleClass>, call: &Call) -> Res<Vec<Option<Val>>> {
        let (pos, kw) = call.given();
        let (name, most) = (&class.name, class.fields.len());
        if pos.len() > most {
            let (plural, given) = (if most == 1 { "" } else { "s" }, pos.len());
            return Err(call.misfit(format!("'{name}' has {most} field{plural} and was given {given} values")));
        }
        let mut given: Vec<Option<Val>> = (0..most).map(|i| pos.get(i).cloned()).collect();
        for (field, val) in kw {
            let Some(i) = class.position(field) else {
                return Err(call.misfit(format!("'{name}' has no field '{field}'; {}", fields(Some(class)))));
            };
            if given[i].replace(val.clone()).is_some() {
                return Err(call.misfit(format!("'{name}' got two values for '{field}'")));
            }
        }
        Ok(given)
    }
}

/// The fields there are, for messages.
fn fields(class: Option<&Arc<TupleClass>>) -> String {
    match class.map(|class| class.fields.as_slice()) {
        None | Some([]) => "it has none".into(),
        Some([one]) => format!("its field is '{one}'"),
        Some(several) => format!("its fields are '{}'", several.join("', '")),
    }
}
