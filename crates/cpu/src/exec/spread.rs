//! Scheduling: decides whether a launch is worth waking threads for, from what earlier launches cost.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use super::crew::Work;
use super::crew::{self, Cut};
use super::pool;

/// A launch predicted to take less stays on the calling thread: waking threads takes about this long.
const WORTH_SPREADING: f64 = 20_000.0;
/// Chunks are at least this long, so that claiming them costs nothing, and at most this long, so that a launch can be stopped.
const LEAST_CHUNK: f64 = 20_000.0;
const MOST_CHUNK: f64 = 4_000_000.0;

/// Items of the first chunk of a launch whose cost is not known.
const FIRST_ITEMS: u64 = 256;

/// Short items are given out by so many, so that chunks start where the arrays' cache lines do if the arrays do, and are whole gangs.
const BUNDLE: u64 = 64;
/// In launches of at least so many: fewer are better divided evenly.
const BUNDLED_ITEMS: u64 = 1 << 14;

/// What a launch is to do.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    pub count: u64,
    /// Items of each.
    pub items: u64,
    /// Items to learn from what they cost. Fewer than usual: each may take long by itself, and not the same from launch to launch.
    pub look: u64,
}

impl Units {
    /// `count` units of `items` short items each.
    pub fn new(count: u64, items: u64) -> Units {
        let look = FIRST_ITEMS;
        Units { count, items, look }
    }
}

/// A moving estimate of nanoseconds per item (thread of a kernel, point of a loop). The last bits of the number, far below what is known of it,
/// count launches.
#[derive(Debug, Default)]
pub struct Cost(AtomicU64);

const COUNT: u64 = 15;

impl Cost {
    pub(super) fn get(&self) -> Option<f64> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            bits => Some(f64::from_bits(bits)),
        }
    }

    fn learn(&self, nanoseconds: f64) {
        let mixed = self.get().map_or(nanoseconds, |old| 0.5 * (old + nanoseconds));
        self.0.store(mixed.max(1e-6).to_bits() & !COUNT | 1, Ordering::Relaxed);
    }

    /// Whether a launch known to be short runs without being timed, as fifteen of sixteen do: two looks at the clock cost as much as a loop over
    /// some hundred elements.
    fn is_trusted(&self) -> bool {
        let bits = self.0.load(Ordering::Relaxed);
        self.0.store(bits & !COUNT | (bits + 1) & COUNT, Ordering::Relaxed);
        bits & COUNT != 0
    }
}

/// The costs of the loops that compiled code launches, by the address of their code. Two loops that share an entry only mislead
/// each other's estimate.
pub fn cost_at(address: usize) -> &'static Cost {
    static COSTS: [Cost; 256] = [const { Cost(AtomicU64::new(0)) }; 256];
    &COSTS[(address >> 4) % COSTS.len()]
}

thread_local! {
    /// This thread does a share of something, beside others that do theirs.
    static SHARES: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread does a share of something.
pub fn is_sharing() -> bool {
    SHARES.get()
}

/// Does `work` for all units on all threads; false of it ends that. Launches from within stay on the thread that makes them.
pub fn share(units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
    if SHARES.get() {
        work(0..units);
        return;
    }
    let cut = Cut {
        units,
        longest: MOST_CHUNK,
        least: 1,
        most: units,
    };
    // What helpers make and lock must be whole in a forked child, too; they hold along.
    let _held = weft_forks::hold();
    crew::run(pool::current(), cut, &Shared { work });
}

/// While there is one this thread does a share.
struct Sharing {
    before: bool,
}

impl Sharing {
    fn begin() -> Sharing {
        Sharing {
            before: SHARES.replace(true),
        }
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        SHARES.set(self.before);
    }
}

struct Shared<'a> {
    work: &'a (dyn Fn(Range<u64>) -> bool + Sync),
}

