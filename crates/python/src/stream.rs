//! Streams, events and graphs as Python sees them. Their conveniences and Numba's names are in `weft/cuda`.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use weft_runtime::{Device, Event, Graph, RunError, Stream, StreamOptions};

use crate::devices::{self, PyDevice, wait};
use crate::errors;

/// A queue of work that a device does in order.
#[pyclass(frozen, subclass, name = "Stream", module = "weft._weft")]
#[derive(Debug)]
pub struct PyStream {
    pub stream: Arc<dyn Stream>,
    pub device: Arc<dyn Device>,
}

#[pymethods]
impl PyStream {
    /// A new stream of the current device; the default stream with `default`; one that another library made with `handle`.
    #[new]
    #[pyo3(signature = (*, default=false, handle=None, nonblocking=false, priority=0))]
    fn new(py: Python<'_>, default: bool, handle: Option<u64>, nonblocking: bool, priority: i32) -> PyResult<PyStream> {
        let device = devices::current(py)?;
        let stream = match handle {
            Some(handle) => device.external_stream(handle),
            None if default => device.default_stream(),
            None => device.new_stream(StreamOptions { priority, nonblocking }),
        };
        let stream = stream.map_err(|e| errors::device(py, e))?;
        Ok(PyStream { stream, device })
    }

    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.device.clone())
    }

    /// The driver's handle (`CUstream`); 0 for the default stream.
    #[getter]
    fn handle(&self) -> u64 {
        self.stream.raw_handle()
    }

    /// Waits until all work so far is done; errors of that work are raised here.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        wait(py, &self.device, || self.stream.synchronize())
    }

    /// Whether all work so far is done. Does not wait.
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        self.stream.is_done().map_err(|e| errors::device(py, e))
    }

    /// Work given later starts when `event` has happened.
    fn wait(&self, py: Python<'_>, event: &PyEvent) -> PyResult<()> {
        py.detach(|| self.stream.wait(&*event.event)).map_err(|e| errors::device(py, e))
    }

    /// Calls `function` without arguments, on another thread, when all work so far is done. It must not use the device.
    fn call_when_done(&self, py: Python<'_>, function: Py<PyAny>) -> PyResult<()> {
        let callback = move || {
            Python::attach(|py| {
                if let Err(error) = function.call0(py) {
                    error.write_unraisable(py, Some(function.bind(py)));
                }
                drop(function);
            });
        };
        py.detach(|| self.stream.add_callback(Box::new(callback)))
            .map_err(|e| errors::device(py, e))
    }

    /// From here on launches and copies are collected instead of done.
    fn begin_capture(&self, py: Python<'_>) -> PyResult<()> {
        self.stream.begin_capture().map_err(|e| errors::device(py, e))
    }

    /// The collected work as a graph.
    fn end_capture(&self, py: Python<'_>) -> PyResult<PyGraph> {
        let graph = py.detach(|| self.stream.end_capture()).map_err(|e| errors::device(py, e))?;
        Ok(PyGraph {
            graph,
            device: self.device.clone(),
        })
    }

    #[getter]
    fn is_capturing(&self, py: Python<'_>) -> PyResult<bool> {
        self.stream.is_capturing().map_err(|e| errors::device(py, e))
    }

    fn __repr__(&self) -> String {
        format!("<stream {:#x} of {}>", self.stream.raw_handle(), self.device.id())
    }
}

/// A mark in a stream.
#[pyclass(frozen, subclass, name = "Event", module = "weft._weft")]
#[derive(Debug)]
pub struct PyEvent {
    pub event: Arc<dyn Event>,
    device: Arc<dyn Device>,
}

#[pymethods]
impl PyEvent {
    #[new]
    #[pyo3(signature = (timing=true))]
    fn new(py: Python<'_>, timing: bool) -> PyResult<PyEvent> {
        let device = devices::current(py)?;
        let event = device.new_event(timing).map_err(|e| errors::device(py, e))?;
        Ok(PyEvent { event, device })
    }

    /// The driver's handle (`CUevent`).
    #[getter]
    fn handle(&self) -> u64 {
        self.event.raw_handle()
    }

    /// Marks the stream behind its work so far.
    fn mark(&self, py: Python<'_>, stream: Option<&PyStream>) -> PyResult<()> {
        or_default(stream, &self.device)
            .and_then(|stream| stream.record(&*self.event))
            .map_err(|e| errors::device(py, e))
    }

    /// Waits until the work before the mark is done; errors of that work are raised here.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        wait(py, &self.device, || self.event.synchronize())
    }

    /// Whether the work before the mark is done. Does not wait.
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        self.event.is_done().map_err(|e| errors::device(py, e))
    }

    /// Milliseconds from this mark to the later one; both must be done.
    fn elapsed_time(&self, py: Python<'_>, later: &PyEvent) -> PyResult<f64> {
        self.event.elapsed_ms(&*later.event).map_err(|e| errors::device(py, e))
    }

    /// Makes a stream wait for the mark.
    fn hold(&self, py: Python<'_>, stream: Option<&PyStream>) -> PyResult<()> {
        let stream = or_default(stream, &self.device);
        py.detach(|| stream.and_then(|stream| stream.wait(&*self.event)))
            .map_err(|e| errors::device(py, e))
    }
}

/// Work captured from a stream, to be done again as a whole.
#[pyclass(frozen, name = "Graph", module = "weft.cuda")]
#[derive(Debug)]
pub struct PyGraph {
    graph: Arc<dyn Graph>,
    device: Arc<dyn Device>,
}

#[pymethods]
impl PyGraph {
    /// Does all of it again, in the order of `stream` (the default stream if none is given). The arrays it uses must still be alive.
    #[pyo3(signature = (stream=None))]
    fn launch(&self, py: Python<'_>, stream: Option<&PyStream>) -> PyResult<()> {
        let stream = or_default(stream, &self.device).map_err(|e| errors::device(py, e))?;
        py.detach(|| self.graph.launch(&*stream)).map_err(|e| errors::device(py, e))?;
        crate::core::print(py, &self.device.take_output())
    }

    /// How many launches, copies and other steps there are.
    fn __len__(&self) -> usize {
        self.graph.steps()
    }

    fn __repr__(&self) -> String {
        format!("<graph of {} steps on {}>", self.graph.steps(), self.device.id())
    }
}

/// The stream, or the device's default stream where none is given.
fn or_default(stream: Option<&PyStream>, device: &Arc<dyn Device>) -> Result<Arc<dyn Stream>, RunError> {
    match stream {
        Some(stream) => Ok(stream.stream.clone()),
        None => device.default_stream(),
    }
}

#[pyfunction]
pub fn stream_argument(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyStream>>> {
    argument(py, object)
}

/// The stream that an argument means: None and 0 are the default stream; others are a stream of Weft's, of CuPy's or PyTorch's, or a handle.
pub fn argument(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyStream>>> {
    if object.is_none() {
        return Ok(None);
    }
    if let Ok(stream) = object.cast::<PyStream>() {
        return Ok(Some(stream.clone().unbind()));
    }
    let handle: u64 = if let Ok(protocol) = object.call_method0("__cuda_stream__") {
        protocol.extract::<(u32, u64)>()?.1
    } else {
        let own = object.getattr("cuda_stream").or_else(|_| object.getattr("ptr"));
        own.unwrap_or_else(|_| object.clone())
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("{object} is no stream; make one with cuda.stream()")))?
    };
    if handle == 0 {
        return Ok(None);
    }
    Py::new(py, PyStream::new(py, false, Some(handle), false, 0)?).map(Some)
}
