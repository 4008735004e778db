//! The texts that a module is made of, each once.

use std::collections::{HashMap, HashSet};

use weft_ir::{Source, SourceId};

use crate::FunctionSource;
use crate::library::is_library;

#[derive(Default)]
pub struct Sources {
    pub list: Vec<Source>,
    /// Those of Weft's own libraries.
    pub library: HashSet<SourceId>,
    ids: HashMap<(String, u32, String), SourceId>,
}

impl Sources {
    /// The number of a function's text.
    pub fn id(&mut self, function: &FunctionSource) -> SourceId {
        let source = &function.source;
        let key = (source.file.clone(), source.first_line, source.text.clone());
        let next = SourceId(self.list.len() as u32);
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.list.push(source.clone());
        }
        if is_library(function.key) {
            self.library.insert(id);
        }
        id
    }
}
