//! `vectorize`d functions of lazy arrays: nodes that fuse with others; run at once where a function does more than give a number.

use std::collections::HashSet;
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use weft_ir::{Function, Module, Op, Scalar, SourceId, StmtKind};
use weft_lazy::record;
use weft_lazy::{Array, Node, Value, machine, number, operation};
use weft_runtime::Device;

use super::calls::{to_numpy, wait_for_calls};
use super::{NdArray, error, exchange};
use crate::numpy::Numpy;
use crate::operand::Input;

/// More operands than this are computed at once.
const MOST_OPERANDS: usize = 16;

/// Is one of a call's operands a lazy array?
pub fn is_among(args: &Bound<'_, PyTuple>, others: &[Option<&Bound<'_, PyAny>>]) -> bool {
    args.iter()
        .chain(others.iter().flatten().map(|other| Bound::clone(other)))
        .any(|object| lazy(&object).is_some())
}

fn lazy<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Array> {
    match object.cast::<PyTuple>() {
        // `out=(x,)`
        Ok(_) => None,
        Err(_) => object.cast::<NdArray>().ok().map(|array| &array.get().array),
    }
}

/// Can the function be computed whenever, and as often as it takes, with the same bits? What raises, prints or counts cannot, nor can what its
/// caller's flags decide.
pub fn is_pure(module: &Module, operands: usize) -> bool {
    let plain = |kind: &StmtKind| {
        !matches!(
            kind,
            StmtKind::Raise { .. } | StmtKind::Print(_) | StmtKind::Sleep(_) | StmtKind::Let(_, Op::Atomic { .. } | Op::OutOfStack)
        )
    };
    (1..=MOST_OPERANDS).contains(&operands)
        && module.functions.iter().all(|function| {
            let flags = function.flags;
            !flags.fastmath && !flags.contract && !function.body.any(&mut |kind| !plain(kind))
        })
}

/// What a call is recorded from.
pub struct Call<'a, 'py> {
    pub name: &'a str,
    pub module: &'a Module,
    /// Sources in it that are Weft's own.
    pub library: &'a HashSet<SourceId>,
    pub params: &'a [Scalar],
    /// Where it is computed: a number of `machine`'s.
    pub device: u8,
    /// The type of the result's elements.
    pub elem: Scalar,
    pub inputs: &'a [Input<'py>],
    pub mask: Option<&'a Input<'py>>,
    pub out: Option<Bound<'py, PyAny>>,
}

impl<'py> Call<'_, 'py> {
    /// Records it: a new array, or what is written to `out`.
    pub fn record(&self, py: Python<'py>, numpy: &Numpy) -> PyResult<Bound<'py, PyAny>> {
        let mut args = smallvec::SmallVec::new();
        for (input, &param) in self.inputs.iter().zip(self.params) {
            args.push(value(numpy, input, param, self.device)?);
        }
        let mask = self.mask.map(|mask| value(numpy, mask, Scalar::Bool, self.device)).transpose()?;
        let gives = (self.module.entry_function().result.scalar()).ok_or_else(|| PyTypeError::new_err("the function gives no number"))?;
        let is_own = |function: &Function| {
            function
                .body
                .0
                .first()
                .is_some_and(|first| self.library.contains(&first.span.source))
        };
        let operation = operation::function(self.name, self.module, &is_own, self.params, gives);
        let result = record::apply(operation, args).map_err(|e| error(py, e))?;
        let Some(out) = &self.out else {
            let result = record::cast(&result, self.elem);
            let result = match mask {
                // Where it is not computed the elements are nobody's: zeros.
                Some(mask) => {
                    let zero = Node::fill(self.elem, weft_lazy::Dims::new(), [0; 2]);
                    record::select(&mask, &result, &zero).map_err(|e| error(py, e))?
                }
                None => result,
            };
            return NdArray::of(result).into_bound_py_any(py);
        };
        match lazy(out) {
            Some(array) => {
                let result = record::cast(&result, array.elem);
                let result = match mask {
                    Some(mask) => record::select(&mask, &result, &array.read()).map_err(|e| error(py, e))?,
                    None => result,
                };
                wait_for_calls(py, array)?;
                array.write(&result).map_err(|e| error(py, e))?;
            }
            None => {
                let elem = Input::array(numpy, out.clone())?.elem;
                let result = Array::of(record::cast(&result, elem));
                let mask = mask.map(Array::of);
                let host = to_numpy(py, &result)?;
                let keywords = PyDict::new(py);
                keywords.set_item("casting", "unsafe")?;
                if let Some(mask) = mask {
                    keywords.set_item("where", to_numpy(py, &mask)?)?;
                }
                py.import("numpy")?.call_method("copyto", (out, host), Some(&keywords))?;
            }
        }
        Ok(out.clone())
    }
}

/// Where it is computed: where the first array is that is not the host's.
pub fn home(py: Python<'_>, inputs: &[Input<'_>]) -> PyResult<Arc<dyn Device>> {
    let homes = inputs.iter().filter_map(|input| lazy(input.object()).map(Array::device));
    machine::device(homes.max().unwrap_or(machine::CPU)).map_err(|e| error(py, e))
}

/// An operand as a value of the type that the function takes.
fn value(numpy: &Numpy, input: &Input<'_>, to: Scalar, device: u8) -> PyResult<Value> {
    let object = input.object();
    let py = object.py();
    if let Some(array) = lazy(object) {
        return Ok(record::cast(&array.read(), to));
    }
    match input.bits() {
        Some(bits) => {
            let bits = number::converted(number::constant(input.elem, bits), to).map_err(|e| error(py, e))?;
            Ok(Node::fill(to, weft_lazy::Dims::new(), bits))
        }
        None => Ok(record::cast(&exchange::copied(numpy, object, device)?.read(), to)),
    }
}

/// A call whose function is run at once: with NumPy's arrays of the lazy ones.
pub fn at_once<'py>(
    py: Python<'py>,
    call: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    out: Option<&Bound<'py, PyAny>>,
    keywords: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let host = |object: Bound<'py, PyAny>| match lazy(&object) {
        Some(array) => to_numpy(py, array),
        None => Ok(object),
    };
    let home = args.iter().find_map(|arg| lazy(&arg).map(Array::device)).unwrap_or(machine::CPU);
    let args = PyTuple::new(py, args.iter().map(host).collect::<PyResult<Vec<_>>>()?)?;
    if let Some(mask) = keywords.get_item("where")? {
        keywords.set_item("where", host(mask)?)?;
    }
    let Some(out) = out else {
        let result = call.call(args, Some(keywords))?;
        let result = py.import("numpy")?.call_method1("asarray", (result,))?;
        let result = record::moved(&exchange::_adopt(&result)?.array.read(), home);
        return NdArray::of(result).into_bound_py_any(py);
    };
    match out.cast::<NdArray>() {
        Err(_) => {
            keywords.set_item("out", out)?;
            call.call(args, Some(keywords))?;
        }
        Ok(array) => {
            let array = &array.get().array;
            if array.read_only {
                return Err(PyValueError::new_err("output array is read-only"));
            }
            let copy = to_numpy(py, array)?.call_method0("copy")?;
            keywords.set_item("out", &copy)?;
            call.call(args, Some(keywords))?;
            wait_for_calls(py, array)?;
            array.write(&exchange::_adopt(&copy)?.array.read()).map_err(|e| error(py, e))?;
        }
    }
    Ok(out.clone())
}
