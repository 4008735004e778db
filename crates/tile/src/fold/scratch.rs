//! Memory that folds need on the way.

use std::cell::Cell;

use weft_ir::order::{BLOCK, CHAINS};

use super::kernel::Order;
use super::{Fold, Form};

/// Memory of a fold on the way: kept by the thread.
pub struct Scratch {
    memory: Vec<u128>,
    /// Of the points of a unit: what their chunks so far are folded to, and what one of them is.
    pub totals: *mut u8,
    pub part: *mut u8,
    /// Elements that were loaded, of a block or of four rows of points.
    pub tile: *mut u8,
    pub chains: *mut u8,
}

thread_local! {
    static SCRATCH: Cell<Vec<u128>> = const { Cell::new(Vec::new()) };
}

impl Scratch {
    pub fn take(fold: &Fold) -> Scratch {
        let size = fold.kernel.size;
        let panel = (fold.panel as usize * size).next_multiple_of(64);
        let (tile, chains) = match fold.form {
            Form::Along => (BLOCK as usize * size, 0),
            Form::Across if fold.kernel.order == Order::Fixed => (4 * panel, panel * fold.inner.cut.columns.min(CHAINS) as usize),
            Form::Across => (4 * panel, 0),
        };
        let bytes = 2 * panel + tile + chains;
        let mut memory = SCRATCH.take();
        memory.clear();
        memory.reserve(bytes.div_ceil(size_of::<u128>()));
        let totals = memory.as_mut_ptr().cast::<u8>();
        let part = totals.wrapping_add(panel);
        let tile_at = part.wrapping_add(panel);
        Scratch {
            totals,
            part,
            tile: tile_at,
            chains: tile_at.wrapping_add(tile),
            memory,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let other = SCRATCH.take();
        let ours = std::mem::take(&mut self.memory);
        SCRATCH.set(if other.capacity() > ours.capacity() { other } else { ours });
    }
}
