//! One pass over an array: all of its lines along one axis are transformed, on as many threads as pay.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rustfft::num_complex::Complex;

use crate::error::Error;
use crate::line::{Form, Line};
use crate::memory::Memory;
use crate::plans::Real;
use crate::shared::{Shared, pairs, parts_mut};
use crate::strided::{Elements, Lines, copy, copy_side_by_side, put_side_by_side};

/// The cost of a pass, times the bytes of its numbers, from which on more threads than one pay: some hundred microseconds. To wake one takes
/// five, and longer if it has no core.
const WORTH: u64 = 1 << 22;
/// The cost of what a thread does between two questions whether to stop: some milliseconds.
const BETWEEN: u64 = 1 << 24;
/// Complex numbers of short rows that are transformed together.
const ROWS: usize = 1 << 10;
/// Bytes of the elements side by side that are read together, of lines across memory: that uses cache lines whole. Of short lines more: the
/// fewer pages are gone through for it.
const SIDE: usize = 128;
const SIDE_OF_SHORT: usize = 1 << 10;
/// Bytes of such lines that are worked on together: the second cache has most of them.
const TOGETHER: usize = 1 << 19;
/// Lines of so many numbers that lie a power of two apart would want the same places of a cache.
const CROWDED: usize = 256;

/// Whoever asks for a transform: which threads there are, and when to stop.
pub trait Host: Sync {
    /// How many threads [`Host::share`] uses. Asked only where there is work for several.
    fn threads(&self) -> usize;

    /// Does `work` for all of so many units, some at a time, on those threads; false of it ends that.
    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync));

    /// Asked now and then on the calling thread, when no lock is held: true ends the transform.
    fn interrupted(&self) -> bool;
}

/// Where results go: an array in C's order.
#[derive(Debug)]
pub enum Place<'a, T> {
    Real(Shared<'a, T>),
    Complex(Shared<'a, Complex<T>>),
}

#[derive(Debug)]
pub struct Pass<'a, T> {
    pub line: Line<T>,
    /// What is transformed; `None` is what the place has.
    pub from: Option<Lines<'a, T>>,
    pub place: &'a Place<'a, T>,
    /// Elements from one of a line to the next in the place: 1 of rows.
    pub inner: usize,
    /// Lines of the place.
    pub lines: usize,
    /// The threads that do it, see [`threads`].
    pub threads: usize,
}

/// Memory to work in.
struct Room<T: Real> {
    work: Memory<T>,
    scratch: Memory<T>,
}

/// Lines that are transformed together, and where they go: the first element of the first one.
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    count: usize,
    at: usize,
}

