//! Eigenvectors of matrices of Schur's form, by elimination from below. Where eigenvalues are repeated a difference of two may be zero: something
//! small stands for it then, as in LAPACK's `trevc`, and where there are too few vectors they come out nearly the same.

use faer::c64;

use crate::element::Element;
use crate::failure::Failure;
use crate::scratch::Scratch;

/// No element of a vector is larger on the way.
const LARGE: f64 = 1e100;

/// How small a divisor may be for an eigenvalue.
#[derive(Clone, Copy)]
struct Least {
    /// The largest element of the matrix.
    largest: f64,
}

impl Least {
    fn of<T: Element<Re = f64>>(t: &Scratch<T>) -> Least {
        let n = t.rows();
        let mut largest = 0.0_f64;
        for col in 0..n {
            for row in 0..n.min(col + 2) {
                let (re, im) = t[(row, col)].parts();
                largest = largest.max(re.abs()).max(im.abs());
            }
        }
        Least { largest }
    }

    fn at(self, value: c64) -> f64 {
        (f64::EPSILON * rough(value)).max(1e-140 * self.largest).max(f64::MIN_POSITIVE)
    }
}

/// There is one copy of its code for all.
#[inline(never)]
fn over(x: c64, y: c64) -> c64 {
    x.over(y)
}

fn rough(x: c64) -> f64 {
    x.re.abs() + x.im.abs()
}

fn not_less(x: c64, least: f64) -> c64 {
    if rough(x) < least { c64::new(least, 0.0) } else { x }
}

/// The vectors of a complex matrix, as columns of a triangular one.
pub fn complex(t: &Scratch<c64>) -> Result<Scratch<c64>, Failure> {
    let n = t.rows();
    let least = Least::of(t);
    let mut vectors = Scratch::zeros(n, n)?;
    for col in 0..n {
        let (value, x) = (t[(col, col)], vectors.col_mut(col));
        let least = least.at(value);
        x[col] = c64::new(1.0, 0.0);
        for row in 0..col {
            x[row] = -t[(row, col)];
        }
        for at in (0..col).rev() {
            let divisor = not_less(t[(at, at)] - value, least);
            if let Some(scale) = too_large(rough(x[at]), rough(divisor)) {
                x[..=col].iter_mut().for_each(|x| *x *= scale);
            }
            let found = over(x[at], divisor);
            x[at] = found;
            for row in 0..at {
                x[row] -= found * t[(row, at)];
            }
        }
    }
    Ok(vectors)
}

/// What a vector is to be multiplied with, lest a quotient be too large.
fn too_large(above: f64, below: f64) -> Option<f64> {
    // The divisor is never so small that this is zero.
    (above > LARGE * below).then(|| LARGE * (below / above))
}

/// The vectors of a real matrix, whose eigenvalues are given, as columns of a triangular one: real and imaginary parts of the first of a pair.
pub fn real(t: &Scratch<f64>, values: &[c64]) -> Result<Scratch<f64>, Failure> {
    let n = t.rows();
    let least = Least::of(t);
    let mut vectors = Scratch::zeros(n, n)?;
    let mut left = n;
    while left > 0 {
        let col = left - 1;
        let is_pair = values[col].im != 0.0 && col > 0;
        if is_pair {
            let value = values[col - 1];
            let [re, im] = vectors.cols_mut::<2>(col - 1);
            let (above, below) = (t[(col - 1, col)], t[(col, col - 1)]);
            (re[col - 1], im[col]) = if above.abs() >= below.abs() {
                (1.0, value.im / above)
            } else {
                (-value.im / below, 1.0)
            };
            for row in 0..col - 1 {
                re[row] = -re[col - 1] * t[(row, col - 1)];
                im[row] = -im[col] * t[(row, col)];
            }
            Real {
                t,
                value,
                least: least.at(value),
                re,
                im,
            }
            .solve(col - 1);
            left -= 2;
        } else {
            let re = vectors.col_mut(col);
            re[col] = 1.0;
            for row in 0..col {
                re[row] = -t[(row, col)];
            }
            Real {
                t,
                value: c64::new(t[(col, col)], 0.0),
                least: least.at(values[col]),
                re,
                im: &mut [],
            }
            .solve(col);
            left -= 1;
        }
    }
    Ok(vectors)
}

/// One vector of a real matrix, or two columns of it; without imaginary parts the second is empty.
struct Real<'a> {
    t: &'a Scratch<f64>,
    value: c64,
    least: f64,
    re: &'a mut [f64],
    im: &'a mut [f64],
}

