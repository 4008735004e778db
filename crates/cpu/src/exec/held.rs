//! Allocations of a call: what it has allocated. Host code of a call runs on one thread at a time, and nothing else touches this list while
//! it does: points that allocate have contexts of their own.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;

use super::memory::HostBuffer;

#[derive(Debug, Default)]
pub struct Held(UnsafeCell<Vec<HostBuffer>>);

// SAFETY: whoever takes the list says that no other thread does (`with`).
unsafe impl Sync for Held {}

impl Held {
    /// # Safety
    /// Called by the runtime functions that a context's own host code calls, one after the other.
    pub unsafe fn with<T>(&self, f: impl FnOnce(&mut Vec<HostBuffer>) -> T) -> T {
        // SAFETY: by contract nobody else holds a reference; `f` does not call compiled code.
        f(unsafe { &mut *self.0.get() })
    }

    pub fn into_inner(self) -> Vec<HostBuffer> {
        self.0.into_inner()
    }
}
