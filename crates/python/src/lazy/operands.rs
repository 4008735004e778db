//! Python objects as operands: arrays, Python's numbers, NumPy's scalars and arrays.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use weft_ir::{Const, Scalar};
use weft_lazy::number::{self, Weak};
use weft_lazy::order::{self, Order};
use weft_lazy::record::{self, Operand};
use weft_lazy::{Array, Dims, Node, Value, machine};

use super::exchange;
use super::ndarray::NdArray;
use crate::devices::{self, PyDevice};
use crate::numpy::Numpy;
use crate::slots;

/// The device of the first array that has axes among operands, to which those of NumPy's are copied; where there is none, the one that
/// arrays are made on.
pub fn device_of<'a, 'py: 'a>(py: Python<'py>, objects: impl Iterator<Item = &'a Bound<'py, PyAny>> + Clone) -> PyResult<u8> {
    let arrays = objects.filter_map(|object| object.cast::<NdArray>().ok());
    let with_axes = arrays.clone().find(|array| array.get().array.rank() > 0);
    match with_axes.or_else(|| arrays.clone().next()) {
        Some(array) => Ok(array.get().array.device()),
        None => devices::of_arrays(py),
    }
}

/// What an object is to a ufunc.
#[derive(Debug)]
pub enum Taken<'a> {
    Array(&'a Array),
    /// Of NumPy's elements.
    Copy(Box<Array>),
    Number(Operand),
}

impl Taken<'_> {
    fn array(&self) -> Option<&Array> {
        match self {
            Taken::Array(array) => Some(array),
            Taken::Copy(array) => Some(array),
            Taken::Number(_) => None,
        }
    }

    /// What it is now, with axes in the order of a result's memory, if that is not C's.
    pub fn read(&self, order: Option<&[u8]>) -> Operand {
        match self {
            Taken::Array(array) => Operand::Value(array.read_in(order)),
            Taken::Copy(array) => Operand::Value(array.read_in(order)),
            Taken::Number(number) => number.clone(),
        }
    }
}

/// The order that results of operands lie in, if that is not C's.
pub fn order_of(taken: &[Taken<'_>]) -> Option<Order> {
    order::of_operands(taken.iter().filter_map(Taken::array))
}

/// What an object is to a ufunc, on a device if it is NumPy's; none where it is nothing that arrays are computed with.
pub fn take<'a>(object: &'a Bound<'_, PyAny>, device: u8) -> PyResult<Option<Taken<'a>>> {
    if let Ok(array) = object.cast::<NdArray>() {
        return Ok(Some(Taken::Array(&array.get().array)));
    }
    if let Some(weak) = weak(object)? {
        return Ok(Some(Taken::Number(Operand::Weak(weak))));
    }
    let numpy = Numpy::get(object.py())?;
    if let Some(scalar) = numpy.scalar_of(object) {
        let bits = slots::slots_to_memory(scalar, numpy.scalar_bits(object, scalar));
        return Ok(Some(Taken::Number(Operand::Value(Node::fill(scalar, Dims::new(), bits)))));
    }
    if numpy.is_array(object) {
        return Ok(Some(Taken::Copy(Box::new(exchange::operand(numpy, object, device)?))));
    }
    Ok(None)
}

/// As `take`, of lists, too; an error where it is nothing for arrays.
pub fn take_any<'a>(object: &'a Bound<'_, PyAny>, device: u8) -> PyResult<Taken<'a>> {
    if let Some(taken) = take(object, device)? {
        return Ok(taken);
    }
    match made_by("array_of", object, object.py().None(), device) {
        Ok(array) => Ok(Taken::Copy(Box::new(array))),
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => Err(no_number(object)),
        Err(error) => Err(error),
    }
}

/// An array that a function of `weft.arrays._common` makes of an object.
fn made_by<'py>(function: &str, object: &Bound<'py, PyAny>, dtype: impl IntoPyObject<'py>, device: u8) -> PyResult<Array> {
    let py = object.py();
    let place = PyDevice(machine::device(device).map_err(|e| super::error(py, e))?);
    let made = py.import("weft.arrays._common")?.call_method1(function, (object, dtype, place))?;
    match made.cast::<NdArray>() {
        Ok(array) => Ok(array.get().array.clone()),
        Err(_) => Err(no_number(object)),
    }
}

