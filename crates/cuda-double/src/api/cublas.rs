//! cuBLAS: handles, products, and LU factorizations of stacks of small matrices. What they compute is in `libraries`.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::{c_char, c_int, c_void};

use super::calls;
use crate::driver::Outcome;
use crate::driver::context::Context;
use crate::driver::handles::Handle;
use crate::exec::fault::Fault;
use crate::libraries::dense::{self, Turn};
use crate::libraries::memory::{Matrix, Row, load_integers, store_integers};
use crate::libraries::number::{Format, Number, ZERO};
use crate::libraries::{self, Held, Kind};

const NOT_INITIALIZED: u32 = 1;
const INVALID_VALUE: u32 = 7;
const EXECUTION_FAILED: u32 = 13;
const NOT_SUPPORTED: u32 = 15;

/// `cublasComputeType_t`
const COMPUTE_32F: [c_int; 2] = [68, 69];
const COMPUTE_32F_FAST: [c_int; 3] = [74, 75, 77];
const COMPUTE_64F: [c_int; 2] = [70, 71];

fn held(handle: Handle) -> Outcome<Held> {
    libraries::held(Kind::Blas, handle).ok_or(NOT_INITIALIZED)
}

fn enqueue(held: Held, name: &'static str, run: impl Fn(&Context) -> Result<(), Fault> + Send + Sync + 'static) -> Outcome {
    libraries::enqueue(held, name, run).ok_or(EXECUTION_FAILED)
}

fn check(holds: bool) -> Outcome {
    if holds { Ok(()) } else { Err(INVALID_VALUE) }
}

/// Where the matrices of a stack lie.
#[derive(Clone, Copy)]
enum Stack {
    /// So many elements apart.
    Strided(u64, i64),
    /// At the addresses that lie in an array on the device.
    Listed(u64),
}

impl Stack {
    fn at(self, context: &Context, index: i64, format: Format) -> Result<Row, Fault> {
        match self {
            Stack::Strided(address, stride) => Ok(Row::new(address, format).at(index * stride)),
            Stack::Listed(list) => {
                let address = load_integers(context, list.wrapping_add(8 * index as u64), 8, 1)?[0] as u64;
                Ok(Row::new(address, format))
            }
        }
    }

    fn is_null(self) -> bool {
        matches!(self, Stack::Strided(0, _) | Stack::Listed(0))
    }
}

/// An operand of a product.
#[derive(Clone, Copy)]
struct Operand {
    stack: Stack,
    format: c_int,
    leading: i64,
    turn: c_int,
}

fn operand(stack: Stack, format: c_int, leading: i64, turn: c_int) -> Operand {
    Operand {
        stack,
        format,
        leading,
        turn,
    }
}

/// The rows and columns of an operand as it lies in memory.
fn lying(turn: Turn, rows: i64, columns: i64) -> (i64, i64) {
    if turn == Turn::None { (rows, columns) } else { (columns, rows) }
}

/// A factor in the host's memory, of the format that the product is scaled in.
unsafe fn factor(from: *const c_void, compute: c_int, to: Format) -> Outcome<Number> {
    check(!from.is_null())?;
    let format = match (COMPUTE_64F.contains(&compute), to.is_complex()) {
        (true, true) => Format::C64,
        (true, false) => Format::F64,
        (false, true) => Format::C32,
        (false, false) => Format::F32,
    };
    // SAFETY: not null, and the caller's promise for the rest.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), format.bytes()) };
    Ok(format.load(bytes))
}

/// The combinations of formats that are documented for floats.
fn supported(compute: c_int, a: Format, b: Format, c: Format) -> bool {
    use Format::*;
    let pair = (a, c);
    a == b
        && if COMPUTE_64F.contains(&compute) {
            matches!(pair, (F64, F64) | (C64, C64))
        } else if COMPUTE_32F.contains(&compute) {
            matches!(pair, (BF16, BF16 | F32) | (F16, F16 | F32) | (F32, F32) | (C32, C32))
        } else {
            COMPUTE_32F_FAST.contains(&compute) && matches!(pair, (F32, F32) | (C32, C32))
        }
}

