//! Variables: type inference across rounds, versions of a variable, and where its values are kept in this round.
//!
//! An assignment outside all branches and loops starts a new version of the variable, with a type of its own. A version assigned once,
//! in a block that encloses every use, is bound to the value itself. Any other lives in IR locals, one for each number or view in it.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::Expr;
use weft_ir::{AxisSlice, Local, Op, Span, Type, Value, ViewType};

use super::Lower;
use super::closures::is_same;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::names::{self, Count};
use crate::parallel::Loops;
use crate::parse::Parsed;
use crate::stop::{Pending, Res, Stop};
use crate::types::{Static, Ty};
use crate::value::Val;

pub struct Vars {
    index: HashMap<String, usize>,
    vars: Vec<Var>,
    /// A variable got its first type in this round.
    pub progress: bool,
    /// Parallel loops, by their place, that turned out to make arrays in their body: their iterations cannot be lanes.
    pub loops_of_arrays: HashSet<u32>,
    /// What is known of the function's parallel loops.
    pub parallel: Loops,
    /// What exists only while compiling and was kept in variables, in this round.
    statics: HashMap<Static, Val>,
}

struct Var {
    name: String,
    count: Count,
    /// By the place of the assignment that starts them and the turn of loops that are written out; `None` for one that a branch or loop
    /// starts.
    versions: HashMap<Option<(u32, u32)>, Version>,
    current: Option<(u32, u32)>,
}

/// A stretch of a variable's life. An assignment outside all branches and loops starts a new one: what came before is out of reach.
#[derive(Default)]
struct Version {
    /// The type so far and the place that first gave it one.
    ty: Option<(Ty, Span)>,
    /// Read where its one assignment is not in sight.
    needs_slot: bool,
    /// Assigned earlier in the text, in this round.
    written: bool,
    bound: Option<(Val, u32)>,
    /// The copy that stands for the array while a loop accumulates into it.
    private: Option<(Value, ViewType)>,
    slot: Option<Slot>,
}

impl Var {
    fn version(&mut self) -> &mut Version {
        self.versions.entry(self.current).or_default()
    }

    fn known(&self) -> Option<&Version> {
        self.versions.get(&self.current)
    }

    /// Can each version be a value instead of a local? In texts of the library most branches are decided when they are compiled: there a
    /// version is one until a branch that is not assigns it.
    fn binds(&self, library: bool) -> bool {
        self.count.all == 1 || self.count.nested == 0 || (library && self.count.in_loops == 0)
    }
}

/// Locals that hold a variable's value.
#[derive(Clone)]
pub enum Slot {
    Local(Local),
    Tuple(Vec<Slot>),
    /// Known while compiling. The local, a bool, says that it was assigned.
    Static(Local),
}

impl Vars {
    pub fn new(parsed: &Parsed, library: bool) -> Vars {
        let counts = names::assigned(parsed, library);
        let vars: Vec<Var> = counts
            .into_iter()
            .map(|(name, count)| Var {
                name,
                count,
                versions: HashMap::new(),
                current: None,
            })
            .collect();
        Vars {
            index: vars.iter().enumerate().map(|(i, v)| (v.name.clone(), i)).collect(),
            vars,
            progress: false,
            loops_of_arrays: HashSet::new(),
            parallel: Loops::default(),
            statics: HashMap::new(),
        }
    }

    /// Keeps the types, forgets the places.
    pub fn next_round(mut self) -> Vars {
        self.progress = false;
        self.statics.clear();
        for var in &mut self.vars {
            var.current = None;
            for version in var.versions.values_mut() {
                version.bound = None;
                version.private = None;
                version.slot = None;
                version.written = false;
            }
        }
        self
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }
}

