//! Allocations of a call: what it has allocated, and small blocks that it has freed. A loop that makes an array in each turn makes it of the
//! block of the turn before: a visit to the allocator costs more than a short array's elements.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;

use super::memory::HostBuffer;

/// Host code of a call runs on one thread at a time, and nothing else touches the blocks while it does: points that allocate have contexts
/// of their own.
#[derive(Debug, Default)]
pub struct Held(UnsafeCell<Blocks>);

// SAFETY: whoever takes the blocks says that no other thread does (`with`).
unsafe impl Sync for Held {}

impl Held {
    /// # Safety
    /// Called by the runtime functions that a context's own host code calls, one after the other.
    pub unsafe fn with<T>(&self, f: impl FnOnce(&mut Blocks) -> T) -> T {
        // SAFETY: by contract nobody else holds a reference; `f` does not call compiled code.
        f(unsafe { &mut *self.0.get() })
    }

    pub fn into_allocations(self) -> Vec<HostBuffer> {
        self.0.into_inner().allocations
    }
}

/// How many freed blocks are kept: as many as a statement's arrays.
const SPARE: usize = 8;

#[derive(Debug, Default)]
pub struct Blocks {
    /// In the order in which they were made.
    allocations: Vec<HostBuffer>,
    /// The one freed last at the end.
    spare: Vec<HostBuffer>,
}

impl Blocks {
    pub fn count(&self) -> usize {
        self.allocations.len()
    }

    /// The address of so many bytes; none when the system has not that much.
    pub fn allocate(&mut self, bytes: usize, zeroed: bool) -> Option<*mut u8> {
        let buffer = match self.take(bytes, zeroed) {
            Some(buffer) => buffer,
            None => HostBuffer::temporary(bytes, zeroed)?,
        };
        let start = buffer.start();
        self.allocations.push(buffer);
        Some(start)
    }

    fn take(&mut self, bytes: usize, zeroed: bool) -> Option<HostBuffer> {
        let at = self.spare.iter().rposition(|buffer| buffer.has_room(bytes))?;
        let buffer = match at + 1 == self.spare.len() {
            true => self.spare.pop()?,
            false => self.spare.remove(at),
        };
        Some(buffer.again(bytes, zeroed))
    }

    /// Frees the allocations from the `first` on that none of the addresses points into.
    pub fn sweep(&mut self, used: &[u64], first: usize) {
        let first = first.min(self.allocations.len());
        let mut kept = first;
        for at in first..self.allocations.len() {
            if used.iter().any(|&address| self.allocations[at].holds(address)) {
                self.allocations.swap(kept, at);
                kept += 1;
            }
        }
        while self.allocations.len() > kept
            && let Some(freed) = self.allocations.pop()
        {
            if !freed.is_small() {
                continue;
            }
            if self.spare.len() == SPARE {
                self.spare.remove(0);
            }
            self.spare.push(freed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(blocks: &mut Blocks, bytes: usize) -> u64 {
        blocks.allocate(bytes, false).unwrap() as u64
    }

    #[test]
    fn what_no_address_points_into_is_freed() {
        let mut blocks = Blocks::default();
        let made: Vec<u64> = (0..6).map(|_| allocate(&mut blocks, 100)).collect();
        blocks.sweep(&[made[5] + 100, made[3], made[4] + 101], 2);
        let left: Vec<u64> = blocks.allocations.iter().map(|buffer| buffer.start() as u64).collect();
        assert_eq!(
            left,
            [made[0], made[1], made[3], made[5]],
            "the callers' and those in use, in the order they were made"
        );
        blocks.sweep(&[], 9);
        assert_eq!(blocks.count(), 4, "all are the callers'");
    }

    #[test]
    fn small_blocks_are_used_again_where_they_have_room() {
        let mut blocks = Blocks::default();
        let (small, large) = (allocate(&mut blocks, 100), allocate(&mut blocks, 1000));
        blocks.sweep(&[], 0);
        assert_eq!(allocate(&mut blocks, 1000), large);
        assert_ne!(allocate(&mut blocks, 101), small, "no room");
        assert_eq!(allocate(&mut blocks, 100), small);
        // The address after a shorter array is no longer inside.
        blocks.sweep(&[], 0);
        let again = allocate(&mut blocks, 0);
        blocks.sweep(&[again + 1], 0);
        assert_eq!(blocks.count(), 0);
    }

    #[test]
    fn arrays_of_zeros_are_zeroed_again() {
        let mut blocks = Blocks::default();
        let first = blocks.allocate(64, true).unwrap();
        // SAFETY: the block has these bytes.
        unsafe { first.write_bytes(7, 64) };
        blocks.sweep(&[], 0);
        let again = blocks.allocate(64, true).unwrap();
        assert_eq!(first, again);
        // SAFETY: as above.
        assert_eq!(unsafe { std::slice::from_raw_parts(again, 64) }, [0; 64]);
    }

    #[test]
    fn no_more_than_a_few_blocks_are_kept() {
        let mut blocks = Blocks::default();
        for _ in 0..3 * SPARE {
            allocate(&mut blocks, 100);
        }
        allocate(&mut blocks, 1 << 20);
        blocks.sweep(&[], 0);
        assert_eq!((blocks.count(), blocks.spare.len()), (0, SPARE));
        assert!(blocks.spare.iter().all(HostBuffer::is_small));
        // Those that have too little room for what a loop makes now give way.
        let large = allocate(&mut blocks, 1000);
        blocks.sweep(&[], 0);
        assert_eq!((allocate(&mut blocks, 1000), blocks.spare.len()), (large, SPARE - 1));
    }
}