/// What is put into elements of a type. An integer of Python's must be one of the type's, as must what a float is cut to, and those of NumPy's,
/// too, if the type is signed; arrays are cast.
pub fn take_for(object: &Bound<'_, PyAny>, to: Scalar, device: u8) -> PyResult<Value> {
    let py = object.py();
    let numpy = Numpy::get(py)?;
    let number = match numpy.scalar_of(object) {
        Some(scalar) if to.is_signed() && scalar.is_int() => Some(int(object)?),
        Some(scalar) if to.is_signed() && scalar.is_float() => Some(whole(object.extract()?)?),
        _ => None,
    };
    if let Some(number) = number {
        let bits = number::weak_in(number, to).map_err(|e| super::error(py, e))?;
        return Ok(Node::fill(to, Dims::new(), bits));
    }
    if let Some(Operand::Value(value)) = take(object, device)?.map(|taken| taken.read(None)) {
        return Ok(record::cast(&value, to));
    }
    if let Some(bits) = bits_in(object, to)? {
        return Ok(Node::fill(to, Dims::new(), bits));
    }
    made_by("values_for", object, numpy.descr(py, to)?, device).map(|array| array.read_in(None))
}

fn no_number(object: &Bound<'_, PyAny>) -> PyErr {
    let name = object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "an operand is of type '{name}', which is neither a number nor an array of numbers"
    ))
}

/// A number of Python's own classes. NumPy's scalars are none, though some are instances of them.
pub fn weak(object: &Bound<'_, PyAny>) -> PyResult<Option<Weak>> {
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return Ok(Some(Weak::Number(Const::f64(value.extract()?))));
    }
    if object.is_exact_instance_of::<PyInt>() {
        return int(object).map(Some);
    }
    if object.is_exact_instance_of::<PyBool>() {
        return Ok(Some(Weak::Number(Const::Bool(object.extract()?))));
    }
    if let Ok(value) = object.cast_exact::<PyComplex>() {
        use pyo3::types::PyComplexMethods;
        let (real, imag) = (value.real().to_bits(), value.imag().to_bits());
        return Ok(Some(Weak::Number(Const::C128(real, imag))));
    }
    if Numpy::get(object.py())?.scalar_of(object).is_some() {
        return Ok(None);
    }
    if object.is_instance_of::<PyInt>() {
        return int(object).map(Some);
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Some(Weak::Number(Const::f64(value.extract()?))));
    }
    Ok(None)
}

fn int(object: &Bound<'_, PyAny>) -> PyResult<Weak> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok(Weak::Number(Const::Int(Scalar::I64, value)));
    }
    if let Ok(value) = object.extract::<u64>() {
        return Ok(Weak::Number(Const::Int(Scalar::U64, value as i64)));
    }
    let negative = object.lt(0)?;
    let nearest = match object.extract::<f64>() {
        Ok(nearest) => nearest,
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => f64::INFINITY,
        Err(error) => return Err(error),
    };
    Ok(Weak::Beyond { negative, nearest })
}

/// The integer of Python's that a float is cut to.
fn whole(x: f64) -> PyResult<Weak> {
    if x.is_nan() {
        return Err(pyo3::exceptions::PyValueError::new_err("cannot convert float NaN to integer"));
    }
    if x.is_infinite() {
        return Err(PyOverflowError::new_err("cannot convert float infinity to integer"));
    }
    let (x, end) = (x.trunc(), 2f64.powi(63));
    Ok(match x {
        _ if (-end..end).contains(&x) => Weak::Number(Const::Int(Scalar::I64, x as i64)),
        _ if (0.0..2.0 * end).contains(&x) => Weak::Number(Const::Int(Scalar::U64, x as u64 as i64)),
        _ => Weak::Beyond {
            negative: x < 0.0,
            nearest: x,
        },
    })
}

/// A number in a type, as assignments put it there: from Python's numbers or NumPy's.
pub fn bits_in(object: &Bound<'_, PyAny>, to: Scalar) -> PyResult<Option<number::Bits>> {
    let py = object.py();
    if let Some(weak) = weak(object)? {
        if let (Weak::Number(Const::C128(..)), false) = (weak, to.is_complex() || to == Scalar::Bool) {
            let wanted = if to.is_int() {
                "int() argument must be a string, a bytes-like object or a real number, not 'complex'"
            } else {
                "float() argument must be a string or a real number, not 'complex'"
            };
            return Err(PyTypeError::new_err(wanted));
        }
        let weak = match weak {
            Weak::Number(Const::F64(x)) if to.is_int() => whole(f64::from_bits(x))?,
            weak => weak,
        };
        return number::weak_in(weak, to).map(Some).map_err(|e| super::error(py, e));
    }
    let numpy = Numpy::get(py)?;
    let Some(scalar) = numpy.scalar_of(object) else { return Ok(None) };
    let bits = slots::slots_to_memory(scalar, numpy.scalar_bits(object, scalar));
    number::converted(number::constant(scalar, bits), to)
        .map(Some)
        .map_err(|e| super::error(py, e))
}
