//! Products and factorizations of matrices in column-major order, as BLAS and LAPACK define them.

use super::memory::Matrix;
use super::number::{Number, ONE, ZERO, norm};

/// What is done to an operand: nothing, transposing, or transposing and conjugating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    None,
    Transpose,
    Adjoint,
}

impl Turn {
    pub fn of(number: i32) -> Option<Turn> {
        match number {
            0 => Some(Turn::None),
            1 => Some(Turn::Transpose),
            2 => Some(Turn::Adjoint),
            _ => None,
        }
    }

    pub fn get(self, a: &Matrix, row: usize, column: usize) -> Number {
        match self {
            Turn::None => a.get(row, column),
            Turn::Transpose => a.get(column, row),
            Turn::Adjoint => a.get(column, row).conj(),
        }
    }
}

/// Rounds to the 10 bits of fraction that TensorFloat-32 has, to the nearest, ties to even.
pub fn to_tensor_float(number: Number) -> Number {
    let round = |x: f64| {
        let bits = (x as f32).to_bits();
        if !x.is_finite() {
            return x;
        }
        let rounded = bits.wrapping_add(0x0fff + (bits >> 13 & 1)) & !0x1fff;
        f64::from(f32::from_bits(rounded))
    };
    Number::new(round(number.re), round(number.im))
}

/// alpha · turned(a) · turned(b), of m rows, n columns and k summands.
pub fn product(alpha: Number, a: &Matrix, turn_a: Turn, b: &Matrix, turn_b: Turn, (m, n, k): (usize, usize, usize)) -> Matrix {
    let mut found = Matrix::zeros(m, n);
    for column in 0..n {
        for row in 0..m {
            let sum = (0..k).fold(ZERO, |sum, at| sum + turn_a.get(a, row, at) * turn_b.get(b, at, column));
            found.set(row, column, alpha * sum);
        }
    }
    found
}

/// Cholesky's factor in the triangle that is read; the other one is left as it is. Gives 0, or the order of the leading minor that is not
/// positive, where it stops.
pub fn cholesky(a: &mut Matrix, lower: bool) -> usize {
    let n = a.rows;
    // In terms of the lower triangle: the upper one is its adjoint.
    let get = |a: &Matrix, row: usize, column: usize| if lower { a.get(row, column) } else { a.get(column, row).conj() };
    for column in 0..n {
        let mut diagonal = get(a, column, column).re;
        for at in 0..column {
            diagonal -= get(a, column, at).square();
        }
        if diagonal.is_nan() || diagonal <= 0.0 {
            return column + 1;
        }
        let root = diagonal.sqrt();
        a.set(column, column, Number::new(root, 0.0));
        for row in column + 1..n {
            let rest = (0..column).fold(get(a, row, column), |sum, at| sum - get(a, row, at) * get(a, column, at).conj());
            let entry = rest.times(1.0 / root);
            if lower {
                a.set(row, column, entry);
            } else {
                a.set(column, row, entry.conj());
            }
        }
    }
    0
}

/// LU factors by partial pivoting, in place: the rows that were exchanged, from 1 on, and 0 or the place of the first pivot that is 0.
pub fn lu(a: &mut Matrix) -> (Vec<i64>, usize) {
    let (m, n) = (a.rows, a.columns);
    let (mut pivots, mut info) = (Vec::new(), 0);
    for step in 0..m.min(n) {
        let size = |row: usize| a.get(row, step).re.abs() + a.get(row, step).im.abs();
        let pivot = (step..m).fold(step, |best, row| if size(row) > size(best) { row } else { best });
        pivots.push(pivot as i64 + 1);
        if a.get(pivot, step) == ZERO {
            info = if info == 0 { step + 1 } else { info };
            continue;
        }
        for column in 0..n {
            let (upper, lower) = (a.get(step, column), a.get(pivot, column));
            a.set(step, column, lower);
            a.set(pivot, column, upper);
        }
        for row in step + 1..m {
            let factor = a.get(row, step).over(a.get(step, step));
            a.set(row, step, factor);
            for column in step + 1..n {
                a.set(row, column, a.get(row, column) - factor * a.get(step, column));
            }
        }
    }
    (pivots, info)
}