impl Real<'_> {
    fn get(&self, at: usize) -> c64 {
        c64::new(self.re[at], self.im.get(at).copied().unwrap_or(0.0))
    }

    /// Solves the first so many rows; the others are there.
    fn solve(&mut self, rows: usize) {
        let mut left = rows;
        while left > 0 {
            let at = left - 1;
            if at > 0 && self.t[(at, at - 1)] != 0.0 {
                self.two(at - 1);
                left -= 2;
            } else {
                self.one(at);
                left -= 1;
            }
        }
    }

    #[inline(never)]
    fn scale(&mut self, above: f64, below: f64) {
        if let Some(scale) = too_large(above, below) {
            self.re.iter_mut().chain(self.im.iter_mut()).for_each(|x| *x *= scale);
        }
    }

    /// Stores an element and takes its column from the rows above.
    #[inline(never)]
    fn put(&mut self, at: usize, x: c64, above: usize) {
        let column = &self.t.col(at)[..above];
        self.re[at] = x.re;
        self.re.iter_mut().zip(column).for_each(|(sum, t)| *sum -= x.re * t);
        if let Some(im) = self.im.get_mut(at) {
            *im = x.im;
            self.im.iter_mut().zip(column).for_each(|(sum, t)| *sum -= x.im * t);
        }
    }

    fn one(&mut self, at: usize) {
        let divisor = not_less(self.t[(at, at)] - self.value, self.least);
        self.scale(rough(self.get(at)), rough(divisor));
        let x = if self.im.is_empty() {
            c64::new(self.re[at] / divisor.re, 0.0)
        } else {
            over(self.get(at), divisor)
        };
        self.put(at, x, at);
    }

    /// Two rows that belong together, the larger element of the two in front.
    fn two(&mut self, at: usize) {
        let t =
            |row: usize, col: usize| c64::new(self.t[(at + row, at + col)], 0.0) - if row == col { self.value } else { c64::new(0.0, 0.0) };
        let mut rows = [[t(0, 0), t(0, 1)], [t(1, 0), t(1, 1)]];
        let swapped = rough(rows[0][0]) < rough(rows[1][0]);
        if swapped {
            rows.swap(0, 1);
        }
        let pivot = not_less(rows[0][0], self.least);
        let factor = over(rows[1][0], pivot);
        let last = not_less(rows[1][1] - factor * rows[0][1], self.least);
        let elements = |found: &Self| {
            let (one, two) = (found.get(at), found.get(at + 1));
            let (one, two) = if swapped { (two, one) } else { (one, two) };
            (one, two - factor * one)
        };
        // Neither quotient is to be too large: the second one, then the first one, into which that goes.
        self.scale(rough(elements(self).1), rough(last));
        let (first, second) = elements(self);
        self.scale(rough(first - rows[0][1] * over(second, last)), rough(pivot));
        let (first, second) = elements(self);
        let y = over(second, last);
        let x = over(first - rows[0][1] * y, pivot);
        self.put(at + 1, y, at);
        self.put(at, x, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest element of `t x - x value`, for a column of length about 1.
    fn residual(t: &Scratch<f64>, x: &[c64], value: c64) -> f64 {
        let size = x.iter().fold(0.0_f64, |most, x| most.max(rough(*x)));
        assert!(size > 0.0 && size.is_finite());
        let n = t.rows();
        let row = |row: usize| (0..n).fold(-x[row] * value, |sum, col| sum + x[col] * t[(row, col)]);
        (0..n).map(|at| rough(row(at)) / size).fold(0.0, f64::max)
    }

    #[test]
    fn blocks_of_one_and_two_rows() {
        for n in [1, 2, 3, 8, 30, 60] {
            for (value, pairs) in [(0.0, false), (0.5, false), (0.5, true), (3.0, true)] {
                // Equal values, or equal pairs of them, and ones all above.
                let mut t = Scratch::<f64>::zeros(n, n).unwrap();
                for (row, col) in (0..n).flat_map(|col| (0..=col).map(move |row| (row, col))) {
                    t[(row, col)] = if row == col { value } else { 1.0 };
                }
                let mut values = vec![c64::new(value, 0.0); n];
                for at in (0..n - 1).step_by(2).filter(|_| pairs) {
                    t[(at + 1, at)] = -4.0;
                    (values[at].im, values[at + 1].im) = (2.0, -2.0);
                }
                let vectors = real(&t, &values).unwrap();
                let mut wide = Scratch::<c64>::zeros(n, n).unwrap();
                for (row, col) in (0..n).flat_map(|row| (0..n).map(move |col| (row, col))) {
                    wide[(row, col)] = c64::new(t[(row, col)], 0.0);
                }
                for (col, &value) in values.iter().enumerate() {
                    let part = |at: usize, row: usize| if pairs && value.im != 0.0 { vectors[(row, at)] } else { 0.0 };
                    let x: Vec<c64> = (0..n)
                        .map(|row| match value.im {
                            im if im > 0.0 => c64::new(vectors[(row, col)], part(col + 1, row)),
                            im if im < 0.0 => c64::new(vectors[(row, col - 1)], -part(col, row)),
                            _ => c64::new(vectors[(row, col)], 0.0),
                        })
                        .collect();
                    assert!(residual(&t, &x, value) < 1e-14 * n as f64, "{n} {value} {pairs} {col}");
                }
                if !pairs {
                    let vectors = complex(&wide).unwrap();
                    for (col, &value) in values.iter().enumerate() {
                        assert!(residual(&t, vectors.col(col), value) < 1e-14 * n as f64);
                    }
                }
            }
        }
    }
}
