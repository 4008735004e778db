//! Memory for what is computed on the way, which may not be there.

use std::ops::{Index, IndexMut};

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::{MatMut, MatRef};

use crate::element::Element;
use crate::failure::Failure;

/// Columns whose distance is a multiple of this lie in the same few places of a cache.
const CLASHING_BYTES: usize = 2048;
const LINE_BYTES: usize = 64;
/// Elements looked at side by side.
const LANES: usize = 8;

/// A matrix of its own, its columns one after the other.
#[derive(Debug)]
pub struct Scratch<T> {
    memory: Vec<T>,
    rows: usize,
    cols: usize,
    step: usize,
}

/// Reduces a matrix to two diagonals, which it writes; false where that is left to others.
pub type Reduction<T> = fn(&mut Scratch<T>, &mut [f64], &mut [f64]) -> Result<bool, Failure>;

impl<T: Element> Scratch<T> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Result<Self, Failure> {
        let line = LINE_BYTES / size_of::<T>();
        let mut step = rows.checked_next_multiple_of(line).ok_or(Failure::OutOfMemory)?;
        if step > line && (step * size_of::<T>()).is_multiple_of(CLASHING_BYTES) {
            step += line;
        }
        let memory = zeros(step.checked_mul(cols).ok_or(Failure::OutOfMemory)?)?;
        Ok(Scratch { memory, rows, cols, step })
    }

    pub fn copy_of(matrix: MatRef<'_, T>) -> Result<Self, Failure> {
        let mut made = Scratch::zeros(matrix.nrows(), matrix.ncols())?;
        made.as_mut().copy_from(matrix);
        Ok(made)
    }

    /// The lower triangle of a Hermitian matrix, zeros above it. Imaginary parts of the diagonal are not read, as in LAPACK.
    pub fn lower_of(matrix: MatRef<'_, T>) -> Result<Self, Failure> {
        let mut made = Scratch::zeros(matrix.nrows(), matrix.ncols())?;
        made.as_mut().copy_from_triangular_lower(matrix);
        made.make_diagonal_real();
        Ok(made)
    }

    /// The conjugates of the upper triangle of a Hermitian matrix, turned: a lower one.
    pub fn turned_upper_of(matrix: MatRef<'_, T>) -> Result<Self, Failure> {
        let mut made = Scratch::zeros(matrix.ncols(), matrix.nrows())?;
        made.as_mut().copy_from_triangular_lower(matrix.adjoint());
        made.make_diagonal_real();
        Ok(made)
    }

    fn make_diagonal_real(&mut self) {
        let mut matrix = self.as_mut();
        for at in 0..matrix.nrows().min(matrix.ncols()) {
            matrix[(at, at)] = T::of_real(matrix[(at, at)].parts().0);
        }
    }

    pub fn identity(rows: usize, cols: usize) -> Result<Self, Failure> {
        let mut made = Scratch::zeros(rows, cols)?;
        for at in 0..rows.min(cols) {
            made.as_mut()[(at, at)] = T::one_impl();
        }
        Ok(made)
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn col(&self, col: usize) -> &[T] {
        &self.memory[col * self.step..][..self.rows]
    }

    pub fn col_mut(&mut self, col: usize) -> &mut [T] {
        &mut self.memory[col * self.step..][..self.rows]
    }

    /// Some neighbouring columns.
    pub fn cols_mut<const N: usize>(&mut self, at: usize) -> [&mut [T]; N] {
        let mut rest = &mut self.memory[at * self.step..];
        std::array::from_fn(|_| {
            let (col, after) = std::mem::take(&mut rest).split_at_mut(self.step);
            rest = after;
            &mut col[..self.rows]
        })
    }

    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice_with_stride(&self.memory, self.rows, self.cols, self.step)
    }

    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_column_major_slice_with_stride_mut(&mut self.memory, self.rows, self.cols, self.step)
    }
}

impl<T> Index<(usize, usize)> for Scratch<T> {
    type Output = T;
    fn index(&self, (row, col): (usize, usize)) -> &T {
        &self.memory[col * self.step + row]
    }
}

impl<T> IndexMut<(usize, usize)> for Scratch<T> {
    fn index_mut(&mut self, (row, col): (usize, usize)) -> &mut T {
        &mut self.memory[col * self.step + row]
    }
}

