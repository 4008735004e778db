//! The C functions LLVM calls on its own account: memory operations, and math it has no instruction for on the target.

#![allow(unsafe_code)]

use std::ffi::c_void;

macro_rules! c_functions {
    ($($name:ident),* $(,)?) => {
        unsafe extern "C" {
            // Their signatures do not matter here: only the addresses are taken.
            $(fn $name() -> *mut c_void;)*
        }
        const TABLE: &[(&str, unsafe extern "C" fn() -> *mut c_void)] = &[$((stringify!($name), $name)),*];
    };
}

#[allow(clashing_extern_declarations)]
mod table {
    use super::c_void;
    c_functions! {
        memcpy, memmove, memset, memcmp, bcmp,
        fmod, fmodf, fma, fmaf, floor, floorf, ceil, ceilf, trunc, truncf, rint, rintf, nearbyint, nearbyintf, round, roundf,
        roundeven, roundevenf,
    }

    pub fn address(name: &str) -> Option<usize> {
        TABLE
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, function)| *function as usize)
    }
}

pub use table::address;
