//! Schur's form of small matrices, and of those that faer's vectors are lost for: QR steps on Hessenberg's form, for real matrices with two shifts at
//! a time.
//!
//! J. G. F. Francis, The QR transformation (1961, 1962). What is small beside the diagonal is that of M. Ahues and F. Tisseur, A new deflation
//! criterion for the QR algorithm (1997); blocks of two rows are brought to the form that LAPACK gives them.

use std::ops::{Range, RangeInclusive};

use faer::c64;

use crate::element::Element;
use crate::failure::Failure;
use crate::scratch::Scratch;

/// Steps for each eigenvalue, at the most; after every ten without one there is an unusual shift.
const MOST_STEPS: usize = 30;
const UNUSUAL: usize = 10;
/// Below this an element is nothing, whatever stands beside it.
const NOTHING: f64 = f64::MIN_POSITIVE / f64::EPSILON;
/// Sums of squares from here on have lost nothing to the end of the range of numbers.
const SAFE_SQUARE: f64 = 1e-250;

/// Whether the element below a place of the diagonal is nothing, from its size, that of the one opposite, and the two on the diagonal: their sizes,
/// that of their difference, and of what else is near.
fn is_small<T: Element<Re = f64>>(h: &Scratch<T>, at: usize, rows: RangeInclusive<usize>) -> bool {
    let size = |row: usize, col: usize| rough(h[(row, col)]);
    let below = size(at, at - 1);
    if below <= NOTHING {
        return true;
    }
    let mut near = size(at - 1, at - 1) + size(at, at);
    if near == 0.0 {
        if at >= rows.start() + 2 {
            near += size(at - 1, at - 2);
        }
        if at < *rows.end() {
            near += size(at + 1, at);
        }
    }
    if below > f64::EPSILON * near {
        return false;
    }
    let (beside, apart) = (size(at - 1, at), rough(h[(at - 1, at - 1)].minus(h[(at, at)])));
    let (most, least) = (below.max(beside), below.min(beside));
    let (large, small) = (size(at, at).max(apart), size(at, at).min(apart));
    let sum = large + most;
    least * (most / sum) <= NOTHING.max(f64::EPSILON * (small * (large / sum)))
}

fn rough<T: Element<Re = f64>>(x: T) -> f64 {
    let (re, im) = x.parts();
    re.abs() + im.abs()
}

/// The first row of the part that ends at a row and falls into no two; what stands before it is made zero.
fn part<T: Element<Re = f64>>(h: &mut Scratch<T>, end: usize) -> usize {
    let last = h.rows() - 1;
    for at in (1..=end).rev() {
        if is_small(h, at, 0..=last) {
            h[(at, at - 1)] = T::zero_impl();
            return at;
        }
    }
    0
}

/// Turns a real matrix of Hessenberg's form into Schur's, and columns with it, where there are any; without them only the eigenvalues are right.
pub fn real(h: &mut Scratch<f64>, mut z: Option<&mut Scratch<f64>>, values: &mut [c64]) -> Result<(), Failure> {
    let mut left = h.rows();
    let mut steps = MOST_STEPS * left.max(UNUSUAL);
    let mut idle = 0;
    while left > 0 {
        let end = left - 1;
        let start = part(h, end);
        let wanted = z.is_some();
        if start + 1 >= end {
            if start == end {
                values[end] = c64::new(h[(end, end)], 0.0);
            } else {
                let turn = Turn::standard(h, start);
                (values[start], values[end]) = turn.values;
                turn.rows(h, start, end + 1..if wanted { h.rows() } else { end + 1 });
                turn.cols(h, start, if wanted { 0 } else { start }..start);
                if let Some(z) = &mut z {
                    turn.cols(z, start, 0..z.rows());
                }
            }
            (left, idle) = (start, 0);
            continue;
        }
        idle += 1;
        steps = steps.checked_sub(1).ok_or(Failure::NoConvergence)?;
        double_step(h, &mut z, start, end, idle);
    }
    Ok(())
}

