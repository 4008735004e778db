//! Python objects that the keys of calls name. Each has a number and is kept, so that the number means it for good.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use pyo3::prelude::*;
use weft_runtime::lock;

/// Objects of one kind, each with what is known of it.
pub struct Numbered<T>(LazyLock<Mutex<Known<T>>>);

struct Known<T> {
    /// By the objects' addresses, which no others can have, since these are kept.
    numbers: HashMap<usize, u32>,
    objects: Vec<(Py<PyAny>, T)>,
}

impl<T: Clone> Numbered<T> {
    pub const fn new() -> Numbered<T> {
        Numbered(LazyLock::new(|| {
            Mutex::new(Known {
                numbers: HashMap::new(),
                objects: Vec::new(),
            })
        }))
    }

    /// The number of an object, which gets one if it is of the kind: if it can be described. `known` makes what is known of it, with its number.
    pub fn number<D>(
        &self,
        object: &Bound<'_, PyAny>,
        describe: impl FnOnce() -> Option<D>,
        known: impl FnOnce(D, u32) -> T,
    ) -> Option<u32> {
        let address = object.as_ptr() as usize;
        if let Some(number) = lock(&self.0).numbers.get(&address).copied() {
            return Some(number);
        }
        let description = describe()?;
        let mut all = lock(&self.0);
        let next = all.objects.len() as u32;
        // Another thread may have been here meanwhile.
        let number = *all.numbers.entry(address).or_insert(next);
        if number == next {
            all.objects.push((object.clone().unbind(), known(description, number)));
        }
        Some(number)
    }

    pub fn description(&self, number: u32) -> Option<T> {
        lock(&self.0)
            .objects
            .get(number as usize)
            .map(|(_, description)| description.clone())
    }

    /// The object with a number.
    pub fn at<'py>(&self, py: Python<'py>, number: u32) -> Option<Bound<'py, PyAny>> {
        lock(&self.0)
            .objects
            .get(number as usize)
            .map(|(object, _)| object.bind(py).clone())
    }
}
