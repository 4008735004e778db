//! cuSOLVER's Jacobi methods for stacks of small matrices, which lie one behind the other. What they compute is in `libraries::spectral`.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::c_int;

use super::calls;
use super::cusolver::{INVALID_VALUE, NOT_INITIALIZED, check, enqueue, held, is_lower, real, wants_vectors};
use crate::driver::Outcome;
use crate::driver::handles::Handle;
use crate::libraries::memory::{Matrix, Row, spoil, store_integers};
use crate::libraries::number::Format;
use crate::libraries::{self, Held, Kind, spectral};

/// Singular values are found of no larger matrices.
const LARGEST: c_int = 32;
/// What the double asks for as a workspace, in elements.
const ROOM: c_int = 96;

fn held_with(handle: Handle, params: Handle) -> Outcome<Held> {
    libraries::held(Kind::JacobiParams, params).ok_or(INVALID_VALUE)?;
    held(handle)
}

unsafe fn new_params(to: *mut Handle) -> Outcome {
    check(!to.is_null())?;
    // SAFETY: not null, and the caller says it may be written.
    unsafe { to.write(libraries::create(Kind::JacobiParams).ok_or(NOT_INITIALIZED)?) };
    Ok(())
}

unsafe fn tell_room(to: *mut c_int) -> Outcome {
    check(!to.is_null())?;
    // SAFETY: not null, and the caller says it may be written.
    unsafe { to.write(ROOM) };
    Ok(())
}

/// A stack of square matrices.
#[derive(Clone, Copy)]
struct Square {
    n: c_int,
    at: u64,
    leading: c_int,
    count: c_int,
}

unsafe fn eigh_room(handle: Handle, (job, triangle): (c_int, c_int), a: Square, to: *mut c_int, params: Handle) -> Outcome {
    held_with(handle, params)?;
    wants_vectors(job)?;
    is_lower(triangle)?;
    check(a.n >= 0 && a.leading >= a.n.max(1) && a.count >= 0)?;
    // SAFETY: the caller's promise.
    unsafe { tell_room(to) }
}

fn eigh(
    name: &'static str,
    format: Format,
    handle: Handle,
    (job, triangle): (c_int, c_int),
    a: Square,
    values: u64,
    (work, room): (u64, c_int),
    info: u64,
    params: Handle,
) -> Outcome {
    let held = held_with(handle, params)?;
    let (vectors, lower) = (wants_vectors(job)?, is_lower(triangle)?);
    check(a.n >= 0 && a.leading >= a.n.max(1) && a.count >= 0 && room >= ROOM)?;
    enqueue(held, name, move |context| {
        spoil(context, work, room as usize * format.bytes())?;
        let (n, leading) = (a.n as usize, a.leading as usize);
        for index in 0..i64::from(a.count) {
            let at = Row::new(a.at, format).at(index * (n * leading) as i64);
            let found = spectral::eigh(&Matrix::load(context, at, n, n, leading)?, lower);
            let flag = if found.is_none() { n as i64 + 1 } else { 0 };
            store_integers(context, info + 4 * index as u64, 4, &[flag])?;
            let Some((sizes, columns)) = found else { continue };
            Row::new(values, format.real()).at(index * n as i64).store(context, &real(&sizes))?;
            // Without vectors what was there is lost as well.
            (if vectors { columns } else { Matrix::zeros(n, n) }).store(context, at, leading)?;
        }
        Ok(())
    })
}

/// A stack of matrices, and where the vectors go.
#[derive(Clone, Copy)]
struct Tall {
    m: c_int,
    n: c_int,
    at: u64,
    leading: c_int,
    left: (u64, c_int),
    right: (u64, c_int),
    count: c_int,
}

impl Tall {
    fn check(self, job: c_int) -> Outcome<bool> {
        let vectors = wants_vectors(job)?;
        check((0..=LARGEST).contains(&self.m) && (0..=LARGEST).contains(&self.n) && self.leading >= self.m.max(1) && self.count >= 0)?;
        check(!vectors || (self.left.1 >= self.m.max(1) && self.right.1 >= self.n.max(1)))?;
        Ok(vectors)
    }
}

unsafe fn svd_room(handle: Handle, job: c_int, a: Tall, to: *mut c_int, params: Handle) -> Outcome {
    held_with(handle, params)?;
    a.check(job)?;
    // SAFETY: the caller's promise.
    unsafe { tell_room(to) }
}

