//! Why lowering of a statement or a function stopped: an error, or a type that is not known yet.

use weft_ir::Span;

use crate::diag::{Diagnostic, DiagnosticKind};

#[derive(Debug)]
pub enum Stop {
    Error(Box<Diagnostic>),
    /// Something has no type yet; another round may know it.
    Pending(Pending),
}

/// What has no type yet.
#[derive(Clone, Debug)]
pub enum Pending {
    /// A variable, and where it is read.
    Variable(String, Span),
    /// The result of a function being compiled, by its place among these, and where it is called.
    Result(usize, String, Span),
}

impl Pending {
    /// What it means if no round comes to know it.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Pending::Variable(name, span) => read_too_early(name, *span),
            Pending::Result(_, name, span) => {
                let message = format!("'{name}' calls itself on every path, so that nothing says what it returns");
                Diagnostic::new(DiagnosticKind::Typing, *span, message).help("return something on one path that does not call it")
            }
        }
    }
}

fn read_too_early(name: &str, span: Span) -> Diagnostic {
    let message = format!("the variable '{name}' is read before anything is assigned to it");
    Diagnostic::new(DiagnosticKind::Name, span, message)
}

impl From<Diagnostic> for Stop {
    fn from(d: Diagnostic) -> Stop {
        Stop::Error(Box::new(d))
    }
}

pub type Res<T> = Result<T, Stop>;
