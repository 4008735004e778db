//! Elimination with partial pivoting, and what follows from it: solutions, inverses, determinants.

#![allow(unsafe_code)]

use faer::linalg::lu::partial_pivoting::{factor, inverse, solve as solving};
use faer::perm::PermRef;
use faer::{Conj, Par};

use crate::element::{Element, Real};
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::{Scratch, indices, with_stack};

/// A matrix, its rows permuted, as the product of a unit lower triangle and an upper one, which share its memory.
struct Factors<T> {
    triangles: Scratch<T>,
    forward: Vec<usize>,
    backward: Vec<usize>,
    swaps: usize,
}

impl<T: Element> Factors<T> {
    fn of(mut matrix: Scratch<T>, par: Par) -> Result<Self, Failure> {
        let n = matrix.as_ref().nrows();
        let (mut forward, mut backward) = (indices(n)?, indices(n)?);
        let needed = factor::lu_in_place_scratch::<usize, T>(n, n, par, Default::default());
        let swaps = with_stack(needed, |stack| {
            let (info, _) = factor::lu_in_place(matrix.as_mut(), &mut forward, &mut backward, par, stack, Default::default());
            info.transposition_count
        })?;
        Ok(Factors {
            triangles: matrix,
            forward,
            backward,
            swaps,
        })
    }

    fn pivots(&self) -> impl Iterator<Item = T> {
        let triangles = self.triangles.as_ref();
        (0..triangles.nrows()).map(move |at| triangles[(at, at)])
    }

    fn regular(self) -> Result<Self, Failure> {
        if self.is_singular() { Err(Failure::Singular) } else { Ok(self) }
    }

    fn is_singular(&self) -> bool {
        self.pivots().any(Element::is_nought)
    }

    fn permutation(&self) -> PermRef<'_, usize> {
        // SAFETY: the two were made by the decomposition, each the other's inverse.
        unsafe { PermRef::new_unchecked(&self.forward, &self.backward, self.forward.len()) }
    }
}

/// What times the matrix is the right-hand sides.
///
/// # Safety
/// As [`crate::run`] says: the matrix, the right-hand sides, and where the solutions are stored.
pub unsafe fn solve<T: Element>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, sides, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix::<T>(), items[2].matrix_mut::<T>()) };
    let factors = Factors::of(Scratch::copy_of(matrix)?, par)?.regular()?;
    let triangles = factors.triangles.as_ref();
    let mut found = Scratch::copy_of(sides)?;
    let needed = solving::solve_in_place_scratch::<usize, T>(matrix.nrows(), sides.ncols(), par);
    with_stack(needed, |stack| {
        let permutation = factors.permutation();
        solving::solve_in_place_with_conj(triangles, triangles, permutation, Conj::No, found.as_mut(), par, stack);
    })?;
    out.copy_from(found.as_ref());
    Ok(())
}

/// The matrix's inverse.
///
/// # Safety
/// As for [`solve`]: the matrix, and where its inverse is stored.
pub unsafe fn inv<T: Element>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>()) };
    let factors = Factors::of(Scratch::copy_of(matrix)?, par)?.regular()?;
    let triangles = factors.triangles.as_ref();
    let mut found = Scratch::zeros(matrix.nrows(), matrix.nrows())?;
    with_stack(inverse::inverse_scratch::<usize, T>(matrix.nrows(), par), |stack| {
        inverse::inverse(found.as_mut(), triangles, triangles, factors.permutation(), par, stack);
    })?;
    out.copy_from(found.as_ref());
    Ok(())
}

/// The determinant.
///
/// # Safety
/// As for [`solve`]: the matrix, and where the number is stored.
pub unsafe fn det<T: Element<Re: Real>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>()) };
    let factors = Factors::of(Scratch::copy_of(matrix)?, par)?;
    let one = T::one_impl();
    let first = if factors.swaps % 2 == 1 { T::zero_impl().minus(one) } else { one };
    // What comes behind a pivot of zero was divided by it.
    if factors.is_singular() {
        out[(0, 0)] = T::zero_impl();
        return Ok(());
    }
    let mut found = factors.pivots().fold(first, T::times);
    if !found.is_finite() || found.is_nought() {
        // Parts of the product may overflow where the whole does not.
        let (sign, logarithm) = in_parts(&factors);
        if logarithm.is_finite() {
            found = sign.times(T::of_real(Real::exp(logarithm)));
        }
    }
    out[(0, 0)] = found;
    Ok(())
}

/// The determinant's sign, or what of it lies on the unit circle, and the logarithm of its size.
///
/// # Safety
/// As for [`solve`]: the matrix, and where the two numbers are stored.
pub unsafe fn slogdet<T: Element<Re: Real>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut signs, mut logarithms) = unsafe {
        (
            items[0].matrix::<T>(),
            items[1].matrix_mut::<T>(),
            items[2].matrix_mut::<<T as Element>::Re>(),
        )
    };
    let factors = Factors::of(Scratch::copy_of(matrix)?, par)?;
    let (sign, logarithm) = in_parts(&factors);
    signs[(0, 0)] = sign;
    logarithms[(0, 0)] = logarithm;
    Ok(())
}

fn in_parts<T: Element<Re: Real>>(factors: &Factors<T>) -> (T, <T as Element>::Re) {
    let one = T::one_impl();
    let mut sign = if factors.swaps % 2 == 1 { T::zero_impl().minus(one) } else { one };
    let mut logarithm = <<T as Element>::Re as Real>::ZERO;
    for pivot in factors.pivots() {
        if pivot.is_nought() {
            return (T::zero_impl(), <<T as Element>::Re as Real>::MINUS_INFINITY);
        }
        let size = pivot.size();
        sign = sign.times(pivot.sign());
        logarithm = logarithm.plus(Real::ln(size));
    }
    (sign, logarithm)
}