fn svd(
    name: &'static str,
    format: Format,
    handle: Handle,
    job: c_int,
    a: Tall,
    values: u64,
    (work, room): (u64, c_int),
    info: u64,
    params: Handle,
) -> Outcome {
    let held = held_with(handle, params)?;
    let vectors = a.check(job)?;
    check(room >= ROOM)?;
    enqueue(held, name, move |context| {
        spoil(context, work, room as usize * format.bytes())?;
        let (m, n, leading) = (a.m as usize, a.n as usize, a.leading as usize);
        for index in 0..i64::from(a.count) {
            let at = Row::new(a.at, format).at(index * (n * leading) as i64);
            let matrix = Matrix::load(context, at, m, n, leading)?;
            Matrix::zeros(m, n).store(context, at, leading)?;
            // Of what is wider than tall the adjoint is decomposed, and its vectors change sides.
            let wide = m < n;
            let found = spectral::svd(&if wide { adjoint(&matrix) } else { matrix });
            let flag = if found.is_none() { m.min(n) as i64 + 1 } else { 0 };
            store_integers(context, info + 4 * index as u64, 4, &[flag])?;
            let Some((first, sizes, second)) = found else { continue };
            Row::new(values, format.real())
                .at(index * m.min(n) as i64)
                .store(context, &real(&sizes))?;
            if vectors {
                let (left, right) = if wide { (second, first) } else { (first, second) };
                for (side, size, to) in [(left, m, a.left), (right, n, a.right)] {
                    let place = Row::new(to.0, format).at(index * i64::from(to.1) * size as i64);
                    side.store(context, place, to.1 as usize)?;
                }
            }
        }
        Ok(())
    })
}

fn adjoint(a: &Matrix) -> Matrix {
    let mut found = Matrix::zeros(a.columns, a.rows);
    for row in 0..a.rows {
        (0..a.columns).for_each(|column| found.set(column, row, a.get(row, column).conj()));
    }
    found
}

