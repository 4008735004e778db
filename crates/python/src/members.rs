//! Members of enumerations as arguments. Code is compiled for each, to which it is a constant.

use pyo3::prelude::*;
use weft_front::ArgType;

use crate::classify;
use crate::numbered::Numbered;

static MEMBERS: Numbered<ArgType> = Numbered::new();

/// The number of a member; `None` for anything else.
pub fn number(object: &Bound<'_, PyAny>) -> Option<u32> {
    let describe = || classify::member_names(object);
    MEMBERS.number(object, describe, |(path, _), number| ArgType::Member {
        key: u64::from(number),
        path,
    })
}

/// The number of the member with a key.
pub fn find(key: u64) -> Option<u32> {
    u32::try_from(key).ok()
}

/// The type of an argument that is the member with a number.
pub fn argument(number: u32) -> Option<ArgType> {
    MEMBERS.description(number)
}

pub fn object(py: Python<'_>, key: u64) -> Option<Bound<'_, PyAny>> {
    MEMBERS.at(py, find(key)?)
}
