//! bfloat16 as Python knows it: NumPy has none, the package `ml_dtypes` adds the dtype and its scalars. Where it has been imported its
//! arrays and scalars are recognised; it is imported only for results that need it.

use std::ffi::c_int;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use weft_ir::Scalar;

/// The scalar type, its dtype and that dtype's number, which NumPy gives out when it is registered.
struct Bfloat16 {
    class: Py<PyType>,
    dtype: Py<PyAny>,
    number: c_int,
}

static KNOWN: PyOnceLock<Bfloat16> = PyOnceLock::new();
/// `sys.modules`, which is looked at for every argument of a type that is not known otherwise.
static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// NumPy numbers the dtypes that others register from here on.
const FIRST_FOREIGN: c_int = 256;

pub fn of_number(py: Python<'_>, number: c_int) -> Option<Scalar> {
    let matches = number >= FIRST_FOREIGN && imported(py)?.number == number;
    matches.then_some(Scalar::BF16)
}

pub fn of_type(py: Python<'_>, ty: *mut ffi::PyTypeObject) -> Option<Scalar> {
    let matches = imported(py)?.class.bind(py).as_type_ptr() == ty;
    matches.then_some(Scalar::BF16)
}

pub fn descr(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(needed(py)?.dtype.bind(py).clone())
}

pub fn new_scalar(py: Python<'_>, bits: u16) -> PyResult<Bound<'_, PyAny>> {
    let value = f32::from_bits(u32::from(bits) << 16);
    needed(py)?.class.bind(py).call1((value,))
}

/// The type, if somebody has imported it already.
fn imported(py: Python<'_>) -> Option<&'static Bfloat16> {
    if let Some(known) = KNOWN.get(py) {
        return Some(known);
    }
    let modules = MODULES.get_or_try_init(py, || {
        PyResult::Ok(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.unbind())
    });
    modules.ok()?.bind(py).get_item(intern!(py, "ml_dtypes")).ok()??;
    needed(py).ok()
}

fn needed(py: Python<'_>) -> PyResult<&'static Bfloat16> {
    if let Some(known) = KNOWN.get(py) {
        return Ok(known);
    }
    let loaded = load(py)?;
    Ok(KNOWN.get_or_init(py, || loaded))
}

fn load(py: Python<'_>) -> PyResult<Bfloat16> {
    let module = py.import("ml_dtypes").map_err(|_| {
        PyImportError::new_err("bfloat16 outside compiled code needs the package ml_dtypes: pip install ml_dtypes, or convert to float32")
    })?;
    let class = module.getattr("bfloat16")?.cast_into::<PyType>()?;
    let dtype = py.import("numpy")?.call_method1("dtype", (&class,))?;
    Ok(Bfloat16 {
        number: dtype.getattr("num")?.extract()?,
        dtype: dtype.unbind(),
        class: class.unbind(),
    })
}
