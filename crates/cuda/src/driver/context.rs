//! A device's primary context: made when first used, current on the thread while something runs in it, lost when the driver says so.

#![allow(unsafe_code)]

use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use weft_forks as forks;
use weft_runtime::{DeviceId, DeviceLost, RunError};

use super::table::{ContextHandle, DeviceOrdinal};
use super::{Driver, Failure};

/// The driver's results that mean something to us (`CUresult`).
pub mod codes {
    use super::super::table::Code;

    pub const INVALID_VALUE: Code = 1;
    pub const OUT_OF_MEMORY: Code = 2;
    pub const NO_DEVICE: Code = 100;
    pub const NOT_READY: Code = 600;
    pub const PEER_ACCESS_ALREADY_ENABLED: Code = 704;
    /// What must not be done while a stream captures, from `…_STREAM_CAPTURE_UNSUPPORTED` to `…_WRONG_THREAD`.
    pub const OF_CAPTURES: std::ops::RangeInclusive<Code> = 900..=908;
    /// The capture has ended by an error before.
    pub const CAPTURE_INVALIDATED: Code = 901;
    /// The default stream would wait for a stream that captures.
    pub const CAPTURE_IMPLICIT: Code = 906;
    /// Ours: the driver has not the function.
    pub const MISSING: Code = -1;
    /// After these the context takes no more work: errors of the hardware, illegal addresses and instructions, asserts, lost contexts,
    /// memory of tensor cores that was not given back (721), a server of several processes that ended this one (810), devices outside (911).
    pub const FATAL: [Code; 18] = [
        4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911,
    ];
}

/// Numbers of `CUdevice_attribute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Attribute {
    MaxThreadsPerBlock = 1,
    MaxBlockDimX = 2,
    MaxBlockDimY = 3,
    MaxBlockDimZ = 4,
    MaxGridDimX = 5,
    MaxGridDimY = 6,
    MaxGridDimZ = 7,
    MaxSharedMemoryPerBlock = 8,
    WarpSize = 10,
    MaxRegistersPerBlock = 12,
    MultiprocessorCount = 16,
    MaxThreadsPerMultiprocessor = 39,
    ComputeCapabilityMajor = 75,
    ComputeCapabilityMinor = 76,
    ManagedMemory = 83,
    CooperativeLaunch = 95,
    MaxSharedMemoryPerBlockOptin = 97,
    MemoryPoolsSupported = 115,
}

/// One device and its primary context.
#[derive(Debug)]
pub struct Context {
    pub driver: Arc<Driver>,
    pub id: DeviceId,
    pub ordinal: DeviceOrdinal,
    /// Retained for as long as the process lives: other libraries share it.
    handle: OnceLock<Result<ContextHandle, Failure>>,
    lost: OnceLock<DeviceLost>,
    /// The kernel launched last.
    last: AtomicPtr<Name>,
    /// The first error since a capture began that ended captures.
    cause: Mutex<Option<Failure>>,
}

/// A kernel's name, kept for good: the device's last launch may outlive its executable. There are as many as programs have kernels.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Name(String);

impl Name {
    pub fn of(text: &str) -> &'static Name {
        static NAMES: Mutex<Vec<&'static Name>> = Mutex::new(Vec::new());
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = names.iter().find(|name| name.0 == text) {
            return name;
        }
        let name: &'static Name = Box::leak(Box::new(Name(text.into())));
        names.push(name);
        name
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Context {
    pub fn new(driver: Arc<Driver>, index: u32, ordinal: DeviceOrdinal) -> Context {
        Context {
            driver,
            id: DeviceId::cuda(index),
            ordinal,
            handle: OnceLock::new(),
            lost: OnceLock::new(),
            last: AtomicPtr::new(ptr::null_mut()),
            cause: Mutex::new(None),
        }
    }

    /// Makes the context current on this thread until the result is dropped.
    #[inline]
    pub fn enter(&self) -> Result<Entered<'_>, RunError> {
        if self.is_forked() {
            return Err(RunError::Forked(self.id));
        }
        if let Some(lost) = self.lost.get() {
            return Err(RunError::DeviceLost(Box::new(lost.clone())));
        }
        let handle = self.handle()?;
        // Asked every time: other libraries change it, too. It is a read of a thread's variable.
        let mut before = ContextHandle::NULL;
        // SAFETY: writes the handle.
        self.check(unsafe { self.driver.ctx_get_current(&mut before) })?;
        if before == handle {
            return Ok(Entered {
                driver: &self.driver,
                before: None,
            });
        }
        // SAFETY: the handle of a context that stays.
        self.check(unsafe { self.driver.ctx_set_current(handle) })?;
        Ok(Entered {
            driver: &self.driver,
            before: (before != ContextHandle::NULL).then_some(before),
        })
    }

