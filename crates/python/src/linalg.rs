//! Routines of linear algebra for NumPy arrays.

#![allow(unsafe_code)]

use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use weft_cpu::Crew;
use weft_ir::Scalar;
use weft_lazy::capture::{self, Call};
use weft_lazy::{Array, Dims, Node, Piece, Placed, RoutineOperand, Value, machine};
use weft_linalg::{Dtype, Failure, Operand, Routine};

use crate::errors;
use crate::lazy::{self, NdArray};
use crate::numpy::{ArrayFields, Numpy};

/// Operands that threads may use without the GIL: the arrays are kept meanwhile, and nobody is told of the new ones.
struct Operands(Vec<Operand>);

// SAFETY: they are places in memory; `call` says who touches it.
unsafe impl Send for Operands {}

/// Calls a routine with stacks of matrices of one dtype, float32, float64, complex64 or complex128: the tuple of what it gives, new arrays in C's
/// order, left unset unless the routine is to `run`. `LinAlgError` if a matrix has no result.
#[pyfunction]
#[pyo3(signature = (name, *arrays, run = true))]
pub fn linalg<'py>(py: Python<'py>, name: &str, arrays: &Bound<'py, PyTuple>, run: bool) -> PyResult<Bound<'py, PyTuple>> {
    let numpy = Numpy::get(py)?;
    let made = called(arrays, name, run, |elem, shape| {
        let shape: Vec<isize> = shape.iter().map(|&length| length as isize).collect();
        let array = numpy.new_array(py, &shape, elem, false)?;
        let place = operand(&numpy.fields(&array));
        Ok((array, place))
    })?;
    PyTuple::new(py, made)
}

/// The same as arrays of Weft's, in memory of their own: a tuple of them, or the array if it is one.
#[pyfunction]
#[pyo3(signature = (name, *arrays))]
pub fn _linalg_here<'py>(py: Python<'py>, name: &str, arrays: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let mut made = called(arrays, name, true, |elem, shape| {
        let lengths: Dims = shape.iter().map(|&length| length as u64).collect();
        let piece = Piece::fresh(machine::CPU, &lengths, elem).map_err(|e| lazy::error(py, e))?;
        let place = Operand {
            data: piece.address() as *mut u8,
            shape: shape.to_vec(),
            strides: in_c_order(shape, elem.size()),
        };
        Ok((NdArray::of(Node::stored(elem, lengths, piece)), place))
    })?;
    if made.len() > 1 {
        return PyTuple::new(py, made)?.into_bound_py_any(py);
    }
    made.pop().into_bound_py_any(py)
}

