//! Call contexts: what a running call carries, and the functions compiled code calls back.

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::SystemTime;

use weft_ir::order::{BLOCK, Cut};
use weft_ir::{Span, Spread};
use weft_runtime::{Buffer, Hooks, Outcome, Raised, RunError};

use super::cooperative;
use super::held::Held;
use super::host;
use super::memory::HostBuffer;
use super::routines;
use super::spread::{self, Units};
use super::stack;
use crate::emit::{ErrorSite, PrintSite};

/// The signature of every entry; see `docs/architecture/cpu.md`.
pub type Entry = unsafe extern "C" fn(*const Context<'_>, *const u64, *mut u64, i64, i64) -> i32;

/// What the `site` numbers of a module mean.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    pub errors: Vec<ErrorSite>,
    pub prints: Vec<PrintSite>,
    /// Calls of Weft's library from users' functions.
    pub calls: Vec<Span>,
}

/// One call. Compiled code holds a pointer to it and knows nothing of what is inside.
#[derive(Debug)]
#[repr(C)]
pub struct Context<'a> {
    /// The lowest address that frames of functions that call themselves may have. Compiled code reads it here, at the start.
    lowest: AtomicUsize,
    /// What their frames take, where they are large.
    frame: AtomicUsize,
    /// How many short index spaces compiled code has run by itself.
    turns: AtomicU32,
    /// How many allocations it has asked for, and at which millisecond it was last asked whether to stop for one.
    asked: AtomicU32,
    looked: AtomicU64,
    sites: &'a Sites,
    hooks: Hooks,
    /// The thread that may ask the hooks.
    caller: ThreadId,
    /// Set once something in `state` ends the call.
    failed: AtomicBool,
    state: Mutex<State>,
    memory: Held,
    /// The call whose points this one runs, with memory of its own.
    outer: Option<&'a Context<'a>>,
}

#[derive(Debug, Default)]
struct State {
    failure: Option<Failure>,
    output: String,
}

#[derive(Debug)]
enum Failure {
    Raised {
        site: usize,
        thread: Option<[i64; 6]>,
        /// The thread of the host that raised.
        by: ThreadId,
        /// Where the user's function called the one of Weft's library that raised.
        called: Option<usize>,
    },
    OutOfMemory {
        bytes: u64,
    },
    Interrupted,
    Broken(String),
}

