//! Errors: what can be wrong with a module for a GPU.

use weft_ir::Span;
use weft_passes::PassError;
use weft_runtime::CompileError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// The program asks for something a GPU cannot do; the span says where.
    Unsupported { message: String, span: Span },
    /// The module is not what the passes promise.
    Internal(String),
}

impl From<EmitError> for CompileError {
    fn from(error: EmitError) -> CompileError {
        match error {
            EmitError::Unsupported { message, span } => CompileError::Unsupported { message, span },
            EmitError::Internal(message) => CompileError::Internal(message),
        }
    }
}

/// What a pass refuses, as an error of compiling.
pub fn refused(error: PassError) -> CompileError {
    CompileError::Unsupported {
        message: error.message,
        span: error.span,
    }
}
