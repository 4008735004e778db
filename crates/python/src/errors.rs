//! Weft's errors as Python exceptions.
//!
//! The classes live in `weft/errors.py`; they are looked up when an error happens, never before.

use std::cell::{Cell, RefCell};

use pyo3::exceptions::{
    PyAssertionError, PyException, PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOverflowError, PyValueError, PyZeroDivisionError,
};
use pyo3::prelude::*;
use pyo3::types::PyType;
use weft_front::{Diagnostic, DiagnosticKind, Object};
use weft_ir::{ErrorKind, Module, Source, Span};
use weft_runtime::{CompileError, Hooks, Raised, RunError};

use crate::numbered::Numbered;

/// An exception of a class of `weft.errors`.
pub fn new(py: Python<'_>, class: &str, message: String) -> PyErr {
    match py
        .import("weft.errors")
        .and_then(|m| m.getattr(class))
        .and_then(|c| c.call1((message,)))
    {
        Ok(error) => PyErr::from_value(error),
        Err(broken) => broken,
    }
}

pub fn typing(py: Python<'_>, message: String) -> PyErr {
    new(py, "TypingError", message)
}

pub fn unsupported(py: Python<'_>, message: String) -> PyErr {
    new(py, "UnsupportedError", message)
}

pub fn launch(py: Python<'_>, message: String) -> PyErr {
    new(py, "LaunchError", message)
}

pub fn internal(py: Python<'_>, message: String) -> PyErr {
    new(py, "InternalError", message)
}

pub fn diagnostic(py: Python<'_>, diagnostic: &Diagnostic) -> PyErr {
    let class = match diagnostic.kind {
        DiagnosticKind::Unsupported => "UnsupportedError",
        DiagnosticKind::Name => "NameError_",
        DiagnosticKind::Typing => "TypingError",
        DiagnosticKind::Arguments => "ArgumentError",
        DiagnosticKind::Value => "ConstantError",
        DiagnosticKind::Index => "IndexError_",
        DiagnosticKind::ZeroDivision => "ZeroDivisionError_",
    };
    new(py, class, diagnostic.render())
}

/// A device's refusal to compile `module`.
pub fn compile(py: Python<'_>, error: &CompileError, sources: &[Source]) -> PyErr {
    match error {
        CompileError::Unsupported { message, span } => unsupported(py, at(message.clone(), *span, sources)),
        CompileError::Internal(message) => internal(
            py,
            format!(
                "{message}\nThis is a defect of Weft, not of your program. Please report it with the function and the types of its arguments."
            ),
        ),
    }
}

pub fn run(py: Python<'_>, error: RunError, module: &Module) -> PyErr {
    match error {
        RunError::Raised(raised) => raise(py, &raised, Some(module)),
        RunError::Interrupted => take_interrupt().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        RunError::Compile(error) => compile(py, &error, &module.sources),
        other => device(py, other),
    }
}

/// An error that belongs to no call of the caller's: of memory, of a wait, of work that was queued earlier.
pub fn device(py: Python<'_>, error: RunError) -> PyErr {
    match error {
        RunError::Raised(raised) if raised.module.is_some() => raise(py, &raised, None),
        RunError::OutOfMemory(_) => PyMemoryError::new_err(error.to_string()),
        RunError::Unsupported(message) => unsupported(py, message),
        RunError::Compile(error) => compile(py, &error, &[]),
        RunError::Interrupted => take_interrupt().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        other => launch(py, other.to_string()),
    }
}

/// An exception that the program raised, with the program's own message. Where that was is a note, which tracebacks show; before Python 3.11,
/// which has no notes, it follows the message.
fn raise(py: Python<'_>, raised: &Raised, ran: Option<&Module>) -> PyErr {
    let mut message = raised.message.clone();
    if let Some([tx, ty, tz, bx, by, bz]) = raised.thread {
        message.push_str(&format!(" (thread ({tx}, {ty}, {tz}) of block ({bx}, {by}, {bz}))"));
    }
    let sources = raised.module.as_deref().or(ran).map_or(&[][..], |m| &m.sources);
    let place = at(String::new(), raised.span, sources);
    let notes = py.version_info() >= (3, 11);
    if !notes {
        message.push_str(&place);
    }
    let error = exception(py, raised.kind, message);
    match place.trim_start_matches('\n') {
        place if notes && !place.is_empty() => error.value(py).call_method1("add_note", (place,)).map_or_else(|e| e, |_| error),
        _ => error,
    }
}

