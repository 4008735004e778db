//! Errors of kernels that more than one thread has to know of: those that launched the kernel, and those that wait when it is found. One
//! finds it; the others are owed it, and get it when their wait ends, or from their next.

use std::sync::PoisonError;
use std::thread::{self, ThreadId};

use smallvec::SmallVec;
use weft_runtime::RunError;

use crate::live::Live;

/// Errors owed to threads that never wait are forgotten beyond this number, the oldest first.
const MOST_OWED: usize = 64;

/// Threads that launched a kernel since its mailbox was last looked at.
pub type Launchers = SmallVec<[ThreadId; 2]>;

/// A wait of the calling thread, until it is dropped.
#[derive(Debug)]
pub struct Waiting<'a>(&'a Live);

impl Live {
    pub fn begin_wait(&self) -> Waiting<'_> {
        self.state().owed.waiting.push(thread::current().id());
        Waiting(self)
    }
}

impl Waiting<'_> {
    /// The error of a kernel that another thread has found and this one has to know of.
    pub fn end(self) -> Result<(), RunError> {
        let mut state = self.0.state();
        let before = state.owed.next;
        while state.owed.reads.iter().any(|&read| read < before) {
            state = self.0.told.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.owed.take()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let me = thread::current().id();
        let waiting = &mut self.0.state().owed.waiting;
        if let Some(at) = waiting.iter().position(|known| *known == me) {
            waiting.swap_remove(at);
        }
    }
}

#[derive(Debug, Default)]
pub struct Owed {
    waiting: Vec<ThreadId>,
    errors: Vec<(ThreadId, RunError)>,
    /// Mailboxes were taken to be read, and were not read yet.
    reads: Vec<u64>,
    next: u64,
}

impl Owed {
    /// Somebody takes mailboxes, and has read them.
    pub fn begin_read(&mut self) -> u64 {
        self.next += 1;
        self.reads.push(self.next - 1);
        self.next - 1
    }

    pub fn end_read(&mut self, number: u64) {
        self.reads.retain(|&read| read != number);
    }

    /// What the calling thread is owed.
    fn take(&mut self) -> Result<(), RunError> {
        let me = thread::current().id();
        match self.errors.iter().position(|(known, _)| *known == me) {
            Some(at) => Err(self.errors.remove(at).1),
            None => Ok(()),
        }
    }

    /// The calling thread has found an error.
    pub fn tell(&mut self, launchers: &Launchers, error: &RunError) {
        let me = thread::current().id();
        let others = launchers.iter().chain(&self.waiting).copied().filter(|thread| *thread != me);
        for thread in others {
            if self.errors.iter().any(|(known, _)| *known == thread) {
                continue;
            }
            if self.errors.len() >= MOST_OWED {
                self.errors.remove(0);
            }
            self.errors.push((thread, error.clone()));
        }
    }
}
