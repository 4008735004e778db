//! Launches of `cuda.jit` kernels: grid shapes, and the call itself.

use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyOverflowError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};
use weft_runtime::{CallOptions, Device, DeviceId, GridShape, Launch, Limits, Stream};

use crate::bind::Args;
use crate::dispatcher::Dispatcher;
use crate::lazy::{calls, taping};
use crate::numpy::Numpy;
use crate::stream::PyStream;
use crate::{adjoint, core, devices, errors, stream};

/// A kernel with its grid: what `kernel[blocks, threads]` gives.
#[pyclass(frozen, module = "weft._weft")]
pub struct Launcher {
    kernel: Py<Dispatcher>,
    shape: GridShape,
    stream: Option<Py<PyStream>>,
    /// Dynamic shared memory of a block.
    shared_bytes: u32,
}

#[pymethods]
impl Launcher {
    /// `config` is `(blocks, threads)`, with a stream and a size of dynamic shared memory allowed after them.
    #[new]
    pub fn new(kernel: Py<Dispatcher>, config: &Bound<'_, PyAny>) -> PyResult<Launcher> {
        let py = config.py();
        let name = &kernel.get().core.captured.name;
        let usage = || {
            errors::launch(
                py,
                format!("a launch is written {name}[blocks, threads](arguments...), got {name}[{config}]"),
            )
        };
        let items = config.cast::<PyTuple>().map_err(|_| usage())?;
        if !(2..=4).contains(&items.len()) {
            return Err(usage());
        }
        let shape = GridShape {
            grid: dimensions("grid", &items.get_item(0)?, Limits::COMMON.grid)?,
            block: block(&items.get_item(1)?)?,
        };
        let stream = items.get_item(2).ok();
        Launcher::with(kernel, shape, stream.as_ref(), items.get_item(3).ok().as_ref())
    }

    /// One thread per point of `shape`, an int or a tuple of up to three.
    #[staticmethod]
    fn forall(
        kernel: Py<Dispatcher>,
        shape: &Bound<'_, PyAny>,
        stream: &Bound<'_, PyAny>,
        shared_bytes: &Bound<'_, PyAny>,
    ) -> PyResult<Launcher> {
        let py = shape.py();
        let points = extents(shape)?;
        if points.is_empty() || points.len() > 3 {
            return Err(errors::launch(py, format!("forall takes 1 to 3 axes, not {}", points.len())));
        }
        let points = points
            .iter()
            .map(|&n| u64::try_from(n).map_err(|_| errors::launch(py, format!("Can't create ForAll with negative task count: {shape}"))))
            .collect::<PyResult<Vec<_>>>()?;
        let planned = devices::current(py)?.plan_forall(&points);
        // Of more threads than grids can have the plan is the largest grid.
        let covered = |(axis, &n): (usize, &u64)| u64::from(planned.grid[axis]) * u64::from(planned.block[axis]) >= n;
        if !points.iter().enumerate().all(covered) {
            return Err(errors::launch(
                py,
                format!("forall({shape}) is beyond the limit of 2**32 - 1 blocks along an axis"),
            ));
        }
        Launcher::with(kernel, planned, Some(stream), Some(shared_bytes))
    }

    #[getter]
    fn blocks(&self) -> (u32, u32, u32) {
        self.shape.grid.into()
    }

    /// The kernel that is launched.
    #[getter]
    fn kernel(&self, py: Python<'_>) -> Py<Dispatcher> {
        self.kernel.clone_ref(py)
    }

