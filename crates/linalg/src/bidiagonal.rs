//! Singular values of bidiagonal matrices, without vectors: differential quotients and differences with shifts (dqds), on squares of the elements.
//! Nothing is subtracted but shifts, so that small values are as exact as large ones.
//!
//! The steps are those of K. V. Fernando and B. N. Parlett, Accurate singular values and differential qd algorithms (1994); the shifts those of
//! B. N. Parlett and O. A. Marques, An implementation of the dqds algorithm (positive case) (2000).

use std::mem::swap;

use crate::failure::Failure;
use crate::scratch::zeros;

/// Steps for each value, at the most; two or three are usual.
const MOST_STEPS: usize = 30;
/// What an element beside the diagonal may be, relative to one on it, to be left out; and its square.
const TINY: f64 = 10.0 * f64::EPSILON;
const TINY_SQUARE: f64 = TINY * TINY;
/// The largest element is scaled to this: squares neither overflow, nor does one vanish that matters.
const LARGEST_LOG: f64 = 480.0;

/// Turns the diagonal into the singular values, in falling order. `beside` has the elements beside it, one fewer. All are finite.
pub fn singular_values(diagonal: &mut [f64], beside: &[f64]) -> Result<(), Failure> {
    let largest = diagonal.iter().chain(beside).fold(0.0_f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        diagonal.fill(0.0);
        return Ok(());
    }
    // A power of two, in two steps: it may have no inverse itself.
    let half = ((LARGEST_LOG - largest.log2()) / 2.0).floor().exp2();
    let square = |x: f64| (x * half * half) * (x * half * half);
    let n = diagonal.len();
    // There are never more than rows.
    let mut blocks = Vec::new();
    blocks.try_reserve_exact(n).map_err(|_| Failure::OutOfMemory)?;
    let mut work = Work {
        now: Quotients::of(diagonal.iter().map(|x| square(*x)), beside.iter().map(|x| square(*x)), n)?,
        next: Quotients::of(std::iter::empty(), std::iter::empty(), n)?,
        is_odd: false,
        steps: MOST_STEPS * n + 100,
        blocks,
    };
    work.all(diagonal)?;
    diagonal.sort_unstable_by(f64::total_cmp);
    diagonal.reverse();
    diagonal.iter_mut().for_each(|x| *x = x.sqrt() / half / half);
    Ok(())
}

/// Squares of the elements on the diagonal and beside it.
struct Quotients {
    q: Vec<f64>,
    e: Vec<f64>,
}

impl Quotients {
    fn of(on: impl Iterator<Item = f64>, beside: impl Iterator<Item = f64>, n: usize) -> Result<Quotients, Failure> {
        let (mut q, mut e) = (zeros(n)?, zeros(n)?);
        q.iter_mut().zip(on).for_each(|(to, x)| *to = x);
        e.iter_mut().zip(beside).for_each(|(to, x)| *to = x);
        Ok(Quotients { q, e })
    }
}

/// What has been subtracted, and what of it was lost to rounding.
#[derive(Clone, Copy)]
struct Shifted {
    sum: f64,
    rest: f64,
}

impl Shifted {
    fn more(&mut self, by: f64) {
        let sum = self.sum + by;
        let back = sum - self.sum;
        self.rest += (self.sum - (sum - back)) + (by - back);
        self.sum = sum;
    }

    fn plus(self, x: f64) -> f64 {
        self.sum + (self.rest + x)
    }
}

/// Rows that nothing ties to others.
struct Block {
    first: usize,
    last: usize,
    shifted: Shifted,
    /// In which of the two places its elements are.
    is_odd: bool,
}

struct Work {
    now: Quotients,
    next: Quotients,
    is_odd: bool,
    steps: usize,
    blocks: Vec<Block>,
}

/// What a step found: the least of the differences, without the last one, without the last two; those three; and the least element beside the
/// diagonal but for the last two.
#[derive(Clone, Copy)]
struct Least {
    all: f64,
    but_one: f64,
    but_two: f64,
    last: f64,
    before: f64,
    second: f64,
    beside: f64,
}

