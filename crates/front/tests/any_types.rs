//! Every function of `tests/run` compiled for many types of arguments: each gives a diagnostic or IR that verifies.

#![allow(clippy::panic, clippy::unwrap_used)] // A test that cannot go on stops.

mod common;

use common::{World, array, host, kernel, tuple_class, weak};
use weft_front::{ArgType, Items, Object, Options};
use weft_ir::Scalar;

fn types() -> Vec<ArgType> {
    let Object::TupleClass(class) = tuple_class(1, "Point", &["x", "y"], &[]) else {
        panic!("no class")
    };
    let point = Items::of(Some(class.class.clone()), vec![weak(Scalar::F64), ArgType::Strong(Scalar::I16)]);
    vec![
        weak(Scalar::I64),
        weak(Scalar::F64),
        weak(Scalar::Bool),
        ArgType::Strong(Scalar::F32),
        ArgType::Strong(Scalar::U8),
        ArgType::Strong(Scalar::C128),
        array(Scalar::F64, 1),
        array(Scalar::Bool, 1),
        array(Scalar::C64, 1),
        array(Scalar::I32, 2),
        array(Scalar::U16, 0),
        ArgType::Tuple(vec![weak(Scalar::I64), array(Scalar::F32, 1)].into()),
        ArgType::Tuple(point),
        ArgType::None,
    ]
}

/// The names of a file's functions and how many parameters each has.
fn functions(text: &str) -> Vec<(String, usize)> {
    let defs = text.lines().filter_map(|l| l.strip_prefix("def "));
    defs.map(|def| {
        let (name, rest) = def.split_once('(').unwrap();
        let params = rest.split_once(')').unwrap().0;
        (name.to_owned(), params.split(',').filter(|p| !p.trim().is_empty()).count())
    })
    .collect()
}

/// Every argument in turn takes every type while the others go through them in step.
fn combinations(params: usize) -> Vec<Vec<ArgType>> {
    let types = types();
    let n = types.len();
    let at = |step: usize, round: usize| (0..params).map(|p| types[(round + p * step) % n].clone()).collect();
    (0..4)
        .flat_map(|step| (0..n).map(move |round| (step, round)))
        .map(|(step, round)| at(step, round))
        .collect()
}

#[test]
fn never_malformed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run");
    let mut compiled = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("expect.py") || path.extension().is_none_or(|e| e != "py") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let world = World::new("any.py", &text);
        for (name, params) in functions(&text) {
            for args in combinations(params) {
                for options in [Options { parallel: true, ..host() }, kernel()] {
                    match world.compile(&name, &args, options) {
                        Ok(made) => {
                            compiled += 1;
                            let show = || weft_ir::text::print(&made.module);
                            weft_ir::verify::verify(&made.module).unwrap_or_else(|e| panic!("{name} for {args:?}: {e}\n{}", show()));
                        }
                        Err(diag) => assert!(!diag.render().is_empty()),
                    }
                }
            }
        }
    }
    assert!(compiled > 1000, "only {compiled} compiled");
}
