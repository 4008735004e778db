//! A function means the same before and after the passes: every run line of the IR's and this crate's test files, interpreted on the module
//! as written and after each pass of the CPU's lowering, gives the same result, arrays, output and exception.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use weft_ir::interp::{Options, Trap};
use weft_ir::random::{self, Case};
use weft_ir::testing::{Interpreted, TestLine, TestValue, interpret, lines};
use weft_ir::text::{parse, print};
use weft_ir::verify::verify;
use weft_ir::{Const, Module};
use weft_passes::{PassError, cleanup, contract, halves, inline, legalize, nonneg, outline, structure};

/// Random modules of each kind.
const CASES: u64 = 100;

type Pass = fn(&mut Module) -> Result<(), PassError>;

/// The CPU's passes in order. Contraction changes how results round, so what comes after it is compared to within a tolerance.
const PASSES: &[(&str, Pass)] = &[
    ("legalize", legalize::run),
    ("inline", inline::run_for_cpu),
    ("structure", structure::run),
    ("halves", halves::run),
    ("cleanup", cleanup::run),
    ("nonneg", nonneg::run),
    ("outline", outline::run),
    ("contract", contract::run),
];

#[test]
fn passes_keep_what_functions_mean() {
    let mut ran = 0;
    let mut failures = String::new();
    for path in test_files() {
        let text = fs::read_to_string(&path).unwrap();
        let module = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in lines(&text, &module).unwrap() {
            if line.expected.fails.is_none() {
                ran += 1;
                if let Err(message) = same_after_each_pass(&module, &line) {
                    failures += &format!("{}:{}: {message}\n", path.display(), line.line);
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(ran > 0, "no run lines were found");
}

#[test]
fn random_kernels_and_host_functions_keep_their_meaning() {
    for kind in ["kernel", "host"] {
        for seed in 0..CASES {
            let Case { module, line } = if kind == "kernel" {
                random::kernel(seed)
            } else {
                random::host(seed)
            };
            if let Err(message) = same_after_each_pass(&module, &line) {
                panic!("{kind} {seed}: {message}\n{}", print(&module));
            }
        }
    }
}

fn test_files() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["../ir/tests/run", "tests/run"] {
        collect(&here.join(folder), &mut files);
    }
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "weft") {
            files.push(path);
        }
    }
}

fn same_after_each_pass(module: &Module, line: &TestLine) -> Result<(), String> {
    let before = interpret(module, line, Options::default()).map_err(|error| error.to_string())?;
    as_expected(&before, line).map_err(|message| format!("as written: {message}"))?;
    let mut module = module.clone();
    module.entry = line.func;
    let mut about = false;
    for (name, pass) in PASSES {
        about |= *name == "contract";
        pass(&mut module).map_err(|error| format!("{name}: {error}"))?;
        let context = |message: String| format!("after {name}: {message}\n{}", print(&module));
        verify(&module).map_err(|error| context(error.to_string()))?;
        let line = TestLine {
            func: module.entry,
            args: line.args.iter().flat_map(flat).collect(),
            ..line.clone()
        };
        let after = interpret(&module, &line, Options::default()).map_err(|error| error.to_string())?;
        compare(&before, &after, about).map_err(context)?;
    }
    Ok(())
}

/// Does the module as written do what its line says?
fn as_expected(run: &Interpreted, line: &TestLine) -> Result<(), String> {
    let expected = &line.expected;
    match (&run.result, &expected.raises) {
        (Ok(_), None) => {}
        (Err(trap), Some((kind, message))) if trap.error_kind() == *kind && trap.fault.to_string().contains(message) => {}
        (result, _) => return Err(format!("it ends with {result:?}")),
    }
    if let (Ok(result), Some(expected_result)) = (&run.result, &expected.result) {
        same(&flat(expected_result), &flat(result), expected.about)?;
    }
    for (at, array) in &expected.arrays {
        same(&flat(array), &flat(&run.args[*at]), expected.about)?;
    }
    match &expected.output {
        Some(output) if *output != run.output => Err(format!("it prints {:?}", run.output)),
        _ => Ok(()),
    }
}

fn compare(before: &Interpreted, after: &Interpreted, about: bool) -> Result<(), String> {
    match (&before.result, &after.result) {
        (Ok(a), Ok(b)) => same(&flat(a), &flat(b), about).map_err(|message| format!("the result {message}"))?,
        (Err(a), Err(b)) if same_trap(a, b) => {}
        (a, b) => return Err(format!("ended with {b:?} instead of {a:?}")),
    }
    let arrays = |run: &Interpreted| run.args.iter().flat_map(flat).collect::<Vec<_>>();
    same(&arrays(before), &arrays(after), about).map_err(|message| format!("an argument {message}"))?;
    if before.output != after.output {
        return Err(format!("printed {:?} instead of {:?}", after.output, before.output));
    }
    Ok(())
}

/// What a user sees of a trap; the function it names may have been inlined.
fn same_trap(a: &Trap, b: &Trap) -> bool {
    a.fault == b.fault && a.thread == b.thread
}

fn same(before: &[TestValue], after: &[TestValue], about: bool) -> Result<(), String> {
    let equal = before.len() == after.len() && before.iter().zip(after).all(|(a, b)| a.matches(b, about));
    if equal {
        Ok(())
    } else {
        Err(format!("is {after:?} instead of {before:?}"))
    }
}

/// A value as legalisation passes it.
fn flat(value: &TestValue) -> Vec<TestValue> {
    match value {
        TestValue::Scalar(Const::C64(re, im)) => [*re, *im].map(|part| TestValue::Scalar(Const::F32(part))).into(),
        TestValue::Scalar(Const::C128(re, im)) => [*re, *im].map(|part| TestValue::Scalar(Const::F64(part))).into(),
        TestValue::Tuple(items) => items.iter().flat_map(flat).collect(),
        one => vec![one.clone()],
    }
}
