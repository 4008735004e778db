//! Index spaces of folds: axes without what makes no difference, and the blocks of the fixed order.

use std::ops::Range;

use weft_ir::order::{BLOCK, Cut};

/// An axis along which elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    pub extent: u64,
    /// In bytes.
    pub stride: i64,
}

/// An axis of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outer {
    pub extent: u64,
    /// Strides in bytes.
    pub input: i64,
    pub output: i64,
}

/// What is folded for each point of the result.
#[derive(Clone, Debug)]
pub struct Inner {
    pub rows: Vec<Axis>,
    pub columns: Axis,
    pub cut: Cut,
    /// Bytes from the input to the first element.
    pub offset: i64,
}

/// Points of one or more rows that one block of the order has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub row: u64,
    pub rows: u64,
    pub column: u64,
    pub columns: u64,
}

impl Inner {
    /// Axes whose order shows in the result: that of the last one, and of all others.
    pub fn ordered(axes: &[Axis]) -> Inner {
        let extents: Vec<u64> = axes.iter().map(|axis| axis.extent).collect();
        let point = Axis { extent: 1, stride: 0 };
        let (columns, rows) = axes.split_last().map_or((point, &[][..]), |(last, rows)| (*last, rows));
        Inner {
            rows: merged(rows),
            columns,
            cut: Cut::new(&extents),
            offset: 0,
        }
    }

    /// Axes that may be gone through as memory lies.
    pub fn free(axes: &[Axis]) -> Inner {
        let mut offset = 0;
        let mut axes = axes.to_vec();
        for axis in axes.iter_mut().filter(|axis| axis.stride < 0 && axis.extent > 0) {
            offset += (axis.extent as i64 - 1) * axis.stride;
            axis.stride = -axis.stride;
        }
        // Elements that are repeated are repeated as rows.
        axes.sort_by_key(|axis| (axis.stride != 0, std::cmp::Reverse(axis.stride)));
        Inner {
            offset,
            ..Inner::ordered(&merged(&axes))
        }
    }

    pub fn points(&self) -> u64 {
        self.cut.rows.saturating_mul(self.cut.columns)
    }

    /// The blocks of a chunk.
    pub fn blocks(&self, chunk: u64, mut take: impl FnMut(Block)) {
        let Cut {
            columns, rows_per_block, ..
        } = self.cut;
        let units = self.cut.units(chunk);
        if self.cut.blocks() == 0 {
            return;
        }
        if !self.cut.has_rows() {
            return in_row(0, units, &mut take);
        }
        for row in units.clone().step_by(rows_per_block as usize) {
            match self.cut.blocks_per_row {
                1 => take(Block {
                    row,
                    rows: rows_per_block.min(units.end - row),
                    column: 0,
                    columns,
                }),
                _ => in_row(row, 0..columns, &mut take),
            }
        }
    }

    /// Bytes from the first row to another.
    pub fn row_offset(&self, mut row: u64) -> i64 {
        if let [axis] = self.rows.as_slice() {
            return row as i64 * axis.stride;
        }
        let mut offset = 0;
        for axis in self.rows.iter().rev() {
            offset += (row % axis.extent) as i64 * axis.stride;
            row /= axis.extent;
        }
        offset
    }

    /// Bytes between rows, where they are the same between all.
    pub fn row_stride(&self) -> Option<i64> {
        match self.rows.as_slice() {
            [] => Some(0),
            [axis] => Some(axis.stride),
            _ => None,
        }
    }
}

fn in_row(row: u64, columns: Range<u64>, take: &mut impl FnMut(Block)) {
    let end = columns.end;
    for column in columns.step_by(BLOCK as usize) {
        take(Block {
            row,
            rows: 1,
            column,
            columns: BLOCK.min(end - column),
        });
    }
}

/// Without axes of one point; neighbours that lie as one axis does are one.
fn merged(axes: &[Axis]) -> Vec<Axis> {
    let mut kept: Vec<Axis> = Vec::with_capacity(axes.len());
    for axis in axes.iter().filter(|axis| axis.extent != 1) {
        match kept.last_mut() {
            Some(last) if last.stride == axis.stride.wrapping_mul(axis.extent as i64) => {
                last.extent = last.extent.saturating_mul(axis.extent);
                last.stride = axis.stride;
            }
            _ => kept.push(*axis),
        }
    }
    kept
}

/// The axes of the result in the same way, and the one that neighbours in memory lie along, or else the last.
pub fn outer(axes: &[Outer]) -> (Vec<Outer>, Outer) {
    let mut kept: Vec<Outer> = Vec::with_capacity(axes.len());
    for axis in axes.iter().filter(|axis| axis.extent != 1) {
        let steps = |stride: i64| stride.wrapping_mul(axis.extent as i64);
        match kept.last_mut() {
            Some(last) if last.input == steps(axis.input) && last.output == steps(axis.output) => {
                last.extent = last.extent.saturating_mul(axis.extent);
                (last.input, last.output) = (axis.input, axis.output);
            }
            _ => kept.push(*axis),
        }
    }
    let nearest = (0..kept.len()).rev().min_by_key(|&n| kept[n].input.unsigned_abs());
    let lanes = nearest.map(|n| kept.remove(n)).unwrap_or(Outer {
        extent: 1,
        input: 0,
        output: 0,
    });
    (kept, lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(extent: u64, stride: i64) -> Axis {
        Axis { extent, stride }
    }

    #[test]
    fn neighbouring_axes_are_one() {
        assert_eq!(merged(&[axis(2, 120), axis(3, 40), axis(1, 7), axis(5, 8)]), [axis(30, 8)]);
        assert_eq!(merged(&[axis(2, 120), axis(3, 48)]), [axis(2, 120), axis(3, 48)]);
        assert_eq!(merged(&[axis(4, 0), axis(3, 0)]), [axis(12, 0)]);
    }

    #[test]
    fn blocks_are_those_of_the_order() {
        for extents in [
            &[][..],
            &[1],
            &[5000],
            &[70, 3],
            &[3, 5000],
            &[1, 5000],
            &[9, 64],
            &[4, 0],
            &[300, 50],
        ] {
            let axes: Vec<Axis> = extents.iter().map(|&extent| axis(extent, 4)).collect();
            let inner = Inner::ordered(&axes);
            let (mut points, mut blocks) = (0, 0);
            for chunk in 0..inner.cut.chunks() {
                inner.blocks(chunk, |block| {
                    assert_eq!(inner.cut.block_of(block.row, block.column), blocks, "{extents:?}");
                    assert_eq!(blocks / inner.cut.blocks_per_chunk(), chunk, "{extents:?}");
                    blocks += 1;
                    points += block.rows * block.columns;
                });
            }
            assert_eq!((points, blocks), (extents.iter().product(), inner.cut.blocks()), "{extents:?}");
        }
    }

    #[test]
    fn axes_without_an_order_lie_as_memory_does() {
        let inner = Inner::free(&[axis(3, 4), axis(5, -12)]);
        assert_eq!((inner.rows.len(), inner.columns, inner.offset), (0, axis(15, 4), -48));
    }
}
