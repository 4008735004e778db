//! Weft's own libraries as functions that can be called: that of elementary functions ([`math`]) and NumPy's functions ([`texts`]).

pub mod math;
pub mod texts;

use crate::env::FunctionSource;

/// Keys of the libraries' functions and tables have the top bit set; the host's have not.
const LIBRARY: u64 = 1 << 63;

/// Of these, keys of texts have this one, too.
const TEXT: u64 = 1 << 61;

/// What the names of their files start with.
pub const FILE: &str = "<weft";

pub const fn is_library(key: u64) -> bool {
    key & LIBRARY != 0
}

/// A function of NumPy's, or a helper of one?
pub const fn is_text(key: u64) -> bool {
    key & (LIBRARY | TEXT) == LIBRARY | TEXT
}

/// Do literals stand for float32 in it?
pub fn is_narrow(function: &FunctionSource) -> bool {
    is_library(function.key) && !is_text(function.key) && weft_math::is_narrow(&function.name)
}
