//! Python objects that the keys of calls name. Each has a number and is kept, so that the number means it for good.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use pyo3::prelude::*;

use crate::core::lock;

/// Objects of one kind, each with what is known of it.
pub struct Numbered<T>(LazyLock<Mutex<Known<T>>>);

struct Known<T> {
    /// By the objects' identities, which are their addresses.
    numbers: HashMap<u64, u32>,
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

    /// The number of an object, which gets one if it is of the kind: if it can be described.
    pub fn number(&self, object: &Bound<'_, PyAny>, describe: impl FnOnce() -> Option<T>) -> Option<u32> {
        let key = object.as_ptr() as u64;
        if let Some(number) = self.find(key) {
            return Some(number);
        }
        let description = describe()?;
        let mut known = lock(&self.0);
        let next = known.objects.len() as u32;
        // Another thread may have been here meanwhile.
        let number = *known.numbers.entry(key).or_insert(next);
        if number == next {
            known.objects.push((object.clone().unbind(), description));
        }
        Some(number)
    }

    /// The number of the object with that identity.
    pub fn find(&self, key: u64) -> Option<u32> {
        lock(&self.0).numbers.get(&key).copied()
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

    /// The object with that identity.
    pub fn object<'py>(&self, py: Python<'py>, key: u64) -> Option<Bound<'py, PyAny>> {
        let known = lock(&self.0);
        let number = *known.numbers.get(&key)?;
        known.objects.get(number as usize).map(|(object, _)| object.bind(py).clone())
    }
}
