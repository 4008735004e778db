//! Kernels on the first of this machine's GPUs (Mesa's driver for the CPU where there is no other) leave what the interpreter leaves: those
//! of `.weft` files, which also say themselves what that is, and random ones. With all facts, and with few.
//!
//! `WEFT_RANDOM_SEEDS=FIRST..LAST` runs other seeds than the usual ones; every failure names its seed.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

#[path = "../../cuda/tests/suite/mod.rs"]
mod suite;

use std::sync::Arc;

use suite::launch::{Arrays, Ran, run, run_with};
use weft_gpu::GpuDevice;
use weft_gpu::emit::Facts;
use weft_ir::interp::Options;
use weft_ir::random::{self, Case};
use weft_ir::testing::{TestLine, interpret};
use weft_ir::{FuncKind, Module, StmtKind, text};
use weft_runtime::{CompileError, CompileOptions, RunError};

/// Sets of facts that code is compared for.
const FACTS: [Facts; 2] = [
    Facts::ALL,
    Facts {
        narrow: false,
        small: false,
        ..Facts::ALL
    },
];

/// A device of a test's own: what kernels print is the device's.
fn gpu() -> Arc<GpuDevice> {
    match weft_gpu::Platform::open().map(|platform| platform.devices) {
        Ok(devices) if !devices.is_empty() => devices[0].clone(),
        other => panic!("{other:?}: the tests need a Vulkan driver, such as Mesa's for the CPU"),
    }
}

/// What these GPUs cannot do.
fn waits_for_the_grid(module: &Module, line: &TestLine) -> bool {
    module.function(line.func).body.any(&mut |kind| *kind == StmtKind::GridBarrier)
}

/// What is wrong with a run of a line, if anything.
fn fault(device: &GpuDevice, module: &Module, line: &TestLine, facts: Facts) -> Option<String> {
    let entry = suite::as_entry(module, line.func)?;
    let wants_stack = suite::calls_itself(&entry);
    let ran = match device.compile_for(Arc::new(entry), CompileOptions::default(), facts) {
        Ok(exe) => run(device, &*exe, module, line),
        Err(CompileError::Unsupported { message, .. }) if wants_stack && message.contains("shaders have no stack") => return None,
        Err(CompileError::Unsupported { .. }) if waits_for_the_grid(module, line) => return None,
        Err(error) => return Some(format!("{error:?}")),
    };
    let expected = &line.expected;
    if let Some((kind, message)) = &expected.raises {
        return match &ran.ended {
            Err(RunError::Raised(raised)) if raised.kind == *kind && raised.message == *message => None,
            other => Some(format!("expected {kind:?} {message:?}, got {other:?}")),
        };
    }
    if let Err(error) = &ran.ended {
        return Some(format!("{error:?}"));
    }
    if let (Some(result), Some(got)) = (&expected.result, &ran.result)
        && !got.matches(result, expected.about)
    {
        return Some(format!("expected {result:?}, got {got:?}"));
    }
    for (at, array) in &expected.arrays {
        if !ran.args[*at].matches(array, expected.about) {
            return Some(format!("expected {array:?}, got {:?}", ran.args[*at]));
        }
    }
    if let Some(output) = &expected.output
        && ran.output != *output
    {
        return Some(format!("expected output {output:?}, got {:?}", ran.output));
    }
    against_the_interpreter(module, line, &ran)
}

fn against_the_interpreter(module: &Module, line: &TestLine, ran: &Ran) -> Option<String> {
    let oracle = interpret(module, line, Options::default()).unwrap();
    let mut both = ran.args.iter().zip(&oracle.args);
    let (ours, theirs) = both.find(|(ours, theirs)| !ours.matches(theirs, line.expected.about))?;
    Some(format!("the interpreter leaves {theirs:?}, the GPU {ours:?}"))
}

#[test]
fn lines_of_files() {
    let device = &*gpu();
    let (mut faults, mut count) = (Vec::new(), 0);
    for file in suite::weft_files() {
        for line in file.lines.iter().filter(|line| line.expected.fails.is_none()) {
            if suite::as_entry(&file.module, line.func).is_none() {
                continue;
            }
            count += 1;
            let found = FACTS
                .into_iter()
                .find_map(|facts| Some((facts, fault(device, &file.module, line, facts)?)));
            let name = &file.module.function(line.func).name;
            faults.extend(found.map(|(facts, fault)| format!("{} line {}, {name}, {facts:?}: {fault}", file.name, line.line)));
        }
    }
    assert!(count > 200, "only {count} lines");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// What differs between a random kernel's run and the interpreter's, if anything.
fn random_fault(device: &GpuDevice, case: &Case, facts: Facts, arrays: Arrays) -> Option<String> {
    let oracle = interpret(&case.module, &case.line, Options::default()).unwrap();
    let exe = match device.compile_for(Arc::new(case.module.clone()), CompileOptions::default(), facts) {
        Ok(exe) => exe,
        Err(error) => return Some(format!("{error:?}")),
    };
    let ran = run_with(device, &*exe, &case.module, &case.line, arrays);
    match (&oracle.result, &ran.ended) {
        (Err(_), Err(RunError::Raised(_))) => return None,
        (Ok(_), Ok(())) => {}
        (expected, got) => return Some(format!("expected {expected:?}, got {got:?}")),
    }
    let differing = oracle
        .args
        .iter()
        .zip(&ran.args)
        .position(|(theirs, ours)| !ours.matches(theirs, false));
    differing.map(|at| format!("argument {at}: expected {:?}\ngot {:?}", oracle.args[at], ran.args[at]))
}

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let given = std::env::var("WEFT_RANDOM_SEEDS").ok();
    let range = given.as_deref().and_then(|s| s.split_once(".."));
    range.map_or(0..usual, |(first, last)| first.parse().unwrap()..last.parse().unwrap())
}

#[test]
fn random_kernels() {
    let device = &*gpu();
    for seed in seeds(150) {
        let mut case = random::kernel(seed);
        assert_eq!(case.module.entry_function().kind, FuncKind::Kernel);
        // Contraction rounds differently; the interpreter sees the module before it.
        case.module.functions.iter_mut().for_each(|f| f.flags.contract = false);
        let facts = FACTS[seed as usize % FACTS.len()];
        let arrays = if seed % 3 == 0 { Arrays::Together } else { Arrays::Apart };
        if random_fault(device, &case, facts, arrays).is_some() {
            let small = random::shrink(case, |case| random_fault(device, case, facts, arrays).is_some());
            let fault = random_fault(device, &small, facts, arrays);
            panic!(
                "seed {seed}, {facts:?}, {arrays:?}: {fault:?}\n{:?}\n{}",
                small.line,
                text::print(&small.module)
            );
        }
    }
}

/// Some threads end before barriers, and lanes of a warp meet where others never come.
#[test]
fn stray_kernels() {
    let device = &*gpu();
    for seed in seeds(60) {
        let mut case = random::stray_kernel(seed);
        case.module.functions.iter_mut().for_each(|f| f.flags.contract = false);
        let facts = FACTS[seed as usize % FACTS.len()];
        if let Some(fault) = random_fault(device, &case, facts, Arrays::Apart) {
            panic!("seed {seed}, {facts:?}: {fault}\n{:?}\n{}", case.line, text::print(&case.module));
        }
    }
}
