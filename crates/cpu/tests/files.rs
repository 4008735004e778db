//! Every kernel file, compiled for gangs of several widths and both forms of masks, against what its lines say and the interpreter.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use weft_cpu::emit::Target;
use weft_ir::interp::Options;
use weft_ir::testing::{TestLine, TestValue, interpret, lines};
use weft_ir::{FuncId, Module, text};
use weft_runtime::{Executable, RunError};

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found: Vec<PathBuf> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|e| e == "weft"));
    found.sort();
    found
}

/// What is wrong with a line on a target, if anything.
fn fault(exe: &dyn Executable, module: &Module, line: &TestLine) -> Option<String> {
    let expected = &line.expected;
    let (ran, args) = common::run(exe, module, line);
    if let Some((kind, message)) = &expected.raises {
        return match &ran {
            Err(RunError::Raised(raised)) if raised.kind == *kind && raised.message == *message => None,
            other => Some(format!("expected {kind:?} {message:?}, got {other:?}")),
        };
    }
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => return Some(format!("{error:?}")),
    };
    if let Some(result) = &expected.result
        && !ran.result.matches(result, expected.about)
    {
        return Some(format!("expected {result:?}, got {:?}", ran.result));
    }
    for (at, array) in &expected.arrays {
        if !args[*at].matches(array, expected.about) {
            return Some(format!("expected {array:?}, got {:?}", args[*at]));
        }
    }
    if let Some(output) = &expected.output
        && ran.output != *output
    {
        return Some(format!("expected output {output:?}, got {:?}", ran.output));
    }
    against_the_interpreter(module, line, &args)
}

fn against_the_interpreter(module: &Module, line: &TestLine, args: &[TestValue]) -> Option<String> {
    let oracle = interpret(module, line, Options::default()).unwrap();
    let about = line.expected.about;
    for (ours, theirs) in args.iter().zip(&oracle.args) {
        if !ours.matches(theirs, about) {
            return Some(format!("the interpreter leaves {theirs:?}, compiled code {ours:?}"));
        }
    }
    None
}

/// The faults of one function's lines on one target.
fn faults(module: &Module, func: FuncId, lines: &[&TestLine], target: &Target) -> Vec<String> {
    let name = &module.function(func).name;
    let how = format!("{name}, {:?} lanes, mask registers {}", target.gang, target.mask_registers);
    let start = std::time::Instant::now();
    let exe = match common::compile(module, func, target) {
        Ok(exe) => exe,
        Err(error) => return vec![format!("{how}: {error:?}")],
    };
    let r: Vec<String> = lines
        .iter()
        .filter_map(|line| Some(format!("line {} of {how}: {}", line.line, fault(&*exe, module, line)?)))
        .collect();
    eprintln!("{how} {:?}", start.elapsed());
    r
}

fn check(folder: &str) {
    let (found, count) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    common::in_parallel(&files(folder), |path| {
        let source = fs::read_to_string(path).unwrap();
        let module = text::parse(&source).unwrap();
        let mut tests = lines(&source, &module).unwrap();
        tests.retain(|line| line.expected.fails.is_none());
        for func in (0..module.functions.len() as u32).map(FuncId) {
            let mine: Vec<&TestLine> = tests.iter().filter(|line| line.func == func).collect();
            if mine.is_empty() {
                continue;
            }
            count.fetch_add(mine.len(), Ordering::Relaxed);
            let of_target = |target: &Target| faults(&module, func, &mine, target);
            let first = common::targets(&module, func)
                .iter()
                .map(of_target)
                .find(|faults| !faults.is_empty());
            let name = path.file_name().unwrap().to_string_lossy();
            let told = first.unwrap_or_default().into_iter().map(|fault| format!("{name}: {fault}"));
            found.lock().unwrap().extend(told);
        }
    });
    let found = found.into_inner().unwrap();
    assert!(count.into_inner() > 0, "no lines in {folder}");
    assert!(found.is_empty(), "{} faults\n{}", found.len(), found.join("\n"));
}

#[test]
fn files_of_the_ir() {
    check("../ir/tests/run");
}

#[test]
fn files_of_the_passes() {
    check("../passes/tests/run");
}

#[test]
fn files_of_the_emitter() {
    check("tests/kernels");
}