/// The shifts of a step: eigenvalues of the last two rows, or something else where these do not help.
fn shifts(h: &Scratch<f64>, start: usize, end: usize, idle: usize) -> (c64, c64) {
    let unusual = |size: f64, at: f64| (0.75 * size + at, -0.4375 * size, size, 0.75 * size + at);
    let (a, b, c, d) = if idle.is_multiple_of(2 * UNUSUAL) {
        unusual(h[(end, end - 1)].abs() + h[(end - 1, end - 2)].abs(), h[(end, end)])
    } else if idle.is_multiple_of(UNUSUAL) {
        unusual(h[(start + 1, start)].abs() + h[(start + 2, start + 1)].abs(), h[(start, start)])
    } else {
        (h[(end - 1, end - 1)], h[(end - 1, end)], h[(end, end - 1)], h[(end, end)])
    };
    let size = a.abs() + b.abs() + c.abs() + d.abs();
    if size == 0.0 {
        return (c64::new(0.0, 0.0), c64::new(0.0, 0.0));
    }
    let (a, b, c, d) = (a / size, b / size, c / size, d / size);
    let middle = (a + d) / 2.0;
    let square = (a - middle) * (d - middle) - b * c;
    let root = square.abs().sqrt();
    if square >= 0.0 {
        return (c64::new(middle * size, root * size), c64::new(middle * size, -root * size));
    }
    let (one, two) = (middle + root, middle - root);
    let near = if (one - d).abs() <= (two - d).abs() { one } else { two };
    (c64::new(near * size, 0.0), c64::new(near * size, 0.0))
}

/// The beginning of the first column of the matrix less both shifts, multiplied, from a row on; scaled.
fn begin(h: &Scratch<f64>, at: usize, one: c64, two: c64) -> [f64; 3] {
    let size = (h[(at, at)] - two.re).abs() + two.im.abs() + h[(at + 1, at)].abs();
    let below = h[(at + 1, at)] / size;
    let first = below * h[(at, at + 1)] + (h[(at, at)] - one.re) * ((h[(at, at)] - two.re) / size) - one.im * (two.im / size);
    let second = below * (h[(at, at)] + h[(at + 1, at + 1)] - one.re - two.re);
    let third = below * h[(at + 2, at + 1)];
    let size = first.abs() + second.abs() + third.abs();
    if size == 0.0 {
        [0.0; 3]
    } else {
        [first / size, second / size, third / size]
    }
}

/// A step with two shifts, of three rows at least.
fn double_step(h: &mut Scratch<f64>, z: &mut Option<&mut Scratch<f64>>, start: usize, end: usize, idle: usize) {
    let (one, two) = shifts(h, start, end, idle);
    // It may begin below the start, where two small elements follow each other.
    let mut first = end - 2;
    let mut v = begin(h, first, one, two);
    while first > start {
        let near = h[(first - 1, first - 1)].abs() + h[(first, first)].abs() + h[(first + 1, first + 1)].abs();
        if h[(first, first - 1)].abs() * (v[1].abs() + v[2].abs()) <= f64::EPSILON * v[0].abs() * near {
            break;
        }
        first -= 1;
        v = begin(h, first, one, two);
    }
    let (top, right) = if z.is_some() { (0, h.rows()) } else { (start, end + 1) };
    for at in first..end {
        let three = at + 1 < end;
        if at > first {
            v = [h[(at, at - 1)], h[(at + 1, at - 1)], if three { h[(at + 2, at - 1)] } else { 0.0 }];
        }
        let mirror = Mirror::of(v);
        if at > first {
            h[(at, at - 1)] = mirror.value;
            h[(at + 1, at - 1)] = 0.0;
            if three {
                h[(at + 2, at - 1)] = 0.0;
            }
        } else if first > start {
            h[(at, at - 1)] *= 1.0 - mirror.factor;
        }
        let bottom = (at + 3).min(end) + 1;
        if three {
            mirror.rows::<3>(h, at, at..right);
            mirror.cols::<3>(h, at, top..bottom);
        } else {
            mirror.rows::<2>(h, at, at..right);
            mirror.cols::<2>(h, at, top..bottom);
        }
        if let Some(z) = z {
            let all = 0..z.rows();
            if three {
                mirror.cols::<3>(z, at, all)
            } else {
                mirror.cols::<2>(z, at, all)
            }
        }
    }
}

/// The reflection `1 - factor (1, v, w) (1, v, w)'`.
struct Mirror {
    value: f64,
    factor: f64,
    v: [f64; 3],
}

