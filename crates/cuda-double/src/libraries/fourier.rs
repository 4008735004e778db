//! Fourier transforms by their definition, along each axis in turn.

use super::number::{Number, ZERO};

/// Transforms numbers in C's order along all their axes; `sign` is that of the exponent.
pub fn transform(numbers: &mut [Number], lengths: &[usize], sign: f64) {
    let mut inner = 1;
    for &n in lengths.iter().rev() {
        let factors: Vec<Number> = (0..n).map(|at| root(at, n, sign)).collect();
        for start in (0..numbers.len()).filter(|at| at / inner % n == 0) {
            let given: Vec<Number> = (0..n).map(|at| numbers[start + at * inner]).collect();
            for to in 0..n {
                numbers[start + to * inner] = (0..n).fold(ZERO, |sum, from| sum + given[from] * factors[to * from % n]);
            }
        }
        inner *= n;
    }
}

fn root(at: usize, n: usize, sign: f64) -> Number {
    let angle = sign * std::f64::consts::TAU * at as f64 / n as f64;
    Number::new(angle.cos(), angle.sin())
}

/// All coefficients of a transform of real numbers, from those of which the last axis has the first half and one; none if they are not those
/// of real numbers.
pub fn completed(half: &[Number], lengths: &[usize]) -> Option<Vec<Number>> {
    let n = lengths[lengths.len() - 1];
    let kept = n / 2 + 1;
    let rows: usize = lengths[..lengths.len() - 1].iter().product();
    let mut found = vec![ZERO; rows * n];
    let size = half.iter().map(|x| x.abs()).fold(0.0, f64::max);
    for row in 0..rows {
        let mirror = mirrored(row, &lengths[..lengths.len() - 1]);
        for at in 0..n {
            let whole = |at: usize, row: usize| half[row * kept + at];
            found[row * n + at] = if at < kept { whole(at, row) } else { whole(n - at, mirror).conj() };
        }
        for at in [0, n / 2] {
            if 2 * at % n == 0 {
                let difference = half[row * kept + at] - half[mirror * kept + at].conj();
                if difference.abs() > 1e-5 * size {
                    return None;
                }
            }
        }
    }
    Some(found)
}

/// The row whose indices are the negatives, each modulo its length.
fn mirrored(row: usize, lengths: &[usize]) -> usize {
    let (mut rest, mut inner, mut found) = (row, 1, 0);
    for &n in lengths.iter().rev() {
        found += (n - rest % n) % n * inner;
        rest /= n;
        inner *= n;
    }
    found
}
