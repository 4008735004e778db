//! Singular values and vectors of a bidiagonal matrix, by QR steps with implicit shifts: for small matrices.
//!
//! The steps, their shifts and what is as good as zero are those of LAPACK's `bdsqr`: J. Demmel and W. Kahan, Accurate singular values of
//! bidiagonal matrices (1990). Rotations of a step are kept and applied to the vectors together.

#![allow(unsafe_code)]

use crate::failure::Failure;
use crate::small::columns::{Kernels, Rotation};

/// Numbers beside the diagonal that are less than this, relative to what is near, are zero.
const NOUGHT: f64 = 10.0 * f64::EPSILON;
/// Squares of numbers from here on have lost nothing to the end of the range.
const SAFE: f64 = 1e-140;
/// Steps for each value, on average.
const MOST_STEPS: usize = 12;

/// Columns that are rotated as the matrix is: their first element, the distance from one to the next, and rows.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    pub data: *mut f64,
    pub step: usize,
    pub rows: usize,
}

/// The matrix on its way to a diagonal one.
pub struct Steps<'a> {
    pub diagonal: &'a mut [f64],
    /// What stands beside the diagonal, above it.
    pub beside: &'a mut [f64],
    pub left: Vectors,
    pub right: Vectors,
    pub kernels: Kernels,
}

/// The rotations of a step, those of rows and those of columns.
#[derive(Default)]
struct Turns {
    left: Vec<Rotation>,
    right: Vec<Rotation>,
}

impl Steps<'_> {
    /// Makes the matrix diagonal, no element below zero, in no order. False if that does not come to an end.
    ///
    /// # Safety
    /// Both have as many columns as the diagonal has elements, which nobody else uses.
    pub unsafe fn run(mut self) -> Result<bool, Failure> {
        let n = self.diagonal.len();
        let mut turns = Turns::default();
        turns.left.try_reserve_exact(n).map_err(|_| Failure::OutOfMemory)?;
        turns.right.try_reserve_exact(n).map_err(|_| Failure::OutOfMemory)?;
        let nought = self.absolute_nought();
        let (mut end, mut left) = (n, MOST_STEPS * n);
        // The part that is worked on, and whether it goes upwards: from where its elements are large.
        let (mut before, mut is_upwards) = (0..0, false);
        while end > 1 {
            let start = self.start_of(end, nought);
            if start + 1 == end {
                end -= 1;
                continue;
            }
            if start >= before.end || end <= before.start {
                is_upwards = self.diagonal[start].abs() < self.diagonal[end - 1].abs();
            }
            before = start..end;
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            // SAFETY: the caller's promise.
            unsafe { self.step(start, end, is_upwards, nought, &mut turns) };
        }
        for at in 0..n {
            if self.diagonal[at].is_sign_negative() {
                self.diagonal[at] = -self.diagonal[at];
                // SAFETY: the caller's promise.
                let column = unsafe { std::slice::from_raw_parts_mut(self.right.data.add(at * self.right.step), self.right.rows) };
                column.iter_mut().for_each(|x| *x = -*x);
            }
        }
        Ok(true)
    }

    /// What is zero beside the smallest singular value, about.
    fn absolute_nought(&self) -> f64 {
        let n = self.diagonal.len();
        let Some(first) = self.diagonal.first() else {
            return 0.0;
        };
        let (mut near, mut least) = (first.abs(), first.abs());
        for (x, beside) in self.diagonal[1..].iter().zip(self.beside.iter()) {
            if least == 0.0 {
                break;
            }
            near = x.abs() * (near / (near + beside.abs()));
            least = least.min(near);
        }
        (NOUGHT * least / (n as f64).sqrt()).max((MOST_STEPS * n * n) as f64 * f64::MIN_POSITIVE)
    }

    /// Where the last part that has no zeros beside the diagonal starts.
    fn start_of(&mut self, end: usize, nought: f64) -> usize {
        for at in (0..end - 1).rev() {
            if self.beside[at].abs() <= nought {
                self.beside[at] = 0.0;
                return at + 1;
            }
        }
        0
    }

    /// One step on a part, or what is found to be zero in it.
    unsafe fn step(&mut self, start: usize, end: usize, is_upwards: bool, nought: f64, turns: &mut Turns) {
        let diagonal = &mut self.diagonal[start..end];
        let beside = &mut self.beside[start..end - 1];
        // Upwards is downwards in the matrix turned, its rows and columns the other way around.
        if is_upwards {
            diagonal.reverse();
            beside.reverse();
        }
        if let Some(least) = least_of(diagonal, beside) {
            let shift = shift_of(diagonal, beside, least);
            sweep(diagonal, beside, shift, turns);
            let last = &mut beside[end - start - 2];
            if last.abs() <= nought {
                *last = 0.0;
            }
            let (rows, columns) = if is_upwards {
                (self.right, self.left)
            } else {
                (self.left, self.right)
            };
            let first = if is_upwards { end - 1 } else { start };
            for (vectors, rotations) in [(rows, &turns.left), (columns, &turns.right)] {
                let step = if is_upwards {
                    -(vectors.step as isize)
                } else {
                    vectors.step as isize
                };
                // SAFETY: the caller's promise.
                unsafe {
                    let place = vectors.data.add(first * vectors.step);
                    (self.kernels.rotate)(place, step, vectors.rows, rotations.as_ptr(), rotations.len());
                }
            }
        }
        if is_upwards {
            diagonal.reverse();
            beside.reverse();
        }
    }
}

