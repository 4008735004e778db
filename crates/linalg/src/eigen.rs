//! Eigenvalues and eigenvectors, of Hermitian matrices and of others.

#![allow(unsafe_code)]

use faer::complex::Complex;
use faer::diag::DiagMut;
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, evd_cplx, evd_real, evd_scratch, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::prelude::Reborrow;
use faer::{MatRef, Par, c64};

use crate::balance::Balance;
use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::{Scratch, with_stack, zeros};
use crate::svd::all_finite;
use crate::tridiagonal;

/// Eigenvalues in rising order and eigenvectors as columns of a Hermitian matrix, of which the lower triangle is read.
///
/// # Safety
/// As [`crate::run`] says: the matrix, and where values and vectors are stored; without a place for vectors there are none.
pub unsafe fn hermitian_lower<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    unsafe { hermitian(Scratch::<T>::lower_of(items[0].matrix())?, &items[1..], par) }
}

/// The same, and the upper triangle is read.
///
/// # Safety
/// As for [`hermitian_lower`].
pub unsafe fn hermitian_upper<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    unsafe { hermitian(Scratch::<T>::turned_upper_of(items[0].matrix())?, &items[1..], par) }
}

unsafe fn hermitian<T: Element<Re = f64>>(mut matrix: Scratch<T>, out: &[Item<'_>], par: Par) -> Result<(), Failure> {
    let n = matrix.as_ref().nrows();
    if n == 0 {
        return Ok(());
    }
    if !all_finite(matrix.as_ref()) {
        return Err(Failure::NoConvergence);
    }
    let scale = matrix.normalise();
    // SAFETY: the caller's promise.
    let mut stored = unsafe { out[0].matrix_mut::<f64>() };
    let Some(place) = out.get(1) else {
        for (at, value) in hermitian_values(matrix, par)?.into_iter().enumerate() {
            stored[(at, 0)] = value * scale;
        }
        return Ok(());
    };
    let mut values = zeros::<T>(n)?;
    let mut vectors = Scratch::<T>::zeros(n, n)?;
    let needed = self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, par, Default::default());
    with_stack(needed, |stack| {
        let values = DiagMut::from_slice_mut(&mut values);
        self_adjoint_evd(matrix.as_ref(), values, Some(vectors.as_mut()), par, stack, Default::default())
    })?
    .map_err(|_| Failure::NoConvergence)?;
    for (at, value) in values.iter().enumerate() {
        stored[(at, 0)] = value.parts().0 * scale;
    }
    // SAFETY: the caller's promise.
    unsafe { place.matrix_mut::<T>() }.copy_from(vectors.as_ref());
    Ok(())
}

/// Eigenvalues alone: those of a tridiagonal matrix that the matrix is turned into.
fn hermitian_values<T: Element<Re = f64>>(mut matrix: Scratch<T>, par: Par) -> Result<Vec<f64>, Failure> {
    let n = matrix.as_ref().nrows();
    let block = recommended_block_size::<T>(n, n);
    let mut scales = Scratch::<T>::zeros(block, n - 1)?;
    if n > 1 {
        with_stack(tridiag_in_place_scratch::<T>(n, par, Default::default()), |stack| {
            tridiag_in_place(matrix.as_mut(), scales.as_mut(), par, stack, Default::default());
        })?;
    }
    let (mut diagonal, mut beside) = (zeros::<f64>(n)?, zeros::<f64>(n - 1)?);
    for at in 0..n {
        diagonal[at] = matrix.as_ref()[(at, at)].parts().0;
        if at + 1 < n {
            beside[at] = matrix.as_ref()[(at + 1, at)].size();
        }
    }
    tridiagonal::eigenvalues(&mut diagonal, &mut beside)?;
    Ok(diagonal)
}

/// Eigenvalues and eigenvectors of any square matrix, as complex numbers.
pub trait General: Element<Re = f64> {
    type Complex: Element<Re = f64>;

    /// Eigenvalues, and eigenvectors as columns if they are wanted.
    fn decompose(matrix: &Scratch<Self>, vectors: bool, par: Par) -> Result<Found<Self::Complex>, Failure>;
}

/// Eigenvalues, and vectors where they were asked for.
pub struct Found<C> {
    values: Vec<C>,
    vectors: Option<Scratch<C>>,
}

/// Eigenvalues, and vectors of length 1 where there is a place for them.
///
/// # Safety
/// As for [`hermitian_lower`].
pub unsafe fn general<T: General>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut values) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T::Complex>()) };
    if matrix.nrows() == 0 {
        return Ok(());
    }
    if !all_finite(matrix) {
        return Err(Failure::NoConvergence);
    }
    let mut balanced = Scratch::copy_of(matrix)?;
    let scale = balanced.normalise();
    let balance = Balance::of(&mut balanced)?;
    let found = T::decompose(&balanced, items.len() > 2, par)?;
    for (at, value) in found.values.iter().enumerate() {
        values[(at, 0)] = if scale == 1.0 {
            *value
        } else {
            value.times(Element::of_real(scale))
        };
    }
    if let Some(mut vectors) = found.vectors {
        balance.undo(&mut vectors);
        normalise(&mut vectors);
        // Where many values are one, vectors are lost to divisions by zero: what is no number is no result.
        if !all_finite(vectors.as_ref()) {
            return Err(Failure::NoConvergence);
        }
        // SAFETY: the caller's promise.
        unsafe { items[2].matrix_mut::<T::Complex>() }.copy_from(vectors.as_ref());
    }
    Ok(())
}

