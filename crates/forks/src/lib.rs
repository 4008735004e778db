//! Forks of this process. The child has the memory as it was and none of the other threads: what one of them was just making stays half
//! made there, and a lock that one of them held stays locked, for good.
//!
//! So what several threads share is made and locked while the thread is a [`Holder`]: `fork` waits until there is none. [`Once`] and
//! [`Mutex`] see to it. A holder must not wait for Python's GIL, which the forking thread may have, nor for a thread that may want to hold,
//! unless that works for it and holds along ([`hold_along`]).
//!
//! Where a thread waits for others while nobody else may do the same, as at the end of profiles, forks do not wait: that is a [`Turn`].
//!
//! Drivers of GPUs do not survive forks at all; [`count`] tells their owners.

mod gate;
mod once;
mod turn;

pub use gate::{Holder, count, hold, hold_along, watch};
pub use once::{Locked, Mutex, Once};
pub use turn::{Taken, Turn};