impl<'a> Context<'a> {
    pub fn new(sites: &'a Sites, hooks: &Hooks) -> Context<'a> {
        Context {
            lowest: AtomicUsize::new(0),
            frame: AtomicUsize::new(0),
            turns: AtomicU32::new(0),
            asked: AtomicU32::new(0),
            looked: AtomicU64::new(0),
            sites,
            hooks: *hooks,
            caller: thread::current().id(),
            failed: AtomicBool::new(false),
            state: Mutex::default(),
            memory: Held::default(),
            outer: None,
        }
    }

    /// The same call on this thread: with memory that ends with what runs there, and with this thread's stack.
    pub fn inner(&'a self) -> Context<'a> {
        let inner = Context {
            outer: Some(self.call()),
            ..Context::new(self.sites, &self.hooks)
        };
        if self.is_guarded() {
            inner.guard(self.frame.load(Ordering::Relaxed));
        }
        inner
    }

    /// Do functions of the call ask for the stack that is left?
    pub fn is_guarded(&self) -> bool {
        self.lowest.load(Ordering::Relaxed) != 0
    }

    /// Finds out how far down the stack of this thread, which runs the call, frames may go. A function asks when its frame is there, and
    /// what it calls may have one as large before it asks.
    pub fn guard(&self, frame: usize) {
        self.frame.store(frame, Ordering::Relaxed);
        self.lowest.store(stack::lowest().saturating_add(2 * frame), Ordering::Relaxed);
    }

    fn call(&self) -> &Context<'a> {
        self.outer.unwrap_or(self)
    }

    pub fn failed(&self) -> bool {
        self.call().failed.load(Ordering::Relaxed)
    }

    /// Asks the host language whether to stop; remembers the answer.
    pub fn poll(&self) -> bool {
        let Some(interrupted) = self.hooks.interrupted else { return false };
        if thread::current().id() != self.call().caller || !interrupted() {
            return false;
        }
        self.fail(Failure::Interrupted);
        true
    }

    /// Loops that allocate, and launch nothing, ask here: once in so many allocations, in every large one, and not too often.
    fn poll_at_allocation(&self, bytes: usize) -> bool {
        const MANY: u32 = 64;
        const LARGE: usize = 64 << 10;
        const OFTEN: u64 = 15;
        // One thread asks at a time, for which a locked addition would be the larger part of a short allocation.
        let asked = self.asked.load(Ordering::Relaxed);
        self.asked.store(asked.wrapping_add(1), Ordering::Relaxed);
        if self.hooks.interrupted.is_none() || asked % MANY != MANY - 1 && bytes < LARGE {
            return false;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_millis() as u64);
        if now.abs_diff(self.looked.load(Ordering::Relaxed)) < OFTEN {
            return false;
        }
        self.looked.store(now, Ordering::Relaxed);
        self.poll()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.call().state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records why the call ends, unless something else did already.
    ///
    /// What a thread of a kernel calls does not know of it. When the kernel raises again what was raised there, it says which thread that is.
    fn fail(&self, failure: Failure) {
        let mut state = self.state();
        match (&mut state.failure, failure) {
            (none @ None, failure) => *none = Some(failure),
            (
                Some(Failure::Raised {
                    thread: none @ None, by, ..
                }),
                Failure::Raised { thread, by: again, .. },
            ) if *by == again => *none = thread,
            (Some(_), _) => {}
        }
        drop(state);
        self.call().failed.store(true, Ordering::Relaxed);
    }

    /// Ends the call: its output, and the allocations that `keeps` says a result refers to.
    pub fn finish(self, keeps: impl Fn(&HostBuffer) -> bool) -> Result<Outcome, RunError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let output = state.output;
        match state.failure {
            None => {
                let kept = self.memory.into_allocations().into_iter().filter(keeps);
                let owned = kept.map(|buffer| Box::new(buffer.counted()) as Box<dyn Buffer>).collect();
                Ok(Outcome { output, owned })
            }
            Some(Failure::Interrupted) => Err(RunError::Interrupted),
            Some(Failure::OutOfMemory { bytes }) => Err(RunError::host_memory(bytes)),
            Some(Failure::Broken(message)) => Err(RunError::Invalid(message)),
            Some(Failure::Raised { site, thread, called, .. }) => Err(match self.sites.errors.get(site) {
                Some(site) => Raised {
                    kind: site.kind,
                    message: site.message.clone(),
                    span: called.and_then(|at| self.sites.calls.get(at)).copied().unwrap_or(site.span),
                    thread,
                    output,
                    module: None,
                }
                .into(),
                None => RunError::Invalid(format!("compiled code raised at site {site}, which it does not have")),
            }),
        }
    }
}

/// The runtime functions by name, for the loader.
pub fn symbols() -> [(&'static str, usize); 15] {
    [
        ("weft_raise", weft_raise as *const () as usize),
        ("weft_called", weft_called as *const () as usize),
        ("weft_print", weft_print as *const () as usize),
        ("weft_alloc", weft_alloc as *const () as usize),
        ("weft_sweep", weft_sweep as *const () as usize),
        ("weft_mark", weft_mark as *const () as usize),
        ("weft_launch", weft_launch as *const () as usize),
        ("weft_routine", routines::weft_routine as *const () as usize),
        ("weft_thread_state", host::weft_thread_state as *const () as usize),
        ("weft_libm_log", host::libm::log as *const () as usize),
        ("weft_libm_exp", host::libm::exp as *const () as usize),
        ("weft_libm_pow", host::libm::pow as *const () as usize),
        ("weft_libm_cos", host::libm::cos as *const () as usize),
        ("weft_libm_acos", host::libm::acos as *const () as usize),
        ("weft_grid_barrier", cooperative::weft_grid_barrier as *const () as usize),
    ]
}

/// Records the error of a `Raise`.
///
/// # Safety
/// `ctx` is the context compiled code was called with; `place` is null or points to six integers.
unsafe extern "C" fn weft_raise(ctx: *const Context<'_>, site: i32, place: *const [i64; 6]) {
    // SAFETY: by contract.
    let (ctx, thread) = unsafe { (&*ctx, place.as_ref().copied()) };
    ctx.fail(Failure::Raised {
        site: usize::try_from(site).unwrap_or(usize::MAX),
        thread,
        by: thread::current().id(),
        called: None,
    });
}

/// Says where a user's function called the one of Weft's library that has just failed.
///
/// # Safety
/// `ctx` is the context compiled code was called with.
unsafe extern "C" fn weft_called(ctx: *const Context<'_>, call: i32) {
    // SAFETY: by contract.
    let ctx = unsafe { &*ctx };
    // Another thread may have failed first.
    if let Some(Failure::Raised { called, by, .. }) = &mut ctx.state().failure
        && *by == thread::current().id()
    {
        *called = usize::try_from(call).ok();
    }
}

/// Appends the line of a `print`.
///
/// # Safety
/// `ctx` is the context compiled code was called with; `values` points to the slots of that `print`.
unsafe extern "C" fn weft_print(ctx: *const Context<'_>, site: i32, values: *const u64) {
    // SAFETY: by contract.
    let ctx = unsafe { &*ctx };
    let Some(site) = usize::try_from(site).ok().and_then(|i| ctx.sites.prints.get(i)) else {
        return;
    };
    let mut next = 0;
    // SAFETY: by contract the values of this site lie there, in order.
    let mut taken = std::iter::from_fn(|| unsafe {
        next += 1;
        Some(*values.add(next - 1))
    });
    site.line(&mut taken, &mut ctx.state().output);
}

/// Memory that lives until the call returns, or longer if a result refers to it.
///
/// # Safety
/// `ctx` is the context compiled code was called with.
unsafe extern "C" fn weft_alloc(ctx: *const Context<'_>, bytes: i64, zeroed: i32) -> *mut u8 {
    // SAFETY: by contract.
    let ctx = unsafe { &*ctx };
    let wanted = usize::try_from(bytes).ok();
    if ctx.poll_at_allocation(wanted.unwrap_or(0)) {
        return std::ptr::null_mut();
    }
    // SAFETY: the context's host code calls this.
    let address = unsafe { ctx.memory.with(|blocks| blocks.allocate(wanted?, zeroed != 0)) };
    address.unwrap_or_else(|| {
        ctx.fail(Failure::OutOfMemory { bytes: bytes as u64 });
        std::ptr::null_mut()
    })
}

/// How many allocations there are. Those a function's callers made stay while it runs, in front of its own.
///
/// # Safety
/// `ctx` is the context compiled code was called with.
unsafe extern "C" fn weft_mark(ctx: *const Context<'_>) -> i64 {
    // SAFETY: by contract.
    let ctx = unsafe { &*ctx };
    // SAFETY: the context's host code calls this.
    unsafe { ctx.memory.with(|blocks| blocks.count() as i64) }
}

/// Frees the allocations from the `first` on that none of the addresses points into. Arrays hold numbers and no addresses, so that the
/// views a function has in hand are all that keeps memory in use.
///
/// # Safety
/// `ctx` is the context compiled code was called with; `used` points to `count` addresses.
unsafe extern "C" fn weft_sweep(ctx: *const Context<'_>, used: *const u64, count: i64, first: i64) {
    // SAFETY: by contract.
    let (ctx, used) = unsafe { (&*ctx, std::slice::from_raw_parts(used, usize::try_from(count).unwrap_or(0))) };
    let first = usize::try_from(first).unwrap_or(0);
    // SAFETY: the context's host code calls this.
    unsafe { ctx.memory.with(|blocks| blocks.sweep(used, first)) };
}

/// Index spaces as short as this are mostly run by compiled code itself; when one comes here, it is time to ask whether to stop.
const FEW: u64 = 1024;

type Combine = unsafe extern "C" fn(*mut u64, *const u64);

/// Runs a `Loop` function over its extents and combines its reductions into `results`.
///
/// # Safety
/// As documented in `docs/architecture/cpu.md`: `args` starts with `rank` extents, `results` and each result of `body` have `slots` slots.
#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn weft_launch(
    ctx: *const Context<'_>,
    body: Entry,
    combine: Option<Combine>,
    args: *const u64,
    results: *mut u64,
    rank: i64,
    slots: i64,
    spread: i32,
    grain: i64,
) -> i32 {
    // SAFETY: by contract.
    let (ctx, extents) = unsafe {
        (
            &*ctx,
            std::slice::from_raw_parts(args.cast::<i64>(), usize::try_from(rank).unwrap_or(0)),
        )
    };
    let space = Space::new(extents);
    let look = grain.unsigned_abs();
    let call = LoopCall {
        ctx,
        body,
        args,
        spread,
        look,
    };
    if space.points() <= FEW && ctx.poll() {
        return 1;
    }
    match combine {
        Some(combine) => {
            // SAFETY: by contract.
            let results = unsafe { std::slice::from_raw_parts_mut(results, usize::try_from(slots).unwrap_or(0)) };
            if grain < 0 {
                call.reduce_in_order(&Cut::new(&lengths(extents)), combine, results);
            } else {
                call.reduce(space, space.reduction_chunk(grain), combine, results);
            }
        }
        None => call.run_units(space.rows, space.points_per_row(), &call),
    }
    i32::from(ctx.failed())
}

/// The index space of a `Loop`, as its calls count it.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Units of `begin..end`: points at rank 1, else rows.
    pub rows: u64,
    rank: usize,
    last: u64,
}

