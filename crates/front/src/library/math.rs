//! The math library as functions that can be called: its texts, and name resolution in them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use weft_ir::{Scalar, Source};

use super::{FILE, LIBRARY, NARROW, RARE};
use crate::{Environment, FunctionSource, Object};

thread_local! {
    static FUNCTIONS: RefCell<HashMap<&'static str, Rc<FunctionSource>>> = RefCell::new(HashMap::new());
    static TABLES: RefCell<HashMap<String, Object>> = RefCell::new(HashMap::new());
}

/// The library's definition `name`, such as `sin_f64`.
pub fn function(name: &str) -> Option<Rc<FunctionSource>> {
    let text = weft_math::source(name)?;
    FUNCTIONS.with(|functions| {
        let mut functions = functions.borrow_mut();
        let kind = if text.is_rare { RARE } else { 0 } | if text.is_narrow { NARROW } else { 0 };
        let next = LIBRARY | kind | functions.len() as u64;
        let made = functions.entry(text.name).or_insert_with(|| {
            Rc::new(FunctionSource {
                name: text.name.into(),
                key: next,
                source: Source {
                    file: format!("{FILE} math>/{}", text.file),
                    first_line: text.first_line,
                    text: text.text.into(),
                },
                defaults: Vec::new(),
                decorated: None,
                env: Rc::new(LibraryNames),
            })
        });
        Some(made.clone())
    })
}

/// The library's table of that name, as a constant array.
fn table(name: &str) -> Option<Object> {
    let weft_math::Table { numbers, is_narrow } = weft_math::table(name)?;
    TABLES.with(|tables| {
        let mut tables = tables.borrow_mut();
        let next = LIBRARY | tables.len() as u64;
        let made = tables.entry(name.to_owned()).or_insert_with(|| Object::Array {
            key: next,
            elem: if *is_narrow { Scalar::F32 } else { Scalar::F64 },
            shape: vec![numbers.len() as u64],
            bytes: Rc::new(if *is_narrow {
                numbers.iter().flat_map(|n| (*n as f32).to_ne_bytes()).collect()
            } else {
                numbers.iter().flat_map(|n| n.to_ne_bytes()).collect()
            }),
        });
        Some(made.clone())
    })
}

/// What names mean inside the library: its own definitions and tables, `np`, `intrinsics`, and Python's builtins.
struct LibraryNames;

impl Environment for LibraryNames {
    fn lookup(&self, name: &str) -> Option<Object> {
        match name {
            "np" => return Some(Object::Module("numpy".into())),
            "intrinsics" => return Some(Object::Module("weft.intrinsics".into())),
            _ => {}
        }
        if let Some(function) = function(name) {
            return Some(Object::Function(function));
        }
        if let Some(table) = table(name) {
            return Some(table);
        }
        let path = format!("builtins.{name}");
        crate::builtins::find(&path).map(|_| Object::Known(path))
    }
}
