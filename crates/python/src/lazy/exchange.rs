//! Arrays from NumPy and to NumPy.
#![allow(unsafe_code)]

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyModule;
use weft_ir::Scalar;
use weft_lazy::{Array, Block, Dims, Node, Piece, Strides};
use weft_runtime::{Buffer, DeviceId, RunError, Stream, read_here, write_here};

use super::compute;
use super::ndarray::NdArray;
use crate::numpy::{ArrayFields, Numpy, RawView};
use crate::{devices, errors};

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_from_numpy, module)?)?;
    module.add_function(wrap_pyfunction!(_adopt, module)?)?;
    module.add_function(wrap_pyfunction!(_to_numpy, module)?)
}

/// Keeps a block alive for a NumPy array that looks at it.
#[pyclass(frozen, module = "weft._weft")]
struct Held(#[expect(dead_code, reason = "held to keep the memory")] Arc<Block>);

/// The memory of a NumPy array that was given away.
#[derive(Debug)]
struct Adopted {
    address: u64,
    bytes: usize,
    _owner: Py<PyAny>,
}

impl Buffer for Adopted {
    fn device(&self) -> DeviceId {
        DeviceId::CPU
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        read_here(self, offset, into, || Ok(()))
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        write_here(self, offset, from, || Ok(()))
    }

    fn used_on(&self, _stream: Option<&Arc<dyn Stream>>) {}
}

/// Refuses devices that arrays do not live on.
pub fn check_device(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(device) = device.filter(|d| !d.is_none()) else {
        return Ok(());
    };
    let named = match device.cast::<devices::PyDevice>() {
        Ok(device) => device.get().0.id(),
        Err(_) => devices::named(py, &device.extract::<String>()?)?.id(),
    };
    match named == DeviceId::CPU {
        true => Ok(()),
        false => Err(errors::unsupported(py, format!("arrays live on the CPU; {named} has none yet"))),
    }
}

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

/// A copy of a NumPy array.
pub fn copied(numpy: &Numpy, array: &Bound<'_, PyAny>) -> PyResult<Array> {
    let py = array.py();
    let mut array = array.clone();
    if !numpy.fields(&array).native {
        let native = array.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
        array = array.call_method1("astype", (native,))?;
    }
    let elem = known(&numpy.fields(&array), &array)?;
    if numpy.fields(&array).layout != weft_ir::Layout::C {
        array = py
            .import("numpy")?
            .call_method1("ascontiguousarray", (&array,))?
            .call_method1("reshape", (array.getattr("shape")?,))?;
    }
    let fields = numpy.fields(&array);
    let shape: Dims = fields.shape.iter().map(|&n| n as u64).collect();
    let bytes = weft_lazy::bytes(&shape, elem.size()).ok_or_else(|| PyValueError::new_err("array is too big"))?;
    let block = Block::new(devices::cpu(), bytes).map_err(|e| errors::device(py, e))?;
    let from = crate::numpy::bytes(&fields, bytes as usize);
    block.buffer().write(0, from).map_err(|e| errors::device(py, e))?;
    Ok(Array::of(Node::stored(elem, shape, Piece::whole(block))))
}

/// A NumPy array's elements, copied.
#[pyfunction]
#[pyo3(signature = (array, device=None))]
fn _from_numpy(array: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyAny>>) -> PyResult<NdArray> {
    let py = array.py();
    check_device(py, device)?;
    let numpy = Numpy::get(py)?;
    if numpy.scalar_of(array).is_some() {
        let array = py.import("numpy")?.call_method1("asarray", (array,))?;
        return Ok(NdArray {
            array: copied(numpy, &array)?,
        });
    }
    if !numpy.is_array(array) {
        return Err(PyTypeError::new_err("expected a NumPy array or scalar"));
    }
    Ok(NdArray {
        array: copied(numpy, array)?,
    })
}

/// A NumPy array that nobody else uses, without a copy.
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
                array: copied(numpy, array)?,
            });
        }
    };
    let buffer = Box::new(Adopted {
        address: low,
        bytes: (high - low) as usize,
        _owner: array.clone().unbind(),
    });
    let piece = Piece::whole(Block::of(buffer, false));
    if weft_lazy::is_dense(&shape, &strides, item) {
        return Ok(NdArray::of(Node::stored(elem, shape, piece)));
    }
    let all = Array::of(Node::stored(elem, [(high - low) / item as u64].as_slice().into(), piece));
    let view = all.strided(elem, &shape, &strides, (fields.data - low) as i64);
    view.map(|array| NdArray { array }).map_err(|e| super::error(array.py(), e))
}

/// A read-only NumPy array of the elements as they are now; on the CPU it looks at the same memory.
#[pyfunction]
pub fn _to_numpy<'py>(py: Python<'py>, x: &NdArray) -> PyResult<Bound<'py, PyAny>> {
    let array = &x.array;
    let base = array.base();
    let (value, offset, strides) = match base.is_stored() || array.is_whole() {
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
    compute(py, std::slice::from_ref(&value))?;
    let Some(piece) = value.piece() else {
        return Err(errors::internal(py, "a value was not computed".into()));
    };
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
