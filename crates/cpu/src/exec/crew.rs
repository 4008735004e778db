//! Work stealing: spreads a range of units (blocks, rows, points) over the calling thread and the pool.
//!
//! Every thread owns an equal share of the range and takes chunks from its front; a thread whose share is used up takes chunks from
//! others. A helper that comes late finds the launch closed and goes away, so a launch never waits for threads busy elsewhere.

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::pool::{POLL, Pool};

const CLOSED: usize = 1 << (usize::BITS - 1);

/// What is to be done for a chunk of units, on any thread.
pub trait Work: Sync {
    /// Does `chunk`; false ends the launch.
    fn run(&self, chunk: Range<u64>) -> bool;

    /// Asked now and then on the calling thread; true ends the launch.
    fn interrupted(&self) -> bool;
}

/// How a launch is cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    pub units: u64,
    /// Bounds on the units of a chunk, by what they are thought to cost.
    pub least: u64,
    pub most: u64,
    /// Nanoseconds of a chunk, by what they turn out to cost.
    pub longest: f64,
}

/// One thread's part of the range. On a cache line of its own.
#[repr(align(128))]
struct Share {
    next: AtomicU64,
    end: u64,
}

struct Crew {
    /// Valid while the crew is open or has helpers inside.
    work: *const (dyn Work + 'static),
    cut: Cut,
    shares: Vec<Share>,
    stop: AtomicBool,
    /// Helpers inside, and `CLOSED`.
    inside: AtomicUsize,
    /// Helpers that may still be called.
    wanted: AtomicUsize,
    caller: Thread,
}

// SAFETY: `work` is `Sync`, and is dereferenced only by threads that the caller waits for (see `help`).
unsafe impl Send for Crew {}
// SAFETY: as above.
unsafe impl Sync for Crew {}

/// Runs `work` over `0..cut.units` on the calling thread and the pool's; returns when all is done or stopped: how long the calling
/// thread worked, and on how many units.
pub fn run(pool: &'static Pool, cut: Cut, work: &dyn Work) -> (Duration, u64) {
    let helpers = pool
        .helpers()
        .min(usize::try_from(cut.units.saturating_sub(1)).unwrap_or(usize::MAX));
    // SAFETY: only the lifetime changes; `Open` below keeps `work` borrowed until no helper can reach it.
    let work = unsafe { std::mem::transmute::<*const (dyn Work + '_), *const (dyn Work + 'static)>(work) };
    let crew = Arc::new(Crew {
        work,
        cut,
        shares: shares(cut.units, pool.helpers() as u64 + 1),
        stop: AtomicBool::new(false),
        inside: AtomicUsize::new(0),
        wanted: AtomicUsize::new(helpers),
        caller: thread::current(),
    });
    // Also if the work panics: no helper may reach it then.
    let open = Open(&crew);
    crew.recruit(pool);
    let position = pool.position().unwrap_or(pool.helpers());
    let start = Instant::now();
    let units = crew.take_chunks(position, true);
    let took = start.elapsed();
    drop(open);
    (took, units)
}

/// A crew that takes in helpers until this is dropped.
struct Open<'a>(&'a Crew);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

fn shares(units: u64, threads: u64) -> Vec<Share> {
    let bound = |i: u64| (u128::from(units) * u128::from(i) / u128::from(threads)) as u64;
    (0..threads)
        .map(|i| Share {
            next: AtomicU64::new(bound(i)),
            end: bound(i + 1),
        })
        .collect()
}

impl Crew {
    /// Wakes two helpers, who wake two each: waking takes microseconds, which the calling thread has better use for.
    fn recruit(self: &Arc<Crew>, pool: &'static Pool) {
        for _ in 0..2 {
            let take_one = |wanted: usize| wanted.checked_sub(1);
            if self.wanted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_one).is_err() {
                return;
            }
            let crew = self.clone();
            pool.spawn(move || crew.help(pool));
        }
    }

    /// What a pool thread does for a crew: nothing if the launch is over.
    fn help(self: &Arc<Crew>, pool: &'static Pool) {
        if self.inside.fetch_add(1, Ordering::Acquire) & CLOSED == 0 {
            self.recruit(pool);
            self.take_chunks(pool.position().unwrap_or(0), false);
        }
        let before = self.inside.fetch_sub(1, Ordering::Release);
        if before == CLOSED + 1 {
            self.caller.unpark();
        }
    }

    fn work(&self) -> &dyn Work {
        // SAFETY: the caller is inside `run`, or this helper is counted in `inside`, for which `finish` waits before `run` returns.
        unsafe { &*self.work }
    }

    fn take_chunks(&self, position: usize, polls: bool) -> u64 {
        let mut units = 0;
        let mut asked = Instant::now();
        let mut limit = self.cut.least;
        for turn in 0..self.shares.len() {
            let share = &self.shares[(position + turn) % self.shares.len()];
            while let Some(chunk) = self.claim(share, limit) {
                if self.stop.load(Ordering::Relaxed) {
                    return units;
                }
                let (size, begun) = (chunk.end - chunk.start, Instant::now());
                units += size;
                if !self.work().run(chunk) {
                    self.stop.store(true, Ordering::Relaxed);
                    return units;
                }
                let each = begun.elapsed().as_secs_f64() * 1e9 / size as f64;
                limit = ((self.cut.longest / each.max(1e-3)) as u64).max(1);
                if polls && asked.elapsed() > POLL {
                    self.poll();
                    asked = Instant::now();
                }
            }
        }
        units
    }

    /// The next chunk of a share: large ones first, smaller towards the end, where threads wait for each other.
    fn claim(&self, share: &Share, limit: u64) -> Option<Range<u64>> {
        let mut next = share.next.load(Ordering::Relaxed);
        while next < share.end {
            let left = share.end - next;
            let size = (left / 4).clamp(self.cut.least, self.cut.most).min(limit).min(left);
            match share
                .next
                .compare_exchange_weak(next, next + size, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Some(next..next + size),
                Err(now) => next = now,
            }
        }
        None
    }

    fn poll(&self) {
        if self.work().interrupted() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Lets no more helpers in and waits for those inside.
    fn finish(&self) {
        let mut inside = self.inside.fetch_or(CLOSED, Ordering::Acquire) & !CLOSED;
        let mut rounds = 0u32;
        while inside != 0 {
            // Chunks are short as a rule: look for a while before going to sleep.
            if rounds < 2000 {
                rounds += 1;
                std::hint::spin_loop();
            } else {
                thread::park_timeout(POLL);
                self.poll();
            }
            inside = self.inside.load(Ordering::Acquire) & !CLOSED;
        }
    }
}