impl Work {
    fn all(&mut self, values: &mut [f64]) -> Result<(), Failure> {
        let shifted = Shifted { sum: 0.0, rest: 0.0 };
        for _ in 0..2 {
            unshifted_step(&self.now.q, &self.now.e, &mut self.next.q, &mut self.next.e, 0.0);
            self.turn();
        }
        self.split(0, values.len() - 1, shifted);
        while let Some(block) = self.blocks.pop() {
            if block.is_odd != self.is_odd {
                self.turn();
            }
            self.of_block(block, values)?;
        }
        Ok(())
    }

    fn turn(&mut self) {
        swap(&mut self.now, &mut self.next);
        self.is_odd = !self.is_odd;
    }

    /// Puts rows down for later, as the blocks that they are.
    fn split(&mut self, first: usize, last: usize, shifted: Shifted) {
        let mut start = first;
        for end in first..=last {
            if end == last || self.now.e[end] <= TINY_SQUARE * shifted.sum {
                self.blocks.push(Block {
                    first: start,
                    last: end,
                    shifted,
                    is_odd: self.is_odd,
                });
                start = end + 1;
            }
        }
    }

    fn of_block(&mut self, block: Block, values: &mut [f64]) -> Result<(), Failure> {
        let Block {
            first,
            mut last,
            mut shifted,
            ..
        } = block;
        let mut found: Option<Least> = None;
        let mut guess = 0.25;
        loop {
            let before = last;
            let Some(left) = self.deflate(first, last, shifted, values) else {
                return Ok(());
            };
            last = left;
            if found.is_some_and(|least| least.beside <= TINY_SQUARE * shifted.sum) {
                self.split(first, last, shifted);
                return Ok(());
            }
            let is_new = found.is_none() || last != before;
            if is_new && 1.5 * self.now.q[first] < self.now.q[last] {
                self.now.q[first..=last].reverse();
                self.now.e[first..last].reverse();
                found = None;
            }
            let shift = match &found {
                None => disks(&self.now.q[first..=last], &self.now.e[first..last]),
                Some(least) => self.shift(first..last + 1, least, before - last, &mut guess),
            };
            let (shift, least) = self.step(first, last, shift, shifted.sum)?;
            shifted.more(shift);
            found = Some(least);
        }
    }

    /// Takes values from the end that are there; the last row of what is left.
    fn deflate(&self, first: usize, mut last: usize, shifted: Shifted, values: &mut [f64]) -> Option<usize> {
        let (q, e) = (&self.now.q, &self.now.e);
        loop {
            if last == first || e[last - 1] <= TINY_SQUARE * (shifted.sum + q[last]) {
                values[last] = shifted.plus(q[last]);
                if last == first {
                    return None;
                }
                last -= 1;
            } else if last == first + 1 || e[last - 2] <= TINY_SQUARE * shifted.sum {
                let (large, small) = of_two(q[last - 1], e[last - 1], q[last]);
                (values[last - 1], values[last]) = (shifted.plus(large), shifted.plus(small));
                if last == first + 1 {
                    return None;
                }
                last -= 2;
            } else {
                return Some(last);
            }
        }
    }

    /// A step with the shift, or with a smaller one where it was too much; gives the one that was taken.
    fn step(&mut self, first: usize, last: usize, shift: f64, sum: f64) -> Result<(f64, Least), Failure> {
        let mut shift = shift;
        for fails in 0.. {
            self.steps = self.steps.checked_sub(1).ok_or(Failure::NoConvergence)?;
            let (q, e) = (&self.now.q[first..=last], &self.now.e[first..last]);
            let (to_q, to_e) = (&mut self.next.q[first..=last], &mut self.next.e[first..last]);
            // What would be lost in the sum is no shift.
            if fails > 2 || shift <= 0.5 * f64::EPSILON * sum {
                let least = unshifted_step(q, e, to_q, to_e, f64::EPSILON * sum);
                self.turn();
                return Ok((0.0, least));
            }
            let mut least = shifted_step(q, e, to_q, to_e, shift);
            let at = last - first;
            let is_there = least.but_one > 0.0 && to_e[at - 1] < TINY * (sum + least.before) && least.last.abs() < TINY * sum;
            if !least.last.is_finite() {
                shift = 0.0;
            } else if least.all >= 0.0 || is_there {
                if least.all < 0.0 {
                    (to_q[at], least.all, least.last) = (0.0, 0.0, 0.0);
                }
                self.turn();
                return Ok((shift, least));
            } else if least.but_one > 0.0 {
                // Only the last one is below zero: by how much the shift was too large is known.
                shift = (shift + least.all) * (1.0 - 2.0 * f64::EPSILON);
            } else {
                shift *= 0.25;
            }
        }
        Err(Failure::NoConvergence)
    }

