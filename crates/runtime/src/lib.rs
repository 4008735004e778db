//! What every back end shares: the traits of devices, their errors, launches on GPUs, mailboxes and staged arrays, the profile, and the
//! cache of compiled objects.

pub mod cache;
pub mod checked;
mod device;
mod error;
mod executable;
pub mod fold;
pub mod grids;
pub mod hosts;
mod limits;
mod lock;
pub mod mailbox;
mod memory;
mod output;
pub mod owed;
pub mod patience;
mod prepared;
pub mod profile;
pub mod raw;
pub mod reduce;
mod refusals;
mod signature;
pub mod slots;
mod stream;
pub mod threads;
mod views;

pub use device::*;
pub use error::*;
pub use executable::*;
pub use limits::*;
pub use lock::*;
pub use memory::*;
pub use output::*;
pub use prepared::*;
pub use refusals::*;
pub use signature::*;
pub use stream::*;
pub use views::*;
