//! What can be wrong with what is asked of arrays: known when it is asked, or found when it is computed.

use std::fmt;

use weft_front::Diagnostic;
use weft_runtime::RunError;

#[derive(Debug)]
pub enum Error {
    /// Python's `TypeError`, and the others by their names.
    Type(String),
    Value(String),
    Index(String),
    Overflow(String),
    /// An array that could not even be addressed.
    Memory(String),
    /// A device refused or failed.
    Run(RunError),
    /// The front end refused what Weft wrote itself: a defect.
    Front(Box<Diagnostic>),
    Internal(String),
    /// Elements were asked for of what only stands for an array, while a function is captured.
    StandIn,
    /// A way by the host that is not wanted.
    Sync(String),
    /// Of the host language.
    Host(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Is it one that arises before anything is written: memory that there is not, a way that is not wanted?
    pub fn is_early(&self) -> bool {
        matches!(self, Error::Memory(_) | Error::Sync(_) | Error::Run(RunError::OutOfMemory(_)))
    }

    /// The same error for another one who asks for what was lost by it.
    pub fn again(&self) -> Error {
        match self {
            Error::Type(message) => Error::Type(message.clone()),
            Error::Value(message) => Error::Value(message.clone()),
            Error::Index(message) => Error::Index(message.clone()),
            Error::Overflow(message) => Error::Overflow(message.clone()),
            Error::Memory(message) => Error::Memory(message.clone()),
            Error::Sync(message) => Error::Sync(message.clone()),
            Error::Run(error) => Error::Run(error.clone()),
            Error::StandIn => Error::StandIn,
            Error::Internal(message) => Error::Internal(message.clone()),
            Error::Front(_) | Error::Host(_) => Error::Internal(self.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Type(m)
            | Error::Value(m)
            | Error::Index(m)
            | Error::Overflow(m)
            | Error::Memory(m)
            | Error::Sync(m)
            | Error::Internal(m) => f.write_str(m),
            Error::StandIn => f.write_str("an array has no elements while a function is captured"),
            Error::Host(error) => error.fmt(f),
            Error::Run(error) => error.fmt(f),
            Error::Front(diagnostic) => f.write_str(&diagnostic.message),
        }
    }
}

impl std::error::Error for Error {}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        Error::Run(error)
    }
}

pub type Result<T> = std::result::Result<T, Error>;