    /// A number that is hardly more than the least eigenvalue, from what the last step found, after which so many values were taken.
    fn shift(&self, rows: std::ops::Range<usize>, least: &Least, taken: usize, guess: &mut f64) -> f64 {
        let (q, e) = (&self.now.q[rows.clone()], &self.now.e[rows.start..rows.end - 1]);
        let (old_q, old_e) = (&self.next.q[rows.clone()], &self.next.e[rows.start..rows.end - 1]);
        let n = q.len();
        match taken {
            0 if least.all == least.last && least.but_one == least.before => gaps(q, e, least),
            0 if least.all == least.last => bound(least.last, above(q, e, n - 1)),
            0 if least.all == least.before => {
                let below = ratio(old_e[n - 2], old_q[n - 1]);
                bound(least.before, sum(above(q, e, n - 2), below))
            }
            0 if least.all == least.second => {
                let below = ratio(old_e[n - 3], old_q[n - 2]).zip(ratio(old_e[n - 2], old_q[n - 1]));
                bound(least.second, sum(above(q, e, n - 3), below.map(|(one, two)| one * (1.0 + two))))
            }
            0 => {
                // The least one is somewhere above: more is tried each time.
                let shift = *guess * least.all;
                *guess += (1.0 - *guess) / 3.0;
                shift
            }
            1 if least.but_one == least.before && least.but_two == least.second => {
                residual(least.but_one, above(q, e, n - 1), 0.5 * least.but_two)
            }
            1 if least.but_one == least.before => 0.5 * least.but_one,
            1 => 0.25 * least.but_one,
            2 if least.but_two == least.second && 2.0 * e[n - 2] < q[n - 2] => {
                let other = q[n - 2] + e[n - 3] - q[n - 3].sqrt() * e[n - 3].sqrt();
                residual(least.but_two, above(q, e, n - 1), other)
            }
            2 => 0.25 * least.but_two,
            _ => 0.0,
        }
    }
}

/// The least eigenvalue is not less, by Gershgorin's disks.
#[inline(never)]
fn disks(q: &[f64], e: &[f64]) -> f64 {
    let least = q.iter().fold(f64::INFINITY, |least, x| least.min(*x));
    let most = e.iter().fold(0.0_f64, |most, x| most.max(*x));
    (least - 2.0 * least.sqrt() * most.sqrt()).max(0.0)
}

/// `x / y` unless it is more than 1.
fn ratio(x: f64, y: f64) -> Option<f64> {
    if x > y { None } else { Some(x / y) }
}

fn sum(one: Option<f64>, two: Option<f64>) -> Option<f64> {
    one.zip(two).map(|(one, two)| one + two)
}

/// The square of the length of an eigenvector's part above a row, where it is 1; none if it grows.
#[inline(never)]
fn above(q: &[f64], e: &[f64], row: usize) -> Option<f64> {
    let (mut total, mut part) = (0.0, 1.0);
    for at in (0..row).rev() {
        let before = part;
        part *= ratio(e[at], q[at])?;
        total += part;
        if 100.0 * part.max(before) < total || total > ENOUGH {
            break;
        }
    }
    Some(1.05 * total)
}

/// From this on a sum says nothing.
const ENOUGH: f64 = 0.563;

