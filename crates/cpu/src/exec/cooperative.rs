//! Cooperative launches, whose blocks wait for each other: every block runs on a stack of its own until it comes to a barrier of the grid,
//! and is taken up again when all have come.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::{ptr, thread};

use corosensei::stack::{DefaultStack, Stack as _};
use corosensei::{Coroutine, Yielder};

use super::spread::Work;
use super::{pool, stack};

/// Blocks that can wait at the same time: each takes a stack, of which the system gives only so many.
pub const MOST_BLOCKS: u64 = 4096;

thread_local! {
    /// How the block that runs on this thread gives way to others.
    static WAY_OUT: Cell<*const Yielder<(), ()>> = const { Cell::new(ptr::null()) };
}

/// Compiled code is at a barrier of the grid.
pub extern "C" fn weft_grid_barrier(_ctx: *const ()) {
    let out = WAY_OUT.get();
    // SAFETY: null, or set by the block that runs: its yielder lies on its stack below this call, and it stays on its thread.
    if let Some(yielder) = unsafe { out.as_ref() } {
        yielder.suspend(());
        WAY_OUT.set(out);
    }
}

/// A block that has begun and not ended. Its result: does the launch go on?
struct Block<'w> {
    routine: Coroutine<(), (), bool, DefaultStack>,
    /// The lowest address of its stack.
    bottom: usize,
    work: PhantomData<&'w dyn Work>,
}

impl<'w> Block<'w> {
    fn new(number: u64, stack_bytes: usize, work: &'w dyn Work) -> io::Result<Block<'w>> {
        let stack = DefaultStack::new(stack_bytes)?;
        let bottom = stack.limit().get();
        // SAFETY: only the lifetime is forgotten, and the block keeps it.
        let borrowed = unsafe { std::mem::transmute::<&'w dyn Work, &'static dyn Work>(work) };
        let body = move |yielder: &Yielder<(), ()>, ()| {
            WAY_OUT.set(yielder);
            let went_well = borrowed.run(number..number + 1);
            WAY_OUT.set(ptr::null());
            went_well
        };
        Ok(Block {
            routine: Coroutine::with_stack(stack, body),
            bottom,
            work: PhantomData,
        })
    }

    /// Runs to the next barrier of the grid, or to the end, with its result.
    fn advance(&mut self) -> Option<bool> {
        stack::on_other(self.bottom, || self.routine.resume(())).as_return()
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        // SAFETY: what is on the stack of a block that is given up, compiled code, the closure above and a context that
        // nothing was put into, owns nothing.
        unsafe { self.routine.force_reset() }
    }
}

/// What the threads of a launch share.
struct Launch<'w> {
    work: &'w dyn Work,
    stack_bytes: usize,
    meeting: Barrier,
    /// Blocks that have not ended.
    live: AtomicU64,
    stop: AtomicBool,
}

/// Runs all blocks; false if there is no memory for their stacks.
pub fn run(blocks: u64, stack_bytes: u64, work: &dyn Work) -> bool {
    thread::scope(|scope| {
        let mut helpers = Vec::new();
        for _ in 1..(pool::num_threads() as u64).min(blocks) {
            let (send, receive) = mpsc::channel::<(Arc<Launch<'_>>, Range<u64>)>();
            let help = move || receive.recv().is_ok_and(|(launch, blocks)| launch.run(blocks, false));
            match thread::Builder::new().spawn_scoped(scope, help) {
                Ok(handle) => helpers.push((send, handle)),
                Err(_) => break,
            }
        }
        let threads = helpers.len() as u64 + 1;
        let launch = Arc::new(Launch {
            work,
            stack_bytes: stack_bytes as usize,
            meeting: Barrier::new(threads as usize),
            live: AtomicU64::new(blocks),
            stop: AtomicBool::new(false),
        });
        let share = |thread: u64| blocks * thread / threads..blocks * (thread + 1) / threads;
        for (thread, (send, _)) in (1..).zip(&helpers) {
            // The other end waits for it.
            let _ = send.send((launch.clone(), share(thread)));
        }
        let mine = launch.run(share(0), true);
        let theirs: Vec<bool> = helpers.into_iter().map(|(_, helper)| helper.join().unwrap_or(false)).collect();
        mine && theirs.into_iter().all(|ran| ran)
    })
}

impl Launch<'_> {
    /// One thread's blocks, from barrier to barrier. False if they cannot begin; then nobody's do.
    fn run(&self, numbers: Range<u64>, calling: bool) -> bool {
        let begun: io::Result<Vec<Block<'_>>> = numbers.map(|number| Block::new(number, self.stack_bytes, self.work)).collect();
        let can_run = begun.is_ok();
        if !can_run {
            self.stop.store(true, Ordering::Relaxed);
        }
        let mut blocks = begun.unwrap_or_default();
        self.meeting.wait();
        // What this asks changes only between the two meetings of a turn.
        while !self.stop.load(Ordering::Relaxed) && self.live.load(Ordering::Relaxed) > 0 {
            self.meeting.wait();
            let before = blocks.len();
            blocks.retain_mut(|block| self.goes_on(block));
            self.live.fetch_sub((before - blocks.len()) as u64, Ordering::Relaxed);
            if calling && self.work.interrupted() {
                self.stop.store(true, Ordering::Relaxed);
            }
            self.meeting.wait();
        }
        can_run
    }

    fn goes_on(&self, block: &mut Block<'_>) -> bool {
        match block.advance() {
            None => true,
            Some(went_well) => {
                if !went_well {
                    self.stop.store(true, Ordering::Relaxed);
                }
                false
            }
        }
    }
}
