//! Tapes as Python sees them: what `weft.gradients` makes its transforms of.

use std::any::Any;
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule, PyTuple};
use weft_lazy::operation::{Operation, What};
use weft_lazy::tape::{self, Entry, Follow, Made, Place};
use weft_lazy::{Array, FoldKind, Kind, Value};

use super::capturing::{arrays, listed, users_line};
use super::{NdArray, error};
use crate::bind::Args;
use crate::core::Code;
use crate::errors;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Tape>()?;
    module.add_function(wrap_pyfunction!(_tape_begin, module)?)?;
    module.add_function(wrap_pyfunction!(_tape_watch, module)?)?;
    module.add_function(wrap_pyfunction!(_tape_end, module)?)?;
    module.add_function(wrap_pyfunction!(_tape_innermost, module)?)?;
    module.add_function(wrap_pyfunction!(_tape_pause, module)?)?;
    module.add_function(wrap_pyfunction!(_tape_place, module)?)?;
    module.add_function(wrap_pyfunction!(_tape_call, module)?)?;
    module.add_function(wrap_pyfunction!(_tape_lacks_elements, module)?)?;
    module.add_function(wrap_pyfunction!(_tape_is_here, module)?)?;
    module.add_function(wrap_pyfunction!(_followed, module)?)?;
    module.add_function(wrap_pyfunction!(_as_it_is, module)?)?;
    module.add_function(wrap_pyfunction!(_is_same, module)?)?;
    module.add_function(wrap_pyfunction!(_unfollowed, module)?)
}

/// What was recorded of values that were followed: entries in order, each of some places made of others.
#[pyclass(frozen, name = "_Tape", module = "weft._weft")]
struct Tape(tape::Tape);

/// While it lives the tapes of its thread take no notice.
#[pyclass(unsendable, name = "_Pause", module = "weft._weft")]
struct Pause(Option<tape::Pause>);

#[pymethods]
impl Pause {
    /// Ends it: was something read meanwhile that a tape follows?
    fn end(&mut self) -> bool {
        self.0.take().is_some_and(|pause| pause.has_looked())
    }
}

/// Begins a tape that follows copies of arrays: these. `shapes`: nobody can look at their elements.
#[pyfunction]
#[pyo3(signature = (args, shapes=false))]
fn _tape_begin<'py>(args: &Bound<'py, PyList>, shapes: bool) -> PyResult<Bound<'py, PyList>> {
    let follow = if shapes { Follow::Shapes } else { Follow::Gradients };
    listed(args.py(), tape::begin(follow, &arrays(args)?))
}

/// Begins a tape that follows arrays themselves, or if there are none whatever is read.
#[pyfunction]
#[pyo3(signature = (args, began=None))]
fn _tape_watch(args: &Bound<'_, PyList>, began: Option<u64>) -> PyResult<u64> {
    Ok(tape::watch(&arrays(args)?, began))
}

/// The number of the innermost tape of this thread.
#[pyfunction]
fn _tape_innermost() -> Option<u64> {
    tape::innermost()
}

/// Ends the innermost tape of this thread.
#[pyfunction]
fn _tape_end(py: Python<'_>) -> PyResult<Tape> {
    tape::end()
        .map(Tape)
        .ok_or_else(|| errors::internal(py, "there is no tape to end".into()))
}

#[pyfunction]
fn _tape_pause() -> Pause {
    Pause(Some(tape::pause()))
}

/// The place of an array's elements on the innermost tape, if it follows them.
#[pyfunction]
fn _tape_place(x: &NdArray) -> Option<Place> {
    tape::place_of(&x.array)
}

/// Takes down that a function made arrays of others: arrays with the same elements, which are followed.
#[pyfunction]
fn _tape_call<'py>(call: Py<PyAny>, operands: &Bound<'py, PyList>, results: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
    let call: Arc<dyn Any + Send + Sync> = Arc::new(call);
    listed(operands.py(), tape::call(&call, &arrays(operands)?, &arrays(results)?))
}

/// Are any of these arrays followed by a tape that has no elements of them?
#[pyfunction]
fn _tape_lacks_elements(args: &Bound<'_, PyList>) -> PyResult<bool> {
    let arrays = arrays(args)?;
    let values: Vec<Value> = {
        // Who only asks has read nothing.
        let _pause = tape::pause();
        arrays.iter().map(Array::base).collect()
    };
    Ok(tape::lacks_elements(&values))
}

#[pyfunction]
fn _tape_is_here() -> bool {
    tape::is_here()
}

/// Is any array among these followed, or in their lists, tuples and dicts?
#[pyfunction]
#[pyo3(signature = (*args))]
fn _followed(args: &Bound<'_, PyTuple>) -> PyResult<bool> {
    Ok(tape::is_here() && is_any_followed(args.as_any())?)
}

