//! Random kernels and host functions: compiled code leaves what the interpreter leaves.
//!
//! `WEFT_RANDOM_SEEDS=FIRST..LAST` runs other seeds than the usual ones; every failure names its seed.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use weft_cpu::CpuDevice;
use weft_cpu::emit::Target;
use weft_ir::interp::Options;
use weft_ir::random::{self, Case};
use weft_ir::testing::interpret;
use weft_ir::text;
use weft_runtime::RunError;

/// What differs between a case's run on a target and on the interpreter, if anything.
fn fault(case: &Case, target: &Target) -> Option<String> {
    let oracle = interpret(&case.module, &case.line, Options::default()).unwrap();
    let exe = match common::compile(&case.module, case.line.func, target) {
        Ok(exe) => exe,
        Err(error) => return Some(format!("{error:?}")),
    };
    let (ran, args) = common::run(&*exe, &case.module, &case.line);
    let ran = match (&oracle.result, ran) {
        (Err(_), Err(RunError::Raised(_))) => return None,
        (Ok(_), Ok(ran)) => ran,
        (expected, got) => return Some(format!("expected {expected:?}, got {got:?}")),
    };
    if let Ok(result) = &oracle.result
        && !matches!(case.module.function(case.line.func).kind, weft_ir::FuncKind::Kernel)
        && !ran.result.matches(result, false)
    {
        return Some(format!("expected {result:?}, got {:?}", ran.result));
    }
    let differing = oracle
        .args
        .iter()
        .zip(&args)
        .position(|(theirs, ours)| !ours.matches(theirs, false));
    if let Some(at) = differing {
        return Some(format!("argument {at}: expected {:?}\ngot {:?}", oracle.args[at], args[at]));
    }
    (ran.output != oracle.output).then(|| format!("expected output {:?}, got {:?}", oracle.output, ran.output))
}

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let given = std::env::var("WEFT_RANDOM_SEEDS").ok();
    let range = given.as_deref().and_then(|s| s.split_once(".."));
    range.map_or(0..usual, |(first, last)| first.parse().unwrap()..last.parse().unwrap())
}

fn check(make: impl Fn(u64) -> Case + Sync, usual: u64) {
    let host = CpuDevice.target();
    let gangs = [None, Some(4), Some(8), Some(16), Some(32)];
    let seeds: Vec<u64> = seeds(usual).collect();
    common::in_parallel(&seeds, |&seed| {
        let mut case = make(seed);
        // Contraction rounds differently; the interpreter sees the module before it.
        case.module.functions.iter_mut().for_each(|f| f.flags.contract = false);
        let gang = gangs[seed as usize % gangs.len()];
        let mask_registers = seed / 5 % 2 == 1;
        let target = Target {
            gang,
            mask_registers,
            gathers: seed / 10 % 2 == 1,
            ..host.clone()
        };
        if fault(&case, &target).is_some() {
            let small = random::shrink(case, |case| fault(case, &target).is_some());
            let fault = fault(&small, &target).unwrap_or_default();
            panic!(
                "seed {seed}, {gang:?} lanes, mask registers {mask_registers}: {fault}\n{:?}\n{}",
                small.line,
                text::print(&small.module)
            );
        }
    });
}

#[test]
fn random_kernels() {
    check(random::kernel, 1000);
}

/// Some threads end before barriers, and lanes meet where others never come.
#[test]
fn stray_kernels() {
    check(random::stray_kernel, 60);
}

#[test]
fn random_host_functions() {
    check(random::host, 1000);
}