/// Classes of exceptions that compiled code raises.
static CLASSES: Numbered<()> = Numbered::new();

/// A class of exceptions, as the front end knows it.
pub fn class(object: &Bound<'_, PyAny>) -> Option<Object> {
    let class = object.cast::<PyType>().ok()?;
    let number = CLASSES.number(class, || class.is_subclass_of::<PyException>().ok()?.then_some(()), |(), _| ())?;
    Some(Object::Exception(number, class.name().ok()?.to_string()))
}

/// An instance of the class with a number, made as `raise` makes it.
fn instance(py: Python<'_>, number: u32, message: String) -> PyErr {
    let Some(class) = CLASSES.at(py, number) else {
        return PyException::new_err(message);
    };
    let made = if message.is_empty() {
        class.call0()
    } else {
        class.call1((message,))
    };
    made.map_or_else(|broken| broken, PyErr::from_value)
}

fn exception(py: Python<'_>, kind: ErrorKind, message: String) -> PyErr {
    match kind {
        ErrorKind::Assertion => PyAssertionError::new_err(message),
        ErrorKind::ZeroDivision => PyZeroDivisionError::new_err(message),
        ErrorKind::Index => PyIndexError::new_err(message),
        ErrorKind::Value => PyValueError::new_err(message),
        ErrorKind::Overflow => PyOverflowError::new_err(message),
        ErrorKind::Memory => PyMemoryError::new_err(message),
        ErrorKind::LinAlg => crate::linalg::error(py, message),
        ErrorKind::Host(number) => instance(py, number, message),
    }
}

/// The message with the source line and a caret below it, where the span is of the user's source.
pub fn at(message: String, span: Span, sources: &[Source]) -> String {
    if sources.get(span.source.index()).is_none() {
        return message;
    }
    let mut diag = Diagnostic::new(DiagnosticKind::Value, span, message);
    diag.sources = sources.to_vec();
    diag.render()
}

thread_local! {
    static MAIN: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Whether this is the thread that Python runs signal handlers on. They may run while that is asked: what they raise is the error.
fn on_main_thread(py: Python<'_>) -> PyResult<bool> {
    if let Some(known) = MAIN.get() {
        return Ok(known);
    }
    let threading = py.import("threading")?;
    let known = threading
        .call_method0("main_thread")?
        .is(&threading.call_method0("current_thread")?);
    MAIN.set(Some(known));
    Ok(known)
}

thread_local! {
    /// What a signal handler raised while a launch ran on this thread.
    static INTERRUPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// What a call lends the device: on the thread that has them run, pending signal handlers.
pub fn hooks(py: Python<'_>) -> Hooks {
    Hooks {
        interrupted: on_main_thread(py).unwrap_or(false).then_some(interrupted as fn() -> bool),
    }
}

/// Runs pending signal handlers; true if one raised. Called with the GIL released.
fn interrupted() -> bool {
    Python::attach(|py| match py.check_signals() {
        Ok(()) => false,
        Err(error) => {
            INTERRUPT.with(|slot| slot.replace(Some(error)));
            true
        }
    })
}

/// Runs pending signal handlers in a pause of a flush, on the thread that has them run. Called with the GIL or without.
pub fn pause() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    if MAIN.get() == Some(false) {
        return Ok(());
    }
    Python::attach(|py| match on_main_thread(py)? {
        true => py.check_signals().map_err(Box::from),
        false => Ok(()),
    })
}

fn take_interrupt() -> Option<PyErr> {
    INTERRUPT.with(|slot| slot.take())
}
