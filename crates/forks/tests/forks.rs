//! Forks while other threads make values and hold locks: the child finds everything made and open.

#![cfg(unix)]
#![allow(unsafe_code, clippy::unwrap_used, clippy::panic)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weft_forks::{Mutex, Once, Turn, count, hold, watch};

/// Forks, runs `job` in the child, and gives what it gave, unless the child takes too long.
fn in_child(job: impl FnOnce() -> u8) -> Option<i32> {
    // SAFETY: the child runs `job`, which needs no other thread, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = job();
        // SAFETY: ends the child without running what the test harness left to be done.
        unsafe { libc::_exit(code.into()) };
    }
    let end = Instant::now() + Duration::from_secs(20);
    let mut status = 0;
    while Instant::now() < end {
        // SAFETY: the child is this thread's, the status its own variable.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            return Some(libc::WEXITSTATUS(status));
        }
        thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: as above.
    unsafe { libc::kill(child, libc::SIGKILL) };
    // SAFETY: as above.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    None
}

/// A holder that forks waits neither for those that wait for it, nor for another holder that forks.
fn forks_of_holders() {
    let (one, locked) = (Once::new(), Mutex::new(0));
    thread::scope(|scope| {
        let make = || {
            one.get_or_init(|| {
                thread::sleep(Duration::from_millis(20));
                in_child(|| 5)
            })
        };
        let both = [scope.spawn(make), scope.spawn(make)];
        for made in both {
            assert_eq!(*made.join().unwrap(), Some(5));
        }
        let fork_locked = || {
            let _locked = locked.lock();
            thread::sleep(Duration::from_millis(5));
            assert_eq!(in_child(|| 6), Some(6));
        };
        let fork_holding = || {
            let _holder = hold();
            thread::sleep(Duration::from_millis(5));
            assert_eq!(in_child(|| 7), Some(7));
        };
        scope.spawn(fork_locked);
        scope.spawn(fork_locked);
        scope.spawn(fork_holding);
        scope.spawn(fork_holding);
    });
}

/// One test: forks are of the whole process, and each of these waits for the holders of the others.
#[test]
fn a_child_finds_nothing_half_made() {
    let before = watch();
    assert_eq!(
        in_child(move || (count() - before) as u8),
        Some(1),
        "the child counts one more fork"
    );
    assert_eq!(count(), before, "the parent does not");

    let own = hold();
    let twice = || {
        drop(hold());
        7
    };
    assert_eq!(in_child(twice), Some(7), "a holder may fork, and hold again in the child");
    drop(own);

    forks_of_holders();

    let (made, locked, over) = (Once::new(), Mutex::new(0), AtomicBool::new(false));
    for round in 0..20 {
        let one = Once::new();
        thread::scope(|scope| {
            let make = || {
                one.get_or_init(|| {
                    thread::sleep(Duration::from_millis(5));
                    round
                })
            };
            scope.spawn(make);
            scope.spawn(make);
            thread::sleep(Duration::from_millis(1));
            assert_eq!(in_child(|| *make()), Some(i32::from(round)), "the value is made, or to be made");
        });
    }
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let mut locked = locked.lock();
                    *locked += 1;
                    thread::sleep(Duration::from_micros(100));
                    *locked -= 1;
                }
            });
        }
        for round in 0..50 {
            let seen = in_child(|| {
                made.get_or_init(|| round);
                *locked.lock()
            });
            assert_eq!(seen, Some(0), "the lock is open, and what it guards whole");
        }
        over.store(true, Ordering::Relaxed);
    });
}

/// No fork waits for who has a turn, and the child's own threads take turns as its parent's do.
#[test]
fn a_turn_is_free_in_a_child() {
    let turn = Turn::new();
    let (had, done) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _taken = turn.take();
            had.store(true, Ordering::SeqCst);
            while !done.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
        });
        while !had.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        let child = in_child(|| {
            drop(turn.take());
            drop(turn.take());
            8
        });
        done.store(true, Ordering::SeqCst);
        assert_eq!(child, Some(8));
    });
    let most = std::sync::atomic::AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let _taken = turn.take();
                    assert_eq!(most.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                    thread::yield_now();
                    most.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
}
