//! Looking at what lazy arrays do: syncs that a program did not ask for, and the kernels of a flush.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule};
use weft_lazy::trace::Kernel;

use super::ndarray::NdArray;
use crate::errors;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_syncs, module)?)?;
    module.add_function(wrap_pyfunction!(_sync_count, module)?)?;
    module.add_function(wrap_pyfunction!(_compiled_count, module)?)?;
    module.add_function(wrap_pyfunction!(_finish_compiling, module)?)?;
    module.add_function(wrap_pyfunction!(_traced, module)?)
}

static COUNT: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU8 = AtomicU8::new(0);

/// Notes a flush that the program did not ask for by name; an error where these are not wanted.
pub fn hidden_sync(py: Python<'_>) -> PyResult<()> {
    COUNT.fetch_add(1, Ordering::Relaxed);
    match REFUSED.load(Ordering::Relaxed) {
        0 => Ok(()),
        _ => Err(errors::new(
            py,
            "SyncError",
            "an array is computed here because its elements are needed; compute it before with weft.eval(x) or x.wait(), or leave the block of weft.syncs(\"error\")".into(),
        )),
    }
}

/// What hidden syncs do from here on, `"count"` or `"error"`, and what they did before.
#[pyfunction]
fn _syncs(mode: &str) -> PyResult<&'static str> {
    let refused = match mode {
        "count" => 0,
        "error" => 1,
        _ => return Err(PyValueError::new_err(format!("syncs takes 'count' or 'error', not {mode:?}"))),
    };
    weft_lazy::machine::refuse_detours(refused != 0);
    Ok(if REFUSED.swap(refused, Ordering::Relaxed) == 0 {
        "count"
    } else {
        "error"
    })
}

/// Hidden syncs so far: elements that were needed, and ways by the host for what a device has no code for.
#[pyfunction]
fn _sync_count() -> u64 {
    COUNT.load(Ordering::Relaxed) + weft_lazy::machine::detours()
}

/// Kernels compiled so far.
#[pyfunction]
fn _compiled_count() -> usize {
    weft_lazy::compiled::count()
}

/// Waits for kernels that are compiled in the background.
#[pyfunction]
fn _finish_compiling(py: Python<'_>) {
    py.detach(weft_lazy::compiled::finish);
}

/// Computes an array and says by which kernels.
#[pyfunction]
fn _traced<'py>(py: Python<'py>, x: &NdArray) -> PyResult<Bound<'py, PyList>> {
    let value = x.array.base();
    let (done, kernels) = py.detach(|| weft_lazy::trace::record(|| weft_lazy::schedule::compute(&[value])));
    done.map_err(|e| super::error(py, e))?;
    rows(py, &kernels)
}

fn rows<'py>(py: Python<'py>, kernels: &[Kernel]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for kernel in kernels {
        let row = PyDict::new(py);
        row.set_item("what", &kernel.what)?;
        row.set_item("text", &kernel.text)?;
        row.set_item("extents", &kernel.extents)?;
        row.set_item("read", kernel.read)?;
        row.set_item("written", kernel.written)?;
        row.set_item("seconds", kernel.seconds)?;
        row.set_item("tier", kernel.tier)?;
        row.set_item("inner", rows(py, &kernel.inner)?)?;
        list.append(row)?;
    }
    Ok(list)
}
