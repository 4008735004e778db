//! Eigenvalues and singular values by Jacobi's rotations.

use super::memory::Matrix;
use super::number::{Number, ONE, ZERO, exponent, norm, shifted};

const SWEEPS: usize = 60;

/// The rotation that makes two axes orthogonal under a Hermitian form: cosine, sine, and the phase of the form between them.
fn rotation(first: f64, second: f64, between: Number) -> (f64, f64, Number) {
    let size = between.abs();
    let theta = (second - first) / (2.0 * size);
    let tangent = 1.0_f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    (cosine, tangent * cosine, Number::new(between.re / size, between.im / size))
}

/// Rotates two columns.
fn turn(a: &mut Matrix, p: usize, q: usize, (cosine, sine, phase): (f64, f64, Number)) {
    for row in 0..a.rows {
        let (x, y) = (a.get(row, p), a.get(row, q) * phase.conj());
        a.set(row, p, x.times(cosine) - y.times(sine));
        a.set(row, q, x.times(sine) + y.times(cosine));
    }
}

/// Makes the largest number about 1, and gives the power of two that it was about: squares then stay in the range.
fn shifted_to_one(a: &mut Matrix) -> i32 {
    let power = exponent(a.numbers.iter().copied());
    a.numbers.iter_mut().for_each(|x| *x = x.shifted(-power));
    power
}

fn identity(n: usize) -> Matrix {
    let mut found = Matrix::zeros(n, n);
    (0..n).for_each(|at| found.set(at, at, ONE));
    found
}

/// The columns in the order of keys.
fn ordered(a: &Matrix, order: &[usize]) -> Matrix {
    let mut found = Matrix::zeros(a.rows, order.len());
    for (to, &from) in order.iter().enumerate() {
        (0..a.rows).for_each(|row| found.set(row, to, a.get(row, from)));
    }
    found
}

/// Eigenvalues in rising order and eigenvectors as columns of a Hermitian matrix of which one triangle is read; none if the rotations do not
/// end.
pub fn eigh(a: &Matrix, lower: bool) -> Option<(Vec<f64>, Matrix)> {
    let n = a.rows;
    let mut full = Matrix::zeros(n, n);
    for column in 0..n {
        full.set(column, column, Number::new(a.get(column, column).re, 0.0));
        for row in column + 1..n {
            let entry = if lower { a.get(row, column) } else { a.get(column, row).conj() };
            full.set(row, column, entry);
            full.set(column, row, entry.conj());
        }
    }
    let power = shifted_to_one(&mut full);
    let mut vectors = identity(n);
    let norm = norm(full.numbers.iter().copied());
    for _ in 0..SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                let between = full.get(p, q);
                let (first, second) = (full.get(p, p).re, full.get(q, q).re);
                if between.is_nan() || first.is_nan() || second.is_nan() {
                    return None;
                }
                if between.abs() <= f64::EPSILON * norm {
                    continue;
                }
                still = false;
                let by = rotation(first, second, between);
                turn(&mut full, p, q, by);
                turn_rows(&mut full, p, q, by);
                turn(&mut vectors, p, q, by);
            }
        }
        if still {
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&x, &y| full.get(x, x).re.total_cmp(&full.get(y, y).re));
            let values = order.iter().map(|&at| shifted(full.get(at, at).re, power)).collect();
            return Some((values, ordered(&vectors, &order)));
        }
    }
    None
}

/// The same rotation from the left, by its adjoint.
fn turn_rows(a: &mut Matrix, p: usize, q: usize, (cosine, sine, phase): (f64, f64, Number)) {
    for column in 0..a.columns {
        let (x, y) = (a.get(p, column), a.get(q, column) * phase);
        a.set(p, column, x.times(cosine) - y.times(sine));
        a.set(q, column, x.times(sine) + y.times(cosine));
    }
}

