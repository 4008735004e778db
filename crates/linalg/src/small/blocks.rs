//! The product in blocks that the registers hold: some rows of the result, some vectors wide.

use super::Job;
use super::ahead::Ahead;
use super::vectors::Vector;

/// Adds up one block: `ROWS` rows of the result from `row` on, `VECTORS` vectors wide from column `col` on. Of the last vector only the first
/// `last` lanes are there, if that is not 0.
#[inline(always)]
unsafe fn block<V: Vector, const ROWS: usize, const VECTORS: usize>(
    job: &Job<V::T>,
    ahead: &mut Ahead,
    row: usize,
    col: usize,
    last: usize,
) {
    // SAFETY: the block lies within the matrices, and the machine has the registers.
    unsafe {
        let mut sums = [[V::zero(); VECTORS]; ROWS];
        if job.adds {
            for (r, row_sums) in sums.iter_mut().enumerate() {
                let c = job.c.offset((row + r) as isize * job.c_row).add(col);
                for (v, sum) in row_sums.iter_mut().enumerate() {
                    let at = c.add(v * V::LANES);
                    *sum = if v + 1 == VECTORS && last > 0 {
                        V::load_first(at, last)
                    } else {
                        V::load(at)
                    };
                }
            }
        }
        let mut a = job.a.offset(row as isize * job.a_row);
        let mut b = job.b.add(col);
        for _ in 0..job.k {
            // Small blocks have no time for it.
            if ROWS * VECTORS >= 8 {
                ahead.step();
            }
            let mut bs = [V::zero(); VECTORS];
            for (v, part) in bs.iter_mut().enumerate() {
                let at = b.add(v * V::LANES);
                *part = if v + 1 == VECTORS && last > 0 {
                    V::load_first(at, last)
                } else {
                    V::load(at)
                };
            }
            for (r, row) in sums.iter_mut().enumerate() {
                let factor = V::splat(a.offset(r as isize * job.a_row));
                for (sum, part) in row.iter_mut().zip(bs) {
                    *sum = sum.plus_product(factor, part);
                }
            }
            a = a.wrapping_offset(job.a_col);
            b = b.wrapping_offset(job.b_row);
        }
        for (r, row_sums) in sums.into_iter().enumerate() {
            let c = job.c.offset((row + r) as isize * job.c_row).add(col);
            for (v, sum) in row_sums.into_iter().enumerate() {
                let at = c.add(v * V::LANES);
                if v + 1 == VECTORS && last > 0 {
                    sum.store_first(at, last);
                } else {
                    sum.store(at);
                }
            }
        }
    }
}

/// The walk over blocks for one set of registers: columns of blocks as wide as there are registers for, each from above. LLVM keeps some of more
/// than 16 sums of AVX-512 in memory, though there are 32 registers.
macro_rules! walk {
    ($name:ident, $features:literal, $widest:literal, $($vectors:literal: $($rows:literal)+;)+) => {
        pub mod $name {
            use super::*;

            /// # Safety
            /// The machine has the registers, and the job's matrices are there.
            #[target_feature(enable = $features)]
            pub unsafe fn multiply<V: Vector>(job: &Job<V::T>) {
                let (mut ahead, mut col) = (job.ahead, 0);
                while col < job.n {
                    let left = job.n - col;
                    let vectors = left.div_ceil(V::LANES).min($widest);
                    let width = left.min(vectors * V::LANES);
                    let last = width % V::LANES;
                    // SAFETY: the caller's promise.
                    unsafe {
                        match vectors {
                            $($vectors => {
                                let mut row = 0;
                                $(while job.m - row >= $rows {
                                    block::<V, $rows, $vectors>(job, &mut ahead, row, col, last);
                                    row += $rows;
                                })+
                            })+
                            _ => {}
                        }
                    }
                    col += width;
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
walk!(wide, "avx512f,avx512vl,avx2,fma", 4, 1: 12 8 4 2 1; 2: 8 4 2 1; 3: 8 4 2 1; 4: 4 2 1;);
#[cfg(target_arch = "x86_64")]
walk!(narrow, "avx2,fma", 3, 1: 8 4 2 1; 2: 6 4 2 1; 3: 4 2 1;);
#[cfg(target_arch = "aarch64")]
walk!(neon, "neon", 4, 1: 12 8 4 2 1; 2: 12 8 4 2 1; 3: 8 4 2 1; 4: 6 4 2 1;);
