//! Singular values and their vectors.

#![allow(unsafe_code)]

use faer::diag::DiagMut;
use faer::linalg::svd::{ComputeSvdVectors, SvdParams, svd, svd_scratch};
use faer::{MatRef, Par, Spec};

use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::{Scratch, with_stack, zeros};

/// Left vectors, values in falling order, and right vectors, conjugated and turned: as many of the vectors as there is room for.
///
/// # Safety
/// As [`crate::run`] says: the matrix, and where the three are stored.
pub unsafe fn all<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut left, mut right) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>(), items[3].matrix_mut::<T>()) };
    let mut lefts = Scratch::zeros(left.nrows(), left.ncols())?;
    let mut rights = Scratch::zeros(right.ncols(), right.nrows())?;
    let values = decomposed(matrix, Some((&mut lefts, &mut rights)), par)?;
    left.copy_from(lefts.as_ref());
    right.copy_from(rights.as_ref().adjoint());
    // SAFETY: the caller's promise.
    unsafe { store(&values, &items[2]) };
    Ok(())
}

/// Values alone.
///
/// # Safety
/// As for [`all`].
pub unsafe fn values<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let matrix = unsafe { items[0].matrix::<T>() };
    let values = decomposed(matrix, None, par)?;
    // SAFETY: the caller's promise.
    unsafe { store(&values, &items[1]) };
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

type Vectors<'a, T> = (&'a mut Scratch<T>, &'a mut Scratch<T>);

fn decomposed<T: Element<Re = f64>>(matrix: MatRef<'_, T>, vectors: Option<Vectors<'_, T>>, par: Par) -> Result<Vec<T>, Failure> {
    let (m, n) = matrix.shape();
    if !all_finite(matrix) {
        return Err(Failure::NoConvergence);
    }
    let mut matrix = Scratch::copy_of(matrix)?;
    let scale = matrix.normalise();
    let mut values = zeros(m.min(n))?;
    let (left, right) = match vectors {
        Some((left, right)) => (Some(left.as_mut()), Some(right.as_mut())),
        None => (None, None),
    };
    let is_full =
        left.as_ref().is_some_and(|left| left.ncols() != m.min(n)) || right.as_ref().is_some_and(|right| right.ncols() != m.min(n));
    let compute = match (&left, is_full) {
        (None, _) => ComputeSvdVectors::No,
        (_, true) => ComputeSvdVectors::Full,
        (_, false) => ComputeSvdVectors::Thin,
    };
    // Divide and conquer pays earlier than faer takes it.
    let mut params: Spec<SvdParams, T> = Default::default();
    params.config.recursion_threshold = DIVIDED;
    let needed = svd_scratch::<T>(m, n, compute, compute, par, params);
    let stored = DiagMut::from_slice_mut(&mut values);
    with_stack(needed, |stack| svd(matrix.as_ref(), stored, left, right, par, stack, params))?.map_err(|_| Failure::NoConvergence)?;
    if scale != 1.0 {
        let scale = T::of_real(scale);
        values.iter_mut().for_each(|value| *value = value.times(scale));
    }
    Ok(values)
}

/// Whether there is no infinity and no NaN.
pub fn all_finite<T: Element>(matrix: MatRef<'_, T>) -> bool {
    matrix.col_iter().all(|col| col.iter().all(|x| Element::is_finite(*x)))
}
