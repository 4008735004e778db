//! cuSOLVER's dense part: handles and factorizations, most by its 64-bit interface. What they compute is in `libraries`.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::{c_char, c_int, c_void};

use super::calls;
use crate::driver::Outcome;
use crate::driver::context::Context;
use crate::driver::handles::Handle;
use crate::exec::fault::Fault;
use crate::libraries::dense::{self, Turn};
use crate::libraries::memory::{Matrix, Row, load_integers, spoil, store_integers};
use crate::libraries::number::{Format, Number};
use crate::libraries::spectral;
use crate::libraries::{self, Held, Kind};

pub(super) const NOT_INITIALIZED: u32 = 1;
pub(super) const INVALID_VALUE: u32 = 3;
const EXECUTION_FAILED: u32 = 6;
const NOT_SUPPORTED: u32 = 9;

pub(super) fn held(handle: Handle) -> Outcome<Held> {
    libraries::held(Kind::Solver, handle).ok_or(NOT_INITIALIZED)
}

/// The handle, if the parameters are such.
fn held_with(handle: Handle, params: Handle) -> Outcome<Held> {
    libraries::held(Kind::SolverParams, params).ok_or(INVALID_VALUE)?;
    held(handle)
}

pub(super) fn enqueue(held: Held, name: &'static str, run: impl Fn(&Context) -> Result<(), Fault> + Send + Sync + 'static) -> Outcome {
    libraries::enqueue(held, name, run).ok_or(EXECUTION_FAILED)
}

pub(super) fn check(holds: bool) -> Outcome {
    if holds { Ok(()) } else { Err(INVALID_VALUE) }
}

/// The format of a matrix in which it is computed, too.
fn format(data: c_int, compute: c_int) -> Outcome<Format> {
    let found = Format::of(data).filter(|found| !matches!(found, Format::F16 | Format::BF16));
    found.filter(|_| data == compute).ok_or(NOT_SUPPORTED)
}

pub(super) fn is_lower(triangle: c_int) -> Outcome<bool> {
    match triangle {
        0 => Ok(true),
        1 => Ok(false),
        _ => Err(INVALID_VALUE),
    }
}

pub(super) fn wants_vectors(job: c_int) -> Outcome<bool> {
    match job {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(INVALID_VALUE),
    }
}

/// What the double asks for as a workspace: on the device, and in the host's memory.
fn room(rows: i64, columns: i64) -> (usize, usize) {
    (512 + 8 * (rows + columns) as usize, 32 + columns as usize)
}

unsafe fn tell_room((device, host): (usize, usize), on_device: *mut usize, on_host: *mut usize) -> Outcome {
    check(!on_device.is_null() && !on_host.is_null())?;
    // SAFETY: not null, and the caller says they may be written.
    unsafe {
        on_device.write(device);
        on_host.write(host);
    }
    Ok(())
}

/// Workspaces as a call is given them.
#[derive(Clone, Copy)]
struct Room {
    device: u64,
    bytes: usize,
    host: *mut c_void,
    host_bytes: usize,
}

impl Room {
    fn new(device: u64, bytes: usize, host: *mut c_void, host_bytes: usize) -> Room {
        Room {
            device,
            bytes,
            host,
            host_bytes,
        }
    }

    /// Refuses too little of it, and overwrites that of the host; gives what the stream overwrites.
    unsafe fn check(self, (bytes, host_bytes): (usize, usize)) -> Outcome<(u64, usize)> {
        check(self.bytes >= bytes && self.host_bytes >= host_bytes && self.device != 0 && !self.host.is_null())?;
        // SAFETY: the caller gave so much room.
        unsafe { self.host.cast::<u8>().write_bytes(0xee, host_bytes) };
        Ok((self.device, self.bytes))
    }
}

fn flag(context: &Context, info: u64, value: usize) -> Result<(), Fault> {
    store_integers(context, info, 4, &[value as i64])
}

pub(super) fn real(numbers: &[f64]) -> Vec<Number> {
    numbers.iter().map(|&x| Number::new(x, 0.0)).collect()
}

fn potrf(name: &'static str, held: Held, lower: bool, n: usize, at: Row, leading: usize, room: (u64, usize), info: u64) -> Outcome {
    enqueue(held, name, move |context| {
        spoil(context, room.0, room.1)?;
        let mut a = Matrix::load(context, at, n, n, leading)?;
        let failed = dense::cholesky(&mut a, lower);
        a.store(context, at, leading)?;
        flag(context, info, failed)
    })
}

