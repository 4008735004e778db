//! Device memory as Python sees it: buffers, and the typed strided windows on them that kernels take as arguments.
//!
//! What is convenience (indexing, copies of strided views) is in `weft/cuda.py`; this is the part that owns memory.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use weft_ir::{Layout, Scalar};
use weft_runtime::Buffer;

use crate::bind::Args;
use crate::numpy::{ArrayFields, Numpy};
use crate::{devices, errors, key};

/// A piece of device memory, freed with its last reference.
#[pyclass(frozen, module = "weft._weft")]
#[derive(Debug)]
pub struct Memory(pub Box<dyn Buffer>);

#[pymethods]
impl Memory {
    /// Allocates on the current device.
    #[new]
    fn new(py: Python<'_>, bytes: usize) -> PyResult<Memory> {
        let device = devices::current(py)?;
        device.allocate(bytes, None).map(Memory).map_err(|e| errors::device(py, e))
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes()
    }

    #[getter]
    fn address(&self) -> u64 {
        self.0.address()
    }

    /// Fills a C-contiguous array with the bytes from `offset` on.
    fn read(&self, offset: usize, into: &Bound<'_, PyAny>) -> PyResult<()> {
        let (fields, bytes) = self.host(offset, into)?;
        if !fields.writable {
            return Err(PyValueError::new_err("the destination array is read-only"));
        }
        self.0
            .read(offset, crate::numpy::bytes_mut(&fields, bytes))
            .map_err(|e| errors::device(into.py(), e))
    }

    /// Copies a C-contiguous array to the bytes from `offset` on.
    fn write(&self, offset: usize, from: &Bound<'_, PyAny>) -> PyResult<()> {
        let (fields, bytes) = self.host(offset, from)?;
        self.0
            .write(offset, crate::numpy::bytes(&fields, bytes))
            .map_err(|e| errors::device(from.py(), e))
    }
}

impl Memory {
    fn host<'a>(&self, offset: usize, array: &'a Bound<'_, PyAny>) -> PyResult<(ArrayFields<'a>, usize)> {
        let numpy = Numpy::get(array.py())?;
        if !numpy.is_array(array) {
            return Err(PyTypeError::new_err("expected a NumPy array"));
        }
        let fields = numpy.fields(array);
        let Some(elem) = fields.elem else {
            return Err(PyTypeError::new_err("the array's dtype has no type in Weft"));
        };
        let bytes = fields.shape.iter().map(|&n| n as usize).product::<usize>() * elem.size();
        if fields.layout != Layout::C {
            return Err(PyValueError::new_err("the array must be C-contiguous"));
        }
        if offset.checked_add(bytes).is_none_or(|end| end > self.0.bytes()) {
            return Err(PyValueError::new_err(
                "the array is larger than the device memory it is copied with",
            ));
        }
        Ok((fields, bytes))
    }
}

/// A typed strided window on device memory: the base class of `weft.cuda.DeviceNDArray`.
#[pyclass(frozen, subclass, module = "weft._weft")]
#[derive(Debug)]
pub struct DeviceArray {
    #[pyo3(get)]
    memory: Py<Memory>,
    /// Where the first element is, in bytes from the memory's start.
    #[pyo3(get)]
    offset: usize,
    shape: Vec<isize>,
    strides: Vec<isize>,
    elem: Scalar,
    address: u64,
    layout: Layout,
}

#[pymethods]
impl DeviceArray {
    #[new]
    fn new(
        py: Python<'_>,
        memory: Py<Memory>,
        offset: usize,
        shape: Vec<isize>,
        strides: Vec<isize>,
        dtype: &str,
    ) -> PyResult<DeviceArray> {
        let elem = Scalar::from_numpy_name(dtype).ok_or_else(|| errors::typing(py, format!("dtype {dtype} has no type in Weft")))?;
        let buffer = &memory.get().0;
        let address = buffer.address() + offset as u64;
        if shape.len() != strides.len() || shape.len() > crate::numpy::MAX_RANK {
            return Err(PyValueError::new_err("shape and strides must have one entry per axis"));
        }
        if let Some((low, high)) = crate::numpy::bounds(address, &shape, &strides, elem.size())
            && (low < buffer.address() || high > buffer.address() + buffer.bytes() as u64)
        {
            return Err(PyValueError::new_err("the view reaches beyond its memory"));
        }
        let layout = layout(&shape, &strides, elem.size() as isize);
        Ok(DeviceArray {
            memory,
            offset,
            shape,
            strides,
            elem,
            address,
            layout,
        })
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.shape)
    }

    /// NumPy's name of the element type.
    #[getter]
    fn dtype_name(&self) -> &'static str {
        self.elem.numpy_name()
    }

    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.strides)
    }
}

impl DeviceArray {
    pub fn bind(&self, args: &mut Args) {
        args.key.push(key::array(self.elem, self.shape.len(), self.layout, true));
        args.slots.push(self.address);
        args.slots.extend(self.shape.iter().map(|&n| n as u64));
        args.slots.extend(self.strides.iter().map(|&n| n as u64));
    }

    pub fn bounds(&self) -> Option<(u64, u64)> {
        crate::numpy::bounds(self.address, &self.shape, &self.strides, self.elem.size())
    }
}

/// The strongest layout that shape and byte strides have; axes of length 1 may have any stride.
fn layout(shape: &[isize], strides: &[isize], item: isize) -> Layout {
    if is_dense(shape.iter().zip(strides).rev(), item) {
        Layout::C
    } else if is_dense(shape.iter().zip(strides), item) {
        Layout::F
    } else if strides.last() == Some(&item) {
        Layout::Row
    } else {
        Layout::Any
    }
}

fn is_dense<'a>(axes: impl Iterator<Item = (&'a isize, &'a isize)>, item: isize) -> bool {
    let mut expected = item;
    for (&extent, &stride) in axes {
        if extent == 0 {
            return true;
        }
        if extent != 1 && stride != expected {
            return false;
        }
        expected = expected.wrapping_mul(extent);
    }
    true
}
