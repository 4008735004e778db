//! Turns: what one thread does at a time, waiting for others meanwhile. No fork waits for it, and a forked child finds it free.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::gate::{count, watch};

/// How long a thread sleeps before it asks again.
const NAP: Duration = Duration::from_micros(50);

/// Who has it: 0 for nobody, else one more than the forks that the process of the thread has behind it. One that a parent's thread had
/// when the process was forked is nobody's here.
#[derive(Debug, Default)]
pub struct Turn(AtomicU32);

/// Has the turn until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Taken<'a> {
    turn: &'a Turn,
    mark: u32,
}

impl Turn {
    pub const fn new() -> Turn {
        Turn(AtomicU32::new(0))
    }

    /// Waits until nobody else of this process has it.
    pub fn take(&self) -> Taken<'_> {
        watch();
        loop {
            let mark = count().wrapping_add(1);
            let who = self.0.load(Ordering::Relaxed);
            if who != mark && self.0.compare_exchange(who, mark, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Taken { turn: self, mark };
            }
            thread::sleep(NAP);
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // In a child of the thread that had it, it may be somebody else's by now.
        let _ = self.turn.0.compare_exchange(self.mark, 0, Ordering::Release, Ordering::Relaxed);
    }
}
