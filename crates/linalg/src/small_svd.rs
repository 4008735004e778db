//! Singular values and vectors of small real matrices: reflections to a bidiagonal matrix, column after column, and QR steps from there.
//!
//! G. Golub and W. Kahan, Calculating the singular values and pseudo-inverse of a matrix (1965). The matrix and its vectors lie in the nearest
//! caches, where reading them again costs less than keeping what reflections change.

#![allow(unsafe_code)]

use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef};

use crate::bidiagonal_vectors::{Steps, Vectors};
use crate::bidiagonalise::reflect;
use crate::failure::Failure;
use crate::scratch::{Scratch, zeros};
use crate::small::columns::{Columns, ColumnsMut, Kernels};

/// The most columns, and rows for each.
const COLUMNS: usize = 96;
const ROWS: usize = 2;

/// Singular values in no order, of which the first columns of `left` and `right` become the vectors; those have columns of neighbouring elements,
/// as many as the matrix has rows and columns, or as many as there are values. None for others, if the steps come to no end, and
/// if the machine has no vectors.
pub fn decompose(matrix: MatRef<'_, f64>, mut left: MatMut<'_, f64>, mut right: MatMut<'_, f64>) -> Result<Option<Vec<f64>>, Failure> {
    let (m, n) = matrix.shape();
    if m < n {
        return decompose(matrix.transpose(), right, left);
    }
    let (Some(kernels), true) = (Kernels::of_machine(), (1..=COLUMNS).contains(&n) && m <= ROWS * n) else {
        return Ok(None);
    };
    let mut job = Job {
        matrix: Scratch::copy_of(matrix)?,
        rows: Scratch::zeros(n, n)?,
        factors: zeros(n)?,
        row_factors: zeros(n)?,
        change: zeros(m)?,
        times: zeros(m)?,
        kernels,
    };
    let (mut diagonal, mut beside) = (zeros(n)?, zeros(n - 1)?);
    for (at, value) in diagonal.iter_mut().enumerate() {
        *value = job.reflect_column(at);
        if let Some(beside) = beside.get_mut(at) {
            *beside = job.reflect_row(at);
        }
    }
    job.store(left.rb_mut(), right.rb_mut());
    let steps = Steps {
        diagonal: &mut diagonal,
        beside: &mut beside,
        left: vectors(left),
        right: vectors(right),
        kernels,
    };
    // SAFETY: both have at least as many columns, and nobody else has them.
    let is_done = unsafe { steps.run()? };
    Ok(is_done.then_some(diagonal))
}

fn vectors(columns: MatMut<'_, f64>) -> Vectors {
    Vectors {
        step: columns.col_stride() as usize,
        rows: columns.nrows(),
        data: columns.as_ptr_mut(),
    }
}

struct Job {
    /// On and below the diagonal the vectors of the reflections of columns.
    matrix: Scratch<f64>,
    /// Column by column, below the diagonal, those of rows.
    rows: Scratch<f64>,
    /// By what the vectors' products with themselves are multiplied.
    factors: Vec<f64>,
    row_factors: Vec<f64>,
    /// Products of what is reflected with a vector, and factors.
    change: Vec<f64>,
    times: Vec<f64>,
    kernels: Kernels,
}

impl Job {
    /// Turns a column into one number, which is given back, and what is behind it along with it.
    fn reflect_column(&mut self, at: usize) -> f64 {
        let (m, n) = self.matrix.as_ref().shape();
        let column = &mut self.matrix.col_mut(at)[at..];
        // SAFETY: the column has its elements, one at least.
        let mirror = unsafe { reflect(self.kernels, column.as_mut_ptr(), column.len()) };
        self.factors[at] = mirror.factor;
        let (vector, rest) = self.matrix.as_mut().split_at_col_mut(at + 1);
        // SAFETY: the column's elements are neighbours, and not among those behind it.
        let vector = unsafe { std::slice::from_raw_parts(vector.as_ptr().add(at * vector.col_stride() as usize + at), m - at) };
        let rest = rest.submatrix_mut(at, 0, m - at, n - at - 1);
        apply(self.kernels, vector, mirror.factor, rest, &mut self.change);
        mirror.value
    }

    /// Turns a row, but for the diagonal, into one number, which is given back, and what is below it along with it.
    fn reflect_row(&mut self, at: usize) -> f64 {
        let (m, n) = self.matrix.as_ref().shape();
        for col in at + 1..n {
            self.rows[(col, at)] = self.matrix[(at, col)];
        }
        let vector = &mut self.rows.col_mut(at)[at + 1..];
        // SAFETY: the vector has its elements, one at least.
        let mirror = unsafe { reflect(self.kernels, vector.as_mut_ptr(), vector.len()) };
        self.row_factors[at] = mirror.factor;
        if mirror.factor != 0.0 && at + 1 < m {
            let (change, times) = (&mut self.change[..m - at - 1], &mut self.times[..vector.len()]);
            change.fill(0.0);
            times.iter_mut().zip(vector.iter()).for_each(|(time, x)| *time = -mirror.factor * x);
            let rest = self.matrix.as_mut().submatrix_mut(at + 1, at + 1, m - at - 1, n - at - 1);
            let (step, count, data) = (rest.col_stride() as usize, rest.ncols(), rest.as_ptr_mut());
            // SAFETY: the change has an element for each row, the vector and its multiple have one for each column.
            unsafe {
                (self.kernels.add)(change.as_mut_ptr(), change.len(), Columns { data, step, count }, vector.as_ptr());
                (self.kernels.add_to_all)(change.as_ptr(), change.len(), ColumnsMut { data, step, count }, times.as_ptr());
            }
        }
        mirror.value
    }

    /// The products of the reflections of columns and of those of rows.
    fn store(&mut self, mut left: MatMut<'_, f64>, mut right: MatMut<'_, f64>) {
        let (m, n) = self.matrix.as_ref().shape();
        for mut matrix in [left.rb_mut(), right.rb_mut()] {
            matrix.fill(0.0);
            matrix.diagonal_mut().column_vector_mut().fill(1.0);
        }
        for at in (0..n).rev() {
            let cols = left.ncols();
            let rest = left.rb_mut().submatrix_mut(at, at, m - at, cols - at);
            apply(self.kernels, &self.matrix.col(at)[at..], self.factors[at], rest, &mut self.change);
        }
        for at in (0..n - 1).rev() {
            let rest = right.rb_mut().submatrix_mut(at + 1, at + 1, n - at - 1, n - at - 1);
            apply(
                self.kernels,
                &self.rows.col(at)[at + 1..],
                self.row_factors[at],
                rest,
                &mut self.change,
            );
        }
    }
}

/// Applies a reflection to columns of as many rows as its vector has elements.
fn apply(kernels: Kernels, vector: &[f64], factor: f64, columns: MatMut<'_, f64>, change: &mut [f64]) {
    let (step, count) = (columns.col_stride() as usize, columns.ncols());
    if factor == 0.0 || count == 0 {
        return;
    }
    let (data, change) = (columns.as_ptr_mut(), &mut change[..count]);
    // SAFETY: the vector has an element for each row, the change has one for each column.
    unsafe {
        (kernels.dots)(vector.as_ptr(), vector.len(), Columns { data, step, count }, change.as_mut_ptr());
        change.iter_mut().for_each(|x| *x *= -factor);
        (kernels.add_to_all)(vector.as_ptr(), vector.len(), ColumnsMut { data, step, count }, change.as_ptr());
    }
}