/// Lengths of axes, none of which is negative.
fn lengths(extents: &[i64]) -> Vec<u64> {
    extents.iter().map(|&n| u64::try_from(n).unwrap_or(0)).collect()
}

impl Space {
    pub fn new(extents: &[i64]) -> Space {
        let extent = |i: &i64| u64::try_from(*i).unwrap_or(0);
        let last = extents.last().map_or(1, extent);
        let outer = extents.iter().rev().skip(1).map(extent).fold(1, u64::saturating_mul);
        let rows = match extents.len() {
            0 => 1,
            1 => last,
            _ if last == 0 => 0,
            _ => outer,
        };
        Space {
            rows,
            rank: extents.len(),
            last,
        }
    }

    fn points(&self) -> u64 {
        self.rows.saturating_mul(self.points_per_row())
    }

    pub fn points_per_row(&self) -> u64 {
        if self.rank > 1 { self.last.max(1) } else { 1 }
    }

    /// Rows of a chunk of a reduction, of at least `grain` points: a function of the extents and the code alone, so that sums do not
    /// depend on the threads.
    fn reduction_chunk(&self, grain: i64) -> u64 {
        const MOST_CHUNKS: u64 = 512;
        let points = u64::try_from(grain).unwrap_or(1);
        points.div_ceil(self.points_per_row()).max(self.rows.div_ceil(MOST_CHUNKS))
    }
}

