//! Explicit signatures: how they are read from `weft.types` objects, and what a call converts.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
pub use weft_front::signature::{Signature, best, gives, is_safe, show, show_one};
use weft_front::{ArgType, Items, TupleClass};
use weft_ir::{Layout, Scalar, Space, ViewType};

use crate::key;
use crate::named;
use crate::objects;

/// One scalar that changes its type between the call and the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Its first slot before the conversion.
    pub slot: usize,
    pub from: Scalar,
    pub to: Scalar,
}

/// From `(result, (args...))`, each as the `_spec_` of a `weft.types` object or None.
pub fn from_spec(spec: &Bound<'_, PyAny>) -> PyResult<Signature> {
    let (result, args): (Bound<'_, PyAny>, Bound<'_, PyTuple>) = spec.extract()?;
    Ok(Signature {
        args: args.iter().map(|arg| read(&arg)).collect::<PyResult<_>>()?,
        result: if result.is_none() { None } else { Some(read(&result)?) },
    })
}

/// What to convert so that arguments of types `given` become those of `wanted`.
pub fn conversions(wanted: &[ArgType], given: &[ArgType]) -> Vec<Conversion> {
    let mut found = Vec::new();
    let mut slot = 0;
    for (want, have) in wanted.iter().zip(given) {
        convert(want, have, &mut slot, &mut found);
    }
    found
}

fn convert(want: &ArgType, have: &ArgType, slot: &mut usize, found: &mut Vec<Conversion>) {
    match (want, have) {
        (ArgType::Tuple(want), ArgType::Tuple(have)) => want.iter().zip(have).for_each(|(w, h)| convert(w, h, slot, found)),
        (ArgType::Strong(to) | ArgType::Weak(to), ArgType::Strong(from) | ArgType::Weak(from)) => {
            if to != from {
                found.push(Conversion {
                    slot: *slot,
                    from: *from,
                    to: *to,
                });
            }
            *slot += key::slots(have);
        }
        _ => *slot += key::slots(have),
    }
}

/// `("s", name)` or, for a Python number, `("s", name, True)`, `("a", name, rank, layout, writable)`, `("t", (items...))`, of a named tuple with
/// its class behind, `("o", object)`, of a parameter's default that is a constant `("d", object)`, or `("n",)`.
pub fn read(spec: &Bound<'_, PyAny>) -> PyResult<ArgType> {
    let spec = spec.cast::<PyTuple>()?;
    let tag: String = spec.get_item(0)?.extract()?;
    Ok(match tag.as_str() {
        "s" if spec.len() > 2 => ArgType::Weak(scalar(&spec.get_item(1)?)?),
        "s" => ArgType::Strong(scalar(&spec.get_item(1)?)?),
        "a" => ArgType::Array(ViewType {
            elem: scalar(&spec.get_item(1)?)?,
            rank: spec.get_item(2)?.extract()?,
            layout: match spec.get_item(3)?.extract::<String>()?.as_str() {
                "C" => Layout::C,
                "F" => Layout::F,
                _ => Layout::Any,
            },
            space: Space::Global,
            writable: spec.get_item(4)?.extract()?,
        }),
        "t" => {
            let items = spec.get_item(1)?;
            let items = items.cast::<PyTuple>()?.iter().map(|item| read(&item)).collect::<PyResult<_>>()?;
            ArgType::Tuple(Items::of(class_of(spec)?, items))
        }
        "o" => objects::number(&spec.get_item(1)?)
            .and_then(objects::argument)
            .unwrap_or(ArgType::None),
        "d" => objects::default_number(&spec.get_item(1)?)
            .and_then(objects::default_argument)
            .unwrap_or(ArgType::None),
        _ => ArgType::None,
    })
}

/// The class of a named tuple's spec.
fn class_of(spec: &Bound<'_, PyTuple>) -> PyResult<Option<Arc<TupleClass>>> {
    if spec.len() < 3 {
        return Ok(None);
    }
    Ok(named::number(&spec.get_item(2)?.cast_into()?).and_then(named::described))
}

fn scalar(name: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    let name: String = name.extract()?;
    Scalar::from_name(&name).ok_or_else(|| pyo3::exceptions::PyValueError::new_err(format!("no scalar type is named {name}")))
}

/// The spec of a type, for `weft.types` to make an object of.
pub fn write<'py>(py: Python<'py>, ty: &ArgType) -> PyResult<Bound<'py, PyAny>> {
    let spec = match ty {
        ArgType::Weak(s) => ("s", s.name(), true).into_pyobject(py)?,
        ArgType::Strong(s) => ("s", s.name()).into_pyobject(py)?,
        ArgType::Array(v) => {
            let layout = match v.layout {
                Layout::C => "C",
                Layout::F => "F",
                Layout::Row | Layout::Any => "A",
            };
            ("a", v.elem.name(), v.rank, layout, v.writable).into_pyobject(py)?
        }
        ArgType::Tuple(items) => {
            let parts = items.iter().map(|item| write(py, item)).collect::<PyResult<Vec<_>>>()?;
            let types = PyTuple::new(py, parts)?;
            match items.class().and_then(|class| named::python_class(py, class)) {
                Some(class) => ("t", types, class).into_pyobject(py)?,
                None => ("t", types).into_pyobject(py)?,
            }
        }
        ArgType::Object { key, .. } => {
            let tag = if objects::find_default(*key).is_some() { "d" } else { "o" };
            (tag, objects::object(py, *key)).into_pyobject(py)?
        }
        ArgType::None => ("n",).into_pyobject(py)?,
    };
    Ok(spec.into_any())
}

/// The spec of the type that an argument would be compiled for.
#[pyfunction(name = "typeof")]
pub fn typeof_<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let mut args = crate::bind::Args::default();
    crate::bind::bind(crate::numpy::Numpy::get(py)?, value, &|| "value".into(), &mut args)?;
    let ty = key::decode(&args.key).pop().unwrap_or(ArgType::None);
    write(py, &ty)
}
