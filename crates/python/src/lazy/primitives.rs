//! The primitives that `weft.arrays` is written in.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyTuple};
use smallvec::SmallVec;
use weft_front::{ArgType, ufuncs};
use weft_ir::{Const, Scalar};
use weft_lazy::number::{self, Weak};
use weft_lazy::record::{self, Operand};
use weft_lazy::{Array, FoldKind, Node, Piece, Strides, Value, at_once, machine, order, parts};

use super::calls;
use super::ndarray::NdArray;
use super::operands::{self, Taken, bits_in, device_of, take_any, weak};
use super::{checked, error, in_order, operators};
use crate::devices;
use crate::numpy::Numpy;
use crate::operand::elem_of;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_ufunc, module)?)?;
    module.add_function(wrap_pyfunction!(_ufunc_types, module)?)?;
    module.add_function(wrap_pyfunction!(_select, module)?)?;
    module.add_function(wrap_pyfunction!(_cast, module)?)?;
    module.add_function(wrap_pyfunction!(_order, module)?)?;
    module.add_function(wrap_pyfunction!(_order_of_steps, module)?)?;
    module.add_function(wrap_pyfunction!(_order_of_copy, module)?)?;
    module.add_function(wrap_pyfunction!(_full, module)?)?;
    module.add_function(wrap_pyfunction!(_unset, module)?)?;
    module.add_function(wrap_pyfunction!(_iota, module)?)?;
    module.add_function(wrap_pyfunction!(_permute, module)?)?;
    module.add_function(wrap_pyfunction!(_broadcast, module)?)?;
    module.add_function(wrap_pyfunction!(_reshape, module)?)?;
    module.add_function(wrap_pyfunction!(_strided, module)?)?;
    module.add_function(wrap_pyfunction!(_part, module)?)?;
    module.add_function(wrap_pyfunction!(_bits, module)?)?;
    module.add_function(wrap_pyfunction!(_assign, module)?)?;
    module.add_function(wrap_pyfunction!(_fold, module)?)?;
    module.add_function(wrap_pyfunction!(_arg, module)?)?;
    module.add_function(wrap_pyfunction!(_eval, module)?)?;
    module.add_function(wrap_pyfunction!(_is_evaluated, module)?)?;
    module.add_function(wrap_pyfunction!(_few_at_once, module)?)?;
    module.add_function(wrap_pyfunction!(_part_bytes, module)?)
}

pub(super) fn elem(dtype: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    elem_of(Numpy::get(dtype.py())?, dtype)
}

fn optional(dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Scalar>> {
    dtype.filter(|d| !d.is_none()).map(elem).transpose()
}

/// A ufunc's name that lasts.
fn known(name: &str) -> PyResult<&'static str> {
    record::ufunc_name(name).ok_or_else(|| PyTypeError::new_err(format!("there is no ufunc '{name}'")))
}

