//! Transforms of whole arrays: pass after pass, one for each axis.

use rustfft::num_complex::Complex;

use crate::error::Error;
use crate::line::{Form, Line};
use crate::memory::Memory;
use crate::pass::{self, Host, Pass, Place};
use crate::plans::Real;
use crate::shared::Shared;
use crate::strided::{Elements, Lines, Strided};

/// What numbers become what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Complex numbers, or real ones, become complex ones.
    Complex,
    /// Real numbers become complex ones: of the last one of the axes the first half of the transform, n/2 + 1 elements.
    FromReal,
    /// That becomes real numbers again.
    ToReal,
}

/// A transform.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub kind: Kind,
    /// The sign in the exponents of the sums: negative, or else positive.
    pub forward: bool,
    /// The axes, each once. They are gone through from the last one to the first, of [`Kind::ToReal`] with the last one at the end.
    pub axes: &'a [usize],
    /// The points of each: what the array has more is left out, what it has less is zero.
    pub lengths: &'a [usize],
    /// What the sums are multiplied by.
    pub factor: f64,
}

/// Where the result goes, in C's order.
#[derive(Debug)]
pub enum Out<'a, T> {
    Real(&'a mut [T]),
    Complex(&'a mut [Complex<T>]),
}

impl Job<'_> {
    /// The shape of the result for an array of a shape.
    pub fn shape(&self, of: &[usize]) -> Result<Vec<usize>, Error> {
        let (axes, rank) = (self.axes, of.len());
        let distinct = axes.iter().enumerate().all(|(i, axis)| *axis < rank && !axes[..i].contains(axis));
        if axes.is_empty() || axes.len() != self.lengths.len() || !distinct {
            return Err(Error::Axes);
        }
        let mut shape = of.to_vec();
        for (&axis, &n) in axes.iter().zip(self.lengths) {
            if n == 0 {
                return Err(Error::Empty);
            }
            shape[axis] = n;
        }
        if self.kind == Kind::FromReal {
            let last = axes[axes.len() - 1];
            shape[last] = shape[last] / 2 + 1;
        }
        Ok(shape)
    }
}

/// Transforms an array.
pub fn transform<T: Real>(from: &Strided<'_, T>, job: &Job<'_>, out: Out<'_, T>, host: &dyn Host) -> Result<(), Error> {
    from.check()?;
    let shape = job.shape(from.shape)?;
    let count = elements(&shape)?;
    let is_complex = matches!(from.elements, Elements::Complex(_));
    let place = match out {
        Out::Complex(out) if job.kind != Kind::ToReal && out.len() == count => Place::Complex(Shared::new(out)),
        Out::Real(out) if job.kind == Kind::ToReal && out.len() == count => Place::Real(Shared::new(out)),
        _ => return Err(Error::Result),
    };
    if count == 0 {
        return Ok(());
    }
    match job.kind {
        Kind::Complex if is_complex => forth(from, job, Form::Complex, &shape, &place, host),
        Kind::Complex => forth(from, job, Form::Full, &shape, &place, host),
        Kind::FromReal if is_complex => Err(Error::Result),
        Kind::FromReal => forth(from, job, Form::Half, &shape, &place, host),
        Kind::ToReal => back(from, job, &shape, &place, host),
    }
}

fn elements(shape: &[usize]) -> Result<usize, Error> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let count = shape
        .iter()
        .try_fold(1usize, |count, &n| count.checked_mul(n))
        .ok_or(Error::TooLarge)?;
    // Places are counted in `isize`, and in numbers of 16 bytes.
    if count > isize::MAX as usize / 32 {
        Err(Error::TooLarge)
    } else {
        Ok(count)
    }
}

/// Along the last axis from the array to the place, along the others in the place.
fn forth<T: Real>(
    from: &Strided<'_, T>,
    job: &Job<'_>,
    form: Form,
    shape: &[usize],
    place: &Place<'_, T>,
    host: &dyn Host,
) -> Result<(), Error> {
    for (i, (&axis, &n)) in job.axes.iter().zip(job.lengths).enumerate().rev() {
        let is_first = i + 1 == job.axes.len();
        let factor = if i == 0 { job.factor } else { 1.0 };
        let line = Line::new(if is_first { form } else { Form::Complex }, n, job.forward, factor)?;
        let lines = is_first.then(|| Lines::new(*from, shape, axis, line.taken()));
        along(line, lines, place, shape, axis, host)?;
    }
    Ok(())
}

/// Along the other axes from the array to memory on the way, and along the last one from there to the place.
fn back<T: Real>(from: &Strided<'_, T>, job: &Job<'_>, shape: &[usize], place: &Place<'_, T>, host: &dyn Host) -> Result<(), Error> {
    let Some((&last, axes)) = job.axes.split_last() else {
        return Err(Error::Axes);
    };
    let line = Line::new(Form::Back, shape[last], job.forward, job.factor)?;
    let Some((&first, others)) = axes.split_first() else {
        let lines = Lines::new(*from, shape, last, line.taken());
        return along(line, Some(lines), place, shape, last, host);
    };
    let mut between = shape.to_vec();
    between[last] = line.taken();
    let mut memory = Memory::new(elements(&between)?)?;
    {
        let on_the_way = Place::Complex(Shared::new(memory.numbers_mut()));
        for (i, &axis) in std::iter::once(&first).chain(others).enumerate() {
            let line = Line::new(Form::Complex, shape[axis], job.forward, 1.0)?;
            let lines = (i == 0).then(|| Lines::new(*from, &between, axis, line.taken()));
            along(line, lines, &on_the_way, &between, axis, host)?;
        }
    }
    let mut strides = vec![1; between.len()];
    for axis in (1..between.len()).rev() {
        strides[axis - 1] = strides[axis] * between[axis] as isize;
    }
    let way = Strided {
        elements: Elements::Complex(memory.numbers()),
        first: 0,
        shape: &between,
        strides: &strides,
    };
    let lines = Lines::new(way, shape, last, line.taken());
    along(line, Some(lines), place, shape, last, host)
}

/// Transforms all lines along an axis of a place that has a shape.
fn along<T: Real>(
    line: Line<T>,
    from: Option<Lines<'_, T>>,
    place: &Place<'_, T>,
    shape: &[usize],
    axis: usize,
    host: &dyn Host,
) -> Result<(), Error> {
    let inner = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let lines = outer * inner;
    let threads = pass::threads::<T>(host, line.plan.complex.len(), lines);
    Pass {
        line,
        from,
        place,
        inner,
        lines,
        threads,
    }
    .run(host)
}
