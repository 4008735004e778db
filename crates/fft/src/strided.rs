//! Elements that lie anywhere in memory, and the lines of them along an axis.

use std::ops::Range;

use rustfft::num_complex::Complex;

use crate::error::Error;

/// Memory that has the elements of an array somewhere in it.
#[derive(Clone, Copy, Debug)]
pub enum Elements<'a, T> {
    Real(&'a [T]),
    Complex(&'a [Complex<T>]),
}

impl<T> Elements<'_, T> {
    fn len(&self) -> usize {
        match self {
            Elements::Real(elements) => elements.len(),
            Elements::Complex(elements) => elements.len(),
        }
    }
}

/// An array in memory.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, T> {
    pub elements: Elements<'a, T>,
    /// Where the first element is.
    pub first: usize,
    pub shape: &'a [usize],
    /// In elements, one for each axis.
    pub strides: &'a [isize],
}

impl<T> Strided<'_, T> {
    /// Refuses one with elements that are not in its memory.
    pub fn check(&self) -> Result<(), Error> {
        if self.shape.len() != self.strides.len() {
            return Err(Error::Memory);
        }
        if self.shape.contains(&0) {
            return Ok(());
        }
        let (mut low, mut high) = (self.first as i128, self.first as i128);
        for (&extent, &stride) in self.shape.iter().zip(self.strides) {
            let reach = (extent as i128 - 1).checked_mul(stride as i128).ok_or(Error::Memory)?;
            let end = if reach < 0 { &mut low } else { &mut high };
            *end = end.checked_add(reach).ok_or(Error::Memory)?;
        }
        let is_there = low >= 0 && high < self.elements.len() as i128;
        is_there.then_some(()).ok_or(Error::Memory)
    }
}

/// The lines of an array along an axis, in the order of those of an array of another shape: one that is shorter leaves some out, and one
/// that is longer has some that are not there.
#[derive(Debug)]
pub struct Lines<'a, T> {
    pub of: Strided<'a, T>,
    /// From an element of a line to the next.
    pub step: isize,
    /// Elements of a line.
    pub count: usize,
    /// The other axes, the last one first: how long they are in the array of the other shape.
    others: Vec<Other>,
}

#[derive(Clone, Copy, Debug)]
struct Other {
    asked: usize,
    there: usize,
    stride: isize,
}

impl<'a, T: Copy> Lines<'a, T> {
    /// The lines along `axis` that an array of `shape` has, of no more than `most` elements each.
    pub fn new(of: Strided<'a, T>, shape: &[usize], axis: usize, most: usize) -> Lines<'a, T> {
        let of_axis = |i: usize| Other {
            asked: shape[i],
            there: of.shape[i],
            stride: of.strides[i],
        };
        Lines {
            of,
            step: of.strides[axis],
            count: of.shape[axis].min(most),
            others: (0..shape.len()).rev().filter(|&i| i != axis).map(of_axis).collect(),
        }
    }

    /// Where a line begins; `None` if the array has none there.
    pub fn start(&self, line: usize) -> Option<usize> {
        let (mut rest, mut at) = (line, self.of.first as isize);
        for other in &self.others {
            let place = rest % other.asked;
            if place >= other.there {
                return None;
            }
            at += place as isize * other.stride;
            rest /= other.asked;
        }
        (self.count > 0).then_some(at as usize)
    }

    /// Does each line begin `n` elements behind the one before, from the first to the last?
    pub fn follow_by(&self, n: usize) -> bool {
        let mut behind = n as isize;
        self.others.iter().all(|other| {
            let follows = other.asked == other.there && (other.asked == 1 || other.stride == behind);
            behind = behind.wrapping_mul(other.asked as isize);
            follows
        })
    }

    /// Does each of these lines begin at the element behind the beginning of the one before?
    pub fn lie_side_by_side(&self, lines: Range<usize>) -> bool {
        let Some(start) = self.start(lines.start) else { return false };
        lines.enumerate().all(|(i, line)| self.start(line) == Some(start + i))
    }
}

/// Copies a line that begins at `start`.
pub fn copy<E: Copy, F>(from: &[E], start: usize, step: isize, into: &mut [F], convert: impl Fn(E) -> F) {
    if step == 1 {
        let run = &from[start..start + into.len()];
        into.iter_mut().zip(run).for_each(|(into, &e)| *into = convert(e));
        return;
    }
    for (i, into) in into.iter_mut().enumerate() {
        *into = convert(from[start.wrapping_add_signed(i as isize * step)]);
    }
}

/// Copies lines that lie side by side in rows: `row(i)` has element i of each. They are `apart` in `into`, and `count` elements long.
///
/// Four rows are read at once, so that lines are written to in runs.
#[inline(always)]
pub fn copy_side_by_side<'a, E: Copy + 'a, F>(
    row: impl Fn(usize) -> &'a [E],
    count: usize,
    into: &mut [F],
    apart: usize,
    convert: impl Fn(E) -> F,
) {
    let fours = count / 4 * 4;
    for i in (0..fours).step_by(4) {
        let rows = row(i).iter().zip(row(i + 1)).zip(row(i + 2).iter().zip(row(i + 3)));
        for (line, ((a, b), (c, d))) in into.chunks_exact_mut(apart).zip(rows) {
            let [p, q, r, s] = &mut line[i..i + 4] else { return };
            (*p, *q, *r, *s) = (convert(*a), convert(*b), convert(*c), convert(*d));
        }
    }
    for i in fours..count {
        for (line, e) in into.chunks_exact_mut(apart).zip(row(i)) {
            line[i] = convert(*e);
        }
    }
}

/// The way back: `row(i)` gets element i of each line.
#[inline(always)]
pub fn put_side_by_side<'a, E: Copy + 'a>(row: impl Fn(usize) -> &'a mut [E], count: usize, from: &[E], apart: usize) {
    let fours = count / 4 * 4;
    for i in (0..fours).step_by(4) {
        let rows = row(i).iter_mut().zip(row(i + 1)).zip(row(i + 2).iter_mut().zip(row(i + 3)));
        for (line, ((a, b), (c, d))) in from.chunks_exact(apart).zip(rows) {
            let [p, q, r, s] = &line[i..i + 4] else { return };
            (*a, *b, *c, *d) = (*p, *q, *r, *s);
        }
    }
    for i in fours..count {
        for (line, e) in from.chunks_exact(apart).zip(row(i)) {
            *e = line[i];
        }
    }
}
