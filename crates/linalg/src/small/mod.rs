//! Products of small matrices, without packing: rows of the second matrix are vectors, elements of the first are spread over them.

#![allow(unsafe_code)]

pub mod ahead;
mod blocks;
pub mod columns;
pub mod vectors;

use ahead::Ahead;
use vectors::Float;

/// A product to be done. The rows of `b` and `c` are of neighbouring elements; steps are in elements.
#[derive(Debug)]
pub struct Job<T> {
    pub m: usize,
    pub k: usize,
    pub n: usize,
    pub a: *const T,
    pub a_row: isize,
    pub a_col: isize,
    pub b: *const T,
    pub b_row: isize,
    pub c: *mut T,
    pub c_row: isize,
    /// Whether the product is added to what is there.
    pub adds: bool,
    /// What is fetched meanwhile.
    pub ahead: Ahead,
}

/// Does the product with the widest vectors that this machine has; false if it has none that there are kernels for.
///
/// Every element is one chain of fused multiplications and additions, in the order of `k`.
pub fn multiply<T: Float>(job: &Job<T>) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vl") {
            // SAFETY: the machine has what the vectors need.
            unsafe { blocks::wide::multiply::<T::Wide>(job) };
            return true;
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has what the vectors need.
            unsafe { blocks::narrow::multiply::<T::Narrow>(job) };
            return true;
        }
        false
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: every such machine has these vectors.
        unsafe { blocks::neon::multiply::<T::Neon>(job) };
        true
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = job;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Multiply = unsafe fn(&Job<f64>);

    /// The products by every kind of vectors that this machine has.
    fn all_ways() -> Vec<Multiply> {
        let mut found: Vec<Multiply> = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vl") {
                found.push(blocks::wide::multiply::<<f64 as Float>::Wide>);
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                found.push(blocks::narrow::multiply::<<f64 as Float>::Narrow>);
            }
        }
        #[cfg(target_arch = "aarch64")]
        found.push(blocks::neon::multiply::<<f64 as Float>::Neon>);
        found
    }

    #[test]
    fn products_are_their_sums() {
        let numbers = |count: usize, seed: usize| -> Vec<f64> { (0..count).map(|at| ((at * 37 + seed) % 29) as f64 - 14.0).collect() };
        for multiply in all_ways() {
            for (m, k, n) in [(1, 1, 1), (2, 0, 5), (7, 3, 9), (13, 5, 8), (25, 4, 31), (12, 6, 33), (5, 2, 70)] {
                for (adds, a_turned) in [(false, false), (true, false), (true, true)] {
                    let (a, b, before) = (numbers(m * k, 1), numbers(k * (n + 2), 5), numbers(m * (n + 1), 7));
                    let mut found = before.clone();
                    let (a_row, a_col) = if a_turned { (1, m) } else { (k, 1) };
                    let job = Job {
                        m,
                        k,
                        n,
                        a: a.as_ptr(),
                        a_row: a_row as isize,
                        a_col: a_col as isize,
                        b: b.as_ptr(),
                        b_row: n as isize + 2,
                        c: found.as_mut_ptr(),
                        c_row: n as isize + 1,
                        adds,
                        ahead: Ahead::default(),
                    };
                    // SAFETY: the matrices are there, and the machine has the vectors.
                    unsafe { multiply(&job) };
                    let mut wanted = before.clone();
                    for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                        let sum: f64 = (0..k).map(|at| a[row * a_row + at * a_col] * b[at * (n + 2) + col]).sum();
                        let place = &mut wanted[row * (n + 1) + col];
                        *place = if adds { *place + sum } else { sum };
                    }
                    assert_eq!(found, wanted, "{m} {k} {n} {adds}");
                }
            }
        }
    }
}
