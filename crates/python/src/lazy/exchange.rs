//! Arrays from NumPy and to NumPy.
#![allow(unsafe_code)]

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyModule, PySlice, PyTuple};
use weft_ir::Scalar;
use weft_lazy::{Array, Block, Dims, Node, Piece, Strides, machine, order, record};
use weft_runtime::Place;

use super::ndarray::NdArray;
use super::{compute, taping, watching};
use crate::array::DeviceArray;
use crate::numpy::{ArrayFields, Numpy, RawView};
use crate::{devices, errors};

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_from_numpy, module)?)?;
    module.add_function(wrap_pyfunction!(_adopt, module)?)?;
    module.add_function(wrap_pyfunction!(_to_device, module)?)?;
    module.add_function(wrap_pyfunction!(_array_device, module)?)?;
    module.add_function(wrap_pyfunction!(_lent, module)?)?;
    module.add_function(wrap_pyfunction!(super::calls::_in_place, module)?)?;
    module.add_function(wrap_pyfunction!(_from_device, module)?)?;
    module.add_function(wrap_pyfunction!(_to_numpy, module)?)
}

/// Keeps a block alive for a NumPy array that looks at it.
#[pyclass(frozen, module = "weft._weft")]
struct Held(#[expect(dead_code, reason = "held to keep the memory")] Arc<Block>);

fn known(fields: &ArrayFields<'_>, array: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    match fields.elem {
        Some(elem) => Ok(elem),
        None => {
            let dtype = array.getattr("dtype")?;
            Err(PyTypeError::new_err(format!(
                "arrays of dtype {dtype} do not exist here: numbers and bools only"
            )))
        }
    }
}

/// A copy of a NumPy array on a device, in the order that its elements lie in.
pub fn copied(numpy: &Numpy, array: &Bound<'_, PyAny>, device: u8) -> PyResult<Array> {
    let py = array.py();
    let mut array = array.clone();
    if !numpy.fields(&array).native {
        let native = array.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
        array = array.call_method1("astype", (native,))?;
    }
    let elem = known(&numpy.fields(&array), &array)?;
    machine::check_elem(device, elem).map_err(|e| super::error(py, e))?;
    let mut order = None;
    if numpy.fields(&array).layout != weft_ir::Layout::C {
        order = order::of_strides(&numpy.fields(&array).strides.iter().map(|&s| s as i64).collect::<Strides>());
        if let Some(order) = &order {
            array = array.call_method1("transpose", (order.to_vec(),))?;
        }
        array = py
            .import("numpy")?
            .call_method1("ascontiguousarray", (&array,))?
            .call_method1("reshape", (array.getattr("shape")?,))?;
    }
    let fields = numpy.fields(&array);
    let shape: Dims = fields.shape.iter().map(|&n| n as u64).collect();
    let bytes = weft_lazy::bytes(&shape, elem.size()).ok_or_else(|| PyValueError::new_err("array is too big"))?;
    let block = Block::on(device, bytes).map_err(|e| super::error(py, e))?;
    let from = crate::numpy::bytes(&fields, bytes as usize);
    if !from.is_empty() {
        block.buffer().write(0, from).map_err(|e| errors::device(py, e))?;
    }
    let value = Node::stored(elem, shape, Piece::whole(block));
    Ok(Array::of_ordered(value, order.as_deref()))
}

/// A NumPy array as an operand: one that is stretched is copied as it was before, since the order of results depends on its steps.
pub fn operand(numpy: &Numpy, array: &Bound<'_, PyAny>, device: u8) -> PyResult<Array> {
    let py = array.py();
    let fields = numpy.fields(array);
    let lies = fields.shape.iter().zip(fields.strides);
    let is_stretched: Vec<bool> = lies.map(|(&n, &step)| n > 1 && step == 0).collect();
    if !is_stretched.contains(&true) {
        return copied(numpy, array, device);
    }
    let shape: Dims = fields.shape.iter().map(|&n| n as u64).collect();
    let first = |&stretched: &bool| PySlice::new(py, 0, if stretched { 1 } else { isize::MAX }, 1);
    let key = PyTuple::new(py, is_stretched.iter().map(first))?;
    let array = copied(numpy, &array.get_item(key)?, device)?;
    array.broadcast(&shape).map_err(|e| super::error(py, e))
}

