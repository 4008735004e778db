//! Memory of the CPU device: aligned for any vector, zeroed on request, checked when read or written from outside.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use weft_runtime::{Buffer, RunError};

const ALIGN: usize = 64;
/// What the allocator aligns to by itself. Asked for more it zeroes by hand, where `calloc` has pages that are zero when first touched.
const NATURAL_ALIGN: usize = 16;

#[derive(Debug)]
pub struct HostBuffer {
    start: NonNull<u8>,
    /// What was allocated: `start` is its first aligned address.
    base: NonNull<u8>,
    layout: Layout,
    bytes: usize,
}

// SAFETY: the memory belongs to this value; who writes to it while others read is the affair of the program that shares it.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// None when the system has not that much.
    pub fn new(bytes: usize, zeroed: bool) -> Option<HostBuffer> {
        // An empty array needs an address of its own, too.
        let room = bytes.max(1).checked_add(ALIGN - NATURAL_ALIGN)?;
        let layout = Layout::from_size_align(room, NATURAL_ALIGN).ok()?;
        // SAFETY: the layout's size is not 0.
        let base = NonNull::new(unsafe { if zeroed { alloc_zeroed(layout) } else { alloc(layout) } })?;
        // SAFETY: the first aligned address lies at most `ALIGN - NATURAL_ALIGN` bytes on.
        let start = unsafe { base.add(base.as_ptr().align_offset(ALIGN)) };
        Some(HostBuffer {
            start,
            base,
            layout,
            bytes,
        })
    }

    /// Does the buffer hold this address? One past the end counts, for empty views.
    pub fn holds(&self, address: u64) -> bool {
        let start = self.address();
        (start..=start + self.bytes as u64).contains(&address)
    }

    fn check(&self, offset: usize, bytes: usize) -> Result<(), RunError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(()),
            _ => Err(RunError::Invalid(format!(
                "{bytes} bytes at {offset} are outside a buffer of {} bytes",
                self.bytes
            ))),
        }
    }
}

impl Buffer for HostBuffer {
    fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        self.check(offset, into.len())?;
        // SAFETY: the range is inside the buffer; `into` is other memory.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr().add(offset), into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        self.check(offset, from.len())?;
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.as_ptr().add(offset), from.len()) };
        Ok(())
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
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
