//! Real matrices turned into bidiagonal ones, without the reflections: for singular values alone.
//!
//! A step reads what is left of the matrix once. What reflections change is kept as a product of two narrow matrices, and taken from the matrix
//! after some steps: G. W. Howell, J. W. Demmel, C. T. Fulton, S. Hammarling and K. Marmol, Cache efficient bidiagonalization using BLAS 2.5 operators
//! (2008); J. Dongarra, S. Hammarling and D. Sorensen, Block reduction of matrices to condensed forms for eigenvalue computations (1989).

#![allow(unsafe_code)]

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use crate::failure::Failure;
use crate::scratch::{Scratch, zeros};
use crate::small::columns::{Columns, GROUP, add, dots};
use crate::small::vectors::{Float, Vector};

/// Sums of squares from here on have lost nothing to the end of the range of numbers.
const SAFE_SQUARE: f64 = 1e-200;
/// Steps whose changes are kept.
const MOST_KEPT: usize = 32;

/// Turns a matrix of no more columns than rows into its diagonal and what stands beside it. False if that cannot be done here: for want of
/// vectors in the machine, or since elements are of sizes too far apart; then the matrix may have been changed.
pub fn bidiagonalise(matrix: &mut Scratch<f64>, diagonal: &mut [f64], beside: &mut [f64]) -> Result<bool, Failure> {
    let (m, n) = matrix.as_ref().shape();
    let most = (n / 16).clamp(4, MOST_KEPT);
    let mut job = Job {
        left: Scratch::zeros(m, 2 * most)?,
        right: Scratch::zeros(n, 2 * most)?,
        row: zeros(n)?,
        change: zeros(n)?,
        factors: zeros(2 * most)?,
        most,
        matrix,
        diagonal,
        beside,
    };
    Ok(job.run())
}

struct Job<'a> {
    matrix: &'a mut Scratch<f64>,
    diagonal: &'a mut [f64],
    beside: &'a mut [f64],
    /// The matrix is what is in its place minus the left one times the right one turned: for each step kept, two columns.
    left: Scratch<f64>,
    right: Scratch<f64>,
    most: usize,
    /// The row on which a step works; what the left reflection takes from each column beside; factors of columns.
    row: Vec<f64>,
    change: Vec<f64>,
    factors: Vec<f64>,
}