impl Mirror {
    /// That makes a vector a number.
    fn of(x: [f64; 3]) -> Mirror {
        let tail = x[1] * x[1] + x[2] * x[2];
        if tail < SAFE_SQUARE {
            let size = x[1].abs().max(x[2].abs());
            if size == 0.0 {
                return Mirror {
                    value: x[0],
                    factor: 0.0,
                    v: [1.0, 0.0, 0.0],
                };
            }
            if x[0].abs() <= 1e-100 {
                let size = size.max(x[0].abs());
                let inner = Mirror::of(x.map(|x| x / size));
                return Mirror {
                    value: inner.value * size,
                    ..inner
                };
            }
        }
        let value = -(x[0] * x[0] + tail).sqrt().copysign(x[0]);
        let scale = 1.0 / (x[0] - value);
        Mirror {
            value,
            factor: (value - x[0]) / value,
            v: [1.0, x[1] * scale, x[2] * scale],
        }
    }

    fn rows<const N: usize>(&self, a: &mut Scratch<f64>, at: usize, cols: Range<usize>) {
        let (v, w) = (self.v[1], self.v[2]);
        for col in cols {
            let x: &mut [f64] = &mut a.col_mut(col)[at..at + N];
            if N == 3 {
                let sum = self.factor * (x[0] + v * x[1] + w * x[2]);
                (x[0], x[1], x[2]) = (x[0] - sum, x[1] - sum * v, x[2] - sum * w);
            } else {
                let sum = self.factor * (x[0] + v * x[1]);
                (x[0], x[1]) = (x[0] - sum, x[1] - sum * v);
            }
        }
    }

    fn cols<const N: usize>(&self, a: &mut Scratch<f64>, at: usize, rows: Range<usize>) {
        let (v, w, factor) = (self.v[1], self.v[2], self.factor);
        let mut cols = a.cols_mut::<N>(at).into_iter().map(|col| &mut col[rows.clone()]);
        let (Some(x), Some(y)) = (cols.next(), cols.next()) else {
            return;
        };
        if let Some(z) = cols.next() {
            for ((x, y), z) in x.iter_mut().zip(y).zip(z) {
                let sum = factor * (*x + v * *y + w * *z);
                (*x, *y, *z) = (*x - sum, *y - sum * v, *z - sum * w);
            }
        } else {
            for (x, y) in x.iter_mut().zip(y) {
                let sum = factor * (*x + v * *y);
                (*x, *y) = (*x - sum, *y - sum * v);
            }
        }
    }
}

/// A rotation of two rows or columns, and the eigenvalues that it brings out.
struct Turn {
    cosine: f64,
    sine: f64,
    values: (c64, c64),
}

impl Turn {
    /// Brings two rows to the form that LAPACK gives them: triangular if the eigenvalues are real, else of equal elements on the diagonal and of
    /// different signs beside it.
    fn standard(h: &mut Scratch<f64>, at: usize) -> Turn {
        let (a, b, c, d) = (h[(at, at)], h[(at, at + 1)], h[(at + 1, at)], h[(at + 1, at + 1)]);
        let ([a, b, c, d], cosine, sine) = standard(a, b, c, d);
        (h[(at, at)], h[(at, at + 1)], h[(at + 1, at)], h[(at + 1, at + 1)]) = (a, b, c, d);
        let part = if c == 0.0 { 0.0 } else { b.abs().sqrt() * c.abs().sqrt() };
        Turn {
            cosine,
            sine,
            values: (c64::new(a, part), c64::new(d, -part)),
        }
    }

    fn rows(&self, a: &mut Scratch<f64>, at: usize, cols: Range<usize>) {
        for col in cols {
            let x: &mut [f64] = &mut a.col_mut(col)[at..at + 2];
            (x[0], x[1]) = (self.cosine * x[0] + self.sine * x[1], self.cosine * x[1] - self.sine * x[0]);
        }
    }

    fn cols(&self, a: &mut Scratch<f64>, at: usize, rows: Range<usize>) {
        let [x, y] = a.cols_mut::<2>(at);
        for (x, y) in x[rows.clone()].iter_mut().zip(&mut y[rows]) {
            (*x, *y) = (self.cosine * *x + self.sine * *y, self.cosine * *y - self.sine * *x);
        }
    }
}

