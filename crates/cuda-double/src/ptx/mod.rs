//! PTX: text to tokens, tokens to syntax.

mod instructions;
pub mod lex;
pub mod parse;
pub mod syntax;
mod variables;

use std::fmt;

/// What is wrong with a module, and on which line.
#[derive(Clone, Debug, PartialEq)]
pub struct PtxError {
    pub line: u32,
    pub message: String,
}

impl PtxError {
    pub fn new(line: u32, message: impl Into<String>) -> PtxError {
        PtxError {
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ptx input, line {}; error: {}", self.line, self.message)
    }
}

impl std::error::Error for PtxError {}
