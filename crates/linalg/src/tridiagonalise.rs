//! Real symmetric matrices turned into tridiagonal ones, without the reflections: for eigenvalues alone.
//!
//! A step reads the lower triangle of what is left of the matrix once. What reflections change is kept as products of narrow matrices, and taken
//! from the matrix after some steps: J. Dongarra, S. Hammarling and D. Sorensen, Block reduction of matrices to condensed forms for eigenvalue
//! computations (1989).

#![allow(unsafe_code)]

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatRef, Par};

use crate::bidiagonalise::{MOST_KEPT, reflect};
use crate::failure::Failure;
use crate::scratch::{Scratch, zeros};
use crate::small::columns::{Columns, GROUP, Kernels};

/// Turns a matrix, of which the lower triangle is read, into its diagonal and what stands beside it. False, and nothing done, if the machine has no
/// vectors.
pub fn tridiagonalise(matrix: &mut Scratch<f64>, diagonal: &mut [f64], beside: &mut [f64]) -> Result<bool, Failure> {
    let Some(kernels) = Kernels::of_machine() else {
        return Ok(false);
    };
    let n = matrix.rows();
    let most = (n / 16).clamp(4, MOST_KEPT);
    let mut job = Job {
        kept: Scratch::zeros(n, 2 * most)?,
        factors: zeros(2 * most)?,
        kernels,
        matrix,
    };
    let mut start = 0;
    while start < n {
        let count = most.min(n - start);
        for (at, value) in diagonal.iter_mut().enumerate().skip(start).take(count) {
            let found = job.step(at, 2 * (at - start));
            *value = found.0;
            if let Some(beside) = beside.get_mut(at) {
                *beside = found.1;
            }
        }
        start += count;
        job.settle(start, 2 * count);
    }
    Ok(true)
}

struct Job<'a> {
    matrix: &'a mut Scratch<f64>,
    /// For each step kept two columns `v` and `w`: the matrix is what is in its place minus all `v w' + w v'`.
    kept: Scratch<f64>,
    factors: Vec<f64>,
    kernels: Kernels,
}

impl Job<'_> {
    /// What stands in a row of each column that is kept, of each pair the second one first, minus.
    fn swapped(&mut self, row: usize, kept: usize) {
        for at in 0..kept {
            self.factors[at] = -self.kept[(row, at ^ 1)];
        }
    }

    /// The columns that are kept, from a row on.
    fn columns(&self, row: usize, kept: usize) -> Columns {
        let all = self.kept.as_ref();
        Columns {
            data: all.as_ptr().wrapping_add(row),
            step: all.col_stride() as usize,
            count: kept,
        }
    }

    /// One row and column, with so many columns kept: the element on the diagonal and the one below.
    fn step(&mut self, at: usize, kept: usize) -> (f64, f64) {
        let (n, kernels) = (self.matrix.rows(), self.kernels);
        self.swapped(at, kept);
        let columns = self.columns(at, kept);
        let column = &mut self.matrix.col_mut(at)[at..];
        // SAFETY: the columns have these rows, and are none of the matrix.
        unsafe { (kernels.add)(column.as_mut_ptr(), n - at, columns, self.factors.as_ptr()) };
        let diagonal = column[0];
        let v = &mut column[1..];
        let rest = v.len();
        if rest == 0 {
            return (diagonal, 0.0);
        }
        // SAFETY: as above.
        let mirror = unsafe { reflect(kernels, v.as_mut_ptr(), rest) };
        self.kept.col_mut(kept)[at + 1..].copy_from_slice(v);
        // The products of the columns that are kept with the vector are taken from that of the matrix.
        let columns = self.columns(at + 1, kept);
        let (before, [v, w]) = (self.factors.as_mut_ptr(), self.kept.cols_mut::<2>(kept));
        let (v, w) = (&v[at + 1..], &mut w[at + 1..]);
        w.fill(0.0);
        product(kernels, self.matrix, at + 1, v, w);
        // SAFETY: as above; the two columns are not among those.
        unsafe { (kernels.dots)(v.as_ptr(), rest, columns, before) };
        for pair in self.factors[..kept].chunks_exact_mut(2) {
            (pair[0], pair[1]) = (-pair[1], -pair[0]);
        }
        // SAFETY: as above.
        unsafe { (kernels.add)(w.as_mut_ptr(), rest, columns, self.factors.as_ptr()) };
        let sum: f64 = v.iter().zip(w.iter()).map(|(v, w)| v * w).sum();
        let half = 0.5 * mirror.factor * sum;
        w.iter_mut().zip(v).for_each(|(w, v)| *w = mirror.factor * (*w - half * v));
        (diagonal, mirror.value)
    }

    /// Takes what is kept from what is left of the matrix.
    fn settle(&mut self, start: usize, kept: usize) {
        const FEW: usize = 128;
        let n = self.matrix.rows();
        if n - start <= FEW {
            for col in start..n {
                self.swapped(col, kept);
                let columns = self.columns(col, kept);
                let column = &mut self.matrix.col_mut(col)[col..];
                // SAFETY: the columns have these rows, and are none of the matrix.
                unsafe { (self.kernels.add)(column.as_mut_ptr(), column.len(), columns, self.factors.as_ptr()) };
            }
            return;
        }
        let step = self.kept.as_ref().col_stride();
        let every_second = |first: usize| {
            let place = self.kept.as_ref().get(start.., first..).as_ptr();
            // SAFETY: every second column that is kept, from a row on, which nobody writes meanwhile.
            unsafe { MatRef::from_raw_parts(place, n - start, kept / 2, 1, 2 * step) }
        };
        let (v, w) = (every_second(0), every_second(1));
        for (one, other) in [(v, w), (w, v)] {
            triangular::matmul(
                self.matrix.as_mut().get_mut(start.., start..),
                BlockStructure::TriangularLower,
                Accum::Add,
                one,
                BlockStructure::Rectangular,
                other.transpose(),
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
        }
    }
}