impl<T: Real> Pass<'_, T> {
    /// Transforms all lines.
    pub fn run(&self, host: &dyn Host) -> Result<(), Error> {
        let (groups, line) = (self.groups(), cost(self.line.n));
        let slice = (BETWEEN / line.saturating_mul(self.most() as u64).max(1)).max(1);
        let mut done = 0;
        while done < groups {
            if done > 0 && host.interrupted() {
                return Err(Error::Interrupted);
            }
            let some = done..groups.min(done + slice * self.threads as u64);
            match some.end - some.start > 1 && self.threads > 1 {
                true => self.shared(host, some.clone())?,
                false => self.some(some.clone())?,
            }
            done = some.end;
        }
        Ok(())
    }

    fn shared(&self, host: &dyn Host, groups: Range<u64>) -> Result<(), Error> {
        let failed: Mutex<Option<Error>> = Mutex::new(None);
        host.share(
            groups.end - groups.start,
            &|some| match self.some(some.start + groups.start..some.end + groups.start) {
                Ok(()) => true,
                Err(error) => {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    false
                }
            },
        );
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    fn some(&self, groups: Range<u64>) -> Result<(), Error> {
        let mut room = self.room()?;
        for number in groups {
            let group = self.group(number as usize);
            if self.inner > 1 || !self.in_place(group, &mut room) {
                self.by_way_of_work(group, &mut room);
            }
        }
        Ok(())
    }

    /// Lines of a group at the most.
    fn most(&self) -> usize {
        match self.inner {
            1 => (ROWS / self.line.width()).clamp(1, self.lines.max(1)),
            inner => {
                let each = size_of::<Complex<T>>();
                let side = (TOGETHER / self.line.width().saturating_mul(each)) * each;
                // No fewer groups than some for each thread.
                let fair = (self.lines / (4 * self.threads.max(1))).max(SIDE / each);
                inner.min(side.clamp(SIDE, SIDE_OF_SHORT) / each).min(fair)
            }
        }
    }

    fn groups(&self) -> u64 {
        match self.inner {
            1 => self.lines.div_ceil(self.most()) as u64,
            inner => (self.lines / inner * inner.div_ceil(self.most())) as u64,
        }
    }

    fn group(&self, number: usize) -> Group {
        let (most, made) = (self.most(), self.line.made());
        if self.inner == 1 {
            let first = number * most;
            return Group {
                first,
                count: most.min(self.lines - first),
                at: first * made,
            };
        }
        let across = self.inner.div_ceil(most);
        let (outer, inside) = (number / across, number % across * most);
        Group {
            first: outer * self.inner + inside,
            count: most.min(self.inner - inside),
            at: outer * self.inner * made + inside,
        }
    }

    /// Numbers from one line in the room to the next.
    fn apart(&self) -> usize {
        let width = self.line.width();
        if self.most() > 1 && width >= CROWDED {
            width + 64 / size_of::<Complex<T>>()
        } else {
            width
        }
    }

    fn room(&self) -> Result<Room<T>, Error> {
        let (mut work, mut scratch) = (0, self.line.scratch());
        if self.inner > 1 || !self.fits() {
            work = self.apart().checked_mul(self.most()).ok_or(Error::TooLarge)?;
        } else if self.is_read_as_it_lies() {
            scratch = self.line.plan.complex.get_immutable_scratch_len();
        }
        Ok(Room {
            work: Memory::new(work)?,
            scratch: Memory::new(scratch)?,
        })
    }

    /// May rows be worked on where their results go?
    fn fits(&self) -> bool {
        matches!(self.place, Place::Complex(_)) && self.line.width() <= self.line.made()
    }

    /// Are rows transformed from where they are?
    fn is_read_as_it_lies(&self) -> bool {
        let Some(from) = &self.from else { return false };
        let (n, step) = (self.line.n, from.step == 1 && from.count == self.line.n);
        match from.of.elements {
            Elements::Complex(_) => step && self.line.form == Form::Complex && from.follow_by(n),
            Elements::Real(_) => step && self.line.pairs_in() && from.follow_by(n),
        }
    }

    /// Transforms rows in the place of their results; false if they have no room there.
    fn in_place(&self, group: Group, room: &mut Room<T>) -> bool {
        let (Place::Complex(place), true) = (self.place, self.fits()) else {
            return false;
        };
        let made = self.line.made();
        // SAFETY: groups have different lines, whose places are apart.
        let rows = unsafe { place.part(group.at, group.count * made) };
        match &self.from {
            Some(from) if self.is_read_as_it_lies() => self.read_as_it_lies(from, group, rows, room),
            Some(from) => {
                self.load(from, group, rows, made);
                // Rows of the half are wider by one number where real numbers have an odd length, and then do not fit.
                self.line.run(rows, room.scratch.numbers_mut());
            }
            None => self.line.run(rows, room.scratch.numbers_mut()),
        }
        true
    }

    fn read_as_it_lies(&self, from: &Lines<'_, T>, group: Group, rows: &mut [Complex<T>], room: &mut Room<T>) {
        let (n, complex) = (self.line.n, &self.line.plan.complex);
        let Some(start) = from.start(group.first) else { return };
        match from.of.elements {
            Elements::Complex(elements) => {
                complex.process_immutable_with_scratch(&elements[start..start + group.count * n], rows, room.scratch.numbers_mut());
                self.line.finish(rows);
            }
            Elements::Real(elements) => {
                let lines = elements[start..start + group.count * n].chunks_exact(n);
                for (row, line) in rows.chunks_exact_mut(self.line.made()).zip(lines) {
                    complex.process_immutable_with_scratch(pairs(line), &mut row[..n / 2], room.scratch.numbers_mut());
                    self.line.complete(row);
                }
            }
        }
    }

    /// Transforms lines in memory of their own.
    fn by_way_of_work(&self, group: Group, room: &mut Room<T>) {
        let (apart, width) = (self.apart(), self.line.width());
        let work = &mut room.work.numbers_mut()[..group.count * apart];
        match &self.from {
            Some(from) => self.load(from, group, work, apart),
            None => self.load_from_place(group, work, apart),
        }
        match apart == width {
            true => self.line.run(work, room.scratch.numbers_mut()),
            false => work
                .chunks_exact_mut(apart)
                .for_each(|line| self.line.run(&mut line[..width], room.scratch.numbers_mut())),
        }
        self.store(group, work, apart);
    }

    fn load(&self, from: &Lines<'_, T>, group: Group, work: &mut [Complex<T>], apart: usize) {
        let zero = T::of(0.0);
        match from.of.elements {
            Elements::Real(elements) if self.line.pairs_in() => {
                load_lines(from, elements, group, parts_mut(work), 2 * apart, self.line.n, zero, |x| x);
            }
            Elements::Real(elements) => {
                let number = |x| Complex::new(x, zero);
                load_lines(from, elements, group, work, apart, self.line.taken(), number(zero), number);
            }
            Elements::Complex(elements) => {
                let none = Complex::new(zero, zero);
                load_lines(from, elements, group, work, apart, self.line.taken(), none, |z| z);
            }
        }
    }

    fn load_from_place(&self, group: Group, work: &mut [Complex<T>], apart: usize) {
        let Place::Complex(place) = self.place else { return };
        // SAFETY: as above; the part is of the group's lines, and only read while it is there.
        let row = |i: usize| unsafe { &*place.part(group.at + i * self.inner, group.count) };
        copy_side_by_side(row, self.line.n, work, apart, |z| z);
    }

    fn store(&self, group: Group, work: &[Complex<T>], apart: usize) {
        let (made, step) = (self.line.made(), self.inner);
        match self.place {
            Place::Complex(place) if step == 1 => {
                for (i, line) in work.chunks_exact(apart).enumerate() {
                    // SAFETY: groups have different lines, whose places are apart; here and below.
                    let row = unsafe { place.part(group.at + i * made, made) };
                    row.copy_from_slice(&line[..made]);
                }
            }
            Place::Complex(place) => {
                // SAFETY: as above.
                let row = |i: usize| unsafe { place.part(group.at + i * step, group.count) };
                put_side_by_side(row, made, work, apart);
            }
            Place::Real(place) if step == 1 => {
                for (i, line) in work.chunks_exact(apart).enumerate() {
                    // SAFETY: as above.
                    self.line.numbers(line, unsafe { place.part(group.at + i * made, made) });
                }
            }
            Place::Real(place) => {
                for i in 0..made {
                    // SAFETY: as above.
                    let side = unsafe { place.part(group.at + i * step, group.count) };
                    let lines = work.chunks_exact(apart);
                    side.iter_mut().zip(lines).for_each(|(x, line)| *x = self.line.number(line, i));
                }
            }
        }
    }
}

