//! Kernels of Python files, for the types that their `# run:` lines call them with.

use std::collections::BTreeMap;
use std::fs;
use std::rc::Rc;

use weft_front::{ArgType, Object};
use weft_ir::{Const, Layout, Scalar, eval};

use super::Case;

#[path = "../../../front/tests/common/mod.rs"]
mod world;

use world::{World, array, kernel, parse_type, split_top};

/// Short names of arrays' types in run lines, as in `tests/support/runlines.py`.
const SHORT: [(&str, Scalar); 13] = [
    ("b1", Scalar::Bool),
    ("i8", Scalar::I8),
    ("i16", Scalar::I16),
    ("i32", Scalar::I32),
    ("i64", Scalar::I64),
    ("u8", Scalar::U8),
    ("u16", Scalar::U16),
    ("u32", Scalar::U32),
    ("u64", Scalar::U64),
    ("f32", Scalar::F32),
    ("f64", Scalar::F64),
    ("c64", Scalar::C64),
    ("c128", Scalar::C128),
];

pub fn cases() -> Vec<Case> {
    let mut cases = BTreeMap::new();
    for folder in ["../../tests/kernels", "../cuda/tests/kernels"] {
        for path in super::files(folder, "py") {
            let text = fs::read_to_string(&path).unwrap();
            let file = path.file_stem().unwrap().to_string_lossy().into_owned();
            for case in file_cases(&file, &text) {
                cases.insert(case.name.clone(), case);
            }
        }
    }
    cases.into_values().collect()
}

fn file_cases(file: &str, text: &str) -> Vec<Case> {
    let constants = constants(text);
    let given: Vec<(&str, Object)> = constants.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
    let world = World::with(file, text, &given);
    let lines = text.lines().filter_map(|line| line.strip_prefix("# run: "));
    lines.filter_map(|line| case(&world, file, line)).collect()
}

/// Module-level numbers, and arrays of numbers.
fn constants(text: &str) -> Vec<(String, Object)> {
    let found = text.lines().filter_map(|line| line.split_once(" = "));
    found
        .zip(0..)
        .filter(|((name, _), _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .filter_map(|((name, value), key)| Some((name.to_owned(), number(value).or_else(|| table(value, key))?)))
        .collect()
}

/// `np.array([1, 2], np.float32)`.
fn table(text: &str, key: u64) -> Option<Object> {
    let parts = split_top(call_of(text, "np.array")?);
    let elem = dtype(parts.get(1)?)?;
    let items = split_top(parts[0].strip_prefix('[')?.strip_suffix(']')?);
    let bytes = items
        .iter()
        .flat_map(|item| eval::cast(Const::f64(item.parse().unwrap()), elem).unwrap().to_bytes())
        .collect();
    Some(Object::Array {
        key,
        elem,
        shape: vec![items.len() as u64],
        bytes: Rc::new(bytes),
    })
}

fn number(text: &str) -> Option<Object> {
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok().map(Object::Int);
    }
    text.parse().map(Object::Int).or_else(|_| text.parse().map(Object::Float)).ok()
}

/// The kernel a line launches; nothing for lines that call a function, or have arguments that are not known here.
fn case(world: &Rc<World>, file: &str, line: &str) -> Option<Case> {
    let call = line.split("  ").next()?;
    let name = &call[..call.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?];
    let rest = &call[name.len()..];
    if !rest.starts_with('[') && !rest.starts_with(".forall") {
        return None;
    }
    let open = match rest.starts_with('[') {
        true => rest.find(']')? + 1,
        false => 8 + rest[8..].find(")(")?,
    };
    let open = open + usize::from(rest[open..].starts_with(')'));
    let inner = rest[open..].strip_prefix('(')?.strip_suffix(')')?;
    let args: Vec<ArgType> = split_top(inner).iter().map(|arg| arg_type(arg)).collect::<Option<_>>()?;
    let compiled = match world.compile(name, &args, kernel()) {
        Ok(compiled) => compiled,
        // The small world of these tests does not have every name of a file; the tests in Python have.
        Err(fault) if fault.render().contains("is not defined") => return None,
        Err(fault) => panic!("{file}: {line}: {}", fault.render()),
    };
    let types: Vec<String> = args.iter().map(short_name).collect();
    Some(Case {
        name: format!("{file}/{name}({})", types.join(", ")),
        module: compiled.module,
    })
}

fn short_name(arg: &ArgType) -> String {
    match arg {
        ArgType::Array(v) => format!("{}[{}{}]", v.elem, v.rank, v.layout.name()),
        ArgType::Weak(s) => s.to_string(),
        ArgType::Strong(s) => format!("{s}!"),
        other => format!("{other:?}"),
    }
}

/// The type of an argument's expression, if it is one of those known here.
fn arg_type(text: &str) -> Option<ArgType> {
    let text = text.trim();
    let turned = |rank| if rank > 1 { Layout::F } else { Layout::C };
    if let Some(inner) = call_of(text, "every") {
        return with_layout(split_top(inner).get(1)?, |_| Layout::Any);
    }
    if let Some(inner) = call_of(text, "fortran").or_else(|| text.strip_suffix(".T")) {
        return with_layout(inner, turned);
    }
    if let Some(inner) = call_of(text, "zeros") {
        let parts = split_top(inner);
        return Some(array(dtype(&parts[0])?, parts.len() as u8 - 1));
    }
    if let Some(inner) = call_of(text, "np.array").or_else(|| call_of(text, "np.full")) {
        return Some(array(dtype(split_top(inner).last()?)?, 1));
    }
    if text.starts_with("np.arange(") {
        return Some(array(Scalar::I64, 1));
    }
    for (name, scalar) in SHORT {
        if let Some(rest) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix('(')) {
            let inner = &rest[..rest.find(')')?];
            return Some(array(scalar, split_top(inner).len() as u8));
        }
    }
    if let Some((name, _)) = text.strip_prefix("np.").and_then(|rest| rest.split_once('(')) {
        return dtype(name).map(ArgType::Strong);
    }
    match number(text)? {
        Object::Int(_) => Some(parse_type("int")),
        _ => Some(parse_type("float")),
    }
}

fn call_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

fn with_layout(text: &str, layout: impl Fn(u8) -> Layout) -> Option<ArgType> {
    match arg_type(text)? {
        ArgType::Array(mut view) => {
            view.layout = layout(view.rank);
            Some(ArgType::Array(view))
        }
        _ => None,
    }
}

fn dtype(text: &str) -> Option<Scalar> {
    Scalar::from_numpy_name(text.trim().trim_start_matches("np.").trim_end_matches('_'))
}
