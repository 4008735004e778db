//! Elimination with partial pivoting of matrices of a few rows, in memory of the function that calls: stacks of many are done without asking for any.

use faer::{ColRef, MatRef};

use crate::element::Element;

/// A matrix of at most `MOST` rows, permuted, as the product of a unit lower triangle and an upper one, which share its memory.
pub struct SmallLu<T, const MOST: usize> {
    rows: [[T; MOST]; MOST],
    /// Which row of the matrix each one was.
    order: [usize; MOST],
    pub n: usize,
    pub is_odd: bool,
}

impl<T: Element, const MOST: usize> SmallLu<T, MOST> {
    pub fn of(matrix: MatRef<'_, T>) -> Self {
        let n = matrix.nrows();
        let mut made = SmallLu {
            rows: [[T::zero_impl(); MOST]; MOST],
            order: std::array::from_fn(|row| row),
            n,
            is_odd: false,
        };
        for (row, values) in made.rows.iter_mut().enumerate().take(n) {
            for (col, value) in values.iter_mut().enumerate().take(n) {
                *value = matrix[(row, col)];
            }
        }
        for at in 0..n {
            made.eliminate(at);
        }
        made
    }

    fn eliminate(&mut self, at: usize) {
        let pivot_row = self.pivot_row(at);
        if pivot_row != at {
            self.rows.swap(at, pivot_row);
            self.order.swap(at, pivot_row);
            self.is_odd = !self.is_odd;
        }
        let (above, below) = self.rows[..self.n].split_at_mut(at + 1);
        let pivots = &above[at];
        if pivots[at].is_nought() {
            return;
        }
        for row in below {
            let factor = row[at].over(pivots[at]);
            row[at] = factor;
            for col in at + 1..self.n {
                row[col] = row[col].minus(factor.times(pivots[col]));
            }
        }
    }

    /// The first of the largest elements of a column, from the diagonal on; of complex ones by the sum of their parts' sizes, as in LAPACK.
    fn pivot_row(&self, at: usize) -> usize {
        let size = |x: T| {
            let (re, im) = x.parts();
            re.size().plus(im.size())
        };
        let (mut found, mut largest) = (at, size(self.rows[at][at]));
        for row in at + 1..self.n {
            let here = size(self.rows[row][at]);
            if here > largest {
                (found, largest) = (row, here);
            }
        }
        found
    }

    pub fn pivots(&self) -> ColRef<'_, T> {
        let triangles = MatRef::from_row_major_slice_with_stride(self.rows.as_flattened(), self.n, self.n, MOST);
        triangles.diagonal().column_vector()
    }

    /// What times the matrix is a right-hand side, by its elements.
    pub fn solve(&self, side: impl Fn(usize) -> T) -> [T; MOST] {
        let n = self.n;
        let mut found = [T::zero_impl(); MOST];
        for row in 0..n {
            let before = self.rows[row].iter().zip(&found).take(row);
            found[row] = before.fold(side(self.order[row]), |sum, (a, x)| sum.minus(a.times(*x)));
        }
        for row in (0..n).rev() {
            let behind = self.rows[row].iter().zip(&found).take(n).skip(row + 1);
            let sum = behind.fold(found[row], |sum, (a, x)| sum.minus(a.times(*x)));
            found[row] = sum.over(self.rows[row][row]);
        }
        found
    }
}
