//! Memory of the CPU device: aligned for any vector, zeroed on request, checked when read or written from outside.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, alloc_zeroed};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{kept, pages};
use weft_runtime::checked::Memory;
use weft_runtime::{Buffer, DeviceId, RunError, Stream, read_here, write_here};

const ALIGN: usize = 64;
/// What the allocator aligns to by itself. Asked for more it zeroes by hand, where `calloc` has pages that are zero when first touched.
const NATURAL_ALIGN: usize = 16;

/// Bytes in buffers that are alive, and the most there were.
static USED: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

pub fn used() -> u64 {
    USED.load(Ordering::Relaxed)
}

pub fn peak() -> u64 {
    PEAK.load(Ordering::Relaxed)
}

/// What the pool keeps beyond that.
pub fn pooled() -> u64 {
    kept::bytes()
}

/// Has the pool give that back.
pub fn free_all() {
    kept::free_all();
}

#[derive(Debug)]
pub struct HostBuffer {
    start: NonNull<u8>,
    /// What was allocated: `start` is its first aligned address.
    base: NonNull<u8>,
    layout: Layout,
    bytes: usize,
    /// It counts among the buffers that are alive.
    counts: bool,
}

/// Arrays of a running function that are smaller than this are counted once it hands them out: to count each costs as much as to make it.
const COUNTED: usize = 4096;

// SAFETY: the memory belongs to this value; who writes to it while others read is the affair of the program that shares it.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// None when the system has not that much.
    pub fn new(bytes: usize, zeroed: bool) -> Option<HostBuffer> {
        HostBuffer::uncounted(bytes, zeroed).map(HostBuffer::counted)
    }

    /// One of a running function, which most likely ends with it.
    pub fn temporary(bytes: usize, zeroed: bool) -> Option<HostBuffer> {
        let buffer = HostBuffer::uncounted(bytes, zeroed)?;
        Some(if bytes < COUNTED { buffer } else { buffer.counted() })
    }

    /// It is not counted, and costs little to keep for another array.
    pub fn is_small(&self) -> bool {
        !self.counts
    }

    pub fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.layout.size() - (ALIGN - NATURAL_ALIGN)
    }

    /// The same memory for another array, for which it has room.
    pub fn again(self, bytes: usize, zeroed: bool) -> HostBuffer {
        debug_assert!(self.has_room(bytes));
        if zeroed {
            // SAFETY: there is room for so many bytes, and nobody else has the block.
            unsafe { self.start.write_bytes(0, bytes) };
        }
        let mut buffer = self;
        buffer.bytes = bytes;
        buffer
    }

    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub fn counted(mut self) -> HostBuffer {
        if !self.counts {
            let used = USED.fetch_add(self.bytes as u64, Ordering::Relaxed) + self.bytes as u64;
            PEAK.fetch_max(used, Ordering::Relaxed);
            self.counts = true;
        }
        self
    }

    fn uncounted(bytes: usize, zeroed: bool) -> Option<HostBuffer> {
        // An empty array needs an address of its own, too.
        let room = bytes.max(1).checked_add(ALIGN - NATURAL_ALIGN)?;
        let layout = Layout::from_size_align(room, NATURAL_ALIGN).ok()?;
        let (base, layout) = match kept::take(layout) {
            Some((base, layout)) => {
                if zeroed {
                    // SAFETY: the block has this size and is nobody else's.
                    unsafe { base.write_bytes(0, layout.size()) };
                }
                (base, layout)
            }
            None => (fresh(layout, zeroed).or_else(|| retried(layout, zeroed))?, layout),
        };
        // SAFETY: the first aligned address lies at most `ALIGN - NATURAL_ALIGN` bytes on.
        let start = unsafe { base.add(base.as_ptr().align_offset(ALIGN)) };
        Some(HostBuffer {
            start,
            base,
            layout,
            bytes,
            counts: false,
        })
    }

    /// Does the buffer hold this address? One past the end counts, for empty views.
    pub fn holds(&self, address: u64) -> bool {
        let start = self.address();
        (start..=start + self.bytes as u64).contains(&address)
    }
}

/// Once more, when the pool has given back what it kept.
#[cold]
fn retried(layout: Layout, zeroed: bool) -> Option<NonNull<u8>> {
    kept::free_all();
    fresh(layout, zeroed)
}

/// A block of the allocator's, of a size that is not 0.
fn fresh(layout: Layout, zeroed: bool) -> Option<NonNull<u8>> {
    // SAFETY: by contract the size is not 0.
    let base = NonNull::new(unsafe { if zeroed { alloc_zeroed(layout) } else { alloc(layout) } })?;
    // SAFETY: it is this block.
    unsafe { pages::enlarge(base.as_ptr(), layout.size()) };
    Some(base)
}

impl Buffer for HostBuffer {
    fn device(&self) -> DeviceId {
        DeviceId::CPU
    }

    fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        read_here(self, offset, into, || Ok(()))
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        write_here(self, offset, from, || Ok(()))
    }

    fn used_on(&self, _stream: Option<&Arc<dyn Stream>>) {}
}

/// Memory of others, which they keep.
#[derive(Debug)]
pub struct Borrowed {
    pub address: u64,
    pub bytes: usize,
}

impl Buffer for Borrowed {
    fn device(&self) -> DeviceId {
        DeviceId::CPU
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        read_here(self, offset, into, || Ok(()))
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        write_here(self, offset, from, || Ok(()))
    }

    fn used_on(&self, _stream: Option<&Arc<dyn Stream>>) {}
}

/// The host's memory as checked mode reads and writes it.
#[derive(Clone, Copy, Debug)]
pub struct HostMemory;

impl Memory for HostMemory {
    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, RunError> {
        // SAFETY: the range lies between elements of an array the caller passed, whose memory is one block.
        Ok(unsafe { std::slice::from_raw_parts(address as *const u8, bytes) }.to_vec())
    }

    fn write(&self, address: u64, new: &[u8], old: &[u8]) -> Result<(), RunError> {
        for (i, (new, _)) in new.iter().zip(old).enumerate().filter(|(_, (new, old))| new != old) {
            // SAFETY: inside the range that was read.
            unsafe { *(address as *mut u8).add(i) = *new };
        }
        Ok(())
    }

    fn keep(&self, bytes: &[u8]) -> Result<Box<dyn Buffer>, RunError> {
        let buffer = HostBuffer::boxed(bytes.len())?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.counts {
            USED.fetch_sub(self.bytes as u64, Ordering::Relaxed);
        }
        // SAFETY: allocated with this layout in `new`.
        unsafe { kept::give(self.base, self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_stay_inside() {
        for bytes in [0, 1, 100, 1 << 22] {
            assert_eq!(HostBuffer::new(bytes, true).unwrap().address() % 64, 0);
        }
        let buffer = HostBuffer::new(16, true).unwrap();
        buffer.write(4, &[1, 2, 3]).unwrap();
        let mut back = [9; 5];
        buffer.read(3, &mut back).unwrap();
        assert_eq!(back, [0, 1, 2, 3, 0]);
        assert!(buffer.write(14, &[1, 2, 3]).is_err());
        assert!(buffer.read(usize::MAX, &mut back).is_err());
        assert!(HostBuffer::new(usize::MAX, false).is_none());
    }
}
