//! Fourier transforms for compiled code.

#![allow(unsafe_code)]

use std::ops::Range;
use std::slice;

use weft_fft::{Complex, Elements, Error, Host, Job, Kind, Out, Real, Strided, transform};
use weft_ir::{Outcome, Routine, Scalar};
use weft_linalg::{Operand, Threads};

use super::context::Context;
use super::linear::Crew;

/// The kind of a transform, if a routine is one.
pub fn kind_of(routine: Routine) -> Option<Kind> {
    match routine {
        Routine::Fft => Some(Kind::Complex),
        Routine::FftOfReals => Some(Kind::FromReal),
        Routine::FftToReals => Some(Kind::ToReal),
        _ => None,
    }
}

/// Transforms an array of elements of the type. The operands are that array; numbers of type float64: the factor, 1 for a transform and 0 for an
/// inverse, the length of the last axis, and the axes; and the result, in C's order, whose lengths say what those of the other axes are.
///
/// # Safety
/// The operands are such views, and the result is memory of its own.
pub unsafe fn routine(ctx: &Context<'_>, kind: Kind, elem: Scalar, threads: bool, operands: &[Operand]) -> Outcome {
    let [array, asked, out] = operands else { return Outcome::Absent };
    // SAFETY: by contract, here and below.
    let asked = unsafe { elements::<f64>(asked) }.unwrap_or_default();
    let [factor, forward, last, axes @ ..] = asked.as_slice() else {
        return Outcome::Absent;
    };
    let axes: Vec<usize> = axes.iter().map(|&axis| axis as usize).collect();
    let mut lengths: Vec<usize> = axes.iter().map(|&axis| out.shape.get(axis).copied().unwrap_or(0)).collect();
    if let Some(length) = lengths.last_mut() {
        *length = *last as usize;
    }
    let job = Job {
        kind,
        forward: *forward != 0.0,
        axes: &axes,
        lengths: &lengths,
        factor: *factor,
    };
    let host = Asking { ctx, threads };
    // SAFETY: as above.
    let done = unsafe {
        match elem {
            Scalar::F32 => run::<f32, f32>(array, out, &job, reals, &host),
            Scalar::F64 => run::<f64, f64>(array, out, &job, reals, &host),
            Scalar::C64 => run::<f32, Complex<f32>>(array, out, &job, complexes, &host),
            Scalar::C128 => run::<f64, Complex<f64>>(array, out, &job, complexes, &host),
            _ => Err(Error::Memory),
        }
    };
    match done {
        Ok(()) => Outcome::Done,
        // Of an interrupted call it is of no account what is raised then: the context knows.
        Err(Error::OutOfMemory | Error::TooLarge | Error::Interrupted) => Outcome::OutOfMemory,
        Err(Error::Axes | Error::Empty | Error::Memory | Error::Result) => Outcome::Absent,
    }
}

// The constructors themselves are functions of one lifetime only.
fn reals<T>(of: &[T]) -> Elements<'_, T> {
    Elements::Real(of)
}

fn complexes<T>(of: &[Complex<T>]) -> Elements<'_, T> {
    Elements::Complex(of)
}