struct LoopCall<'a> {
    ctx: &'a Context<'a>,
    body: Entry,
    args: *const u64,
    /// A `Spread` as a number.
    spread: i32,
    /// See `Units`.
    look: u64,
}

// SAFETY: the arguments are only read; what the loop's points write is the program's own affair (as `prange` says).
unsafe impl Sync for LoopCall<'_> {}

impl LoopCall<'_> {
    fn call(&self, rows: Range<u64>, results: *mut u64) -> bool {
        let run = |ctx: &Context<'_>| {
            // SAFETY: `body` is compiled for these arguments and results.
            unsafe { (self.body)(ctx, self.args, results, rows.start as i64, rows.end as i64) }
        };
        let code = match self.by_points() || self.ctx.is_guarded() {
            true => run(&self.ctx.inner()),
            false => run(self.ctx),
        };
        code == 0 && !self.ctx.failed()
    }

    fn by_points(&self) -> bool {
        self.spread == Spread::Threads as i32
    }

    fn run_units(&self, count: u64, items: u64, work: &dyn spread::Work) {
        let look = self.look;
        let units = Units { count, items, look };
        if self.spread == Spread::Lanes as i32 {
            return spread::alone(units, work);
        }
        spread::run(spread::cost_at(self.body as usize), units, work);
    }

    /// In chunks whose size is fixed, which are combined in order.
    fn reduce_in_order(&self, cut: &Cut, combine: Combine, results: &mut [u64]) {
        let units = |chunk: u64| cut.units(chunk);
        let items = cut.blocks_per_chunk() * BLOCK;
        let partial = self.chunks((cut.chunks(), items), &units, results.len());
        if self.ctx.failed() {
            return;
        }
        for part in partial.chunks(results.len().max(1)) {
            // SAFETY: both have as many slots as the loop has results.
            unsafe { combine(results.as_mut_ptr(), part.as_ptr()) };
        }
    }

    /// Runs chunks of so many items each; gives the results of each, one behind the other.
    fn chunks(&self, (count, items): (u64, u64), units: &(dyn Fn(u64) -> Range<u64> + Sync), width: usize) -> Vec<u64> {
        let mut partial = vec![0u64; width * count as usize];
        let work = ReduceCall {
            call: self,
            units,
            width,
            partial: partial.as_mut_ptr(),
        };
        self.run_units(count, items, &work);
        partial
    }

    fn reduce(&self, space: Space, size: u64, combine: Combine, results: &mut [u64]) {
        if space.rows == 0 {
            return;
        }
        let units = |chunk: u64| chunk * size..((chunk + 1) * size).min(space.rows);
        let width = results.len();
        let chunks = space.rows.div_ceil(size);
        let mut partial = self.chunks((chunks, size * space.points_per_row()), &units, width);
        if !self.ctx.failed() && width > 0 {
            // Neighbours first, then pairs of them: the error of a sum grows with the logarithm of the number of chunks.
            let mut apart = width.max(1);
            while apart < partial.len() {
                for pair in partial.chunks_mut(2 * apart).filter(|pair| pair.len() > apart) {
                    let (into, from) = pair.split_at_mut(apart);
                    // SAFETY: both have as many slots as the loop has results, or more.
                    unsafe { combine(into.as_mut_ptr(), from.as_ptr()) };
                }
                apart *= 2;
            }
            // SAFETY: both have as many slots as the loop has results; there is at least one chunk.
            unsafe { combine(results.as_mut_ptr(), partial.as_ptr()) };
        }
    }
}

