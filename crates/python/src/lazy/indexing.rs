//! Basic indices: integers, slices, `None` and `...`, alone or in a tuple. All others are for `weft.arrays.indexing`.
#![allow(unsafe_code)]

use pyo3::exceptions::PyIndexError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};
use smallvec::SmallVec;
use weft_ir::Scalar;
use weft_lazy::Index;

use crate::numpy::Numpy;

pub type Parts = SmallVec<[Index; 4]>;

/// The parts of a basic index; none where there is one of another kind.
pub fn basic(key: &Bound<'_, PyAny>) -> PyResult<Option<Parts>> {
    if let Ok(items) = key.cast::<PyTuple>() {
        return items.iter().map(|item| part(&item)).collect();
    }
    Ok(part(key)?.map(|part| SmallVec::from_elem(part, 1)))
}

fn part(key: &Bound<'_, PyAny>) -> PyResult<Option<Index>> {
    if key.is_instance_of::<PyInt>() && !key.is_instance_of::<PyBool>() {
        return at(key).map(Some);
    }
    if let Ok(slice) = key.cast::<PySlice>() {
        return unpacked(slice).map(Some);
    }
    if key.is_none() {
        return Ok(Some(Index::NewAxis));
    }
    if key.is_instance_of::<PyEllipsis>() {
        return Ok(Some(Index::Ellipsis));
    }
    match Numpy::get(key.py())?.scalar_of(key) {
        Some(scalar) if scalar != Scalar::Bool && scalar.is_int() => at(key).map(Some),
        _ => Ok(None),
    }
}

fn at(key: &Bound<'_, PyAny>) -> PyResult<Index> {
    match key.extract::<i64>() {
        Ok(at) => Ok(Index::At(at)),
        Err(_) => Err(PyIndexError::new_err("cannot fit 'int' into an index-sized integer")),
    }
}

fn unpacked(slice: &Bound<'_, PySlice>) -> PyResult<Index> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: a live slice, and three places for what it says.
    if unsafe { ffi::PySlice_Unpack(slice.as_ptr(), &raw mut start, &raw mut stop, &raw mut step) } < 0 {
        return Err(PyErr::fetch(slice.py()));
    }
    let wide = |n: isize| Some(n as i64);
    Ok(Index::Slice {
        start: wide(start),
        stop: wide(stop),
        step: wide(step),
    })
}