calls! {
    fn cusolverDnCreateSyevjInfo(to: *mut Handle) {
        new_params(to)
    }

    fn cusolverDnCreateGesvdjInfo(to: *mut Handle) {
        new_params(to)
    }

    fn cusolverDnSsyevjBatched_bufferSize(
        handle: Handle, job: c_int, triangle: c_int, n: c_int, at: u64, leading: c_int, _values: u64, to: *mut c_int, params: Handle,
        count: c_int,
    ) {
        eigh_room(handle, (job, triangle), Square { n, at, leading, count }, to, params)
    }

    fn cusolverDnSsyevjBatched(
        handle: Handle, job: c_int, triangle: c_int, n: c_int, at: u64, leading: c_int, values: u64, work: u64, room: c_int, info: u64,
        params: Handle, count: c_int,
    ) {
        let a = Square { n, at, leading, count };
        eigh("cusolverDnSsyevjBatched", Format::F32, handle, (job, triangle), a, values, (work, room), info, params)
    }

    fn cusolverDnDsyevjBatched_bufferSize(
        handle: Handle, job: c_int, triangle: c_int, n: c_int, at: u64, leading: c_int, _values: u64, to: *mut c_int, params: Handle,
        count: c_int,
    ) {
        eigh_room(handle, (job, triangle), Square { n, at, leading, count }, to, params)
    }

    fn cusolverDnDsyevjBatched(
        handle: Handle, job: c_int, triangle: c_int, n: c_int, at: u64, leading: c_int, values: u64, work: u64, room: c_int, info: u64,
        params: Handle, count: c_int,
    ) {
        let a = Square { n, at, leading, count };
        eigh("cusolverDnDsyevjBatched", Format::F64, handle, (job, triangle), a, values, (work, room), info, params)
    }

    fn cusolverDnCheevjBatched_bufferSize(
        handle: Handle, job: c_int, triangle: c_int, n: c_int, at: u64, leading: c_int, _values: u64, to: *mut c_int, params: Handle,
        count: c_int,
    ) {
        eigh_room(handle, (job, triangle), Square { n, at, leading, count }, to, params)
    }

    fn cusolverDnCheevjBatched(
        handle: Handle, job: c_int, triangle: c_int, n: c_int, at: u64, leading: c_int, values: u64, work: u64, room: c_int, info: u64,
        params: Handle, count: c_int,
    ) {
        let a = Square { n, at, leading, count };
        eigh("cusolverDnCheevjBatched", Format::C32, handle, (job, triangle), a, values, (work, room), info, params)
    }

    fn cusolverDnZheevjBatched_bufferSize(
        handle: Handle, job: c_int, triangle: c_int, n: c_int, at: u64, leading: c_int, _values: u64, to: *mut c_int, params: Handle,
        count: c_int,
    ) {
        eigh_room(handle, (job, triangle), Square { n, at, leading, count }, to, params)
    }

    fn cusolverDnZheevjBatched(
        handle: Handle, job: c_int, triangle: c_int, n: c_int, at: u64, leading: c_int, values: u64, work: u64, room: c_int, info: u64,
        params: Handle, count: c_int,
    ) {
        let a = Square { n, at, leading, count };
        eigh("cusolverDnZheevjBatched", Format::C64, handle, (job, triangle), a, values, (work, room), info, params)
    }

    fn cusolverDnSgesvdjBatched_bufferSize(
        handle: Handle, job: c_int, m: c_int, n: c_int, at: u64, leading: c_int, _values: u64, left: u64, left_leading: c_int,
        right: u64, right_leading: c_int, to: *mut c_int, params: Handle, count: c_int,
    ) {
        let a = Tall { m, n, at, leading, left: (left, left_leading), right: (right, right_leading), count };
        svd_room(handle, job, a, to, params)
    }

    fn cusolverDnSgesvdjBatched(
        handle: Handle, job: c_int, m: c_int, n: c_int, at: u64, leading: c_int, values: u64, left: u64, left_leading: c_int,
        right: u64, right_leading: c_int, work: u64, room: c_int, info: u64, params: Handle, count: c_int,
    ) {
        let a = Tall { m, n, at, leading, left: (left, left_leading), right: (right, right_leading), count };
        svd("cusolverDnSgesvdjBatched", Format::F32, handle, job, a, values, (work, room), info, params)
    }

    fn cusolverDnDgesvdjBatched_bufferSize(
        handle: Handle, job: c_int, m: c_int, n: c_int, at: u64, leading: c_int, _values: u64, left: u64, left_leading: c_int,
        right: u64, right_leading: c_int, to: *mut c_int, params: Handle, count: c_int,
    ) {
        let a = Tall { m, n, at, leading, left: (left, left_leading), right: (right, right_leading), count };
        svd_room(handle, job, a, to, params)
    }

    fn cusolverDnDgesvdjBatched(
        handle: Handle, job: c_int, m: c_int, n: c_int, at: u64, leading: c_int, values: u64, left: u64, left_leading: c_int,
        right: u64, right_leading: c_int, work: u64, room: c_int, info: u64, params: Handle, count: c_int,
    ) {
        let a = Tall { m, n, at, leading, left: (left, left_leading), right: (right, right_leading), count };
        svd("cusolverDnDgesvdjBatched", Format::F64, handle, job, a, values, (work, room), info, params)
    }

    fn cusolverDnCgesvdjBatched_bufferSize(
        handle: Handle, job: c_int, m: c_int, n: c_int, at: u64, leading: c_int, _values: u64, left: u64, left_leading: c_int,
        right: u64, right_leading: c_int, to: *mut c_int, params: Handle, count: c_int,
    ) {
        let a = Tall { m, n, at, leading, left: (left, left_leading), right: (right, right_leading), count };
        svd_room(handle, job, a, to, params)
    }

    fn cusolverDnCgesvdjBatched(
        handle: Handle, job: c_int, m: c_int, n: c_int, at: u64, leading: c_int, values: u64, left: u64, left_leading: c_int,
        right: u64, right_leading: c_int, work: u64, room: c_int, info: u64, params: Handle, count: c_int,
    ) {
        let a = Tall { m, n, at, leading, left: (left, left_leading), right: (right, right_leading), count };
        svd("cusolverDnCgesvdjBatched", Format::C32, handle, job, a, values, (work, room), info, params)
    }

    fn cusolverDnZgesvdjBatched_bufferSize(
        handle: Handle, job: c_int, m: c_int, n: c_int, at: u64, leading: c_int, _values: u64, left: u64, left_leading: c_int,
        right: u64, right_leading: c_int, to: *mut c_int, params: Handle, count: c_int,
    ) {
        let a = Tall { m, n, at, leading, left: (left, left_leading), right: (right, right_leading), count };
        svd_room(handle, job, a, to, params)
    }

    fn cusolverDnZgesvdjBatched(
        handle: Handle, job: c_int, m: c_int, n: c_int, at: u64, leading: c_int, values: u64, left: u64, left_leading: c_int,
        right: u64, right_leading: c_int, work: u64, room: c_int, info: u64, params: Handle, count: c_int,
    ) {
        let a = Tall { m, n, at, leading, left: (left, left_leading), right: (right, right_leading), count };
        svd("cusolverDnZgesvdjBatched", Format::C64, handle, job, a, values, (work, room), info, params)
    }
}