/// Transforms elements of type `E`, which are `T`s or pairs of them.
///
/// # Safety
/// The array has such elements, and the result is memory of its own for the numbers that the job makes.
unsafe fn run<T: Real, E: Copy>(
    array: &Operand,
    out: &Operand,
    job: &Job<'_>,
    kind: fn(&[E]) -> Elements<'_, T>,
    host: &dyn Host,
) -> Result<(), Error> {
    let parts = if job.kind == Kind::ToReal { 1 } else { 2 };
    if job.shape(&array.shape)? != *out.shape || !lies_in_order(out, parts * size_of::<T>()) {
        return Err(Error::Result);
    }
    let lies_well = array.is_regular(size_of::<E>()) && array.data.addr().is_multiple_of(align_of::<E>());
    // What lies between elements, as fields of records do, is read element by element.
    // SAFETY: by contract.
    let copied = if lies_well { Vec::new() } else { unsafe { elements(array) }? };
    let (memory, first, strides) = if lies_well {
        // SAFETY: by contract, and the elements lie well.
        unsafe { seen::<E>(array) }
    } else {
        (copied.as_slice(), 0, in_order(&array.shape))
    };
    let from = Strided {
        elements: kind(memory),
        first,
        shape: &array.shape,
        strides: &strides,
    };
    let into = match (count(out), job.kind) {
        (0, Kind::ToReal) => Out::Real(&mut []),
        (0, _) => Out::Complex(&mut []),
        // SAFETY: by contract; the code that calls made it for as many elements.
        (count, Kind::ToReal) => Out::Real(unsafe { slice::from_raw_parts_mut(out.data.cast::<T>(), count) }),
        // SAFETY: as above.
        (count, _) => Out::Complex(unsafe { slice::from_raw_parts_mut(out.data.cast::<Complex<T>>(), count) }),
    };
    transform(&from, job, into, host)
}

fn count(of: &Operand) -> usize {
    if of.shape.contains(&0) { 0 } else { of.shape.iter().product() }
}

/// All elements of an array in C's order, wherever they lie.
///
/// # Safety
/// It is a view of such elements.
unsafe fn elements<E: Copy>(of: &Operand) -> Result<Vec<E>, Error> {
    let mut found = Vec::new();
    found.try_reserve_exact(count(of)).map_err(|_| Error::OutOfMemory)?;
    for number in 0..count(of) {
        let (mut rest, mut offset) = (number, 0_isize);
        for (&length, &stride) in of.shape.iter().zip(&of.strides).rev() {
            offset += (rest % length) as isize * stride;
            rest /= length;
        }
        // SAFETY: by contract.
        found.push(unsafe { of.data.offset(offset).cast::<E>().read_unaligned() });
    }
    Ok(found)
}

/// The memory that the elements of an array lie in, the place of the first one there, and the strides in elements.
///
/// # Safety
/// It is a view of such elements, aligned, with whole numbers of them as strides.
unsafe fn seen<'a, E>(of: &Operand) -> (&'a [E], usize, Vec<isize>) {
    let strides: Vec<isize> = of.strides.iter().map(|stride| stride / size_of::<E>() as isize).collect();
    if of.shape.contains(&0) {
        return (&[], 0, strides);
    }
    let (mut low, mut high) = (0_isize, 0_isize);
    for (&length, &stride) in of.shape.iter().zip(&strides) {
        let reach = (length as isize - 1) * stride;
        if reach < 0 { low += reach } else { high += reach }
    }
    // SAFETY: all between the first and the last element is memory of the array's.
    let memory = unsafe { slice::from_raw_parts(of.data.cast::<E>().offset(low), (high - low) as usize + 1) };
    (memory, low.unsigned_abs(), strides)
}

/// The strides, in elements, of an array in C's order.
fn in_order(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1_isize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis] as isize);
    }
    strides
}

/// Does an array of elements of so many bytes lie in C's order?
fn lies_in_order(of: &Operand, size: usize) -> bool {
    let wanted = in_order(&of.shape);
    let mut axes = of.shape.iter().zip(&of.strides).zip(&wanted);
    of.shape.contains(&0) || axes.all(|((&length, &stride), &wanted)| length == 1 || stride == wanted.wrapping_mul(size as isize))
}

/// The threads that compiled code may use, and what its context is told of interrupts.
struct Asking<'a> {
    ctx: &'a Context<'a>,
    threads: bool,
}

impl Host for Asking<'_> {
    fn threads(&self) -> usize {
        if self.threads { Crew.count() } else { 1 }
    }

    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        if self.threads {
            Crew.share(units, work);
        } else {
            work(0..units);
        }
    }

    fn interrupted(&self) -> bool {
        self.ctx.poll()
    }
}