/// A routine as a step of a captured graph, which needs no Python.
#[derive(Debug)]
pub struct Native(&'static Routine);

/// The type of operands, types and shapes of what a routine gives, and the shape of the stack.
type Resolved = (Dtype, Vec<(Scalar, Dims)>, Vec<usize>);

impl Native {
    /// The routine of a name.
    pub fn find(name: &str) -> Option<Native> {
        Routine::find(name).map(Native)
    }

    /// Of which type what it gives for such operands is, and in what shapes; and the shape of the stack. Else what is wrong with them.
    pub fn resolve(&self, operands: &[Value]) -> weft_lazy::Result<Resolved> {
        let name = self.0.name;
        let refused = |what: &str| Err(weft_lazy::Error::Type(format!("{name}: {what}")));
        let Some(dtype) = operands.first().and_then(|operand| dtype_of(operand.elem)) else {
            return refused("takes float32, float64, complex64 or complex128");
        };
        if operands.len() != self.0.inputs.len() || !self.0.takes(dtype) {
            return refused("takes other operands");
        }
        if operands
            .iter()
            .any(|operand| dtype_of(operand.elem) != Some(dtype) || operand.device != machine::CPU)
        {
            return refused("operands are of one dtype, on the CPU");
        }
        let lengths = |value: &Value| value.shape.iter().map(|&n| n as usize).collect::<Vec<usize>>();
        let shapes: Vec<Vec<usize>> = operands.iter().map(lengths).collect();
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        let shapes = self
            .0
            .resolve(&shapes)
            .map_err(|mismatch| weft_lazy::Error::Value(format!("{name}: {mismatch}")))?;
        let outputs = (self.0.outputs.iter().zip(&shapes.outputs))
            .map(|(form, shape)| (scalar_of(form.kind.of(dtype)), shape.iter().map(|&n| n as u64).collect()))
            .collect();
        Ok((dtype, outputs, shapes.stack))
    }
}

impl Native {
    /// Runs it on memory that somebody holds.
    fn done(&self, dtype: Dtype, places: &[&RoutineOperand], stack: &[usize]) -> weft_lazy::Result<()> {
        let operand = |place: &&RoutineOperand| Operand {
            data: place.address as *mut u8,
            shape: place.shape.iter().map(|&n| n as usize).collect(),
            strides: place.strides.iter().map(|&stride| stride as isize).collect(),
        };
        let operands: Vec<Operand> = places.iter().map(operand).collect();
        // SAFETY: the caller holds the operands, which are regular, aligned and of the dtype; nobody writes to what somebody holds. The shapes were
        // found from theirs. The outputs are new, and nobody has them yet.
        unsafe { weft_linalg::run(self.0, dtype, &operands, stack, &Crew) }
            .map_err(|failure| weft_lazy::Error::Host(Box::new(Python::attach(|py| refusal(py, failure)))))
    }
}

impl Call for Native {
    fn call(self: Arc<Self>, operands: &[Value]) -> weft_lazy::Result<Vec<Value>> {
        let (dtype, outputs, stack) = self.resolve(operands)?;
        let mut places = Vec::with_capacity(operands.len() + outputs.len());
        for value in operands {
            let mut placed = Placed::of(value)?;
            let mut place = placed.operand(value);
            if !is_regular(&place, dtype.size()) || !placed.address().is_multiple_of(dtype.size() as u64) {
                placed = Placed::dense(value)?;
                place = placed.operand(value);
            }
            places.push((placed, place));
        }
        let mut made = Vec::with_capacity(outputs.len());
        for (elem, shape) in outputs {
            let (value, placed) = Placed::fresh(elem, shape)?;
            let place = placed.operand(&value);
            places.push((placed, place));
            made.push(value);
        }
        let noted = places.iter().map(|(placed, place)| (&placed.piece, placed.offset, place.clone()));
        weft_lazy::note_routine(self.clone(), noted.collect());
        let places: Vec<&RoutineOperand> = places.iter().map(|(_, place)| place).collect();
        self.done(dtype, &places, &stack)?;
        Ok(made)
    }

    fn reads(&self) -> usize {
        self.0.inputs.len()
    }

    fn run(&self, operands: &[&RoutineOperand]) -> weft_lazy::Result<()> {
        let wrong = || weft_lazy::Error::Internal("a routine of other operands".into());
        let dtype = operands.first().and_then(|operand| dtype_of(operand.elem)).ok_or_else(wrong)?;
        let lengths = |operand: &&RoutineOperand| operand.shape.iter().map(|&n| n as usize).collect::<Vec<usize>>();
        let shapes: Vec<Vec<usize>> = operands.iter().take(self.reads()).map(lengths).collect();
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        let shapes = self.0.resolve(&shapes).map_err(|_| wrong())?;
        self.done(dtype, operands, &shapes.stack)
    }

    fn gives(&self, operands: &[Value]) -> weft_lazy::Result<Vec<(Scalar, Dims)>> {
        self.resolve(operands).map(|(_, outputs, _)| outputs)
    }

    fn text(&self) -> Option<String> {
        Some(self.0.name.into())
    }
}

/// Does every element lie a whole number of elements from the first one?
fn is_regular(place: &RoutineOperand, item: usize) -> bool {
    let mut steps = place.shape.iter().zip(&place.strides);
    steps.all(|(&n, &stride)| n <= 1 || stride.unsigned_abs().is_multiple_of(item as u64))
}

/// Records a routine in the graph that is captured: the array that it gives.
#[pyfunction]
#[pyo3(signature = (name, *arrays))]
pub fn _linalg_captured(py: Python<'_>, name: &str, arrays: &Bound<'_, PyTuple>) -> PyResult<NdArray> {
    let native = Native::find(name).ok_or_else(|| PyValueError::new_err(format!("no routine is called {name:?}")))?;
    let operands: Vec<Value> = (arrays.iter())
        .map(|array| Ok(array.cast::<NdArray>()?.get().array.read()))
        .collect::<PyResult<_>>()?;
    let (_, outputs, _) = native.resolve(&operands).map_err(|e| lazy::error(py, e))?;
    let like: Vec<Array> = (outputs.into_iter())
        .map(|(elem, shape)| Array::of(Node::fill(elem, shape, [0; 2])))
        .collect();
    let mut made = capture::call(Arc::new(native), operands, &like).unwrap_or_default();
    match (made.pop(), made.is_empty()) {
        (Some(value), true) => Ok(NdArray::of(value)),
        _ => Err(errors::internal(
            py,
            "nothing is captured, or a routine gives several arrays".into(),
        )),
    }
}

/// Strides in bytes of an array whose memory there is.
fn in_c_order(shape: &[usize], size: usize) -> Vec<isize> {
    let mut strides = vec![size as isize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis] as isize);
    }
    strides
}

