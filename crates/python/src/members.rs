//! Members of enumerations as arguments. Code is compiled for each, to which it is a constant.

use pyo3::prelude::*;
use weft_front::{ArgType, EnumMember};

use crate::classify;
use crate::numbered::Numbered;

static MEMBERS: Numbered<ArgType> = Numbered::new();

/// The number of a member; `None` for anything else.
pub fn number(object: &Bound<'_, PyAny>) -> Option<u32> {
    MEMBERS.number(object, || {
        let EnumMember { key, path, .. } = classify::member(object)?;
        Some(ArgType::Member { key, path })
    })
}

/// The number of a member that has one.
pub fn find(key: u64) -> Option<u32> {
    MEMBERS.find(key)
}

/// The type of an argument that is the member with a number.
pub fn argument(number: u32) -> Option<ArgType> {
    MEMBERS.description(number)
}

pub fn object(py: Python<'_>, key: u64) -> Option<Bound<'_, PyAny>> {
    MEMBERS.object(py, key)
}
