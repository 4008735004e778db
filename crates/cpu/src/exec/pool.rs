//! The thread pool: the threads that help the calling thread, how many there are, and what a fork does to them.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use weft_forks::{Mutex, Once};

/// Shared, local and context arrays of a block live on the stack.
pub const STACK_BYTES: usize = 16 << 20;

/// How often a calling thread that waits asks whether to stop.
pub const POLL: Duration = Duration::from_millis(15);

/// Threads a launch may use, the calling one among them.
pub const MOST_THREADS: usize = 1024;

/// How many there are at the start, where somebody wishes.
const WISH: &str = "WEFT_NUM_THREADS";

/// A pool of one size; it lives as long as the process, asleep when not in use.
#[derive(Debug)]
pub struct Pool {
    /// `None` when the calling thread is all there is.
    helpers: Option<ThreadPool>,
    /// A pool of all threads, the calling one left out, for work that is given to rayon as a whole; made at its first use.
    whole: Once<Option<ThreadPool>>,
    threads: usize,
    /// Its process: a forked child has none of its threads.
    forks: u32,
}

/// The pool in use; null before the first launch.
static CURRENT: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());
/// What `set_num_threads` asked for; 0 if nobody did.
static WANTED: AtomicUsize = AtomicUsize::new(0);
/// Pools made so far, so that going back to a size finds its threads.
static MADE: Mutex<Vec<&'static Pool>> = Mutex::new(Vec::new());

/// Threads a launch may use, the calling one among them.
pub fn num_threads() -> usize {
    match WANTED.load(Ordering::Relaxed) {
        0 => default_threads(),
        wanted => wanted,
    }
}

/// Sets how many threads later launches may use; 0 restores the default, see `WISH`, else the number of cores.
pub fn set_num_threads(threads: usize) {
    WANTED.store(threads.min(MOST_THREADS), Ordering::Relaxed);
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
}

fn default_threads() -> usize {
    match wish() {
        Ok(Some(threads)) => threads,
        _ => thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS),
    }
}

/// The number of threads that the environment asks for; the error says what is wrong with it.
fn wish() -> Result<Option<usize>, String> {
    let Some(text) = std::env::var_os(WISH).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let threads = text.to_str().and_then(|text| text.trim().parse::<usize>().ok());
    match threads {
        Some(threads) if (1..=MOST_THREADS).contains(&threads) => Ok(Some(threads)),
        _ => Err(format!("{WISH} is {text:?}; it must be a number between 1 and {MOST_THREADS}")),
    }
}

/// Whether the environment asks for something that cannot be.
pub fn check_environment() -> Result<(), String> {
    wish().map(|_| ())
}

/// The pool in use, made if need be.
pub fn current() -> &'static Pool {
    // SAFETY: the pointer is null or to a pool that is never freed.
    match unsafe { CURRENT.load(Ordering::Acquire).as_ref() } {
        Some(pool) if pool.forks == weft_forks::count() => pool,
        _ => make_current(),
    }
}

#[cold]
fn make_current() -> &'static Pool {
    let forks = weft_forks::watch();
    let threads = num_threads();
    let mut made = MADE.lock();
    let known = made.iter().find(|pool| pool.forks == forks && pool.threads == threads).copied();
    let pool = known.unwrap_or_else(|| {
        let pool: &'static Pool = Box::leak(Box::new(Pool::new(threads, forks)));
        made.push(pool);
        pool
    });
    CURRENT.store(std::ptr::from_ref(pool).cast_mut(), Ordering::Release);
    pool
}

impl Pool {
    /// Where the system gives no threads, the calling thread works alone.
    fn new(threads: usize, forks: u32) -> Pool {
        let helpers = if threads > 1 { build(threads - 1, "weft") } else { None };
        Pool {
            helpers,
            whole: Once::new(),
            threads,
            forks,
        }
    }

    /// Does work on a thread of a pool of all threads, while the calling one waits; on that one where there are no others.
    /// The work is told how many there are.
    pub fn inside(&self, work: &mut (dyn FnMut(usize) + Send)) {
        let whole = match self.threads {
            1 => None,
            threads => self.whole.get_or_init(|| build(threads, "weft-whole")).as_ref(),
        };
        match whole {
            Some(whole) => whole.install(|| work(self.threads)),
            None => work(1),
        }
    }

    /// How many threads there are, the calling one among them.
    pub fn threads(&self) -> usize {
        self.threads
    }

    pub fn helpers(&self) -> usize {
        self.helpers.as_ref().map_or(0, ThreadPool::current_num_threads)
    }

    /// The position of this thread among the pool's threads.
    pub fn position(&self) -> Option<usize> {
        self.helpers.as_ref().and_then(ThreadPool::current_thread_index)
    }

    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        if let Some(helpers) = &self.helpers {
            helpers.spawn(job);
        }
    }
}

fn build(threads: usize, name: &'static str) -> Option<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES);
    builder.thread_name(move |i| format!("{name}-{i}")).build().ok()
}

/// Runs `job` on a thread whose stack is as large as the pool's, calling `poll` now and then meanwhile. False if there is no such thread.
pub fn on_deep_stack(poll: impl Fn(), job: impl FnOnce() + Send) -> bool {
    let caller = thread::current();
    thread::scope(|scope| {
        let run = move || {
            job();
            caller.unpark();
        };
        let builder = thread::Builder::new().name("weft-deep".into()).stack_size(STACK_BYTES);
        let Ok(handle) = builder.spawn_scoped(scope, run) else {
            return false;
        };
        while !handle.is_finished() {
            thread::park_timeout(POLL);
            poll();
        }
        true
    })
}
