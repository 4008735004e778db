//! What a flush did: its kernels, what each read and wrote, and how long it took; kept while somebody asked for it.

use std::cell::RefCell;
use std::time::Instant;

use crate::program::{Program, Slot};
use crate::text;
use crate::tiles::Target;

/// One kernel that ran.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// `map`, `fold`, `update` or `copy`.
    pub what: String,
    /// As Python: a function of one point.
    pub text: String,
    pub extents: Vec<u64>,
    /// Bytes of memory that it reads and writes, each counted once.
    pub read: u64,
    pub written: u64,
    pub seconds: f64,
    /// `tiles` or `compiled`.
    pub tier: &'static str,
    /// What it computed before, since that depends on fewer axes, or since it is folded.
    pub inner: Vec<Kernel>,
}

thread_local! {
    /// The kernels of the flush on this thread, one list for each that is under way.
    static OPEN: RefCell<Vec<Vec<Kernel>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the kernels of what is done meanwhile.
pub fn record<T>(work: impl FnOnce() -> T) -> (T, Vec<Kernel>) {
    OPEN.with_borrow_mut(|open| open.push(Vec::new()));
    let result = work();
    let kernels = OPEN.with_borrow_mut(|open| open.pop()).unwrap_or_default();
    (result, kernels)
}

/// Does somebody want to know what this thread runs?
pub fn is_on() -> bool {
    OPEN.with_borrow(|open| !open.is_empty())
}

/// Runs a kernel, which says by which tier it was run.
pub fn kernel<E>(what: &str, program: &Program, target: &Target, run: impl FnOnce() -> Result<&'static str, E>) -> Result<(), E> {
    if !is_on() {
        return run().map(|_| ());
    }
    let start = Instant::now();
    let (tier, inner) = record(run);
    let kernel = Kernel {
        what: what.into(),
        text: text::of_program(program),
        extents: program.extents.to_vec(),
        read: program
            .loads
            .iter()
            .map(|load| touched(&program.extents, &load.strides) * load.elem.size() as u64)
            .sum(),
        written: target.elem.size() as u64 * written(program, target),
        seconds: start.elapsed().as_secs_f64(),
        tier: tier?,
        inner,
    };
    OPEN.with_borrow_mut(|open| {
        if let Some(kernels) = open.last_mut() {
            kernels.push(kernel);
        }
    });
    Ok(())
}

/// Elements that are read: an axis along which an operand stays counts once.
fn touched(extents: &[u64], strides: &[i64]) -> u64 {
    extents
        .iter()
        .zip(strides)
        .filter(|(_, stride)| **stride != 0)
        .map(|(n, _)| *n)
        .product()
}

/// Results: fewer than points where these are folded.
fn written(program: &Program, target: &Target) -> u64 {
    match target.strides.len() == program.extents.len() {
        true => program.extents.iter().product(),
        false => target.points,
    }
}

/// What a program does, in a word.
pub fn kind(program: &Program) -> &'static str {
    match (program.steps.is_empty(), program.result) {
        (true, Some(Slot::Load(_))) => "copy",
        (true, _) => "fill",
        _ => "map",
    }
}

/// Keeps the kernels of parts, of which each has so many, stage by stage: all parts of the first, then all of the second.
pub fn by_stages<E>(stages: usize, work: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    if !is_on() {
        return work();
    }
    let (done, kernels) = record(work);
    let mut numbered: Vec<(usize, Kernel)> = kernels.into_iter().enumerate().collect();
    numbered.sort_by_key(|(at, _)| at % stages.max(1));
    OPEN.with_borrow_mut(|open| {
        if let Some(kernels) = open.last_mut() {
            kernels.extend(numbered.into_iter().map(|(_, kernel)| kernel));
        }
    });
    done
}
