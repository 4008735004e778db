//! The constant arrays of a module: the caller's, by their keys, and those that the compiler makes.

use std::collections::HashMap;

use weft_ir::{ConstArray, ConstId, Scalar};

#[derive(Default)]
pub struct Constants {
    pub list: Vec<ConstArray>,
    by_key: HashMap<u64, ConstId>,
    /// Those that are nobody's array, by what they hold.
    made: HashMap<ConstArray, ConstId>,
}

impl Constants {
    /// The module's copy of an array with a key.
    pub fn array(&mut self, key: u64, elem: Scalar, shape: &[u64], bytes: &[u8]) -> ConstId {
        if let Some(id) = self.by_key.get(&key) {
            return *id;
        }
        let (shape, bytes) = (shape.to_vec(), bytes.to_vec());
        let id = self.add(ConstArray { elem, shape, bytes });
        self.by_key.insert(key, id);
        id
    }

    /// One zero of a type, as an array of so many axes.
    pub fn one_zero(&mut self, elem: Scalar, rank: usize) -> ConstId {
        let (shape, bytes) = (vec![1; rank], vec![0; elem.size()]);
        self.made(ConstArray { elem, shape, bytes })
    }

    /// The items of a tuple as an array of one axis.
    pub fn table(&mut self, elem: Scalar, bytes: Vec<u8>) -> ConstId {
        let shape = vec![(bytes.len() / elem.size()) as u64];
        self.made(ConstArray { elem, shape, bytes })
    }

    fn made(&mut self, array: ConstArray) -> ConstId {
        if let Some(id) = self.made.get(&array) {
            return *id;
        }
        let id = self.add(array.clone());
        self.made.insert(array, id);
        id
    }

    fn add(&mut self, array: ConstArray) -> ConstId {
        self.list.push(array);
        ConstId(self.list.len() as u32 - 1)
    }
}
