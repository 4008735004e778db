//! Raw host memory by address: what staging buffers, mailboxes and copies touch.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Host memory that the caller knows to be there, and to stay as it is, for as long as it uses the result.
pub fn bytes<'a>(address: u64, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(address as *const u8, bytes) }
}

/// Reads host memory, which the caller knows to be there.
pub fn read(from: u64, into: &mut [u8]) {
    copy(into.as_mut_ptr() as u64, from, into.len());
}

pub fn write(to: u64, from: &[u8]) {
    copy(to, from.as_ptr() as u64, from.len());
}

/// Copies between two places in host memory that the caller knows to be there.
pub fn copy(to: u64, from: u64, bytes: usize) {
    // SAFETY: by contract; places that overlap are copied rightly.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
}

/// One word of memory that a device may write to meanwhile.
pub trait Word: Copy {
    /// # Safety
    /// Memory that is there, aligned for the word.
    unsafe fn load(from: *mut Self) -> Self;
    /// # Safety
    /// As for `load`.
    unsafe fn store(to: *mut Self, value: Self);
}

macro_rules! words {
    ($($word:ty, $atomic:ty;)*) => {$(
        impl Word for $word {
            unsafe fn load(from: *mut $word) -> $word {
                // SAFETY: by contract.
                unsafe { <$atomic>::from_ptr(from) }.load(Ordering::Acquire)
            }

            unsafe fn store(to: *mut $word, value: $word) {
                // SAFETY: by contract.
                unsafe { <$atomic>::from_ptr(to) }.store(value, Ordering::Release);
            }
        }
    )*};
}

words! {
    u32, AtomicU32;
    u64, AtomicU64;
}

/// Reads a word; what a device wrote before it released this one is read behind it.
pub fn load<T: Word>(address: u64) -> T {
    // SAFETY: mapped memory that the caller holds, aligned for the word.
    unsafe { T::load(address as *mut T) }
}

/// Writes a word behind all that was written before.
pub fn store<T: Word>(address: u64, value: T) {
    // SAFETY: as above.
    unsafe { T::store(address as *mut T, value) }
}
