//! The functions found inside others: nested `def`s and lambdas, their keys and their syntax.

use std::collections::HashMap;
use std::rc::Rc;

use crate::parse::{ParamKind, Parsed};

/// Keys of functions inside others have this bit set, those of the host and the library have not.
const INNER: u64 = 1 << 62;

/// What tells a function inside another one from others: the key of that one, where it stands in the text, and its defaults, which are
/// constants to its code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub around: u64,
    pub at: u32,
    pub defaults: Vec<String>,
}

#[derive(Default)]
pub struct Inner {
    keys: HashMap<Place, u64>,
    /// By the keys' other bits.
    trees: Vec<Rc<Parsed>>,
}

impl Inner {
    /// The key of the function at a place, whose syntax is made where it is met first.
    pub fn key(&mut self, place: Place, tree: impl FnOnce() -> Parsed) -> u64 {
        if let Some(key) = self.keys.get(&place) {
            return *key;
        }
        let key = INNER | self.trees.len() as u64;
        self.trees.push(Rc::new(tree()));
        self.keys.insert(place, key);
        key
    }

    /// The syntax of a function, if it is inside another one.
    pub fn tree(&self, key: u64) -> Option<Rc<Parsed>> {
        self.trees.get((key & !INNER) as usize).filter(|_| key & INNER != 0).cloned()
    }

    /// The variables around it that a function inside another one reads.
    pub fn captured_names(&self, key: u64) -> Vec<String> {
        let tree = self.tree(key);
        let params = tree.iter().flat_map(|tree| &tree.params);
        params
            .filter(|param| param.kind == ParamKind::Captured)
            .map(|param| param.name.clone())
            .collect()
    }
}
