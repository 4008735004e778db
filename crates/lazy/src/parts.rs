//! How large the parts are of what is computed part by part, so that a cache holds them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a part's elements, at the least: the second cache holds those of an operand, of a result, and of what is between.
const USUAL: u64 = 1 << 18;
/// Bytes of a row that are worth being computed by themselves: so many rows make a part.
const ROWS: u64 = 256;
/// So many parts are worth more threads than one.
const SHARED: u64 = 4;

static BYTES: AtomicU64 = AtomicU64::new(USUAL);

/// Has parts be of so many bytes, or as usual: tests of parts are tests of small arrays.
pub fn set(bytes: Option<u64>) {
    BYTES.store(bytes.unwrap_or(USUAL).max(1), Ordering::Relaxed);
}

pub fn bytes() -> u64 {
    BYTES.load(Ordering::Relaxed)
}

/// Bytes of the shortest rows that are computed by themselves.
pub fn narrow() -> u64 {
    bytes() / ROWS
}

/// Bytes from which on elements are shared among threads.
pub fn shared() -> u64 {
    bytes() * SHARED
}