/// Does a tape follow any of these arguments of compiled code?
pub fn is_among(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
    if !tape::is_on() || !tape::is_here() {
        return Ok(false);
    }
    let among = |object: &Bound<'_, PyAny>| is_any_followed(object);
    Ok(among(args.as_any())? || kwargs.map_or(Ok(false), |kwargs| among(kwargs.as_any()))?)
}

/// Calls compiled code with arguments that a tape follows: `weft.gradients.calls` takes down what it does.
pub fn called<'py>(
    code: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = args.py();
    let keywords = kwargs.map_or_else(|| PyDict::new(py), Bound::clone);
    py.import("weft.gradients.calls")?.call_method1("called", (code, args, keywords))
}

/// Of each array of Weft's among a call's arguments, in order: may the code write to it? Refused where it may write to any other array: what
/// it makes of followed ones there would be lost.
pub fn written(py: Python<'_>, name: &str, code: &Code, bound: &Args) -> PyResult<Vec<bool>> {
    let slots: Vec<usize> = bound.lazy().map(|(_, slot)| slot).collect();
    if code.writes_to_others(&slots) {
        return Err(errors::new(
            py,
            "GradientError",
            format!(
                "{}: {name} writes to an array that is none of Weft's, and of what it makes of others there would be no gradient; \
                 pass weft.asarray(x)",
                users_line(py)
            ),
        ));
    }
    Ok(bound.lazy().map(|(array, slot)| !array.read_only && code.writes(slot)).collect())
}

/// Notes whose operation one is, where a tape may ask for its derivatives.
pub fn know(ufunc: &Bound<'_, PyAny>, operation: &Operation) -> PyResult<()> {
    if let What::Function(number) = operation.what
        && tape::is_here()
    {
        let users = ufunc.py().import("weft.gradients.rules.users")?;
        users.call_method1("know", (number, ufunc))?;
    }
    Ok(())
}

