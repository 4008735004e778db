//! What every back end shares: the device traits, their errors, and the cache of compiled objects.

pub mod cache;
pub mod device;

pub use device::*;
