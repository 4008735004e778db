//! Locks that a panic does not poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose holder cannot have left it half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
