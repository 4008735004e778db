//! Kernels mean the same for GPUs, where all threads of a block have to come to each barrier together: the interpreter sees to that in the
//! lowered module, in which no operation of a warp is left but what the device's groups of lanes do by themselves.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use weft_ir::interp::Options;
use weft_ir::random::{self, Case};
use weft_ir::testing::{Interpreted, TestLaunch, TestLine, TestValue, interpret, lines};
use weft_ir::text::{parse, print};
use weft_ir::verify::verify;
use weft_ir::{Const, FuncKind, Module, Op, StmtKind, WARP, WarpOp};
use weft_passes::operands::{is_barrier, is_of_warp};
use weft_passes::{GpuOptions, lower_for_gpu};

const CASES: u64 = 300;
/// Lanes that work together by themselves, on several devices.
const GROUPS: [u32; 4] = [1, 4, 16, 32];

#[test]
fn random_kernels_keep_their_meaning_in_step() {
    for seed in 0..CASES {
        let group = GROUPS[seed as usize % GROUPS.len()];
        check("kernel", seed, group, &random::kernel(seed));
        check("stray kernel", seed, group, &random::stray_kernel(seed));
    }
}

#[test]
fn test_files_keep_their_meaning_in_step() {
    let mut ran = 0;
    for path in test_files() {
        let text = fs::read_to_string(&path).unwrap();
        let module = parse(&text).unwrap();
        for line in lines(&text, &module).unwrap() {
            if line.expected.fails.is_none() && line.expected.raises.is_none() && matches!(line.launch, TestLaunch::Grid { .. }) {
                ran += 1;
                let mut module = module.clone();
                module.entry = line.func;
                if has_grid_barrier(&module) {
                    continue;
                }
                for group in GROUPS {
                    if calls_itself(&module) {
                        let refused = same(&module, &line, group).unwrap_err();
                        assert!(refused.contains("shaders have no stack"), "{refused}");
                        continue;
                    }
                    same(&module, &line, group)
                        .unwrap_or_else(|message| panic!("{}:{}, groups of {group}: {message}", path.display(), line.line));
                }
            }
        }
    }
    assert!(ran > 60, "only {ran} lines");
}

fn has_grid_barrier(module: &Module) -> bool {
    print(module).contains("grid_barrier")
}

/// The functions of the files that do are all in one of them.
fn calls_itself(module: &Module) -> bool {
    print(module).contains("device @fib")
}

fn test_files() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["../ir/tests/run", "tests/run"].map(|folder| here.join(folder));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn check(kind: &str, seed: u64, group: u32, case: &Case) {
    if let Err(message) = same(&case.module, &case.line, group) {
        panic!("{kind} {seed}, groups of {group}: {message}\n{}", print(&case.module));
    }
}

fn same(module: &Module, line: &TestLine, group: u32) -> Result<(), String> {
    let before = interpret(module, line, Options::default()).unwrap();
    let mut lowered = module.clone();
    let options = GpuOptions { group, max_threads: 256 };
    lower_for_gpu(&mut lowered, &options).map_err(|error| error.to_string())?;
    let context = |message: String| format!("{message}\n{}", print(&lowered));
    verify(&lowered).map_err(|error| context(error.to_string()))?;
    let left = lowered
        .entry_function()
        .body
        .any(&mut |kind| is_of_warp(kind) && !is_of_group(kind, group) || is_barrier(kind) && *kind != StmtKind::Barrier);
    if left && lowered.entry_function().kind == FuncKind::Kernel {
        return Err(context("something that threads do together is left".into()));
    }
    let line = TestLine {
        func: lowered.entry,
        args: line.args.iter().flat_map(flat).collect(),
        ..line.clone()
    };
    let in_step = Options {
        in_step: true,
        ..Options::default()
    };
    let after = interpret(&lowered, &line, in_step).unwrap();
    agree(&before, &after).map_err(context)
}

/// Is it what lanes of a group do without the others?
fn is_of_group(kind: &StmtKind, group: u32) -> bool {
    match kind {
        StmtKind::SyncWarp(_) => group == WARP,
        StmtKind::Let(_, Op::Warp { op, .. }) => group > 1 && matches!(op, WarpOp::Ballot | WarpOp::ShuffleIdx),
        _ => false,
    }
}

fn agree(before: &Interpreted, after: &Interpreted) -> Result<(), String> {
    match (&before.result, &after.result) {
        (Ok(_), Ok(_)) => {}
        (Err(a), Err(b)) if a.fault == b.fault => {}
        (a, b) => return Err(format!("ended with {b:?} instead of {a:?}")),
    }
    let arrays = |run: &Interpreted| run.args.iter().flat_map(flat).collect::<Vec<_>>();
    let (a, b) = (arrays(before), arrays(after));
    // Products are fused into sums, which rounds otherwise.
    if !a.iter().zip(&b).all(|(a, b)| a.matches(b, true)) {
        return Err(format!("an argument is {b:?} instead of {a:?}"));
    }
    Ok(())
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
