//! Runs every `run/*.weft` on the interpreter, unchecked and checked, and round-trips its text.

use std::path::PathBuf;

use weft_ir::interp::Options;
use weft_ir::testing::{Interpreted, TestLine, interpret, lines};
use weft_ir::text::{parse, print};

fn files() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run");
    let entries = std::fs::read_dir(folder).expect("the folder of test files");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a test file").path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// What differs from what the line expects, if anything.
fn difference(line: &TestLine, run: &Interpreted) -> Option<String> {
    let expected = &line.expected;
    match (&run.result, &expected.fails, &expected.raises) {
        (Err(trap), Some(part), _) => return (!trap.to_string().contains(part)).then(|| format!("failed with {trap}")),
        (Err(trap), None, Some((kind, message))) => {
            let same = trap.error_kind() == *kind && trap.fault.to_string() == *message;
            return (!same).then(|| format!("raised {trap}"));
        }
        (Err(trap), None, None) => return Some(format!("failed with {trap:?}")),
        (Ok(_), Some(_), _) | (Ok(_), _, Some(_)) => return Some("did not fail".into()),
        (Ok(result), None, None) => {
            if expected.result.as_ref().is_some_and(|e| !result.matches(e, expected.about)) {
                return Some(format!("gave {result:?}"));
            }
        }
    }
    for (i, array) in &expected.arrays {
        if !run.args[*i].matches(array, expected.about) {
            return Some(format!("left {:?}", run.args[*i]));
        }
    }
    match &expected.output {
        Some(output) if *output != run.output => Some(format!("printed {:?}", run.output)),
        _ => None,
    }
}

#[test]
fn run_lines_hold() {
    let mut failures = Vec::new();
    let mut count = 0;
    for file in files() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let module = parse(&text).unwrap_or_else(|e| panic!("{name}:{e}"));
        for line in lines(&text, &module).unwrap_or_else(|e| panic!("{name}:{e}")) {
            for checked in [false, true] {
                if line.expected.fails.is_some() && !checked {
                    continue;
                }
                let options = Options {
                    checked,
                    ..Options::default()
                };
                let run = interpret(&module, &line, options).unwrap_or_else(|e| panic!("{name}:{}: {e}", line.line));
                count += 1;
                failures.extend(difference(&line, &run).map(|d| format!("{name}:{} (checked: {checked}) {d}", line.line)));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 100);
}

#[test]
fn files_round_trip() {
    for file in files() {
        let module = parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let text = print(&module);
        assert_eq!(parse(&text).unwrap(), module, "{}", file.display());
        assert_eq!(print(&parse(&text).unwrap()), text);
    }
}

/// Files with a line cut out or two swapped: what still verifies runs to some end, with or without a trap. Endless runs are interrupted.
#[test]
fn damaged_files_run_to_some_end() {
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut ran = 0;
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        for _ in 0..150 {
            let mut text: Vec<&str> = text.lines().collect();
            let (a, b) = (below(text.len()), below(text.len()));
            if below(2) == 0 {
                text.remove(a);
            } else {
                text.swap(a, b);
            }
            let text = text.join("\n");
            let Ok(module) = parse(&text) else { continue };
            let Ok(lines) = lines(&text, &module) else { continue };
            let Some(line) = lines.get(below(lines.len().max(1))) else {
                continue;
            };
            for checked in [false, true] {
                let options = Options {
                    checked,
                    interrupted: Some(|| true),
                    ..Options::default()
                };
                ran += usize::from(interpret(&module, line, options).is_ok());
            }
        }
    }
    assert!(ran > 200, "{ran}");
}
