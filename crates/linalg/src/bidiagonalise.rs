//! Real matrices turned into bidiagonal ones, without the reflections: for singular values alone.
//!
//! A step reads what is left of the matrix once. What reflections change is kept as a product of two narrow matrices, and taken from the matrix
//! after some steps: G. W. Howell, J. W. Demmel, C. T. Fulton, S. Hammarling and K. Marmol, Cache efficient bidiagonalization using BLAS 2.5
//! operators (2008); J. Dongarra, S. Hammarling and D. Sorensen, Block reduction of matrices to condensed forms for eigenvalue computations (1989).

#![allow(unsafe_code)]

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use crate::failure::Failure;
use crate::scratch::{Scratch, zeros};
use crate::small::columns::{Columns, GROUP, Kernels};

/// Sums of squares from here on have lost nothing to the end of the range of numbers.
const SAFE_SQUARE: f64 = 1e-200;
/// Steps whose changes are kept.
pub const MOST_KEPT: usize = 32;

/// Turns a matrix of no more columns than rows into its diagonal and what stands beside it. False, and nothing done, if the machine has no vectors.
pub fn bidiagonalise(matrix: &mut Scratch<f64>, diagonal: &mut [f64], beside: &mut [f64]) -> Result<bool, Failure> {
    let Some(kernels) = Kernels::of_machine() else {
        return Ok(false);
    };
    let (m, n) = matrix.as_ref().shape();
    let most = (n / 16).clamp(4, MOST_KEPT);
    let mut job = Job {
        left: Scratch::zeros(m, 2 * most)?,
        right: Scratch::zeros(n, 2 * most)?,
        row: zeros(n)?,
        change: zeros(n)?,
        factors: zeros(2 * most)?,
        most,
        kernels,
        matrix,
        diagonal,
        beside,
    };
    job.run();
    Ok(true)
}

struct Job<'a> {
    matrix: &'a mut Scratch<f64>,
    diagonal: &'a mut [f64],
    beside: &'a mut [f64],
    /// The matrix is what is in its place minus the left one times the right one turned: for each step kept, two columns.
    left: Scratch<f64>,
    right: Scratch<f64>,
    most: usize,
    kernels: Kernels,
    /// The row on which a step works; what the left reflection takes from each column beside; factors of columns.
    row: Vec<f64>,
    change: Vec<f64>,
    factors: Vec<f64>,
}

impl Job<'_> {
    fn run(&mut self) {
        let n = self.matrix.as_ref().ncols();
        let mut start = 0;
        while start < n {
            let count = self.most.min(n - start);
            for kept in 0..count {
                step(self, start + kept, 2 * kept);
            }
            start += count;
            settle(self, start, 2 * count);
        }
    }
}

/// Takes what is kept from what is left of the matrix.
fn settle(job: &mut Job<'_>, start: usize, kept: usize) {
    const FEW: usize = 128;
    let (m, n, kernels) = (job.matrix.as_ref().nrows(), job.matrix.as_ref().ncols(), job.kernels);
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
        // SAFETY: the columns are there from the row on.
        unsafe {
            let columns = Columns {
                data: left.add(start),
                step,
                count: kept,
            };
            (kernels.add)(place, m - start, columns, job.factors.as_ptr());
        }
    }
}

