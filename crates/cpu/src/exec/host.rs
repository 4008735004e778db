//! What only the host has, for compiled code: memory of the thread that runs, and the C library's functions.

use weft_ir::{Libm, ThreadState};
use weft_runtime::threads;

/// The address of the calling thread's memory, by the number of what is asked for.
pub extern "C" fn weft_thread_state(state: i32) -> *mut u8 {
    let state = usize::try_from(state).ok().and_then(|number| ThreadState::ALL.get(number));
    threads::address(*state.unwrap_or(&ThreadState::NumpyWords))
}

pub extern "C" fn weft_libm_log(x: f64) -> f64 {
    Libm::Log.of(x, 0.0)
}

pub extern "C" fn weft_libm_exp(x: f64) -> f64 {
    Libm::Exp.of(x, 0.0)
}

pub extern "C" fn weft_libm_pow(x: f64, y: f64) -> f64 {
    Libm::Pow.of(x, y)
}

pub extern "C" fn weft_libm_cos(x: f64) -> f64 {
    Libm::Cos.of(x, 0.0)
}

pub extern "C" fn weft_libm_acos(x: f64) -> f64 {
    Libm::Acos.of(x, 0.0)
}
