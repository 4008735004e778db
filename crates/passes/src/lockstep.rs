//! Lockstep: afterwards all threads of a block come to every barrier, together.
//!
//! A kernel may end some threads of a block before a barrier, and lanes of a warp may meet where other threads never come. Machines whose
//! barriers take all threads of the block or none cannot run that as it is written. Here every thread walks through all code between
//! which threads meet (the *skeleton*), and does nothing where it would not be:
//!
//! - A local, `skip`, says where a thread is: 0 is *here*, anything else is the place it jumped to and waits for (an end of the kernel, the
//!   end of a loop or scope, a loop's next turn, the other side of an `if`). The runs of statements between meetings stand in `if skip == 0`.
//! - What is the same for all threads of the block and can be computed without harm by those that are elsewhere (arithmetic, locals that
//!   hold such values) is computed by all: it stands before the guard. Control that depends on nothing else stays as it is.
//! - An `if` that threads go through differently is walked through by all of them, one side after the other. A loop that threads leave
//!   differently runs on while one is in it; a *vote* through shared memory says whether ([`together`]).
//! - Whether any thread is left at all is asked once before a loop: code that no thread would have run may not end, and what it loads
//!   may not be there.
//! - A thread that raises does so at the end of the kernel. What follows the last meeting is left as it is.
//!
//! Where all threads are known to be here there is nothing to do, and nothing is done: kernels without early ends come out as they were.
//!
//! A barrier that the program itself has under a condition that differs between threads is refused ([`refuse`]).

mod frames;
mod group;
mod meet;
mod refuse;
mod rescue;
mod runs;
mod together;
mod walk;
mod warps;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem;

use weft_ir::{Axis, Builder, FuncKind, Function, Local, Module, StmtKind};

use crate::compact;
use crate::error::PassError;
use crate::numbering::{Numbering, StmtId};
use crate::operands::{is_barrier, is_of_warp};
use crate::uniformity::{self, Calls, Lanes};
use frames::Code;
use walk::Walk;

/// What there is to lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// So many neighbouring lanes of a warp, from a multiple of it on, work together by themselves where all of them are: a power of two,
    /// 32 for whole warps, 1 where the device has no such thing. What goes beyond them goes through shared memory and barriers.
    pub group: u32,
    /// The most threads a block has.
    pub max_threads: u32,
}

/// Brings the threads of every kernel into step, and takes its `BarrierReduce` and its operations of warps apart. What is left of the latter
/// are `Ballot` and `ShuffleIdx` (of 32 bits) among the lanes of a group and, where groups are warps, `SyncWarp`: all threads of the block
/// come to them together.
pub fn run(module: &mut Module, options: Options) -> Result<(), PassError> {
    for func in &mut module.functions {
        if func.kind == FuncKind::Kernel && has_meetings(func) {
            function(func, options)?;
        }
    }
    Ok(())
}

fn has_meetings(func: &Function) -> bool {
    func.body.any(&mut is_meeting)
}

/// Do all threads of the block have to be there?
fn is_meeting(kind: &StmtKind) -> bool {
    is_barrier(kind) || is_of_warp(kind)
}

/// What is found out about a function by walking it; it only grows, and a walk that adds to it was in vain.
#[derive(Debug, Default)]
struct Facts {
    /// Locals that threads which are elsewhere do not keep up with.
    apart: HashSet<Local>,
    loops: HashMap<StmtId, LoopFacts>,
    changed: bool,
}

#[derive(Clone, Debug, Default)]
struct LoopFacts {
    /// For what threads may wait at the head.
    waiting: BTreeSet<Code>,
    /// Threads may wait for the next turn.
    continues: bool,
    /// Some threads may leave while others stay.
    escapes: bool,
}

impl Facts {
    fn set_apart(&mut self, local: Local) {
        self.changed |= self.apart.insert(local);
    }

    fn of_loop(&self, id: StmtId) -> LoopFacts {
        self.loops.get(&id).cloned().unwrap_or_default()
    }

    fn at_head(&mut self, id: StmtId, waiting: impl Iterator<Item = Code>, next: Code) {
        let facts = self.loops.entry(id).or_default();
        for code in waiting {
            self.changed |= if code == next {
                !mem::replace(&mut facts.continues, true)
            } else {
                facts.waiting.insert(code)
            };
        }
    }

    fn escapes(&mut self, id: StmtId) {
        let facts = self.loops.entry(id).or_default();
        self.changed |= !mem::replace(&mut facts.escapes, true);
    }
}

fn function(func: &mut Function, options: Options) -> Result<(), PassError> {
    let info = uniformity::analyze(func, Lanes::Threads(Axis::X), &Calls::default());
    refuse::check(func, &info)?;
    let mut facts = Facts::default();
    let original = func.clone();
    let numbering = Numbering::of(&original.body);
    loop {
        facts.changed = false;
        let mut shell = original.clone();
        shell.body.0.clear();
        let walk = Walk::new(Builder::new(shell), &info, &mut facts, options);
        let mut done = walk.function(numbering.body());
        if !facts.changed {
            rescue::run(&mut done);
            compact::function(&mut done);
            *func = done;
            return Ok(());
        }
    }
}
