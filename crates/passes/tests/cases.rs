//! Every file of `tests/cases`: a module, the passes to run (`; passes: inline, cleanup`), and after a line `; after` what they must
//! make of it, or `; error: message`. `WEFT_BLESS=1` writes what they make of it into the files.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::{env, fs};

use weft_ir::Module;
use weft_ir::text::{parse, print};
use weft_passes::{
    GpuOptions, PassError, arrive, cleanup, contract, flat, halves, inline, legalize, lockstep, lower_for_cpu, nonneg, outline, structure,
};

const GPU: GpuOptions = GpuOptions { group: 1, max_threads: 64 };
const SEPARATOR: &str = "; after\n";

#[test]
fn passes_make_of_each_case_what_stands_in_it() {
    let mut failures = String::new();
    for path in case_files() {
        let text = fs::read_to_string(&path).unwrap();
        let (before, expected) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
        let actual = outcome(before);
        if env::var_os("WEFT_BLESS").is_some() {
            fs::write(&path, format!("{before}{SEPARATOR}{actual}")).unwrap();
        } else if actual != expected {
            failures += &format!("{}:\n{actual}\n", path.display());
        }
    }
    assert!(failures.is_empty(), "these cases came out otherwise than they say:\n{failures}");
}

fn case_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn outcome(before: &str) -> String {
    let passes = before.lines().next().and_then(|line| line.strip_prefix("; passes: "));
    let mut module = parse(before).unwrap_or_else(|error| panic!("{error}:\n{before}"));
    for pass in passes.expect("a case starts with `; passes: `").split(", ") {
        if let Err(error) = run(pass, &mut module) {
            return format!("; error: {error}\n");
        }
    }
    let text = print(&module);
    assert_eq!(print(&parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"))), text);
    text
}

fn run(pass: &str, module: &mut Module) -> Result<(), PassError> {
    match pass {
        "flat" => {
            if let Some(flat) = flat::as_loop(module) {
                *module = flat;
            }
            Ok(())
        }
        "arrive" => arrive::run(module),
        "inline" => inline::run(module),
        "legalize" => legalize::run(module),
        "halves" => halves::run(module),
        "cleanup" => cleanup::run(module),
        "structure" => structure::run(module),
        "contract" => contract::run(module),
        "nonneg" => nonneg::run(module),
        "outline" => outline::run(module),
        "lockstep" => lockstep::run(module, GPU),
        "lower_for_cpu" => lower_for_cpu(module),
        other => panic!("there is no pass `{other}`"),
    }
}