/// One column and one row, with so many columns kept.
fn step(job: &mut Job<'_>, at: usize, kept: usize) {
    let (m, n, kernels) = (job.matrix.as_ref().nrows(), job.matrix.as_ref().ncols(), job.kernels);
    let (rows, rest) = (m - at, n - at - 1);
    let (left_step, right_step) = (job.left.as_ref().col_stride() as usize, job.right.as_ref().col_stride() as usize);
    let step = job.matrix.as_ref().col_stride() as usize;
    let (matrix, left, right) = (
        job.matrix.as_mut().as_ptr_mut(),
        job.left.as_mut().as_ptr_mut(),
        job.right.as_mut().as_ptr_mut(),
    );
    let (factors, row, change) = (job.factors.as_mut_ptr(), job.row.as_mut_ptr(), job.change.as_mut_ptr());
    // SAFETY: places are in these matrices, at rows and columns that they have, and borrowed nowhere else.
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
        (kernels.add)(column, rows, lefts(at, kept), factors);
        let mirror = reflect(kernels, column, rows);
        job.diagonal[at] = mirror.value;
        if rest == 0 {
            return;
        }
        let u = left.add(kept * left_step + at);
        u.copy_from_nonoverlapping(column, rows);
        // What of the columns that are kept goes into its products with the others, and the row as it is.
        (kernels.dots)(u, rows, lefts(at, kept), factors);
        std::slice::from_raw_parts_mut(change, rest).fill(0.0);
        (kernels.add)(change, rest, rights(at + 1, kept), factors);
        for k in 0..kept {
            *factors.add(k) = -*left.add(k * left_step + at);
        }
        for k in 0..rest {
            *row.add(k) = *matrix.add((at + 1 + k) * step + at);
        }
        (kernels.add)(row, rest, rights(at + 1, kept), factors);
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
            (kernels.dots)(u, rows, columns(at), y.add(col));
            for k in col..col + count {
                *y.add(k) = mirror.factor * (*y.add(k) - *change.add(k));
                *row.add(k) -= *y.add(k);
            }
            (kernels.add)(z, rows - 1, columns(at + 1), row.add(col));
            col += count;
        }
        // Of small elements the product is nothing: once more, with larger ones.
        let mut raised = 1.0;
        if square(kernels, row, rest) < SAFE_SQUARE {
            raised = raise(std::slice::from_raw_parts_mut(row, rest));
            std::slice::from_raw_parts_mut(z, rows - 1).fill(0.0);
            let all = Columns {
                data: matrix.add((at + 1) * step + at + 1),
                step,
                count: rest,
            };
            (kernels.add)(z, rows - 1, all, row);
        }
        // The row's reflection; its product with the columns follows from that of the row.
        (kernels.dots)(row, rest, rights(at + 1, kept + 1), factors);
        let v = right.add((kept + 1) * right_step + at + 1);
        v.copy_from_nonoverlapping(row, rest);
        let mirror = reflect(kernels, v, rest);
        job.beside[at] = mirror.value / raised;
        for k in 0..=kept {
            *factors.add(k) = mirror.value * *right.add(k * right_step + at + 1) - *factors.add(k);
        }
        (kernels.add)(z, rows - 1, lefts(at + 1, kept + 1), factors);
        let first = Columns {
            data: matrix.add((at + 1) * step + at + 1),
            step,
            count: 1,
        };
        (kernels.add)(z, rows - 1, first, &-mirror.value);
        let scale = mirror.factor * mirror.scale;
        std::slice::from_raw_parts_mut(z, rows - 1).iter_mut().for_each(|x| *x *= scale);
    }
}

/// The reflection `1 - factor v v'`, which makes a vector one number.
pub struct Mirror {
    pub value: f64,
    pub factor: f64,
    /// What the vector but for its first element was multiplied by.
    scale: f64,
}

/// Turns a vector into that of its reflection, which begins with 1.
///
/// # Safety
/// The vector has so many elements, one at least.
#[inline(never)]
pub unsafe fn reflect(kernels: Kernels, x: *mut f64, count: usize) -> Mirror {
    // SAFETY: the caller's promise.
    let square = unsafe { square(kernels, x.wrapping_add(1), count - 1) };
    // SAFETY: as above.
    let x = unsafe { std::slice::from_raw_parts_mut(x, count) };
    let head = x[0];
    if head * head + square < SAFE_SQUARE {
        let raised = raise(x);
        if raised != 1.0 {
            // SAFETY: as above.
            let mirror = unsafe { reflect(kernels, x.as_mut_ptr(), count) };
            return Mirror {
                value: mirror.value / raised,
                scale: mirror.scale * raised,
                ..mirror
            };
        }
    }
    x[0] = 1.0;
    if square == 0.0 && x[1..].iter().all(|x| *x == 0.0) {
        return Mirror {
            value: head,
            factor: 0.0,
            scale: 0.0,
        };
    }
    let value = -(head * head + square).sqrt().copysign(head);
    let scale = 1.0 / (head - value);
    x[1..].iter_mut().for_each(|x| *x *= scale);
    Mirror {
        value,
        factor: (value - head) / value,
        scale,
    }
}

