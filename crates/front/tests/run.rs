//! Runs `tests/run/*.py` on the interpreter: a line `# run(types): call == value` compiles the function for the types and compares.
//!
//! The values were computed by CPython and NumPy from the same files (`tests/run/expect.py`).

#![allow(clippy::panic, clippy::unwrap_used)] // A test that cannot go on stops.

mod common;

use common::{World, host, kernel, parse_type, split_top};
use weft_front::ArgType;
use weft_ir::testing::{Expected, Interpreted, interpret, lines};

struct Line {
    number: usize,
    types: Vec<ArgType>,
    function: String,
    rest: String,
    parallel: bool,
}

fn run_lines(text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let (parallel, rest) = match (line.strip_prefix("# run("), line.strip_prefix("# run parallel(")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => continue,
        };
        let (types, rest) = rest.split_once("): ").unwrap_or_else(|| panic!("line {}: {line}", i + 1));
        let end = rest.find(['(', '[']).unwrap_or(rest.len());
        found.push(Line {
            number: i + 1,
            types: split_top(types).iter().map(|t| parse_type(t)).collect(),
            function: rest[..end].to_owned(),
            rest: rest.to_owned(),
            parallel,
        });
    }
    found
}

fn check(world: &World, line: &Line) -> Result<(), String> {
    let launched = line.rest[line.function.len()..].starts_with('[');
    let mut options = if launched { kernel() } else { host() };
    options.parallel = line.parallel;
    let compiled = world.compile(&line.function, &line.types, options).map_err(|d| d.render())?;
    let module = &compiled.module;
    let show = || weft_ir::text::print(module);
    let test = lines(&format!("; run: {}", line.rest), module).map_err(|e| format!("{e}\n{}", show()))?;
    let checked = weft_ir::interp::Options {
        checked: true,
        ..weft_ir::interp::Options::default()
    };
    let got = interpret(module, &test[0], checked).map_err(|e| format!("{e}\n{}", show()))?;
    compare(&test[0].expected, &got).map_err(|e| format!("{e}\n{}", show()))
}

/// What differs from what the line expects, if anything.
fn compare(expected: &Expected, got: &Interpreted) -> Result<(), String> {
    match (&got.result, &expected.raises) {
        (Err(trap), Some((kind, message))) if trap.error_kind() == *kind && trap.fault.to_string() == *message => {}
        (Err(trap), _) => return Err(format!("failed with {trap}")),
        (Ok(_), Some(_)) => return Err("did not raise".into()),
        (Ok(result), None) => {
            if expected.result.as_ref().is_some_and(|e| !result.matches(e, expected.about)) {
                return Err(format!("gave {result:?}"));
            }
        }
    }
    for (i, array) in &expected.arrays {
        if !got.args[*i].matches(array, expected.about) {
            return Err(format!("left {:?}", got.args[*i]));
        }
    }
    match &expected.output {
        Some(output) if *output != got.output => Err(format!("printed {:?}", got.output)),
        _ => Ok(()),
    }
}

#[test]
fn files() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run");
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "py") && !p.ends_with("expect.py"))
    {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let world = World::new(&name, &text);
        for line in run_lines(&text) {
            count += 1;
            if let Err(message) = check(&world, &line) {
                failures.push(format!("{name}:{}: {}\n{message}", line.number, line.rest));
            }
        }
    }
    assert!(count > 0, "no run lines found");
    assert!(
        failures.is_empty(),
        "{} of {count} lines failed\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}