/// Left vectors as columns, as many as rows; singular values in falling order; right vectors as columns. The matrix has no more columns than
/// rows.
pub fn svd(a: &Matrix) -> Option<(Matrix, Vec<f64>, Matrix)> {
    let (m, n) = (a.rows, a.columns);
    let (mut left, mut right) = (a.clone(), identity(n));
    let power = shifted_to_one(&mut left);
    for _ in 0..SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                let dot = (0..m).fold(ZERO, |sum, row| sum + left.get(row, p).conj() * left.get(row, q));
                let square = |at: usize| (0..m).map(|row| left.get(row, at).square()).sum::<f64>();
                let (first, second) = (square(p), square(q));
                if dot.is_nan() || first.is_nan() || second.is_nan() {
                    return None;
                }
                if dot.abs() <= f64::EPSILON * m as f64 * first.sqrt() * second.sqrt() {
                    continue;
                }
                still = false;
                let by = rotation(first, second, dot);
                turn(&mut left, p, q, by);
                turn(&mut right, p, q, by);
            }
        }
        if still {
            let sizes: Vec<f64> = (0..n).map(|at| norm((0..m).map(|row| left.get(row, at)))).collect();
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&x, &y| sizes[y].total_cmp(&sizes[x]));
            let values: Vec<f64> = order.iter().map(|&at| sizes[at]).collect();
            let whole = values.iter().map(|&x| shifted(x, power)).collect();
            return Some((completed(&ordered(&left, &order), &values), whole, ordered(&right, &order)));
        }
    }
    None
}

/// Orthonormal columns, as many as there are rows: the given ones by their sizes, and where those are none, any others.
fn completed(a: &Matrix, sizes: &[f64]) -> Matrix {
    let m = a.rows;
    let tiny = sizes.first().map_or(0.0, |largest| largest * f64::EPSILON * m as f64);
    let mut found = Matrix::zeros(m, m);
    let mut candidate = 0;
    for column in 0..m {
        if column < sizes.len() && sizes[column] > tiny {
            (0..m).for_each(|row| found.set(row, column, a.get(row, column).times(1.0 / sizes[column])));
            continue;
        }
        // Of the unit vectors one is at least so far from the space of those before.
        while candidate < m {
            let mut vector: Vec<Number> = (0..m).map(|row| if row == candidate { ONE } else { ZERO }).collect();
            candidate += 1;
            for _ in 0..2 {
                for before in (0..m).filter(|&at| at < column || (at < sizes.len() && sizes[at] > tiny)) {
                    let dot = (0..m).fold(ZERO, |sum, row| {
                        sum + found_or(a, sizes, &found, column, before, row).conj() * vector[row]
                    });
                    for (row, entry) in vector.iter_mut().enumerate() {
                        *entry = *entry - found_or(a, sizes, &found, column, before, row) * dot;
                    }
                }
            }
            let size = vector.iter().map(|x| x.square()).sum::<f64>().sqrt();
            if size > 0.5 / (m as f64).sqrt() {
                vector
                    .iter()
                    .enumerate()
                    .for_each(|(row, x)| found.set(row, column, x.times(1.0 / size)));
                break;
            }
        }
    }
    found
}

/// An entry of a column that is there already, or of one that is to come.
fn found_or(a: &Matrix, sizes: &[f64], found: &Matrix, done: usize, column: usize, row: usize) -> Number {
    if column < done {
        found.get(row, column)
    } else {
        a.get(row, column).times(1.0 / sizes[column])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libraries::dense::qr;

    /// Numbers whose squares leave the range, on both sides.
    #[test]
    fn sizes_are_found_where_squares_leave_the_range() {
        let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 1e-14, "{found:e} {wanted:e}");
        let real = |x: f64| Number::new(x, 0.0);
        for scale in [1.0, 1e200, 1e-200, 1e300, 1e-300] {
            near(norm([real(3.0 * scale), Number::new(0.0, 4.0 * scale)].into_iter()), 5.0 * scale);
            let over = Number::new(1.0 * scale, 2.0 * scale).over(Number::new(3.0 * scale, 4.0 * scale));
            near(over.re, 0.44);
            near(over.im, 0.08);
            let matrix = |entries: [f64; 4]| {
                let mut made = Matrix::zeros(2, 2);
                (0..4).for_each(|at| made.set(at % 2, at / 2, real(entries[at] * scale)));
                made
            };
            let mut a = matrix([3.0, 4.0, 1.0, 2.0]);
            qr(&mut a);
            near(a.get(0, 0).re, -5.0 * scale);
            near(a.get(0, 1).re, -2.2 * scale);
            let (values, _) = eigh(&matrix([2.0, 1.0, 1.0, 2.0]), true).expect("the rotations end");
            near(values[0], scale);
            near(values[1], 3.0 * scale);
            let (left, sizes, _) = svd(&matrix([3.0, 4.0, -4.0, 3.0])).expect("the rotations end");
            near(sizes[0], 5.0 * scale);
            near(sizes[1], 5.0 * scale);
            near(norm((0..2).map(|row| left.get(row, 0))), 1.0);
        }
    }
}
