//! Errors: why a pass refuses a module.

use std::fmt;

use weft_ir::Span;

/// Something the program asks for that cannot be compiled, and where it asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassError {
    pub message: String,
    pub span: Span,
}

impl PassError {
    pub fn new(span: Span, message: impl Into<String>) -> PassError {
        PassError {
            message: message.into(),
            span,
        }
    }

    /// A module that the verifier should have refused, or another pass left.
    pub fn defect(span: Span, what: impl fmt::Display) -> PassError {
        PassError::new(span, format!("a defect of Weft: {what}"))
    }
}

impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PassError {}
