//! Transforms of real lines of even length by complex ones of half the length.
//!
//! The elements at even and odd places are the real and imaginary parts of a complex line. Its transform has those of both in it, which
//! symmetry tells apart: W. H. Press et al., Numerical Recipes, section 12.3.

use std::f64::consts::TAU;

use rustfft::num_complex::Complex;

use crate::plans::Real;

/// exp(-2πik/n) for the k of the first quarter, each to the last bits: angles are taken from the nearer axis.
pub fn roots<T: Real>(n: usize) -> Vec<Complex<T>> {
    let root = |k: usize| {
        let (cos, sin) = if 8 * k <= n {
            let angle = TAU * k as f64 / n as f64;
            (angle.cos(), angle.sin())
        } else {
            let angle = TAU * (n - 4 * k) as f64 / (4 * n) as f64;
            (angle.sin(), angle.cos())
        };
        Complex::new(T::of(cos), T::of(-sin))
    };
    (0..=n / 4).map(root).collect()
}

/// Makes the transform of a real line of 2m elements of that of its pairs, which are the first m of m + 1 elements; by vectors if there are some.
pub fn untangle<T: Real>(line: &mut [Complex<T>], roots: &[Complex<T>], by_vectors: bool) {
    let [first, inner @ .., last] = line else { return };
    let (zero, half) = (T::of(0.0), T::of(0.5));
    *last = Complex::new(first.re - first.im, zero);
    *first = Complex::new(first.re + first.im, zero);
    let middle = inner.len() / 2;
    let (left, right) = inner.split_at_mut(middle);
    let done = if by_vectors { T::pairs(left, right, &roots[1..], true) } else { 0 };
    let pairs = left.iter_mut().zip(right.iter_mut().rev()).zip(&roots[1..]);
    for ((a, b), w) in pairs.skip(done) {
        let same = Complex::new(a.re + b.re, a.im - b.im) * half;
        let other = Complex::new(a.im + b.im, b.re - a.re) * half * w;
        *a = same + other;
        *b = (same - other).conj();
    }
    // An odd number of elements: the middle one has itself opposite.
    if inner.len() % 2 == 1 {
        inner[middle] = inner[middle].conj();
    }
}

/// Makes twice the transform of the pairs of a real line, in the first m elements, of its own, which has m + 1.
pub fn tangle<T: Real>(line: &mut [Complex<T>], roots: &[Complex<T>], by_vectors: bool) {
    let [first, inner @ .., last] = line else { return };
    *first = Complex::new(first.re + last.re, first.re - last.re);
    let middle = inner.len() / 2;
    let (left, right) = inner.split_at_mut(middle);
    let done = if by_vectors { T::pairs(left, right, &roots[1..], false) } else { 0 };
    let pairs = left.iter_mut().zip(right.iter_mut().rev()).zip(&roots[1..]);
    for ((a, b), w) in pairs.skip(done) {
        let same = Complex::new(a.re + b.re, a.im - b.im);
        let other = Complex::new(a.re - b.re, a.im + b.im) * w.conj();
        let turned = Complex::new(-other.im, other.re);
        *a = same + turned;
        *b = (same - turned).conj();
    }
    if inner.len() % 2 == 1 {
        inner[middle] = inner[middle].conj() * T::of(2.0);
    }
}

/// Writes the second half of a line whose elements are conjugates of those opposite, of the first half.
pub fn mirror<T: Real>(line: &mut [Complex<T>]) {
    let (first, second) = line.split_at_mut(line.len() / 2 + 1);
    for (a, b) in first[1..].iter().zip(second.iter_mut().rev()) {
        *b = a.conj();
    }
}
