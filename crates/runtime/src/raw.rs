//! Host memory by address: what staging buffers, mailboxes and copies touch.

#![allow(unsafe_code)]

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
pub trait Word: Copy {}
impl Word for u32 {}
impl Word for u64 {}

pub fn load<T: Word>(address: u64) -> T {
    // SAFETY: mapped memory that the caller holds, aligned for the word.
    unsafe { std::ptr::read_volatile(address as *const T) }
}

pub fn store<T: Word>(address: u64, value: T) {
    // SAFETY: as above.
    unsafe { std::ptr::write_volatile(address as *mut T, value) };
}