/// What a line costs: its points times their logarithm.
fn cost(n: usize) -> u64 {
    (n as u64).saturating_mul(u64::from(n.max(2).ilog2()))
}

/// How many threads so many lines of n points are worth, of those that there are.
pub fn threads<T>(host: &dyn Host, n: usize, lines: usize) -> usize {
    let numbers = cost(n).saturating_mul(lines as u64);
    if lines > 1 && numbers.saturating_mul(size_of::<T>() as u64) >= WORTH {
        host.threads()
    } else {
        1
    }
}

/// Loads the lines of a group, and zeros where they have fewer than `all` elements.
#[allow(clippy::too_many_arguments, reason = "where from, where to, and how")]
fn load_lines<T: Copy, E: Copy, F: Copy>(
    from: &Lines<'_, T>,
    elements: &[E],
    group: Group,
    into: &mut [F],
    apart: usize,
    all: usize,
    zero: F,
    convert: impl Fn(E) -> F + Copy,
) {
    let count = from.count;
    let starts = group.first..group.first + group.count;
    if group.count > 1 && from.step != 1 && from.lie_side_by_side(starts.clone()) {
        let start = from.start(group.first).unwrap_or(0);
        let row = |i: usize| &elements[start.wrapping_add_signed(i as isize * from.step)..][..group.count];
        copy_side_by_side(row, count, into, apart, convert);
        into.chunks_exact_mut(apart).for_each(|line| line[count..all].fill(zero));
        return;
    }
    for (line, number) in into.chunks_exact_mut(apart).zip(starts) {
        match from.start(number) {
            Some(start) => {
                copy(elements, start, from.step, &mut line[..count], convert);
                line[count..all].fill(zero);
            }
            None => line[..all].fill(zero),
        }
    }
}
