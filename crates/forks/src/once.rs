//! Values made once and locks, which no forked child finds half made or locked.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self, MutexGuard, OnceLock, PoisonError};

use crate::gate::{Holder, hold};

/// A value that is made when it is first asked for, by one thread while the others wait.
#[derive(Debug)]
pub struct Once<T>(OnceLock<T>);

impl<T> Once<T> {
    pub const fn new() -> Once<T> {
        Once(OnceLock::new())
    }

    /// The value, if it has been made.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value. `make` must not wait for Python's GIL.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => self.init(make),
        }
    }

    #[cold]
    fn init(&self, make: impl FnOnce() -> T) -> &T {
        let _holder = hold();
        self.0.get_or_init(make)
    }
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once::new()
    }
}

/// A lock whose holders leave nothing half changed, even where they panic.
#[derive(Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    /// Whoever has the result must not wait for Python's GIL.
    pub fn lock(&self) -> Locked<'_, T> {
        let holder = hold();
        Locked {
            guard: self.0.lock().unwrap_or_else(PoisonError::into_inner),
            _holder: holder,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The value of a [`Mutex`], which is unlocked when this is dropped.
pub struct Locked<'a, T> {
    /// Dropped first: the lock is open before a fork may happen.
    guard: MutexGuard<'a, T>,
    _holder: Holder,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: fmt::Debug> fmt::Debug for Locked<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.guard.fmt(f)
    }
}
