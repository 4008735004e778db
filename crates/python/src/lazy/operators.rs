//! Python's operators on arrays: ufuncs by name, and their results written back in place.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyNotImplemented, PyString, PyTuple};
use smallvec::SmallVec;
use weft_ir::{Const, Scalar};
use weft_lazy::number::Weak;
use weft_lazy::record::{self, Operand};
use weft_lazy::{Node, machine};

use super::ndarray::NdArray;
use super::operands::{self, Taken, take, take_any};

/// `name(a, b)`; `NotImplemented` where one of the two is nothing for arrays.
pub fn binary<'py>(name: &'static str, a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    if let (Ok(x), Ok(y)) = (a.cast::<NdArray>(), b.cast::<NdArray>()) {
        return apply(py, name, &[Taken::Array(&x.get().array), Taken::Array(&y.get().array)]);
    }
    let (Some(x), Some(y)) = (beside(a, b)?, beside(b, a)?) else {
        return Ok(PyNotImplemented::get(py).to_owned().into_any());
    };
    apply(py, name, &[x, y])
}

/// What an operator takes: an operand, or a list or tuple as an array of its numbers; on the device of the array that stands beside it if it
/// is none of Weft's.
fn beside<'a>(object: &'a Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> PyResult<Option<Taken<'a>>> {
    let device = other.cast::<NdArray>().map_or(machine::CPU, |array| array.get().array.device());
    match take(object, device)? {
        None if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() => take_any(object, device).map(Some),
        found => Ok(found),
    }
}

pub fn unary<'py>(name: &'static str, a: &Bound<'py, NdArray>) -> PyResult<Bound<'py, PyAny>> {
    apply(a.py(), name, &[Taken::Array(&a.get().array)])
}

pub fn apply<'py>(py: Python<'py>, name: &'static str, taken: &[Taken<'_>]) -> PyResult<Bound<'py, PyAny>> {
    apply_typed(py, name, taken, None)
}

/// In the loop that `dtype` asks for.
pub fn apply_typed<'py>(py: Python<'py>, name: &'static str, taken: &[Taken<'_>], dtype: Option<Scalar>) -> PyResult<Bound<'py, PyAny>> {
    let order = operands::order_of(taken);
    let operands: SmallVec<[Operand; 3]> = taken.iter().map(|taken| taken.read(order.as_deref())).collect();
    let mut results = record::ufunc(name, &operands, dtype).map_err(|e| super::error(py, e))?;
    if results.len() == 1
        && let Some(value) = results.pop()
    {
        return Ok(Bound::new(py, super::in_order(py, value, order.as_deref())?)?.into_any());
    }
    let arrays = results
        .into_iter()
        .map(|value| Bound::new(py, super::in_order(py, value, order.as_deref())?))
        .collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, arrays)?.into_bound_py_any(py)
}

/// `a == b` or `a != b`, which is the same for every element where `b` is `None` or a text.
pub fn equality<'py>(name: &'static str, a: &Bound<'py, NdArray>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    if !(b.is_none() || b.is_instance_of::<PyString>() || b.is_instance_of::<PyBytes>()) {
        return binary(name, a, b);
    }
    let differ = u64::from(name == "not_equal");
    let shape = a.get().array.shape.iter().copied().collect();
    Ok(Bound::new(
        py,
        NdArray::of(Node::fill_on(a.get().array.device(), Scalar::Bool, shape, [differ, 0])),
    )?
    .into_any())
}

/// `a ** b`, where some exponents have ufuncs of their own, as in NumPy.
pub fn power<'py>(a: &Bound<'py, NdArray>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let Some(exponent) = beside(b, a)? else {
        return Ok(PyNotImplemented::get(py).to_owned().into_any());
    };
    let base = &a.get().array;
    let (name, alone) = shortcut(base.elem, &exponent.read(None));
    match alone {
        true => apply(py, name, &[Taken::Array(base)]),
        false => apply(py, name, &[Taken::Array(base), exponent]),
    }
}

/// The ufunc of a power by one of Python's numbers, and whether it takes the base alone.
fn shortcut(base: Scalar, exponent: &Operand) -> (&'static str, bool) {
    let inexact = base.is_float() || base.is_complex();
    let value = match exponent {
        Operand::Weak(Weak::Number(Const::Int(Scalar::U64, v))) => *v as u64 as f64,
        Operand::Weak(Weak::Number(Const::Int(_, v))) => *v as f64,
        Operand::Weak(Weak::Number(Const::F64(bits))) if inexact => f64::from_bits(*bits),
        _ => return ("power", false),
    };
    match value {
        2.0 => ("square", true),
        -1.0 if inexact => ("reciprocal", true),
        0.5 if inexact => ("sqrt", true),
        _ => ("power", false),
    }
}

/// `a = name(a, b)`, written into `a`.
pub fn in_place(name: &'static str, a: &Bound<'_, NdArray>, b: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = a.py();
    a.get().check_writeable()?;
    let Some(y) = beside(b, a)? else {
        let of = b.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!(
            "unsupported operand type(s) for {name} in place: 'ndarray' and '{of}'"
        )));
    };
    let array = &a.get().array;
    let (x, y) = (array.read(), y.read(None));
    let (name, alone) = if name == "power" { shortcut(x.elem, &y) } else { (name, false) };
    let operands = [Operand::Value(x), y];
    let operands = if alone { &operands[..1] } else { &operands };
    if let Some(result) = record::result_type(name, operands) {
        check_output(name, result, array.elem)?;
    }
    let results = record::ufunc(name, operands, None).map_err(|e| super::error(py, e))?;
    let Some(value) = results.first() else { return Ok(()) };
    if value.shape != array.shape {
        return Err(PyValueError::new_err(format!(
            "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
            record::shown(&array.shape),
            record::shown(&value.shape)
        )));
    }
    array.write(value).map_err(|e| super::error(py, e))
}

/// NumPy's rule for results that go into an array that is there.
fn check_output(name: &str, from: Scalar, to: Scalar) -> PyResult<()> {
    match crate::operand::can_cast(from, to, "same_kind") {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!(
            "Cannot cast ufunc '{name}' output from dtype('{}') to dtype('{}') with casting rule 'same_kind'",
            from.numpy_name(),
            to.numpy_name()
        ))),
    }
}
