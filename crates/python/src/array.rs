//! Device memory as Python sees it: buffers, and the typed strided windows on them that kernels take as arguments.
//!
//! What is convenience (indexing, copies of strided views) is in `weft/_arrays.py`; this is the part that owns memory.

use std::any::Any;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use weft_ir::{Layout, Scalar};
use weft_runtime::{Buffer, Device, DeviceKind, HostMemory, Place, RunError, Stream};

use crate::bind::Args;
use crate::devices::PyDevice;
use crate::foreign::{Foreign, Locked};
use crate::numpy::{ArrayFields, Numpy};
use crate::stream::PyStream;
use crate::{devices, errors, key};

/// A piece of memory that kernels of a device address, freed with its last reference.
#[pyclass(frozen, module = "weft._weft")]
#[derive(Debug)]
pub struct Memory {
    pub buffer: Box<dyn Buffer>,
    device: Arc<dyn Device>,
    /// Keeps memory of another library alive.
    _owner: Option<Py<PyAny>>,
}

#[pymethods]
impl Memory {
    /// Allocates on the stream's device, or on the current one.
    #[new]
    #[pyo3(signature = (bytes, stream=None))]
    fn new(py: Python<'_>, bytes: usize, stream: Option<&PyStream>) -> PyResult<Memory> {
        let device = match stream {
            Some(stream) => stream.device.clone(),
            None => devices::current(py)?,
        };
        let stream = stream.map(|stream| &stream.stream);
        let buffer = py.detach(|| device.allocate(bytes, stream)).map_err(|e| errors::device(py, e))?;
        Ok(Memory::of(buffer, device))
    }

    /// Memory that host and device both address: `pinned`, `writecombined` or `managed`.
    #[staticmethod]
    fn of_host(py: Python<'_>, bytes: usize, kind: &str) -> PyResult<Memory> {
        let kind = match kind {
            "pinned" => HostMemory::Pinned,
            "writecombined" => HostMemory::WriteCombined,
            "managed" => HostMemory::Managed,
            _ => return Err(PyValueError::new_err(format!("no kind of memory is called {kind:?}"))),
        };
        let device = devices::current(py)?;
        let buffer = device.allocate_host(bytes, kind).map_err(|e| errors::device(py, e))?;
        Ok(Memory::of(buffer, device))
    }

    /// Makes a NumPy array's memory fit for asynchronous copies until `unpin`, at the latest as long as the result lives; for kernels, too,
    /// if it is `mapped`.
    #[staticmethod]
    #[pyo3(signature = (array, *, mapped))]
    fn pin(array: &Bound<'_, PyAny>, mapped: bool) -> PyResult<Memory> {
        let py = array.py();
        let fields = array_fields(array)?;
        let item = fields.elem.map_or(1, Scalar::size);
        let (low, high) = crate::numpy::bounds(fields.data, fields.shape, fields.strides, item).unwrap_or((fields.data, fields.data));
        let device = devices::current(py)?;
        let held = device.pin(low, (high - low) as usize, mapped).map_err(|e| errors::device(py, e))?;
        Ok(Memory {
            buffer: Box::new(Locked::new(held)),
            device,
            _owner: Some(array.clone().unbind()),
        })
    }

    /// Ends what `pin` began; arrays on this memory cannot be used after.
    fn unpin(&self, py: Python<'_>) {
        let buffer: &dyn Any = &*self.buffer;
        if let Some(locked) = buffer.downcast_ref::<Locked>() {
            py.detach(|| locked.let_go());
        }
    }

    /// Memory at an address of a device that `owner` keeps alive.
    #[staticmethod]
    fn foreign(owner: Bound<'_, PyAny>, device: &PyDevice, address: u64, bytes: usize) -> Memory {
        Memory::borrowed(owner, &device.0, address, bytes)
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.buffer.bytes()
    }

    /// Where kernels find it.
    #[getter]
    fn address(&self) -> u64 {
        self.buffer.address()
    }

