//! The QR decomposition by Householder's reflections.

#![allow(unsafe_code)]

use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as applying_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::qr::no_pivoting::factor;
use faer::prelude::ReborrowMut;
use faer::{Conj, MatMut, MatRef, Par};

use crate::element::Element;
use crate::failure::Failure;
use crate::operand::Item;
use crate::reflections::Reflections;
use crate::scratch::{Scratch, with_stack};

/// A matrix as a triangle and reflections.
enum Factors<T> {
    Blocks(Blocks<T>),
    /// Of small real matrices.
    Rows(Reflections),
}

/// The triangle above, the vectors of the reflections below the diagonal, and what they are scaled by, in blocks.
struct Blocks<T> {
    both: Scratch<T>,
    scales: Scratch<T>,
}

impl<T: Element<Re = f64>> Factors<T> {
    fn of(matrix: MatRef<'_, T>, par: Par) -> Result<Self, Failure> {
        if let Some(matrix) = T::real(matrix)
            && let Some(found) = Reflections::of(matrix)?
        {
            return Ok(Factors::Rows(found));
        }
        let mut copy = Scratch::copy_of(matrix)?;
        // What has no largest element is known by the caller to be no numbers.
        let scale = copy.normalise().unwrap_or(1.0);
        let mut made = Blocks::in_place(copy, par)?;
        if scale != 1.0 {
            made.scale_triangle(T::of_real(scale));
        }
        Ok(Factors::Blocks(made))
    }

    /// As many columns of the orthogonal matrix as there is room for.
    fn store_rotation(&mut self, mut out: MatMut<'_, T>, par: Par) -> Result<(), Failure> {
        match self {
            Factors::Blocks(blocks) => out.copy_from(blocks.rotation(out.ncols(), par)?.as_ref()),
            Factors::Rows(reflections) => {
                let found = reflections.rotation(out.ncols())?;
                for row in 0..out.nrows() {
                    for (col, x) in found.col(row).iter().enumerate() {
                        out[(row, col)] = T::of_real(*x);
                    }
                }
            }
        }
        Ok(())
    }

    /// The triangle, as many rows of it as there is room for.
    fn store_triangle(&self, mut out: MatMut<'_, T>) {
        for row in 0..out.nrows() {
            for col in 0..out.ncols() {
                out[(row, col)] = if row <= col { self.in_triangle(row, col) } else { T::zero_impl() };
            }
        }
    }

    fn in_triangle(&self, row: usize, col: usize) -> T {
        match self {
            Factors::Blocks(blocks) => blocks.both[(row, col)],
            Factors::Rows(reflections) => T::of_real(reflections.triangle[(col, row)]),
        }
    }

    /// An element below the diagonal of the reflections' vectors.
    fn in_vectors(&self, row: usize, col: usize) -> T {
        match self {
            Factors::Blocks(blocks) => blocks.both[(row, col)],
            Factors::Rows(reflections) => T::of_real(reflections.vectors[(row, col)]),
        }
    }

    /// By what a vector times its conjugated turn is multiplied.
    fn factor(&self, at: usize) -> T {
        match self {
            Factors::Blocks(blocks) => T::one_impl().over(blocks.scales[(at % blocks.scales.as_ref().nrows(), at)]),
            Factors::Rows(reflections) => T::of_real(reflections.factors[at]),
        }
    }
}

impl<T: Element<Re = f64>> Blocks<T> {
    fn scale_triangle(&mut self, scale: T) {
        let (rows, cols) = self.both.as_ref().shape();
        for col in 0..cols {
            for row in 0..rows.min(col + 1) {
                self.both[(row, col)] = self.both[(row, col)].times(scale);
            }
        }
    }

    fn in_place(mut both: Scratch<T>, par: Par) -> Result<Self, Failure> {
        let (m, n) = both.as_ref().shape();
        let block = factor::recommended_block_size::<T>(m, n);
        let mut scales = Scratch::zeros(block, m.min(n))?;
        with_stack(factor::qr_in_place_scratch::<T>(m, n, block, par, Default::default()), |stack| {
            factor::qr_in_place(both.as_mut(), scales.as_mut(), par, stack, Default::default());
        })?;
        Ok(Blocks { both, scales })
    }

    /// So many columns of the orthogonal matrix.
    fn rotation(&self, cols: usize, par: Par) -> Result<Scratch<T>, Failure> {
        let both = self.both.as_ref();
        let (m, n) = both.shape();
        let mut found = Scratch::identity(m, cols)?;
        let block = self.scales.as_ref().nrows();
        with_stack(applying_scratch::<T>(m, block, cols), |stack| {
            let vectors = both.subcols(0, m.min(n));
            apply(vectors, self.scales.as_ref(), Conj::No, found.as_mut(), par, stack);
        })?;
        Ok(found)
    }
}

