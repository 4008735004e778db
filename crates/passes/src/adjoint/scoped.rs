//! Maps whose entries end with the block of code that they were made in.

use std::collections::HashMap;
use std::hash::Hash;

#[derive(Debug)]
pub struct Scoped<K, V> {
    map: HashMap<K, V>,
    /// What each entry replaced.
    log: Vec<(K, Option<V>)>,
    marks: Vec<usize>,
}

impl<K: Copy + Eq + Hash, V: Copy> Scoped<K, V> {
    pub fn new() -> Scoped<K, V> {
        Scoped {
            map: HashMap::new(),
            log: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub fn get(&self, key: K) -> Option<V> {
        self.map.get(&key).copied()
    }

    pub fn insert(&mut self, key: K, value: V) {
        let before = self.map.insert(key, value);
        self.log.push((key, before));
    }

    pub fn open(&mut self) {
        self.marks.push(self.log.len());
    }

    pub fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        while self.log.len() > mark {
            match self.log.pop() {
                Some((key, Some(before))) => drop(self.map.insert(key, before)),
                Some((key, None)) => drop(self.map.remove(&key)),
                None => {}
            }
        }
    }
}
