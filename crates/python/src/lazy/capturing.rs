//! `weft.compile`: what a function records, captured and recorded again of other arrays.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyModule};
use weft_lazy::capture::{self, Call};
use weft_lazy::{Array, Value};

use super::{NdArray, error};
use crate::errors;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Graph>()?;
    module.add_function(wrap_pyfunction!(_capture, module)?)?;
    module.add_function(wrap_pyfunction!(_capture_key, module)?)?;
    module.add_function(wrap_pyfunction!(_capture_call, module)?)
}

/// What a function recorded.
#[pyclass(frozen, name = "_Graph", module = "weft._weft")]
struct Graph(capture::Graph);

fn arrays(objects: &Bound<'_, PyList>) -> PyResult<Vec<Array>> {
    objects
        .iter()
        .map(|object| Ok(object.cast::<NdArray>()?.get().array.clone()))
        .collect()
}

fn listed<'py>(py: Python<'py>, arrays: Vec<Array>) -> PyResult<Bound<'py, PyList>> {
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
    Ok((Graph(graph), rest))
}

/// What a capture with these arrays depends on.
#[pyfunction]
fn _capture_key<'py>(args: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyBytes>> {
    let key = capture::key(&arrays(args)?);
    let bytes: Vec<u8> = key.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(PyBytes::new(args.py(), &bytes))
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
    let results = arrays(like)?.into_iter().map(|array| (array.elem, array.shape)).collect();
    let recorded = capture::call(Arc::new(AtOnce(call.unbind())), operands, results);
    let recorded = recorded.ok_or_else(|| errors::internal(py, "nothing is captured".into()))?;
    listed(py, recorded.into_iter().map(Array::of).collect())
}

#[pymethods]
impl Graph {
    /// Records it of other arrays; none where the function has to be called itself.
    fn replay<'py>(&self, py: Python<'py>, args: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyList>>> {
        let results = self.0.replay(&arrays(args)?).map_err(|e| error(py, e))?;
        results.map(|results| listed(py, results)).transpose()
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.0.nodes()
    }
}

/// The error where elements are needed of what has none, with the user's line.
pub fn needed(py: Python<'_>) -> PyErr {
    let line = py
        .import("weft.arrays.compiling")
        .and_then(|module| module.call_method0("_users_line")?.extract::<String>());
    let line = line.unwrap_or_default();
    errors::new(
        py,
        "CaptureError",
        format!(
            "{line}: the elements of an array are needed here, and weft.compile captures a function before there are any; choose with weft.where, or do this outside of the function"
        ),
    )
}
