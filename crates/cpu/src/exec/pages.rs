//! Pages of large blocks of memory. Linux gives pages of 2 MiB to who asks for them: a fault each instead of 512, and fewer entries of the
//! TLB.

#![allow(unsafe_code)]

/// Bytes from which on there may be such a page in a block. (NumPy asks for them from twice as many on.)
const LARGE: usize = 1 << 21;

/// Asks for large pages. A system that has none ignores it.
///
/// # Safety
/// So many bytes from `start` on are one block of the caller's.
#[cfg(target_os = "linux")]
pub unsafe fn enlarge(start: *mut u8, bytes: usize) {
    const PAGE: usize = 4096;
    if bytes < LARGE {
        return;
    }
    let skipped = start.align_offset(PAGE);
    // SAFETY: the pages lie inside of the block, and what they hold is not changed.
    unsafe { libc::madvise(start.wrapping_add(skipped).cast(), bytes - skipped, libc::MADV_HUGEPAGE) };
}

/// # Safety
/// As the other one.
#[cfg(not(target_os = "linux"))]
pub unsafe fn enlarge(_start: *mut u8, _bytes: usize) {}