unsafe fn potrf_batched(
    name: &'static str,
    format: Format,
    handle: Handle,
    triangle: c_int,
    n: c_int,
    list: u64,
    leading: c_int,
    info: u64,
    count: c_int,
) -> Outcome {
    let (held, lower) = (held(handle)?, is_lower(triangle)?);
    check(n >= 0 && leading >= n.max(1) && count >= 0)?;
    enqueue(held, name, move |context| {
        let addresses = load_integers(context, list, 8, count as usize)?;
        for (index, address) in addresses.into_iter().enumerate() {
            let at = Row::new(address as u64, format);
            let mut a = Matrix::load(context, at, n as usize, n as usize, leading as usize)?;
            let failed = dense::cholesky(&mut a, lower);
            a.store(context, at, leading as usize)?;
            flag(context, info + 4 * index as u64, failed)?;
        }
        Ok(())
    })
}

unsafe fn orgqr_room(handle: Handle, m: c_int, n: c_int, k: c_int, leading: c_int, to: *mut c_int) -> Outcome {
    held(handle)?;
    check(0 <= k && k <= n && n <= m && leading >= m.max(1) && !to.is_null())?;
    // SAFETY: not null, and the caller says it may be written.
    unsafe { to.write(64 + n) };
    Ok(())
}

unsafe fn orgqr(
    name: &'static str,
    format: Format,
    handle: Handle,
    (m, n, k): (c_int, c_int, c_int),
    (a, leading): (u64, c_int),
    scales: u64,
    (work, count): (u64, c_int),
    info: u64,
) -> Outcome {
    let held = held(handle)?;
    check(0 <= k && k <= n && n <= m && leading >= m.max(1) && count >= 64 + n)?;
    enqueue(held, name, move |context| {
        spoil(context, work, count as usize * format.bytes())?;
        let at = Row::new(a, format);
        let mut matrix = Matrix::load(context, at, m as usize, n as usize, leading as usize)?;
        let scales = Row::new(scales, format).load(context, k as usize)?;
        dense::orthogonal(&mut matrix, &scales);
        matrix.store(context, at, leading as usize)?;
        flag(context, info, 0)
    })
}

