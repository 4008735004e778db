//! The C interface: one file per subject, each call a thin shell over `driver`.
//!
//! Every call counts against `WEFT_DOUBLE_FAIL` first, and a panic in one becomes `CUDA_ERROR_UNKNOWN`.

pub mod context;
pub mod copy;
pub mod cublas;
pub mod cufft;
pub mod cupti;
pub mod cusolver;
pub mod device;
pub mod event;
pub mod graph;
pub mod jacobi;
pub mod launch;
pub mod lookup;
pub mod memory;
pub mod module;
pub mod pointer;
pub mod pool;
pub mod stream;

use crate::codes::{self, Code};
use crate::driver::activity::Call;
use crate::driver::{FAILURES, Outcome};

/// Runs the body of a call.
pub(crate) fn call(name: &str, body: impl FnOnce() -> Outcome) -> Code {
    let _heard = Call::begin(name);
    if let Some(code) = FAILURES.check(name) {
        return code;
    }
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        Ok(Ok(())) => codes::SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => codes::UNKNOWN,
    }
}

/// Defines calls of the driver's C interface, and `table` of their names and addresses. A body is unsafe as a whole: what pointers point to
/// is the C caller's promise.
macro_rules! calls {
    ($( $(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block )*) => {
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
                $crate::api::call(stringify!($name), || {
                    // SAFETY: the caller's pointers are what the driver's manual asks for; null is refused where they are used.
                    #[allow(unused_unsafe)]
                    unsafe { $body }
                })
            }
        )*

        /// The calls of this file by name.
        pub fn table() -> Vec<(&'static str, *const std::ffi::c_void)> {
            vec![$((stringify!($name), $name as *const std::ffi::c_void)),*]
        }
    };
}
pub(crate) use calls;

/// Writes a result.
///
/// # Safety
/// `to` is null or may be written.
#[allow(unsafe_code)]
pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Outcome {
    if to.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller says it may be written.
    unsafe { to.write(value) };
    Ok(())
}

/// Writes a result somebody may not want.
///
/// # Safety
/// As for `put`.
#[allow(unsafe_code)]
pub(crate) unsafe fn put_if<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: as above.
        unsafe { to.write(value) };
    }
}

/// A C string.
///
/// # Safety
/// `text` is null or ends with a zero.
#[allow(unsafe_code)]
pub(crate) unsafe fn text<'a>(text: *const std::ffi::c_char) -> Outcome<&'a str> {
    if text.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller says it ends.
    let text = unsafe { std::ffi::CStr::from_ptr(text) };
    text.to_str().map_err(|_| codes::INVALID_VALUE)
}