/// From a difference, and the square of the length of what is left of the eigenvector.
#[inline(never)]
fn bound(value: f64, rest: Option<f64>) -> f64 {
    match rest {
        Some(rest) if rest < ENOUGH => value * (1.0 - rest.sqrt()) / (1.0 + rest),
        _ => 0.25 * value,
    }
}

/// The same, where it is known what the other eigenvalues are not less than.
#[inline(never)]
fn residual(value: f64, rest: Option<f64>, other: f64) -> f64 {
    let Some(rest) = rest else {
        return value / 3.0;
    };
    let quotient = value / (1.0 + rest);
    let (root, gap) = (rest.sqrt(), other - quotient);
    let factor = if gap > 0.0 && gap > root * quotient {
        1.0 - 1.01 * quotient * (root / gap) * root
    } else {
        1.0 - 1.01 * root
    };
    (quotient * factor).max(value / 3.0)
}

/// From the last two rows, whose differences are the least ones.
#[inline(never)]
fn gaps(q: &[f64], e: &[f64], least: &Least) -> f64 {
    let n = q.len();
    let (one, two) = (q[n - 1].sqrt() * e[n - 2].sqrt(), q[n - 2].sqrt() * e[n - 3].sqrt());
    let other = q[n - 2] + e[n - 2];
    let away = 0.75 * least.but_two - other;
    let gap = if away > 0.0 && away > two {
        other - least.last - (two / away) * two
    } else {
        other - least.last - (one + two)
    };
    if gap > 0.0 && gap > one {
        return (least.last - (one / gap) * one).max(0.5 * least.all);
    }
    let mut shift = (least.last - one).max(0.0);
    if other > one + two {
        shift = shift.min(other - (one + two));
    }
    shift.max(least.all / 3.0)
}

/// The eigenvalues of two rows, the larger one first.
#[inline(never)]
fn of_two(one: f64, beside: f64, two: f64) -> (f64, f64) {
    let (large, small) = if one < two { (two, one) } else { (one, two) };
    let half = 0.5 * ((large - small) + beside);
    if beside <= small * TINY_SQUARE || half == 0.0 {
        return (large, small);
    }
    let part = small * (beside / half);
    let part = if part <= half {
        small * (beside / (half * (1.0 + (1.0 + part / half).sqrt())))
    } else {
        small * (beside / (half + half.sqrt() * (half + part).sqrt()))
    };
    let most = large + (part + beside);
    (most, small * (large / most))
}

/// One step with a shift, of three rows at least. What it finds is of no use if a difference is below zero or no number.
#[inline(never)]
fn shifted_step(q: &[f64], e: &[f64], to_q: &mut [f64], to_e: &mut [f64], shift: f64) -> Least {
    let last = q.len() - 1;
    let mut d = q[0] - shift;
    let (mut least, mut beside) = (d, f64::INFINITY);
    let body = q[1..last - 1].iter().zip(&e[..last - 2]);
    for (((after, e), to_q), to_e) in body.zip(&mut to_q[..last - 2]).zip(&mut to_e[..last - 2]) {
        let sum = d + e;
        let quotient = after / sum;
        (*to_q, *to_e) = (sum, e * quotient);
        d = d * quotient - shift;
        least = if d < least { d } else { least };
        beside = if *to_e < beside { *to_e } else { beside };
    }
    let (but_two, second) = (least, d);
    let mut once = |at: usize| {
        to_q[at] = d + e[at];
        to_e[at] = q[at + 1] * (e[at] / to_q[at]);
        d = q[at + 1] * (d / to_q[at]) - shift;
        d
    };
    let before = once(last - 2);
    let end = once(last - 1);
    to_q[last] = end;
    let but_one = but_two.min(before);
    Least {
        all: but_one.min(end),
        but_one,
        but_two,
        last: end,
        before,
        second,
        beside,
    }
}

