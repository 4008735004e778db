//! Objects as arguments to which code is compiled, as constants: functions, dtypes and members of enumerations; of the values that a
//! parameter has by default, numbers, strings and tuples, too.

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

/// Defaults have numbers of their own: the same object is a run-time value, or refused, where a call passes it.
static DEFAULTS: Numbered<ArgType> = Numbered::new();

/// Keys of defaults have this bit.
const DEFAULT: u64 = 1 << 32;

/// The number of a default that code can be compiled for: an integer, a bool, None, a string, or a tuple of them.
pub fn default_number(object: &Bound<'_, PyAny>) -> Option<u32> {
    let describe = || classify::is_choice(object).then(|| object.repr().ok()?.extract().ok())?;
    DEFAULTS.number(object, describe, |shown, number| ArgType::Object {
        key: DEFAULT | u64::from(number),
        shown,
    })
}

/// The number of the object with a key that is no default.
pub fn find(key: u64) -> Option<u32> {
    u32::try_from(key).ok()
}

/// The number of the default with a key.
pub fn find_default(key: u64) -> Option<u32> {
    if key & DEFAULT == 0 { None } else { find(key & !DEFAULT) }
}

/// The type of an argument that is the default with a number.
pub fn default_argument(number: u32) -> Option<ArgType> {
    DEFAULTS.description(number)
}

/// The type of an argument that is the object with a number.
pub fn argument(number: u32) -> Option<ArgType> {
    OBJECTS.description(number)
}

pub fn object(py: Python<'_>, key: u64) -> Option<Bound<'_, PyAny>> {
    match find_default(key) {
        Some(number) => DEFAULTS.at(py, number),
        None => OBJECTS.at(py, find(key)?),
    }
}
