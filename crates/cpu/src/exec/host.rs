//! What only the host has, for compiled code: memory of the thread that runs, and the C library's functions.

use weft_ir::ThreadState;
use weft_runtime::threads;

/// The address of the calling thread's memory, by the number of what is asked for.
pub extern "C" fn weft_thread_state(state: i32) -> *mut u8 {
    let state = usize::try_from(state).ok().and_then(|number| ThreadState::ALL.get(number));
    threads::address(*state.unwrap_or(&ThreadState::NumpyWords))
}

/// The C library's functions, which compiled code calls by their own addresses.
#[allow(unsafe_code)]
pub mod libm {
    // SAFETY: they have these signatures in C, and are defined for all numbers.
    unsafe extern "C" {
        pub safe fn log(x: f64) -> f64;
        pub safe fn exp(x: f64) -> f64;
        pub safe fn pow(x: f64, y: f64) -> f64;
        pub safe fn cos(x: f64) -> f64;
        pub safe fn acos(x: f64) -> f64;
    }
}
