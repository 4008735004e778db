//! The objects that one compilation met. Each is kept as long as the compilation lasts and has a number, which so means nothing else; an
//! array's elements are copied once.

use std::cell::RefCell;
use std::collections::HashMap;

use pyo3::prelude::*;
use weft_front::Object;

#[derive(Default)]
pub struct Frozen(RefCell<Met>);

#[derive(Default)]
struct Met {
    /// By the objects' addresses, which no others can have while these are kept.
    numbers: HashMap<usize, u64>,
    kept: Vec<Py<PyAny>>,
    arrays: HashMap<u64, Object>,
}

impl Frozen {
    /// The number of an object in this compilation.
    pub fn number(&self, object: &Bound<'_, PyAny>) -> u64 {
        let mut met = self.0.borrow_mut();
        let next = met.kept.len() as u64;
        let number = *met.numbers.entry(object.as_ptr() as usize).or_insert(next);
        if number == next {
            met.kept.push(object.clone().unbind());
        }
        number
    }

    /// An array as it was when it was met first.
    pub fn array(&self, object: &Bound<'_, PyAny>, copy: impl FnOnce(u64) -> Option<Object>) -> Option<Object> {
        let number = self.number(object);
        if let Some(known) = self.0.borrow().arrays.get(&number) {
            return Some(known.clone());
        }
        let array = copy(number)?;
        self.0.borrow_mut().arrays.insert(number, array.clone());
        Some(array)
    }
}
