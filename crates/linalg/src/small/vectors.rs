//! SIMD registers of floats, by what a product needs of them.

use std::fmt::Debug;

/// A type of floats, and its vectors on this architecture.
pub trait Float: Copy + Debug {
    #[cfg(target_arch = "x86_64")]
    type Wide: Vector<T = Self>;
    #[cfg(target_arch = "x86_64")]
    type Narrow: Vector<T = Self>;
    #[cfg(target_arch = "aarch64")]
    type Neon: Vector<T = Self>;
}

/// A register. All of its functions need that the machine has it.
pub trait Vector: Copy {
    type T: Copy;
    const LANES: usize;

    unsafe fn zero() -> Self;
    unsafe fn splat(at: *const Self::T) -> Self;
    unsafe fn load(at: *const Self::T) -> Self;
    unsafe fn store(self, at: *mut Self::T);
    /// The first so many lanes, fewer than there are; the others are zero.
    unsafe fn load_first(at: *const Self::T, count: usize) -> Self;
    unsafe fn store_first(self, at: *mut Self::T, count: usize);
    /// The vector plus the product of two others, rounded once.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
}

/// Writes `Vector` for a register in terms of the architecture's functions. All are inlined into functions that may use them.
macro_rules! vector {
    ($name:ident, $register:ty, $t:ty, $lanes:literal, $zero:expr, $splat:expr, $load:expr, $store:expr, $load_first:expr, $store_first:expr, $fma:expr) => {
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl Vector for $name {
            type T = $t;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: the caller has such registers, here and below.
                $name(unsafe { $zero })
            }
            #[inline(always)]
            unsafe fn splat(at: *const $t) -> Self {
                // SAFETY: as above; and the caller may read what it names, here and below.
                $name(unsafe { $splat(*at) })
            }
            #[inline(always)]
            unsafe fn load(at: *const $t) -> Self {
                // SAFETY: as above.
                $name(unsafe { $load(at) })
            }
            #[inline(always)]
            unsafe fn store(self, at: *mut $t) {
                // SAFETY: as above.
                unsafe { $store(at, self.0) }
            }
            #[inline(always)]
            unsafe fn load_first(at: *const $t, count: usize) -> Self {
                // SAFETY: as above.
                $name(unsafe { $load_first(at, count) })
            }
            #[inline(always)]
            unsafe fn store_first(self, at: *mut $t, count: usize) {
                // SAFETY: as above.
                unsafe { $store_first(at, self.0, count) }
            }
            #[inline(always)]
            unsafe fn plus_product(self, a: Self, b: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $fma(self.0, a.0, b.0) })
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Float, Vector};

    impl Float for f32 {
        type Wide = Wide32;
        type Narrow = Narrow32;
    }

    impl Float for f64 {
        type Wide = Wide64;
        type Narrow = Narrow64;
    }

    vector!(
        Wide32,
        __m512,
        f32,
        16,
        _mm512_setzero_ps(),
        |x| _mm512_set1_ps(x),
        |at| _mm512_loadu_ps(at),
        |at, x| _mm512_storeu_ps(at, x),
        |at, count| _mm512_maskz_loadu_ps(((1_u32 << count) - 1) as u16, at),
        |at, x, count: usize| _mm512_mask_storeu_ps(at, ((1_u32 << count) - 1) as u16, x),
        |c, a, b| _mm512_fmadd_ps(a, b, c)
    );
    vector!(
        Wide64,
        __m512d,
        f64,
        8,
        _mm512_setzero_pd(),
        |x| _mm512_set1_pd(x),
        |at| _mm512_loadu_pd(at),
        |at, x| _mm512_storeu_pd(at, x),
        |at, count| _mm512_maskz_loadu_pd(((1_u32 << count) - 1) as u8, at),
        |at, x, count: usize| _mm512_mask_storeu_pd(at, ((1_u32 << count) - 1) as u8, x),
        |c, a, b| _mm512_fmadd_pd(a, b, c)
    );
    vector!(
        Narrow32,
        __m256,
        f32,
        8,
        _mm256_setzero_ps(),
        |x| _mm256_set1_ps(x),
        |at| _mm256_loadu_ps(at),
        |at, x| _mm256_storeu_ps(at, x),
        |at, count| _mm256_maskload_ps(at, first32(count)),
        |at, x, count| _mm256_maskstore_ps(at, first32(count), x),
        |c, a, b| _mm256_fmadd_ps(a, b, c)
    );
    vector!(
        Narrow64,
        __m256d,
        f64,
        4,
        _mm256_setzero_pd(),
        |x| _mm256_set1_pd(x),
        |at| _mm256_loadu_pd(at),
        |at, x| _mm256_storeu_pd(at, x),
        |at, count| _mm256_maskload_pd(at, first64(count)),
        |at, x, count| _mm256_maskstore_pd(at, first64(count), x),
        |c, a, b| _mm256_fmadd_pd(a, b, c)
    );

    /// All bits of the first lanes.
    #[inline(always)]
    unsafe fn first32(count: usize) -> __m256i {
        const LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: there are eight from any of the first nine on.
        unsafe { _mm256_loadu_si256(LANES.as_ptr().add(8 - count.min(8)).cast()) }
    }

    #[inline(always)]
    unsafe fn first64(count: usize) -> __m256i {
        const LANES: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
        // SAFETY: there are four from any of the first five on.
        unsafe { _mm256_loadu_si256(LANES.as_ptr().add(4 - count.min(4)).cast()) }
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::*;

    use super::{Float, Vector};

    impl Float for f32 {
        type Neon = Neon32;
    }

    impl Float for f64 {
        type Neon = Neon64;
    }

    vector!(
        Neon32,
        float32x4_t,
        f32,
        4,
        vdupq_n_f32(0.0),
        |x| vdupq_n_f32(x),
        |at| vld1q_f32(at),
        |at, x| vst1q_f32(at, x),
        |at: *const f32, count: usize| {
            let mut lanes = [0.0_f32; 4];
            std::ptr::copy_nonoverlapping(at, lanes.as_mut_ptr(), count.min(4));
            vld1q_f32(lanes.as_ptr())
        },
        |at: *mut f32, x, count: usize| {
            let mut lanes = [0.0_f32; 4];
            vst1q_f32(lanes.as_mut_ptr(), x);
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), at, count.min(4));
        },
        |c, a, b| vfmaq_f32(c, a, b)
    );
    vector!(
        Neon64,
        float64x2_t,
        f64,
        2,
        vdupq_n_f64(0.0),
        |x| vdupq_n_f64(x),
        |at| vld1q_f64(at),
        |at, x| vst1q_f64(at, x),
        |at: *const f64, count: usize| {
            let mut lanes = [0.0_f64; 2];
            std::ptr::copy_nonoverlapping(at, lanes.as_mut_ptr(), count.min(2));
            vld1q_f64(lanes.as_ptr())
        },
        |at: *mut f64, x, count: usize| {
            let mut lanes = [0.0_f64; 2];
            vst1q_f64(lanes.as_mut_ptr(), x);
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), at, count.min(2));
        },
        |c, a, b| vfmaq_f64(c, a, b)
    );
}
