//! Launches of `cuda.jit` kernels: grid shapes, and the call itself.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};
use weft_runtime::{GridShape, Launch};

use crate::dispatcher::Dispatcher;
use crate::numpy::Numpy;
use crate::{devices, errors};

/// CUDA's limits, kept on every device so that a kernel launches everywhere or nowhere.
const MAX_THREADS: u64 = 1024;
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];

/// A kernel with its grid: what `kernel[blocks, threads]` gives.
#[pyclass(frozen, module = "weft._weft")]
pub struct Launcher {
    kernel: Py<Dispatcher>,
    shape: GridShape,
}

#[pymethods]
impl Launcher {
    /// `config` is `(blocks, threads)`, with a stream and a size of dynamic shared memory allowed after them.
    #[new]
    pub fn new(kernel: Py<Dispatcher>, config: &Bound<'_, PyAny>) -> PyResult<Launcher> {
        let shape = configuration(&kernel.get().core.captured.name, config)?;
        Ok(Launcher { kernel, shape })
    }

    /// One thread per point of `shape`, an int or a tuple of up to three.
    #[staticmethod]
    fn forall(kernel: Py<Dispatcher>, shape: &Bound<'_, PyAny>) -> PyResult<Launcher> {
        let py = shape.py();
        let points = extents(shape)?;
        if points.is_empty() || points.len() > 3 {
            return Err(errors::launch(py, format!("forall takes 1 to 3 axes, not {}", points.len())));
        }
        let points = points
            .iter()
            .map(|&n| u64::try_from(n).map_err(|_| errors::launch(py, format!("forall over a negative number of threads: {shape}"))))
            .collect::<PyResult<Vec<_>>>()?;
        let shape = devices::current(py)?.plan_forall(&points);
        Ok(Launcher { kernel, shape })
    }

    #[getter]
    fn blocks(&self) -> (u32, u32, u32) {
        self.shape.grid.into()
    }

    #[getter]
    fn threads(&self) -> (u32, u32, u32) {
        self.shape.block.into()
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(&self, args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<()> {
        let py = args.py();
        let core = &self.kernel.get().core;
        let mut bound = core.bind(Numpy::get(py)?, args, kwargs)?;
        let spec = core.resolve(py, &mut bound)?;
        if self.shape.grid.contains(&0) {
            return Ok(());
        }
        spec.code.run(py, Launch::Grid(self.shape), &bound.slots, &mut [])?;
        Ok(())
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

fn configuration(name: &str, config: &Bound<'_, PyAny>) -> PyResult<GridShape> {
    let py = config.py();
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
    if items.len() == 4 && items.get_item(3)?.is_truthy()? {
        return Err(errors::unsupported(
            py,
            "dynamic shared memory is not supported yet; give shared.array a constant shape".into(),
        ));
    }
    Ok(GridShape {
        grid: dimensions("grid", &items.get_item(0)?, MAX_GRID)?,
        block: block(&items.get_item(1)?)?,
    })
}

fn block(object: &Bound<'_, PyAny>) -> PyResult<[u32; 3]> {
    let dims = dimensions("block", object, MAX_BLOCK)?;
    let threads: u64 = dims.iter().map(|&n| u64::from(n)).product();
    if threads > MAX_THREADS {
        return Err(errors::launch(
            object.py(),
            format!("a block of {object} has {threads} threads; the most is {MAX_THREADS}"),
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

/// An int, or a sequence of ints.
fn extents(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let py = object.py();
    let wrong = || errors::launch(py, format!("expected an int or a tuple of up to three ints, got {object}"));
    if object.is_instance_of::<PyInt>() || object.hasattr("__index__")? {
        return Ok(vec![object.extract().map_err(|_| wrong())?]);
    }
    object.extract().map_err(|_| wrong())
}
