//! The Cholesky decomposition of Hermitian, positive definite matrices.

#![allow(unsafe_code)]

use faer::linalg::cholesky::llt::factor;
use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef, Par};

use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::{Scratch, with_stack};
use crate::small::ahead::Ahead;
use crate::small::columns::{Columns, Kernels};
use crate::small::{self, Job};

/// A lower triangle that times its conjugated turn is the matrix, of which the lower triangle is read.
///
/// # Safety
/// As [`crate::run`] says: the matrix, and where the triangle is stored.
pub unsafe fn lower<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>()) };
    if of_small(matrix, out.rb_mut())? {
        return Ok(());
    }
    let found = factored(Scratch::lower_of(matrix)?, par)?;
    out.copy_from(found.as_ref());
    Ok(())
}

/// An upper triangle, whose conjugated turn times itself is the matrix, of which the upper triangle is read.
///
/// # Safety
/// As for [`lower`].
pub unsafe fn upper<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>()) };
    if of_small(matrix.transpose(), out.rb_mut().transpose_mut())? {
        return Ok(());
    }
    let found = factored(Scratch::turned_upper_of(matrix)?, par)?;
    out.copy_from(found.as_ref().adjoint());
    Ok(())
}

fn factored<T: Element<Re = f64>>(mut matrix: Scratch<T>, par: Par) -> Result<Scratch<T>, Failure> {
    let n = matrix.as_ref().nrows();
    let needed = factor::cholesky_in_place_scratch::<T>(n, par, Default::default());
    with_stack(needed, |stack| {
        factor::cholesky_in_place(matrix.as_mut(), Default::default(), par, stack, Default::default())
    })?
    .map_err(|_| Failure::NotPositiveDefinite)?;
    let mut triangle = matrix.as_mut();
    for col in 0..n {
        // What is not a number compares as no pivot does.
        if triangle[(col, col)].parts().0.is_nan() {
            return Err(Failure::NotPositiveDefinite);
        }
        for row in 0..col {
            triangle[(row, col)] = T::zero_impl();
        }
    }
    Ok(matrix)
}

/// Rows of matrices that lie in the nearest caches.
const SMALL: usize = 128;
/// Rows done at a time.
const BLOCK: usize = 8;

/// The lower triangle of a small real matrix, row after row of what it is turned. False, and nothing done, for others, and if the machine has no
/// vectors.
///
/// The result's memory holds both: the turned triangle, whose rows are of neighbouring elements, and beside the diagonal the triangle itself,
/// minus, whose rows are the factors of the rows before.
fn of_small<T: Element<Re = f64>>(matrix: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<bool, Failure> {
    let (Some(matrix), Some(out)) = (T::real(matrix), T::real_mut(out)) else {
        return Ok(false);
    };
    let n = matrix.nrows();
    let is_by_rows = out.col_stride() == 1;
    let step = if is_by_rows { out.row_stride() } else { out.col_stride() };
    let is_near = is_by_rows || out.row_stride() == 1;
    let (Some(kernels), true) = (Kernels::of_machine(), (1..=SMALL).contains(&n) && is_near && step >= n as isize) else {
        return Ok(false);
    };
    let (step, memory) = (step as usize, out.as_ptr_mut());
    for start in (0..n).step_by(BLOCK) {
        let rows = BLOCK.min(n - start);
        // SAFETY: places are in the result, whose rows or columns are so many steps apart, and which nobody else has.
        let is_positive = unsafe {
            for at in start..start + rows {
                // What is added to is to be something, wherever a block is.
                for col in start..at {
                    *memory.add(at * step + col) = 0.0;
                }
                for col in at..n {
                    *memory.add(at * step + col) = matrix[(col, at)];
                }
            }
            let product = Job {
                m: rows,
                k: start,
                n: n - start,
                a: memory.add(start * step),
                a_row: step as isize,
                a_col: 1,
                b: memory.add(start),
                b_row: step as isize,
                c: memory.add(start * step + start),
                c_row: step as isize,
                adds: true,
                ahead: Ahead::default(),
            };
            if start > 0 {
                small::multiply(&product);
            }
            (start..start + rows).all(|at| {
                let row = memory.add(at * step);
                let before = Columns {
                    data: memory.add(start * step + at),
                    step,
                    count: at - start,
                };
                (kernels.add)(row.add(at), n - at, before, row.add(start));
                scaled(row, memory, step, at, n)
            })
        };
        if !is_positive {
            return Err(Failure::NotPositiveDefinite);
        }
    }
    for at in 0..n {
        // SAFETY: as above.
        let row = unsafe { std::slice::from_raw_parts_mut(memory.add(at * step), n) };
        if is_by_rows {
            row[..at].iter_mut().for_each(|x| *x = -*x);
            row[at + 1..].fill(0.0);
        } else {
            row[..at].fill(0.0);
        }
    }
    Ok(true)
}

/// Divides a row from its diagonal on by the root of that, and writes what it becomes to the column below, minus; false of what has no root.
unsafe fn scaled(row: *mut f64, memory: *mut f64, step: usize, at: usize, n: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let pivot = *row.add(at);
        if pivot <= 0.0 || pivot.is_nan() {
            return false;
        }
        let root = pivot.sqrt();
        let factor = 1.0 / root;
        *row.add(at) = root;
        for col in at + 1..n {
            let found = *row.add(col) * factor;
            *row.add(col) = found;
            *memory.add(col * step + at) = -found;
        }
    }
    true
}
