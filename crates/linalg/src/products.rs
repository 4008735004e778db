//! Products of matrices: small ones by kernels of our own, others by faer's.

#![allow(unsafe_code)]

use faer::linalg::matmul::matmul as multiply;
use faer::prelude::Reborrow;
use faer::{Accum, MatMut, MatRef, Par};

use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::zeros;
use crate::small::Job;
use crate::small::ahead::Ahead;

/// Multiplications up to which a product is small: its matrices lie in the second cache, and packing them would not pay.
const SMALL: usize = 128 * 128 * 128;

/// The product of two matrices.
///
/// # Safety
/// As [`crate::run`] says: the two, and where their product is stored.
pub unsafe fn matmul<T: Element>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (a, b, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix::<T>(), items[2].matrix_mut::<T>()) };
    let (m, k, n) = (a.nrows(), a.ncols(), b.ncols());
    if m == 0 || k == 0 || n == 0 {
        // There is nothing to point at.
        out.fill(T::zero_impl());
        return Ok(());
    }
    let is_small = m.checked_mul(k).and_then(|mk| mk.checked_mul(n)).is_some_and(|work| work <= SMALL);
    if is_small && small(a, b, out.rb(), || Ahead::new([0, 1, 2].map(|at: usize| items[at].ahead::<T>())))? {
        return Ok(());
    }
    multiply(out, Accum::Replace, a, b, T::one_impl(), par);
    Ok(())
}

/// Does a small product, if the element type has a kernel on this machine and the result has rows of neighbouring elements.
fn small<T: Element>(a: MatRef<'_, T>, b: MatRef<'_, T>, out: MatRef<'_, T>, ahead: impl Fn() -> Ahead) -> Result<bool, Failure> {
    if out.col_stride() != 1 && out.ncols() > 1 {
        return Ok(false);
    }
    let (k, n) = b.shape();
    let packed;
    let (rows, row_step) = if b.col_stride() == 1 || n <= 1 {
        (b.as_ptr(), b.row_stride())
    } else {
        let mut memory = zeros::<T>(k * n)?;
        MatMut::from_row_major_slice_mut(&mut memory, k, n).copy_from(b);
        packed = memory;
        (packed.as_ptr(), n as isize)
    };
    let job = Job {
        m: a.nrows(),
        k,
        n,
        a: a.as_ptr(),
        a_row: a.row_stride(),
        a_col: a.col_stride(),
        b: rows,
        b_row: row_step,
        c: out.as_ptr().cast_mut(),
        c_row: out.row_stride(),
        adds: false,
        ahead: ahead(),
    };
    Ok(T::small_product(&job))
}
