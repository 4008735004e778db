//! What bad input looks like to the user: every function of `tests/diagnostics/*.py` is compiled and its message snapshotted.

#![allow(clippy::panic, clippy::unwrap_used)] // A test that cannot go on stops.

mod common;

use common::{World, array, host, kernel, parse_type, split_top, tuple_class};
use weft_front::{ArgType, Diagnostic, Object};
use weft_ir::{Scalar, ViewType};

/// The functions with annotated parameters, in order, and whether they are kernels.
fn signatures(text: &str) -> Vec<(String, Vec<ArgType>, bool)> {
    let mut found = Vec::new();
    let mut decorated = false;
    for line in text.lines() {
        if line.starts_with('@') {
            decorated = true;
        }
        let Some(def) = line.strip_prefix("def ") else { continue };
        let is_kernel = std::mem::take(&mut decorated);
        let (name, rest) = def.split_once('(').unwrap();
        let (params, _) = rest.split_once("):").unwrap();
        let types: Option<Vec<ArgType>> = split_top(params)
            .iter()
            .map(|p| p.split_once(": ").map(|(_, ty)| parse_type(ty)))
            .collect();
        match types {
            Some(types) => found.push((name.to_owned(), types, is_kernel)),
            None if params.starts_with('*') => found.push((name.to_owned(), Vec::new(), is_kernel)),
            None => {}
        }
    }
    found
}

fn messages(file: &str) -> String {
    let path = format!("{}/tests/diagnostics/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let world = World::with(
        file,
        &text,
        &[
            ("thing", Object::Other(0, "Thing".into())),
            ("Point", tuple_class(1, "Point", &["x", "y"], &[("y", Object::Float(0.5))])),
            ("Pair", tuple_class(2, "Pair", &["a", "b"], &[])),
            ("Empty", tuple_class(3, "Empty", &[], &[])),
        ],
    );
    let mut out = String::new();
    for (name, types, is_kernel) in signatures(&text) {
        let mut options = if is_kernel { kernel() } else { host() };
        options.parallel = !is_kernel;
        let diag = match world.compile(&name, &types, options) {
            Err(diag) => diag,
            Ok(_) => panic!("{file}: {name} compiles"),
        };
        out += &format!("{name}: {:?}\n{}\n\n", diag.kind, diag.render());
    }
    out
}

#[test]
fn syntax() {
    insta::assert_snapshot!(messages("syntax.py"));
}

#[test]
fn names() {
    insta::assert_snapshot!(messages("names.py"));
}

#[test]
fn types() {
    insta::assert_snapshot!(messages("types.py"));
}

#[test]
fn values() {
    insta::assert_snapshot!(messages("values.py"));
}

#[test]
fn tuples() {
    insta::assert_snapshot!(messages("tuples.py"));
}

#[test]
fn threads() {
    insta::assert_snapshot!(messages("threads.py"));
}

fn failure(text: &str, name: &str, args: &[ArgType]) -> Box<Diagnostic> {
    match World::new("odd.py", text).compile(name, args, host()) {
        Err(diag) => diag,
        Ok(_) => panic!("{name} compiles"),
    }
}

#[test]
fn read_only_arrays() {
    let ArgType::Array(view) = array(Scalar::F64, 1) else { panic!() };
    let constant = ArgType::Array(ViewType { writable: false, ..view });
    let diag = failure("def f(a):\n    a[0] = 1\n", "f", &[constant]);
    insta::assert_snapshot!(diag.render());
}

#[test]
fn wrong_number_of_arguments() {
    let diag = failure("def f(a, b):\n    return a\n", "f", &[ArgType::Weak(Scalar::I64)]);
    insta::assert_snapshot!(diag.render());
}

#[test]
fn two_lambdas() {
    let diag = failure("f = (lambda x: x), (lambda y: y)\n", "f", &[ArgType::Weak(Scalar::I64)]);
    insta::assert_snapshot!(diag.render());
}

#[test]
fn source_that_does_not_parse() {
    let diag = failure("f = g(lambda x: x,\n", "f", &[ArgType::Weak(Scalar::I64)]);
    insta::assert_snapshot!(diag.render());
}

#[test]
fn deep_expressions() {
    let sum = |n: usize| format!("def f(x):\n    return {}\n", vec!["x"; n].join(" + "));
    let args = [ArgType::Weak(Scalar::I64)];
    World::new("deep.py", &sum(300)).compile("f", &args, host()).unwrap();
    let diag = failure(&sum(5000), "f", &args);
    assert!(diag.message.contains("nested more than 400 deep"), "{}", diag.message);
}