/// NumPy's ufunc of a name, applied.
#[pyfunction]
#[pyo3(signature = (name, args, dtype=None))]
fn _ufunc<'py>(name: &str, args: &Bound<'py, PyTuple>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let py = args.py();
    let name = known(name)?;
    let args: SmallVec<[Bound<'_, PyAny>; 3]> = args.iter().collect();
    let device = device_of(py, args.iter())?;
    let taken = args
        .iter()
        .map(|arg| take_any(arg, device))
        .collect::<PyResult<SmallVec<[Taken<'_>; 3]>>>()?;
    operators::apply_typed(py, name, &taken, optional(dtype)?)
}

/// The types of operands and results of the loop that a ufunc takes for operands of these types, by NumPy's names; none where it has no loop.
/// A type in the list that starts with `weak ` is one of Python's.
#[pyfunction]
fn _ufunc_types(name: &str, types: Vec<String>) -> Option<(Vec<&'static str>, Vec<&'static str>)> {
    let given = types.iter().map(|ty| match ty.strip_prefix("weak ") {
        Some(ty) => Scalar::from_numpy_name(ty).map(ArgType::Weak),
        None => Scalar::from_numpy_name(ty).map(ArgType::Strong),
    });
    let found = ufuncs::resolve(name, &given.collect::<Option<Vec<_>>>()?)?;
    let names = |scalars: &[Scalar]| scalars.iter().map(|s| s.numpy_name()).collect();
    Some((names(&found.operands), names(&found.results)))
}

fn value_in(operand: Operand, to: Scalar) -> weft_lazy::Result<Value> {
    match operand {
        Operand::Value(value) => Ok(record::cast(&value, to)),
        Operand::Weak(value) => Ok(Node::fill(to, weft_lazy::Dims::new(), number::weak_in(value, to)?)),
    }
}

fn arg_type(operand: &Operand) -> ArgType {
    match operand {
        Operand::Value(value) => ArgType::Strong(value.elem),
        Operand::Weak(value) => ArgType::Weak(value.scalar()),
    }
}

/// `where(condition, a, b)`
#[pyfunction]
fn _select(condition: &Bound<'_, PyAny>, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let py = a.py();
    let device = device_of(py, [condition, a, b].into_iter())?;
    let taken = [take_any(condition, device)?, take_any(a, device)?, take_any(b, device)?];
    let order = operands::order_of(&taken);
    let [condition, a, b] = taken.map(|taken| taken.read(order.as_deref()));
    let Some(to) = ufuncs::common(&[arg_type(&a), arg_type(&b)]) else {
        return Err(PyTypeError::new_err("where takes numbers"));
    };
    let made = || record::select(&value_in(condition, Scalar::Bool)?, &value_in(a, to)?, &value_in(b, to)?);
    let made = made().map_err(|e| error(py, e))?;
    in_order(py, made, order.as_deref())
}

/// A copy in another type, in the order that the elements lie in, or in C's.
#[pyfunction]
#[pyo3(signature = (x, dtype, in_c_order=false))]
fn _cast(x: &NdArray, dtype: &Bound<'_, PyAny>, in_c_order: bool) -> PyResult<NdArray> {
    let (py, to) = (dtype.py(), elem(dtype)?);
    let order = order::of_copy(&x.array).filter(|_| !in_c_order);
    in_order(py, record::cast(&x.array.read_in(order.as_deref()), to), order.as_deref())
}

/// The axes of a result of these arrays in the order of its memory; none where that is C's.
#[pyfunction]
fn _order(arrays: Vec<PyRef<'_, NdArray>>) -> Option<Vec<usize>> {
    numbers(order::of_operands(arrays.iter().map(|x| &x.array)))
}

/// The same of operands that make such steps along the axes of a result, 0 where they have but one element.
#[pyfunction]
fn _order_of_steps(steps: Vec<Vec<i64>>) -> Option<Vec<usize>> {
    let rank = steps.first().map_or(0, Vec::len);
    let steps: SmallVec<[Strides; 3]> = steps.into_iter().map(Strides::from_vec).collect();
    let same = steps.iter().all(|each| each.len() == rank);
    numbers(if same { order::of_steps(&steps, rank) } else { None })
}

/// The same of a copy.
#[pyfunction]
fn _order_of_copy(x: &NdArray) -> Option<Vec<usize>> {
    numbers(order::of_copy(&x.array))
}

fn numbers(order: Option<order::Order>) -> Option<Vec<usize>> {
    Some(order?.into_iter().map(usize::from).collect())
}

fn sizes(shape: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let sizes: Vec<i64> = match shape.extract::<i64>() {
        Ok(n) => vec![n],
        Err(_) => shape.extract()?,
    };
    let size = |n: i64| u64::try_from(n).map_err(|_| PyValueError::new_err("negative dimensions are not allowed"));
    sizes.into_iter().map(size).collect()
}

#[pyfunction]
#[pyo3(signature = (shape, value, dtype, device=None))]
fn _full(
    shape: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
) -> PyResult<NdArray> {
    let (py, to) = (shape.py(), elem(dtype)?);
    let device = devices::for_arrays(py, device)?;
    let shape = sizes(shape)?;
    record::check_size(&shape, to.size()).map_err(|e| error(py, e))?;
    let bits = bits_in(value, to)?.ok_or_else(|| PyTypeError::new_err("the value is a number"))?;
    checked(py, Node::fill_on(device, to, shape.into(), bits))
}

/// An array whose memory holds whatever it held: for what is written as a whole.
#[pyfunction]
#[pyo3(signature = (shape, dtype, device=None))]
fn _unset(shape: &Bound<'_, PyAny>, dtype: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyAny>>) -> PyResult<NdArray> {
    let (py, to) = (shape.py(), elem(dtype)?);
    let device = devices::for_arrays(py, device)?;
    let shape: weft_lazy::Dims = sizes(shape)?.into();
    record::check_size(&shape, to.size()).map_err(|e| error(py, e))?;
    let piece = Piece::fresh(device, &shape, to).map_err(|e| error(py, e))?;
    checked(py, Node::stored(to, shape, piece))
}

#[pyfunction]
#[pyo3(signature = (count, start, step, dtype, device=None))]
fn _iota(
    count: u64,
    start: &Bound<'_, PyAny>,
    step: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
) -> PyResult<NdArray> {
    let (py, to) = (start.py(), elem(dtype)?);
    let device = devices::for_arrays(py, device)?;
    let number = |object: &Bound<'_, PyAny>| -> PyResult<Const> {
        match weak(object)? {
            Some(Weak::Number(value)) => Ok(value),
            _ => {
                let bits = bits_in(object, to)?.ok_or_else(|| PyTypeError::new_err("start and step are numbers"))?;
                Ok(number::constant(to, bits))
            }
        }
    };
    let made = record::iota(device, to, count, number(start)?, number(step)?);
    made.map_err(|e| error(py, e)).and_then(|value| checked(py, value))
}

