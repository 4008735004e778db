//! Eigenvalues and eigenvectors, of Hermitian matrices and of others.

#![allow(unsafe_code)]

use faer::complex::Complex;
use faer::diag::DiagMut;
use faer::linalg::evd::hessenberg::{hessenberg_in_place, hessenberg_in_place_scratch};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, evd_cplx, evd_real, evd_scratch, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_right_in_place_scratch as applying_scratch,
    apply_block_householder_sequence_on_the_right_in_place_with_conj as apply,
};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Accum, Conj, Par, c64};

use crate::balance::Balance;
use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::scratch::{Reduction, Scratch, with_stack, zeros};
use crate::{schur, triangular_vectors, tridiagonal, tridiagonalise};

/// Eigenvalues in rising order and eigenvectors as columns of a Hermitian matrix, of which the lower triangle is read.
///
/// # Safety
/// As [`crate::run`] says: the matrix, and where values and vectors are stored; without a place for vectors there are none.
pub unsafe fn hermitian_lower<T: Hermitian>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    unsafe { hermitian(Scratch::<T>::lower_of(items[0].matrix())?, &items[1..], par) }
}

/// The same, and the upper triangle is read.
///
/// # Safety
/// As for [`hermitian_lower`].
pub unsafe fn hermitian_upper<T: Hermitian>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    unsafe { hermitian(Scratch::<T>::turned_upper_of(items[0].matrix())?, &items[1..], par) }
}

