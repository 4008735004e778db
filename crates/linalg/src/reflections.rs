//! The QR decomposition of small real matrices, row after row: a reflection reads what is left of the matrix twice, as vectors along its rows.
//!
//! Householder's reflections as LAPACK's `geqr2` and `org2r` have them: E. Anderson et al., LAPACK Users' Guide (1999).

#![allow(unsafe_code)]

use faer::{MatMut, MatRef};

use crate::bidiagonalise::reflect;
use crate::failure::Failure;
use crate::scratch::{Scratch, root_of_power, zeros};
use crate::small::columns::{Columns, ColumnsMut, Kernels};

/// Rows times the longer side of matrices that lie, with the orthogonal one, in the nearest caches.
const SMALL: usize = 128 * 128;
/// Sums of squares of less stay in the range of numbers.
const LARGE: f64 = 1e140;

/// Rows of neighbouring elements, so many steps apart.
#[derive(Clone, Copy)]
struct Rows {
    data: *mut f64,
    step: usize,
    count: usize,
    length: usize,
}

impl Rows {
    /// The columns of a matrix of which each one's elements are neighbours.
    fn of(turned: MatMut<'_, f64>) -> Rows {
        Rows {
            step: turned.col_stride() as usize,
            count: turned.ncols(),
            length: turned.nrows(),
            data: turned.as_ptr_mut(),
        }
    }
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
        let (Some(kernels), true) = (Kernels::of_machine(), (1..=SMALL).contains(&m.saturating_mul(n.max(m)))) else {
            return Ok(None);
        };
        let mut triangle = Scratch::copy_of(matrix.transpose())?;
        let scales = scales_of_columns(&mut triangle)?;
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
        for row in 0..m {
            let scaled = made.triangle.col_mut(row).iter_mut().zip(&scales);
            scaled.for_each(|(x, scale)| *x = *x * scale * scale);
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
            let rows = Rows::of(self.triangle.as_mut().submatrix_mut(at + 1, at, n - at - 1, m - at));
            // SAFETY: the rows are the triangle's own, from this one on, behind the column.
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
            let rows = Rows::of(found.as_mut().submatrix_mut(at, at, cols - at, m - at));
            // SAFETY: the rows are those of the matrix that is made, from this one on; columns before are those of reflections to come.
            unsafe { self.apply(at, rows) };
        }
        Ok(found)
    }
}

/// Divides columns of numbers whose squares leave the range by powers of two, and gives the square roots of these, 1 for other columns, or
/// nothing if all are as they were. Of columns that have no largest element the caller knows.
fn scales_of_columns(turned: &mut Scratch<f64>) -> Result<Vec<f64>, Failure> {
    let (n, m) = turned.as_ref().shape();
    if turned.largest() < LARGE {
        return Ok(Vec::new());
    }
    let mut scales = zeros(n)?;
    for (at, scale) in scales.iter_mut().enumerate() {
        let largest = (0..m).fold(0.0, |most: f64, row| most.max(turned[(at, row)].abs()));
        *scale = if (LARGE..f64::INFINITY).contains(&largest) {
            root_of_power(largest)
        } else {
            1.0
        };
        for row in 0..m {
            turned[(at, row)] /= *scale;
            turned[(at, row)] /= *scale;
        }
    }
    Ok(scales)
}
