//! Folds of neighbouring points, which lie side by side in vectors.

use weft_ir::order::CHAINS;

use super::Fold;
use super::kernel::{Join, Join4, Order};
use super::load::Loads;
use super::scratch::Scratch;
use super::shape::Block;

/// Neighbouring points, folded side by side.
pub struct Across<'a> {
    pub fold: &'a Fold,
    pub from: *const u8,
    pub points: usize,
}

impl Across<'_> {
    /// Folds a block of each point.
    pub unsafe fn block(&self, block: Block, into: *mut u8, scratch: &mut Scratch) {
        // SAFETY: by contract; a tile and the chains have room.
        unsafe {
            match self.fold.kernel.order {
                Order::Fixed => self.chains(block, into, scratch),
                Order::Free | Order::Sequence => {
                    for row in block.row..block.row + block.rows {
                        let mut place = into.cast_const();
                        self.chain((row, block.column, 1), block.columns, (into, &mut place), scratch.tile);
                    }
                }
            }
        }
    }

    /// Folds the 32 chains of a block, and these as a tree.
    unsafe fn chains(&self, block: Block, into: *mut u8, scratch: &Scratch) {
        let size = self.points * self.fold.kernel.size;
        let memory = |k: u64| scratch.chains.wrapping_add(k as usize * size);
        // Where what a chain holds lies: of one element where that lies.
        let mut held = [std::ptr::null(); CHAINS as usize];
        for row in block.row..block.row + block.rows {
            // SAFETY: by contract.
            unsafe { self.row(row, block, &memory, &mut held, scratch.tile) };
        }
        let (chains, mut left) = (CHAINS.min(block.columns), CHAINS / 2);
        while left > 0 {
            for k in 0..left.min(chains.saturating_sub(left)) {
                let (base, from) = (held[k as usize], held[(k + left) as usize]);
                // SAFETY: by contract.
                unsafe { self.join(memory(k), base, from) };
                held[k as usize] = memory(k);
            }
            left /= 2;
        }
        // SAFETY: by contract.
        unsafe { self.join(into, into, held[0]) };
    }

    unsafe fn join(&self, into: *mut u8, base: *const u8, from: *const u8) {
        let count = self.points;
        // SAFETY: by contract.
        unsafe { (self.fold.kernel.join)(Join { into, base, from, count }) };
    }

    /// Takes in a row of elements, four of a chain at a time: chains are written less often than memory is read, and that is still read as it
    /// lies, in four places.
    unsafe fn row(&self, row: u64, block: Block, memory: &dyn Fn(u64) -> *mut u8, held: &mut [*const u8], tile: *mut u8) {
        for group in (0..block.columns).step_by(4 * CHAINS as usize) {
            let left = block.columns - group;
            for k in 0..CHAINS.min(left) {
                let count = (left - k).div_ceil(CHAINS).min(4);
                let chain = (memory(k), &mut held[k as usize]);
                // SAFETY: by contract; there is room for the chains.
                unsafe { self.chain((row, block.column + group + k, CHAINS), count, chain, tile) };
            }
        }
    }

    /// Joins elements of a row, from a column on in steps, with those that are held so far, if there are any.
    unsafe fn chain(&self, (row, column, step): (u64, u64, u64), count: u64, (into, held): (*mut u8, &mut *const u8), tile: *mut u8) {
        let (kernel, stride) = (&self.fold.kernel, self.fold.inner.columns.stride);
        let first = self.fold.inner.row_offset(row) + column as i64 * stride;
        let size = self.points * kernel.size;
        let at = |n: u64, tile: *mut u8| {
            // SAFETY: by contract.
            unsafe { self.points_at(self.from.offset((first + (n * step) as i64 * stride) as isize), tile) }
        };
        let mut n = 0;
        if held.is_null() {
            (*held, n) = (at(0, into), 1);
        }
        while n < count {
            // SAFETY: by contract; a tile has room for four.
            unsafe {
                if count - n < 4 || *held != into.cast_const() {
                    self.join(into, *held, at(n, tile));
                    (*held, n) = (into, n + 1);
                    continue;
                }
                let from = [0, 1, 2, 3].map(|slot| at(n + slot as u64, tile.add(slot * size)));
                let count = self.points;
                (kernel.join4)(Join4 { into, from, count });
                n += 4;
            }
        }
    }

    /// The elements of all points, as they are computed with.
    unsafe fn points_at(&self, from: *const u8, tile: *mut u8) -> *const u8 {
        let stride = self.fold.lanes.input;
        if self.fold.same && (stride == self.fold.kernel.size as i64 || self.points == 1) {
            return from;
        }
        let loads = Loads {
            from,
            stride,
            count: self.points,
            to: tile,
        };
        // SAFETY: by contract.
        unsafe { (self.fold.load)(loads) };
        tile
    }
}
