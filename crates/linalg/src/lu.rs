//! Elimination with partial pivoting, and what follows from it: solutions, inverses, determinants.

#![allow(unsafe_code)]

use faer::linalg::lu::partial_pivoting::{factor, inverse, solve as solving};
use faer::perm::PermRef;
use faer::prelude::ReborrowMut;
use faer::{ColRef, Conj, MatMut, MatRef, Par};

use crate::element::{Element, Real};
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::{Scratch, indices, with_stack};
use crate::small_lu::SmallLu;

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

    fn pivots(&self) -> ColRef<'_, T> {
        self.triangles.as_ref().diagonal().column_vector()
    }

    fn regular(self) -> Result<Self, Failure> {
        if self.is_singular() { Err(Failure::Singular) } else { Ok(self) }
    }

    fn is_singular(&self) -> bool {
        has_none(self.pivots())
    }

    fn permutation(&self) -> PermRef<'_, usize> {
        // SAFETY: the two were made by the decomposition, each the other's inverse.
        unsafe { PermRef::new_unchecked(&self.forward, &self.backward, self.forward.len()) }
    }
}

/// Whether a pivot is zero.
fn has_none<T: Element>(pivots: ColRef<'_, T>) -> bool {
    pivots.iter().any(|pivot| pivot.is_nought())
}

/// Rows of matrices that are eliminated without memory of their own, those of the fewest, too.
const SMALL: usize = 16;
const SMALLEST: usize = 4;

fn solve_small<T: Element, const MOST: usize>(matrix: MatRef<'_, T>, sides: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<(), Failure> {
    let factors = SmallLu::<T, MOST>::of(matrix);
    if has_none(factors.pivots()) {
        return Err(Failure::Singular);
    }
    for start in (0..sides.ncols()).step_by(MOST) {
        let width = MOST.min(sides.ncols() - start);
        let found = factors.solve(|row, col| sides[(row, start + col)], width);
        store(&found, out.rb_mut().subcols_mut(start, width));
    }
    Ok(())
}

fn store<T: Element, const MOST: usize>(found: &[[T; MOST]; MOST], mut out: MatMut<'_, T>) {
    for (row, values) in found.iter().enumerate().take(out.nrows()) {
        for (col, x) in values.iter().enumerate().take(out.ncols()) {
            out[(row, col)] = *x;
        }
    }
}

fn inv_small<T: Element, const MOST: usize>(matrix: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<(), Failure> {
    let factors = SmallLu::<T, MOST>::of(matrix);
    if has_none(factors.pivots()) {
        return Err(Failure::Singular);
    }
    let found = factors.solve(|row, col| if row == col { T::one_impl() } else { T::zero_impl() }, factors.n);
    store(&found, out);
    Ok(())
}

/// What times the matrix is the right-hand sides.
///
/// # Safety
/// As [`crate::run`] says: the matrix, the right-hand sides, and where the solutions are stored.
pub unsafe fn solve<T: Element>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, sides, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix::<T>(), items[2].matrix_mut::<T>()) };
    if matrix.nrows() <= SMALLEST {
        return solve_small::<T, SMALLEST>(matrix, sides, out);
    }
    if matrix.nrows() <= SMALL {
        return solve_small::<T, SMALL>(matrix, sides, out);
    }
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
    if matrix.nrows() <= SMALLEST {
        return inv_small::<T, SMALLEST>(matrix, out);
    }
    if matrix.nrows() <= SMALL {
        return inv_small::<T, SMALL>(matrix, out);
    }
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
    out[(0, 0)] = of_pivots(matrix, par, |pivots, is_odd| {
        // What comes behind a pivot of zero was divided by it.
        if has_none(pivots) {
            return T::zero_impl();
        }
        let found = pivots
            .iter()
            .fold(one_or_minus_one(is_odd), |product: T, pivot| product.times(*pivot));
        if !found.is_finite() || found.is_nought() {
            // Parts of the product may overflow where the whole does not.
            let (sign, logarithm) = in_parts(pivots, is_odd);
            if logarithm.is_finite() {
                return sign.times(T::of_real(Real::exp(logarithm)));
            }
        }
        found
    })?;
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
    (signs[(0, 0)], logarithms[(0, 0)]) = of_pivots(matrix, par, |pivots, is_odd| in_parts(pivots, is_odd))?;
    Ok(())
}

/// What a function makes of the pivots, and of whether an odd number of rows were exchanged.
fn of_pivots<T: Element, R>(matrix: MatRef<'_, T>, par: Par, make: impl Fn(ColRef<'_, T>, bool) -> R) -> Result<R, Failure> {
    if matrix.nrows() <= SMALLEST {
        let factors = SmallLu::<T, SMALLEST>::of(matrix);
        return Ok(make(factors.pivots(), factors.is_odd));
    }
    if matrix.nrows() <= SMALL {
        let factors = SmallLu::<T, SMALL>::of(matrix);
        return Ok(make(factors.pivots(), factors.is_odd));
    }
    let factors = Factors::of(Scratch::copy_of(matrix)?, par)?;
    Ok(make(factors.pivots(), factors.swaps % 2 == 1))
}

fn one_or_minus_one<T: Element>(is_odd: bool) -> T {
    let one = T::one_impl();
    if is_odd { T::zero_impl().minus(one) } else { one }
}

fn in_parts<T: Element<Re: Real>>(pivots: ColRef<'_, T>, is_odd: bool) -> (T, <T as Element>::Re) {
    let mut sign: T = one_or_minus_one(is_odd);
    let mut logarithm = <<T as Element>::Re as Real>::ZERO;
    for pivot in pivots.iter() {
        if pivot.is_nought() {
            return (T::zero_impl(), <<T as Element>::Re as Real>::MINUS_INFINITY);
        }
        let size = pivot.size();
        sign = sign.times(pivot.sign());
        logarithm = logarithm.plus(Real::ln(size));
    }
    (sign, logarithm)
}
