//! The state of the function being written, and what every part of the walk asks of it.

use std::ops::DerefMut;
use std::rc::Rc;

use weft_ir::{ErrorKind, Function, Module, Op, PrintItem, Scalar, Span, Value, ViewType};
use weft_runtime::mailbox::{ErrorSite, PrintSite};

use super::EmitError;
use super::number::{Num, Register, Sizes};
use super::values::{Machine, Slot, Val, View};

/// What is known of a thread's function while it is written.
#[derive(Debug)]
pub struct Thread<'m, M: Machine> {
    pub module: &'m Module,
    pub f: &'m Function,
    pub sizes: Sizes,
    pub vals: Vec<Option<Val<M>>>,
    /// The operation that defines each value.
    pub defs: Vec<Option<&'m Op>>,
    pub slots: Vec<Slot<M>>,
    pub error_sites: Vec<ErrorSite>,
    pub print_sites: Vec<PrintSite>,
    pub span: Span,
    /// The value being computed is to be computed as written, whatever `fastmath` allows.
    pub exact: bool,
}

impl<'m, M: Machine> Thread<'m, M> {
    /// Of a module's entry.
    pub fn new(module: &'m Module, sizes: Sizes) -> Thread<'m, M> {
        Thread::of(module, module.entry_function(), sizes)
    }

    /// Of one of its functions.
    pub fn of(module: &'m Module, f: &'m Function, sizes: Sizes) -> Thread<'m, M> {
        Thread {
            module,
            f,
            sizes,
            vals: vec![None; f.values.len()],
            defs: vec![None; f.values.len()],
            slots: Vec::new(),
            error_sites: Vec::new(),
            print_sites: Vec::new(),
            span: Span::NONE,
            exact: false,
        }
    }
}

pub type VariableOf<'m, C> = <<C as Code<'m>>::Machine as Machine>::Variable;
pub type PlaceOf<'m, C> = <<C as Code<'m>>::Machine as Machine>::Place;
pub type PlaceSlotOf<'m, C> = <<C as Code<'m>>::Machine as Machine>::PlaceSlot;
pub type AddressOf<'m, C> = <<C as Code<'m>>::Machine as Machine>::Address;

/// The values that a print shows, and their types.
pub type Printed = Vec<(Value, Scalar)>;

/// What writes the code of a thread.
pub trait Code<'m>: DerefMut<Target = Thread<'m, <Self as Code<'m>>::Machine>> + Sized {
    type Operand: Register;
    type Machine: Machine<Operand = Self::Operand>;
    type Error: From<EmitError>;

    /// Why nothing has defined a value, where there is a reason for it.
    fn why_missing(&self, _value: Value) -> Option<Self::Error> {
        None
    }

    fn unsupported<T>(&self, message: impl Into<String>) -> Result<T, Self::Error> {
        let (message, span) = (message.into(), self.span);
        Err(EmitError::Unsupported { message, span }.into())
    }

    fn internal<T>(&self, message: impl Into<String>) -> Result<T, Self::Error> {
        Err(EmitError::Internal(format!("{}: {}", self.f.name, message.into())).into())
    }

    fn define(&mut self, value: Value, val: Val<Self::Machine>) {
        self.vals[value.index()] = Some(val);
    }

    fn val(&self, value: Value) -> Result<Val<Self::Machine>, Self::Error> {
        match &self.vals[value.index()] {
            Some(val) => Ok(val.clone()),
            None => match self.why_missing(value) {
                Some(error) => Err(error),
                None => self.internal(format!("%{} is used before it is defined", value.0)),
            },
        }
    }

    fn num(&self, value: Value) -> Result<Num<Self::Operand>, Self::Error> {
        match self.val(value)? {
            Val::Num(n) => Ok(n),
            Val::View(_) | Val::Tuple(_) => self.internal(format!("%{} is not a number here", value.0)),
        }
    }

    fn view(&self, value: Value) -> Result<Rc<View<Self::Machine>>, Self::Error> {
        match self.val(value)? {
            Val::View(view) => Ok(view),
            Val::Num(_) | Val::Tuple(_) => self.internal(format!("%{} is not a view here", value.0)),
        }
    }

    fn scalar(&self, value: Value) -> Result<Scalar, Self::Error> {
        match self.f.ty(value).scalar() {
            Some(s) if !s.is_complex() => Ok(s),
            _ => self.internal(format!("%{} is no real scalar", value.0)),
        }
    }

    fn view_type(&self, value: Value) -> Result<ViewType, Self::Error> {
        match self.f.ty(value).view() {
            Some(v) => Ok(v),
            None => self.internal("a view operation that gives no view"),
        }
    }

    /// The number of a `Raise`, by which the host finds what it says.
    fn error_site(&mut self, kind: ErrorKind, message: &str) -> i64 {
        let span = self.span;
        self.error_sites.push(ErrorSite {
            kind,
            message: message.to_owned(),
            span,
        });
        self.error_sites.len() as i64 - 1
    }

    /// The number of a `Print`, and the values it prints.
    fn print_site(&mut self, items: &[PrintItem]) -> Result<(i64, Printed), Self::Error> {
        let Some((said, numbers)) = PrintSite::of(self.f, items) else {
            return self.internal("a print of what is no real scalar");
        };
        self.print_sites.push(said);
        Ok((self.print_sites.len() as i64 - 1, numbers))
    }
}