fn is_any_followed(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(array) = object.cast::<NdArray>() {
        return Ok(tape::follows(&array.get().array));
    }
    if object.is_instance_of::<PyDict>() {
        return is_any_followed(
            &object
                .call_method0("values")?
                .try_iter()?
                .collect::<PyResult<Vec<_>>>()?
                .into_pyobject(object.py())?,
        );
    }
    if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
        for each in object.try_iter()? {
            if is_any_followed(&each?)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// An array with the elements that another one has now, whatever is written to that one.
#[pyfunction]
fn _as_it_is(x: &NdArray) -> NdArray {
    NdArray {
        array: tape::as_it_is(&x.array),
    }
}

/// Has nothing been written to two arrays since one was made of the other by `_as_it_is`?
#[pyfunction]
fn _is_same(x: &NdArray, y: &NdArray) -> bool {
    tape::is_same(&x.array, &y.array)
}

/// The same elements, which no tape follows.
#[pyfunction]
fn _unfollowed(x: &NdArray) -> NdArray {
    NdArray {
        array: tape::unfollowed(&x.array),
    }
}

/// Refuses to give away elements that a tape follows: what is made of them would be lost for gradients.
pub fn refuse_followed(py: Python<'_>, array: &Array) -> PyResult<()> {
    match tape::is_on() && tape::follows(array) && !tape::lacks_elements(&[array.base()]) {
        false => Ok(()),
        true => Err(errors::new(
            py,
            "GradientError",
            format!(
                "{}: the elements of an array that a gradient is taken of leave Weft's arrays here, and what becomes of them has no gradient; \
                 take those of weft.stop_gradient(x), or give the function a rule with weft.custom_vjp",
                users_line(py)
            ),
        )),
    }
}

impl Tape {
    fn entry(&self, at: usize) -> PyResult<&Entry> {
        self.0.entries.get(at).ok_or_else(|| PyIndexError::new_err("no such entry"))
    }

    fn node(&self, at: usize) -> PyResult<(&Value, &Kind)> {
        match &self.entry(at)?.made {
            Made::Node(node, kind) => Ok((node, kind)),
            Made::Call(_) => Err(PyTypeError::new_err("a call is no node")),
        }
    }
}

fn array_of(value: &Value) -> NdArray {
    NdArray::of(value.clone())
}

#[pymethods]
impl Tape {
    /// Calls are objects, which may know who has the tape. What another tape has, too, is left out: it is one reference, and would be
    /// counted twice. Whatever made a cycle of it can be cleared.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for entry in &self.0.entries {
            if let Made::Call(call) = &entry.made
                && Arc::strong_count(call) == 1
                && let Some(call) = call.downcast_ref::<Py<PyAny>>()
            {
                visit.call(call)?;
            }
        }
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.0.entries.len()
    }

    /// The places of what an entry made; none of what is not followed.
    fn results(&self, at: usize) -> PyResult<Vec<Option<Place>>> {
        Ok(self.entry(at)?.results.to_vec())
    }

    /// The places of what it was made of.
    fn operands(&self, at: usize) -> PyResult<Vec<Option<Place>>> {
        Ok(self.entry(at)?.operands.to_vec())
    }

    /// What sort of an entry it is.
    fn sort(&self, at: usize) -> PyResult<&'static str> {
        Ok(match &self.entry(at)?.made {
            Made::Call(_) => "call",
            Made::Node(_, kind) => match kind {
                Kind::Map { .. } => "map",
                Kind::View { .. } => "view",
                Kind::Reshape(_) => "reshape",
                Kind::Strided { .. } => "strided",
                Kind::Update { .. } => "update",
                Kind::Fold { .. } => "fold",
                Kind::Moved(_) => "moved",
                Kind::Fill(_) | Kind::Iota(_) | Kind::Unfinished(_) | Kind::StandIn => "none",
            },
        })
    }

    /// A map's operation and which of its results it is, a fold's and its axes, or the object of a call.
    fn what<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
        if let Made::Call(call) = &self.entry(at)?.made {
            let call = call.downcast_ref::<Py<PyAny>>().map(|call| call.bind(py).clone());
            return call.ok_or_else(|| errors::internal(py, "a call of something else".into()));
        }
        let (node, kind) = self.node(at)?;
        match kind {
            Kind::Map { operation, .. } => match operation.what {
                What::Ufunc { name, part } => (name, part).into_bound_py_any(py),
                What::Cast => ("cast", None::<u8>).into_bound_py_any(py),
                What::Select => ("select", None::<u8>).into_bound_py_any(py),
                What::Function(number) => (number, None::<u8>).into_bound_py_any(py),
            },
            Kind::Fold { fold, of } => {
                let name = match fold.what {
                    FoldKind::Ufunc(name, _) => name,
                    FoldKind::ArgMax => "argmax",
                    FoldKind::ArgMin => "argmin",
                };
                let axes: Vec<usize> = (0..of.shape.len()).filter(|axis| fold.axes & (1 << axis) != 0).collect();
                (name, axes).into_bound_py_any(py)
            }
            Kind::Strided { offset, strides, .. } => (node.shape.to_vec(), *offset, strides.to_vec()).into_bound_py_any(py),
            _ => Ok(py.None().into_bound(py)),
        }
    }

    /// The arrays that a node was made of.
    fn args(&self, at: usize) -> PyResult<Vec<NdArray>> {
        Ok(self.node(at)?.1.operands().map(array_of).collect())
    }

    /// What a node gave.
    fn result(&self, at: usize) -> PyResult<NdArray> {
        Ok(array_of(self.node(at)?.0))
    }

    /// The place of an array's elements, if they are followed.
    fn place(&self, x: &NdArray) -> Option<Place> {
        self.0.place(&x.array.read())
    }

    /// How many storages there had been when it began.
    #[getter]
    fn began(&self) -> u64 {
        self.0.began()
    }

    /// The places of what the tape began with, or found.
    fn leaves(&self) -> Vec<Place> {
        self.0.leaves().iter().map(|(_, place)| *place).collect()
    }

    /// Adds a cotangent to the gradient of the storage that a leaf's value was of.
    fn add_to_gradient(&self, py: Python<'_>, leaf: usize, cotangent: &NdArray) -> PyResult<()> {
        let (storage, _) = self.0.leaves().get(leaf).ok_or_else(|| PyIndexError::new_err("no such leaf"))?;
        storage.add_to_gradient(&cotangent.array).map_err(|e| error(py, e))
    }

    /// The axes of a view along which it repeats elements.
    fn repeated(&self, at: usize) -> PyResult<Vec<usize>> {
        Ok(self.entry(at)?.made.repeated())
    }

    /// May a view's other points, or an update's, show the same element?
    fn overlaps(&self, at: usize) -> PyResult<bool> {
        Ok(self.entry(at)?.made.overlaps())
    }

    /// What a view shows of an array like its operand, without axes that repeat; of an update, where it writes.
    fn shown(&self, py: Python<'_>, at: usize, of: &NdArray) -> PyResult<NdArray> {
        let array = self.entry(at)?.made.shown(&of.array).map_err(|e| error(py, e))?;
        Ok(NdArray { array })
    }

    /// A cotangent of a view that shows every element once, as its operand lies; none of other views.
    fn turned_back(&self, at: usize, cotangent: &NdArray) -> PyResult<Option<NdArray>> {
        let array = self.entry(at)?.made.turned_back(&cotangent.array);
        Ok(array.map(|array| NdArray { array }))
    }

    /// The node of operands that have `count` values each along a first axis; none stands for those that are as they were.
    fn batched(&self, py: Python<'_>, at: usize, operands: Vec<Option<PyRef<'_, NdArray>>>, count: u64) -> PyResult<NdArray> {
        let operands: Vec<Option<Value>> = operands.iter().map(|each| each.as_ref().map(|array| array.array.read())).collect();
        let entry = self.entry(at)?;
        if operands.len() != entry.operands.len() {
            return Err(PyValueError::new_err("as many operands as the node has"));
        }
        let value = entry.made.batched(&operands, count).map_err(|e| error(py, e))?;
        Ok(NdArray::of(value))
    }
}