/// Calls a routine with places that `make` made for what it gives, unless it is not to `run`.
fn called<R>(
    arrays: &Bound<'_, PyTuple>,
    name: &str,
    run: bool,
    mut make: impl FnMut(Scalar, &[usize]) -> PyResult<(R, Operand)>,
) -> PyResult<Vec<R>> {
    let py = arrays.py();
    let numpy = Numpy::get(py)?;
    let routine = Routine::find(name).ok_or_else(|| PyValueError::new_err(format!("no routine is called {name:?}")))?;
    let inputs: Vec<Bound<'_, PyAny>> = arrays.iter().collect();
    let mut operands = Vec::with_capacity(4);
    let mut dtype = None;
    for array in &inputs {
        if !numpy.is_array(array) {
            return Err(PyTypeError::new_err("operands of linear algebra are NumPy arrays"));
        }
        let fields = numpy.fields(array);
        let found = fields
            .elem
            .and_then(dtype_of)
            .filter(|found| dtype.is_none_or(|known| known == *found));
        let stack = operand(&fields);
        let Some(found) = found.filter(|dtype| fields.aligned && stack.is_regular(dtype.size())) else {
            return Err(PyTypeError::new_err(
                "operands of linear algebra are aligned arrays of one dtype: float32, float64, complex64 or complex128",
            ));
        };
        dtype = Some(found);
        operands.push(stack);
    }
    let Some(dtype) = dtype else {
        return Err(PyTypeError::new_err(format!("{name} needs a matrix")));
    };
    if !routine.takes(dtype) {
        return Err(PyTypeError::new_err(format!("{name} takes float64 and complex128")));
    }
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape.as_slice()).collect();
    let shapes = routine
        .resolve(&shapes)
        .map_err(|mismatch| PyValueError::new_err(format!("{name}: {mismatch}")))?;
    let mut outputs = Vec::with_capacity(routine.outputs.len());
    for (form, shape) in routine.outputs.iter().zip(&shapes.outputs) {
        let (made, place) = make(scalar_of(form.kind.of(dtype)), shape)?;
        operands.push(place);
        outputs.push(made);
    }
    if !run {
        return Ok(outputs);
    }
    let operands = Operands(operands);
    let result = py.detach(move || {
        let operands = operands;
        // SAFETY: the inputs are alive, aligned and of the dtype, and the shapes were found from theirs; the outputs are new, and nobody has them
        // yet. That nobody writes an input meanwhile is what the caller promises, as with every call of NumPy's that releases the GIL.
        unsafe { weft_linalg::run(routine, dtype, &operands.0, &shapes.stack, &Crew) }
    });
    result.map_err(|failure| refusal(py, failure))?;
    Ok(outputs)
}

fn operand(fields: &ArrayFields<'_>) -> Operand {
    Operand {
        data: fields.data as *mut u8,
        shape: fields.shape.iter().map(|&length| length.unsigned_abs()).collect(),
        strides: fields.strides.to_vec(),
    }
}

fn dtype_of(scalar: Scalar) -> Option<Dtype> {
    Some(match scalar {
        Scalar::F32 => Dtype::F32,
        Scalar::F64 => Dtype::F64,
        Scalar::C64 => Dtype::C64,
        Scalar::C128 => Dtype::C128,
        _ => return None,
    })
}

fn scalar_of(dtype: Dtype) -> Scalar {
    match dtype {
        Dtype::F32 => Scalar::F32,
        Dtype::F64 => Scalar::F64,
        Dtype::C64 => Scalar::C64,
        Dtype::C128 => Scalar::C128,
    }
}

/// NumPy's exception, in its words.
fn refusal(py: Python<'_>, failure: Failure) -> PyErr {
    let words = match failure {
        Failure::Singular => "Singular matrix",
        Failure::NotPositiveDefinite => "Matrix is not positive definite",
        Failure::NoConvergence => "Eigenvalues did not converge",
        Failure::Type | Failure::Defect => return errors::internal(py, failure.to_string()),
        Failure::OutOfMemory => return PyMemoryError::new_err(failure.to_string()),
    };
    error(py, words.to_owned())
}

/// A `numpy.linalg.LinAlgError`.
pub fn error(py: Python<'_>, message: String) -> PyErr {
    let class = py.import("numpy.linalg").and_then(|module| module.getattr("LinAlgError"));
    match class.and_then(|class| class.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(broken) => errors::internal(py, broken.to_string()),
    }
}