/// A NumPy array's elements, copied.
#[pyfunction]
#[pyo3(signature = (array, device=None))]
fn _from_numpy(array: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyAny>>) -> PyResult<NdArray> {
    let py = array.py();
    let device = devices::for_arrays(py, device)?;
    let numpy = Numpy::get(py)?;
    if numpy.scalar_of(array).is_some() {
        let array = py.import("numpy")?.call_method1("asarray", (array,))?;
        return Ok(NdArray {
            array: copied(numpy, &array, device)?,
        });
    }
    if !numpy.is_array(array) {
        return Err(PyTypeError::new_err("expected a NumPy array or scalar"));
    }
    Ok(NdArray {
        array: copied(numpy, array, device)?,
    })
}

/// The device that arrays are made on if none is named.
#[pyfunction]
fn _array_device(py: Python<'_>) -> PyResult<devices::PyDevice> {
    let device = machine::device(devices::of_arrays(py)?).map_err(|e| super::error(py, e))?;
    Ok(devices::PyDevice(device))
}

/// A copy on a device; the array itself if it is there.
#[pyfunction]
fn _to_device(py: Python<'_>, x: &NdArray, device: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let device = devices::for_arrays(py, Some(device))?;
    if device == x.array.device() {
        return Ok(NdArray { array: x.array.clone() });
    }
    super::checked(py, record::moved(&x.array.read(), device))
}

/// A NumPy array that nobody else uses, without a copy, on the CPU.
#[pyfunction]
pub fn _adopt(array: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let numpy = Numpy::get(array.py())?;
    if !numpy.is_array(array) {
        return Err(PyTypeError::new_err("expected a NumPy array"));
    }
    let fields = numpy.fields(array);
    let elem = known(&fields, array)?;
    let item = elem.size();
    let shape: Dims = fields.shape.iter().map(|&n| n as u64).collect();
    let strides: Strides = fields.strides.iter().map(|&s| s as i64).collect();
    let regular = strides.iter().all(|s| s % item as i64 == 0);
    let bounds = crate::numpy::bounds(fields.data, fields.shape, fields.strides, item);
    let (low, high) = match bounds {
        Some(bounds) if fields.aligned && fields.writable && regular => bounds,
        _ => {
            return Ok(NdArray {
                array: copied(numpy, array, machine::CPU)?,
            });
        }
    };
    let buffer = devices::cpu().pin(low, (high - low) as usize, false);
    let buffer = buffer.map_err(|e| errors::device(array.py(), e))?;
    let piece = Piece::whole(Block::of(buffer, Some(Box::new(array.clone().unbind()))));
    if weft_lazy::is_dense(&shape, &strides, item) {
        return Ok(NdArray::of(Node::stored(elem, shape, piece)));
    }
    let all = Array::of(Node::stored(elem, [(high - low) / item as u64].as_slice().into(), piece));
    let view = all.strided(elem, &shape, &strides, (fields.data - low) as i64);
    view.map(|array| NdArray { array }).map_err(|e| super::error(array.py(), e))
}

/// A read-only NumPy array of the elements as they are now. On the CPU it looks at the same memory; elsewhere it is a copy, and a sync that
/// counts as hidden unless it was `asked` for by name.
#[pyfunction]
#[pyo3(signature = (x, asked=false))]
pub fn _to_numpy<'py>(py: Python<'py>, x: &NdArray, asked: bool) -> PyResult<Bound<'py, PyAny>> {
    let array = &x.array;
    taping::refuse_followed(py, array)?;
    let base = array.base();
    let as_it_lies = array.is_whole() || (base.is_stored() && (array.device() == machine::CPU || is_compact(array)));
    let (value, offset, strides) = match as_it_lies {
        true => {
            let (offset, strides) = array.strides();
            (base, offset, strides)
        }
        // Of a view no more is computed than it shows.
        false => {
            let value = array.read();
            let strides = weft_lazy::dense(&value.shape, value.elem.size());
            (value, 0, strides)
        }
    };
    match array.device() {
        machine::CPU => compute(py, std::slice::from_ref(&value))?,
        _ => {
            if !asked {
                watching::hidden_sync(py)?;
            }
            super::compute_as_asked(py, std::slice::from_ref(&value))?;
        }
    }
    let Some(piece) = value.piece() else {
        return Err(errors::internal(py, "a value was not computed".into()));
    };
    let (piece, offset) = on_host(py, piece, array, offset, &strides)?;
    let raw = RawView {
        elem: array.elem,
        data: piece.address().wrapping_add_signed(offset),
        shape: array.shape.iter().map(|&n| n as isize).collect(),
        strides: strides.iter().map(|&s| s as isize).collect(),
        writable: false,
    };
    let owner = Bound::new(py, Held(piece.block.clone()))?.into_any();
    // SAFETY: the owner holds the block, which is not written to while somebody else holds it.
    unsafe { Numpy::get(py)?.view(owner, &raw) }
}

