//! Memory to work in, where there is some.

use rustfft::num_complex::Complex;

use crate::error::Error;
use crate::plans::Real;
use crate::shared::{pairs, pairs_mut};

/// Complex numbers, zero at first: as their parts, since the allocator has zeros of those that cost nothing until they are touched.
#[derive(Debug)]
pub struct Memory<T>(Vec<T>);

impl<T: Real> Memory<T> {
    pub fn new(len: usize) -> Result<Memory<T>, Error> {
        let parts = len.checked_mul(2).ok_or(Error::TooLarge)?;
        // Such a vector could not say that there is no memory; this one, which is not touched, can.
        Vec::<T>::new().try_reserve_exact(parts).map_err(|_| Error::OutOfMemory)?;
        Ok(Memory(vec![T::of(0.0); parts]))
    }

    pub fn numbers(&self) -> &[Complex<T>] {
        pairs(&self.0)
    }

    pub fn numbers_mut(&mut self) -> &mut [Complex<T>] {
        pairs_mut(&mut self.0)
    }
}
