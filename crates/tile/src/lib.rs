//! Tier 0 of arrays on the CPU: loops over tiles of elements that are compiled when Weft is built, with the bits of compiled code.

pub mod fold;