unsafe fn square(kernels: Kernels, x: *const f64, count: usize) -> f64 {
    let mut square = 0.0;
    let column = Columns {
        data: x,
        step: 0,
        count: 1,
    };
    // SAFETY: the caller's promise.
    unsafe { (kernels.dots)(x, count, column, &mut square) };
    square
}

/// Multiplies a vector of small elements by a power of two, so that squares are something; by which is given back, 1 for zeros.
fn raise(x: &mut [f64]) -> f64 {
    // More than this would have no inverse.
    const MOST: f64 = 1000.0;
    let largest = x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    let raised = (-largest.log2()).floor().min(MOST).exp2();
    x.iter_mut().for_each(|x| *x *= raised);
    raised
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bidiagonal;

    #[test]
    fn sums_of_ones() {
        // Ones in the lower triangle: the inverse is bidiagonal, and its singular values are known. Rows of zeros change nothing.
        for (n, more) in [(1, 0), (2, 0), (3, 1), (7, 0), (40, 3), (65, 0), (200, 5)] {
            let mut matrix = Scratch::<f64>::zeros(n + more, n).unwrap();
            for (row, col) in (0..n).flat_map(|row| (0..=row).map(move |col| (row, col))) {
                matrix[(row + more, col)] = 1.0;
            }
            let (mut diagonal, mut beside) = (vec![0.0; n], vec![0.0; n - 1]);
            let is_done = bidiagonalise(&mut matrix, &mut diagonal, &mut beside).unwrap();
            assert_eq!(is_done, Kernels::of_machine().is_some());
            if !is_done {
                return;
            }
            bidiagonal::singular_values(&mut diagonal, &beside).unwrap();
            for (at, found) in diagonal.iter().enumerate() {
                let angle = std::f64::consts::FRAC_PI_2 * (2 * at + 1) as f64 / (2 * n + 1) as f64;
                let wanted = 0.5 / angle.sin();
                assert!((found - wanted).abs() < 1e-13 * diagonal[0], "{n}: {found} for {wanted}");
            }
        }
    }

    #[test]
    fn parts_of_sizes_far_apart() {
        // Two blocks; the product of the small one's values is its determinant.
        let (small, tiny) = ([[3.0, 1.0, 2.0], [1.0, 4.0, -1.0], [2.0, -1.0, 5.0]], 1e-170);
        let mut matrix = Scratch::<f64>::zeros(5, 5).unwrap();
        (matrix[(0, 0)], matrix[(0, 1)], matrix[(1, 0)], matrix[(1, 1)]) = (1.0, 2.0, 3.0, 4.0);
        for (row, col) in (0..3).flat_map(|row| (0..3).map(move |col| (row, col))) {
            matrix[(row + 2, col + 2)] = small[row][col] * tiny;
        }
        let (mut diagonal, mut beside) = (vec![0.0; 5], vec![0.0; 4]);
        if bidiagonalise(&mut matrix, &mut diagonal, &mut beside).unwrap() {
            bidiagonal::singular_values(&mut diagonal, &beside).unwrap();
            let found = diagonal[2..].iter().map(|x| x / tiny).product::<f64>();
            assert!(
                (diagonal[0] * diagonal[1] - 2.0).abs() < 1e-13 && (found - 32.0).abs() < 1e-12,
                "{diagonal:?}"
            );
        }
    }
}
