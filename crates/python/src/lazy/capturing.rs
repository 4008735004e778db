//! `weft.compile`: what a function records, captured and recorded again of other arrays.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyModule, PyNotImplemented, PyTuple};
use smallvec::SmallVec;
use weft_lazy::capture::{self, Call};
use weft_lazy::{Array, Value};
use weft_runtime::lock;

use super::{NdArray, error};
use crate::linalg::Native;
use crate::{devices, errors};

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Graph>()?;
    module.add_class::<Recent>()?;
    module.add_function(wrap_pyfunction!(_capture, module)?)?;
    module.add_function(wrap_pyfunction!(_capture_key, module)?)?;
    module.add_function(wrap_pyfunction!(_capture_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(_capture_call, module)?)?;
    module.add_function(wrap_pyfunction!(_capture_number, module)?)?;
    module.add_function(wrap_pyfunction!(_graph_of_text, module)?)
}

/// What a function recorded.
#[pyclass(frozen, name = "_Graph", module = "weft._weft")]
struct Graph(Arc<capture::Graph>);

/// Graphs that were used last by calls with nothing but arrays, which give an array or a tuple of arrays: calls that need no Python.
#[pyclass(frozen, name = "_Recent", module = "weft._weft")]
#[derive(Default)]
struct Recent(Mutex<VecDeque<Used>>);

#[derive(Clone)]
struct Used {
    key: Vec<u64>,
    graph: Arc<capture::Graph>,
    /// It gives a tuple.
    many: bool,
}

/// So many are looked at, one after the other.
const MOST_RECENT: usize = 4;

/// What a graph depends on: its arguments, and the device that arrays are made on.
fn key(py: Python<'_>, arrays: &[Array]) -> PyResult<Vec<u64>> {
    let mut key = capture::key(arrays);
    key.push(devices::of_arrays(py)?.into());
    Ok(key)
}

pub fn arrays(objects: &Bound<'_, PyList>) -> PyResult<Vec<Array>> {
    objects
        .iter()
        .map(|object| Ok(object.cast::<NdArray>()?.get().array.clone()))
        .collect()
}

pub fn listed<'py>(py: Python<'py>, arrays: Vec<Array>) -> PyResult<Bound<'py, PyList>> {
    let arrays = arrays
        .into_iter()
        .map(|array| Bound::new(py, NdArray { array }))
        .collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, arrays)
}

/// Calls a function with a list of stand-ins for arrays. It gives a list of arrays and anything else; so does this, with the graph for the list.
#[pyfunction]
fn _capture<'py>(call: &Bound<'py, PyAny>, args: &Bound<'py, PyList>) -> PyResult<(Graph, Bound<'py, PyAny>)> {
    let py = call.py();
    let stand_ins = listed(py, capture::begin(&arrays(args)?))?;
    let result = call.call1((stand_ins,));
    let captured = capture::end();
    let (results, rest): (Bound<'py, PyList>, Bound<'py, PyAny>) = result?.extract()?;
    let graph = captured.graph(&arrays(&results)?).map_err(|e| error(py, e))?;
    Ok((Graph(Arc::new(graph)), rest))
}

/// The graph of a text, whose first line has this number in its file. ValueError with the number of a line that is wrong.
#[pyfunction]
fn _graph_of_text(py: Python<'_>, text: &str, first: usize) -> PyResult<Graph> {
    let call = |name: &str| Native::find(name).map(|native| Arc::new(native) as Arc<dyn Call>);
    let graph = capture::Graph::of_text(text, first, &call).map_err(|e| error(py, e))?;
    Ok(Graph(Arc::new(graph)))
}

/// The number of the capture under way on this thread; none where nothing is captured.
#[pyfunction]
fn _capture_number() -> Option<u64> {
    capture::number()
}

/// What a capture with these arrays depends on.
#[pyfunction]
fn _capture_key<'py>(args: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyBytes>> {
    let key = key(args.py(), &arrays(args)?)?;
    let bytes: Vec<u8> = key.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(PyBytes::new(args.py(), &bytes))
}

/// The same without sizes; none where these cannot be left out.
#[pyfunction]
fn _capture_ranks<'py>(args: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let Some(mut key) = capture::key_of_ranks(&arrays(args)?) else {
        return Ok(None);
    };
    key.push(devices::of_arrays(args.py())?.into());
    let bytes: Vec<u8> = key.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(Some(PyBytes::new(args.py(), &bytes)))
}

/// A call that is done at once.
#[derive(Debug)]
struct AtOnce(Py<PyAny>);

impl Call for AtOnce {
    fn call(&self, operands: &[Value]) -> weft_lazy::Result<Vec<Value>> {
        let called = Python::attach(|py| -> PyResult<Vec<Value>> {
            let operands = listed(py, operands.iter().map(|value| Array::of(value.clone())).collect())?;
            let results = self.0.bind(py).call1((operands,))?.cast_into::<PyList>()?;
            Ok(arrays(&results)?.iter().map(Array::read).collect())
        });
        called.map_err(|error| weft_lazy::Error::Host(Box::new(error)))
    }
}

