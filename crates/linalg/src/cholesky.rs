//! The Cholesky decomposition of Hermitian, positive definite matrices.

#![allow(unsafe_code)]

use faer::Par;
use faer::linalg::cholesky::llt::factor;

use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::{Scratch, with_stack};

/// A lower triangle that times its conjugated turn is the matrix, of which the lower triangle is read.
///
/// # Safety
/// As [`crate::run`] says: the matrix, and where the triangle is stored.
pub unsafe fn lower<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>()) };
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