    /// What `kernel[...]` was given: blocks, threads, a stream or 0, and bytes of shared memory.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let stream = match &self.stream {
            Some(stream) => stream.clone_ref(py).into_bound_py_any(py)?,
            None => 0.into_bound_py_any(py)?,
        };
        let (grid, block): ((u32, u32, u32), (u32, u32, u32)) = (self.shape.grid.into(), self.shape.block.into());
        (grid, block, stream, self.shared_bytes).into_pyobject(py)
    }

    #[getter]
    fn threads(&self) -> (u32, u32, u32) {
        self.shape.block.into()
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<()> {
        if taping::is_among(args, kwargs)? {
            return taping::called(slf.as_any(), args, kwargs).map(|_| ());
        }
        slf.get().launched(args, kwargs)
    }

    /// Of each array of Weft's among the arguments, in order: may the kernel write to it?
    #[pyo3(signature = (*args))]
    fn _written(&self, args: &Bound<'_, PyTuple>) -> PyResult<Vec<bool>> {
        let py = args.py();
        let core = &self.kernel.get().core;
        let mut bound = core.bind(Numpy::get(py)?, args, None)?;
        let device = launch_device(py, self.stream.as_ref().map(|stream| stream.get()), &bound)?;
        let spec = core.resolve(py, &device, &mut bound)?;
        taping::written(py, &core.captured.name, &spec.code, &bound)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.kernel)
    }

    fn __repr__(&self) -> String {
        format!(
            "{}[{:?}, {:?}]",
            self.kernel.get().core.captured.name,
            self.shape.grid,
            self.shape.block
        )
    }
}

