//! Kernels: blocks one after the other, the warps of a block in turn, the lanes of a warp in turn from one meeting to the next.

use super::code::Meeting;
use super::exec::{Stop, Thread};
use super::trap::{Fault, Trap};
use super::value::RtValue;
use super::{Machine, Shared};
use crate::op::WARP;

/// Threads a block may have.
const MAX_THREADS: i64 = 1024;

/// A block that has begun: its threads that have not ended, by warp.
pub(super) struct Block {
    index: [i64; 3],
    pub warps: Vec<Vec<Thread>>,
    shared: Shared,
}

impl Block {
    pub fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.warps.iter().flatten()
    }

    pub fn threads_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.warps.iter_mut().flatten()
    }
}

impl Machine<'_> {
    pub(super) fn grid(&mut self, block: [i64; 3], grid: [i64; 3], dynamic: u32, args: &[RtValue]) -> Result<(), Box<Trap>> {
        let threads = block.iter().try_fold(1i64, |n, len| n.checked_mul(*len)).unwrap_or(i64::MAX);
        let most = match self.program.module.entry_function().flags.max_threads {
            0 => MAX_THREADS,
            bound => MAX_THREADS.min(bound.into()),
        };
        if block.iter().chain(&grid).any(|len| *len < 1) || threads > most {
            return Err(Trap::invalid(format!(
                "cannot launch blocks of {block:?} threads in a grid of {grid:?}"
            )));
        }
        self.place.in_kernel = true;
        self.place.block_dim = block;
        self.place.grid_dim = grid;
        self.dynamic = dynamic;
        let (mut waiting, mut blocks) = (Vec::new(), 0);
        for index in indices(grid) {
            let begun = self.begin(index, block, args);
            waiting.extend(self.advance_block(begun, threads as usize)?);
            blocks += 1;
        }
        while !waiting.is_empty() {
            self.meet_grid(&mut waiting, blocks * threads as usize)?;
            let mut still = Vec::new();
            for block in waiting {
                still.extend(self.advance_block(block, threads as usize)?);
            }
            waiting = still;
        }
        self.place.in_kernel = false;
        Ok(())
    }

    fn begin(&mut self, block: [i64; 3], dim: [i64; 3], args: &[RtValue]) -> Block {
        let entry = self.program.module.entry;
        let mut warps: Vec<Vec<Thread>> = Vec::new();
        for (number, index) in (0u32..).zip(indices(dim)) {
            if number.is_multiple_of(WARP) {
                warps.push(Vec::new());
            }
            let mut thread = Thread::new(self.frame(entry, args, None));
            (thread.index, thread.number, thread.block) = (index, number, block);
            if let Some(warp) = warps.last_mut() {
                warp.push(thread);
            }
        }
        Block {
            index: block,
            warps,
            shared: Shared::default(),
        }
    }

    /// Runs a block until all its threads wait at barriers of the grid, where it is given back, or have ended.
    fn advance_block(&mut self, mut block: Block, threads: usize) -> Result<Option<Block>, Box<Trap>> {
        self.place.block = block.index;
        self.shared = std::mem::take(&mut block.shared);
        loop {
            for warp in &mut block.warps {
                self.advance_warp(warp)?;
            }
            self.end_interval();
            if block.threads().next().is_none() {
                self.free_shared();
                return Ok(None);
            }
            if block.threads().all(|thread| thread.waits == Some(Meeting::GridBarrier)) {
                block.shared = std::mem::take(&mut self.shared);
                return Ok(Some(block));
            }
            self.meet_block(&mut block, threads)?;
        }
    }

    /// Runs a warp until all its lanes wait for other warps or have ended.
    fn advance_warp(&mut self, warp: &mut Vec<Thread>) -> Result<(), Box<Trap>> {
        loop {
            let mut still = Vec::with_capacity(warp.len());
            for thread in warp.drain(..) {
                if thread.waits.is_some() {
                    still.push(thread);
                } else {
                    still.extend(self.advance(thread)?);
                }
            }
            *warp = still;
            if !self.meet_warp(warp)? {
                return Ok(());
            }
        }
    }

    /// Runs a thread until it meets others, where it is given back, or to its end.
    fn advance(&mut self, mut thread: Thread) -> Result<Option<Thread>, Box<Trap>> {
        self.place.thread = thread.index;
        if let Some(races) = &mut self.memory.races {
            races.actor = Some(thread.number);
        }
        match self.run(&mut thread)? {
            Stop::Meet(meeting) => {
                thread.waits = Some(meeting);
                Ok(Some(thread))
            }
            _ => {
                thread.frames.into_iter().for_each(|frame| self.retire(frame));
                Ok(None)
            }
        }
    }

    /// A fault of a thread that waits.
    pub(super) fn waiting_fault(&mut self, thread: &Thread, fault: Fault) -> Box<Trap> {
        (self.place.thread, self.place.block) = (thread.index, thread.block);
        let Some(frame) = thread.frames.last() else {
            return Trap::malformed();
        };
        let spans = &self.program.codes[frame.func.index()].spans;
        let span = spans.get(frame.pc.wrapping_sub(1)).copied().unwrap_or(crate::Span::NONE);
        self.trap(fault, frame.func, span)
    }

    fn end_interval(&mut self) {
        if let Some(races) = &mut self.memory.races {
            races.actor = None;
            races.next_interval();
        }
    }
}

/// Every index below a dimension, x fastest.
fn indices([x, y, z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}
