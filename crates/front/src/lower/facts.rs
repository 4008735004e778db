//! Facts about values that are found while code is written: signs and lengths of numbers, shapes, origins and aliases of arrays.

use std::collections::{HashMap, HashSet};

use weft_array::Mark;
use weft_ir::{AxisSlice, Value};

use super::parts::PartOf;
use crate::value::Val;

/// What is known of numbers.
#[derive(Default)]
pub struct Facts {
    /// Not negative: indices that need no wrapping.
    nonneg: HashSet<Value>,
    /// 1: steps that keep unit stride, axes that broadcast.
    ones: HashSet<Value>,
    /// Lengths of axes read before, and the block that read them.
    pub dims: HashMap<(Value, u8), (Value, u32)>,
}

impl Facts {
    pub fn is_nonneg(&self, value: Value) -> bool {
        self.nonneg.contains(&value)
    }

    pub fn mark_nonneg(&mut self, value: Value) {
        self.nonneg.insert(value);
    }

    pub fn mark_all_nonneg<const N: usize>(&mut self, values: [Value; N]) {
        self.nonneg.extend(values);
    }

    pub fn is_one(&self, value: Value) -> bool {
        self.ones.contains(&value)
    }

    pub fn mark_one(&mut self, value: Value) {
        self.ones.insert(value);
    }

    /// Forgets what is known of values that were made since.
    pub fn forget_since(&mut self, mark: Mark) {
        self.nonneg.retain(|v| mark.precedes(*v));
        self.ones.retain(|v| mark.precedes(*v));
        self.dims.retain(|_, (v, _)| mark.precedes(*v));
    }
}

/// What is known of arrays.
#[derive(Default)]
pub struct Arrays {
    /// Made in this function.
    pub fresh: HashSet<Value>,
    /// Parameters, shared, local and constant arrays: none of them is a fresh one.
    given: HashSet<Value>,
    /// The view that a slice, transpose or reshape was made from.
    roots: HashMap<Value, Value>,
    /// What slices were made of.
    pub slices: HashMap<Value, (Value, Vec<AxisSlice>)>,
    /// What views of parts of complex arrays were made of.
    pub parts: HashMap<Value, PartOf>,
    /// Shapes of the arrays made in this function.
    pub shapes: HashMap<Value, Vec<Value>>,
}

impl Arrays {
    /// Remembers that the views in a value existed before any this function makes.
    pub fn note_given(&mut self, val: &Val) {
        match val {
            Val::View(value, _) => {
                self.given.insert(*value);
            }
            Val::Tuple(items) => items.iter().for_each(|item| self.note_given(item)),
            _ => {}
        }
    }

    /// Can elements be stored one by one while the leaf is read: is it the same view, or certainly other memory?
    pub fn apart(&self, view: Value, leaf: Value) -> bool {
        let (a, b) = (self.root(view), self.root(leaf));
        let known = |v: Value| self.fresh.contains(&v) || self.given.contains(&v);
        let fresh = |v: Value| self.fresh.contains(&v);
        view == leaf || (a != b && known(a) && known(b) && (fresh(a) || fresh(b)))
    }

    /// The array that a view is of.
    pub fn root(&self, view: Value) -> Value {
        self.roots.get(&view).copied().unwrap_or(view)
    }

    /// Remembers that a view is made from another one.
    pub fn derived(&mut self, view: Value, from: Value) {
        let root = self.root(from);
        self.roots.insert(view, root);
    }

    /// Forgets what is known of views that were made since.
    pub fn forget_since(&mut self, mark: Mark) {
        self.parts.retain(|v, _| mark.precedes(*v));
    }
}