unsafe fn hermitian<T: Hermitian>(mut matrix: Scratch<T>, out: &[Item<'_>], par: Par) -> Result<(), Failure> {
    let n = matrix.rows();
    if n == 0 {
        return Ok(());
    }
    let scale = matrix.normalise()?;
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

/// Elements of Hermitian matrices.
pub trait Hermitian: Element<Re = f64> {
    /// As [`tridiagonalise::tridiagonalise`], if there is a way of our own.
    const TRIDIAGONALISE: Option<Reduction<Self>>;
}

impl Hermitian for f64 {
    const TRIDIAGONALISE: Option<Reduction<f64>> = Some(tridiagonalise::tridiagonalise);
}

impl Hermitian for c64 {
    const TRIDIAGONALISE: Option<Reduction<c64>> = None;
}

/// Eigenvalues alone: those of a tridiagonal matrix that the matrix is turned into.
fn hermitian_values<T: Hermitian>(mut matrix: Scratch<T>, par: Par) -> Result<Vec<f64>, Failure> {
    let n = matrix.rows();
    let (mut diagonal, mut beside) = (zeros::<f64>(n)?, zeros::<f64>(n - 1)?);
    let mut is_done = false;
    // Threads share faer's steps.
    if let (Some(own), Par::Seq) = (T::TRIDIAGONALISE, par) {
        is_done = own(&mut matrix, &mut diagonal, &mut beside)?;
    }
    if !is_done {
        tridiagonal_by_faer(&mut matrix, &mut diagonal, &mut beside, par)?;
    }
    tridiagonal::eigenvalues(&mut diagonal, &mut beside)?;
    Ok(diagonal)
}

fn tridiagonal_by_faer<T: Hermitian>(matrix: &mut Scratch<T>, diagonal: &mut [f64], beside: &mut [f64], par: Par) -> Result<(), Failure> {
    let n = matrix.rows();
    if n > 1 {
        // The reflections are not put together: one row of what they are scaled by is enough.
        let mut scales = Scratch::<T>::zeros(1, n - 1)?;
        with_stack(tridiag_in_place_scratch::<T>(n, par, Default::default()), |stack| {
            tridiag_in_place(matrix.as_mut(), scales.as_mut(), par, stack, Default::default());
        })?;
    }
    diagonal.iter_mut().enumerate().for_each(|(at, x)| *x = matrix[(at, at)].parts().0);
    beside.iter_mut().enumerate().for_each(|(at, x)| *x = matrix[(at + 1, at)].size());
    Ok(())
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
    let mut balanced = Scratch::copy_of(matrix)?;
    let scale = balanced.normalise()?;
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
        // SAFETY: the caller's promise.
        unsafe { items[2].matrix_mut::<T::Complex>() }.copy_from(vectors.as_ref());
    }
    Ok(())
}

/// Scales columns to length 1, their largest elements real, as LAPACK does.
fn normalise<C: Element<Re = f64>>(vectors: &mut Scratch<C>) {
    for col in 0..vectors.rows() {
        let length = vectors.as_ref().col(col).norm_l2();
        let (mut largest, mut most) = (C::zero_impl(), 0.0);
        for x in vectors.col_mut(col) {
            *x = x.over(C::of_real(length));
            let (re, im) = x.parts();
            let square = re * re + im * im;
            if square > most {
                (largest, most) = (*x, square);
            }
        }
        // A column of real numbers stays as it is.
        if largest.parts().1 == 0.0 {
            continue;
        }
        let turn = largest.conjugate().over(C::of_real(largest.size()));
        for x in vectors.col_mut(col) {
            *x = x.times(turn);
        }
    }
}

/// Real matrices of no more rows are done here; faer's steps for larger ones do many columns at a time.
const SMALL: usize = 75;

/// Hessenberg's form, and the columns that lead to it.
fn hessenberg<T: Element<Re = f64>>(matrix: &Scratch<T>, columns: bool, par: Par) -> Result<(Scratch<T>, Option<Scratch<T>>), Failure> {
    let n = matrix.rows();
    let mut h = Scratch::copy_of(matrix.as_ref())?;
    let mut z = if columns { Some(Scratch::identity(n, n)?) } else { None };
    if n < 3 {
        return Ok((h, z));
    }
    let block = if columns { recommended_block_size::<T>(n - 1, n - 1) } else { 1 };
    let mut scales = Scratch::<T>::zeros(block, n - 1)?;
    with_stack(hessenberg_in_place_scratch::<T>(n, block, par, Default::default()), |stack| {
        hessenberg_in_place(h.as_mut(), scales.as_mut(), par, stack, Default::default());
    })?;
    if let Some(z) = &mut z {
        let (vectors, z) = (h.as_ref().submatrix(1, 0, n - 1, n - 1), z.as_mut().get_mut(1.., 1..));
        with_stack(applying_scratch::<T>(n - 1, block, n - 1), |stack| {
            apply(vectors, scales.as_ref(), Conj::No, z, par, stack);
        })?;
    }
    for col in 0..n - 2 {
        h.col_mut(col)[col + 2..].fill(T::zero_impl());
    }
    Ok((h, z))
}

/// Columns that a triangular matrix of vectors is multiplied with.
fn product<T: Element<Re = f64>>(columns: &Scratch<T>, triangle: &Scratch<T>, par: Par) -> Result<Scratch<T>, Failure> {
    let n = columns.rows();
    let mut made = Scratch::zeros(n, n)?;
    triangular::matmul(
        made.as_mut(),
        BlockStructure::Rectangular,
        Accum::Replace,
        columns.as_ref(),
        BlockStructure::Rectangular,
        triangle.as_ref(),
        BlockStructure::TriangularUpper,
        T::one_impl(),
        par,
    );
    Ok(made)
}

/// By Schur's form, without faer: small matrices, and those whose vectors it does not find.
fn real_by_schur(matrix: &Scratch<f64>, vectors: bool, par: Par) -> Result<Found<c64>, Failure> {
    let (mut h, mut z) = hessenberg(matrix, vectors, par)?;
    let mut values = zeros(matrix.rows())?;
    schur::real(&mut h, z.as_mut(), &mut values)?;
    let vectors = match z {
        Some(z) => {
            let columns = product(&z, &triangular_vectors::real(&h, &values)?, par)?;
            Some(paired(&columns, &values)?)
        }
        None => None,
    };
    Ok(Found { values, vectors })
}

fn complex_by_schur(matrix: &Scratch<c64>, par: Par) -> Result<Found<c64>, Failure> {
    let (mut h, z) = hessenberg(matrix, true, par)?;
    let mut z = z.ok_or(Failure::NoConvergence)?;
    schur::complex(&mut h, &mut z)?;
    let mut values = zeros(matrix.rows())?;
    for (at, value) in values.iter_mut().enumerate() {
        *value = h[(at, at)];
    }
    let vectors = Some(product(&z, &triangular_vectors::complex(&h)?, par)?);
    Ok(Found { values, vectors })
}

impl General for f64 {
    type Complex = c64;

    fn decompose(matrix: &Scratch<f64>, vectors: bool, par: Par) -> Result<Found<c64>, Failure> {
        let n = matrix.rows();
        if n <= SMALL {
            return real_by_schur(matrix, vectors, par);
        }
        // faer does not say where it found no values: these stay what they are now.
        let (mut re, mut im) = (zeros::<f64>(n)?, zeros::<f64>(n)?);
        re.fill(f64::NAN);
        let mut columns = if vectors { Some(Scratch::<f64>::zeros(n, n)?) } else { None };
        let needed = evd_scratch::<f64>(n, ComputeEigenvectors::No, wanted(vectors), par, Default::default());
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
        let is_found = values.iter().all(|value| Element::is_finite(*value));
        // Where many values are one, its vectors are lost to divisions by zero.
        if !is_found || columns.as_ref().is_some_and(is_lost) {
            return real_by_schur(matrix, vectors, par);
        }
        let vectors = columns.map(|columns| paired(&columns, &values)).transpose()?;
        Ok(Found { values, vectors })
    }
}

impl General for c64 {
    type Complex = c64;

    fn decompose(matrix: &Scratch<c64>, vectors: bool, par: Par) -> Result<Found<c64>, Failure> {
        let n = matrix.rows();
        let mut values = zeros::<c64>(n)?;
        values.fill(Complex::new(f64::NAN, 0.0));
        let mut columns = if vectors { Some(Scratch::<c64>::zeros(n, n)?) } else { None };
        let needed = evd_scratch::<c64>(n, ComputeEigenvectors::No, wanted(vectors), par, Default::default());
        with_stack(needed, |stack| {
            let columns = columns.as_mut().map(Scratch::as_mut);
            let values = DiagMut::from_slice_mut(&mut values);
            evd_cplx(matrix.as_ref(), values, None, columns, par, stack, Default::default())
        })?
        .map_err(|_| Failure::NoConvergence)?;
        let is_found = values.iter().all(|value| Element::is_finite(*value));
        if !is_found || columns.as_ref().is_some_and(is_lost) {
            return complex_by_schur(matrix, par);
        }
        Ok(Found { values, vectors: columns })
    }
}

/// Whether vectors grew out of the range of numbers, or nearly so.
fn is_lost<T: Element<Re = f64>>(vectors: &Scratch<T>) -> bool {
    const MOST: f64 = 1e140;
    let largest = vectors.largest();
    largest.is_nan() || largest > MOST
}

fn wanted(vectors: bool) -> ComputeEigenvectors {
    if vectors {
        ComputeEigenvectors::Yes
    } else {
        ComputeEigenvectors::No
    }
}

/// Complex columns from real ones: those of a pair of conjugate values are their real and imaginary parts.
fn paired(columns: &Scratch<f64>, values: &[c64]) -> Result<Scratch<c64>, Failure> {
    let n = columns.rows();
    let mut made = Scratch::<c64>::zeros(n, n)?;
    let mut col = 0;
    while col < n {
        if values[col].im == 0.0 || col + 1 == n {
            let real = columns.col(col);
            made.col_mut(col).iter_mut().zip(real).for_each(|(x, re)| *x = c64::new(*re, 0.0));
            col += 1;
            continue;
        }
        let parts = columns.col(col).iter().zip(columns.col(col + 1));
        let [one, other] = made.cols_mut::<2>(col);
        for ((one, other), (re, im)) in one.iter_mut().zip(other).zip(parts) {
            (*one, *other) = (c64::new(*re, *im), c64::new(*re, -im));
        }
        col += 2;
    }
    Ok(made)
}