unsafe fn gemm(
    name: &'static str,
    handle: Handle,
    (m, n, k): (i64, i64, i64),
    count: i64,
    alpha: *const c_void,
    a: Operand,
    b: Operand,
    beta: *const c_void,
    c: Operand,
    compute: c_int,
) -> Outcome {
    let held = held(handle)?;
    check(m >= 0 && n >= 0 && k >= 0 && count >= 0)?;
    let turn_a = Turn::of(a.turn).ok_or(INVALID_VALUE)?;
    let turn_b = Turn::of(b.turn).ok_or(INVALID_VALUE)?;
    let (a_rows, a_columns) = lying(turn_a, m, k);
    let (b_rows, b_columns) = lying(turn_b, k, n);
    check(a.leading >= a_rows.max(1) && b.leading >= b_rows.max(1) && c.leading >= m.max(1))?;
    let format = |number: c_int| Format::of(number).ok_or(NOT_SUPPORTED);
    let (a_format, b_format, c_format) = (format(a.format)?, format(b.format)?, format(c.format)?);
    if !supported(compute, a_format, b_format, c_format) {
        return Err(NOT_SUPPORTED);
    }
    // SAFETY: the caller's promise.
    let (alpha, beta) = unsafe { (factor(alpha, compute, c_format)?, factor(beta, compute, c_format)?) };
    check(m == 0 || n == 0 || count == 0 || !c.stack.is_null())?;
    check(m == 0 || n == 0 || k == 0 || count == 0 || !(a.stack.is_null() || b.stack.is_null()))?;
    let rounds = COMPUTE_32F_FAST.contains(&compute);
    let size = |x: i64| x as usize;
    enqueue(held, name, move |context| {
        for index in 0..if m == 0 || n == 0 { 0 } else { count } {
            let load = |operand: Operand, format, rows, columns| -> Result<Matrix, Fault> {
                let from = operand.stack.at(context, index, format)?;
                let mut found = Matrix::load(context, from, size(rows), size(columns), size(operand.leading))?;
                if rounds {
                    found.numbers.iter_mut().for_each(|x| *x = dense::to_tensor_float(*x));
                }
                Ok(found)
            };
            let (left, right) = (load(a, a_format, a_rows, a_columns)?, load(b, b_format, b_rows, b_columns)?);
            let mut found = dense::product(alpha, &left, turn_a, &right, turn_b, (size(m), size(n), size(k)));
            let to = c.stack.at(context, index, c_format)?;
            // What is there is not looked at if it counts for nothing.
            if beta != ZERO {
                let before = Matrix::load(context, to, size(m), size(n), size(c.leading))?;
                for (number, old) in found.numbers.iter_mut().zip(before.numbers) {
                    *number = *number + beta * old;
                }
            }
            found.store(context, to, size(c.leading))?;
        }
        Ok(())
    })
}

unsafe fn getrf(
    name: &'static str,
    format: Format,
    handle: Handle,
    n: c_int,
    a: u64,
    leading: c_int,
    pivots: u64,
    info: u64,
    count: c_int,
) -> Outcome {
    let held = held(handle)?;
    check(n >= 0 && count >= 0 && leading >= n.max(1))?;
    enqueue(held, name, move |context| {
        for index in 0..i64::from(count) {
            let at = Stack::Listed(a).at(context, index, format)?;
            let mut matrix = Matrix::load(context, at, n as usize, n as usize, leading as usize)?;
            let (exchanged, failed) = dense::lu(&mut matrix);
            matrix.store(context, at, leading as usize)?;
            // Without a place for pivots the factorization is one without pivoting, which the double does not do.
            store_integers(context, pivots + 4 * (index * i64::from(n)) as u64, 4, &exchanged)?;
            store_integers(context, info + 4 * index as u64, 4, &[failed as i64])?;
        }
        Ok(())
    })
}