impl Job<'_> {
    fn run(&mut self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vl") {
                // SAFETY: the machine has what the vectors need, here and below.
                return unsafe { wide(self) };
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                // SAFETY: as above.
                return unsafe { narrow(self) };
            }
            false
        }
        #[cfg(target_arch = "aarch64")]
        {
            // SAFETY: every such machine has these vectors.
            unsafe { all::<<f64 as Float>::Neon>(self) }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        false
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn wide(job: &mut Job<'_>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { all::<<f64 as Float>::Wide>(job) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn narrow(job: &mut Job<'_>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { all::<<f64 as Float>::Narrow>(job) }
}

#[inline(always)]
unsafe fn all<V: Vector<T = f64>>(job: &mut Job<'_>) -> bool {
    let n = job.matrix.as_ref().ncols();
    let mut start = 0;
    while start < n {
        let count = job.most.min(n - start);
        for kept in 0..count {
            // SAFETY: the caller's promise.
            if !unsafe { step::<V>(job, start + kept, 2 * kept) } {
                return false;
            }
        }
        start += count;
        // SAFETY: as above.
        unsafe { settle::<V>(job, start, 2 * count) };
    }
    true
}

/// Takes what is kept from what is left of the matrix.
#[inline(always)]
unsafe fn settle<V: Vector<T = f64>>(job: &mut Job<'_>, start: usize, kept: usize) {
    const FEW: usize = 128;
    let (m, n) = job.matrix.as_ref().shape();
    if n - start > FEW {
        let (left, right) = (job.left.as_ref().get(start.., ..kept), job.right.as_ref().get(start.., ..kept));
        let mut matrix = job.matrix.as_mut();
        let rest = matrix.as_mut().submatrix_mut(start, start, m - start, n - start);
        matmul(rest, Accum::Add, left, right.transpose(), -1.0, Par::Seq);
        return;
    }
    let (left, step) = (job.left.as_ref().as_ptr(), job.left.as_ref().col_stride() as usize);
    for col in start..n {
        for at in 0..kept {
            job.factors[at] = -job.right[(col, at)];
        }
        let place = job.matrix.col_mut(col)[start..].as_mut_ptr();
        // SAFETY: the columns are there from the row on; and the caller's promise.
        unsafe {
            let columns = Columns {
                data: left.add(start),
                step,
                count: kept,
            };
            add::<V>(place, m - start, columns, job.factors.as_ptr());
        }
    }
}

/// One column and one row, with so many columns kept; false if sizes are too far apart.
#[inline(always)]
unsafe fn step<V: Vector<T = f64>>(job: &mut Job<'_>, at: usize, kept: usize) -> bool {
    let (m, n) = job.matrix.as_ref().shape();
    let (rows, rest) = (m - at, n - at - 1);
    let (left_step, right_step) = (job.left.as_ref().col_stride() as usize, job.right.as_ref().col_stride() as usize);
    let step = job.matrix.as_ref().col_stride() as usize;
    let (matrix, left, right) = (
        job.matrix.as_mut().as_ptr_mut(),
        job.left.as_mut().as_ptr_mut(),
        job.right.as_mut().as_ptr_mut(),
    );
    let (factors, row, change) = (job.factors.as_mut_ptr(), job.row.as_mut_ptr(), job.change.as_mut_ptr());
    // SAFETY: places are in these matrices, at rows and columns that they have, and borrowed nowhere else; and the caller's promise.
    unsafe {
        let lefts = |from: usize, count: usize| Columns {
            data: left.add(from),
            step: left_step,
            count,
        };
        let rights = |from: usize, count: usize| Columns {
            data: right.add(from),
            step: right_step,
            count,
        };
        // The column as it is, and its reflection.
        let column = matrix.add(at * step + at);
        for k in 0..kept {
            *factors.add(k) = -*right.add(k * right_step + at);
        }
        add::<V>(column, rows, lefts(at, kept), factors);
        let Some(mirror) = reflect::<V>(column, rows) else {
            return false;
        };
        job.diagonal[at] = mirror.value;
        if rest == 0 {
            return true;
        }
        let u = left.add(kept * left_step + at);
        u.copy_from_nonoverlapping(column, rows);
        // What of the columns that are kept goes into its products with the others, and the row as it is.
        dots::<V>(u, rows, lefts(at, kept), factors);
        std::slice::from_raw_parts_mut(change, rest).fill(0.0);
        add::<V>(change, rest, rights(at + 1, kept), factors);
        for k in 0..kept {
            *factors.add(k) = -*left.add(k * left_step + at);
        }
        for k in 0..rest {
            *row.add(k) = *matrix.add((at + 1 + k) * step + at);
        }
        add::<V>(row, rest, rights(at + 1, kept), factors);
        // The reflection of every column, and the row's product with them while they are near.
        let z = left.add((kept + 1) * left_step + at + 1);
        std::slice::from_raw_parts_mut(z, rows - 1).fill(0.0);
        let y = right.add(kept * right_step + at + 1);
        let mut col = 0;
        while col < rest {
            let count = if col + GROUP <= rest { GROUP } else { 1 };
            let columns = |from: usize| Columns {
                data: matrix.add((at + 1 + col) * step + from),
                step,
                count,
            };
            dots::<V>(u, rows, columns(at), y.add(col));
            for k in col..col + count {
                *y.add(k) = mirror.factor * (*y.add(k) - *change.add(k));
                *row.add(k) -= *y.add(k);
            }
            add::<V>(z, rows - 1, columns(at + 1), row.add(col));
            col += count;
        }
        // The row's reflection; its product with the columns follows from that of the row.
        dots::<V>(row, rest, rights(at + 1, kept + 1), factors);
        let v = right.add((kept + 1) * right_step + at + 1);
        v.copy_from_nonoverlapping(row, rest);
        let Some(mirror) = reflect::<V>(v, rest) else {
            return false;
        };
        job.beside[at] = mirror.value;
        for k in 0..=kept {
            *factors.add(k) = mirror.value * *right.add(k * right_step + at + 1) - *factors.add(k);
        }
        add::<V>(z, rows - 1, lefts(at + 1, kept + 1), factors);
        let first = Columns {
            data: matrix.add((at + 1) * step + at + 1),
            step,
            count: 1,
        };
        add::<V>(z, rows - 1, first, &-mirror.value);
        let scale = mirror.factor * mirror.scale;
        std::slice::from_raw_parts_mut(z, rows - 1).iter_mut().for_each(|x| *x *= scale);
    }
    true
}

/// The reflection `1 - factor v v'`, which makes a vector one number.
struct Mirror {
    value: f64,
    factor: f64,
    /// What the vector but for its first element was multiplied by.
    scale: f64,
}

/// Turns a vector into that of its reflection, which begins with 1; none if its sizes are too far apart.
#[inline(always)]
unsafe fn reflect<V: Vector<T = f64>>(x: *mut f64, count: usize) -> Option<Mirror> {
    let mut square = 0.0;
    // SAFETY: the caller's promise.
    let x = unsafe {
        let tail = Columns {
            data: x.add(1),
            step: 0,
            count: 1,
        };
        dots::<V>(tail.data, count - 1, tail, &mut square);
        std::slice::from_raw_parts_mut(x, count)
    };
    let head = x[0];
    x[0] = 1.0;
    if square < SAFE_SQUARE {
        // Nothing to be done, where nothing follows.
        return x[1..].iter().all(|x| *x == 0.0).then_some(Mirror {
            value: head,
            factor: 0.0,
            scale: 0.0,
        });
    }
    let value = -(head * head + square).sqrt().copysign(head);
    let scale = 1.0 / (head - value);
    x[1..].iter_mut().for_each(|x| *x *= scale);
    Some(Mirror {
        value,
        factor: (value - head) / value,
        scale,
    })
}