/// One step without a shift, which nothing makes fail. Differences up to `floor` are zero, and elements that do not matter beside them.
#[inline(never)]
fn unshifted_step(q: &[f64], e: &[f64], to_q: &mut [f64], to_e: &mut [f64], floor: f64) -> Least {
    let last = q.len() - 1;
    let mut d = q[0];
    let mut tail = [d; 3];
    let mut mins = [d; 3];
    let mut beside = f64::INFINITY;
    for at in 0..last {
        let e = if e[at] <= TINY_SQUARE * d { 0.0 } else { e[at] };
        let sum = d + e;
        to_q[at] = sum;
        (to_e[at], d) = if e == 0.0 {
            (0.0, q[at + 1])
        } else {
            (q[at + 1] * (e / sum), q[at + 1] * (d / sum))
        };
        d = if d < floor { 0.0 } else { d };
        tail = [d, tail[0], tail[1]];
        mins = [mins[0].min(d), mins[0], mins[1]];
        if at + 2 < last {
            beside = beside.min(to_e[at]);
        }
    }
    to_q[last] = d;
    Least {
        all: mins[0],
        but_one: mins[1],
        but_two: mins[2],
        last: tail[0],
        before: tail[1],
        second: tail[2],
        beside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(diagonal: &[f64], beside: &[f64]) -> Vec<f64> {
        let mut values = diagonal.to_vec();
        singular_values(&mut values, beside).unwrap();
        values
    }

    fn near(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        for (one, other) in found.iter().zip(wanted) {
            assert!((one - other).abs() <= 2e-15 * other.abs(), "{found:?} for {wanted:?}");
        }
    }

    #[test]
    fn ones() {
        // The least ones are small differences of large numbers, and exact nevertheless.
        for n in [1, 2, 3, 4, 10, 100, 300] {
            let mut wanted: Vec<f64> = (1..=n)
                .map(|k| 2.0 * (std::f64::consts::FRAC_PI_2 * (2 * k - 1) as f64 / (2 * n + 1) as f64).sin())
                .collect();
            wanted.reverse();
            near(&found(&vec![1.0; n], &vec![1.0; n - 1]), &wanted);
            near(&found(&vec![-1.0; n], &vec![1.0; n - 1]), &wanted);
        }
    }

    #[test]
    fn graded() {
        // The product of all is the determinant, whatever their sizes are, and either end may be the large one.
        for step in [0.25_f64, 0.5, 4.0, 10.0] {
            let diagonal: Vec<f64> = (0..40).map(|k| step.powi(k)).collect();
            let beside: Vec<f64> = (0..39).map(|k| step.powi(k) * 3.0).collect();
            let values = found(&diagonal, &beside);
            let wanted: f64 = diagonal.iter().map(|x| x.ln()).sum();
            let size: f64 = values.iter().map(|x| x.ln().abs()).sum();
            let logarithms: f64 = values.iter().map(|x| x.ln()).sum();
            assert!((logarithms - wanted).abs() <= 1e-14 * size, "{values:?}");
        }
    }

    #[test]
    fn zeros_and_equal_ones() {
        assert_eq!(found(&[0.0, 0.0, 0.0], &[0.0, 0.0]), [0.0; 3]);
        near(&found(&[5.0, -5.0, 5.0, 5.0], &[0.0, 0.0, 0.0]), &[5.0; 4]);
        near(&found(&[0.0, 0.0, 0.0], &[3.0, 4.0]), &[4.0, 3.0, 0.0]);
        near(&found(&[3.0, 0.0, 2.0], &[4.0, 0.0]), &[5.0, 2.0, 0.0]);
        for place in 0..6 {
            let mut diagonal = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            diagonal[place] = 0.0;
            let values = found(&diagonal, &[1.0; 5]);
            assert!(values[5] == 0.0 && values[4] > 0.1, "{values:?}");
        }
    }

    #[test]
    fn sizes_of_all_kinds() {
        for scale in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
            near(&found(&[scale, 3.0 * scale], &[0.0]), &[3.0 * scale, scale]);
            let root = 5.0_f64.sqrt();
            near(
                &found(&[scale, scale], &[scale]),
                &[scale * (root + 1.0) / 2.0, scale * (root - 1.0) / 2.0],
            );
        }
        near(&found(&[1.0, 1e-140, 1e140], &[0.0, 0.0]), &[1e140, 1.0, 1e-140]);
    }
}
