//! From Python arguments to a key of types and an argument block.

use std::ops::Range;

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt, PyList, PyString, PyTuple};
use smallvec::SmallVec;
use weft_ir::Scalar;
use weft_lazy::machine;
use weft_runtime::HostArray;

use crate::array::{DeviceArray, Memory};
use crate::errors;
use crate::key::{self, Key};
use crate::lazy::{NdArray, calls};
use crate::named;
use crate::numpy::Numpy;
use crate::objects;

/// The arguments of one call: their types as a key, their values as slots, and where the elements of arrays are.
#[derive(Debug, Default)]
pub struct Args {
    pub key: Key,
    pub slots: SmallVec<[u64; 36]>,
    /// Arrays in host memory.
    arrays: SmallVec<[ArrayArg; 4]>,
    /// Those of them that are Weft's, which have no address before they are computed.
    lazy: SmallVec<[LazyArg; 0]>,
    /// The memory of arrays on devices.
    pub memories: SmallVec<[Py<Memory>; 4]>,
    /// Those that are defaults and were bound as values, but could be constants.
    defaults: SmallVec<[Omitted; 0]>,
    /// Tuples that what is being bound stands in.
    depth: usize,
}

/// An array in host memory among the arguments: its first slot, what the slots do not tell.
#[derive(Clone, Copy, Debug)]
struct ArrayArg {
    slot: usize,
    rank: usize,
    item: usize,
    writable: bool,
}

/// An array of Weft's among the arguments, and its first slot.
#[derive(Clone, Debug)]
struct LazyArg {
    slot: usize,
    array: weft_lazy::Array,
}

/// An argument that is a parameter's default: its place in the key and among the slots, and the code of the constant that it is.
#[derive(Debug)]
struct Omitted {
    key: Range<usize>,
    slots: Range<usize>,
    code: u32,
}

impl Args {
    /// Appends a parameter's default: as a constant if it can be nothing else.
    pub fn push_default(&mut self, numpy: &Numpy, object: &Bound<'_, PyAny>, name: &dyn Fn() -> String) -> PyResult<()> {
        let code = objects::default_number(object).map(key::default);
        if let Some(code) = code.filter(|_| object.is_instance_of::<PyString>()) {
            self.key.push(code);
            return Ok(());
        }
        let (key, slots) = (self.key.len(), self.slots.len());
        bind(numpy, object, name, self)?;
        if let Some(code) = code.filter(|_| self.slots.len() > slots) {
            self.defaults.push(Omitted {
                key: key..self.key.len(),
                slots: slots..self.slots.len(),
                code,
            });
        }
        Ok(())
    }

    /// The key with constants for the defaults among the arguments; `None` if there are none.
    pub fn key_of_constants(&self) -> Option<Key> {
        let mut key = self.key.clone();
        for default in self.defaults.iter().rev() {
            key.drain(default.key.clone());
            key.insert(default.key.start, default.code);
        }
        (!self.defaults.is_empty()).then_some(key)
    }

    /// Makes constants of them: they take no slots.
    pub fn make_constants(&mut self, key: Key) {
        self.key = key;
        for default in std::mem::take(&mut self.defaults).into_iter().rev() {
            self.moved(default.slots.start, default.slots.len(), 0);
            self.slots.drain(default.slots);
        }
    }

    /// Notes that the view whose slots come next is of host memory.
    pub fn expect_array(&mut self, rank: usize, item: usize, writable: bool) {
        self.arrays.push(ArrayArg {
            slot: self.slots.len(),
            rank,
            item,
            writable,
        });
    }

    /// Notes that it is an array of Weft's: its address follows when it is computed.
    pub fn expect_lazy(&mut self, array: &weft_lazy::Array, writable: bool) {
        let slot = self.slots.len();
        if array.device() == machine::CPU {
            self.expect_array(array.rank(), array.elem.size(), writable);
        }
        self.lazy.push(LazyArg {
            slot,
            array: array.clone(),
        });
    }

    /// Weft's arrays among the arguments and their first slots.
    pub fn lazy(&self) -> impl Iterator<Item = (&weft_lazy::Array, usize)> {
        self.lazy.iter().map(|lazy| (&lazy.array, lazy.slot))
    }

    pub fn has_lazy(&self) -> bool {
        !self.lazy.is_empty()
    }

