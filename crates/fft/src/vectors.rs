//! Pairs of opposite elements of a real line, some at a time in the processor's vectors.
#![allow(unsafe_code)]

use rustfft::num_complex::Complex;

/// Types of floats that there may be vectors for.
pub trait Vectors: Sized {
    /// Does what [`crate::real::untangle`] (`forth`) or [`crate::real::tangle`] does with pairs: the first element of `left` has the last one of
    /// `right` opposite, and the first root. The answer is how many pairs were done from there on.
    fn pairs(left: &mut [Complex<Self>], right: &mut [Complex<Self>], roots: &[Complex<Self>], forth: bool) -> usize;
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! vectors {
    ($($float:ty),*) => {$(
        impl Vectors for $float {
            fn pairs(_: &mut [Complex<Self>], _: &mut [Complex<Self>], _: &[Complex<Self>], _: bool) -> usize {
                0
            }
        }
    )*};
}

#[cfg(not(target_arch = "x86_64"))]
vectors!(f32, f64);

#[cfg(target_arch = "x86_64")]
mod avx {
    use std::arch::x86_64::*;

    use super::{Complex, Vectors};

    /// Writes it for a type in terms of the instructions for its vectors: of `$lanes` complex numbers, which `$reverse` puts in the other order.
    /// `$swap` exchanges real and imaginary parts, `$real` and `$imaginary` have one of them in the place of both, `$first_less` and
    /// `$first_more` are a product that another vector is added to, with the other sign in its real or its imaginary parts.
    macro_rules! vectors {
        (
            $float:ty, $name:ident, $lanes:literal, $load:ident, $store:ident, $all:ident, $add:ident, $sub:ident, $mul:ident, $xor:ident,
            $first_less:ident, $first_more:ident, $signs:expr, $real:expr, $imaginary:expr, $swap:expr, $reverse:expr
        ) => {
            impl Vectors for $float {
                fn pairs(left: &mut [Complex<$float>], right: &mut [Complex<$float>], roots: &[Complex<$float>], forth: bool) -> usize {
                    let count = left.len().min(right.len()).min(roots.len());
                    let done = count / $lanes * $lanes;
                    let from = right.len() - count;
                    if done > 0 && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                        let (left, right, roots) = (&mut left[..count], &mut right[from..], &roots[..count]);
                        let done_by = if forth { $name::<true> } else { $name::<false> };
                        // SAFETY: the processor has the instructions.
                        unsafe { done_by(left, right, roots) };
                        return done;
                    }
                    0
                }
            }

            /// The three are of one length.
            #[target_feature(enable = "avx2,fma")]
            fn $name<const FORTH: bool>(left: &mut [Complex<$float>], right: &mut [Complex<$float>], roots: &[Complex<$float>]) {
                let (signs, half) = ($signs, $all(0.5));
                let opposite = right.rchunks_exact_mut($lanes);
                for ((a, b), w) in left.chunks_exact_mut($lanes).zip(opposite).zip(roots.chunks_exact($lanes)) {
                    let (a, b): (*mut $float, *mut $float) = (a.as_mut_ptr().cast(), b.as_mut_ptr().cast());
                    // SAFETY: each has so many complex numbers, which are twice as many floats.
                    unsafe {
                        let (x, y, w) = ($load(a), $xor(($reverse)($load(b)), signs), $load(w.as_ptr().cast()));
                        let (mut same, mut other) = ($add(x, y), $sub(x, y));
                        if FORTH {
                            (same, other) = ($mul(same, half), $mul(other, half));
                        }
                        let turned = $mul(($swap)(other), ($real)(w));
                        let other = match FORTH {
                            true => $first_more(other, ($imaginary)(w), turned),
                            false => $first_less(other, ($imaginary)(w), turned),
                        };
                        $store(a, $add(same, other));
                        $store(b, ($reverse)($xor($sub(same, other), signs)));
                    }
                }
            }
        };
    }

    vectors!(
        f32,
        pairs32,
        4,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_set1_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_xor_ps,
        _mm256_fmaddsub_ps,
        _mm256_fmsubadd_ps,
        _mm256_setr_ps(0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0),
        |w| _mm256_moveldup_ps(w),
        |w| _mm256_movehdup_ps(w),
        |x| _mm256_permute_ps::<0b10_11_00_01>(x),
        |x| _mm256_castpd_ps(_mm256_permute4x64_pd::<0b00_01_10_11>(_mm256_castps_pd(x)))
    );
    vectors!(
        f64,
        pairs64,
        2,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_set1_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        _mm256_xor_pd,
        _mm256_fmaddsub_pd,
        _mm256_fmsubadd_pd,
        _mm256_setr_pd(0.0, -0.0, 0.0, -0.0),
        |w| _mm256_movedup_pd(w),
        |w| _mm256_permute_pd::<0b1111>(w),
        |x| _mm256_permute_pd::<0b0101>(x),
        |x| _mm256_permute2f128_pd::<1>(x, x)
    );
}

#[cfg(test)]
mod tests {
    use crate::plans::Real;
    use crate::real;

    use super::*;

    /// Lines that are put together by vectors are those that are without, but for the last bits.
    fn checked<T: Real + Into<f64>>() {
        for m in [1, 2, 3, 4, 5, 8, 9, 10, 17, 18, 63, 64] {
            let number = |i: usize| T::of(((i * 37 + 11) % 29) as f64 / 7.0 - 2.0);
            let line: Vec<Complex<T>> = (0..=m).map(|i| Complex::new(number(i), number(3 * i + 5))).collect();
            let roots = real::roots(2 * m);
            for way in [real::untangle::<T>, real::tangle::<T>] {
                let (mut found, mut wanted) = (line.clone(), line.clone());
                way(&mut found, &roots, true);
                way(&mut wanted, &roots, false);
                let close = |a: T, b: T| (a.into() - b.into()).abs() < 1e-6;
                assert!(
                    found.iter().zip(&wanted).all(|(a, b)| close(a.re, b.re) && close(a.im, b.im)),
                    "{m}"
                );
            }
        }
    }

    #[test]
    fn vectors_do_the_same() {
        checked::<f32>();
        checked::<f64>();
    }
}
