//! Singular values and their vectors.

#![allow(unsafe_code)]

use faer::diag::DiagMut;
use faer::linalg::svd::bidiag::{bidiag_in_place, bidiag_in_place_scratch};
use faer::linalg::svd::{ComputeSvdVectors, SvdParams, svd, svd_scratch};
use faer::{MatRef, Par, Spec, c64};

use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::{Reduction, Scratch, with_stack, zeros};
use crate::{bidiagonal, bidiagonalise, qr};

/// Left vectors, values in falling order, and right vectors, conjugated and turned: as many of the vectors as there is room for.
///
/// # Safety
/// As [`crate::run`] says: the matrix, and where the three are stored.
pub unsafe fn all<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut left, mut right) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>(), items[3].matrix_mut::<T>()) };
    let mut lefts = Scratch::zeros(left.nrows(), left.ncols())?;
    let mut rights = Scratch::zeros(right.ncols(), right.nrows())?;
    let values = decomposed(matrix, &mut lefts, &mut rights, par)?;
    left.copy_from(lefts.as_ref());
    right.copy_from(rights.as_ref().adjoint());
    // SAFETY: the caller's promise.
    unsafe { store(&values, &items[2]) };
    Ok(())
}

/// Elements of matrices that have singular values.
pub trait Singular: Element<Re = f64> {
    /// As [`bidiagonalise::bidiagonalise`], if there is a way of our own.
    const BIDIAGONALISE: Option<Reduction<Self>>;
}

impl Singular for f64 {
    const BIDIAGONALISE: Option<Reduction<f64>> = Some(bidiagonalise::bidiagonalise);
}

impl Singular for c64 {
    const BIDIAGONALISE: Option<Reduction<c64>> = None;
}

/// Values alone.
///
/// # Safety
/// As for [`all`].
pub unsafe fn values<T: Singular>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<f64>()) };
    let (m, n) = matrix.shape();
    // Turned, the values are the same; rows of neighbouring elements become columns of them.
    let matrix = if m < n || (m == n && matrix.col_stride() == 1) {
        matrix.transpose()
    } else {
        matrix
    };
    let count = matrix.ncols();
    if count == 0 {
        return Ok(());
    }
    let (mut diagonal, mut beside) = (zeros(count)?, zeros(count - 1)?);
    let (mut work, scale) = prepared(matrix, par)?;
    let mut is_done = false;
    // Threads share faer's steps.
    if let (Some(own), Par::Seq) = (T::BIDIAGONALISE, par) {
        is_done = own(&mut work, &mut diagonal, &mut beside)?;
    }
    if !is_done {
        by_faer(&mut work, &mut diagonal, &mut beside, par)?;
    }
    bidiagonal::singular_values(&mut diagonal, &beside)?;
    for (at, value) in diagonal.into_iter().enumerate() {
        out[(at, 0)] = value * scale;
    }
    Ok(())
}

/// Matrices of so many times more rows than columns are made triangular first.
const TALL: f64 = 11.0 / 6.0;

/// A copy that is scaled, and what the values are to be scaled by; a triangle instead of a tall matrix.
fn prepared<T: Singular>(matrix: MatRef<'_, T>, par: Par) -> Result<(Scratch<T>, f64), Failure> {
    let mut work = Scratch::copy_of(matrix)?;
    let scale = work.normalise()?;
    if matrix.nrows() as f64 > TALL * matrix.ncols() as f64 {
        work = qr::triangle_of(work, par)?;
    }
    Ok((work, scale))
}

fn by_faer<T: Singular>(matrix: &mut Scratch<T>, diagonal: &mut [f64], beside: &mut [f64], par: Par) -> Result<(), Failure> {
    let (m, n) = matrix.as_ref().shape();
    // The reflections are not put together: one row of what they are scaled by is enough.
    let (mut left, mut right) = (Scratch::<T>::zeros(1, n)?, Scratch::<T>::zeros(1, n - 1)?);
    with_stack(bidiag_in_place_scratch::<T>(m, n, par, Default::default()), |stack| {
        bidiag_in_place(matrix.as_mut(), left.as_mut(), right.as_mut(), par, stack, Default::default());
    })?;
    diagonal.iter_mut().enumerate().for_each(|(at, x)| *x = matrix[(at, at)].size());
    beside.iter_mut().enumerate().for_each(|(at, x)| *x = matrix[(at, at + 1)].size());
    Ok(())
}

/// # Safety
/// The memory is that of real numbers, as many as there are values.
unsafe fn store<T: Element<Re = f64>>(values: &[T], item: &Item<'_>) {
    // SAFETY: the caller's promise.
    let mut out = unsafe { item.matrix_mut::<<T as Element>::Re>() };
    for (at, value) in values.iter().enumerate() {
        out[(at, 0)] = value.parts().0;
    }
}

/// Matrices from this size on are divided to find their vectors.
const DIVIDED: usize = 48;

fn decomposed<T: Element<Re = f64>>(
    matrix: MatRef<'_, T>,
    left: &mut Scratch<T>,
    right: &mut Scratch<T>,
    par: Par,
) -> Result<Vec<T>, Failure> {
    let (m, n) = matrix.shape();
    let mut matrix = Scratch::copy_of(matrix)?;
    let scale = matrix.normalise()?;
    let mut values = zeros(m.min(n))?;
    let (left, right) = (left.as_mut(), right.as_mut());
    let is_full = left.ncols() != m.min(n) || right.ncols() != m.min(n);
    let compute = if is_full {
        ComputeSvdVectors::Full
    } else {
        ComputeSvdVectors::Thin
    };
    // Divide and conquer pays earlier than faer takes it.
    let mut params: Spec<SvdParams, T> = Default::default();
    params.config.recursion_threshold = DIVIDED;
    let needed = svd_scratch::<T>(m, n, compute, compute, par, params);
    let stored = DiagMut::from_slice_mut(&mut values);
    with_stack(needed, |stack| {
        svd(matrix.as_ref(), stored, Some(left), Some(right), par, stack, params)
    })?
    .map_err(|_| Failure::NoConvergence)?;
    if scale != 1.0 {
        let scale = T::of_real(scale);
        values.iter_mut().for_each(|value| *value = value.times(scale));
    }
    Ok(values)
}
