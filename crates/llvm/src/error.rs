//! Errors: what can go wrong between LLVM IR and a callable function.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The text is not LLVM IR: the place (from 1) and what LLVM says of it.
    Parse { line: u32, column: u32, message: String },
    /// The text is LLVM IR that breaks LLVM's rules.
    Invalid(String),
    /// LLVM refused to compile valid IR.
    Codegen(String),
    /// LLVM met a condition it never returns from; the thread it ran on is given up.
    Fatal(String),
    /// The object cannot be loaded into this process.
    Load(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Parse { line, column, message } => write!(f, "LLVM IR line {line}, column {column}: {message}"),
            Error::Invalid(message) => write!(f, "LLVM IR is not valid: {message}"),
            Error::Codegen(message) => write!(f, "LLVM cannot compile this: {message}"),
            Error::Fatal(message) => write!(f, "LLVM gave up: {message}"),
            Error::Load(message) => write!(f, "the object cannot be loaded: {message}"),
        }
    }
}

impl std::error::Error for Error {}