unsafe fn getrs(
    name: &'static str,
    format: Format,
    handle: Handle,
    turn: c_int,
    (n, sides): (c_int, c_int),
    (a, a_leading): (u64, c_int),
    pivots: u64,
    (b, b_leading): (u64, c_int),
    info: *mut c_int,
    count: c_int,
) -> Outcome {
    let held = held(handle)?;
    let turn = Turn::of(turn).ok_or(INVALID_VALUE)?;
    check(!info.is_null())?;
    let places = [
        (n < 0, 2),
        (sides < 0, 3),
        (a_leading < n.max(1), 5),
        (b_leading < n.max(1), 8),
        (count < 0, 10),
    ];
    let wrong = places.iter().find(|(wrong, _)| *wrong).map_or(0, |(_, place)| -place);
    // SAFETY: not null; it is in the host's memory.
    unsafe { info.write(wrong) };
    check(wrong == 0)?;
    enqueue(held, name, move |context| {
        for index in 0..i64::from(count) {
            let factors = Stack::Listed(a).at(context, index, format)?;
            let factors = Matrix::load(context, factors, n as usize, n as usize, a_leading as usize)?;
            let exchanged = load_integers(context, pivots + 4 * (index * i64::from(n)) as u64, 4, n as usize)?;
            let at = Stack::Listed(b).at(context, index, format)?;
            let mut solved = Matrix::load(context, at, n as usize, sides as usize, b_leading as usize)?;
            dense::lu_solve(&factors, &exchanged, turn, &mut solved);
            solved.store(context, at, b_leading as usize)?;
        }
        Ok(())
    })
}