calls! {
    fn cusolverDnCreate(to: *mut Handle) {
        check(!to.is_null())?;
        to.write(libraries::create(Kind::Solver).ok_or(NOT_INITIALIZED)?);
        Ok(())
    }

    fn cusolverDnDestroy(handle: Handle) {
        if libraries::destroy(Kind::Solver, handle) { Ok(()) } else { Err(NOT_INITIALIZED) }
    }

    fn cusolverDnSetStream(handle: Handle, stream: Handle) {
        if libraries::set_stream(Kind::Solver, handle, stream) { Ok(()) } else { Err(NOT_INITIALIZED) }
    }

    fn cusolverDnCreateParams(to: *mut Handle) {
        check(!to.is_null())?;
        to.write(libraries::create(Kind::SolverParams).ok_or(NOT_INITIALIZED)?);
        Ok(())
    }

    fn cusolverDnDestroyParams(handle: Handle) {
        check(libraries::destroy(Kind::SolverParams, handle))
    }

    fn cusolverDnXpotrf_bufferSize(
        handle: Handle, params: Handle, triangle: c_int, n: i64, data: c_int, _a: u64, leading: i64, compute: c_int,
        on_device: *mut usize, on_host: *mut usize,
    ) {
        held_with(handle, params)?;
        format(data, compute)?;
        is_lower(triangle)?;
        check(n >= 0 && leading >= n.max(1))?;
        tell_room(room(n, n), on_device, on_host)
    }

    fn cusolverDnXpotrf(
        handle: Handle, params: Handle, triangle: c_int, n: i64, data: c_int, a: u64, leading: i64, compute: c_int,
        device: u64, bytes: usize, host: *mut c_void, host_bytes: usize, info: u64,
    ) {
        let (held, format, lower) = (held_with(handle, params)?, format(data, compute)?, is_lower(triangle)?);
        check(n >= 0 && leading >= n.max(1))?;
        let room = Room::new(device, bytes, host, host_bytes).check(room(n, n))?;
        potrf("cusolverDnXpotrf", held, lower, n as usize, Row::new(a, format), leading as usize, room, info)
    }

    fn cusolverDnXgetrf_bufferSize(
        handle: Handle, params: Handle, m: i64, n: i64, data: c_int, _a: u64, leading: i64, compute: c_int,
        on_device: *mut usize, on_host: *mut usize,
    ) {
        held_with(handle, params)?;
        format(data, compute)?;
        check(m >= 0 && n >= 0 && leading >= m.max(1))?;
        tell_room(room(m, n), on_device, on_host)
    }

    fn cusolverDnXgetrf(
        handle: Handle, params: Handle, m: i64, n: i64, data: c_int, a: u64, leading: i64, pivots: u64, compute: c_int,
        device: u64, bytes: usize, host: *mut c_void, host_bytes: usize, info: u64,
    ) {
        let (held, format) = (held_with(handle, params)?, format(data, compute)?);
        check(m >= 0 && n >= 0 && leading >= m.max(1))?;
        let room = Room::new(device, bytes, host, host_bytes).check(room(m, n))?;
        enqueue(held, "cusolverDnXgetrf", move |context| {
            spoil(context, room.0, room.1)?;
            let at = Row::new(a, format);
            let mut matrix = Matrix::load(context, at, m as usize, n as usize, leading as usize)?;
            let (exchanged, failed) = dense::lu(&mut matrix);
            matrix.store(context, at, leading as usize)?;
            store_integers(context, pivots, 8, &exchanged)?;
            flag(context, info, failed)
        })
    }

    fn cusolverDnXgetrs(
        handle: Handle, params: Handle, turn: c_int, n: i64, sides: i64, data: c_int, a: u64, a_leading: i64, pivots: u64,
        b_data: c_int, b: u64, b_leading: i64, info: u64,
    ) {
        let (held, format) = (held_with(handle, params)?, format(data, b_data)?);
        let turn = Turn::of(turn).ok_or(INVALID_VALUE)?;
        check(n >= 0 && sides >= 0 && a_leading >= n.max(1) && b_leading >= n.max(1))?;
        enqueue(held, "cusolverDnXgetrs", move |context| {
            let factors = Matrix::load(context, Row::new(a, format), n as usize, n as usize, a_leading as usize)?;
            let exchanged = load_integers(context, pivots, 8, n as usize)?;
            let at = Row::new(b, format);
            let mut solved = Matrix::load(context, at, n as usize, sides as usize, b_leading as usize)?;
            dense::lu_solve(&factors, &exchanged, turn, &mut solved);
            solved.store(context, at, b_leading as usize)?;
            flag(context, info, 0)
        })
    }

    fn cusolverDnXgeqrf_bufferSize(
        handle: Handle, params: Handle, m: i64, n: i64, data: c_int, _a: u64, leading: i64, scale_data: c_int, _scales: u64,
        compute: c_int, on_device: *mut usize, on_host: *mut usize,
    ) {
        held_with(handle, params)?;
        format(data, compute)?;
        format(data, scale_data)?;
        check(m >= 0 && n >= 0 && leading >= m.max(1))?;
        tell_room(room(m, n), on_device, on_host)
    }

    fn cusolverDnXgeqrf(
        handle: Handle, params: Handle, m: i64, n: i64, data: c_int, a: u64, leading: i64, scale_data: c_int, scales: u64,
        compute: c_int, device: u64, bytes: usize, host: *mut c_void, host_bytes: usize, info: u64,
    ) {
        let (held, format) = (held_with(handle, params)?, format(data, compute).and_then(|_| format(data, scale_data))?);
        check(m >= 0 && n >= 0 && leading >= m.max(1))?;
        let room = Room::new(device, bytes, host, host_bytes).check(room(m, n))?;
        enqueue(held, "cusolverDnXgeqrf", move |context| {
            spoil(context, room.0, room.1)?;
            let at = Row::new(a, format);
            let mut matrix = Matrix::load(context, at, m as usize, n as usize, leading as usize)?;
            let found = dense::qr(&mut matrix);
            matrix.store(context, at, leading as usize)?;
            Row::new(scales, format).store(context, &found)?;
            flag(context, info, 0)
        })
    }

    fn cusolverDnXsyevd_bufferSize(
        handle: Handle, params: Handle, job: c_int, triangle: c_int, n: i64, data: c_int, _a: u64, leading: i64, value_data: c_int,
        _values: u64, compute: c_int, on_device: *mut usize, on_host: *mut usize,
    ) {
        held_with(handle, params)?;
        let found = format(data, compute)?;
        wants_vectors(job)?;
        is_lower(triangle)?;
        check(n >= 0 && leading >= n.max(1) && Format::of(value_data) == Some(found.real()))?;
        tell_room(room(n, n), on_device, on_host)
    }

    fn cusolverDnXsyevd(
        handle: Handle, params: Handle, job: c_int, triangle: c_int, n: i64, data: c_int, a: u64, leading: i64, value_data: c_int,
        values: u64, compute: c_int, device: u64, bytes: usize, host: *mut c_void, host_bytes: usize, info: u64,
    ) {
        let (held, format) = (held_with(handle, params)?, format(data, compute)?);
        let (vectors, lower) = (wants_vectors(job)?, is_lower(triangle)?);
        check(n >= 0 && leading >= n.max(1) && Format::of(value_data) == Some(format.real()))?;
        let room = Room::new(device, bytes, host, host_bytes).check(room(n, n))?;
        enqueue(held, "cusolverDnXsyevd", move |context| {
            spoil(context, room.0, room.1)?;
            let at = Row::new(a, format);
            let matrix = Matrix::load(context, at, n as usize, n as usize, leading as usize)?;
            let Some((found, columns)) = spectral::eigh(&matrix, lower) else { return flag(context, info, 1) };
            Row::new(values, format.real()).store(context, &real(&found))?;
            // Without vectors what was there is lost as well.
            let lost = Matrix::zeros(matrix.rows, matrix.columns);
            (if vectors { &columns } else { &lost }).store(context, at, leading as usize)?;
            flag(context, info, 0)
        })
    }

    fn cusolverDnXgesvd_bufferSize(
        handle: Handle, params: Handle, left_job: c_char, right_job: c_char, m: i64, n: i64, data: c_int, _a: u64, leading: i64,
        value_data: c_int, _values: u64, left_data: c_int, _left: u64, left_leading: i64, right_data: c_int, _right: u64,
        right_leading: i64, compute: c_int, on_device: *mut usize, on_host: *mut usize,
    ) {
        held_with(handle, params)?;
        let found = format(data, compute)?;
        check_svd(found, (left_job as u8, right_job as u8), (m, n), leading, value_data, (left_data, left_leading), (right_data, right_leading))?;
        tell_room(room(m, n), on_device, on_host)
    }

    fn cusolverDnXgesvd(
        handle: Handle, params: Handle, left_job: c_char, right_job: c_char, m: i64, n: i64, data: c_int, a: u64, leading: i64,
        value_data: c_int, values: u64, left_data: c_int, left: u64, left_leading: i64, right_data: c_int, right: u64,
        right_leading: i64, compute: c_int, device: u64, bytes: usize, host: *mut c_void, host_bytes: usize, info: u64,
    ) {
        let (held, format) = (held_with(handle, params)?, format(data, compute)?);
        let jobs = (left_job as u8, right_job as u8);
        check_svd(format, jobs, (m, n), leading, value_data, (left_data, left_leading), (right_data, right_leading))?;
        let room = Room::new(device, bytes, host, host_bytes).check(room(m, n))?;
        enqueue(held, "cusolverDnXgesvd", move |context| {
            spoil(context, room.0, room.1)?;
            let at = Row::new(a, format);
            let matrix = Matrix::load(context, at, m as usize, n as usize, leading as usize)?;
            Matrix::zeros(matrix.rows, matrix.columns).store(context, at, leading as usize)?;
            let Some((mut vectors, found, columns)) = spectral::svd(&matrix) else { return flag(context, info, 1) };
            Row::new(values, format.real()).store(context, &real(&found))?;
            if jobs.0 != b'N' {
                let kept = if jobs.0 == b'A' { m } else { n } as usize;
                vectors.numbers.truncate(kept * vectors.rows);
                vectors.columns = kept;
                vectors.store(context, Row::new(left, format), left_leading as usize)?;
            }
            if jobs.1 != b'N' {
                let mut rows = columns.clone();
                for row in 0..rows.rows {
                    (0..rows.columns).for_each(|column| rows.set(row, column, columns.get(column, row).conj()));
                }
                rows.store(context, Row::new(right, format), right_leading as usize)?;
            }
            flag(context, info, 0)
        })
    }

    fn cusolverDnSorgqr_bufferSize(handle: Handle, m: c_int, n: c_int, k: c_int, _a: u64, leading: c_int, _tau: u64, to: *mut c_int) {
        orgqr_room(handle, m, n, k, leading, to)
    }

    fn cusolverDnDorgqr_bufferSize(handle: Handle, m: c_int, n: c_int, k: c_int, _a: u64, leading: c_int, _tau: u64, to: *mut c_int) {
        orgqr_room(handle, m, n, k, leading, to)
    }

    fn cusolverDnCungqr_bufferSize(handle: Handle, m: c_int, n: c_int, k: c_int, _a: u64, leading: c_int, _tau: u64, to: *mut c_int) {
        orgqr_room(handle, m, n, k, leading, to)
    }

    fn cusolverDnZungqr_bufferSize(handle: Handle, m: c_int, n: c_int, k: c_int, _a: u64, leading: c_int, _tau: u64, to: *mut c_int) {
        orgqr_room(handle, m, n, k, leading, to)
    }

    fn cusolverDnSorgqr(
        handle: Handle, m: c_int, n: c_int, k: c_int, a: u64, leading: c_int, tau: u64, work: u64, count: c_int, info: u64,
    ) {
        orgqr("cusolverDnSorgqr", Format::F32, handle, (m, n, k), (a, leading), tau, (work, count), info)
    }

    fn cusolverDnDorgqr(
        handle: Handle, m: c_int, n: c_int, k: c_int, a: u64, leading: c_int, tau: u64, work: u64, count: c_int, info: u64,
    ) {
        orgqr("cusolverDnDorgqr", Format::F64, handle, (m, n, k), (a, leading), tau, (work, count), info)
    }

    fn cusolverDnCungqr(
        handle: Handle, m: c_int, n: c_int, k: c_int, a: u64, leading: c_int, tau: u64, work: u64, count: c_int, info: u64,
    ) {
        orgqr("cusolverDnCungqr", Format::C32, handle, (m, n, k), (a, leading), tau, (work, count), info)
    }

    fn cusolverDnZungqr(
        handle: Handle, m: c_int, n: c_int, k: c_int, a: u64, leading: c_int, tau: u64, work: u64, count: c_int, info: u64,
    ) {
        orgqr("cusolverDnZungqr", Format::C64, handle, (m, n, k), (a, leading), tau, (work, count), info)
    }

    fn cusolverDnSpotrfBatched(handle: Handle, triangle: c_int, n: c_int, list: u64, leading: c_int, info: u64, count: c_int) {
        potrf_batched("cusolverDnSpotrfBatched", Format::F32, handle, triangle, n, list, leading, info, count)
    }

    fn cusolverDnDpotrfBatched(handle: Handle, triangle: c_int, n: c_int, list: u64, leading: c_int, info: u64, count: c_int) {
        potrf_batched("cusolverDnDpotrfBatched", Format::F64, handle, triangle, n, list, leading, info, count)
    }

    fn cusolverDnCpotrfBatched(handle: Handle, triangle: c_int, n: c_int, list: u64, leading: c_int, info: u64, count: c_int) {
        potrf_batched("cusolverDnCpotrfBatched", Format::C32, handle, triangle, n, list, leading, info, count)
    }

    fn cusolverDnZpotrfBatched(handle: Handle, triangle: c_int, n: c_int, list: u64, leading: c_int, info: u64, count: c_int) {
        potrf_batched("cusolverDnZpotrfBatched", Format::C64, handle, triangle, n, list, leading, info, count)
    }
}

/// What the two calls for singular values refuse. Overwriting the matrix by vectors (job O) is not done here.
fn check_svd(
    format: Format,
    jobs: (u8, u8),
    (m, n): (i64, i64),
    leading: i64,
    values: c_int,
    (left_data, left): (c_int, i64),
    (right_data, right): (c_int, i64),
) -> Outcome {
    check(matches!(jobs.0, b'A' | b'S' | b'N') && matches!(jobs.1, b'A' | b'S' | b'N'))?;
    check(n >= 0 && m >= n && leading >= m.max(1))?;
    check(Format::of(values) == Some(format.real()) && Format::of(left_data) == Some(format) && Format::of(right_data) == Some(format))?;
    check(jobs.0 == b'N' || left >= m.max(1))?;
    check(jobs.1 == b'N' || right >= n.max(1))
}