    /// Refuses device memory that functions on the CPU cannot address.
    pub fn require_host(&self, py: Python<'_>) -> PyResult<()> {
        match self
            .memories
            .iter()
            .map(|memory| memory.get().home())
            .find(|home| !home.host_accessible())
        {
            None => Ok(()),
            Some(home) => Err(errors::launch(
                py,
                format!(
                    "an argument is in memory of {}, and this function runs on the CPU; pass its copy_to_host()",
                    home.id()
                ),
            )),
        }
    }

    pub fn has_host_arrays(&self) -> bool {
        !self.arrays.is_empty()
    }

    /// The bytes that arrays in host memory span, for a device that does not address them.
    pub fn host_arrays(&self) -> Vec<HostArray> {
        let span = |array: &ArrayArg| {
            let entries = |at: usize| -> SmallVec<[isize; 4]> { self.slots[at..at + array.rank].iter().map(|&n| n as isize).collect() };
            let shape = entries(array.slot + 1);
            let strides = entries(array.slot + 1 + array.rank);
            let data = self.slots[array.slot];
            let (low, high) = crate::numpy::bounds(data, &shape, &strides, array.item).unwrap_or((data, data));
            HostArray {
                slot: array.slot,
                address: low,
                bytes: high - low,
                writable: array.writable,
            }
        };
        self.arrays.iter().map(span).collect()
    }

    /// Another number of slots at `slot`: the views behind it move.
    pub fn moved(&mut self, slot: usize, old: usize, new: usize) {
        for array in self.arrays.iter_mut().filter(|array| array.slot > slot) {
            array.slot = array.slot + new - old;
        }
        for lazy in self.lazy.iter_mut().filter(|lazy| lazy.slot > slot) {
            lazy.slot = lazy.slot + new - old;
        }
    }
}

/// Appends one argument; `name` names it in errors.
pub fn bind(numpy: &Numpy, object: &Bound<'_, PyAny>, name: &dyn Fn() -> String, args: &mut Args) -> PyResult<()> {
    if numpy.is_exact_array(object) {
        bind_array(numpy, object, name, args)
    } else if object.is_exact_instance_of::<PyFloat>() {
        args.key.push(key::weak(Scalar::F64));
        args.slots.push(object.extract::<f64>()?.to_bits());
        Ok(())
    } else if object.is_exact_instance_of::<PyInt>() {
        bind_int(object, name, args)
    } else {
        bind_other(numpy, object, name, args)
    }
}

fn bind_int(object: &Bound<'_, PyAny>, name: &dyn Fn() -> String, args: &mut Args) -> PyResult<()> {
    let value = object.extract::<i64>().map_err(|_| too_large(object, &name()))?;
    args.key.push(key::weak(Scalar::I64));
    args.slots.push(value as u64);
    Ok(())
}

#[cold]
fn too_large(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    if object.extract::<u64>().is_ok() {
        return PyOverflowError::new_err(format!(
            "argument {name} is {object}, which does not fit in int64; pass np.uint64({object}) if it is meant to be unsigned"
        ));
    }
    // Writing thousands of digits takes long, and Python refuses it.
    let bits: u64 = object.call_method0("bit_length").and_then(|n| n.extract()).unwrap_or(u64::MAX);
    let shown = if bits < 200 {
        object.to_string()
    } else {
        format!("an int of {bits} bits")
    };
    PyOverflowError::new_err(format!(
        "argument {name} is {shown}, and compiled code has no integers of more than 64 bits; pass a float"
    ))
}

fn bind_array(numpy: &Numpy, object: &Bound<'_, PyAny>, name: &dyn Fn() -> String, args: &mut Args) -> PyResult<()> {
    let fields = numpy.fields(object);
    let (Some(elem), true) = (fields.elem, fields.aligned) else {
        return Err(refuse_array(object, fields.native, fields.elem.is_some(), &name()));
    };
    args.key.push(key::array(elem, fields.shape.len(), fields.layout, fields.writable));
    args.expect_array(fields.shape.len(), elem.size(), fields.writable);
    args.slots.push(fields.data);
    args.slots.extend(fields.shape.iter().map(|&n| n as u64));
    args.slots.extend(fields.strides.iter().map(|&n| n as u64));
    Ok(())
}

