//! Singular values and their vectors.

#![allow(unsafe_code)]

use faer::diag::DiagMut;
use faer::linalg::svd::bidiag::{bidiag_in_place, bidiag_in_place_scratch};
use faer::linalg::svd::{ComputeSvdVectors, SvdParams, svd, svd_scratch};
use faer::{MatRef, Par, Spec, c64};

use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::qr::Blocks;
use crate::scratch::{Reduction, Scratch, with_stack, zeros};
use crate::{bidiagonal, bidiagonalise, small_svd};

/// Left vectors, values in falling order, and right vectors, conjugated and turned: as many of the vectors as there is room for.
///
/// # Safety
/// As [`crate::run`] says: the matrix, and where the three are stored.
pub unsafe fn all<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut left, mut right) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>(), items[3].matrix_mut::<T>()) };
    let (m, n) = matrix.shape();
    if m < n || (m == n && matrix.col_stride() == 1) {
        // Turned, it has no more columns than rows, or columns of neighbouring elements; left and right change places.
        let (mut lefts, mut rights) = (
            Scratch::zeros(right.ncols(), right.nrows())?,
            Scratch::zeros(left.nrows(), left.ncols())?,
        );
        let values = decomposed(matrix.transpose(), &mut lefts, &mut rights, par)?;
        rights.store(left, true);
        right.copy_from(lefts.as_ref().transpose());
        // SAFETY: the caller's promise.
        unsafe { store(&values, &items[2]) };
        return Ok(());
    }
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
        work = Blocks::in_place(work, par)?.triangle()?;
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

/// Are several of the values no more than rounding leaves of 0?
fn has_zeros<T: Element<Re = f64>>(values: &[T], size: usize) -> bool {
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.parts().0));
    let least = largest * f64::EPSILON * size as f64;
    values.iter().filter(|value| value.parts().0 <= least).count() > 1
}

/// The largest value first, and the vectors along with the values.
fn put_in_order<T: Element<Re = f64>>(values: &mut [T], left: &mut Scratch<T>, right: &mut Scratch<T>) {
    let is_in_order = |pair: &[T]| pair[0].parts().0 >= pair[1].parts().0;
    if values.windows(2).all(is_in_order) {
        return;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].parts().0.total_cmp(&values[a].parts().0));
    for at in 0..order.len() {
        // Whoever was at the place has gone where its own successor was.
        let mut from = order[at];
        while from < at {
            from = order[from];
        }
        if from != at {
            values.swap(at, from);
            for vectors in [&mut *left, &mut *right] {
                swap_columns(vectors, at, from);
            }
        }
    }
}

fn swap_columns<T: Element>(vectors: &mut Scratch<T>, one: usize, two: usize) {
    for row in 0..vectors.as_ref().nrows() {
        let kept = vectors[(row, one)];
        vectors[(row, one)] = vectors[(row, two)];
        vectors[(row, two)] = kept;
    }
}

/// Matrices from this size on are divided to find their vectors.
const DIVIDED: usize = 48;

/// The values of a matrix of no more columns than rows, and its vectors.
fn decomposed<T: Element<Re = f64>>(
    matrix: MatRef<'_, T>,
    left: &mut Scratch<T>,
    right: &mut Scratch<T>,
    par: Par,
) -> Result<Vec<T>, Failure> {
    let (m, n) = matrix.shape();
    let mut matrix = Scratch::copy_of(matrix)?;
    let scale = matrix.normalise()?;
    let mut values = if m as f64 > TALL * n as f64 {
        of_tall(matrix, left, right, par)?
    } else {
        of_near_square(&matrix, left, right, par)?
    };
    put_in_order(&mut values, left, right);
    if scale != 1.0 {
        let scale = T::of_real(scale);
        values.iter_mut().for_each(|value| *value = value.times(scale));
    }
    Ok(values)
}

/// By way of the triangle, whose left vectors are turned into the matrix's.
fn of_tall<T: Element<Re = f64>>(matrix: Scratch<T>, left: &mut Scratch<T>, right: &mut Scratch<T>, par: Par) -> Result<Vec<T>, Failure> {
    let n = matrix.as_ref().ncols();
    let factors = Blocks::in_place(matrix, par)?;
    let mut lefts = Scratch::zeros(n, n)?;
    let values = of_near_square(&factors.triangle()?, &mut lefts, right, par)?;
    left.as_mut().fill(T::zero_impl());
    for col in 0..left.as_ref().ncols() {
        if col < n {
            left.col_mut(col)[..n].copy_from_slice(lefts.col(col));
        } else {
            left[(col, col)] = T::one_impl();
        }
    }
    factors.rotate(left.as_mut(), par)?;
    Ok(values)
}

fn of_near_square<T: Element<Re = f64>>(
    matrix: &Scratch<T>,
    left: &mut Scratch<T>,
    right: &mut Scratch<T>,
    par: Par,
) -> Result<Vec<T>, Failure> {
    match of_small(matrix, left, right)? {
        Some(values) => Ok(values),
        None => with_vectors_by_faer(matrix, left, right, par),
    }
}

fn of_small<T: Element<Re = f64>>(matrix: &Scratch<T>, left: &mut Scratch<T>, right: &mut Scratch<T>) -> Result<Option<Vec<T>>, Failure> {
    let (Some(matrix), Some(left), Some(right)) = (T::real(matrix.as_ref()), T::real_mut(left.as_mut()), T::real_mut(right.as_mut()))
    else {
        return Ok(None);
    };
    let found = small_svd::decompose(matrix, left, right)?;
    Ok(found.map(|values| values.into_iter().map(T::of_real).collect()))
}

fn with_vectors_by_faer<T: Element<Re = f64>>(
    matrix: &Scratch<T>,
    left: &mut Scratch<T>,
    right: &mut Scratch<T>,
    par: Par,
) -> Result<Vec<T>, Failure> {
    let (m, n) = matrix.as_ref().shape();
    let mut values = zeros(m.min(n))?;
    let is_full = left.as_ref().ncols() != m.min(n) || right.as_ref().ncols() != m.min(n);
    let compute = if is_full {
        ComputeSvdVectors::Full
    } else {
        ComputeSvdVectors::Thin
    };
    // Dividing pays earlier than faer takes it, and fails where most of the values are as good as 0: those are not divided.
    for smallest in [DIVIDED, usize::MAX] {
        let mut params: Spec<SvdParams, T> = Default::default();
        params.config.recursion_threshold = smallest;
        let needed = svd_scratch::<T>(m, n, compute, compute, par, params);
        let stored = DiagMut::from_slice_mut(&mut values);
        // What an attempt before has left is not read, but by what faer adds to.
        let (mut us, mut vs) = (left.as_mut(), right.as_mut());
        us.fill(T::of_real(0.0));
        vs.fill(T::of_real(0.0));
        let done = with_stack(needed, |stack| svd(matrix.as_ref(), stored, Some(us), Some(vs), par, stack, params))?;
        // Vectors of values that are 0 but for rounding are not always orthogonal where a matrix was divided.
        let was_divided = smallest == DIVIDED && m.min(n) >= DIVIDED;
        let is_done = done.is_ok() && left.is_finite() && right.is_finite();
        if is_done && !(was_divided && has_zeros(&values, m.max(n))) {
            return Ok(values);
        }
    }
    Err(Failure::NoConvergence)
}