    /// Where the host finds memory that both address.
    #[getter]
    fn host_address(&self) -> u64 {
        self.buffer.host_address()
    }

    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.device.clone())
    }

    /// Fills a C-contiguous array with the bytes from `offset` on, in the order of `stream` or, without one, waiting for them.
    #[pyo3(signature = (offset, into, stream=None))]
    fn read(&self, offset: usize, into: &Bound<'_, PyAny>, stream: Option<&PyStream>) -> PyResult<()> {
        let py = into.py();
        let (fields, bytes) = self.host(offset, into)?;
        if !fields.writable {
            return Err(PyValueError::new_err("the destination array is read-only"));
        }
        match stream {
            Some(stream) => self.copy(py, stream, Place::Host(fields.data), self.place(offset, stream), bytes),
            None => {
                let into = crate::numpy::bytes_mut(&fields, bytes);
                devices::wait(py, &self.device, || self.buffer.read(offset, into))
            }
        }
    }

    /// Copies a C-contiguous array to the bytes from `offset` on, likewise.
    #[pyo3(signature = (offset, from_, stream=None))]
    fn write(&self, offset: usize, from_: &Bound<'_, PyAny>, stream: Option<&PyStream>) -> PyResult<()> {
        let py = from_.py();
        let (fields, bytes) = self.host(offset, from_)?;
        match stream {
            Some(stream) => self.copy(py, stream, self.place(offset, stream), Place::Host(fields.data), bytes),
            None => {
                let from = crate::numpy::bytes(&fields, bytes);
                devices::wait(py, &self.device, || self.buffer.write(offset, from))
            }
        }
    }

    /// Copies `bytes` bytes from other memory of a device, in the order of `stream`.
    fn take(&self, offset: usize, from_: &Memory, from_offset: usize, bytes: usize, stream: &Bound<'_, PyStream>) -> PyResult<()> {
        let fits = |offset: usize, memory: &Memory| offset.checked_add(bytes).is_some_and(|end| end <= memory.buffer.bytes());
        if !fits(offset, self) || !fits(from_offset, from_) {
            return Err(PyValueError::new_err("the copy reaches beyond its memory"));
        }
        let (py, stream) = (stream.py(), stream.get());
        let (home, source) = (&self.device, &from_.device);
        // Only CUDA's driver knows the memory of several devices.
        let apart = home.id() != source.id() && !(home.id().kind == DeviceKind::Cuda && source.id().kind == DeviceKind::Cuda);
        if apart && !home.host_accessible() && !source.host_accessible() {
            return self.take_by_host(py, offset, from_, from_offset, bytes);
        }
        from_.follow(&stream.stream).map_err(|e| errors::device(py, e))?;
        self.copy(py, stream, self.place(offset, stream), from_.place(from_offset, stream), bytes)
    }
}

impl Memory {
    pub fn borrowed(owner: Bound<'_, PyAny>, device: &Arc<dyn Device>, address: u64, bytes: usize) -> Memory {
        Memory {
            buffer: Box::new(Foreign::new(device, address, bytes)),
            device: device.clone(),
            _owner: Some(owner.unbind()),
        }
    }

    pub fn of(buffer: Box<dyn Buffer>, device: Arc<dyn Device>) -> Memory {
        Memory {
            buffer,
            device,
            _owner: None,
        }
    }

    pub fn allocate(py: Python<'_>, device: &Arc<dyn Device>, bytes: u64) -> PyResult<Memory> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let buffer = py.detach(|| device.allocate(bytes, None)).map_err(|e| errors::device(py, e))?;
        Ok(Memory::of(buffer, device.clone()))
    }