calls! {
    fn cublasCreate_v2(to: *mut Handle) {
        check(!to.is_null())?;
        to.write(libraries::create(Kind::Blas).ok_or(NOT_INITIALIZED)?);
        Ok(())
    }

    fn cublasDestroy_v2(handle: Handle) {
        if libraries::destroy(Kind::Blas, handle) { Ok(()) } else { Err(NOT_INITIALIZED) }
    }

    fn cublasSetStream_v2(handle: Handle, stream: Handle) {
        if libraries::set_stream(Kind::Blas, handle, stream) { Ok(()) } else { Err(NOT_INITIALIZED) }
    }

    fn cublasSetMathMode(handle: Handle, mode: c_int) {
        held(handle)?;
        check(matches!(mode & !16, 0..=4 | 8))
    }

    fn cublasGetVersion_v2(handle: Handle, to: *mut c_int) {
        held(handle)?;
        check(!to.is_null())?;
        to.write(130_000);
        Ok(())
    }

    fn cublasGemmEx_64(
        handle: Handle, turn_a: c_int, turn_b: c_int, m: i64, n: i64, k: i64, alpha: *const c_void,
        a: u64, a_format: c_int, a_leading: i64, b: u64, b_format: c_int, b_leading: i64, beta: *const c_void,
        c: u64, c_format: c_int, c_leading: i64, compute: c_int, _algorithm: c_int,
    ) {
        let a = operand(Stack::Strided(a, 0), a_format, a_leading, turn_a);
        let b = operand(Stack::Strided(b, 0), b_format, b_leading, turn_b);
        let c = operand(Stack::Strided(c, 0), c_format, c_leading, 0);
        gemm("cublasGemmEx_64", handle, (m, n, k), 1, alpha, a, b, beta, c, compute)
    }

    fn cublasGemmStridedBatchedEx_64(
        handle: Handle, turn_a: c_int, turn_b: c_int, m: i64, n: i64, k: i64, alpha: *const c_void,
        a: u64, a_format: c_int, a_leading: i64, a_stride: i64, b: u64, b_format: c_int, b_leading: i64, b_stride: i64,
        beta: *const c_void, c: u64, c_format: c_int, c_leading: i64, c_stride: i64, count: i64, compute: c_int, _algorithm: c_int,
    ) {
        let a = operand(Stack::Strided(a, a_stride), a_format, a_leading, turn_a);
        let b = operand(Stack::Strided(b, b_stride), b_format, b_leading, turn_b);
        let c = operand(Stack::Strided(c, c_stride), c_format, c_leading, 0);
        gemm("cublasGemmStridedBatchedEx_64", handle, (m, n, k), count, alpha, a, b, beta, c, compute)
    }

    fn cublasGemmBatchedEx_64(
        handle: Handle, turn_a: c_int, turn_b: c_int, m: i64, n: i64, k: i64, alpha: *const c_void,
        a: u64, a_format: c_int, a_leading: i64, b: u64, b_format: c_int, b_leading: i64, beta: *const c_void,
        c: u64, c_format: c_int, c_leading: i64, count: i64, compute: c_int, _algorithm: c_int,
    ) {
        let a = operand(Stack::Listed(a), a_format, a_leading, turn_a);
        let b = operand(Stack::Listed(b), b_format, b_leading, turn_b);
        let c = operand(Stack::Listed(c), c_format, c_leading, 0);
        gemm("cublasGemmBatchedEx_64", handle, (m, n, k), count, alpha, a, b, beta, c, compute)
    }

    fn cublasSgetrfBatched(handle: Handle, n: c_int, a: u64, leading: c_int, pivots: u64, info: u64, count: c_int) {
        getrf("cublasSgetrfBatched", Format::F32, handle, n, a, leading, pivots, info, count)
    }

    fn cublasDgetrfBatched(handle: Handle, n: c_int, a: u64, leading: c_int, pivots: u64, info: u64, count: c_int) {
        getrf("cublasDgetrfBatched", Format::F64, handle, n, a, leading, pivots, info, count)
    }

    fn cublasCgetrfBatched(handle: Handle, n: c_int, a: u64, leading: c_int, pivots: u64, info: u64, count: c_int) {
        getrf("cublasCgetrfBatched", Format::C32, handle, n, a, leading, pivots, info, count)
    }

    fn cublasZgetrfBatched(handle: Handle, n: c_int, a: u64, leading: c_int, pivots: u64, info: u64, count: c_int) {
        getrf("cublasZgetrfBatched", Format::C64, handle, n, a, leading, pivots, info, count)
    }

    fn cublasSgetrsBatched(
        handle: Handle, turn: c_int, n: c_int, sides: c_int, a: u64, a_leading: c_int, pivots: u64, b: u64, b_leading: c_int,
        info: *mut c_int, count: c_int,
    ) {
        getrs("cublasSgetrsBatched", Format::F32, handle, turn, (n, sides), (a, a_leading), pivots, (b, b_leading), info, count)
    }

    fn cublasDgetrsBatched(
        handle: Handle, turn: c_int, n: c_int, sides: c_int, a: u64, a_leading: c_int, pivots: u64, b: u64, b_leading: c_int,
        info: *mut c_int, count: c_int,
    ) {
        getrs("cublasDgetrsBatched", Format::F64, handle, turn, (n, sides), (a, a_leading), pivots, (b, b_leading), info, count)
    }

    fn cublasCgetrsBatched(
        handle: Handle, turn: c_int, n: c_int, sides: c_int, a: u64, a_leading: c_int, pivots: u64, b: u64, b_leading: c_int,
        info: *mut c_int, count: c_int,
    ) {
        getrs("cublasCgetrsBatched", Format::C32, handle, turn, (n, sides), (a, a_leading), pivots, (b, b_leading), info, count)
    }

    fn cublasZgetrsBatched(
        handle: Handle, turn: c_int, n: c_int, sides: c_int, a: u64, a_leading: c_int, pivots: u64, b: u64, b_leading: c_int,
        info: *mut c_int, count: c_int,
    ) {
        getrs("cublasZgetrsBatched", Format::C64, handle, turn, (n, sides), (a, a_leading), pivots, (b, b_leading), info, count)
    }
}

/// A status by its name.
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusName(status: c_int) -> *const c_char {
    let name = match status {
        0 => c"CUBLAS_STATUS_SUCCESS",
        1 => c"CUBLAS_STATUS_NOT_INITIALIZED",
        3 => c"CUBLAS_STATUS_ALLOC_FAILED",
        7 => c"CUBLAS_STATUS_INVALID_VALUE",
        8 => c"CUBLAS_STATUS_ARCH_MISMATCH",
        11 => c"CUBLAS_STATUS_MAPPING_ERROR",
        13 => c"CUBLAS_STATUS_EXECUTION_FAILED",
        14 => c"CUBLAS_STATUS_INTERNAL_ERROR",
        15 => c"CUBLAS_STATUS_NOT_SUPPORTED",
        _ => c"unknown",
    };
    name.as_ptr()
}
