//! The gate between forks and threads that are making something.

#![cfg_attr(unix, allow(unsafe_code))]

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Forks between the process that began to watch and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// Threads that hold the gate.
static HOLDERS: AtomicU32 = AtomicU32::new(0);
/// Is a fork waiting for them, or under way?
static FORKING: AtomicBool = AtomicBool::new(false);

/// How long a side of the gate sleeps before it looks again.
const NAP: Duration = Duration::from_micros(50);

thread_local! {
    /// How many holders of this thread there are.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Does the gate stand closed for a fork of this thread?
    static CLOSED: Cell<bool> = const { Cell::new(false) };
}

/// While there is one, no fork happens. A thread may have several.
#[derive(Debug)]
#[must_use]
pub struct Holder {
    /// It counts for its thread.
    _here: PhantomData<*const ()>,
}

/// Keeps forks away until the result is dropped; waits for one that is under way.
pub fn hold() -> Holder {
    held_by(enter)
}

/// The same for a thread that does something for a holder, who waits for it: it does not wait at the gate, where a fork waits for them both.
pub fn hold_along() -> Holder {
    held_by(|| {
        HOLDERS.fetch_add(1, Ordering::SeqCst);
    })
}

/// A holder of this thread, which is counted so if it is the first.
fn held_by(enter: impl FnOnce()) -> Holder {
    let seen = watch();
    let depth = DEPTH.get();
    // First, for a signal handler that forks: a holder's fork waits for nobody.
    DEPTH.set(depth + 1);
    if depth == 0 {
        enter();
        own_alone(seen, 1);
    }
    Holder { _here: PhantomData }
}

/// A signal handler may have forked between a thread's two counts: in the child, which has no other threads, this is how many hold.
fn own_alone(seen: u32, holders: u32) {
    if count() != seen {
        HOLDERS.store(holders, Ordering::SeqCst);
    }
}

/// Either this thread sees that a fork is coming, or the fork sees this thread: each writes before it reads, in one order for all.
fn enter() {
    loop {
        HOLDERS.fetch_add(1, Ordering::SeqCst);
        if !FORKING.load(Ordering::SeqCst) {
            return;
        }
        HOLDERS.fetch_sub(1, Ordering::SeqCst);
        while FORKING.load(Ordering::SeqCst) {
            thread::sleep(NAP);
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let (seen, depth) = (count(), DEPTH.get() - 1);
        if depth == 0 {
            HOLDERS.fetch_sub(1, Ordering::SeqCst);
        }
        DEPTH.set(depth);
        if depth == 0 {
            own_alone(seen, 0);
        }
    }
}

/// Watches for forks from now on. A later [`count`] is the result, unless the process was forked.
pub fn watch() -> u32 {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handlers use atomics, sleep, and a thread-local number that needs no destructor.
            unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
        });
    }
    count()
}

#[inline]
pub fn count() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Of two threads that fork at once the second waits until the first has done so. A holder that forks (a driver may, while it is started)
/// waits for nobody: others may be waiting for what it makes, as holders.
#[cfg(unix)]
extern "C" fn before() {
    if DEPTH.get() > 0 {
        return;
    }
    while FORKING.swap(true, Ordering::SeqCst) {
        thread::sleep(NAP);
    }
    CLOSED.set(true);
    while HOLDERS.load(Ordering::SeqCst) > 0 {
        thread::sleep(NAP);
    }
}

#[cfg(unix)]
extern "C" fn in_parent() {
    if CLOSED.replace(false) {
        FORKING.store(false, Ordering::SeqCst);
    }
}

/// Other threads, those that wait at the gate too, do not exist here.
#[cfg(unix)]
extern "C" fn in_child() {
    CLOSED.set(false);
    HOLDERS.store(u32::from(DEPTH.get() > 0), Ordering::SeqCst);
    FORKS.fetch_add(1, Ordering::Relaxed);
    FORKING.store(false, Ordering::SeqCst);
}
