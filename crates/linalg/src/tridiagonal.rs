//! Eigenvalues of symmetric tridiagonal matrices, without vectors: QL steps without roots, on squares of what stands beside the diagonal.
//!
//! The form of the step is that of Pal, Walker and Kahan: B. N. Parlett, The Symmetric Eigenvalue Problem (1980), section 8.15.

use crate::failure::Failure;

/// Steps for each eigenvalue, at the most; two are usual.
const MOST_STEPS: usize = 30;

/// Turns the diagonal into the eigenvalues, in rising order. `beside` has the sizes of the elements beside it, one fewer.
pub fn eigenvalues(diagonal: &mut [f64], beside: &mut [f64]) -> Result<(), Failure> {
    let largest = diagonal.iter().chain(beside.iter()).fold(0.0_f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return Ok(());
    }
    // Squares neither overflow nor vanish.
    diagonal.iter_mut().for_each(|x| *x /= largest);
    beside.iter_mut().for_each(|x| *x = (*x / largest) * (*x / largest));
    let mut steps = MOST_STEPS * diagonal.len();
    let mut start = 0;
    while start < diagonal.len() {
        let end = split(diagonal, beside, start, diagonal.len() - 1);
        let (block, squares) = (&mut diagonal[start..=end], &mut beside[start..end]);
        // Steps go upwards: small elements are to stand above.
        if block[block.len() - 1].abs() < block[0].abs() {
            block.reverse();
            squares.reverse();
        }
        of_block(block, squares, &mut steps)?;
        start = end + 1;
    }
    diagonal.sort_unstable_by(f64::total_cmp);
    diagonal.iter_mut().for_each(|x| *x *= largest);
    Ok(())
}

/// The last row of the block that begins at a row: behind it stands nothing beside the diagonal.
fn split(diagonal: &[f64], squares: &mut [f64], start: usize, last: usize) -> usize {
    for at in start..last {
        if squares[at] <= f64::EPSILON * f64::EPSILON * (diagonal[at] * diagonal[at + 1]).abs() {
            squares[at] = 0.0;
            return at;
        }
    }
    last
}

fn of_block(diagonal: &mut [f64], squares: &mut [f64], steps: &mut usize) -> Result<(), Failure> {
    let last = diagonal.len() - 1;
    let mut first = 0;
    while first <= last {
        let end = split(diagonal, squares, first, last);
        match end - first {
            0 => first += 1,
            1 => {
                (diagonal[first], diagonal[end]) = of_two(diagonal[first], squares[first].sqrt(), diagonal[end]);
                squares[first] = 0.0;
                first += 2;
            }
            _ => {
                *steps = steps.checked_sub(1).ok_or(Failure::NoConvergence)?;
                step(&mut diagonal[first..=end], &mut squares[first..end]);
            }
        }
    }
    Ok(())
}

/// The eigenvalues of `[[a, b], [b, c]]`.
fn of_two(a: f64, b: f64, c: f64) -> (f64, f64) {
    let (sum, root) = (a + c, (a - c).hypot(2.0 * b));
    let (large, small) = if a.abs() > c.abs() { (a, c) } else { (c, a) };
    if sum == 0.0 {
        return (0.5 * root, -0.5 * root);
    }
    let first = 0.5 * (sum + root.copysign(sum));
    (first, (large / first) * small - (b / first) * b)
}

/// One step, shifted by an eigenvalue of the first two rows.
fn step(diagonal: &mut [f64], squares: &mut [f64]) {
    let last = squares.len();
    let root = squares[0].sqrt();
    let half = (diagonal[1] - diagonal[0]) / (2.0 * root);
    let shift = diagonal[0] - root / (half + half.hypot(1.0).copysign(half));
    let (mut cosine, mut sine) = (1.0_f64, 0.0_f64);
    let mut gamma = diagonal[last] - shift;
    let mut p = gamma * gamma;
    for at in (0..last).rev() {
        let square = squares[at];
        let r = p + square;
        if at + 1 < last {
            squares[at + 1] = sine * r;
        }
        // Both quotients at the same time: each step waits for the one before.
        let (before, inverse) = (cosine, r / p);
        cosine = p / r;
        sine = square / r;
        let old = gamma;
        gamma = cosine * (diagonal[at] - shift) - sine * old;
        diagonal[at + 1] = old + (diagonal[at] - gamma);
        p = if cosine != 0.0 && inverse.is_finite() {
            gamma * gamma * inverse
        } else {
            before * square
        };
    }
    squares[0] = sine * p;
    diagonal[0] = shift + gamma;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(diagonal: &[f64], beside: &[f64]) -> Vec<f64> {
        let mut values = diagonal.to_vec();
        eigenvalues(&mut values, &mut beside.to_vec()).unwrap();
        values
    }

    fn near(found: &[f64], wanted: &[f64]) {
        let size = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (one, other) in found.iter().zip(wanted) {
            assert!((one - other).abs() <= 1e-13 * size, "{found:?} for {wanted:?}");
        }
    }

    #[test]
    fn second_differences() {
        for n in [1, 2, 3, 10, 100] {
            let wanted: Vec<f64> = (1..=n)
                .map(|k| 2.0 - 2.0 * (std::f64::consts::PI * k as f64 / (n + 1) as f64).cos())
                .collect();
            near(&found(&vec![2.0; n], &vec![1.0; n - 1]), &wanted);
        }
    }

    #[test]
    fn nothing_on_the_diagonal() {
        let n = 9;
        let mut wanted: Vec<f64> = (1..=n)
            .map(|k| 2.0 * (std::f64::consts::PI * k as f64 / (n + 1) as f64).cos())
            .collect();
        wanted.sort_by(f64::total_cmp);
        near(&found(&[0.0; 9], &[1.0; 8]), &wanted);
    }

    #[test]
    fn sizes_of_all_kinds() {
        for scale in [1e-300, 1e-200, 1.0, 1e200, 1e300] {
            near(&found(&[scale, 3.0 * scale], &[0.0]), &[scale, 3.0 * scale]);
            near(&found(&[0.0, 0.0], &[scale]), &[-scale, scale]);
        }
        assert_eq!(found(&[0.0, 0.0, 0.0], &[0.0, 0.0]), [0.0; 3]);
        near(&found(&[5.0, 5.0, 5.0, 5.0], &[0.0, 0.0, 0.0]), &[5.0; 4]);
    }
}
