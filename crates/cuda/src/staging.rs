//! Staging: copies between the device and host memory that is not pinned, by way of pinned buffers that are kept for the next ones.
//!
//! An upload fills a buffer, queues its copy and goes on with the next buffer: when it returns, all was read. A download queues the next
//! part while the last one is taken out of its buffer.

use std::collections::VecDeque;
use std::sync::Mutex;

use weft_runtime::{RunError, lock, raw};

use crate::driver::Context;
use crate::driver::table::{EventHandle, StreamHandle};

/// Bytes of a buffer, for small copies and large.
const SMALL: usize = 64 << 10;
const LARGE: usize = 4 << 20;
/// Buffers of each size that are made before a copy waits for one.
const MOST: usize = 4;

#[derive(Debug, Default)]
pub struct Staging {
    small: Shelf,
    large: Shelf,
}

/// Buffers of one size; those at the front were used longest ago.
#[derive(Debug, Default)]
struct Shelf {
    idle: Mutex<VecDeque<Slot>>,
    made: Mutex<usize>,
}

/// A pinned buffer and the end of the copy that used it last.
#[derive(Clone, Copy, Debug)]
struct Slot {
    address: u64,
    bytes: usize,
    used: EventHandle,
}

impl Staging {
    fn shelf(&self, bytes: usize) -> (&Shelf, usize) {
        if bytes <= SMALL {
            (&self.small, SMALL)
        } else {
            (&self.large, LARGE)
        }
    }

    /// Copies from the host; its memory has been read when this returns. The context is current.
    pub fn upload(&self, context: &Context, to: u64, from: u64, bytes: usize, stream: StreamHandle) -> Result<(), RunError> {
        let (shelf, size) = self.shelf(bytes);
        let _relaxed = context.relaxed();
        for start in (0..bytes).step_by(size) {
            let part = size.min(bytes - start);
            let slot = shelf.take(context, size)?;
            raw::copy(slot.address, from + start as u64, part);
            let queued = context
                .copy_to_device(to + start as u64, slot.address, part, stream)
                .and_then(|()| context.record(slot.used, stream));
            shelf.put(slot);
            context.check(queued)?;
        }
        Ok(())
    }

    /// Copies to the host and waits for it. The context is current.
    pub fn download(&self, context: &Context, to: u64, from: u64, bytes: usize, stream: StreamHandle) -> Result<(), RunError> {
        let (shelf, size) = self.shelf(bytes);
        let _relaxed = context.relaxed();
        let mut waiting: Option<(Slot, usize, usize)> = None;
        for start in (0..bytes).step_by(size) {
            let part = size.min(bytes - start);
            let slot = shelf.take(context, size)?;
            let queued = context
                .copy_to_host(slot.address, from + start as u64, part, stream)
                .and_then(|()| context.record(slot.used, stream));
            let last = waiting.replace((slot, start, part));
            let taken = last.map_or(Ok(()), |last| shelf.take_out(context, last, to));
            if let Err(error) = context.check(queued).and(taken) {
                shelf.put(slot);
                return Err(error);
            }
        }
        waiting.map_or(Ok(()), |last| shelf.take_out(context, last, to))
    }
}

impl Shelf {
    /// A buffer no copy uses any more.
    fn take(&self, context: &Context, bytes: usize) -> Result<Slot, RunError> {
        let mut idle = lock(&self.idle);
        if let Some(slot) = idle.front().copied() {
            if context.check(context.is_event_done(slot.used))? {
                idle.pop_front();
                return Ok(slot);
            }
            if *lock(&self.made) >= MOST {
                idle.pop_front();
                drop(idle);
                let waited = context.check(context.synchronize_event(slot.used));
                return waited.map(|()| slot).inspect_err(|_| self.put(slot));
            }
        }
        drop(idle);
        self.make(context, bytes)
    }

    fn make(&self, context: &Context, bytes: usize) -> Result<Slot, RunError> {
        let used = context.check(context.create_event(false))?;
        let address = context.check(context.allocate_pinned(bytes, false))?;
        *lock(&self.made) += 1;
        Ok(Slot { address, bytes, used })
    }

    fn put(&self, slot: Slot) {
        lock(&self.idle).push_back(slot);
    }

    /// Waits for a part of a download and moves it to where it belongs.
    fn take_out(&self, context: &Context, (slot, start, part): (Slot, usize, usize), to: u64) -> Result<(), RunError> {
        debug_assert!(part <= slot.bytes);
        let done = context.check(context.synchronize_event(slot.used));
        if done.is_ok() {
            raw::copy(to + start as u64, slot.address, part);
        }
        self.put(slot);
        done
    }
}
