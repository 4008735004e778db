//! The types of Numba's dialect against those that real Numba gave: every line of `tests/numba_dialect/table.txt`.

#![allow(clippy::panic, clippy::unwrap_used)] // A test that cannot go on stops.

mod common;

use std::collections::BTreeSet;

use common::{World, array, host};
use weft_front::{ArgType, Dialect, Options};
use weft_ir::Scalar;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/numba_dialect");

/// The scalar types by the names of the table's parameters.
const PARAMETERS: &[(&str, Scalar)] = &[
    ("b1", Scalar::Bool),
    ("i1", Scalar::I8),
    ("i2", Scalar::I16),
    ("i4", Scalar::I32),
    ("i8", Scalar::I64),
    ("u1", Scalar::U8),
    ("u2", Scalar::U16),
    ("u4", Scalar::U32),
    ("u8", Scalar::U64),
    ("f4", Scalar::F32),
    ("f8", Scalar::F64),
    ("c8", Scalar::C64),
    ("c16", Scalar::C128),
];

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap()
}

/// The parameters that an expression names, with their types.
fn parameters(expression: &str) -> Vec<(String, ArgType)> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = expression.split(|c| !is_name(c)).collect();
    let scalars = PARAMETERS.iter().map(|&(name, s)| (name.to_owned(), ArgType::Strong(s)));
    let arrays = PARAMETERS.iter().map(|&(name, s)| (format!("x{name}"), array(s, 1)));
    scalars.chain(arrays).filter(|(name, _)| words.contains(name.as_str())).collect()
}

fn shown(ty: &ArgType) -> String {
    match ty {
        ArgType::Strong(Scalar::Bool) | ArgType::Weak(Scalar::Bool) => "bool".into(),
        ArgType::Strong(s) | ArgType::Weak(s) => s.numpy_name().into(),
        ArgType::Array(v) => format!("{}[{}]", shown(&ArgType::Strong(v.elem)), v.rank),
        ArgType::Tuple(items) => format!("({})", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        ArgType::Object { .. } | ArgType::None => "none".into(),
    }
}

/// The type of an expression; `None` where it is refused.
fn inferred(helpers: &str, expression: &str) -> Option<String> {
    let (names, types): (Vec<String>, Vec<ArgType>) = parameters(expression).into_iter().unzip();
    let text = format!("{helpers}\n\ndef measured({}):\n    return {expression}\n", names.join(", "));
    let options = Options {
        dialect: Dialect::Numba,
        ..host()
    };
    let compiled = World::new("numba.py", &text).compile("measured", &types, options).ok()?;
    Some(shown(&compiled.result))
}

#[test]
fn types_are_numbas() {
    let (helpers, table, refused) = (read("helpers.py"), read("table.txt"), read("refused.txt"));
    let may: BTreeSet<&str> = refused.lines().filter(|line| !line.starts_with('#')).collect();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let mut fields = line.split(" => ");
        let (expression, want) = (fields.next().unwrap(), fields.next().unwrap());
        match inferred(&helpers, expression) {
            Some(found) if found == want && !may.contains(expression) => checked += 1,
            Some(found) if found == want => wrong.push(format!("{expression}: no longer refused")),
            Some(found) => wrong.push(format!("{expression}: {found}, and Numba's is {want}")),
            None if may.contains(expression) => {}
            None => wrong.push(format!("{expression}: refused")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        wrong.len() + checked,
        wrong.join("\n")
    );
    assert!(checked > 5000, "only {checked} types were checked");
}