impl<T: Element<Re = f64>> Scratch<T> {
    /// The largest part of an element; NaN if one is infinite or NaN.
    pub fn largest(&self) -> f64 {
        let (chunks, rest) = self.memory.as_chunks::<LANES>();
        let mut seen = Seen::default();
        chunks.iter().for_each(|chunk| seen.all_of(chunk));
        let mut last = [T::zero_impl(); LANES];
        last[..rest.len()].copy_from_slice(rest);
        seen.all_of(&last);
        seen.largest.into_iter().fold(0.0, f64::max) + seen.unknown.into_iter().sum::<f64>()
    }

    /// Writes the matrix, conjugated if asked, to where rows are of neighbouring elements: in squares, since each line of the cache serves several rows.
    pub fn store(&self, mut out: MatMut<'_, T>, conjugated: bool) {
        let (rows, cols) = (self.rows, self.cols);
        for (row0, col0) in (0..rows)
            .step_by(LANES)
            .flat_map(|row| (0..cols).step_by(LANES).map(move |col| (row, col)))
        {
            for col in col0..cols.min(col0 + LANES) {
                let part = &self.col(col)[row0..rows.min(row0 + LANES)];
                for (at, x) in part.iter().enumerate() {
                    out[(row0 + at, col)] = if conjugated { x.conjugate() } else { *x };
                }
            }
        }
    }

    pub fn is_finite(&self) -> bool {
        // What is no number is 0 times itself, and stays so in sums.
        let mut lanes = [0.0; LANES];
        let (chunks, rest) = self.memory.as_chunks::<LANES>();
        for chunk in chunks {
            for (lane, x) in lanes.iter_mut().zip(chunk) {
                let (re, im) = x.parts();
                *lane += re * 0.0 + im * 0.0;
            }
        }
        lanes.iter().all(|lane| *lane == 0.0) && rest.iter().all(|x| Element::is_finite(*x))
    }

    /// Scales the matrix by a power of two, so that neither squares nor sums of its elements leave the range of numbers; what results are to be
    /// scaled by is given back, 1 for nearly all. Elements that are no numbers make an iteration not end.
    pub fn normalise(&mut self) -> Result<f64, Failure> {
        const SAFE: std::ops::RangeInclusive<f64> = 1e-120..=1e120;
        let largest = self.largest();
        if !largest.is_finite() {
            return Err(Failure::NoConvergence);
        }
        if largest == 0.0 || SAFE.contains(&largest) {
            return Ok(1.0);
        }
        let half = root_of_power(largest);
        let down = T::of_real(1.0 / half);
        for x in &mut self.memory {
            *x = x.times(down).times(down);
        }
        Ok(half * half)
    }
}

/// The root of a power of two about as large as a number. The power itself would have no inverse at the ends of the range: scaling takes two
/// steps, each of which has one.
pub fn root_of_power(x: f64) -> f64 {
    (x.log2() / 2.0).floor().exp2()
}

/// What was seen of elements, lane by lane.
#[derive(Default)]
struct Seen {
    largest: [f64; LANES],
    /// Zeros; NaN where something infinite or NaN came by.
    unknown: [f64; LANES],
}

impl Seen {
    fn all_of<T: Element<Re = f64>>(&mut self, chunk: &[T; LANES]) {
        for (lane, x) in chunk.iter().enumerate() {
            let (re, im) = x.parts();
            for part in [re.abs(), im.abs()] {
                self.largest[lane] = if part > self.largest[lane] { part } else { self.largest[lane] };
                self.unknown[lane] += part * 0.0;
            }
        }
    }
}

/// So many zeros.
pub fn zeros<T: Element>(count: usize) -> Result<Vec<T>, Failure> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(count).map_err(|_| Failure::OutOfMemory)?;
    memory.resize(count, T::zero_impl());
    Ok(memory)
}

/// So many indices, all 0.
pub fn indices(count: usize) -> Result<Vec<usize>, Failure> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(count).map_err(|_| Failure::OutOfMemory)?;
    memory.resize(count, 0);
    Ok(memory)
}

/// Calls a function with the memory that it says it needs.
pub fn with_stack<R>(needed: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> Result<R, Failure> {
    let mut memory = MemBuffer::try_new(needed).map_err(|_| Failure::OutOfMemory)?;
    Ok(work(MemStack::new(&mut memory)))
}