/// The triangle of a matrix of finite elements, of no more columns than rows, as it comes.
pub fn triangle_of<T: Element<Re = f64>>(matrix: Scratch<T>, par: Par) -> Result<Scratch<T>, Failure> {
    let n = matrix.as_ref().ncols();
    let mut made = Scratch::zeros(n, n)?;
    Factors::Blocks(Blocks::in_place(matrix, par)?).store_triangle(made.as_mut());
    Ok(made)
}

/// Orthonormal columns, and the triangle that they are to be multiplied with: as many of both as the result has room for.
///
/// # Safety
/// As [`crate::run`] says: the matrix, and where the two are stored.
pub unsafe fn both<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut columns, mut triangle) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>(), items[2].matrix_mut::<T>()) };
    let mut factors = Factors::of(matrix, par)?;
    factors.store_rotation(columns.rb_mut(), par)?;
    factors.store_triangle(triangle.rb_mut());
    if let Some(first) = first_unknown(matrix) {
        columns.fill(nan());
        spread_nan(triangle, first);
        return Ok(());
    }
    for at in 0..triangle.nrows().min(triangle.ncols()) {
        let turn = turn_of(triangle[(at, at)], at + 1 == matrix.nrows());
        turn_row(triangle.rb_mut(), at, turn);
        for row in 0..columns.nrows() {
            columns[(row, at)] = columns[(row, at)].times(turn.conjugate());
        }
    }
    Ok(())
}

/// The triangle alone.
///
/// # Safety
/// As for [`both`].
pub unsafe fn triangle<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>()) };
    Factors::of(matrix, par)?.store_triangle(out.rb_mut());
    if let Some(first) = first_unknown(matrix) {
        spread_nan(out, first);
        return Ok(());
    }
    for at in 0..out.nrows().min(out.ncols()) {
        let turn = turn_of(out[(at, at)], at + 1 == matrix.nrows());
        turn_row(out.rb_mut(), at, turn);
    }
    Ok(())
}

/// The first column that has an infinity or NaN: from there on nothing is known.
fn first_unknown<T: Element>(matrix: MatRef<'_, T>) -> Option<usize> {
    (0..matrix.ncols()).find(|&col| (0..matrix.nrows()).any(|row| !Element::is_finite(matrix[(row, col)])))
}

fn nan<T: Element>() -> T {
    T::zero_impl().over(T::zero_impl())
}

fn spread_nan<T: Element>(mut triangle: MatMut<'_, T>, first: usize) {
    for col in first..triangle.ncols() {
        for row in 0..triangle.nrows().min(col + 1) {
            triangle[(row, col)] = nan();
        }
    }
}

/// What makes a diagonal element real, as all of LAPACK's are. The one in the last row was not reflected yet, which changes a sign.
fn turn_of<T: Element>(diagonal: T, is_in_last_row: bool) -> T {
    let (re, im) = diagonal.parts();
    if im.is_nought() {
        return T::one_impl();
    }
    let size = T::of_real(diagonal.size());
    let towards = if T::of_real(re).is_negative() == is_in_last_row {
        size
    } else {
        T::zero_impl().minus(size)
    };
    diagonal.conjugate().over(towards)
}

fn turn_row<T: Element>(mut triangle: MatMut<'_, T>, row: usize, turn: T) {
    for col in row..triangle.ncols() {
        triangle[(row, col)] = triangle[(row, col)].times(turn);
    }
}

/// The reflections as LAPACK's `geqrf` gives them, turned: the triangle and the vectors in one matrix, and the vectors' scales.
///
/// # Safety
/// As for [`both`].
pub unsafe fn raw<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out, mut scales) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>(), items[2].matrix_mut::<T>()) };
    let factors = Factors::of(matrix, par)?;
    for row in 0..out.nrows() {
        for col in 0..out.ncols() {
            out[(row, col)] = if row < col {
                factors.in_vectors(col, row)
            } else {
                factors.in_triangle(col, row)
            };
        }
    }
    if let Some(first) = first_unknown(matrix) {
        for row in first..out.nrows() {
            for col in 0..out.ncols() {
                out[(row, col)] = nan();
            }
        }
        for at in first.min(scales.nrows())..scales.nrows() {
            scales[(at, 0)] = nan();
        }
        return Ok(());
    }
    for at in 0..scales.nrows() {
        scales[(at, 0)] = factors.factor(at);
    }
    Ok(())
}
