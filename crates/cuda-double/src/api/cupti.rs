//! The part of CUPTI that times work: one subscriber, who hears of the driver's calls, and records of what ran. In NVIDIA's software it
//! is a library of its own; here it is in the driver's, so that who has the one has the other.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering;

use super::{calls, put};
use crate::driver::activity::{self, BufferDone, CALLBACKS, HEARS, KINDS, Listener, SUBSCRIBER, Subscriber, WantBuffer};
use crate::driver::lock;

/// Codes of `CUptiResult`.
const INVALID_PARAMETER: u32 = 1;
const INVALID_OPERATION: u32 = 7;
const INVALID_KIND: u32 = 21;
const MULTIPLE_SUBSCRIBERS: u32 = 39;
/// The handle of the one subscriber.
const HANDLE: u64 = 0x5_0b5c;
/// CUPTI 13.0.
const VERSION: u32 = 130_000;

calls! {
    fn cuptiGetVersion(to: *mut u32) {
        put(to, VERSION)
    }

    fn cuptiGetResultString(code: u32, to: *mut *const c_char) {
        let text = match code {
            1 => c"CUPTI_ERROR_INVALID_PARAMETER",
            7 => c"CUPTI_ERROR_INVALID_OPERATION",
            12 => c"CUPTI_ERROR_MAX_LIMIT_REACHED",
            15 => c"CUPTI_ERROR_NOT_INITIALIZED",
            21 => c"CUPTI_ERROR_INVALID_KIND",
            35 => c"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
            39 => c"CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
            _ => c"CUPTI_ERROR_UNKNOWN",
        };
        put(to, text.as_ptr())
    }

    fn cuptiGetTimestamp(to: *mut u64) {
        put(to, activity::now())
    }

    fn cuptiSubscribe(to: *mut u64, listener: Option<Listener>, argument: *mut c_void) {
        let mut subscriber = lock(&SUBSCRIBER);
        if subscriber.is_some() {
            return Err(MULTIPLE_SUBSCRIBERS);
        }
        put(to, HANDLE)?;
        *subscriber = Some(Subscriber {
            listener: listener.ok_or(INVALID_PARAMETER)?,
            argument: argument as u64,
            hears: false,
        });
        Ok(())
    }

    fn cuptiUnsubscribe(handle: u64) {
        let subscriber = lock(&SUBSCRIBER).take();
        HEARS.store(false, Ordering::Relaxed);
        subscriber.filter(|_| handle == HANDLE).map(|_| ()).ok_or(INVALID_PARAMETER)
    }

    fn cuptiEnableDomain(enable: u32, handle: u64, domain: u32) {
        let mut subscriber = lock(&SUBSCRIBER);
        let subscriber = subscriber.as_mut().filter(|_| handle == HANDLE && domain == 1);
        subscriber.ok_or(INVALID_PARAMETER)?.hears = enable != 0;
        HEARS.store(enable != 0, Ordering::Relaxed);
        Ok(())
    }

    fn cuptiActivityRegisterCallbacks(want: Option<WantBuffer>, done: Option<BufferDone>) {
        *lock(&CALLBACKS) = Some(want.zip(done).ok_or(INVALID_PARAMETER)?);
        Ok(())
    }

    fn cuptiActivityEnable(kind: u32) {
        activity::size(kind).ok_or(INVALID_KIND)?;
        KINDS.fetch_or(1 << kind, Ordering::Relaxed);
        Ok(())
    }

    fn cuptiActivityDisable(kind: u32) {
        activity::size(kind).ok_or(INVALID_KIND)?;
        KINDS.fetch_and(!(1 << kind), Ordering::Relaxed);
        Ok(())
    }

    fn cuptiActivityFlushAll(_flag: u32) {
        if lock(&CALLBACKS).is_none() {
            return Err(INVALID_OPERATION);
        }
        activity::flush();
        Ok(())
    }

    fn cuptiActivityGetNextRecord(buffer: *mut u8, bytes: usize, record: *mut *mut u8) {
        if buffer.is_null() || record.is_null() {
            return Err(INVALID_PARAMETER);
        }
        *record = activity::next(buffer, bytes, *record)?;
        Ok(())
    }
}
