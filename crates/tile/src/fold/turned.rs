//! Folds of rows that are neighbours in memory, as those of Fortran arrays are: rows lie side by side in vectors, and leave what their blocks
//! are folded to, which is then joined in order.

use std::ops::Range;

use weft_ir::order::{BLOCK, ROW};

use super::across::Across;
use super::kernel::{Clear, Join};
use super::scratch::Scratch;
use super::shape::{Axis, Block, Inner, Outer};
use super::{FEW, Fold};

/// The rows, if they are neighbours, are blocks of their own and do not all lie at one place.
pub fn rows(inner: &Inner) -> Option<Outer> {
    let Axis { extent, stride } = *inner.rows.last()?;
    let nearer = stride.unsigned_abs() < inner.columns.stride.unsigned_abs();
    (nearer && extent >= FEW && inner.columns.extent >= ROW).then_some(Outer {
        extent,
        input: stride,
        output: 0,
    })
}

impl Fold {
    /// Folds rows of some points, of one chunk or of all.
    ///
    /// # Safety
    /// As for [`Fold::run`]; `into` has room for the points.
    pub(super) unsafe fn fold_rows(&self, from: *const u8, points: usize, rows: Range<u64>, into: *mut u8) {
        let Some(row) = &self.turned else { return };
        let mut scratch = Scratch::take(row);
        let (size, per_row) = (self.kernel.size, self.inner.cut.blocks_per_row as usize);
        let mut blocks = vec![0u128; (per_row * row.panel as usize * size).div_ceil(size_of::<u128>())];
        let blocks = blocks.as_mut_ptr().cast::<u8>();
        for point in 0..points {
            // SAFETY: by contract.
            unsafe {
                let (from, into) = (from.offset((point as i64 * self.lanes.input) as isize), into.add(point * size));
                self.rows_of_point(row, from, rows.clone(), (blocks, into), &mut scratch);
            }
        }
    }

    unsafe fn rows_of_point(
        &self,
        row: &Fold,
        from: *const u8,
        rows: Range<u64>,
        (blocks, into): (*mut u8, *mut u8),
        scratch: &mut Scratch,
    ) {
        let cut = self.inner.cut;
        let (per_row, per_chunk) = (cut.blocks_per_row as usize, cut.blocks_per_chunk() / cut.blocks_per_row);
        let size = self.kernel.size;
        let mut part = 0u128;
        let part = (&raw mut part).cast::<u8>();
        let mut at = rows.start;
        // SAFETY: by contract; there is room for the blocks of a panel of rows.
        unsafe {
            self.clear(into, 1);
            self.clear(part, 1);
            while at < rows.end {
                let together = (row.lanes.extent - at % row.lanes.extent).min(row.panel).min(rows.end - at) as usize;
                let across = Across {
                    fold: row,
                    from: from.offset(self.inner.row_offset(at) as isize),
                    points: together,
                };
                self.clear(blocks, per_row * together);
                for n in 0..per_row {
                    let column = n as u64 * BLOCK;
                    let block = Block {
                        row: 0,
                        rows: 1,
                        column,
                        columns: BLOCK.min(cut.columns - column),
                    };
                    across.block(block, blocks.add(n * together * size), scratch);
                }
                for i in 0..together {
                    if (at + i as u64).is_multiple_of(per_chunk) {
                        self.join_one(into, part);
                        self.clear(part, 1);
                    }
                    (0..per_row).for_each(|n| self.join_one(part, blocks.add((n * together + i) * size)));
                }
                at += together as u64;
            }
            self.join_one(into, part);
        }
    }

    unsafe fn clear(&self, to: *mut u8, count: usize) {
        // SAFETY: by contract.
        unsafe { (self.kernel.clear)(Clear { to, count }) };
    }

    unsafe fn join_one(&self, into: *mut u8, from: *const u8) {
        // SAFETY: by contract.
        unsafe {
            (self.kernel.join)(Join {
                into,
                base: into,
                from,
                count: 1,
            })
        };
    }
}
