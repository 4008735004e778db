//! Memory to work in, where there is some.

use rustfft::num_complex::Complex;

use crate::error::Error;
use crate::plans::Real;
use crate::shared::{pairs, pairs_mut};

/// Bytes of memory that a thread keeps for its next pass at the most, and that are worth it: to fill them with zeros takes as long as a part of
/// a short pass.
const MOST_KEPT: usize = 1 << 20;
const LEAST_KEPT: usize = 1 << 14;

/// Complex numbers, as their parts; what they are at first is not said.
#[derive(Debug)]
pub struct Memory<T: Real> {
    all: Vec<T>,
    /// Those that were asked for.
    parts: usize,
}

impl<T: Real> Memory<T> {
    pub fn new(len: usize) -> Result<Memory<T>, Error> {
        let parts = len.checked_mul(2).ok_or(Error::TooLarge)?;
        if is_kept::<T>(parts) {
            let all = T::spare().take();
            if all.len() >= parts {
                return Ok(Memory { all, parts });
            }
        }
        // A vector of zeros could not say that there is no memory; this one, which is not touched, can. The allocator has zeros that cost
        // nothing until they are touched.
        Vec::<T>::new().try_reserve_exact(parts).map_err(|_| Error::OutOfMemory)?;
        let all = vec![T::of(0.0); parts];
        Ok(Memory { all, parts })
    }

    pub fn numbers(&self) -> &[Complex<T>] {
        pairs(&self.all[..self.parts])
    }

    pub fn numbers_mut(&mut self) -> &mut [Complex<T>] {
        pairs_mut(&mut self.all[..self.parts])
    }
}

impl<T: Real> Drop for Memory<T> {
    fn drop(&mut self) {
        if is_kept::<T>(self.all.len()) {
            T::spare().set(std::mem::take(&mut self.all));
        }
    }
}

fn is_kept<T>(parts: usize) -> bool {
    (LEAST_KEPT..=MOST_KEPT).contains(&parts.saturating_mul(size_of::<T>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start<T: Real>(memory: &Memory<T>) -> usize {
        memory.numbers().as_ptr() as usize
    }

    #[test]
    fn a_thread_keeps_what_it_used_last() {
        let len = 4 * LEAST_KEPT / size_of::<Complex<f32>>();
        let mut first = Memory::<f32>::new(len).unwrap();
        first.numbers_mut()[0].re = 1.0;
        let was = start(&first);
        drop(first);
        let again = Memory::<f32>::new(len / 2).unwrap();
        assert_eq!((start(&again), again.numbers().len()), (was, len / 2));
        let beside = Memory::<f32>::new(len / 2).unwrap();
        assert_ne!(start(&beside), was, "it is in use");
        drop((again, beside));
        let again = Memory::<f32>::new(len).unwrap();
        assert_eq!(again.numbers().len(), len, "whatever is kept");
        let elsewhere = std::thread::spawn(move || Memory::<f32>::new(len).map(|memory| start(&memory)));
        assert_ne!(elsewhere.join().unwrap().unwrap(), was);
    }

    #[test]
    fn what_is_large_or_small_is_not_kept() {
        for len in [0, LEAST_KEPT / 16 - 1, MOST_KEPT / 16 + 1] {
            drop(Memory::<f64>::new(len).unwrap());
            assert_eq!(f64::spare().take().capacity(), 0);
        }
        assert_eq!(Memory::<f64>::new(usize::MAX).unwrap_err(), Error::TooLarge);
        assert_eq!(Memory::<f64>::new(usize::MAX / 32).unwrap_err(), Error::OutOfMemory);
    }
}
