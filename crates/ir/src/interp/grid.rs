//! Kernels: blocks one after the other, the threads of a block in turn from barrier to barrier.

use super::Machine;
use super::exec::{Stop, Thread};
use super::trap::{Fault, Trap};
use super::value::RtValue;

/// Threads a block may have.
const MAX_THREADS: i64 = 1024;

impl Machine<'_> {
    pub(super) fn grid(&mut self, block: [i64; 3], grid: [i64; 3], args: &[RtValue]) -> Result<(), Box<Trap>> {
        let threads = block.iter().try_fold(1i64, |n, len| n.checked_mul(*len)).unwrap_or(i64::MAX);
        if block.iter().chain(&grid).any(|len| *len < 1) || threads > MAX_THREADS {
            return Err(Trap::invalid(format!(
                "cannot launch blocks of {block:?} threads in a grid of {grid:?}"
            )));
        }
        self.place.in_kernel = true;
        self.place.block_dim = block;
        self.place.grid_dim = grid;
        for index in indices(grid) {
            self.place.block = index;
            self.block(block, threads as usize, args)?;
        }
        self.place.in_kernel = false;
        Ok(())
    }

    fn block(&mut self, dim: [i64; 3], threads: usize, args: &[RtValue]) -> Result<(), Box<Trap>> {
        let entry = self.program.module.entry;
        let mut waiting = Vec::new();
        for (number, index) in (0..).zip(indices(dim)) {
            let mut thread = Thread::new(self.frame(entry, args, None));
            (thread.index, thread.number) = (index, number);
            if let Some(thread) = self.advance(thread)? {
                waiting.push(thread);
            }
        }
        while !waiting.is_empty() {
            self.meet(&waiting, threads)?;
            let mut still = Vec::new();
            for thread in waiting {
                if let Some(thread) = self.advance(thread)? {
                    still.push(thread);
                }
            }
            waiting = still;
        }
        self.end_interval();
        for (_, buffer) in self.shared.drain() {
            self.memory.free(buffer);
        }
        Ok(())
    }

    /// Runs a thread to its next barrier, where it is given back, or to its end.
    fn advance(&mut self, mut thread: Thread) -> Result<Option<Thread>, Box<Trap>> {
        self.place.thread = thread.index;
        if let Some(races) = &mut self.memory.races {
            races.actor = Some(thread.number);
        }
        match self.run(&mut thread)? {
            Stop::Barrier => Ok(Some(thread)),
            _ => {
                thread.frames.into_iter().for_each(|frame| self.retire(frame));
                Ok(None)
            }
        }
    }

    /// All threads wait at a barrier. In checked mode they must be all of the block, at the same one.
    fn meet(&mut self, waiting: &[Thread], threads: usize) -> Result<(), Box<Trap>> {
        self.end_interval();
        let Some(first) = waiting.first() else { return Ok(()) };
        let same = waiting.iter().filter(|thread| site(thread).eq(site(first))).count();
        if !self.options.checked || same == threads {
            return Ok(());
        }
        let fault = Fault::BarrierDivergence {
            waiting: same as u32,
            threads: threads as u32,
        };
        self.place.thread = first.index;
        let Some(frame) = first.frames.last() else {
            return Err(Trap::malformed());
        };
        let spans = &self.program.codes[frame.func.index()].spans;
        let span = spans.get(frame.pc.wrapping_sub(1)).copied().unwrap_or(crate::Span::NONE);
        Err(self.trap(fault, frame.func, span))
    }

    fn end_interval(&mut self) {
        if let Some(races) = &mut self.memory.races {
            races.actor = None;
            races.next_interval();
        }
    }
}

/// Where a thread waits: its whole stack.
fn site(thread: &Thread) -> impl Iterator<Item = (u32, usize)> + '_ {
    thread.frames.iter().map(|frame| (frame.func.0, frame.pc))
}

/// Every index below a dimension, x fastest.
fn indices([x, y, z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}
