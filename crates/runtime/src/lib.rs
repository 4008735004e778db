//! What every back end shares: the device traits, and their errors.

pub mod device;

pub use device::*;
