//! Memory that several threads write to, each in other places; and real and complex numbers as each other.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use rustfft::num_complex::Complex;

/// A slice that is given out in parts, which whoever asks keeps apart.
#[derive(Debug)]
pub struct Shared<'a, E> {
    start: *mut E,
    len: usize,
    _of: PhantomData<&'a mut [E]>,
}

// SAFETY: it stands for a mutable slice, whose parts `part` gives to one thread each.
unsafe impl<E: Send> Send for Shared<'_, E> {}
// SAFETY: as above.
unsafe impl<E: Send> Sync for Shared<'_, E> {}

impl<'a, E> Shared<'a, E> {
    pub fn new(whole: &'a mut [E]) -> Shared<'a, E> {
        Shared {
            start: whole.as_mut_ptr(),
            len: whole.len(),
            _of: PhantomData,
        }
    }

    /// The elements `start..start + len`, or none if they are not all there.
    ///
    /// # Safety
    /// No other part that has one of them is in use meanwhile.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "parts are apart, as the caller says")]
    pub unsafe fn part(&self, start: usize, len: usize) -> &mut [E] {
        if start.checked_add(len).is_none_or(|end| end > self.len) {
            return &mut [];
        }
        // SAFETY: the part lies within the slice that was borrowed, and the caller says that it is nobody else's.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(start), len) }
    }
}

/// Complex numbers as their parts.
pub fn parts<T>(pairs: &[Complex<T>]) -> &[T] {
    // SAFETY: a complex number is its two parts, one behind the other (`repr(C)`), and nothing else.
    unsafe { std::slice::from_raw_parts(pairs.as_ptr().cast(), pairs.len() * 2) }
}

/// The same of numbers that are written.
pub fn parts_mut<T>(pairs: &mut [Complex<T>]) -> &mut [T] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(pairs.as_mut_ptr().cast(), pairs.len() * 2) }
}

/// Real numbers, two each as the parts of a complex number; of an odd number of them all but the last.
pub fn pairs<T>(parts: &[T]) -> &[Complex<T>] {
    // SAFETY: as above; a complex number is aligned as its parts are.
    unsafe { std::slice::from_raw_parts(parts.as_ptr().cast(), parts.len() / 2) }
}

/// The same of numbers that are written.
pub fn pairs_mut<T>(parts: &mut [T]) -> &mut [Complex<T>] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(parts.as_mut_ptr().cast(), parts.len() / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_within() {
        let mut numbers = [0u8; 4];
        let shared = Shared::new(&mut numbers);
        // SAFETY: one part at a time.
        let lens = [(0, 4), (3, 1), (3, 2), (4, 0), (usize::MAX, 2)].map(|(start, len)| unsafe { shared.part(start, len).len() });
        assert_eq!(lens, [4, 1, 0, 0, 0]);
    }

    #[test]
    fn numbers_are_pairs() {
        let numbers = [1.0f32, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(pairs(&numbers), [Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)]);
        let mut made = [Complex::new(1.0, 2.0)];
        parts_mut(&mut made)[1] = 3.0;
        assert_eq!(parts(&made), [1.0, 3.0]);
    }
}
