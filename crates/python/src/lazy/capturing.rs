//! `weft.compile`: what a function records, captured and recorded again of other arrays.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyModule, PyNotImplemented, PyTuple};
use weft_lazy::capture::{self, Call};
use weft_lazy::steps::Steps;
use weft_lazy::{Array, Value, machine};
use weft_runtime::lock;

use super::structures::{Given, Structure};
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
    module.add_function(wrap_pyfunction!(_graph_of_text, module)?)?;
    module.add_function(wrap_pyfunction!(_step_all, module)?)
}

/// What a function recorded.
#[pyclass(frozen, name = "_Graph", module = "weft._weft")]
struct Graph(Arc<capture::Graph>);

/// Graphs that were used last by calls with arrays and constants in tuples, lists and dicts, and without keywords: calls that need no Python.
#[pyclass(frozen, name = "_Recent", module = "weft._weft")]
struct Recent {
    used: Mutex<VecDeque<Used>>,
    /// Arguments whose arrays are given up.
    donated: Vec<usize>,
}

#[derive(Clone)]
struct Used {
    key: Vec<u64>,
    graph: Arc<capture::Graph>,
    gives: Arc<Structure>,
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
    let call = |name: &str| match Steps::find(name) {
        Some(steps) => Some(Arc::new(steps) as Arc<dyn Call>),
        None => Native::find(name).map(|native| Arc::new(native) as Arc<dyn Call>),
    };
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
    fn call(self: Arc<Self>, operands: &[Value]) -> weft_lazy::Result<Vec<Value>> {
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

/// A step of an optimizer of all its parameters, as `weft_lazy::steps` says: what it gives, or what stands for that while something is captured.
#[pyfunction]
fn _step_all<'py>(name: &str, operands: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
    let py = operands.py();
    let steps = Steps::find(name).ok_or_else(|| errors::internal(py, format!("no step is called {name}")))?;
    let steps: Arc<dyn Call> = Arc::new(steps);
    let operands: Vec<Value> = arrays(operands)?.iter().map(Array::read).collect();
    let made = if capture::is_here() {
        let gives = steps.gives(&operands).map_err(|e| error(py, e))?;
        let gives: Vec<capture::Given> = gives.into_iter().map(|(elem, shape)| (elem, shape, machine::CPU)).collect();
        capture::record_call(steps, operands, &gives).ok_or_else(|| errors::internal(py, "nothing is captured".into()))?
    } else {
        py.detach(|| steps.call(&operands)).map_err(|e| error(py, e))?
    };
    listed(py, made.into_iter().map(Array::of).collect())
}

#[pymethods]
impl Recent {
    #[new]
    fn new(donated: Vec<usize>) -> Recent {
        Recent {
            used: Mutex::default(),
            donated,
        }
    }

    /// What a graph gives for these arguments; `NotImplemented` if none is known, or some are neither arrays nor plain constants.
    fn call<'py>(&self, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let unknown = || PyNotImplemented::get(py).to_owned().into_any();
        let Some(given) = self.given(args)? else { return Ok(unknown()) };
        let used = lock(&self.used).iter().find(|used| used.key == given.key).cloned();
        let Some(used) = used else { return Ok(unknown()) };
        let replay = || used.graph.replay_giving_up(&given.arrays, &given.donated);
        let Some(results) = recorded(py, &used.graph, replay)? else {
            return Ok(unknown());
        };
        used.gives.built(py, &mut results.into_iter())
    }

    /// Remembers the graph of a call, and what its results stand in, if that is as plain.
    fn add(&self, args: &Bound<'_, PyTuple>, graph: &Graph, gives: &Bound<'_, PyAny>) -> PyResult<()> {
        let (Some(given), Some(gives)) = (self.given(args)?, Structure::of(gives)?) else {
            return Ok(());
        };
        let (key, graph, gives) = (given.key, graph.0.clone(), Arc::new(gives));
        let mut recent = lock(&self.used);
        recent.retain(|used| used.key != key);
        recent.truncate(MOST_RECENT - 1);
        recent.push_front(Used { key, graph, gives });
        Ok(())
    }
}

impl Recent {
    fn given(&self, args: &Bound<'_, PyTuple>) -> PyResult<Option<Given>> {
        let mut given = Given::default();
        for (at, arg) in args.iter().enumerate() {
            if !given.take(&arg, 0)? {
                return Ok(None);
            }
            given.donated.resize(given.arrays.len(), self.donated.contains(&at));
        }
        given.key.extend(key(args.py(), &given.arrays)?);
        Ok(Some(given))
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

#[pymethods]
impl Graph {
    /// Records it of other arrays, of which some are given up; none where the function has to be called itself.
    fn replay<'py>(&self, py: Python<'py>, args: &Bound<'py, PyList>, donated: Vec<bool>) -> PyResult<Option<Bound<'py, PyList>>> {
        let args = arrays(args)?;
        let results = recorded(py, &self.0, || self.0.replay_giving_up(&args, &donated))?;
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

    /// How many kernels and calls a run of it comes down to, if it runs by a plan.
    #[getter]
    fn planned(&self) -> Option<usize> {
        self.0.planned_steps()
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
