//! Python source to typed IR: parsing, name resolution, type inference, lowering, diagnostics.

pub mod env;

pub use env::*;

/// An error in the user's program, with everything needed to show it.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub kind: DiagnosticKind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The place it is about, first; then places that explain it, each with its label.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    pub sources: Vec<weft_ir::Source>,
}

#[derive(Clone, Debug)]
pub struct Label {
    pub span: weft_ir::Span,
    pub text: String,
}

/// Which Python exception the diagnostic becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// Syntax outside the language: `weft.UnsupportedError`.
    Unsupported,
    /// A name that is not defined: `weft.NameError_`.
    Name,
    /// Types that do not fit: `weft.TypingError`.
    Typing,
    /// Wrong number or names of arguments: `TypeError`.
    Arguments,
    /// A constant that cannot be: division by a literal zero, an index outside a tuple, an array too large.
    Value,
}

/// A module whose entry is the function, and the type of what it returns.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub module: weft_ir::Module,
    /// Weak where the result is a Python number.
    pub result: ArgType,
}

/// Compiles `function` for arguments of the types `args`.
pub fn compile(function: &FunctionSource, args: &[ArgType], options: Options) -> Result<Compiled, Box<Diagnostic>> {
    let _ = (function, args, options);
    Err(Box::new(Diagnostic {
        kind: DiagnosticKind::Unsupported,
        message: "not written yet".into(),
        labels: vec![],
        help: None,
        sources: vec![],
    }))
}
