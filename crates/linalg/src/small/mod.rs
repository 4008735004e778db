//! Products of small matrices, without packing: rows of the second matrix are vectors, elements of the first are spread over them.

#![allow(unsafe_code)]

mod blocks;
pub mod columns;
pub mod vectors;

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