/// Records a call with a list of arrays, which gives a list of arrays like those of another list, whose elements are none of its.
#[pyfunction]
fn _capture_call<'py>(call: Bound<'py, PyAny>, args: &Bound<'py, PyList>, like: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
    let py = args.py();
    let operands = arrays(args)?.iter().map(Array::read).collect();
    let recorded = capture::call(Arc::new(AtOnce(call.unbind())), operands, &arrays(like)?);
    let recorded = recorded.ok_or_else(|| errors::internal(py, "nothing is captured".into()))?;
    listed(py, recorded.into_iter().map(Array::of).collect())
}

#[pymethods]
impl Recent {
    #[new]
    fn new() -> Recent {
        Recent::default()
    }

    /// What a graph gives for these arguments; `NotImplemented` if none is known, or some are no arrays.
    fn call<'py>(&self, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let unknown = || PyNotImplemented::get(py).to_owned().into_any();
        let Some(arrays) = all_arrays(args) else { return Ok(unknown()) };
        let key = key(py, &arrays)?;
        let used = lock(&self.0).iter().find(|used| used.key == key).cloned();
        let Some(used) = used else { return Ok(unknown()) };
        let Some(results) = recorded(py, &used.graph, || used.graph.replay(&arrays))? else {
            return Ok(unknown());
        };
        let mut made = results.into_iter().map(|array| Bound::new(py, NdArray { array }));
        match used.many {
            true => Ok(PyTuple::new(py, made.collect::<PyResult<Vec<_>>>()?)?.into_any()),
            false => made.next().map_or_else(|| Ok(unknown()), |array| Ok(array?.into_any())),
        }
    }

    /// Remembers the graph of a call.
    fn add(&self, args: &Bound<'_, PyTuple>, graph: &Graph, many: bool) -> PyResult<()> {
        let Some(arrays) = all_arrays(args) else { return Ok(()) };
        let key = key(args.py(), &arrays)?;
        let graph = graph.0.clone();
        let mut recent = lock(&self.0);
        recent.retain(|used| used.key != key);
        recent.truncate(MOST_RECENT - 1);
        recent.push_front(Used { key, graph, many });
        Ok(())
    }
}

/// Results of a graph that is recorded again: without the GIL, where calls in it take time.
fn recorded(
    py: Python<'_>,
    graph: &capture::Graph,
    work: impl FnOnce() -> weft_lazy::Result<Option<Vec<Array>>> + Send,
) -> PyResult<Option<Vec<Array>>> {
    match graph.calls() {
        true => py.detach(work),
        false => work(),
    }
    .map_err(|e| error(py, e))
}

fn all_arrays(args: &Bound<'_, PyTuple>) -> Option<SmallVec<[Array; 4]>> {
    args.iter()
        .map(|object| Some(object.cast_exact::<NdArray>().ok()?.get().array.clone()))
        .collect()
}

#[pymethods]
impl Graph {
    /// Records it of other arrays; none where the function has to be called itself.
    fn replay<'py>(&self, py: Python<'py>, args: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyList>>> {
        let args = arrays(args)?;
        let results = recorded(py, &self.0, || self.0.replay(&args))?;
        results.map(|results| listed(py, results)).transpose()
    }

    /// The same for arrays of other sizes.
    fn replay_of_other_sizes<'py>(&self, py: Python<'py>, args: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyList>>> {
        let args = arrays(args)?;
        let results = recorded(py, &self.0, || self.0.replay_of_other_sizes(&args))?;
        results.map(|results| listed(py, results)).transpose()
    }

    /// Was it recorded as another one, for other sizes, and does none of the two depend on these?
    fn is_general(&self, other: &Graph) -> bool {
        self.0.is_general(&other.0)
    }

    /// What a file has of it.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.text()).map_err(|e| error(py, e))
    }

    /// Records a graph of a file, of arrays that lie in whatever way.
    fn replay_anyhow<'py>(&self, py: Python<'py>, args: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
        let args = arrays(args)?;
        let results = recorded(py, &self.0, || self.0.replay_anyhow(&args).map(Some))?;
        listed(py, results.unwrap_or_default())
    }

    /// How many arrays it takes.
    #[getter]
    fn arguments(&self) -> usize {
        self.0.arguments()
    }

    /// How many it gives.
    #[getter]
    fn results(&self) -> usize {
        self.0.results()
    }

    /// Does it write to its arguments?
    #[getter]
    fn writes(&self) -> bool {
        self.0.writes()
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.0.nodes()
    }
}

/// The user's line, for errors.
pub fn users_line(py: Python<'_>) -> String {
    let line = py
        .import("weft.arrays.compiling")
        .and_then(|module| module.call_method0("_users_line")?.extract::<String>());
    line.unwrap_or_default()
}

/// The error where elements are needed of what has none, with the user's line.
pub fn needed(py: Python<'_>) -> PyErr {
    let line = users_line(py);
    let (who, when) = match weft_lazy::tape::has_shapes() {
        true => ("weft.vmap", "calls a function once for all elements of a batch"),
        false => ("weft.compile", "captures a function before there are any"),
    };
    errors::new(
        py,
        "CaptureError",
        format!(
            "{line}: the elements of an array are needed here, and {who} {when}; choose with weft.where, or do this outside of the function"
        ),
    )
}
