//! What arrays stand in: tuples, lists and dicts, as deep as users like, taken apart and put together again without Python.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use weft_lazy::Array;

use super::NdArray;

/// What is deeper is left to Python.
const MOST_DEPTH: usize = 32;

/// Arguments that were taken apart.
#[derive(Default)]
pub struct Given {
    pub arrays: Vec<Array>,
    /// Which of them are given up.
    pub donated: Vec<bool>,
    /// What they stand in, and every other argument bit for bit.
    pub key: Vec<u64>,
}

/// The kinds of objects, in keys.
#[derive(Clone, Copy)]
enum Word {
    Array = 1,
    Tuple,
    List,
    Dict,
    None,
    Bool,
    Int,
    Float,
    Text,
}

impl Given {
    /// Adds an object; false where it is nothing of these.
    pub fn take(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
        if depth > MOST_DEPTH {
            return Ok(false);
        }
        if let Ok(array) = object.cast_exact::<NdArray>() {
            self.arrays.push(array.get().array.clone());
            self.key.push(Word::Array as u64);
        } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            self.key.extend([Word::Tuple as u64, tuple.len() as u64]);
            return self.all(tuple.iter_borrowed().map(|each| each.to_owned()), depth);
        } else if let Ok(list) = object.cast_exact::<PyList>() {
            self.key.extend([Word::List as u64, list.len() as u64]);
            return self.all(list.iter(), depth);
        } else if let Ok(dict) = object.cast_exact::<PyDict>() {
            self.key.extend([Word::Dict as u64, dict.len() as u64]);
            for (key, value) in dict.iter() {
                let Ok(key) = key.cast_exact::<PyString>() else { return Ok(false) };
                self.text(key)?;
                if !self.take(&value, depth + 1)? {
                    return Ok(false);
                }
            }
        } else if object.is_none() {
            self.key.push(Word::None as u64);
        } else if let Ok(value) = object.cast_exact::<PyBool>() {
            self.key.extend([Word::Bool as u64, value.is_true().into()]);
        } else if object.is_exact_instance_of::<PyInt>() {
            let Ok(value) = object.extract::<i64>() else { return Ok(false) };
            self.key.extend([Word::Int as u64, value as u64]);
        } else if let Ok(value) = object.cast_exact::<PyFloat>() {
            self.key.extend([Word::Float as u64, value.value().to_bits()]);
        } else if let Ok(text) = object.cast_exact::<PyString>() {
            self.text(text)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn all<'py>(&mut self, objects: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<bool> {
        for object in objects {
            if !self.take(&object, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let text = text.to_cow()?;
        self.key.extend([Word::Text as u64, text.len() as u64]);
        let words = text.as_bytes().chunks(8);
        self.key
            .extend(words.map(|chunk| chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))));
        Ok(())
    }
}

/// What results stand in.
pub enum Structure {
    Array,
    Constant(Py<PyAny>),
    Tuple(Vec<Structure>),
    List(Vec<Structure>),
    Dict(Vec<(Py<PyAny>, Structure)>),
}

impl Structure {
    /// Of what `weft.arrays.compiling` says of results; none where it is something else.
    pub fn of(told: &Bound<'_, PyAny>) -> PyResult<Option<Structure>> {
        let py = told.py();
        let told = told.cast::<PyTuple>()?;
        let kind = told.get_item(0)?;
        if let Ok(word) = kind.cast::<PyString>() {
            return Ok(match &*word.to_cow()? {
                "array" => Some(Structure::Array),
                "constant" => Some(Structure::Constant(told.get_item(3)?.getattr("object")?.unbind())),
                _ => None,
            });
        }
        let parts = |from: usize| -> PyResult<Option<Vec<Structure>>> {
            let parts = told.iter().skip(from).map(|part| Structure::of(&part));
            parts.collect::<PyResult<Option<Vec<_>>>>()
        };
        if kind.is(py.get_type::<PyTuple>()) {
            return Ok(parts(1)?.map(Structure::Tuple));
        }
        if kind.is(py.get_type::<PyList>()) {
            return Ok(parts(1)?.map(Structure::List));
        }
        if kind.is(py.get_type::<PyDict>()) {
            let keys = told.get_item(1)?.cast_into::<PyTuple>()?;
            let mut known = Vec::new();
            for key in keys.iter() {
                let Some(Structure::Constant(key)) = Structure::of(&key)? else {
                    return Ok(None);
                };
                known.push(key);
            }
            return Ok(parts(2)?.map(|parts| Structure::Dict(known.into_iter().zip(parts).collect())));
        }
        Ok(None)
    }

    /// The objects, with arrays in their order.
    pub fn built<'py>(&self, py: Python<'py>, arrays: &mut impl Iterator<Item = Array>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Structure::Array => match arrays.next() {
                Some(array) => Ok(Bound::new(py, NdArray { array })?.into_any()),
                None => Err(crate::errors::internal(py, "a graph gives too few arrays".into())),
            },
            Structure::Constant(object) => Ok(object.bind(py).clone()),
            Structure::Tuple(parts) => {
                let parts = parts.iter().map(|part| part.built(py, arrays)).collect::<PyResult<Vec<_>>>()?;
                PyTuple::new(py, parts)?.into_bound_py_any(py)
            }
            Structure::List(parts) => {
                let parts = parts.iter().map(|part| part.built(py, arrays)).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, parts)?.into_bound_py_any(py)
            }
            Structure::Dict(parts) => {
                let dict = PyDict::new(py);
                for (key, part) in parts {
                    dict.set_item(key, part.built(py, arrays)?)?;
                }
                dict.into_bound_py_any(py)
            }
        }
    }
}
