//! Balancing: what is done to a matrix before its eigenvalues are looked for, so that small ones are not lost beside large elements.
//!
//! As LAPACK's `gebal`: B. N. Parlett and C. Reinsch, Balancing a matrix for calculation of eigenvalues and eigenvectors (1969).

use faer::MatMut;

use crate::element::Element;
use crate::failure::Failure;
use crate::scratch::{Scratch, indices, zeros};

/// How a matrix was balanced: rows and columns exchanged, so that what stands in front of `first` and behind `last` is triangular, and the others
/// scaled by powers of two.
#[derive(Debug)]
pub struct Balance {
    first: usize,
    last: usize,
    exchanged: Vec<usize>,
    scales: Vec<f64>,
}

impl Balance {
    /// Balances a matrix of one row at least.
    pub fn of<T: Element<Re = f64>>(matrix: &mut Scratch<T>) -> Result<Balance, Failure> {
        let n = matrix.as_ref().nrows();
        let mut found = Balance {
            first: 0,
            last: n - 1,
            exchanged: indices(n)?,
            scales: zeros(n)?,
        };
        found.scales.fill(1.0);
        let mut matrix = matrix.as_mut();
        found.isolate(&mut matrix);
        while found.scale(&mut matrix) {}
        Ok(found)
    }

    /// Moves rows without elements beside the diagonal to the end and such columns to the front: their eigenvalues are there already.
    fn isolate<T: Element<Re = f64>>(&mut self, matrix: &mut MatMut<'_, T>) {
        let all = |matrix: &MatMut<'_, T>, found: &Balance, row: bool, at: usize| {
            (found.first..=found.last).all(|other| {
                let x = if row { matrix[(at, other)] } else { matrix[(other, at)] };
                other == at || x.is_nought()
            })
        };
        while let Some(at) = (self.first..=self.last).rev().find(|&at| all(matrix, self, true, at)) {
            self.exchange(matrix, at, self.last);
            if self.last == self.first {
                return;
            }
            self.last -= 1;
        }
        while let Some(at) = (self.first..=self.last).find(|&at| all(matrix, self, false, at)) {
            self.exchange(matrix, at, self.first);
            if self.last == self.first {
                return;
            }
            self.first += 1;
        }
    }

    fn exchange<T: Element<Re = f64>>(&mut self, matrix: &mut MatMut<'_, T>, at: usize, with: usize) {
        self.exchanged[with] = at;
        if at == with {
            return;
        }
        for other in 0..matrix.nrows() {
            let (one, two) = (matrix[(at, other)], matrix[(with, other)]);
            (matrix[(at, other)], matrix[(with, other)]) = (two, one);
        }
        for other in 0..matrix.nrows() {
            let (one, two) = (matrix[(other, at)], matrix[(other, with)]);
            (matrix[(other, at)], matrix[(other, with)]) = (two, one);
        }
    }

    /// Makes rows and columns of like sizes; whether any was scaled.
    fn scale<T: Element<Re = f64>>(&mut self, matrix: &mut MatMut<'_, T>) -> bool {
        let mut changed = false;
        for at in self.first..=self.last {
            let others = (self.first..=self.last).filter(|&other| other != at);
            let (mut col, mut row) = (0.0_f64, 0.0_f64);
            for other in others {
                col += matrix[(other, at)].size();
                row += matrix[(at, other)].size();
            }
            if col == 0.0 || row == 0.0 || !(col + row).is_finite() {
                continue;
            }
            let (sum, mut factor) = (col + row, 1.0_f64);
            while col < row / 2.0 && factor < 1e100 {
                (factor, col) = (factor * 2.0, col * 4.0);
            }
            while col >= row * 2.0 && factor > 1e-100 {
                (factor, col) = (factor / 2.0, col / 4.0);
            }
            let scale = self.scales[at] * factor;
            if (col + row) / factor >= 0.95 * sum || !(1e-200..=1e200).contains(&scale) {
                continue;
            }
            (changed, self.scales[at]) = (true, scale);
            let (down, up) = (T::of_real(1.0 / factor), T::of_real(factor));
            for other in 0..matrix.nrows() {
                matrix[(at, other)] = matrix[(at, other)].times(down);
            }
            for other in 0..matrix.nrows() {
                matrix[(other, at)] = matrix[(other, at)].times(up);
            }
        }
        changed
    }

    /// Turns eigenvectors of the balanced matrix into those of the matrix as it was.
    pub fn undo<C: Element<Re = f64>>(&self, vectors: &mut Scratch<C>) {
        let mut matrix = vectors.as_mut();
        let n = matrix.nrows();
        for row in self.first..=self.last {
            let scale = C::of_real(self.scales[row]);
            for col in 0..n {
                matrix[(row, col)] = matrix[(row, col)].times(scale);
            }
        }
        for row in (0..self.first).rev().chain(self.last + 1..n) {
            let with = self.exchanged[row];
            for col in 0..n {
                let (one, two) = (matrix[(row, col)], matrix[(with, col)]);
                (matrix[(row, col)], matrix[(with, col)]) = (two, one);
            }
        }
    }
}
