//! From result slots to Python objects.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyListMethods, PyTuple};
use std::sync::Arc;
use weft_front::ArgType;
use weft_ir::{Layout, Scalar, ViewType};
use weft_runtime::{Buffer, Executable};

use crate::array::{DeviceArray, Memory};
use crate::lazy::calls::{Returned, Settled};
use crate::named;
use crate::numpy::{Numpy, RawView};
use crate::objects;
use crate::slots::Number;

/// What a returned view may point into, so that the array made of it keeps that alive.
pub struct Owners<'a, 'py> {
    owned: Vec<Bound<'py, Memory>>,
    /// If there are arrays of Weft's among the arguments: what they are, and what is returned of them.
    lazy: Option<Returned>,
    args: &'a Bound<'py, PyTuple>,
    kwargs: Option<&'a Bound<'py, PyDict>>,
    executable: &'a Arc<dyn Executable>,
}

/// Frozen arrays live in the code that was compiled with them.
#[pyclass(frozen, module = "weft._weft")]
struct Code(#[expect(dead_code, reason = "held to keep the code's constants alive")] Arc<dyn Executable>);

impl<'a, 'py> Owners<'a, 'py> {
    pub fn new(
        owned: Vec<Box<dyn Buffer>>,
        args: &'a Bound<'py, PyTuple>,
        kwargs: Option<&'a Bound<'py, PyDict>>,
        lazy: Option<Settled>,
        executable: &'a Arc<dyn Executable>,
    ) -> PyResult<Self> {
        let py = args.py();
        let (owned, lazy) = match lazy {
            Some(settled) => (Vec::new(), Some(Returned::new(owned, settled))),
            None => (owned, None),
        };
        let owned = owned
            .into_iter()
            .map(|buffer| Bound::new(py, Memory::of(buffer, crate::devices::cpu().clone())))
            .collect::<PyResult<_>>()?;
        Ok(Owners {
            owned,
            lazy,
            args,
            kwargs,
            executable,
        })
    }

    /// The object that keeps the memory at `low..high` alive.
    fn find(&self, numpy: &Numpy, low: u64, high: u64) -> PyResult<Bound<'py, PyAny>> {
        let py = self.args.py();
        for memory in &self.owned {
            let start = memory.get().buffer.address();
            if start <= low && high <= start + memory.get().buffer.bytes() as u64 {
                return Ok(memory.clone().into_any());
            }
        }
        let named = match self.kwargs {
            Some(kwargs) => kwargs.values().to_tuple(),
            None => PyTuple::empty(py),
        };
        for args in [self.args, &named] {
            if let Some(found) = argument(numpy, args, low, high)? {
                return Ok(found);
            }
        }
        Ok(Bound::new(py, Code(self.executable.clone()))?.into_any())
    }
}

/// The array among the arguments, or in their tuples, that holds `low..high`.
fn argument<'py>(numpy: &Numpy, args: &Bound<'py, PyTuple>, low: u64, high: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
    for object in args.iter() {
        let bounds = if let Ok(items) = object.cast::<PyTuple>() {
            match argument(numpy, items, low, high)? {
                None => continue,
                found => return Ok(found),
            }
        } else if let Ok(array) = object.cast::<DeviceArray>() {
            array.get().bounds()
        } else if numpy.is_array(&object) {
            let fields = numpy.fields(&object);
            let item = fields.elem.map_or(0, Scalar::size);
            crate::numpy::bounds(fields.data, fields.shape, fields.strides, item)
        } else {
            None
        };
        if bounds.is_some_and(|(start, end)| start <= low && high <= end) {
            return Ok(Some(object));
        }
    }
    Ok(None)
}

/// Takes the slots of one result off the front of `slots`.
pub fn to_python<'py>(numpy: &Numpy, ty: &ArgType, slots: &mut &[u64], owners: &Owners<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let py = owners.args.py();
    match ty {
        ArgType::None => Ok(py.None().into_bound(py)),
        ArgType::Object { key, .. } => Ok(objects::object(py, *key).unwrap_or_else(|| py.None().into_bound(py))),
        ArgType::Weak(scalar) => weak(py, *scalar, take_scalar(*scalar, slots)),
        ArgType::Strong(scalar) => numpy.new_scalar(py, *scalar, take_scalar(*scalar, slots)),
        ArgType::Array(view) => array(numpy, view, slots, owners),
        ArgType::Tuple(items) => {
            let parts = items
                .iter()
                .map(|item| to_python(numpy, item, slots, owners))
                .collect::<PyResult<Vec<_>>>()?;
            let tuple = PyTuple::new(py, parts)?;
            match items.class() {
                Some(class) => named::instance(class, tuple),
                None => Ok(tuple.into_any()),
            }
        }
    }
}

/// The one or two slots of a scalar.
pub fn take_scalar(scalar: Scalar, slots: &mut &[u64]) -> [u64; 2] {
    let first = take(slots);
    [first, if scalar.is_complex() { take(slots) } else { 0 }]
}

fn take(slots: &mut &[u64]) -> u64 {
    match slots.split_first() {
        Some((&first, rest)) => {
            *slots = rest;
            first
        }
        None => 0,
    }
}

/// A number as Python's.
pub fn weak(py: Python<'_>, scalar: Scalar, slots: [u64; 2]) -> PyResult<Bound<'_, PyAny>> {
    match Number::from_slots(scalar, slots) {
        Number::Int(i) if scalar == Scalar::Bool => (i != 0).into_bound_py_any(py),
        Number::Int(i) => i.into_bound_py_any(py),
        Number::Float(x) => x.into_bound_py_any(py),
        Number::Complex(re, im) => Ok(PyComplex::from_doubles(py, re, im).into_any()),
    }
}

fn array<'py>(numpy: &Numpy, view: &ViewType, slots: &mut &[u64], owners: &Owners<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let mut raw = RawView {
        elem: view.elem,
        data: take(slots),
        shape: (0..view.rank).map(|_| take(slots) as isize).collect(),
        strides: (0..view.rank).map(|_| take(slots) as isize).collect(),
        writable: view.writable,
    };
    let py = owners.args.py();
    if let Some(lazy) = &owners.lazy
        && let Some(found) = lazy.array(py, &raw)?
    {
        return Ok(found);
    }
    let Some((low, high)) = raw.bounds() else {
        // Nothing to point at: any array of this shape is as good.
        return numpy.new_array(py, &raw.shape, view.elem, view.layout == Layout::F);
    };
    let owner = owners.find(numpy, low, high)?;
    if owner.is_instance_of::<Code>() {
        raw.writable = false;
    }
    // SAFETY: `owner` holds the memory the view lies in: an allocation of this call, an argument, or the code with its constants.
    #[expect(unsafe_code, reason = "the owner found above keeps the memory")]
    unsafe {
        numpy.view(owner, &raw)
    }
}
