//! The QR decomposition by Householder's reflections.

#![allow(unsafe_code)]

use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as applying_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::prelude::ReborrowMut;
use faer::{Conj, MatMut, MatRef, Par};

use crate::element::Element;
use crate::failure::Failure;
use crate::householder;
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
pub struct Blocks<T> {
    both: Scratch<T>,
    scales: Scratch<T>,
    /// What the triangle is to be multiplied by.
    scale: f64,
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
        Ok(Factors::Blocks(Blocks {
            scale,
            ..Blocks::in_place(copy, par)?
        }))
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

    /// What the triangle is to be multiplied by, when its diagonal is real.
    fn scale(&self) -> f64 {
        match self {
            Factors::Blocks(blocks) => blocks.scale,
            Factors::Rows(_) => 1.0,
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
            Factors::Blocks(blocks) => T::of_real(1.0 / blocks.scales[(at % blocks.scales.as_ref().nrows(), at)].parts().0),
            Factors::Rows(reflections) => T::of_real(reflections.factors[at]),
        }
    }
}

impl<T: Element<Re = f64>> Blocks<T> {
    pub fn in_place(mut both: Scratch<T>, par: Par) -> Result<Self, Failure> {
        let scales = householder::qr_in_place(&mut both, par)?;
        Ok(Blocks { both, scales, scale: 1.0 })
    }

    /// So many columns of the orthogonal matrix.
    fn rotation(&self, cols: usize, par: Par) -> Result<Scratch<T>, Failure> {
        let both = self.both.as_ref();
        let mut found = Scratch::identity(both.nrows(), cols)?;
        self.rotate(found.as_mut(), par)?;
        Ok(found)
    }

    /// Multiplies by the orthogonal matrix from the left.
    pub fn rotate(&self, matrix: MatMut<'_, T>, par: Par) -> Result<(), Failure> {
        let both = self.both.as_ref();
        let (m, n) = both.shape();
        let block = self.scales.as_ref().nrows();
        with_stack(applying_scratch::<T>(m, block, matrix.ncols()), |stack| {
            let vectors = both.subcols(0, m.min(n));
            apply(vectors, self.scales.as_ref(), Conj::No, matrix, par, stack);
        })
    }

    /// The upper triangle, with as many rows as columns.
    pub fn triangle(&self) -> Result<Scratch<T>, Failure> {
        let n = self.both.as_ref().ncols();
        let mut made = Scratch::zeros(n, n)?;
        for col in 0..n {
            made.col_mut(col)[..=col].copy_from_slice(&self.both.col(col)[..=col]);
        }
        Ok(made)
    }
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
    scale_all(triangle, factors.scale());
    Ok(())
}

/// The triangle alone.
///
/// # Safety
/// As for [`both`].
pub unsafe fn triangle<T: Element<Re = f64>>(items: &[Item<'_>], par: Par) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let (matrix, mut out) = unsafe { (items[0].matrix::<T>(), items[1].matrix_mut::<T>()) };
    let factors = Factors::of(matrix, par)?;
    factors.store_triangle(out.rb_mut());
    if let Some(first) = first_unknown(matrix) {
        spread_nan(out, first);
        return Ok(());
    }
    for at in 0..out.nrows().min(out.ncols()) {
        let turn = turn_of(out[(at, at)], at + 1 == matrix.nrows());
        turn_row(out.rb_mut(), at, turn);
    }
    scale_all(out, factors.scale());
    Ok(())
}

fn scale_all<T: Element<Re = f64>>(mut triangle: MatMut<'_, T>, scale: f64) {
    if scale != 1.0 {
        for col in 0..triangle.ncols() {
            for row in 0..triangle.nrows() {
                triangle[(row, col)] = triangle[(row, col)].times(T::of_real(scale));
            }
        }
    }
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
                factors.in_triangle(col, row).times(T::of_real(factors.scale()))
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
