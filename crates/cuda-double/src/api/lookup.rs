//! Finding calls by name, and what only the double offers.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use super::{calls, context, copy, device, event, graph, launch, memory, module, pointer, pool, put, put_if, stream, text};
use crate::codes;
use crate::driver::{FAILURES, last_report};

/// Addresses by name.
fn symbols() -> &'static HashMap<&'static str, usize> {
    static SYMBOLS: OnceLock<HashMap<&'static str, usize>> = OnceLock::new();
    SYMBOLS.get_or_init(|| {
        let tables = [
            table(),
            context::table(),
            copy::table(),
            device::table(),
            event::table(),
            graph::table(),
            launch::table(),
            memory::table(),
            module::table(),
            pointer::table(),
            pool::table(),
            stream::table(),
        ];
        tables
            .into_iter()
            .flatten()
            .map(|(name, address)| (name, address as usize))
            .collect()
    })
}

/// The newest form of a call; its plain name stands for all of them.
fn find(name: &str) -> Option<usize> {
    let forms = ["_v3", "_v2", ""];
    forms
        .iter()
        .find_map(|suffix| symbols().get(format!("{name}{suffix}").as_str()).copied())
}

unsafe fn look_up(name: *const c_char, to: *mut *const c_void, status: *mut c_uint) -> Result<(), u32> {
    // SAFETY: the caller's string and pointers.
    unsafe {
        match find(text(name)?) {
            Some(address) => {
                put_if(status, 0);
                put(to, address as *const c_void)
            }
            None => {
                put_if(status, 1);
                put(to, std::ptr::null())?;
                Err(codes::NOT_FOUND)
            }
        }
    }
}

calls! {
    fn cuGetProcAddress(name: *const c_char, to: *mut *const c_void, _version: c_int, _flags: u64) {
        look_up(name, to, std::ptr::null_mut())
    }

    fn cuGetProcAddress_v2(name: *const c_char, to: *mut *const c_void, _version: c_int, _flags: u64, status: *mut c_uint) {
        look_up(name, to, status)
    }
}

/// The explanation of the last check that failed or module that was refused, cut to `size` bytes with a zero at the end. Gives the length of
/// all of it.
///
/// # Safety
/// `to` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_double_last_report(to: *mut c_char, size: usize) -> usize {
    let report = last_report();
    if !to.is_null() && size > 0 {
        let count = report.len().min(size - 1);
        // SAFETY: the caller gave room for `size` bytes.
        unsafe {
            to.cast::<u8>().copy_from_nonoverlapping(report.as_ptr(), count);
            to.add(count).write(0);
        }
    }
    report.len()
}

/// Sets which calls fail from now on, as `WEFT_DOUBLE_FAIL` does; an empty text ends all failures.
///
/// # Safety
/// `plan` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_double_fail(plan: *const c_char) {
    // SAFETY: the caller's string.
    let plan = unsafe { text(plan) };
    FAILURES.set(plan.unwrap_or(""));
}