#[pyfunction]
fn _permute(py: Python<'_>, x: &NdArray, axes: Vec<usize>) -> PyResult<NdArray> {
    let array = x.array.permuted(&axes).map_err(|e| error(py, e))?;
    Ok(NdArray { array })
}

#[pyfunction]
fn _broadcast(x: &NdArray, shape: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let array = x.array.broadcast(&sizes(shape)?).map_err(|e| error(shape.py(), e))?;
    Ok(NdArray { array })
}

#[pyfunction]
fn _reshape(x: &NdArray, shape: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let array = x.array.reshape(&sizes(shape)?).map_err(|e| error(shape.py(), e))?;
    Ok(NdArray { array })
}

#[pyfunction]
fn _strided(py: Python<'_>, x: &NdArray, shape: &Bound<'_, PyAny>, strides: Vec<i64>, offset: i64) -> PyResult<NdArray> {
    let shape = sizes(shape)?;
    if strides.len() != shape.len() {
        return Err(PyValueError::new_err("shape and strides have as many entries"));
    }
    let array = x.array.strided(x.array.elem, &shape, &strides, offset).map_err(|e| error(py, e))?;
    Ok(NdArray { array })
}

/// The real or imaginary parts of complex numbers, as a view.
#[pyfunction]
fn _part(py: Python<'_>, x: &NdArray, part: &str) -> PyResult<NdArray> {
    let array = &x.array;
    if !array.elem.is_complex() {
        return Err(PyTypeError::new_err("only complex numbers have parts"));
    }
    let to = array.elem.part();
    let offset = match part {
        "real" => 0,
        "imag" => to.size() as i64,
        _ => return Err(PyValueError::new_err("a part is 'real' or 'imag'")),
    };
    let array = array
        .strided(to, &array.shape, &array.strides().1, offset)
        .map_err(|e| error(py, e))?;
    Ok(NdArray { array })
}

/// `view(dtype)`: the same bytes in another type.
#[pyfunction]
fn _bits(x: &NdArray, dtype: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let (py, array, to) = (dtype.py(), &x.array, elem(dtype)?);
    let (old, new) = (array.elem.size(), to.size());
    let (mut shape, mut strides) = (array.shape.clone(), array.strides().1);
    if old != new {
        let (Some(n), Some(stride)) = (shape.last_mut(), strides.last_mut()) else {
            return Err(PyValueError::new_err(
                "Changing the dtype of a 0d array is only supported if the itemsize is unchanged",
            ));
        };
        if *n != 1 && *stride != old as i64 {
            return Err(PyValueError::new_err(
                "To change to a dtype of a different size, the last axis must be contiguous",
            ));
        }
        let bytes = *n * old as u64;
        if !bytes.is_multiple_of(new as u64) {
            return Err(PyValueError::new_err(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.",
            ));
        }
        *n = bytes / new as u64;
        *stride = new as i64;
    }
    let array = array.strided(to, &shape, &strides, 0).map_err(|e| error(py, e))?;
    Ok(NdArray { array })
}

