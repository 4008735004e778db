//! Lazy arrays as Python sees them: the class `ndarray`, and the primitives that `weft.arrays` is written in.

pub mod calls;
mod capturing;
pub mod exchange;
mod indexing;
mod ndarray;
mod operands;
mod operators;
mod primitives;
mod structures;
pub mod taping;
pub mod vectorized;
mod watching;

use pyo3::exceptions::{PyIndexError, PyMemoryError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use weft_lazy::Error;

pub use ndarray::NdArray;

use crate::{devices, errors};

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    weft_lazy::machine::set_cpu(devices::cpu().clone());
    weft_lazy::machine::set_pause(errors::pause);
    module.add_class::<NdArray>()?;
    primitives::add_to(module)?;
    watching::add_to(module)?;
    capturing::add_to(module)?;
    taping::add_to(module)?;
    exchange::add_to(module)
}

/// An error of arrays as the exception that NumPy raises for it.
pub fn error(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Type(message) => PyTypeError::new_err(message),
        Error::Value(message) => PyValueError::new_err(message),
        Error::Index(message) => PyIndexError::new_err(message),
        Error::Overflow(message) => PyOverflowError::new_err(message),
        Error::Memory(message) => PyMemoryError::new_err(message),
        Error::StandIn => capturing::needed(py),
        Error::Host(error) => match error.downcast::<PyErr>() {
            Ok(error) => *error,
            Err(error) => errors::internal(py, error.to_string()),
        },
        Error::Run(error) => errors::device(py, error),
        Error::Sync(message) => errors::new(py, "SyncError", message),
        Error::Front(diagnostic) => errors::internal(py, diagnostic.render()),
        Error::Internal(message) => errors::internal(py, message),
    }
}

/// Refuses a value whose device has no such elements.
fn check(py: Python<'_>, value: &weft_lazy::Value) -> PyResult<()> {
    match value.device {
        weft_lazy::machine::CPU => Ok(()),
        device => weft_lazy::machine::check_elem(device, value.elem).map_err(|e| error(py, e)),
    }
}

/// An array of a value, unless its device has no such elements.
pub fn checked(py: Python<'_>, value: weft_lazy::Value) -> PyResult<NdArray> {
    check(py, &value)?;
    Ok(NdArray::of(value))
}

/// An array of a value that was computed in an order, with its axes where they belong.
pub fn in_order(py: Python<'_>, value: weft_lazy::Value, order: Option<&[u8]>) -> PyResult<NdArray> {
    check(py, &value)?;
    Ok(NdArray {
        array: weft_lazy::Array::of_ordered(value, order),
    })
}

/// Computes values because their elements are needed, which is a sync that nobody asked for by name.
pub fn compute(py: Python<'_>, values: &[weft_lazy::Value]) -> PyResult<()> {
    let on_host = |value: &weft_lazy::Value| value.is_stored() && value.device == weft_lazy::machine::CPU;
    if values.iter().all(on_host) {
        return Ok(());
    }
    watching::hidden_sync(py)?;
    compute_as_asked(py, values)
}

/// Computes values with the GIL released.
pub fn compute_as_asked(py: Python<'_>, values: &[weft_lazy::Value]) -> PyResult<()> {
    py.detach(|| weft_lazy::schedule::compute(values)).map_err(|e| error(py, e))
}
