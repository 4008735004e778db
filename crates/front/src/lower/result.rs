//! Inference of the result type: what a function returns, joined from all its `return`s.

use weft_ir::{FuncKind, Span, StmtKind};

use super::Lower;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::names;
use crate::stop::{Pending, Res, Stop};
use crate::types::Ty;
use crate::value::Val;

impl Lower<'_> {
    /// The end of the body was reached: the function returns None there.
    pub fn fall_off(&mut self) {
        match &self.found.failed {
            None => {}
            // It calls itself and gives nothing: its calls of itself wait to know that.
            Some(Stop::Pending(Pending::Result(..))) if self.found.result.is_none() && !names::returns_values(&self.unit.parsed) => {
                self.guarded(|l| l.note_result(&Ty::None, l.span(l.unit.parsed.range)));
                return;
            }
            // Some statement is missing, perhaps the one that returns.
            Some(_) => return,
        }
        self.guarded(|l| {
            let span = l.span(l.unit.parsed.range);
            if let Some((ty, at)) = &l.found.result
                && *ty != Ty::None
            {
                let message = format!("'{}' returns a value on one path and nothing on another", l.unit.function.name);
                let diag = Diagnostic::new(DiagnosticKind::Typing, span, message)
                    .caret("the end of the function can be reached without a return")
                    .label(*at, format!("returns {ty} here"))
                    .help("return a value of that type at the end too");
                return Err(diag.into());
            }
            l.return_value(Val::None, span)
        });
    }

    /// Joins the value's type into the result's and returns it.
    pub fn return_value(&mut self, val: Val, span: Span) -> Res<()> {
        let val = self.materialise(val)?;
        let ty = val.ty();
        let joined = match &self.found.result {
            None => ty.clone(),
            Some((known, at)) => match self.join(known, &ty) {
                Some(joined) => joined,
                None => {
                    let message = format!("'{}' returns {ty} here and {known} elsewhere", self.unit.function.name);
                    let diag = Diagnostic::new(DiagnosticKind::Typing, span, message)
                        .caret(format!("{ty}"))
                        .label(*at, format!("{known}"))
                        .help("a function has one result type; make both returns agree");
                    return Err(diag.into());
                }
            },
        };
        if joined.has_list() {
            let message = format!("'{}' returns a list, which compiled functions cannot", self.unit.function.name);
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message).caret(format!("{joined}"));
            return Err(diag.help("return a tuple, or an array: np.array([...])").into());
        }
        if joined.has_passing() {
            let message = format!("'{}' returns what can only be looped over", self.unit.function.name);
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message).caret(format!("{joined}"));
            return Err(diag.help("return a tuple of it: tuple(...)").into());
        }
        if joined.has_static() {
            let message = format!("'{}' returns {joined}, which compiled functions cannot", self.unit.function.name);
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, message);
            return Err(diag.help("numbers, arrays, tuples of them and None can be returned").into());
        }
        self.note_result(&joined, span)?;
        self.note_type("", span, &joined);
        if joined == Ty::None {
            self.b.push(StmtKind::Return(None));
            return Ok(());
        }
        let value = self.value_as(&val, &joined, span)?;
        self.b.push(StmtKind::Return(Some(value)));
        Ok(())
    }

    fn note_result(&mut self, joined: &Ty, span: Span) -> Res<()> {
        if self.b.func.kind == FuncKind::Kernel && *joined != Ty::None {
            let message = "a kernel cannot return a value";
            let diag = Diagnostic::new(DiagnosticKind::Typing, span, message).caret(format!("{joined}"));
            return Err(diag.help("store the result into an array argument").into());
        }
        match &mut self.found.result {
            Some((known, _)) if known == joined => {}
            Some((known, _)) => {
                *known = joined.clone();
                self.found.changed = true;
            }
            None => {
                self.found.result = Some((joined.clone(), span));
                self.found.learnt = true;
            }
        }
        self.unit.frame.iter().for_each(|frame| self.cx.note_result(*frame, joined));
        Ok(())
    }
}
