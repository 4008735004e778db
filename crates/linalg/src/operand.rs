//! Operands: stacks of matrices in memory, and one matrix of each at a time.

#![allow(unsafe_code)]

use std::marker::PhantomData;

use faer::{MatMut, MatRef};

use crate::small::ahead::Run;

/// A stack of matrices, vectors or numbers: where its first element lies, and how far apart the others are along each axis, in bytes.
#[derive(Clone, Debug)]
pub struct Operand {
    pub data: *mut u8,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
}

/// One matrix of a stack. Vectors are one column wide, numbers are matrices of one element.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    pub data: *mut u8,
    pub rows: usize,
    pub cols: usize,
    /// From row to row and from column to column, in bytes.
    pub row_step: isize,
    pub col_step: isize,
    /// Where one lies that is worked on soon; null if that does not matter.
    pub next: *const u8,
    memory: PhantomData<&'a ()>,
}

impl Operand {
    /// Whether every element, of so many bytes, lies a whole number of elements from the first one. What does not is no operand.
    pub fn is_regular(&self, item: usize) -> bool {
        let mut steps = self.shape.iter().zip(&self.strides);
        steps.all(|(&length, &stride)| length <= 1 || stride.unsigned_abs().is_multiple_of(item))
    }

    /// The matrix at a place of the stack: the last `core` axes are its own, and those in front are broadcast to the stack's `shape`.
    pub fn at<'a>(&self, core: usize, shape: &[usize], place: u64) -> Item<'a> {
        let front = self.shape.len() - core;
        let mut offset = 0_isize;
        let mut rest = place;
        for (back, &length) in shape.iter().rev().enumerate() {
            // Nothing is left over along the first axis.
            let is_first = back + 1 == shape.len();
            let index = if is_first { rest } else { rest % length as u64 };
            if !is_first {
                rest /= length as u64;
            }
            if let Some(axis) = front.checked_sub(back + 1)
                && self.shape[axis] != 1
            {
                offset += index as isize * self.strides[axis];
            }
        }
        let axis = |at: usize| match at < core {
            true => (self.shape[front + at], self.strides[front + at]),
            false => (1, 0),
        };
        let ((rows, row_step), (cols, col_step)) = (axis(0), axis(1));
        Item {
            data: self.data.wrapping_byte_offset(offset),
            rows,
            cols,
            row_step,
            col_step,
            next: std::ptr::null(),
            memory: PhantomData,
        }
    }
}

impl<'a> Item<'a> {
    /// A matrix of no elements.
    pub const NOTHING: Item<'a> = Item {
        data: std::ptr::null_mut(),
        rows: 0,
        cols: 0,
        row_step: 0,
        col_step: 0,
        next: std::ptr::null(),
        memory: PhantomData,
    };

    /// The memory of the matrix that is next, if its elements lie together, and not where this one does.
    pub fn ahead<T>(&self) -> Run {
        let (size, rows, cols) = (size_of::<T>(), self.rows, self.cols);
        let in_rows = self.col_step == size as isize && self.row_step == (cols * size) as isize;
        let in_cols = self.row_step == size as isize && self.col_step == (rows * size) as isize;
        match (in_rows || in_cols) && !self.next.is_null() && self.next != self.data.cast_const() {
            true => Run::new(self.next, rows * cols * size),
            false => Run::default(),
        }
    }

    fn step<T>(step: isize) -> isize {
        step / size_of::<T>() as isize
    }

    /// Its elements, to be read.
    ///
    /// # Safety
    /// Its memory must hold elements of this type, aligned, at all of its places, which nobody writes for as long as 'a.
    pub unsafe fn matrix<T>(&self) -> MatRef<'a, T> {
        let data = if self.rows == 0 || self.cols == 0 {
            std::ptr::dangling_mut()
        } else {
            self.data.cast::<T>()
        };
        // SAFETY: the caller says so; steps of an axis of one element do not matter, and are no multiples of the size only there.
        unsafe {
            MatRef::from_raw_parts(
                data,
                self.rows,
                self.cols,
                Self::step::<T>(self.row_step),
                Self::step::<T>(self.col_step),
            )
        }
    }

    /// Its elements, to be written.
    ///
    /// # Safety
    /// As for [`Item::matrix`]; and nobody else reads or writes its memory, and no two places are one.
    pub unsafe fn matrix_mut<T>(&self) -> MatMut<'a, T> {
        let data = if self.rows == 0 || self.cols == 0 {
            std::ptr::dangling_mut()
        } else {
            self.data.cast::<T>()
        };
        // SAFETY: as above.
        unsafe {
            MatMut::from_raw_parts_mut(
                data,
                self.rows,
                self.cols,
                Self::step::<T>(self.row_step),
                Self::step::<T>(self.col_step),
            )
        }
    }
}