#[cold]
fn refuse_array(object: &Bound<'_, PyAny>, native: bool, known: bool, name: &str) -> PyErr {
    let dtype = object.getattr("dtype").map(|d| d.to_string()).unwrap_or_default();
    let py = object.py();
    if !native {
        errors::typing(
            py,
            format!(
                "argument {name} is an array of {dtype}, whose bytes are not in this machine's order; pass {name}.astype({name}.dtype.newbyteorder('='))"
            ),
        )
    } else if !known {
        errors::typing(
            py,
            format!(
                "argument {name} is an array of dtype {dtype}; Weft takes bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64 and complex128"
            ),
        )
    } else {
        errors::typing(
            py,
            format!("argument {name} is an array whose elements are not aligned in memory; pass {name}.copy()"),
        )
    }
}

fn bind_other(numpy: &Numpy, object: &Bound<'_, PyAny>, name: &dyn Fn() -> String, args: &mut Args) -> PyResult<()> {
    // NumPy's scalars come after what costs less to recognise; some of them are Python's numbers, too.
    if let Ok(array) = object.cast::<NdArray>() {
        calls::bind(object.py(), &array.get().array, &name, args)?;
    } else if let Ok(array) = object.cast::<DeviceArray>() {
        array.get().bind(object.py(), args);
    } else if let Ok(items) = object.cast::<PyTuple>() {
        refuse_huge(items, name, args)?;
        args.key.push(named::number_of(items).map_or(key::tuple(items.len()), key::named));
        args.depth += 1;
        for (i, item) in items.iter().enumerate() {
            bind(numpy, &item, &|| format!("{}[{i}]", name()), args)?;
        }
        args.depth -= 1;
    } else if object.is_none() {
        args.key.push(key::none());
    } else if let Ok(b) = object.cast::<PyBool>() {
        args.key.push(key::weak(Scalar::Bool));
        args.slots.push(u64::from(b.is_true()));
    } else if let Some(scalar) = numpy.scalar_of(object) {
        bind_bits(key::strong(scalar), scalar, numpy.scalar_bits(object, scalar), args);
    } else if object.is_instance_of::<PyInt>() {
        bind_int(object, name, args)?;
    } else if object.is_instance_of::<PyFloat>() {
        args.key.push(key::weak(Scalar::F64));
        args.slots.push(object.extract::<f64>()?.to_bits());
    } else if let Ok(c) = object.cast::<PyComplex>() {
        bind_bits(
            key::weak(Scalar::C128),
            Scalar::C128,
            [c.real().to_bits(), c.imag().to_bits()],
            args,
        );
    } else if numpy.is_array(object) && is_plain_subclass(object) {
        bind_array(numpy, object, name, args)?;
    } else if object.hasattr("__cuda_array_interface__")? {
        // Of CuPy, PyTorch or Numba.
        let array = object.py().import("weft.cuda")?.call_method1("as_cuda_array", (object,))?;
        array.cast::<DeviceArray>()?.get().bind(object.py(), args);
    } else if let Some(number) = objects::number(object) {
        args.key.push(key::object(number));
    } else {
        return Err(refuse(object, &name()));
    }
    Ok(())
}

fn refuse_huge(items: &Bound<'_, PyTuple>, name: &dyn Fn() -> String, args: &Args) -> PyResult<()> {
    let (deep, long) = (named::DEEPEST, named::LONGEST);
    if args.depth < deep && args.key.len() + items.len() <= long {
        return Ok(());
    }
    // The name of what is deep inside would be long.
    let which = if args.depth == 0 {
        format!("argument {}", name())
    } else {
        "a tuple among the arguments".into()
    };
    let message = format!("{which} is too large: tuples may be nested {deep} deep and have {long} items in all; pass an array");
    Err(errors::typing(items.py(), message))
}

fn bind_bits(code: u32, scalar: Scalar, bits: [u64; 2], args: &mut Args) {
    args.key.push(code);
    args.slots.extend_from_slice(&bits[..1 + usize::from(scalar.is_complex())]);
}

/// A memory map is an array like any other; a masked array or a matrix means something else by its operators.
fn is_plain_subclass(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().name().is_ok_and(|name| name == "memmap")
}

#[cold]
fn refuse(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let ty = object.get_type().fully_qualified_name().map(|n| n.to_string()).unwrap_or_default();
    let is_array_like = object.is_instance_of::<PyList>() || (object.hasattr("__array__").unwrap_or(false) && !ty.starts_with("numpy."));
    let help = if is_array_like {
        format!("pass np.asarray({name}), or a tuple of numbers")
    } else {
        "Weft takes numbers, NumPy scalars and arrays, functions, members of enumerations, and tuples of them".into()
    };
    errors::typing(object.py(), format!("argument {name} is a {ty}, which has no type in Weft; {help}"))
}