/// Scales columns to length 1, their largest elements real, as LAPACK does.
fn normalise<C: Element>(vectors: &mut Scratch<C>) {
    let mut matrix = vectors.as_mut();
    for col in 0..matrix.ncols() {
        let length = C::of_real(matrix.rb().col(col).norm_l2());
        let mut largest = C::zero_impl();
        for row in 0..matrix.nrows() {
            let x = matrix[(row, col)].over(length);
            matrix[(row, col)] = x;
            if x.is_larger(largest) {
                largest = x;
            }
        }
        // A column of real numbers stays as it is.
        if largest.parts().1.is_nought() {
            continue;
        }
        let turn = largest.conjugate().over(C::of_real(largest.size()));
        for row in 0..matrix.nrows() {
            matrix[(row, col)] = matrix[(row, col)].times(turn);
        }
    }
}

macro_rules! real {
    ($t:ty, $c:ty) => {
        impl General for $t {
            type Complex = $c;

            fn decompose(matrix: &Scratch<$t>, vectors: bool, par: Par) -> Result<Found<$c>, Failure> {
                let n = matrix.as_ref().nrows();
                let (mut re, mut im) = (zeros::<$t>(n)?, zeros::<$t>(n)?);
                let mut columns = if vectors { Some(Scratch::<$t>::zeros(n, n)?) } else { None };
                let needed = evd_scratch::<$t>(n, ComputeEigenvectors::No, wanted(vectors), par, Default::default());
                with_stack(needed, |stack| {
                    let (re, im) = (DiagMut::from_slice_mut(&mut re), DiagMut::from_slice_mut(&mut im));
                    let columns = columns.as_mut().map(Scratch::as_mut);
                    evd_real(matrix.as_ref(), re, im, None, columns, par, stack, Default::default())
                })?
                .map_err(|_| Failure::NoConvergence)?;
                let mut values = zeros(n)?;
                for (value, (re, im)) in values.iter_mut().zip(re.iter().zip(&im)) {
                    *value = Complex::new(*re, *im);
                }
                let vectors = columns.map(|columns| paired(columns.as_ref(), &im)).transpose()?;
                Ok(Found { values, vectors })
            }
        }
    };
}

macro_rules! complex {
    ($c:ty) => {
        impl General for $c {
            type Complex = $c;

            fn decompose(matrix: &Scratch<$c>, vectors: bool, par: Par) -> Result<Found<$c>, Failure> {
                let n = matrix.as_ref().nrows();
                let mut values = zeros::<$c>(n)?;
                let mut columns = if vectors { Some(Scratch::<$c>::zeros(n, n)?) } else { None };
                let needed = evd_scratch::<$c>(n, ComputeEigenvectors::No, wanted(vectors), par, Default::default());
                with_stack(needed, |stack| {
                    let columns = columns.as_mut().map(Scratch::as_mut);
                    evd_cplx(
                        matrix.as_ref(),
                        DiagMut::from_slice_mut(&mut values),
                        None,
                        columns,
                        par,
                        stack,
                        Default::default(),
                    )
                })?
                .map_err(|_| Failure::NoConvergence)?;
                Ok(Found {
                    values,
                    vectors: columns,
                })
            }
        }
    };
}

fn wanted(vectors: bool) -> ComputeEigenvectors {
    if vectors {
        ComputeEigenvectors::Yes
    } else {
        ComputeEigenvectors::No
    }
}

/// Complex columns from real ones: those of a pair of conjugate values are their real and imaginary parts.
fn paired<T: Element<Re = T>>(columns: MatRef<'_, T>, imaginary: &[T]) -> Result<Scratch<Complex<T>>, Failure>
where
    Complex<T>: Element,
{
    let n = columns.nrows();
    let mut made = Scratch::<Complex<T>>::zeros(n, n)?;
    let mut out = made.as_mut();
    let mut col = 0;
    while col < n {
        let is_pair = !imaginary[col].is_nought() && col + 1 < n;
        for row in 0..n {
            let re = columns[(row, col)];
            let im = if is_pair { columns[(row, col + 1)] } else { T::zero_impl() };
            out[(row, col)] = Complex::new(re, im);
            if is_pair {
                out[(row, col + 1)] = Complex::new(re, T::zero_impl().minus(im));
            }
        }
        col += if is_pair { 2 } else { 1 };
    }
    Ok(made)
}

real!(f64, c64);
complex!(c64);