/// `x[...] = value`
#[pyfunction]
fn _assign(x: &NdArray, value: &Bound<'_, PyAny>) -> PyResult<()> {
    assign_to(value.py(), &x.array, value)
}

pub fn assign_to(py: Python<'_>, array: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    array.check_writeable().map_err(|e| error(py, e))?;
    // `x[1:] += 1` ends with the part put where it is.
    if value.cast::<NdArray>().is_ok_and(|value| value.get().array.is_at(array)) {
        return Ok(());
    }
    let value = operands::take_for(value, array.elem, array.device())?;
    calls::wait_for_calls(py, array)?;
    array.write(&value).map_err(|e| error(py, e))
}

#[pyfunction]
#[pyo3(signature = (op, x, axes, dtype=None))]
fn _fold(py: Python<'_>, op: &str, x: &NdArray, axes: Vec<usize>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<NdArray> {
    // Truths are those of the elements, whatever these are.
    let elem = if op.starts_with("logical_") {
        Scalar::Bool
    } else {
        optional(dtype)?.unwrap_or(x.array.elem)
    };
    if axes.iter().any(|&axis| axis >= x.array.rank()) {
        return Err(PyValueError::new_err("an axis is out of bounds"));
    }
    let (value, axes, order) = match order::of_fold(&x.array, &axes) {
        None => (x.array.read(), axes, None),
        Some((all, order)) => (x.array.in_order(&all).read(), (order.len()..all.len()).collect(), Some(order)),
    };
    let made = record::fold(FoldKind::Ufunc(known(op)?, elem), &value, &axes).map_err(|e| error(py, e))?;
    in_order(py, made, order.as_deref())
}

#[pyfunction]
fn _arg(py: Python<'_>, op: &str, x: &NdArray, axis: usize) -> PyResult<NdArray> {
    let what = match op {
        "argmax" => FoldKind::ArgMax,
        "argmin" => FoldKind::ArgMin,
        _ => return Err(PyValueError::new_err("op is 'argmax' or 'argmin'")),
    };
    let value = x.array.read();
    if axis >= value.shape.len() {
        return Err(PyValueError::new_err("the axis is out of bounds"));
    }
    let made = record::fold(what, &value, &[axis]);
    made.map_err(|e| error(py, e)).and_then(|value| checked(py, value))
}

/// Computes arrays, and waits for the devices that they are on, or leaves them the work.
#[pyfunction]
#[pyo3(signature = (arrays, wait=true))]
fn _eval(py: Python<'_>, arrays: Vec<PyRef<'_, NdArray>>, wait: bool) -> PyResult<()> {
    let values: Vec<Value> = arrays.iter().map(|array| array.array.base()).collect();
    super::compute_as_asked(py, &values)?;
    if !wait {
        return Ok(());
    }
    let mut others: Vec<u8> = values
        .iter()
        .map(|value| value.device)
        .filter(|&device| device != machine::CPU)
        .collect();
    others.sort_unstable();
    others.dedup();
    for number in others {
        let device = machine::device(number).map_err(|e| error(py, e))?;
        devices::wait(py, &device, || device.synchronize())?;
    }
    Ok(())
}

/// For tests: have operations of few elements be recorded, as those of many are.
#[pyfunction]
fn _few_at_once(on: bool) {
    at_once::set(on);
}

/// For tests: have what is computed part by part be computed in parts of so many bytes, or as usual.
#[pyfunction]
#[pyo3(signature = (bytes=None))]
fn _part_bytes(bytes: Option<u64>) {
    parts::set(bytes);
}

#[pyfunction]
fn _is_evaluated(x: &NdArray) -> bool {
    x.array.base().is_stored()
}
