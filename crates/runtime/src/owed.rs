//! Deferred errors of kernels, which more than one thread has to know of: those that launched the kernel, and those that wait when it is
//! found. One finds it; the others are owed it.

use std::thread::{self, ThreadId};

use crate::RunError;

/// Errors owed to threads that never wait are forgotten beyond this number, the oldest first.
const MOST: usize = 64;

/// At most one error a thread.
#[derive(Debug, Default)]
pub struct Owed(Vec<(ThreadId, RunError)>);

impl Owed {
    /// These threads are owed an error that the calling thread has found, but for itself.
    pub fn tell(&mut self, threads: impl IntoIterator<Item = ThreadId>, error: &RunError) {
        let me = thread::current().id();
        for thread in threads.into_iter().filter(|thread| *thread != me) {
            self.owe(thread, error);
        }
    }

    fn owe(&mut self, thread: ThreadId, error: &RunError) {
        if self.0.iter().any(|(known, _)| *known == thread) {
            return;
        }
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push((thread, error.clone()));
    }

    /// What the calling thread is owed.
    pub fn take(&mut self) -> Result<(), RunError> {
        let me = thread::current().id();
        match self.0.iter().position(|(known, _)| *known == me) {
            Some(at) => Err(self.0.remove(at).1),
            None => Ok(()),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes over what another list has.
    pub fn adopt(&mut self, other: Owed) {
        for (thread, error) in other.0 {
            self.owe(thread, &error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(n: usize) -> RunError {
        RunError::Invalid(n.to_string())
    }

    fn another() -> ThreadId {
        thread::spawn(|| thread::current().id())
            .join()
            .unwrap_or_else(|_| unreachable!("it only names itself"))
    }

    #[test]
    fn the_finder_is_owed_nothing_and_others_their_first_error_once() {
        let me = thread::current().id();
        let mut owed = Owed::default();
        owed.tell([me], &error(0));
        assert!(owed.is_empty());
        let mut owed = thread::scope(|scope| {
            let found = scope.spawn(move || {
                owed.tell([me, thread::current().id()], &error(1));
                owed.tell([me], &error(2));
                owed
            });
            found.join().unwrap_or_default()
        });
        assert_eq!(owed.take(), Err(error(1)));
        assert_eq!(owed.take(), Ok(()));
        assert!(owed.is_empty());
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_are_many() {
        let (me, mut owed) = (thread::current().id(), Owed::default());
        owed.owe(me, &error(0));
        (1..MOST).for_each(|n| owed.tell([another()], &error(n)));
        let mut adopted = Owed::default();
        adopted.adopt(owed);
        assert_eq!(adopted.0.len(), MOST);
        adopted.tell([another()], &error(MOST));
        assert_eq!(adopted.0.len(), MOST);
        assert_eq!(adopted.take(), Ok(()));
    }
}
