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
            take_from(&mut row[at + 1..self.n], factor, &pivots[at + 1..self.n]);
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

    /// What times the matrix is so many right-hand sides, column by column beside each other.
    pub fn solve(&self, sides: impl Fn(usize, usize) -> T, width: usize) -> [[T; MOST]; MOST] {
        let n = self.n;
        let mut found = [[T::zero_impl(); MOST]; MOST];
        for row in 0..n {
            let (done, rest) = found.split_at_mut(row);
            let here = &mut rest[0][..width];
            for (col, x) in here.iter_mut().enumerate() {
                *x = sides(self.order[row], col);
            }
            for (factor, before) in self.rows[row].iter().zip(done.iter()) {
                take_from(here, *factor, before);
            }
        }
        for row in (0..n).rev() {
            let (rest, done) = found.split_at_mut(row + 1);
            let here = &mut rest[row][..width];
            let factors = &self.rows[row];
            for (factor, behind) in factors[row + 1..].iter().zip(done.iter()).take(n - row - 1) {
                take_from(here, *factor, behind);
            }
            here.iter_mut().for_each(|x| *x = x.over(factors[row]));
        }
        found
    }
}

/// Takes from a row another one, times a factor.
fn take_from<T: Element>(row: &mut [T], factor: T, other: &[T]) {
    row.iter_mut().zip(other).for_each(|(x, y)| *x = x.minus(factor.times(*y)));
}
