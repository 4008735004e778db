//! Classes of named tuples. Each that is met gets a number, by which keys and the front end know it, and is kept: the number means it for good.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use weft_front::{Object, TupleClass, TupleMaker};

use crate::classify::classify;
use crate::core::lock;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Known {
    /// Numbers by the addresses of classes.
    numbers: HashMap<usize, u32>,
    classes: Vec<(Py<PyType>, Arc<TupleClass>)>,
}

/// The number of a tuple's class. `None` for a plain tuple, and for what was made without its class's doing, with items for other fields.
pub fn number_of(items: &Bound<'_, PyTuple>) -> Option<u32> {
    if items.is_exact_instance_of::<PyTuple>() {
        return None;
    }
    let number = number(&items.get_type())?;
    let fields = lock(&KNOWN).classes.get(number as usize)?.1.fields.len();
    (fields == items.len()).then_some(number)
}

/// The number of a class of named tuples; `None` for any other.
pub fn number(class: &Bound<'_, PyType>) -> Option<u32> {
    let address = class.as_ptr() as usize;
    if let Some(&number) = lock(&KNOWN).numbers.get(&address) {
        return Some(number);
    }
    let fields = fields(class)?;
    let name = class.name().ok()?.to_string();
    let mut known = lock(&KNOWN);
    let next = known.classes.len() as u32;
    // Another thread may have been here meanwhile.
    let number = *known.numbers.entry(address).or_insert(next);
    if number == next {
        let key = number.into();
        known
            .classes
            .push((class.clone().unbind(), Arc::new(TupleClass { key, name, fields })));
    }
    Some(number)
}

fn fields(class: &Bound<'_, PyType>) -> Option<Vec<String>> {
    if !class.is_subclass_of::<PyTuple>().ok()? || !class.hasattr("_make").ok()? {
        return None;
    }
    class.getattr("_fields").ok()?.extract().ok()
}

/// What the front end knows of the class with a number.
pub fn described(number: u32) -> Option<Arc<TupleClass>> {
    lock(&KNOWN).classes.get(number as usize).map(|(_, class)| class.clone())
}

/// The class that the front end had from here.
pub fn python_class<'py>(py: Python<'py>, class: &TupleClass) -> Option<Bound<'py, PyType>> {
    let known = lock(&KNOWN);
    known.classes.get(class.key as usize).map(|(class, _)| class.bind(py).clone())
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
pub fn maker(object: &Bound<'_, PyAny>) -> Option<Object> {
    let class = object.cast::<PyType>().ok()?;
    let described = described(number(class)?)?;
    if !makes_plainly(class)? {
        return None;
    }
    let defaults = class.getattr("_field_defaults").ok()?.cast_into::<PyDict>().ok()?;
    let defaults = defaults.iter().map(|(name, value)| Some((name.extract().ok()?, classify(&value))));
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
