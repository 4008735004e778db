//! Copies of statements in the function that they are copied from.

use std::collections::HashMap;
use std::mem;

use weft_ir::{Block, Function, Id, Rename, Value};

use crate::inline::label_count;

/// Gives the values and labels of a copied block numbers of their own; its locals and arrays stay.
pub fn rename(func: &mut Function, copied: &mut Block, next_label: &mut u32) {
    let first_label = *next_label;
    *next_label += label_count(copied);
    copied.rename(&mut Copy {
        func,
        values: HashMap::new(),
        first_label,
    });
}

struct Copy<'a> {
    func: &'a mut Function,
    values: HashMap<Value, Value>,
    first_label: u32,
}

impl Rename for Copy<'_> {
    fn operand(&mut self, value: &mut Value) {
        *value = self.values.get(value).copied().unwrap_or(*value);
    }

    fn definition(&mut self, value: &mut Value) {
        let data = self.func.values[value.index()].clone();
        self.func.values.push(data);
        let own = Value(self.func.values.len() as u32 - 1);
        self.values.insert(mem::replace(value, own), own);
    }

    fn id(&mut self, id: Id<'_>) {
        match id {
            Id::Local(_) | Id::Array(_) => {}
            Id::Label(label) => label.0 += self.first_label,
        }
    }
}
