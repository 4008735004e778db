//! What a round of lowering keeps, by subject: the function it is about, what it found out, and the blocks it is writing.

use std::rc::Rc;

use weft_ir::{Label, SourceId, Span};

use super::Job;
use crate::parse::Parsed;
use crate::stop::Stop;
use crate::types::Ty;
use crate::{FunctionSource, Inferred, Options, library};

/// The function that is compiled, and how: nothing of this changes.
pub struct Unit {
    pub function: Rc<FunctionSource>,
    /// Its own options, whoever calls it.
    pub options: Options,
    pub parsed: Rc<Parsed>,
    pub source: SourceId,
    /// Its place among the functions being compiled.
    pub frame: Option<usize>,
    /// It runs inside a loop of its caller whose iterations are lanes.
    pub in_parallel: bool,
    /// A function of Weft's own library: intrinsics are known, zero divisors are its business.
    pub library: bool,
}

impl Unit {
    pub fn new(job: &Job<'_>, parsed: Rc<Parsed>, source: SourceId) -> Unit {
        Unit {
            function: job.function.clone(),
            options: job.options,
            parsed,
            source,
            frame: job.frame,
            in_parallel: job.in_parallel,
            library: library::is_library(job.function.key),
        }
    }
}

/// What a round has found out about the function: whether there must be another one, and what is told to callers and users.
#[derive(Default)]
pub struct Found {
    /// The result's type so far and the `return` that first gave it one.
    pub result: Option<(Ty, Span)>,
    /// The result got its first type in this round.
    pub learnt: bool,
    /// A type grew after it was used: the round's code is wrong.
    pub changed: bool,
    /// What stopped the first statement that could not be lowered.
    pub failed: Option<Stop>,
    /// The function allocates or runs parallel loops, so it can only run on the host.
    pub needs_host: bool,
    /// The types of variables and results, for users.
    pub types: Vec<Inferred>,
}

impl Found {
    /// Remembers what stopped a statement first; an error counts for more than what is not known yet.
    pub fn keep_failure(&mut self, stop: Stop) {
        let keep = match (&self.failed, &stop) {
            (None, _) => true,
            (Some(Stop::Pending(_)), Stop::Error(_)) => true,
            (Some(_), _) => false,
        };
        if keep {
            self.failed = Some(stop);
        }
    }
}

/// The blocks and labels of the code being written. What was made in a block can be used as long as it is open.
pub struct Blocks {
    /// Those open now, innermost last, by number.
    open: Vec<u32>,
    next: u32,
    next_label: u32,
}

impl Default for Blocks {
    /// The function's own block is open.
    fn default() -> Blocks {
        Blocks {
            open: vec![0],
            next: 1,
            next_label: 0,
        }
    }
}

impl Blocks {
    pub fn open(&mut self) {
        self.open.push(self.next);
        self.next += 1;
    }

    pub fn close(&mut self) {
        self.open.pop();
    }

    /// How many blocks are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    pub fn current(&self) -> u32 {
        self.open.last().copied().unwrap_or(0)
    }

    pub fn is_open(&self, block: u32) -> bool {
        self.open.contains(&block)
    }

    pub fn fresh_label(&mut self) -> Label {
        self.next_label += 1;
        Label(self.next_label - 1)
    }
}