/// The standard form of `[[a, b], [c, d]]`, and cosine and sine of the rotation to it.
#[inline(never)]
fn standard(a: f64, b: f64, c: f64, d: f64) -> ([f64; 4], f64, f64) {
    if c == 0.0 {
        return ([a, b, c, d], 1.0, 0.0);
    }
    if b == 0.0 {
        return ([d, -c, 0.0, a], 0.0, 1.0);
    }
    let same = b.is_sign_negative() == c.is_sign_negative();
    if a == d && !same {
        return ([a, b, c, d], 1.0, 0.0);
    }
    let half = 0.5 * (a - d);
    let (most, least) = (b.abs().max(c.abs()), b.abs().min(c.abs()) * if same { 1.0 } else { -1.0 });
    let size = half.abs().max(most);
    let square = (half / size) * half + (most / size) * least;
    if square >= 4.0 * f64::EPSILON {
        // Both are real.
        let z = half + (size.sqrt() * square.sqrt()).copysign(half);
        let length = c.hypot(z);
        return ([d + z, b - c, 0.0, d - (most / z) * least], z / length, c / length);
    }
    // Complex, or nearly equal: the diagonal is made equal.
    let sum = b + c;
    let length = sum.hypot(2.0 * half);
    let cosine = (0.5 * (1.0 + sum.abs() / length)).sqrt();
    let sine = -(half / (length * cosine)).copysign(half * sum.signum());
    let sine = if half == 0.0 { 0.0 } else { sine };
    let (aa, bb) = (a * cosine + b * sine, b * cosine - a * sine);
    let (cc, dd) = (c * cosine + d * sine, d * cosine - c * sine);
    let (a, b, c, d) = (
        aa * cosine + cc * sine,
        bb * cosine + dd * sine,
        cc * cosine - aa * sine,
        dd * cosine - bb * sine,
    );
    let middle = 0.5 * (a + d);
    if c == 0.0 {
        return ([middle, b, 0.0, middle], cosine, sine);
    }
    if b == 0.0 {
        return ([middle, -c, 0.0, middle], -sine, cosine);
    }
    if b.is_sign_negative() != c.is_sign_negative() {
        return ([middle, b, c, middle], cosine, sine);
    }
    // They are real after all.
    let (root_b, root_c) = (b.abs().sqrt(), c.abs().sqrt());
    let apart = (root_b * root_c).copysign(c);
    let scale = 1.0 / (b + c).abs().sqrt();
    let (one, two) = (root_b * scale, root_c * scale);
    (
        [middle + apart, b - c, 0.0, middle - apart],
        cosine * one - sine * two,
        cosine * two + sine * one,
    )
}

/// Turns a complex matrix of Hessenberg's form into Schur's, and columns with it. Its diagonal has the eigenvalues.
pub fn complex(h: &mut Scratch<c64>, z: &mut Scratch<c64>) -> Result<(), Failure> {
    let mut left = h.rows();
    let mut steps = MOST_STEPS * left.max(UNUSUAL);
    let mut idle = 0;
    while left > 0 {
        let end = left - 1;
        let start = part(h, end);
        if start == end {
            (left, idle) = (end, 0);
            continue;
        }
        idle += 1;
        steps = steps.checked_sub(1).ok_or(Failure::NoConvergence)?;
        single_step(h, z, start, end, idle);
    }
    Ok(())
}

/// The eigenvalue of the last two rows that is the nearer to the last element, or something else where that does not help.
fn shift(h: &Scratch<c64>, start: usize, end: usize, idle: usize) -> c64 {
    if idle.is_multiple_of(2 * UNUSUAL) {
        return h[(end, end)] + 0.75 * h[(end, end - 1)].size();
    }
    if idle.is_multiple_of(UNUSUAL) {
        return h[(start, start)] + 0.75 * h[(start + 1, start)].size();
    }
    let last = h[(end, end)];
    let root = root_of(h[(end - 1, end)]) * root_of(h[(end, end - 1)]);
    let size = rough(root);
    if size == 0.0 {
        return last;
    }
    let half = 0.5 * (h[(end - 1, end - 1)] - last);
    let size = size.max(rough(half));
    let (x, y) = (half / size, root / size);
    let other = root_of(x * x + y * y);
    let other = if x.re * other.re + x.im * other.im < 0.0 { -other } else { other };
    last - root * y.over(x + other)
}

/// There is one copy of its code for all.
#[inline(never)]
fn root_of(x: c64) -> c64 {
    x.sqrt()
}

