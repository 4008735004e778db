//! `vectorize`d functions of lazy arrays: nodes that fuse with others; run at once where a function does more than give a number.

use std::collections::HashSet;
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use weft_ir::{Const, Function, Module, Op, Scalar, SourceId, StmtKind};
use weft_lazy::operation::{self, Operation};
use weft_lazy::record;
use weft_lazy::{Array, Node, Value, machine, number};
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

/// The operation that a function is of numbers of these types. Some of its sources are Weft's own.
pub fn operation(name: &str, module: &Module, library: &HashSet<SourceId>, params: &[Scalar]) -> PyResult<&'static Operation> {
    let gives = (module.entry_function().result.scalar()).ok_or_else(|| PyTypeError::new_err("the function gives no number"))?;
    let is_own = |function: &Function| {
        let first = function.body.0.first();
        first.is_some_and(|first| library.contains(&first.span.source))
    };
    Ok(operation::function(name, module, &is_own, params, gives))
}

/// What a call is recorded from.
pub struct Call<'a, 'py> {
    pub operation: &'static Operation,
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
        let mut args = SmallVec::new();
        for (input, &param) in self.inputs.iter().zip(self.params) {
            args.push(value(numpy, input, param, self.device)?);
        }
        let mask = self.mask.map(|mask| value(numpy, mask, Scalar::Bool, self.device)).transpose()?;
        let result = record::apply(self.operation, args).map_err(|e| error(py, e))?;
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

/// Numbers of the types that NumPy's letters name, as memory has them.
pub fn numbers(kinds: &str, given: Option<&Bound<'_, PyTuple>>) -> PyResult<SmallVec<[(Scalar, u64); 4]>> {
    let given: Vec<Bound<'_, PyAny>> = given.map_or_else(Vec::new, |given| given.iter().collect());
    if given.len() != kinds.len() {
        return Err(PyTypeError::new_err("as many numbers as types"));
    }
    let number = |(kind, number): (char, &Bound<'_, PyAny>)| {
        Ok(match kind {
            'd' => (Scalar::F64, number.extract::<f64>()?.to_bits()),
            'f' => (Scalar::F32, u64::from((number.extract::<f64>()? as f32).to_bits())),
            'l' => (Scalar::I64, number.extract::<i64>()? as u64),
            'L' => (Scalar::U64, number.extract::<u64>()?),
            _ => return Err(PyTypeError::new_err("types are 'd', 'f', 'l' and 'L'")),
        })
    };
    kinds.chars().zip(&given).map(number).collect()
}

/// An operation of numbers that count up from a position, two others of 64 bits, and more.
pub fn counted(
    operation: &'static Operation,
    device: u8,
    shape: &[u64],
    [position, high, key]: [u64; 3],
    others: &[(Scalar, u64)],
) -> weft_lazy::Result<Value> {
    record::check_size(shape, operation.result.size())?;
    let count = weft_lazy::size(shape).unwrap_or(0);
    let whole = |number: u64| Const::Int(Scalar::U64, number as i64);
    let number = |(elem, bits): (Scalar, u64)| Node::fill_on(device, elem, weft_lazy::Dims::new(), [bits, 0]);
    let mut args = SmallVec::new();
    args.push(record::iota(device, Scalar::U64, count, whole(position), whole(1))?);
    args.extend([high, key].map(|bits| number((Scalar::U64, bits))));
    args.extend(others.iter().map(|other| number(*other)));
    let made = record::apply(operation, args)?;
    Ok(if shape.len() == 1 { made } else { record::reshaped(&made, shape) })
}