impl Lower<'_> {
    pub fn is_local(&self, name: &str) -> bool {
        self.vars.index.contains_key(name)
    }

    pub fn define_param(&mut self, name: &str, val: Val, span: Span) -> Res<()> {
        self.assign(name, val, span)
    }

    /// The type of a variable that has been assigned earlier in the text.
    pub fn type_before(&self, name: &str) -> Option<&Ty> {
        let version = self.vars.vars[self.vars.find(name)?].known()?;
        let (ty, _) = version.ty.as_ref()?;
        version.written.then_some(ty)
    }

    /// Gives a variable a value, joining the value's type into the variable's.
    pub fn assign(&mut self, name: &str, val: Val, span: Span) -> Res<()> {
        if let Some(copy) = self.private(name) {
            return self.store_private(copy, &val, span);
        }
        let val = self.materialise(val)?;
        self.refuse_unassignable(&val, span)?;
        let Some(i) = self.vars.find(name) else {
            return Err(self.unsupported(span, format!("'{name}' cannot be assigned here")));
        };
        let block = self.blocks.current();
        let var = &mut self.vars.vars[i];
        let starts = self.nest.starts_turn || (self.blocks.depth() == 1 && self.nest.frames.is_empty());
        if starts {
            var.current = Some((span.start, self.nest.turn));
        }
        let (binds, several) = (var.binds(self.unit.library), var.count.all > 1);
        let version = var.version();
        if !starts && binds && several && version.bound.is_some() {
            version.needs_slot = true;
            self.found.changed = true;
        }
        version.written = true;
        if binds && !version.needs_slot {
            self.vars.progress |= version.ty.is_none();
            version.ty = Some((val.ty(), span));
            let ty = val.ty();
            version.bound = Some((val, block));
            self.note_type(name, span, &ty);
            return Ok(());
        }
        let ty = self.join_variable(i, &val.ty(), span)?;
        self.note_type(name, span, &ty);
        let slot = self.slot_of(i, &ty);
        self.write(&slot, &val, &ty, span)
    }

    fn refuse_unassignable(&self, val: &Val, span: Span) -> Res<()> {
        match val {
            Val::Tuple(_) if val.ty().has_passing() => {
                let message = "what zip, enumerate and reversed give can only be looped over, not kept in a variable";
                Err(self.unsupported(span, message))
            }
            Val::Iter(_) => Err(self.unsupported(span, "a range can only be looped over, not kept in a variable")),
            Val::Format(_) => Err(self.unsupported(span, "a formatted string can only be printed, not kept in a variable")),
            Val::Method(..) => Err(self.unsupported(span, "a method can only be called, not kept in a variable")),
            _ => Ok(()),
        }
    }

    fn join_variable(&mut self, i: usize, ty: &Ty, span: Span) -> Res<Ty> {
        let var = &mut self.vars.vars[i];
        let name = var.name.clone();
        let version = var.version();
        let Some((known, first)) = version.ty.clone() else {
            version.ty = Some((ty.clone(), span));
            self.vars.progress = true;
            return Ok(ty.clone());
        };
        let Some(joined) = self.join(&known, ty) else {
            let message = format!("the variable '{name}' is {ty} here and {known} elsewhere");
            let diag = Diagnostic::new(DiagnosticKind::Typing, span, message)
                .caret(format!("{ty}"))
                .label(first, format!("{known}"))
                .help("a variable has one type in a compiled function; use two names");
            return Err(diag.into());
        };
        if joined != known {
            let version = self.vars.vars[i].version();
            version.ty = Some((joined.clone(), first));
            version.slot = None;
            self.found.changed = true;
        }
        Ok(joined)
    }

    /// The value of a local variable.
    pub fn read(&mut self, name: &str, span: Span) -> Res<Val> {
        let Some(i) = self.vars.find(name) else {
            return Err(pending(name, span));
        };
        let var = &mut self.vars.vars[i];
        let binds = var.binds(self.unit.library);
        let version = var.version();
        if let Some((view, ty)) = version.private {
            return Ok(Val::View(view, ty));
        }
        if let Some((val, block)) = &version.bound {
            let val = val.clone();
            if !self.blocks.is_open(*block) {
                version.needs_slot = true;
                self.found.changed = true;
            }
            return Ok(val);
        }
        if !version.written && self.nest.frames.is_empty() {
            return Err(Pending::Variable(name.to_owned(), span).diagnostic().into());
        }
        let Some((ty, _)) = version.ty.clone() else {
            return Err(pending(name, span));
        };
        if version.slot.is_none() && binds && !version.needs_slot {
            version.needs_slot = true;
            self.found.changed = true;
        }
        let slot = self.slot_of(i, &ty);
        self.read_slot(&slot, &ty, span)
    }

    fn slot_of(&mut self, i: usize, ty: &Ty) -> Slot {
        if let Some(slot) = &self.vars.vars[i].version().slot {
            return slot.clone();
        }
        let name = self.vars.vars[i].name.clone();
        let slot = self.new_slot(&name, ty);
        self.vars.vars[i].version().slot = Some(slot.clone());
        slot
    }

    fn new_slot(&mut self, name: &str, ty: &Ty) -> Slot {
        match ty {
            Ty::Num(n) => Slot::Local(self.b.func.new_local(n.scalar.into(), name)),
            Ty::View(v) => Slot::Local(self.b.func.new_local((*v).into(), name)),
            Ty::Tuple(items) => {
                let slot = |(i, ty): (usize, &Ty)| self.new_slot(&format!("{name}.{i}"), ty);
                Slot::Tuple(items.iter().enumerate().map(slot).collect())
            }
            Ty::None | Ty::Static(_) => Slot::Static(self.b.func.new_local(Type::BOOL, name)),
        }
    }

    fn write(&mut self, slot: &Slot, val: &Val, ty: &Ty, span: Span) -> Res<()> {
        match (slot, val, ty) {
            (Slot::Local(local), ..) => {
                self.refuse_kept_part(val, span)?;
                let value = self.value_as(val, ty, span)?;
                self.b.set(*local, value);
            }
            (Slot::Tuple(slots), Val::Tuple(vals), Ty::Tuple(types)) => {
                for ((slot, val), ty) in slots.iter().zip(vals).zip(types) {
                    self.write(slot, val, ty, span)?;
                }
            }
            (Slot::Static(local), ..) => {
                if let Ty::Static(kept) = ty {
                    let before = self.vars.statics.insert(kept.clone(), val.clone());
                    self.refuse_another(before, val, span)?;
                }
                let assigned = self.b.constant(weft_ir::Const::Bool(true));
                self.b.set(*local, assigned);
            }
            _ => {}
        }
        Ok(())
    }

    fn read_slot(&mut self, slot: &Slot, ty: &Ty, span: Span) -> Res<Val> {
        Ok(match (slot, ty) {
            (Slot::Local(local), _) => {
                let value = self.b.get(*local);
                self.wrap_value(value, ty)
            }
            (Slot::Tuple(slots), Ty::Tuple(types)) => {
                let read = |(slot, ty): (&Slot, &Ty)| self.read_slot(slot, ty, span);
                Val::Tuple(types.with(slots.iter().zip(types).map(read).collect::<Res<_>>()?))
            }
            (Slot::Static(local), _) => {
                self.b.get(*local);
                self.static_val(ty, span)?
            }
            _ => self.static_val(ty, span)?,
        })
    }

    /// Functions that were handed on with values of their own are of one type, whatever these are: code cannot choose between two.
    fn refuse_another(&self, before: Option<Val>, val: &Val, span: Span) -> Res<()> {
        if before.is_none_or(|before| is_same(&before, val)) {
            return Ok(());
        }
        let message = format!("{} is here with other values of the variables it reads than elsewhere", val.ty());
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
        Err(diag
            .help("call each where it is, or pass the values and choose between these")
            .into())
    }

    /// Adds to a typing error where the variables among the operands got their types.
    pub fn explain(&self, stop: Stop, operands: &[&Expr]) -> Stop {
        let Stop::Error(mut diag) = stop else { return stop };
        if diag.kind == DiagnosticKind::Typing && diag.labels.len() == 1 {
            for operand in operands {
                let Expr::Name(name) = operand else { continue };
                let Some(i) = self.vars.find(&name.id) else { continue };
                if let Some((ty, span)) = self.vars.vars[i].known().and_then(|v| v.ty.as_ref()) {
                    *diag = diag.label(*span, format!("'{}' is {ty}", name.id));
                }
            }
        }
        Stop::Error(diag)
    }

    /// Locals for a value with no name in the source.
    pub fn temporary(&mut self, ty: &Ty) -> Slot {
        self.new_slot("", ty)
    }

    pub fn set_temporary(&mut self, slot: &Slot, val: &Val, ty: &Ty, span: Span) -> Res<()> {
        self.write(slot, val, ty, span)
    }

    pub fn get_temporary(&mut self, slot: &Slot, ty: &Ty, span: Span) -> Res<Val> {
        self.read_slot(slot, ty, span)
    }

    /// The copy that stands for an array while a loop accumulates into it.
    pub fn private(&self, name: &str) -> Option<(Value, ViewType)> {
        self.vars.vars[self.vars.find(name)?].known()?.private
    }

    pub fn set_private(&mut self, name: &str, copy: Option<(Value, ViewType)>) {
        if let Some(i) = self.vars.find(name) {
            self.vars.vars[i].version().private = copy;
        }
    }

    /// The local of a variable that holds one number, for reductions.
    pub fn local_of(&mut self, name: &str) -> Option<(Local, Ty)> {
        let i = self.vars.find(name)?;
        let var = &mut self.vars.vars[i];
        let binds = var.binds(self.unit.library);
        let version = var.version();
        let (ty, _) = version.ty.clone()?;
        if !matches!(ty, Ty::Num(_)) || (binds && !version.needs_slot) {
            return None;
        }
        match self.slot_of(i, &ty) {
            Slot::Local(local) => Some((local, ty)),
            Slot::Tuple(_) | Slot::Static(_) => None,
        }
    }

    fn static_val(&self, ty: &Ty, span: Span) -> Res<Val> {
        let kept = match ty {
            Ty::None => Some(Val::None),
            Ty::Static(kept) => self.vars.statics.get(kept).cloned(),
            _ => None,
        };
        kept.ok_or_else(|| self.unsupported(span, format!("{ty} is read here before the text assigns it")))
    }

    /// An IR value of a type, as the lowering sees it: tuples are taken apart.
    pub fn wrap_value(&mut self, value: Value, ty: &Ty) -> Val {
        match ty {
            Ty::Num(n) => Val::Num(value, *n),
            Ty::View(v) => Val::View(value, *v),
            Ty::Tuple(types) => {
                let item = |(i, ty): (usize, &Ty)| match ty {
                    Ty::None | Ty::Static(_) => self.known_value(ty),
                    _ => {
                        let item = self.b.emit(ty.ir(), Op::Item(value, i as u32));
                        self.wrap_value(item, ty)
                    }
                };
                Val::Tuple(types.with(types.iter().enumerate().map(item).collect()))
            }
            Ty::None | Ty::Static(_) => self.known_value(ty),
        }
    }

    /// A value as one IR value of a type it can take: numbers are converted, tuples built.
    pub fn value_as(&mut self, val: &Val, ty: &Ty, span: Span) -> Res<Value> {
        match (val, ty) {
            (Val::Num(..) | Val::Lit(_), Ty::Num(n)) => self.number_as(val, n.scalar, span),
            (Val::View(value, have), Ty::View(want)) => Ok(self.relax_view(*value, *have, *want)),
            (Val::Lazy(_), _) => {
                let view = self.materialise(val.clone())?;
                self.value_as(&view, ty, span)
            }
            (Val::Tuple(vals), Ty::Tuple(types)) => {
                let item = |(val, ty): (&Val, &Ty)| self.value_as(val, ty, span);
                let items = vals.iter().zip(types).map(item).collect::<Res<Vec<_>>>()?;
                Ok(self.b.emit(ty.ir(), Op::Tuple(items)))
            }
            (Val::None, _) => Ok(self.b.emit(Type::unit(), Op::Tuple(Vec::new()))),
            _ => Err(self.typing(span, format!("{} cannot be used as {ty}", val.ty()))),
        }
    }

    /// The same view with less known of it.
    pub fn relax_view(&mut self, value: Value, have: ViewType, want: ViewType) -> Value {
        if have == want {
            return value;
        }
        let axes = vec![AxisSlice::Full; have.rank as usize];
        let relaxed = self.b.emit(want, Op::Slice { view: value, axes });
        self.arrays.derived(relaxed, value);
        relaxed
    }
}

fn pending(name: &str, span: Span) -> Stop {
    Stop::Pending(Pending::Variable(name.to_owned(), span))
}