    /// Was the process forked since it started the driver?
    #[inline]
    pub fn is_forked(&self) -> bool {
        forks::count() != self.driver.forks
    }

    /// Is there a use in calling the driver: it was used here, in this process, and still works?
    pub fn is_alive(&self) -> bool {
        !self.is_forked() && self.lost.get().is_none() && matches!(self.handle.get(), Some(Ok(_)))
    }

    /// Has anything been done in the context?
    pub fn is_used(&self) -> bool {
        self.handle.get().is_some()
    }

    pub fn handle(&self) -> Result<ContextHandle, RunError> {
        let made = self.handle.get_or_init(|| {
            let mut handle = ContextHandle::NULL;
            // SAFETY: writes the handle.
            unsafe { self.driver.primary_ctx_retain(&mut handle, self.ordinal) }.map(|()| handle)
        });
        made.map_err(|failure| self.error(failure))
    }

    #[inline]
    pub fn check<T>(&self, result: Result<T, Failure>) -> Result<T, RunError> {
        result.map_err(|failure| self.error(failure))
    }

    /// What a failed call means; one that ends the context is remembered.
    #[cold]
    pub fn error(&self, failure: Failure) -> RunError {
        let error = self.driver.describe(failure);
        if failure.is_of_capture() && !failure.is_invalidated_capture() {
            self.cause().get_or_insert(failure);
        }
        if !failure.is_fatal() {
            return RunError::Driver(Box::new(error));
        }
        let lost = self.lost.get_or_init(|| DeviceLost {
            device: self.id,
            kernel: self.last_kernel(),
            error,
        });
        RunError::DeviceLost(Box::new(lost.clone()))
    }

    fn cause(&self) -> MutexGuard<'_, Option<Failure>> {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A capture begins: errors of earlier ones are none of its.
    pub fn forget_cause(&self) {
        *self.cause() = None;
    }

    /// What a failure says that is only the consequence of another: a capture had ended before.
    pub fn first_cause(&self, failure: Failure) -> RunError {
        let cause = self.cause().unwrap_or(failure);
        self.error(cause)
    }

    /// Remembers what was launched, to name it should the device fail. One store, since every launch does it.
    #[inline]
    pub fn launched(&self, kernel: &'static Name) {
        self.last.store(ptr::from_ref(kernel).cast_mut(), Ordering::Relaxed);
    }

    fn last_kernel(&self) -> Option<String> {
        // SAFETY: null, or a name, which lives for good.
        let name = unsafe { self.last.load(Ordering::Relaxed).as_ref() }?;
        Some(name.0.clone())
    }

    pub fn attribute(&self, number: i32) -> Option<i32> {
        let mut value = 0;
        // SAFETY: writes the value.
        unsafe { self.driver.device_get_attribute(&mut value, number, self.ordinal) }.ok()?;
        Some(value)
    }

    /// An attribute every device has.
    pub fn get(&self, attribute: Attribute) -> u32 {
        self.attribute(attribute as i32)
            .and_then(|value| u32::try_from(value).ok())
            .unwrap_or(0)
    }
}

/// The context is current on this thread.
#[derive(Debug)]
pub struct Entered<'a> {
    driver: &'a Driver,
    /// Another library's context that was current before.
    before: Option<ContextHandle>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was current when this was made.
            let _ = unsafe { self.driver.ctx_set_current(before) };
        }
    }
}
