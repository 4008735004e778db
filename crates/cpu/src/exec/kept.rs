//! The memory pool: what was freed is kept for the next array of its size, since fresh pages cost a fault each (a quarter of a microsecond
//! for 4 KiB), which for large results is as much as computing them.

#![allow(unsafe_code)]

use std::alloc::{Layout, dealloc};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Smaller blocks are the allocator's, which keeps them itself.
const LEAST: usize = 1 << 17;
/// How much is kept at the most, all together.
const MOST: usize = 1 << 26;

/// A block that nobody uses.
struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: nobody else has the block's address.
unsafe impl Send for Block {}

/// Kept blocks, the one freed last at the end.
static KEPT: Mutex<VecDeque<Block>> = Mutex::new(VecDeque::new());

/// The list, if nobody else has it: no thread waits here, least of all in a forked child for one that it has not.
fn kept() -> Option<MutexGuard<'static, VecDeque<Block>>> {
    match KEPT.try_lock() {
        Ok(kept) => Some(kept),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// A kept block in which the layout finds room, and not much more; with the layout it was allocated with. What it holds is not known.
pub fn take(wanted: Layout) -> Option<(NonNull<u8>, Layout)> {
    if wanted.size() < LEAST {
        return None;
    }
    let most = wanted.size() + wanted.size() / 4;
    let fits = |block: &Block| (wanted.size()..=most).contains(&block.layout.size()) && block.layout.align() >= wanted.align();
    let mut kept = kept()?;
    let at = kept.iter().rposition(fits)?;
    kept.remove(at).map(|block| (block.base, block.layout))
}

/// Frees a block, or keeps it; then those that were freed first make room.
///
/// # Safety
/// The block was allocated with this layout, and nobody uses it any more.
pub unsafe fn give(base: NonNull<u8>, layout: Layout) {
    let mut freed = vec![Block { base, layout }];
    if (LEAST..=MOST).contains(&layout.size())
        && let Some(mut kept) = kept()
    {
        kept.extend(freed.drain(..));
        let mut bytes: usize = kept.iter().map(|block| block.layout.size()).sum();
        while bytes > MOST
            && let Some(oldest) = kept.pop_front()
        {
            bytes -= oldest.layout.size();
            freed.push(oldest);
        }
    }
    for block in freed {
        // SAFETY: by contract; a block that was kept left the list just now.
        unsafe { dealloc(block.base.as_ptr(), block.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::alloc;

    fn block(bytes: usize) -> (NonNull<u8>, Layout) {
        let layout = Layout::from_size_align(bytes, 16).unwrap();
        // SAFETY: the size is not 0.
        (NonNull::new(unsafe { alloc(layout) }).unwrap(), layout)
    }

    /// One test, since all share what is kept.
    #[test]
    fn blocks_come_back_for_their_size_and_are_no_more_than_the_limit() {
        let (base, layout) = block(LEAST * 3);
        // SAFETY: it is nobody else's.
        unsafe { give(base, layout) };
        assert!(take(Layout::from_size_align(LEAST * 4, 16).unwrap()).is_none(), "too small");
        assert!(take(Layout::from_size_align(LEAST, 16).unwrap()).is_none(), "far too large");
        assert_eq!(take(Layout::from_size_align(LEAST * 3 - 100, 16).unwrap()), Some((base, layout)));
        for _ in 0..5 {
            let (base, layout) = block(MOST / 3);
            // SAFETY: as above.
            unsafe { give(base, layout) };
        }
        assert!(kept().unwrap().iter().map(|block| block.layout.size()).sum::<usize>() <= MOST);
        // SAFETY: as above.
        unsafe { give(base, layout) };
    }
}
