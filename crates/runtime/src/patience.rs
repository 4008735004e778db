//! Interruptible waits for a device that the host language can end: Ctrl-C is seen while they last, not after.

use std::cell::Cell;
use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Hooks, RunError};

/// How often the host language is asked.
const ASK: Duration = Duration::from_millis(15);
/// For so long a wait does nothing but look, and until it asks for the first time it gives way to other threads at the most. Beyond, it
/// sleeps for a small part of the time it has taken, so that no wait is half a percent longer than it need be.
const SPIN: Duration = Duration::from_micros(50);
const PART: u32 = 200;
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

thread_local! {
    static LENT: Cell<Hooks> = const { Cell::new(Hooks { interrupted: None }) };
}

/// Puts back what was lent before, also when `work` panics.
struct Back(Hooks);

impl Drop for Back {
    fn drop(&mut self) {
        LENT.set(self.0);
    }
}

/// Lends the waits inside `work`, on this thread, what the host language can be asked.
pub fn lend<T>(hooks: Hooks, work: impl FnOnce() -> T) -> T {
    let _back = Back(LENT.replace(hooks));
    work()
}

/// Can a wait of this thread be ended? If not there is no need to look first.
pub fn can_end() -> bool {
    LENT.get().interrupted.is_some()
}

/// Looks for as long as a wait does nothing else; was it done by then? For work that is nearly done that is less than to mark its end.
pub fn look_shortly(mut is_done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !is_done() {
        if start.elapsed() >= SPIN {
            return false;
        }
        hint::spin_loop();
    }
    true
}

/// Looks until something is done, asking the host language now and then; [`RunError::Interrupted`] if that wants to end the wait.
///
/// What is looked for should be the end of given work, not the idleness of a queue that others may feed for ever.
pub fn look_until(mut is_done: impl FnMut() -> bool) -> Result<(), RunError> {
    let Some(interrupted) = LENT.get().interrupted else {
        return Ok(());
    };
    let start = Instant::now();
    let mut asked = start;
    while !is_done() {
        let now = Instant::now();
        if now - asked >= ASK {
            asked = now;
            if interrupted() {
                return Err(RunError::Interrupted);
            }
        }
        match now - start {
            so_far if so_far < SPIN => hint::spin_loop(),
            so_far if so_far < ASK => thread::yield_now(),
            so_far => thread::sleep((so_far / PART).min(LONGEST_SLEEP)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hooks(interrupted: fn() -> bool) -> Hooks {
        Hooks {
            interrupted: Some(interrupted),
        }
    }

    #[test]
    fn without_a_hook_nothing_is_looked_at() {
        assert!(!can_end());
        assert_eq!(look_until(|| unreachable!()), Ok(()));
    }

    #[test]
    fn ends_when_done() {
        let end = Instant::now() + Duration::from_millis(40);
        lend(hooks(|| false), || {
            assert!(can_end());
            assert_eq!(look_until(|| Instant::now() >= end), Ok(()));
            assert!(end.elapsed() < Duration::from_millis(200));
        });
        assert!(!can_end());
    }

    #[test]
    fn a_short_look_ends() {
        let mut looks = 0;
        assert!(look_shortly(|| {
            looks += 1;
            looks == 3
        }));
        assert!(!look_shortly(|| false));
    }

    #[test]
    fn ends_when_interrupted() {
        let start = Instant::now();
        let ended = lend(hooks(|| true), || look_until(|| false));
        assert_eq!(ended, Err(RunError::Interrupted));
        assert!(start.elapsed() >= ASK);
    }
}