    pub fn home(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The stream uses this memory; if it is one of another device, after the work that this memory's device was given.
    pub fn follow(&self, stream: &Arc<dyn Stream>) -> Result<(), RunError> {
        self.buffer.used_on(Some(stream));
        let home = &self.device;
        if stream.device() == home.id() || home.host_accessible() || stream.is_capturing()? {
            return Ok(());
        }
        let mark = home.new_event(false)?;
        home.default_stream()?.record(&*mark)?;
        stream.wait(&*mark)
    }

    /// The CPU's memory is the host's to streams of other devices.
    fn place(&self, offset: usize, stream: &PyStream) -> Place {
        let address = self.buffer.address() + offset as u64;
        if self.device.host_accessible() && stream.device.id() != self.device.id() {
            Place::Host(address)
        } else {
            Place::Device(self.device.id(), address)
        }
    }

    /// Copies from a device whose driver knows nothing of this one, and waits for it.
    fn take_by_host(&self, py: Python<'_>, offset: usize, from_: &Memory, from_offset: usize, bytes: usize) -> PyResult<()> {
        let mut between = vec![0u8; bytes];
        let host = Place::Host(between.as_mut_ptr() as u64);
        let at = |memory: &Memory, offset: usize| Place::Device(memory.device.id(), memory.buffer.address() + offset as u64);
        let steps = [(from_, host, at(from_, from_offset)), (self, at(self, offset), host)];
        for (memory, to, from) in steps {
            devices::wait(py, &memory.device, || {
                let stream = memory.device.default_stream()?;
                stream.copy(to, from, bytes)?;
                stream.synchronize()
            })?;
        }
        Ok(())
    }

    fn copy(&self, py: Python<'_>, stream: &PyStream, to: Place, from: Place, bytes: usize) -> PyResult<()> {
        self.buffer.used_on(Some(&stream.stream));
        devices::wait(py, &self.device, || stream.stream.copy(to, from, bytes))
    }

    fn host<'a>(&self, offset: usize, array: &'a Bound<'_, PyAny>) -> PyResult<(ArrayFields<'a>, usize)> {
        let fields = array_fields(array)?;
        let Some(elem) = fields.elem else {
            return Err(PyTypeError::new_err("the array's dtype has no type in Weft"));
        };
        let bytes = fields.shape.iter().map(|&n| n as usize).product::<usize>() * elem.size();
        if fields.layout != Layout::C {
            return Err(PyValueError::new_err("the array must be C-contiguous"));
        }
        if offset.checked_add(bytes).is_none_or(|end| end > self.buffer.bytes()) {
            return Err(PyValueError::new_err(
                "the array is larger than the device memory it is copied with",
            ));
        }
        Ok((fields, bytes))
    }
}

fn array_fields<'a>(array: &'a Bound<'_, PyAny>) -> PyResult<ArrayFields<'a>> {
    let numpy = Numpy::get(array.py())?;
    if !numpy.is_array(array) {
        return Err(PyTypeError::new_err("expected a NumPy array"));
    }
    Ok(numpy.fields(array))
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
    pub fn new(
        py: Python<'_>,
        memory: Py<Memory>,
        offset: usize,
        shape: Vec<isize>,
        strides: Vec<isize>,
        dtype: &str,
    ) -> PyResult<DeviceArray> {
        let elem = Scalar::from_numpy_name(dtype).ok_or_else(|| errors::typing(py, format!("dtype {dtype} has no type in Weft")))?;
        let buffer = &memory.get().buffer;
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
    pub fn bind(&self, py: Python<'_>, args: &mut Args) {
        args.memories.push(self.memory.clone_ref(py));
        args.key.push(key::array(self.elem, self.shape.len(), self.layout, true));
        args.slots.push(self.address);
        args.slots.extend(self.shape.iter().map(|&n| n as u64));
        args.slots.extend(self.strides.iter().map(|&n| n as u64));
    }

    pub fn home(&self) -> &Arc<dyn Device> {
        self.memory.get().home()
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    pub fn elem(&self) -> Scalar {
        self.elem
    }

    pub fn extents(&self) -> &[isize] {
        &self.shape
    }

    pub fn byte_strides(&self) -> &[isize] {
        &self.strides
    }

    pub fn bounds(&self) -> Option<(u64, u64)> {
        crate::numpy::bounds(self.address, &self.shape, &self.strides, self.elem.size())
    }
}

/// The strongest layout that shape and byte strides have; axes of length 1 may have any stride.
pub fn layout(shape: &[isize], strides: &[isize], item: isize) -> Layout {
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

/// Strides in bytes of a C-contiguous array.
pub fn dense_strides(shape: &[i64], item: i64) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut step = item;
    for (stride, &extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.wrapping_mul(extent.max(1));
    }
    strides
}