/// Solves with the factors of `lu`, in place.
pub fn lu_solve(factors: &Matrix, pivots: &[i64], turn: Turn, b: &mut Matrix) {
    let n = factors.rows;
    for column in 0..b.columns {
        let mut x: Vec<Number> = (0..n).map(|row| b.get(row, column)).collect();
        if turn == Turn::None {
            pivots.iter().enumerate().for_each(|(row, &pivot)| x.swap(row, pivot as usize - 1));
            for row in 0..n {
                x[row] = (0..row).fold(x[row], |sum, at| sum - factors.get(row, at) * x[at]);
            }
            for row in (0..n).rev() {
                let rest = (row + 1..n).fold(x[row], |sum, at| sum - factors.get(row, at) * x[at]);
                x[row] = rest.over(factors.get(row, row));
            }
        } else {
            for row in 0..n {
                let rest = (0..row).fold(x[row], |sum, at| sum - turn.get(factors, row, at) * x[at]);
                x[row] = rest.over(turn.get(factors, row, row));
            }
            for row in (0..n).rev() {
                x[row] = (row + 1..n).fold(x[row], |sum, at| sum - turn.get(factors, row, at) * x[at]);
            }
            pivots
                .iter()
                .enumerate()
                .rev()
                .for_each(|(row, &pivot)| x.swap(row, pivot as usize - 1));
        }
        x.iter().enumerate().for_each(|(row, &number)| b.set(row, column, number));
    }
}

/// Householder's reflections, in place as LAPACK's geqrf leaves them, and their scales.
pub fn qr(a: &mut Matrix) -> Vec<Number> {
    let (m, n) = (a.rows, a.columns);
    let mut scales = Vec::new();
    for step in 0..m.min(n) {
        let alpha = a.get(step, step);
        let below = norm((step + 1..m).map(|row| a.get(row, step)));
        if below == 0.0 && alpha.im == 0.0 {
            scales.push(ZERO);
            continue;
        }
        let beta = -alpha.abs().hypot(below).copysign(alpha.re);
        let tau = Number::new((beta - alpha.re) / beta, -alpha.im / beta);
        let divisor = alpha - Number::new(beta, 0.0);
        a.set(step, step, Number::new(beta, 0.0));
        for row in step + 1..m {
            a.set(row, step, a.get(row, step).over(divisor));
        }
        reflect(a, step, step, tau.conj(), step + 1, n);
        scales.push(tau);
    }
    scales
}

/// Applies 1 - scale v vᴴ to columns; v lies below the diagonal in column `at` of the same matrix, with 1 in row `from`.
fn reflect(a: &mut Matrix, at: usize, from: usize, scale: Number, first: usize, end: usize) {
    let vector: Vec<Number> = (from..a.rows).map(|row| if row == from { ONE } else { a.get(row, at) }).collect();
    for column in first..end {
        let dot = (vector.iter().enumerate()).fold(ZERO, |sum, (row, v)| sum + v.conj() * a.get(from + row, column));
        for (row, v) in vector.iter().enumerate() {
            a.set(from + row, column, a.get(from + row, column) - scale * *v * dot);
        }
    }
}

/// The first columns of the product of reflections, in their place: as many as the matrix has.
pub fn orthogonal(a: &mut Matrix, scales: &[Number]) {
    let (m, n) = (a.rows, a.columns);
    let mut found = Matrix::zeros(m, n);
    (0..n).for_each(|at| found.set(at, at, ONE));
    for (step, scale) in scales.iter().enumerate().rev() {
        let vector: Vec<Number> = (step..m).map(|row| if row == step { ONE } else { a.get(row, step) }).collect();
        for column in 0..n {
            let dot = (vector.iter().enumerate()).fold(ZERO, |sum, (row, v)| sum + v.conj() * found.get(step + row, column));
            for (row, v) in vector.iter().enumerate() {
                found.set(step + row, column, found.get(step + row, column) - *scale * *v * dot);
            }
        }
    }
    *a = found;
}
