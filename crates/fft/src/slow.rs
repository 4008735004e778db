//! Plans for processors without the vectors that rustfft's planners are for: few algorithms, so that little code is for them.

use std::sync::Arc;

use rustfft::algorithm::{BluesteinsAlgorithm, Dft, MixedRadix, Radix4};
use rustfft::{Fft, FftDirection, FftNum};

/// Lengths up to this one are summed up plainly.
const PLAIN: usize = 16;
/// Larger primes are convolutions of a power of two.
const LARGEST_PRIME: usize = 61;

pub fn plan<T: FftNum>(n: usize, direction: FftDirection) -> Arc<dyn Fft<T>> {
    if n.is_power_of_two() {
        return Arc::new(Radix4::new(n, direction));
    }
    if n <= PLAIN {
        return Arc::new(Dft::new(n, direction));
    }
    match factor(n) {
        Some(factor) => Arc::new(MixedRadix::new(plan(factor, direction), plan(n / factor, direction))),
        None if n <= LARGEST_PRIME => Arc::new(Dft::new(n, direction)),
        None => {
            let around = (2 * n - 1).next_power_of_two();
            Arc::new(BluesteinsAlgorithm::new(n, Arc::new(Radix4::new(around, direction))))
        }
    }
}

/// A factor of a number, if it is no prime: its power of two, or else its least prime.
fn factor(n: usize) -> Option<usize> {
    let power = 1 << n.trailing_zeros();
    if power > 1 {
        return Some(power);
    }
    (3..).step_by(2).take_while(|p| p * p <= n).find(|p| n.is_multiple_of(*p))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use rustfft::num_complex::Complex;

    use super::*;

    #[test]
    fn all_lengths_are_right() {
        for n in (1..70).chain([127, 128, 210, 243, 1009]) {
            for (direction, sign) in [(FftDirection::Forward, -1.0), (FftDirection::Inverse, 1.0)] {
                let line: Vec<Complex<f64>> = (0..n).map(|i| Complex::new(((i * i) % 7) as f64, (i % 5) as f64)).collect();
                let mut found = line.clone();
                plan(n, direction).process(&mut found);
                for (k, found) in found.iter().enumerate() {
                    let turned = |(j, x): (usize, &Complex<f64>)| x * Complex::cis(sign * TAU * ((j * k) % n) as f64 / n as f64);
                    let expected: Complex<f64> = line.iter().enumerate().map(turned).sum();
                    assert!((found - expected).norm() < 1e-11 * n as f64, "{n} {k}: {found} {expected}");
                }
            }
        }
    }
}