/// Adds the product of the matrix from a row and column on with a vector: each part of its lower triangle, and what that is above, while it is near.
fn product(kernels: Kernels, matrix: &Scratch<f64>, from: usize, v: &[f64], w: &mut [f64]) {
    let rest = v.len();
    let mut col = 0;
    while col < rest {
        let count = GROUP.min(rest - col);
        let below = col + count;
        for one in col..below {
            w[one] += matrix[(from + one, from + one)] * v[one];
            for other in one + 1..below {
                let x = matrix[(from + other, from + one)];
                w[one] += x * v[other];
                w[other] += x * v[one];
            }
        }
        let columns = Columns {
            data: matrix
                .as_ref()
                .as_ptr()
                .wrapping_add((from + col) * matrix.as_ref().col_stride() as usize + from + below),
            step: matrix.as_ref().col_stride() as usize,
            count,
        };
        let mut sums = [0.0; GROUP];
        // SAFETY: the columns have as many rows below these as the vectors have.
        unsafe {
            (kernels.dots)(v[below..].as_ptr(), rest - below, columns, sums.as_mut_ptr());
            (kernels.add)(w[below..].as_mut_ptr(), rest - below, columns, v[col..].as_ptr());
        }
        w[col..below].iter_mut().zip(sums).for_each(|(w, sum)| *w += sum);
        col = below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tridiagonal;

    #[test]
    fn second_differences_of_sums() {
        // The inverse of a matrix of second differences: its eigenvalues are known.
        for n in [1, 2, 3, 7, 40, 65, 200] {
            let mut matrix = Scratch::<f64>::zeros(n, n).unwrap();
            for (row, col) in (0..n).flat_map(|row| (0..=row).map(move |col| (row, col))) {
                matrix[(row, col)] = (col + 1) as f64 * (n - row) as f64 / (n + 1) as f64;
            }
            let (mut diagonal, mut beside) = (vec![0.0; n], vec![0.0; n - 1]);
            assert_eq!(
                tridiagonalise(&mut matrix, &mut diagonal, &mut beside),
                Ok(Kernels::of_machine().is_some())
            );
            if Kernels::of_machine().is_none() {
                return;
            }
            beside.iter_mut().for_each(|x| *x = x.abs());
            tridiagonal::eigenvalues(&mut diagonal, &mut beside).unwrap();
            for (at, found) in diagonal.iter().rev().enumerate() {
                let half = std::f64::consts::FRAC_PI_2 * (at + 1) as f64 / (n + 1) as f64;
                let wanted = 0.25 / (half.sin() * half.sin());
                assert!((found - wanted).abs() < 1e-13 * diagonal[n - 1], "{n}: {found} for {wanted}");
            }
        }
    }
}
