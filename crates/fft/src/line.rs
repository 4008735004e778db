//! One line of a transform: complex or real numbers in, complex or real numbers out.

use std::sync::Arc;

use rustfft::FftDirection;
use rustfft::num_complex::Complex;

use crate::error::Error;
use crate::plans::{self, Key, Plan, Real};
use crate::real;
use crate::shared::parts;

/// What a line is transformed from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Complex,
    /// Real numbers, of whose transform the first half is wanted: the other half has the conjugates.
    Half,
    /// Real numbers, of whose transform all is wanted.
    Full,
    /// The first half of a transform of real numbers, which are wanted.
    Back,
}

/// How the lines of an axis are transformed, in place in complex numbers to work in.
#[derive(Debug)]
pub struct Line<T> {
    pub form: Form,
    /// Points of the transform.
    pub n: usize,
    pub plan: Arc<Plan<T>>,
    /// The sum is wanted with the other sign in its exponents than the form's own: what is read (`Back`) or made (others) is conjugated.
    conjugate: bool,
    factor: T,
}

impl<T: Real> Line<T> {
    pub fn new(form: Form, n: usize, forward: bool, factor: f64) -> Result<Line<T>, Error> {
        let halves = form != Form::Complex && n.is_multiple_of(2);
        // A plan has as many numbers as a line, and cannot say that there was no memory.
        let mut room: Vec<Complex<T>> = Vec::new();
        room.try_reserve_exact(n.checked_mul(4).ok_or(Error::TooLarge)?)
            .map_err(|_| Error::OutOfMemory)?;
        let own = match form {
            Form::Complex => forward,
            Form::Half | Form::Full => true,
            Form::Back => false,
        };
        let key = Key {
            points: if halves { n / 2 } else { n },
            direction: if own { FftDirection::Forward } else { FftDirection::Inverse },
            halves,
        };
        Ok(Line {
            form,
            n,
            plan: plans::plan(key),
            conjugate: own != forward,
            factor: T::of(factor),
        })
    }

    fn is_halved(&self) -> bool {
        !self.plan.roots.is_empty()
    }

    /// Elements of a line that are read at the most.
    pub fn taken(&self) -> usize {
        if self.form == Form::Back { self.n / 2 + 1 } else { self.n }
    }

    /// Complex numbers that a line is worked on in.
    pub fn width(&self) -> usize {
        match self.form {
            Form::Half | Form::Back if self.is_halved() => self.n / 2 + 1,
            _ => self.n,
        }
    }

    /// Complex numbers that are made: the first ones of those. Of [`Form::Back`] they are real numbers, see [`Line::number`].
    pub fn made(&self) -> usize {
        if self.form == Form::Half { self.n / 2 + 1 } else { self.n }
    }

    /// Are real numbers loaded as pairs, one behind the other, and not as complex numbers?
    pub fn pairs_in(&self) -> bool {
        self.is_halved() && self.form != Form::Back
    }

    pub fn scratch(&self) -> usize {
        self.plan.complex.get_inplace_scratch_len()
    }

    /// Transforms lines that were loaded, all of them of [`Line::width`], one behind the other.
    pub fn run(&self, work: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        if self.form == Form::Complex {
            self.plan.complex.process_with_scratch(work, scratch);
            self.finish(work);
            return;
        }
        for line in work.chunks_exact_mut(self.width()) {
            match self.form {
                Form::Back => self.back(line, scratch),
                _ if self.is_halved() => {
                    self.plan.complex.process_with_scratch(&mut line[..self.n / 2], scratch);
                    self.complete(line);
                }
                _ => {
                    self.plan.complex.process_with_scratch(line, scratch);
                    self.complete(line);
                }
            }
        }
    }

    /// Makes the result of real numbers from the transform of their pairs, or from their own.
    pub fn complete(&self, line: &mut [Complex<T>]) {
        let half = self.n / 2 + 1;
        if self.is_halved() {
            real::untangle(&mut line[..half], &self.plan.roots, true);
        }
        self.finish(&mut line[..half]);
        if self.form == Form::Full {
            real::mirror(line);
        }
    }

    fn back(&self, line: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        let half = self.n / 2 + 1;
        if self.conjugate {
            line[..half].iter_mut().for_each(|z| *z = z.conj());
        }
        // The ends are real in the transform of real numbers, whatever is said of them.
        line[0].im = T::of(0.0);
        if self.is_halved() {
            line[half - 1].im = T::of(0.0);
            real::tangle(line, &self.plan.roots, true);
            self.plan.complex.process_with_scratch(&mut line[..half - 1], scratch);
        } else {
            real::mirror(line);
            self.plan.complex.process_with_scratch(line, scratch);
        }
    }

    /// What is done to each number that was made, but for [`Form::Back`].
    pub fn finish(&self, made: &mut [Complex<T>]) {
        let factor = self.factor;
        if self.conjugate {
            made.iter_mut().for_each(|z| *z = z.conj() * factor);
        } else if factor != T::of(1.0) {
            made.iter_mut().for_each(|z| *z = *z * factor);
        }
    }

    /// A real number of a line of [`Form::Back`].
    #[inline]
    pub fn number(&self, line: &[Complex<T>], i: usize) -> T {
        let z = if self.is_halved() { line[i / 2] } else { line[i] };
        let x = if self.is_halved() && i % 2 == 1 { z.im } else { z.re };
        x * self.factor
    }

    /// All of them.
    pub fn numbers(&self, line: &[Complex<T>], into: &mut [T]) {
        match self.is_halved() {
            true => into.iter_mut().zip(parts(line)).for_each(|(into, &x)| *into = x * self.factor),
            false => into.iter_mut().zip(line).for_each(|(into, z)| *into = z.re * self.factor),
        }
    }
}
