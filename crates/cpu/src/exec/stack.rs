//! Stack limits: how far down the current thread's stack frames may go, for functions that call themselves.

#![allow(unsafe_code)]

use std::cell::Cell;

/// Left for what compiled code calls: launches, and Python's handlers of signals.
const RESERVE: usize = 512 << 10;
/// Threads with less than this, and than so many large frames, run such functions elsewhere.
const ROOM: usize = 2 << 20;
const FRAMES: usize = 8;

thread_local! {
    /// The lowest address of the thread's stack, once it is known; 0 before, and `usize::MAX` where the system does not say.
    static BOTTOM: Cell<usize> = const { Cell::new(0) };
    /// That of the stack that the thread was put on last, or 0. Asked for only when code starts there.
    static OTHER: Cell<usize> = const { Cell::new(0) };
}

/// Runs a job that goes on on another stack than the thread's own, which ends at an address, until it comes back.
pub fn on_other<R>(bottom: usize, job: impl FnOnce() -> R) -> R {
    let own = OTHER.replace(bottom);
    let result = job();
    OTHER.set(own);
    result
}

/// The lowest address that a frame may have on this thread, or on the other stack that it is on.
pub fn lowest() -> usize {
    let other = Some(OTHER.get()).filter(|other| *other != 0);
    match other.or_else(bottom) {
        Some(bottom) => bottom + RESERVE,
        // Some of what every thread has.
        None => here().saturating_sub(128 << 10),
    }
}

/// What functions that call themselves are to have, with frames so large.
pub fn room(frame: usize) -> usize {
    ROOM.saturating_add(frame.saturating_mul(FRAMES))
}

/// Is enough left of this thread's stack to call functions that call themselves, with frames so large?
pub fn has_room(frame: usize) -> bool {
    bottom().is_some_and(|bottom| here().saturating_sub(bottom) >= room(frame))
}

#[inline(never)]
fn here() -> usize {
    let on_stack = 0u8;
    std::ptr::from_ref(&on_stack).addr()
}

fn bottom() -> Option<usize> {
    let mut known = BOTTOM.get();
    if known == 0 {
        known = ask().unwrap_or(usize::MAX);
        BOTTOM.set(known);
    }
    (known != usize::MAX).then_some(known)
}

#[cfg(target_os = "linux")]
fn ask() -> Option<usize> {
    // SAFETY: the attributes are made by the first call, read by the second and ended by the third, all of this thread.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return None;
        }
        let (mut bottom, mut size) = (std::ptr::null_mut(), 0);
        let failed = libc::pthread_attr_getstack(&attributes, &mut bottom, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
        (failed == 0).then(|| bottom.addr())
    }
}

#[cfg(target_os = "macos")]
fn ask() -> Option<usize> {
    // SAFETY: both ask about the calling thread only.
    let (top, size) = unsafe {
        let me = libc::pthread_self();
        (libc::pthread_get_stackaddr_np(me).addr(), libc::pthread_get_stacksize_np(me))
    };
    top.checked_sub(size)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn ask() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system may give a thread the stack of one that ended: glibc's are up to four times as large as was asked for.
    #[test]
    fn a_thread_knows_its_stack() {
        for bytes in [1 << 20, 8 << 20] {
            let thread = std::thread::Builder::new()
                .stack_size(bytes)
                .spawn(|| (has_room(0), here().saturating_sub(lowest())));
            let (room, left) = thread.unwrap().join().unwrap();
            assert_eq!(room, left + RESERVE >= ROOM, "{left}");
            assert!(left < 4 * bytes && left > bytes.saturating_sub(2 * RESERVE), "{left} of {bytes}");
        }
    }
}
