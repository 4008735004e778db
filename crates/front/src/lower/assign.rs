//! Assignment: to names, tuples, elements, slices; augmented assignment.

use ruff_python_ast::{Expr, ExprAttribute, ExprSubscript, Operator};
use ruff_text_size::Ranged;
use weft_ir::{Kind, Part, Scalar, Span, StmtKind, Value, ViewType};

use super::Lower;
use super::index::Selected;
use super::parts::is_real;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::Val;

impl Lower<'_> {
    /// `a = b = value`.
    pub fn assignment(&mut self, targets: &[Expr], value: &Expr) -> Res<()> {
        let val = self.expr(value)?;
        // An array expression stored into an array is computed there; anything else is computed once, first.
        let in_place = match (targets, &val) {
            ([Expr::Subscript(_) | Expr::Attribute(_)], Val::Lazy(_)) => true,
            ([Expr::Name(name)], Val::Lazy(_)) => self.private(&name.id).is_some(),
            _ => false,
        };
        let val = if in_place { val } else { self.materialise(val)? };
        for target in targets {
            self.assign_target(target, val.clone())?;
        }
        Ok(())
    }

    pub fn assign_target(&mut self, target: &Expr, val: Val) -> Res<()> {
        let span = self.span(target.range());
        match target {
            Expr::Name(name) => self.assign(&name.id, val, span),
            Expr::Tuple(t) => self.unpack(&t.elts, val, span),
            Expr::List(t) => self.unpack(&t.elts, val, span),
            Expr::Subscript(s) => self.store(s, val),
            Expr::Attribute(a) => {
                let (base, real) = self.assigned_part(a, span)?;
                self.store_part(base, real, &val, span)
            }
            _ => Err(self.unsupported(span, "this cannot be assigned")),
        }
    }

    /// The array whose real or imaginary part an attribute is: no other attribute can be assigned.
    fn assigned_part(&mut self, a: &ExprAttribute, span: Span) -> Res<(Val, bool)> {
        let base = self.expr(&a.value)?;
        match is_real(&a.attr) {
            Some(real) if base.is_array() => Ok((base, real)),
            _ => Err(self.unsupported(span, format!("the attribute '{}' cannot be assigned", a.attr))),
        }
    }

    fn unpack(&mut self, targets: &[Expr], val: Val, span: Span) -> Res<()> {
        if let Some(star) = targets.iter().find(|t| matches!(t, Expr::Starred(_))) {
            return Err(self.unsupported(self.span(star.range()), "a starred target cannot be compiled"));
        }
        let items = match val {
            Val::Tuple(items) => items,
            other => {
                let diag = Diagnostic::new(DiagnosticKind::Typing, span, format!("{} cannot be unpacked", other.ty()));
                return Err(diag.help("only tuples can; index an array instead").into());
            }
        };
        if items.len() != targets.len() {
            let message = format!("{} values cannot be unpacked into {} targets", items.len(), targets.len());
            return Err(self.typing(span, message));
        }
        for (target, item) in targets.iter().zip(items) {
            self.assign_target(target, item)?;
        }
        Ok(())
    }

    fn store(&mut self, s: &ExprSubscript, val: Val) -> Res<()> {
        let base = self.expr(&s.value)?;
        let plain = !matches!(&*s.slice, Expr::Tuple(_) | Expr::Slice(_) | Expr::Starred(_));
        let (true, Val::View(view, ty)) = (plain, &base) else {
            let selected = self.select(&base, &s.slice)?;
            return self.store_selected(selected, val, self.b.span);
        };
        let index = self.expr(&s.slice)?;
        let span = self.span(s.range());
        let masks = matches!(index.ty(), Ty::View(v) if v.elem == Scalar::Bool && v.rank == ty.rank);
        if masks && val.num().is_some() {
            self.refuse_read_only(*ty, span)?;
            return self.store_masked((*view, *ty), &index, &val, span);
        }
        let selected = self.select_value(*view, *ty, &index, self.span(s.slice.range()))?;
        self.store_selected(selected, val, self.b.span)
    }

    fn store_selected(&mut self, selected: Selected, val: Val, span: Span) -> Res<()> {
        match selected {
            Selected::Element { view, ty, indices } => {
                self.refuse_read_only(ty, span)?;
                let value = self.number_as(&val, ty.elem, span)?;
                self.b.push(StmtKind::Store {
                    view,
                    indices,
                    value,
                    part: Part::Whole,
                });
                Ok(())
            }
            Selected::View(view, ty) => {
                self.refuse_read_only(ty, span)?;
                self.store_array(view, ty, &val, span)
            }
            Selected::Gathered(gathered) => self.scatter(&gathered, &val, span),
            Selected::Value(_) => Err(self.typing(span, "a tuple cannot be changed")),
        }
    }

    pub fn refuse_read_only(&self, ty: ViewType, span: Span) -> Res<()> {
        if ty.writable {
            return Ok(());
        }
        let diag = Diagnostic::new(DiagnosticKind::Typing, span, "this array is read-only and cannot be written");
        Err(diag
            .help("pass a writable array; a global or constant array is frozen when the function is compiled")
            .into())
    }

    /// An array changed in place keeps its type: what it would take must be of its kind or a lower one, as NumPy's ufuncs have it.
    fn refuse_narrowing(&self, op: Operator, new: &Val, ty: ViewType, span: Span) -> Res<()> {
        let from = match new.ty() {
            Ty::View(v) => v.elem,
            Ty::Num(num) => num.scalar,
            _ => return Ok(()),
        };
        if rank(from) <= rank(ty.elem) {
            return Ok(());
        }
        let (from, to, name) = (Num::strong(from), Num::strong(ty.elem), ufunc_name(op));
        let message = format!("cannot cast ufunc '{name}' output from {from} to {to} with casting rule 'same_kind'");
        let diag = Diagnostic::new(DiagnosticKind::Typing, span, message).caret(format!("{from} into an array of {to}"));
        let help = format!("assign to a variable to get a new array of {from}, or convert the value with .astype(np.{to})");
        Err(diag.help(help).into())
    }

    pub fn augmented(&mut self, target: &Expr, op: Operator, value: &Expr, span: Span) -> Res<()> {
        match target {
            Expr::Name(name) => {
                let target_span = self.span(target.range());
                let old = self.name(&name.id, target_span)?;
                if old.ty().has_list() {
                    let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, "a list cannot be changed in a compiled function");
                    return Err(diag.help("make a new one: a = a + [...]").into());
                }
                let val = self.expr(value)?;
                if let Val::View(view, ty) = old {
                    return self.change_array(view, ty, op, &val, span);
                }
                let new = self.binary(op, &old, &val, span);
                let new = new.map_err(|stop| self.explain(stop, &[target, value]))?;
                self.assign(&name.id, new, target_span)
            }
            Expr::Subscript(s) => {
                let base = self.expr(&s.value)?;
                let selected = self.select(&base, &s.slice)?;
                let old = self.load_selected(&selected, span)?;
                let val = self.expr(value)?;
                let new = self.binary(op, &old, &val, span)?;
                match &selected {
                    Selected::View(_, ty) => self.refuse_narrowing(op, &new, *ty, span)?,
                    Selected::Gathered(gathered) => self.refuse_narrowing(op, &new, gathered.ty, span)?,
                    Selected::Element { .. } | Selected::Value(_) => {}
                }
                self.store_selected(selected, new, span)
            }
            Expr::Attribute(a) => {
                let (base, real) = self.assigned_part(a, self.span(a.range()))?;
                let (view, ty) = self.writable_part(base, real, span)?;
                let val = self.expr(value)?;
                self.change_array(view, ty, op, &val, span)
            }
            _ => Err(self.unsupported(span, "this cannot be assigned")),
        }
    }

    /// `array += val`: in place, as NumPy does it.
    fn change_array(&mut self, view: Value, ty: ViewType, op: Operator, val: &Val, span: Span) -> Res<()> {
        self.refuse_read_only(ty, span)?;
        let new = self.binary(op, &Val::View(view, ty), val, span)?;
        self.refuse_narrowing(op, &new, ty, span)?;
        self.store_array(view, ty, &new, span)
    }
}

/// Where a type's kind stands: a cast of the same kind does not go down.
fn rank(scalar: Scalar) -> u8 {
    match scalar.kind() {
        Kind::Bool => 0,
        Kind::Unsigned => 1,
        Kind::Signed => 2,
        Kind::Float => 3,
        Kind::Complex => 4,
    }
}

/// NumPy's name of what an operator does to arrays.
fn ufunc_name(op: Operator) -> &'static str {
    match op {
        Operator::Add => "add",
        Operator::Sub => "subtract",
        Operator::Mult => "multiply",
        Operator::MatMult => "matmul",
        Operator::Div => "divide",
        Operator::Mod => "remainder",
        Operator::Pow => "power",
        Operator::LShift => "left_shift",
        Operator::RShift => "right_shift",
        Operator::BitOr => "bitwise_or",
        Operator::BitXor => "bitwise_xor",
        Operator::BitAnd => "bitwise_and",
        Operator::FloorDiv => "floor_divide",
    }
}