impl Work for Shared<'_> {
    fn run(&self, chunk: Range<u64>) -> bool {
        let _held = weft_forks::hold_along();
        let _sharing = Sharing::begin();
        (self.work)(chunk)
    }

    fn interrupted(&self) -> bool {
        false
    }
}

/// Runs units on as many threads as pay.
pub fn run(cost: &Cost, of: Units, work: &dyn Work) {
    if SHARES.get() {
        return alone(of, work);
    }
    let units = of.count;
    if units <= 1 {
        if units == 1 {
            work.run(0..1);
        }
        return;
    }
    let steady = of.look >= FIRST_ITEMS;
    if steady && of.items <= 1 && units >= BUNDLED_ITEMS {
        let (count, items) = (units.div_ceil(BUNDLE), BUNDLE);
        return run(cost, Units { count, items, ..of }, &Bundles { units, work });
    }
    let items = of.items.max(1) as f64;
    let first = chunk_units(of.look.min(FIRST_ITEMS) as f64, items);
    let mut each = cost.get().filter(|_| steady).map(|known| known * items);
    if each.is_some_and(|each| each * units as f64 <= 0.5 * WORTH_SPREADING) && cost.is_trusted() {
        work.run(0..units);
        return;
    }
    let mut done = 0;
    let start = Instant::now();
    while done < units {
        let left = units - done;
        if each.is_some_and(|each| each * left as f64 > WORTH_SPREADING) {
            return spread(cost, done..units, items, each.unwrap_or(1.0), work);
        }
        // Unknown: a few gangs, to learn what they cost. Known to be short: most likely all of it.
        let slice = each.map_or(first, |each| chunk_units(WORTH_SPREADING, each)).min(left);
        if !work.run(done..done + slice) {
            return;
        }
        done += slice;
        each = Some(nanoseconds(start.elapsed()) / done as f64);
    }
    if let Some(each) = each {
        cost.learn(each / items);
    }
}

/// Runs all units on the calling thread, asking now and then whether to stop.
pub fn alone(of: Units, work: &dyn Work) {
    let units = of.count;
    let mut done = 0;
    let mut slice = chunk_units(of.look.min(FIRST_ITEMS) as f64, of.items.max(1) as f64);
    while done < units {
        let start = Instant::now();
        let end = units.min(done + slice);
        if !work.run(done..end) {
            return;
        }
        done = end;
        // Grow towards slices of a few milliseconds.
        if nanoseconds(start.elapsed()) < MOST_CHUNK {
            slice *= 2;
        } else if work.interrupted() {
            return;
        }
    }
}

fn spread(cost: &Cost, units: Range<u64>, items: f64, each: f64, work: &dyn Work) {
    let cut = Cut {
        units: units.end - units.start,
        longest: MOST_CHUNK,
        least: chunk_units(LEAST_CHUNK, each),
        most: chunk_units(MOST_CHUNK, each),
    };
    let shifted = Shifted { start: units.start, work };
    let (took, count) = crew::run(pool::current(), cut, &shifted);
    if count > 0 {
        cost.learn(nanoseconds(took) / count as f64 / items);
    }
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// How many units fill a time; at least one.
fn chunk_units(time: f64, each: f64) -> u64 {
    (time / each.max(1e-3)).clamp(1.0, 1e18) as u64
}

/// Units in bundles.
struct Bundles<'a> {
    units: u64,
    work: &'a dyn Work,
}

impl Work for Bundles<'_> {
    fn run(&self, chunk: Range<u64>) -> bool {
        self.work.run(chunk.start * BUNDLE..self.units.min(chunk.end * BUNDLE))
    }

    fn interrupted(&self) -> bool {
        self.work.interrupted()
    }
}

struct Shifted<'a> {
    start: u64,
    work: &'a dyn Work,
}

impl Work for Shifted<'_> {
    fn run(&self, chunk: Range<u64>) -> bool {
        self.work.run(chunk.start + self.start..chunk.end + self.start)
    }

    fn interrupted(&self) -> bool {
        self.work.interrupted()
    }
}