impl Launcher {
    fn with(
        kernel: Py<Dispatcher>,
        shape: GridShape,
        stream: Option<&Bound<'_, PyAny>>,
        shared_bytes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Launcher> {
        let stream = match stream {
            Some(object) => stream::argument(object.py(), object)?,
            None => None,
        };
        let shared_bytes = match shared_bytes {
            Some(object) => object
                .extract()
                .map_err(|_| errors::launch(object.py(), format!("{object} is no number of bytes of dynamic shared memory")))?,
            None => 0,
        };
        Ok(Launcher {
            kernel,
            shape,
            stream,
            shared_bytes,
        })
    }
}

/// The device of the stream or of the device arrays, of which all must be on one; else the current one.
pub fn launch_device(py: Python<'_>, stream: Option<&PyStream>, args: &Args) -> PyResult<Arc<dyn Device>> {
    let mut homes = args.memories.iter().map(|memory| memory.get());
    let (device, what) = match (stream, homes.next()) {
        (Some(stream), _) => (stream.device.clone(), "the stream is"),
        (None, Some(first)) => (first.home().clone(), "other arrays are"),
        (None, None) => return devices::current(py),
    };
    let reachable = |home: DeviceId| home == device.id() || device.can_access_peer(home);
    match args
        .memories
        .iter()
        .map(|memory| memory.get().home().id())
        .find(|&home| !reachable(home))
    {
        None => Ok(device),
        Some(home) => Err(errors::launch(
            py,
            format!("an argument is in memory of {home}, but {what} of {}", device.id()),
        )),
    }
}

/// Lets a launch address the memory of other devices, after the work that those were given.
#[cold]
fn reach(py: Python<'_>, device: &dyn Device, stream: Option<&PyStream>, args: &Args) -> PyResult<()> {
    let all = || {
        let stream = match stream {
            Some(stream) => stream.stream.clone(),
            None => device.default_stream()?,
        };
        for memory in args.memories.iter().map(|memory| memory.get()) {
            device.enable_peer(memory.home().id())?;
            memory.follow(&stream)?;
        }
        Ok(())
    };
    all().map_err(|e| errors::device(py, e))
}

fn block(object: &Bound<'_, PyAny>) -> PyResult<[u32; 3]> {
    let dims = dimensions("block", object, Limits::COMMON.block)?;
    let threads: u64 = dims.iter().map(|&n| u64::from(n)).product();
    let most = Limits::COMMON.threads_per_block;
    if threads > u64::from(most) {
        return Err(errors::launch(
            object.py(),
            format!("a block of {object} has {threads} threads; the most is {most}"),
        ));
    }
    Ok(dims)
}

fn dimensions(what: &str, object: &Bound<'_, PyAny>, most: [u32; 3]) -> PyResult<[u32; 3]> {
    let py = object.py();
    let given = extents(object)?;
    if given.is_empty() || given.len() > 3 {
        return Err(errors::launch(py, format!("a {what} has 1 to 3 axes, not {}", given.len())));
    }
    let mut dims = [1; 3];
    for (axis, &n) in given.iter().enumerate() {
        let name = ["x", "y", "z"][axis];
        dims[axis] = match u32::try_from(n) {
            Ok(n) if n >= 1 && n <= most[axis] => n,
            Ok(n) if n > most[axis] => {
                return Err(errors::launch(
                    py,
                    format!("{what} size {n} along {name} is over the limit of {}", most[axis]),
                ));
            }
            _ => return Err(errors::launch(py, format!("{what} size {n} along {name}; it must be at least 1"))),
        };
    }
    Ok(dims)
}

/// An int; one of more than 64 bits is as large, or as small, as can be.
fn extent(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    match object.extract() {
        Ok(n) => Ok(n),
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => Ok(if object.lt(0)? { i64::MIN } else { i64::MAX }),
        Err(error) => Err(error),
    }
}

/// An int, or a sequence of ints.
fn extents(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let py = object.py();
    let wrong = || errors::launch(py, format!("expected an int or a tuple of up to three ints, got {object}"));
    if object.is_instance_of::<PyInt>() || object.hasattr("__index__")? {
        return Ok(vec![extent(object)?]);
    }
    if object.is_instance_of::<pyo3::types::PyString>() {
        return Err(wrong());
    }
    let items = object.try_iter().map_err(|_| wrong())?;
    let items: Vec<Bound<'_, PyAny>> = items.collect::<PyResult<_>>()?;
    if items.iter().any(|item| !item.hasattr("__index__").unwrap_or(false)) {
        return Err(wrong());
    }
    items.iter().map(extent).collect()
}

impl Launcher {
    fn launched<'py>(&self, args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<()> {
        let py = args.py();
        let core = &self.kernel.get().core;
        let mut bound = core.bind(Numpy::get(py)?, args, kwargs)?;
        let stream = self.stream.as_ref().map(|stream| stream.get());
        let device = launch_device(py, stream, &bound)?;
        calls::refuse_elsewhere(py, &bound, device.id())?;
        let spec = core.resolve(py, &device, &mut bound)?;
        if self.shape.grid.contains(&0) {
            return Ok(());
        }
        // Held until the launch has waited for the arrays, as it does for all that are in host memory.
        let lazy = calls::settle(py, &mut bound, &spec.code)?;
        if core.adjoint {
            adjoint::check_apart(&core.captured.name, &spec.code.module, &bound.slots)?;
        }
        let apart = lazy.as_ref().zip(stream.map(|stream| &stream.stream));
        if let Some((lazy, stream)) = apart {
            lazy.follow(stream).map_err(|e| errors::device(py, e))?;
        }
        for memory in &bound.memories {
            memory.get().buffer.used_on(stream.map(|stream| &stream.stream));
        }
        if bound.memories.iter().any(|memory| memory.get().home().id() != device.id()) {
            reach(py, &*device, stream, &bound)?;
        }
        let copied = bound.has_host_arrays() && !device.host_accessible();
        let host_arrays = if copied { bound.host_arrays() } else { Vec::new() };
        let options = CallOptions {
            stream: stream.map(|stream| &*stream.stream as &dyn Stream),
            shared_bytes: self.shared_bytes,
            host_arrays: &host_arrays,
            ..CallOptions::default()
        };
        spec.code.run(py, Launch::Grid(self.shape), &bound.slots, &mut [], options)?;
        if let Some((lazy, stream)) = apart {
            lazy.leave(stream).map_err(|e| errors::device(py, e))?;
        }
        if copied {
            // The launch has waited for the arrays to come back.
            core::print(py, &device.take_output())?;
        }
        Ok(())
    }
}
