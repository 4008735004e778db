//! Deferred errors of a stream: who waits for it, and what its kernels leave for them.
//!
//! A wait takes the mailboxes of all launches so far *before* it waits, and launches add to the list under the same lock, so that nobody
//! empties a ring that another launch may still write to. An error is read once, but more than one thread may have to know of it: those
//! that launched the kernel, and those that wait when it is found. They are *owed* it, and get it when their wait ends, or from their next.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use weft_runtime::owed::Owed;
use weft_runtime::{RunError, lock};

use crate::gpu::Gpu;
use crate::mailbox::Mailbox;

#[derive(Debug, Default)]
pub struct Waits {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Of kernels launched since the stream was last waited for.
    pending: Vec<Pending>,
    under_way: Vec<Wait>,
    /// The number of the next wait.
    next: u64,
    owed: Owed,
}

/// A mailbox that is to be read, and the threads that launched what writes to it.
#[derive(Debug)]
struct Pending {
    mailbox: Arc<Mailbox>,
    launchers: Vec<ThreadId>,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    number: u64,
    thread: ThreadId,
    /// It has taken mailboxes and has not read them yet.
    reads: bool,
}

impl Waits {
    /// Launches something that writes to mailboxes, which the next wait reads.
    pub fn launch<'a>(
        &self,
        mailboxes: impl IntoIterator<Item = &'a Arc<Mailbox>>,
        launch: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let mut state = lock(&self.state);
        launch()?;
        let me = thread::current().id();
        for mailbox in mailboxes {
            match state.pending.iter_mut().find(|known| Arc::ptr_eq(&known.mailbox, mailbox)) {
                Some(known) if known.launchers.contains(&me) => {}
                Some(known) => known.launchers.push(me),
                None => {
                    mailbox.used();
                    state.pending.push(Pending {
                        mailbox: mailbox.clone(),
                        launchers: vec![me],
                    });
                }
            }
        }
        Ok(())
    }

    /// Takes over what was left by a stream that is gone, whose kernels may still run.
    pub fn adopt(&self, other: &Waits) {
        let (pending, owed) = {
            let mut other = lock(&other.state);
            (std::mem::take(&mut other.pending), std::mem::take(&mut other.owed))
        };
        if pending.is_empty() && owed.is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        state.pending.extend(pending);
        state.owed.adopt(owed);
    }

    /// Reads what work that is done has left, while later work may go on: what that writes meanwhile stays for the next wait.
    pub fn glance(&self, gpu: &Gpu) -> Result<(), RunError> {
        let mut state = lock(&self.state);
        let mut result = Ok(());
        for i in 0..state.pending.len() {
            if let Err(error) = state.pending[i].mailbox.collect(gpu, false) {
                let launchers = state.pending[i].launchers.clone();
                state.tell(&launchers, &error);
                result = result.and(Err(error));
            }
        }
        result.and_then(|()| state.owed.take())
    }

    /// Takes the mailboxes of all launches so far.
    fn begin(&self) -> Taken<'_> {
        let mut state = lock(&self.state);
        let pending = std::mem::take(&mut state.pending);
        let wait = Wait {
            number: state.next,
            thread: thread::current().id(),
            reads: !pending.is_empty(),
        };
        state.next += 1;
        state.under_way.push(wait);
        Taken {
            waits: self,
            wait,
            pending,
        }
    }
}

impl State {
    /// The calling thread has found an error of a kernel that these launched.
    fn tell(&mut self, launchers: &[ThreadId], error: &RunError) {
        let waiting = self.under_way.iter().map(|wait| wait.thread);
        self.owed.tell(launchers.iter().copied().chain(waiting), error);
    }
}

/// What a wait under way has taken.
struct Taken<'a> {
    waits: &'a Waits,
    wait: Wait,
    pending: Vec<Pending>,
}

impl Taken<'_> {
    /// Reads the mailboxes, if their kernels are done; else they are left for the next wait.
    fn read(&mut self, gpu: &Gpu, are_done: bool) -> Result<(), RunError> {
        let pending = std::mem::take(&mut self.pending);
        let mut found = Vec::new();
        let mut left = Vec::new();
        if are_done {
            for one in pending {
                if let Err(error) = one.mailbox.collect(gpu, true) {
                    found.push((one.launchers, error));
                }
            }
        } else {
            left = pending;
        }
        let mut state = lock(&self.waits.state);
        state.pending.extend(left);
        // It is still under way, so that it hears of what earlier waits are about to find.
        let mine = state.under_way.iter_mut().find(|wait| wait.number == self.wait.number);
        mine.into_iter().for_each(|wait| wait.reads = false);
        for (launchers, error) in &found {
            state.tell(launchers, error);
        }
        drop(state);
        self.waits.changed.notify_all();
        found.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Lets waits that began earlier read what they have taken, and gives what they found that concerns this thread.
    fn settle(self) -> Result<(), RunError> {
        let mut state = lock(&self.waits.state);
        while state.under_way.iter().any(|wait| wait.reads && wait.number < self.wait.number) {
            state = self.waits.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.under_way.retain(|wait| wait.number != self.wait.number);
        state.owed.take()
    }
}

/// Does something that waits for all work so far of some streams, then takes what kernels left; the first error is returned.
pub fn over(gpu: &Gpu, all: &[&Waits], wait: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
    let mut taken: Vec<Taken<'_>> = all.iter().map(|waits| waits.begin()).collect();
    let mut result = wait();
    let are_done = result.is_ok();
    // All are read before any other wait is waited for: two that wait for several streams would else wait for each other.
    for one in &mut taken {
        result = result.and(one.read(gpu, are_done));
    }
    for one in taken {
        result = result.and(one.settle());
    }
    result
}
