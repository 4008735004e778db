//! Classes of named tuples, and how large tuples may be.

use std::rc::Rc;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use weft_front::{Object, TupleClass, TupleMaker};

use crate::classify::classify;
use crate::frozen::Frozen;
use crate::numbered::Numbered;

/// How deep tuples may be nested, and how many items one may have, as the front end has it, too.
pub const DEEPEST: usize = 64;
pub const LONGEST: usize = 1 << 14;

static CLASSES: Numbered<Arc<TupleClass>> = Numbered::new();

/// The number of a tuple's class. `None` for a plain tuple, and for what was made without its class's doing, with items for other fields.
pub fn number_of(items: &Bound<'_, PyTuple>) -> Option<u32> {
    if items.is_exact_instance_of::<PyTuple>() {
        return None;
    }
    let number = number(&items.get_type())?;
    (described(number)?.fields.len() == items.len()).then_some(number)
}

/// The number of a class of named tuples; `None` for any other.
pub fn number(class: &Bound<'_, PyType>) -> Option<u32> {
    let describe = || {
        let named = class.is_subclass_of::<PyTuple>().ok()? && class.hasattr("_make").ok()? && !class.hasattr("__members__").ok()?;
        let fields = || class.getattr("_fields").ok()?.extract().ok();
        Some((class.name().ok()?.to_string(), named.then(fields)??))
    };
    let known = |(name, fields), number| {
        Arc::new(TupleClass {
            key: u64::from(number),
            name,
            fields,
        })
    };
    CLASSES.number(class, describe, known)
}

/// The number of a class that has one.
pub fn find(class: &TupleClass) -> Option<u32> {
    u32::try_from(class.key).ok()
}

/// What the front end knows of the class with a number.
pub fn described(number: u32) -> Option<Arc<TupleClass>> {
    CLASSES.description(number)
}

/// The class that the front end had from here.
pub fn python_class<'py>(py: Python<'py>, class: &TupleClass) -> Option<Bound<'py, PyAny>> {
    CLASSES.at(py, find(class)?)
}

/// A plain tuple's items as an instance of the class.
pub fn instance<'py>(class: &TupleClass, items: Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let py = items.py();
    match python_class(py, class) {
        Some(class) => py.get_type::<PyTuple>().call_method1("__new__", (class, items)),
        None => Ok(items.into_any()),
    }
}

/// The class as a thing that compiled code may call: one that makes its instances in a way of its own is none.
pub fn maker(object: &Bound<'_, PyAny>, frozen: &Rc<Frozen>) -> Option<Object> {
    let class = object.cast::<PyType>().ok()?;
    let described = described(number(class)?)?;
    if !makes_plainly(class)? {
        return None;
    }
    let defaults = class.getattr("_field_defaults").ok()?.cast_into::<PyDict>().ok()?;
    let defaults = defaults
        .iter()
        .map(|(name, value)| Some((name.extract().ok()?, classify(&value, frozen))));
    Some(Object::TupleClass(
        TupleMaker {
            class: described,
            defaults: defaults.collect::<Option<_>>()?,
        }
        .into(),
    ))
}

/// Whether `__new__` is the one that came with the fields, and there is no `__init__`.
fn makes_plainly(class: &Bound<'_, PyType>) -> Option<bool> {
    for base in class.mro() {
        let own = base.getattr("__dict__").ok()?;
        let has = |name: &str| own.contains(name).ok();
        if has("__init__")? {
            return Some(false);
        }
        if has("__new__")? {
            return has("_fields");
        }
    }
    Some(false)
}