/// A step with one shift: rotations from the start to the end.
fn single_step(h: &mut Scratch<c64>, z: &mut Scratch<c64>, start: usize, end: usize, idle: usize) {
    let by = shift(h, start, end, idle);
    let n = h.rows();
    for at in start..end {
        let (x, y) = if at == start {
            (h[(at, at)] - by, h[(at + 1, at)])
        } else {
            (h[(at, at - 1)], h[(at + 1, at - 1)])
        };
        let length = x.size().hypot(y.size());
        if length == 0.0 {
            continue;
        }
        let (x, y) = (x / length, y / length);
        for col in at.saturating_sub(1).max(start)..n {
            let part: &mut [c64] = &mut h.col_mut(col)[at..at + 2];
            (part[0], part[1]) = (x.conj() * part[0] + y.conj() * part[1], x * part[1] - y * part[0]);
        }
        if at > start {
            h[(at + 1, at - 1)] = c64::new(0.0, 0.0);
        }
        let rows = (at + 2).min(end) + 1;
        for (matrix, rows) in [(&mut *h, rows), (&mut *z, n)] {
            let [one, two] = matrix.cols_mut::<2>(at);
            for (one, two) in one[..rows].iter_mut().zip(&mut two[..rows]) {
                (*one, *two) = (*one * x + *two * y, *two * x.conj() - *one * y.conj());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -1 and 1, always the same.
    fn numbers(mut seed: u64) -> impl FnMut() -> f64 {
        move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
        }
    }

    /// The largest element of `z t z' - h`.
    fn apart<T: Element<Re = f64>>(z: &Scratch<T>, t: &Scratch<T>, h: &Scratch<T>) -> f64 {
        let n = h.rows();
        let mut most = 0.0_f64;
        for row in 0..n {
            for col in 0..n {
                let mut sum = T::zero_impl().minus(h[(row, col)]);
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    sum = sum.plus(z[(row, i)].times(t[(i, j)]).times(z[(col, j)].conjugate()));
                }
                most = most.max(sum.size());
            }
        }
        most
    }

    #[test]
    fn real_matrices() {
        let mut next = numbers(1);
        for n in [1, 2, 3, 4, 5, 8, 13, 21] {
            let mut h = Scratch::zeros(n, n).unwrap();
            for (row, col) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                h[(row, col)] = if row <= col + 1 { next() } else { 0.0 };
            }
            let (mut t, mut z) = (Scratch::copy_of(h.as_ref()).unwrap(), Scratch::identity(n, n).unwrap());
            let mut values = vec![c64::new(0.0, 0.0); n];
            real(&mut t, Some(&mut z), &mut values).unwrap();
            assert!(apart(&z, &t, &h) < 1e-13 * n as f64);
            for at in 0..n {
                assert_eq!(values[at].re, t[(at, at)]);
                if at > 0 && t[(at, at - 1)] != 0.0 {
                    assert!(values[at].im < 0.0 && t[(at, at - 1)] * t[(at - 1, at)] < 0.0);
                    assert!(at < 2 || t[(at - 1, at - 2)] == 0.0);
                }
            }
            let mut alone = vec![c64::new(0.0, 0.0); n];
            real(&mut Scratch::copy_of(h.as_ref()).unwrap(), None, &mut alone).unwrap();
            for (one, other) in values.iter().zip(&alone) {
                assert!((one - other).size() < 1e-10, "{values:?} {alone:?}");
            }
        }
    }

    #[test]
    fn complex_matrices() {
        let mut next = numbers(2);
        for n in [1, 2, 3, 5, 8, 17] {
            let mut h = Scratch::zeros(n, n).unwrap();
            for (row, col) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                h[(row, col)] = if row <= col + 1 {
                    c64::new(next(), next())
                } else {
                    c64::new(0.0, 0.0)
                };
            }
            let (mut t, mut z) = (Scratch::copy_of(h.as_ref()).unwrap(), Scratch::identity(n, n).unwrap());
            complex(&mut t, &mut z).unwrap();
            assert!((1..n).all(|at| t[(at, at - 1)].is_nought()));
            assert!(apart(&z, &t, &h) < 1e-13 * n as f64);
        }
    }

    #[test]
    fn steps_that_shifts_do_not_help() {
        // A cycle: the last two rows' eigenvalues are zero, always.
        for n in [3, 4, 7] {
            let mut h = Scratch::zeros(n, n).unwrap();
            for at in 0..n {
                h[((at + 1) % n, at)] = 1.0;
            }
            let mut values = vec![c64::new(0.0, 0.0); n];
            real(&mut h, None, &mut values).unwrap();
            assert!(values.iter().all(|value| (value.size() - 1.0).abs() < 1e-13), "{values:?}");
        }
    }
}
