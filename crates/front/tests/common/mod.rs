//! A small world for tests: `math`, `np`, `cuda`, `weft`, Python's builtins, and the functions of one file.

#![allow(dead_code)] // Each test file uses a part.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use weft_front::{
    ArgType, Bounds, Compiled, Diagnostic, Dialect, Environment, FunctionSource, Object, Options, Role, TupleClass, TupleMaker,
};
use weft_ir::{Layout, Scalar, Source, Space, ViewType};

/// The functions of one Python file, each callable from the others, and constants.
pub struct World {
    functions: HashMap<String, Rc<FunctionSource>>,
    constants: HashMap<String, Object>,
    /// How often names were asked for: a measure of the work.
    pub lookups: Cell<usize>,
}

struct Names(Weak<World>);

impl Environment for Names {
    fn lookup(&self, name: &str) -> Option<Object> {
        let world = self.0.upgrade()?;
        world.lookups.set(world.lookups.get() + 1);
        if let Some(function) = world.functions.get(name) {
            return Some(Object::Function(function.clone()));
        }
        if let Some(constant) = world.constants.get(name) {
            return Some(constant.clone());
        }
        Some(match name {
            "math" => Object::Module("math".into()),
            "cmath" => Object::Module("cmath".into()),
            "operator" => Object::Module("operator".into()),
            "np" => Object::Module("numpy".into()),
            "cuda" => Object::Module("weft.cuda".into()),
            "weft" => Object::Module("weft".into()),
            "prange" => Object::Known("weft.prange".into()),
            "f32" => Object::Dtype(Scalar::F32),
            "undefined" => return None,
            name => {
                const BUILTINS: &[&str] = &[
                    "range",
                    "abs",
                    "min",
                    "max",
                    "round",
                    "int",
                    "float",
                    "bool",
                    "complex",
                    "pow",
                    "divmod",
                    "len",
                    "sum",
                    "enumerate",
                    "any",
                    "all",
                    "zip",
                    "print",
                    "reversed",
                ];
                if !BUILTINS.contains(&name) {
                    return None;
                }
                Object::Known(format!("builtins.{name}"))
            }
        })
    }
}

impl World {
    /// Cuts a text into its top-level functions. Decorators belong to the function that follows.
    pub fn new(file: &str, text: &str) -> Rc<World> {
        World::with(file, text, &[])
    }

    pub fn with(file: &str, text: &str, constants: &[(&str, Object)]) -> Rc<World> {
        Rc::new_cyclic(|world| {
            let mut functions = HashMap::new();
            for (i, (name, first_line, text)) in definitions(text).into_iter().enumerate() {
                let function = FunctionSource {
                    name: name.clone(),
                    key: i as u64 + 1,
                    source: Source {
                        file: file.into(),
                        first_line,
                        text,
                    },
                    defaults: Vec::new(),
                    decorated: None,
                    env: Rc::new(Names(world.clone())),
                };
                functions.insert(name, Rc::new(function));
            }
            World {
                functions,
                constants: constants.iter().map(|(n, o)| ((*n).into(), o.clone())).collect(),
                lookups: Cell::new(0),
            }
        })
    }

    pub fn compile(&self, name: &str, args: &[ArgType], options: Options) -> Result<Compiled, Box<Diagnostic>> {
        weft_front::compile(&self.functions[name], args, options)
    }
}

fn definitions(text: &str) -> Vec<(String, u32, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut start = None;
    for i in 0..=lines.len() {
        let line = lines.get(i).copied().unwrap_or("end");
        let top = !line.is_empty() && !line.starts_with([' ', '\t', ')', '#']);
        if !top {
            continue;
        }
        if let Some((at, true)) = start {
            found.push(definition(&lines, at, i));
            start = None;
        }
        let is_def = line.starts_with("def ") || line.contains("lambda");
        match (&mut start, is_def, line.starts_with('@')) {
            (Some((_, seen)), true, _) => *seen = true,
            (None, true, _) => start = Some((i, true)),
            (None, _, true) => start = Some((i, false)),
            _ => {}
        }
    }
    found
}

fn definition(lines: &[&str], at: usize, end: usize) -> (String, u32, String) {
    let text = lines[at..end].join("\n").trim_end().to_owned() + "\n";
    let name = text
        .lines()
        .find_map(|l| l.strip_prefix("def "))
        .and_then(|l| l.split('(').next())
        .or_else(|| text.split(" = ").next())
        .unwrap_or("");
    (name.trim().to_owned(), at as u32 + 1, text)
}

pub fn host() -> Options {
    Options {
        role: Role::Host,
        dialect: Dialect::NumPy,
        parallel: false,
        fastmath: false,
        contract: false,
        python_errors: true,
        checked: false,
        bounds: Bounds::default(),
        float64: true,
        for_numba: false,
    }
}

pub fn kernel() -> Options {
    Options {
        role: Role::Kernel,
        contract: true,
        python_errors: false,
        ..host()
    }
}

/// The class of a named tuple.
pub fn tuple_class(key: u64, name: &str, fields: &[&str], defaults: &[(&str, Object)]) -> Object {
    let fields = fields.iter().map(|&field| field.into()).collect();
    let class = Arc::new(TupleClass {
        key,
        name: name.into(),
        fields,
    });
    let defaults = defaults.iter().map(|(field, value)| ((*field).into(), value.clone())).collect();
    Object::TupleClass(Rc::new(TupleMaker { class, defaults }))
}

pub fn array(elem: Scalar, rank: u8) -> ArgType {
    ArgType::Array(ViewType {
        elem,
        rank,
        layout: Layout::C,
        space: Space::Global,
        writable: true,
    })
}

pub fn weak(scalar: Scalar) -> ArgType {
    ArgType::Weak(scalar)
}

/// `int`, `float`, `float32`, `float64[:, :]`, `(int, float32)`: the types of the annotations.
pub fn parse_type(text: &str) -> ArgType {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        return ArgType::Tuple(split_top(inner).iter().map(|t| parse_type(t)).collect());
    }
    if let Some((elem, dims)) = text.split_once('[') {
        let scalar = Scalar::from_numpy_name(elem).expect(text);
        return array(scalar, dims.matches(':').count() as u8);
    }
    match text {
        "int" => ArgType::Weak(Scalar::I64),
        "float" => ArgType::Weak(Scalar::F64),
        "complex" => ArgType::Weak(Scalar::C128),
        "pybool" => ArgType::Weak(Scalar::Bool),
        "None" => ArgType::None,
        name => ArgType::Strong(Scalar::from_numpy_name(name).expect(name)),
    }
}

/// Splits at commas that stand in no bracket.
pub fn split_top(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut depth = 0;
    let mut part = String::new();
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    if !part.trim().is_empty() {
        parts.push(part);
    }
    parts.iter().map(|p| p.trim().to_owned()).collect()
}
