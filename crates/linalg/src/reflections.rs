//! The QR decomposition of small real matrices, row after row: a reflection reads what is left of the matrix twice, as vectors along its rows.
//!
//! Householder's reflections as LAPACK's `geqr2` and `org2r` have them: E. Anderson et al., LAPACK Users' Guide (1999).

#![allow(unsafe_code)]

use faer::MatRef;

use crate::bidiagonalise::reflect;
use crate::failure::Failure;
use crate::scratch::{Scratch, zeros};
use crate::small::columns::{Columns, ColumnsMut, Kernels};

/// Elements of matrices that lie in the nearest caches.
const SMALL: usize = 128 * 128;

/// Rows of neighbouring elements, so many steps apart.
#[derive(Clone, Copy)]
struct Rows {
    data: *mut f64,
    step: usize,
    count: usize,
    length: usize,
}

/// A triangle and reflections that together are a matrix.
pub struct Reflections {
    /// The triangle, turned: what is beside it means nothing.
    pub triangle: Scratch<f64>,
    /// Column by column what is on and below the diagonal of each reflection's vector.
    pub vectors: Scratch<f64>,
    pub factors: Vec<f64>,
    kernels: Kernels,
    /// What a reflection takes from every row; the factors of the rows.
    change: Vec<f64>,
    of_rows: Vec<f64>,
}

impl Reflections {
    /// None for matrices that are not small, and if the machine has no vectors.
    pub fn of(matrix: MatRef<'_, f64>) -> Result<Option<Self>, Failure> {
        let (m, n) = matrix.shape();
        let (Some(kernels), true) = (Kernels::of_machine(), m.saturating_mul(n.max(m)) <= SMALL) else {
            return Ok(None);
        };
        let mut triangle = Scratch::copy_of(matrix.transpose())?;
        // What has no largest element is known by the caller to be no numbers.
        let scale = triangle.normalise().unwrap_or(1.0);
        let count = m.min(n);
        let mut made = Reflections {
            triangle,
            vectors: Scratch::zeros(m, count)?,
            factors: zeros(count)?,
            kernels,
            change: zeros(n.max(m))?,
            of_rows: zeros(m)?,
        };
        for at in 0..count {
            made.step(at);
        }
        if scale != 1.0 {
            for row in 0..m {
                made.triangle.col_mut(row).iter_mut().for_each(|x| *x *= scale);
            }
        }
        Ok(Some(made))
    }

    /// The reflection of one column, applied to those behind it.
    fn step(&mut self, at: usize) {
        let (n, m) = self.triangle.as_ref().shape();
        for row in at..m {
            self.vectors[(row, at)] = self.triangle[(at, row)];
        }
        let vector = &mut self.vectors.col_mut(at)[at..];
        // SAFETY: the vector has its elements, one at least.
        let mirror = unsafe { reflect(self.kernels, vector.as_mut_ptr(), vector.len()) };
        self.triangle[(at, at)] = mirror.value;
        self.factors[at] = mirror.factor;
        if at + 1 < n {
            let rows = Rows {
                step: self.triangle.as_ref().col_stride() as usize,
                data: &mut self.triangle[(at + 1, at)],
                count: m - at,
                length: n - at - 1,
            };
            // SAFETY: the rows are those of the triangle's memory, from this one on, behind the column.
            unsafe { self.apply(at, rows) };
        }
    }

    /// Applies a reflection to rows, as many as its vector has elements.
    unsafe fn apply(&mut self, at: usize, rows: Rows) {
        let (factor, vector) = (self.factors[at], &self.vectors.col(at)[at..]);
        if factor == 0.0 {
            return;
        }
        let change = &mut self.change[..rows.length];
        change.fill(0.0);
        let of_rows = &mut self.of_rows[..rows.count];
        of_rows.iter_mut().zip(vector).for_each(|(of_row, x)| *of_row = -factor * x);
        let Rows { data, step, count, length } = rows;
        // SAFETY: the caller's promise; vectors are as long as the rows are many, and the change as the rows are long.
        unsafe {
            (self.kernels.add)(change.as_mut_ptr(), length, Columns { data, step, count }, vector.as_ptr());
            (self.kernels.add_to_all)(change.as_ptr(), length, ColumnsMut { data, step, count }, of_rows.as_ptr());
        }
    }

    /// So many columns of the orthogonal matrix, turned.
    pub fn rotation(&mut self, cols: usize) -> Result<Scratch<f64>, Failure> {
        let (n, m) = self.triangle.as_ref().shape();
        let mut found = Scratch::identity(cols, m)?;
        for at in (0..m.min(n)).rev() {
            let rows = Rows {
                step: found.as_ref().col_stride() as usize,
                data: &mut found[(at, at)],
                count: m - at,
                length: cols - at,
            };
            // SAFETY: the rows are those of the matrix that is made, from this one on; columns before are those of reflections to come.
            unsafe { self.apply(at, rows) };
        }
        Ok(found)
    }
}
