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
    watch();
    let depth = DEPTH.get();
    if depth == 0 {
        enter();
    }
    DEPTH.set(depth + 1);
    Holder { _here: PhantomData }
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
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            HOLDERS.fetch_sub(1, Ordering::SeqCst);
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

/// Of two threads that fork at once the second waits until the first has done so.
#[cfg(unix)]
extern "C" fn before() {
    while FORKING.swap(true, Ordering::SeqCst) {
        thread::sleep(NAP);
    }
    let own = u32::from(DEPTH.get() > 0);
    while HOLDERS.load(Ordering::SeqCst) > own {
        thread::sleep(NAP);
    }
}

#[cfg(unix)]
extern "C" fn in_parent() {
    FORKING.store(false, Ordering::SeqCst);
}

/// Threads that were about to enter have counted themselves, perhaps; they do not exist here.
#[cfg(unix)]
extern "C" fn in_child() {
    HOLDERS.store(u32::from(DEPTH.get() > 0), Ordering::SeqCst);
    FORKS.fetch_add(1, Ordering::Relaxed);
    FORKING.store(false, Ordering::SeqCst);
}
