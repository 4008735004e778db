//! Fourier transforms of strided memory: of any length, along any axes, in single and double precision.
//!
//! Memory comes as [`Strided`] elements, what is to be done is a [`Job`], and the result is laid out in C's order. Nothing here knows
//! Python or NumPy: whoever calls says by [`Host`] which threads there are and whether to stop.

mod array;
mod error;
mod line;
mod memory;
mod pass;
mod plans;
mod real;
mod shared;
mod slow;
mod strided;
mod vectors;

pub use array::{Job, Kind, Out, transform};
pub use error::Error;
pub use pass::Host;
pub use plans::Real;
pub use rustfft::num_complex::Complex;
pub use strided::{Elements, Strided};
