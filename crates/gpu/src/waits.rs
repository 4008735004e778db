//! Deferred errors of a device: who waits for it, and the errors of its kernels that others have found: a thread is owed them, and gets
//! them when its wait ends, or from its next.

use std::sync::PoisonError;
use std::thread::{self, ThreadId};

use smallvec::SmallVec;
use weft_runtime::RunError;
use weft_runtime::owed::Owed;

use crate::live::Live;

/// Threads that launched a kernel since its mailbox was last looked at.
pub type Launchers = SmallVec<[ThreadId; 2]>;

/// A wait of the calling thread, until it is dropped.
#[derive(Debug)]
pub struct Waiting<'a>(&'a Live);

impl Live {
    pub fn begin_wait(&self) -> Waiting<'_> {
        self.state().waits.waiting.push(thread::current().id());
        Waiting(self)
    }
}

impl Waiting<'_> {
    /// The error of a kernel that another thread has found and this one has to know of.
    pub fn end(self) -> Result<(), RunError> {
        let mut state = self.0.state();
        let before = state.waits.next;
        while state.waits.reads.iter().any(|&read| read < before) {
            state = self.0.told.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waits.owed.take()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let me = thread::current().id();
        let waiting = &mut self.0.state().waits.waiting;
        if let Some(at) = waiting.iter().position(|known| *known == me) {
            waiting.swap_remove(at);
        }
    }
}

#[derive(Debug, Default)]
pub struct Waits {
    waiting: Vec<ThreadId>,
    owed: Owed,
    /// Mailboxes were taken to be read, and were not read yet.
    reads: Vec<u64>,
    next: u64,
}

impl Waits {
    /// Somebody takes mailboxes, and has read them.
    pub fn begin_read(&mut self) -> u64 {
        self.next += 1;
        self.reads.push(self.next - 1);
        self.next - 1
    }

    pub fn end_read(&mut self, number: u64) {
        self.reads.retain(|&read| read != number);
    }

    /// The calling thread has found an error of a kernel that these launched.
    pub fn tell(&mut self, launchers: &Launchers, error: &RunError) {
        self.owed.tell(launchers.iter().chain(&self.waiting).copied(), error);
    }
}
