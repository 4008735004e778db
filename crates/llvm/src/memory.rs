//! Executable memory: pages that are written, then sealed: code becomes executable and read-only, constants read-only.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use crate::Error;

/// What a piece of loaded memory may do once it is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    Execute,
    Read,
    Write,
}

/// One anonymous mapping, unmapped when dropped.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value and is written only through `&mut self`.
unsafe impl Send for Memory {}
// SAFETY: as above; shared references only read the address.
unsafe impl Sync for Memory {}

pub fn page_size() -> usize {
    // SAFETY: asks for a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

impl Memory {
    /// Zeroed, writable pages; `bytes` is a multiple of the page size and not 0.
    pub fn new(bytes: usize) -> Result<Memory, Error> {
        // SAFETY: a fresh private mapping at a place of the system's choice.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANON,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::Load(format!("no memory for {bytes} bytes of code")));
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| Error::Load("the system mapped code at address 0".into()))?;
        Ok(Memory { start, bytes })
    }

    pub fn address(&self) -> usize {
        self.start.as_ptr() as usize
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is `bytes` long, ours alone, and writable until `seal`, after which no caller writes.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }

    /// Gives `from..to` (page-aligned offsets) its final access.
    pub fn seal(&mut self, from: usize, to: usize, access: Access) -> Result<(), Error> {
        if from >= to || to > self.bytes {
            return Ok(());
        }
        let protection = match access {
            Access::Execute => libc::PROT_READ | libc::PROT_EXEC,
            Access::Read => libc::PROT_READ,
            Access::Write => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: the range lies inside the mapping.
        unsafe {
            let start = self.start.as_ptr().add(from);
            if access == Access::Execute {
                flush_instructions(start, to - from);
            }
            if libc::mprotect(start.cast(), to - from, protection) != 0 {
                return Err(Error::Load("the system refuses executable memory".into()));
            }
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours; `Library`'s contract is that nothing runs in it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Makes freshly written code visible to instruction fetch, where the hardware does not do so by itself.
///
/// # Safety
/// The range is mapped.
unsafe fn flush_instructions(start: *mut u8, bytes: usize) {
    #[cfg(target_arch = "aarch64")]
    {
        unsafe extern "C" {
            fn __clear_cache(from: *mut std::ffi::c_char, to: *mut std::ffi::c_char);
        }
        // SAFETY: by this function's contract.
        unsafe { __clear_cache(start.cast(), start.add(bytes).cast()) };
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = (start, bytes);
}