/// Is most of what lies between its first and last byte its own?
fn is_compact(array: &Array) -> bool {
    let (offset, strides) = array.strides();
    let (low, high) = reach(array, offset, &strides);
    high - low <= 2 * array.size() as i64 * array.elem.size() as i64
}

/// The offset of the lowest byte of any element, and that behind the highest.
fn reach(array: &Array, offset: i64, strides: &[i64]) -> (i64, i64) {
    if array.size() == 0 {
        return (offset, offset);
    }
    let (mut low, mut high) = (offset, offset);
    for (&n, &stride) in array.shape.iter().zip(strides) {
        let far = (n as i64 - 1).saturating_mul(stride);
        if far < 0 { low += far } else { high += far }
    }
    (low, high + array.elem.size() as i64)
}

/// A copy in the host's memory of what the array's elements lie in, if they are not there, and where in it the first one is.
fn on_host(py: Python<'_>, piece: Piece, array: &Array, offset: i64, strides: &[i64]) -> PyResult<(Piece, i64)> {
    if piece.block.device() == machine::CPU {
        return Ok((piece, offset));
    }
    let (low, high) = reach(array, offset, strides);
    let bytes = (high - low) as u64;
    let here = Piece::whole(Block::new(bytes).map_err(|e| super::error(py, e))?);
    let there = Piece {
        offset: piece.offset.wrapping_add_signed(low),
        ..piece
    };
    py.detach(|| weft_lazy::carry(&here, &there, bytes))
        .map_err(|e| super::error(py, e))?;
    Ok((here, offset - low))
}

/// The address of an array's first element in its device's memory, and its steps in bytes, for others to read: with what keeps that memory
/// as it is. `by_array`: the array keeps it, too.
#[pyfunction]
#[pyo3(signature = (x, by_array=false))]
fn _lent<'py>(py: Python<'py>, x: &NdArray, by_array: bool) -> PyResult<(Bound<'py, PyAny>, u64, Vec<i64>)> {
    taping::refuse_followed(py, &x.array)?;
    let value = x.array.base();
    super::compute_as_asked(py, std::slice::from_ref(&value))?;
    let Some(piece) = value.piece() else {
        return Err(errors::internal(py, "a value was not computed".into()));
    };
    if by_array {
        x.array.storage.keep(&piece.block);
    }
    let (offset, strides) = x.array.strides();
    let held = Bound::new(py, Held(piece.block.clone()))?.into_any();
    Ok((held, piece.address().wrapping_add_signed(offset), strides.to_vec()))
}

/// A copy of a dense device array, on its device.
#[pyfunction]
fn _from_device(array: &Bound<'_, DeviceArray>) -> PyResult<NdArray> {
    let (py, fields) = (array.py(), array.get());
    let device = machine::number(fields.home()).map_err(|e| super::error(py, e))?;
    let elem = fields.elem();
    machine::check_elem(device, elem).map_err(|e| super::error(py, e))?;
    let shape: Dims = fields.extents().iter().map(|&n| n as u64).collect();
    let strides: Strides = fields.byte_strides().iter().map(|&s| s as i64).collect();
    let bytes = weft_lazy::bytes(&shape, elem.size()).ok_or_else(|| PyValueError::new_err("array is too big"))?;
    if !weft_lazy::is_dense(&shape, &strides, elem.size()) {
        return Err(errors::internal(py, "a device array that is not dense".into()));
    }
    let piece = Piece::whole(Block::on(device, bytes).map_err(|e| super::error(py, e))?);
    if bytes > 0 {
        let place = |address| match device {
            machine::CPU => Place::Host(address),
            _ => Place::Device(fields.home().id(), address),
        };
        let copy = || {
            let stream = fields.home().default_stream()?;
            stream.copy(place(piece.address()), place(fields.address()), bytes as usize)?;
            // Whoever owns the memory frees it as soon as the array is gone.
            stream.synchronize()
        };
        py.detach(copy).map_err(|e| errors::device(py, e))?;
    }
    Ok(NdArray::of(Node::stored(elem, shape, piece)))
}
