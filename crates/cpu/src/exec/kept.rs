//! The memory pool: what was freed is kept for the next array of its size, since fresh pages cost a fault each (a quarter of a microsecond
//! for 4 KiB), which for large results is as much as computing them.

#![allow(unsafe_code)]

use std::alloc::{Layout, dealloc};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Smaller blocks are the allocator's. It gives larger ones back to the system whenever more than some of them are free at the end of the heap.
const LEAST: usize = 1 << 13;
/// How much is kept at the most, all together.
const MOST: usize = 1 << 26;

/// So many blocks are looked at for one of the right size, those that were freed last.
const MOST_LOOKED_AT: usize = 512;

/// How often the list is asked for where it matters.
const TRIES: usize = 10_000;

/// A block that nobody uses.
struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: nobody else has the block's address.
unsafe impl Send for Block {}

/// Kept blocks, the one freed last at the end. Nobody waits for the list, least of all a forked child for a thread that it has not.
struct Pool(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    blocks: VecDeque<Block>,
    /// Of all of them.
    bytes: usize,
}

static POOL: Pool = Pool(Mutex::new(Kept {
    blocks: VecDeque::new(),
    bytes: 0,
}));

/// A kept block in which the layout finds room, and not much more; with the layout it was allocated with. What it holds is not known.
pub fn take(wanted: Layout) -> Option<(NonNull<u8>, Layout)> {
    POOL.take(wanted).map(|block| (block.base, block.layout))
}

/// Frees a block, or keeps it; then those that were freed first make room.
///
/// # Safety
/// The block was allocated with this layout, and nobody uses it any more.
pub unsafe fn give(base: NonNull<u8>, layout: Layout) {
    for block in POOL.give(Block { base, layout }) {
        // SAFETY: by contract; a block that was kept left the list just now.
        unsafe { dealloc(block.base.as_ptr(), block.layout) };
    }
}

/// Gives all that is kept back to the system.
pub fn free_all() {
    for block in POOL.empty() {
        // SAFETY: whoever gave it said so, and it left the list just now.
        unsafe { dealloc(block.base.as_ptr(), block.layout) };
    }
}

/// How many bytes are kept.
pub fn bytes() -> u64 {
    POOL.bytes() as u64
}

impl Pool {
    /// The list, if no other thread has it.
    fn kept(&self) -> Option<MutexGuard<'_, Kept>> {
        match self.0.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The list, which others have for some steps at a time; not for ever, as a forked child may have no such other.
    fn kept_in_turn(&self) -> Option<MutexGuard<'_, Kept>> {
        (0..TRIES).find_map(|_| {
            let kept = self.kept();
            if kept.is_none() {
                std::thread::yield_now();
            }
            kept
        })
    }

    fn take(&self, wanted: Layout) -> Option<Block> {
        if wanted.size() < LEAST {
            return None;
        }
        let most = wanted.size() + wanted.size() / 4;
        let fits = |block: &Block| (wanted.size()..=most).contains(&block.layout.size()) && block.layout.align() >= wanted.align();
        let mut kept = self.kept()?;
        let behind = kept.blocks.iter().rev().take(MOST_LOOKED_AT).position(fits)?;
        let at = kept.blocks.len() - 1 - behind;
        let found = kept.blocks.remove(at)?;
        kept.bytes -= found.layout.size();
        Some(found)
    }

    fn empty(&self) -> VecDeque<Block> {
        self.kept_in_turn()
            .map(|mut kept| std::mem::take(&mut *kept).blocks)
            .unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        self.kept_in_turn().map_or(0, |kept| kept.bytes)
    }

    /// Keeps the block if it can; the answer is what is to be freed for it, which may be the block itself.
    fn give(&self, block: Block) -> Vec<Block> {
        if !(LEAST..=MOST).contains(&block.layout.size()) {
            return vec![block];
        }
        let Some(mut kept) = self.kept() else { return vec![block] };
        kept.bytes += block.layout.size();
        kept.blocks.push_back(block);
        let mut freed = Vec::new();
        while kept.bytes > MOST
            && let Some(oldest) = kept.blocks.pop_front()
        {
            kept.bytes -= oldest.layout.size();
            freed.push(oldest);
        }
        freed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block that is only looked at: no memory is behind it.
    fn block(bytes: usize) -> Block {
        Block {
            base: NonNull::dangling(),
            layout: layout(bytes),
        }
    }

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 16).unwrap()
    }

    fn empty() -> Pool {
        Pool(Mutex::default())
    }

    #[test]
    fn blocks_come_back_for_their_size() {
        let pool = empty();
        assert!(pool.give(block(LEAST * 3)).is_empty());
        assert!(pool.take(layout(LEAST * 4)).is_none(), "too small");
        assert!(pool.take(layout(LEAST)).is_none(), "far too large");
        assert!(
            pool.take(Layout::from_size_align(LEAST * 3, 4096).unwrap()).is_none(),
            "not aligned"
        );
        assert_eq!(
            pool.take(layout(LEAST * 3 - 100)).map(|block| block.layout),
            Some(layout(LEAST * 3))
        );
        assert!(pool.take(layout(LEAST * 3)).is_none(), "taken");
    }

    #[test]
    fn what_is_kept_stays_below_the_limit() {
        let pool = empty();
        let freed: Vec<usize> = (0..5).map(|at| pool.give(block(MOST / 3 + at)).len()).collect();
        assert_eq!(freed, [0, 0, 1, 1, 1]);
        assert_eq!(
            pool.kept().unwrap().blocks.front().unwrap().layout,
            layout(MOST / 3 + 3),
            "the oldest went"
        );
        assert_eq!(pool.give(block(LEAST - 1)).len(), 1, "the allocator's");
        assert_eq!(pool.give(block(MOST + 1)).len(), 1, "larger than all that is kept");
    }

    #[test]
    fn all_is_given_back() {
        let pool = empty();
        assert!(pool.give(block(LEAST)).is_empty() && pool.give(block(LEAST * 2)).is_empty());
        assert_eq!(pool.bytes(), LEAST * 3);
        assert_eq!((pool.empty().len(), pool.bytes()), (2, 0));
        assert!(pool.take(layout(LEAST)).is_none());
    }

    #[test]
    fn nobody_waits_for_the_list() {
        let pool = empty();
        assert!(pool.give(block(LEAST)).is_empty());
        let busy = pool.kept();
        assert!(pool.take(layout(LEAST)).is_none());
        assert_eq!(pool.give(block(LEAST)).len(), 1);
        drop(busy);
        assert!(pool.take(layout(LEAST)).is_some());
    }
}