/// A bound from below of the least singular value; None if something beside the diagonal was found to be zero, and is.
fn least_of(diagonal: &[f64], beside: &mut [f64]) -> Option<f64> {
    let last = beside.len() - 1;
    if beside[last].abs() <= NOUGHT * diagonal[last + 1].abs() {
        beside[last] = 0.0;
        return None;
    }
    let (mut near, mut least) = (diagonal[0].abs(), diagonal[0].abs());
    for (at, beside) in beside.iter_mut().enumerate() {
        if beside.abs() <= NOUGHT * near {
            *beside = 0.0;
            return None;
        }
        near = diagonal[at + 1].abs() * (near / (near + beside.abs()));
        least = least.min(near);
    }
    Some(least)
}

/// The shift of a step: a singular value of the last two rows, or 0 where a shift would cost digits of small values.
fn shift_of(diagonal: &[f64], beside: &[f64], least: f64) -> f64 {
    let n = diagonal.len();
    let largest = diagonal.iter().chain(beside).fold(0.0_f64, |most, x| most.max(x.abs()));
    if n as f64 * NOUGHT * (least / largest) <= f64::EPSILON.max(0.01 * NOUGHT) {
        return 0.0;
    }
    let shift = smaller_of_two(diagonal[n - 2], beside[n - 2], diagonal[n - 1]);
    let first = diagonal[0].abs();
    if first > 0.0 && (shift / first).powi(2) < f64::EPSILON {
        return 0.0;
    }
    shift
}

/// The smaller singular value of [[f, g], [0, h]].
fn smaller_of_two(f: f64, g: f64, h: f64) -> f64 {
    let (less, more, beside) = (f.abs().min(h.abs()), f.abs().max(h.abs()), g.abs());
    if less == 0.0 {
        return 0.0;
    }
    let (sum, difference) = (1.0 + less / more, (more - less) / more);
    if beside < more {
        let square = (beside / more).powi(2);
        let factor = 2.0 / ((sum * sum + square).sqrt() + (difference * difference + square).sqrt());
        return less * factor;
    }
    let ratio = more / beside;
    if ratio == 0.0 {
        return less * more / beside;
    }
    let factor = 1.0 / ((1.0 + (sum * ratio).powi(2)).sqrt() + (1.0 + (difference * ratio).powi(2)).sqrt());
    2.0 * (less * factor * ratio)
}

/// A QR step from the first row to the last; its rotations.
fn sweep(diagonal: &mut [f64], beside: &mut [f64], shift: f64, turns: &mut Turns) {
    turns.left.clear();
    turns.right.clear();
    if shift == 0.0 {
        sweep_without_shift(diagonal, beside, turns);
        return;
    }
    let last = beside.len();
    let mut f = (diagonal[0].abs() - shift) * (1.0_f64.copysign(diagonal[0]) + shift / diagonal[0]);
    let mut g = beside[0];
    for at in 0..last {
        let (right, r) = rotation(f, g);
        if at > 0 {
            beside[at - 1] = r;
        }
        f = right.cosine * diagonal[at] + right.sine * beside[at];
        beside[at] = right.cosine * beside[at] - right.sine * diagonal[at];
        g = right.sine * diagonal[at + 1];
        diagonal[at + 1] *= right.cosine;
        let (left, r) = rotation(f, g);
        diagonal[at] = r;
        f = left.cosine * beside[at] + left.sine * diagonal[at + 1];
        diagonal[at + 1] = left.cosine * diagonal[at + 1] - left.sine * beside[at];
        if at + 1 < last {
            g = left.sine * beside[at + 1];
            beside[at + 1] *= left.cosine;
        }
        turns.right.push(right);
        turns.left.push(left);
    }
    beside[last - 1] = f;
}

/// The step without a shift, in which nothing is subtracted: small values keep their digits.
fn sweep_without_shift(diagonal: &mut [f64], beside: &mut [f64], turns: &mut Turns) {
    let last = beside.len();
    let (mut cosine, mut left) = (1.0, Rotation::NONE);
    for at in 0..last {
        let (right, r) = rotation(diagonal[at] * cosine, beside[at]);
        if at > 0 {
            beside[at - 1] = left.sine * r;
        }
        (left, diagonal[at]) = rotation(left.cosine * r, diagonal[at + 1] * right.sine);
        cosine = right.cosine;
        turns.right.push(right);
        turns.left.push(left);
    }
    let rest = diagonal[last] * cosine;
    diagonal[last] = rest * left.cosine;
    beside[last - 1] = rest * left.sine;
}

impl Rotation {
    const NONE: Rotation = Rotation {
        cosine: 1.0,
        sine: 0.0,
        minus_sine: 0.0,
    };
}

/// The rotation that turns (f, g) into (r, 0), and r.
fn rotation(f: f64, g: f64) -> (Rotation, f64) {
    if g == 0.0 {
        return (Rotation::NONE, f);
    }
    let most = f.abs().max(g.abs());
    // The angle is that of numbers whose squares are something.
    let (f, g, unit) = if most < SAFE { (f / most, g / most, most) } else { (f, g, 1.0) };
    let length = (f * f + g * g).sqrt();
    let (cosine, sine) = (f * (1.0 / length), g * (1.0 / length));
    let made = Rotation {
        cosine,
        sine,
        minus_sine: -sine,
    };
    (made, length * unit)
}
