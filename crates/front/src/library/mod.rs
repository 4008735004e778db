//! Weft's own libraries as functions that can be called: that of elementary functions ([`math`]) and NumPy's functions ([`texts`]).

pub mod math;
pub mod texts;

/// Keys of the libraries' functions and tables have the top bit set; the host's have not.
const LIBRARY: u64 = 1 << 63;

/// Of these, keys of texts have this one, too.
const TEXT: u64 = 1 << 61;

/// Those have this one that are seldom called.
const RARE: u64 = 1 << 60;

/// Of the math library's functions, those have this one that are of float32's width.
const NARROW: u64 = 1 << 59;

/// What the names of their files start with, in messages.
const FILE: &str = "<weft";

pub const fn is_library(key: u64) -> bool {
    key & LIBRARY != 0
}

/// A function of NumPy's, or a helper of one?
pub const fn is_text(key: u64) -> bool {
    key & (LIBRARY | TEXT) == LIBRARY | TEXT
}

/// A function of a library that is seldom called?
pub const fn is_rare(key: u64) -> bool {
    key & (LIBRARY | RARE) == LIBRARY | RARE
}

/// Do literals stand for float32 in it?
pub const fn is_narrow(key: u64) -> bool {
    key & (LIBRARY | TEXT | NARROW) == LIBRARY | NARROW
}
