//! The state of the function being written, and what every part of the emitter asks of it.

use std::collections::HashMap;
use std::rc::Rc;

use weft_ir::{Function, Op, Scalar, Span, Value};
use weft_passes::written;

use super::EmitError;
use super::control::Frame;
use super::grid::Meeting;
use super::mailbox::Raising;
use super::module::ModuleCx;
use super::number::Num;
use super::values::{Res, Val, View};
use super::views::Slot;
use super::writer::{Label, Operand, Writer};

/// Writes one function.
pub struct Fx<'a, 'm> {
    pub cx: &'a mut ModuleCx<'m>,
    pub f: &'m Function,
    pub w: Writer,
    pub vals: Vec<Option<Val>>,
    /// The operation that defines each value.
    pub defs: Vec<Option<&'m Op>>,
    pub slots: Vec<Slot>,
    /// The shared and local arrays' memory.
    pub arrays: Vec<Operand>,
    /// Loops and scopes that control stands in, innermost last.
    pub frames: Vec<Frame>,
    /// Where `Return` goes.
    pub end: Label,
    /// Where it leaves the scalars that a function gives back; a kernel gives none.
    pub results: Vec<(Scalar, Operand)>,
    pub raising: Option<Raising>,
    /// Barriers of the grid, if there are any.
    pub meeting: Option<Meeting>,
    /// Special registers that are read, by name.
    pub registers: HashMap<String, Operand>,
    pub span: Span,
    /// May other threads write what this one reads while it runs?
    pub threads_meet: bool,
    /// The value being computed is to be computed as written, whatever `fastmath` allows.
    pub exact: bool,
}

impl<'a, 'm> Fx<'a, 'm> {
    pub fn new(cx: &'a mut ModuleCx<'m>, f: &'m Function) -> Fx<'a, 'm> {
        let mut w = Writer::default();
        let end = w.label();
        Fx {
            cx,
            f,
            w,
            vals: vec![None; f.values.len()],
            defs: vec![None; f.values.len()],
            slots: Vec::new(),
            arrays: Vec::new(),
            frames: Vec::new(),
            end,
            results: Vec::new(),
            raising: None,
            meeting: None,
            registers: HashMap::new(),
            span: Span::NONE,
            threads_meet: written::threads_meet(f),
            exact: false,
        }
    }

    pub fn unsupported<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(EmitError::Unsupported {
            message: message.into(),
            span: self.span,
        })
    }

    pub fn internal<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(EmitError::Internal(format!("{}: {}", self.f.name, message.into())))
    }

    pub fn define(&mut self, value: Value, val: Val) {
        self.vals[value.index()] = Some(val);
    }

    pub fn val(&self, value: Value) -> Res<Val> {
        match &self.vals[value.index()] {
            Some(val) => Ok(val.clone()),
            None => self.internal(format!("%{} is used before it is defined", value.0)),
        }
    }

    pub fn num(&self, value: Value) -> Res<Num> {
        match &self.vals[value.index()] {
            Some(Val::Num(n)) => Ok(*n),
            _ => self.internal(format!("%{} is not a number here", value.0)),
        }
    }

    /// The number in a register of its own type.
    pub fn operand(&mut self, value: Value) -> Res<Operand> {
        let n = self.num(value)?;
        Ok(self.take(n))
    }

    pub fn view(&self, value: Value) -> Res<Rc<View>> {
        match &self.vals[value.index()] {
            Some(Val::View(v)) => Ok(v.clone()),
            _ => self.internal(format!("%{} is not a view here", value.0)),
        }
    }

    pub fn scalar(&self, value: Value) -> Res<Scalar> {
        match self.f.ty(value).scalar() {
            Some(s) if !s.is_complex() => Ok(s),
            _ => self.internal(format!("%{} is no real scalar", value.0)),
        }
    }

    /// The flags float arithmetic carries. Never `contract`: fma is explicit in the IR.
    pub fn fast(&self) -> &'static str {
        if self.f.flags.fastmath && !self.exact {
            "reassoc nnan ninf nsz arcp afn "
        } else {
            ""
        }
    }
}
