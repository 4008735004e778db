//! Objects as arguments to which code is compiled, as constants: functions, dtypes and members of enumerations.

use pyo3::prelude::*;
use weft_front::ArgType;

use crate::classify;
use crate::numbered::Numbered;

static OBJECTS: Numbered<ArgType> = Numbered::new();

/// The number of such an object; `None` for anything else.
pub fn number(object: &Bound<'_, PyAny>) -> Option<u32> {
    let describe = || classify::shown(object);
    OBJECTS.number(object, describe, |shown, number| ArgType::Object {
        key: u64::from(number),
        shown,
    })
}

/// The number of the object with a key.
pub fn find(key: u64) -> Option<u32> {
    u32::try_from(key).ok()
}

/// The type of an argument that is the object with a number.
pub fn argument(number: u32) -> Option<ArgType> {
    OBJECTS.description(number)
}

pub fn object(py: Python<'_>, key: u64) -> Option<Bound<'_, PyAny>> {
    OBJECTS.at(py, find(key)?)
}