impl spread::Work for LoopCall<'_> {
    fn run(&self, chunk: Range<u64>) -> bool {
        self.call(chunk, std::ptr::null_mut())
    }

    fn interrupted(&self) -> bool {
        self.ctx.poll()
    }
}

/// A reduction: units are chunks of rows, each with its own partial results.
struct ReduceCall<'a> {
    call: &'a LoopCall<'a>,
    /// The rows of a chunk.
    units: &'a (dyn Fn(u64) -> Range<u64> + Sync),
    width: usize,
    partial: *mut u64,
}

// SAFETY: each unit writes its own part of `partial`.
unsafe impl Sync for ReduceCall<'_> {}

impl spread::Work for ReduceCall<'_> {
    fn run(&self, chunk: Range<u64>) -> bool {
        for unit in chunk {
            let rows = (self.units)(unit);
            // SAFETY: `partial` has `width` slots for every unit.
            let results = unsafe { self.partial.add(unit as usize * self.width) };
            if !self.call.call(rows, results) {
                return false;
            }
        }
        true
    }

    fn interrupted(&self) -> bool {
        self.call.ctx.poll()
    }
}

impl Context<'_> {
    /// Records a defect of the launch itself.
    pub fn broken(&self, message: impl Into<String>) {
        self.fail(Failure::Broken(message.into()));
    }
}
