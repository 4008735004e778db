//! What every back end shares: the traits of devices, their errors, the profile, and the cache of compiled objects.

pub mod cache;
pub mod checked;
mod device;
mod error;
mod executable;
mod limits;
mod memory;
pub mod profile;
pub mod slots;
mod stream;

pub use device::*;
pub use error::*;
pub use executable::*;
pub use limits::*;
pub use memory::*;
pub use stream::*;
