//! The one order in which reductions of a fixed order combine: given by the extents of the index space alone, so that every device, number of
//! threads and width of vectors gives the same bits.
//!
//! The points are cut into *blocks*: of [`BLOCK`] neighbours along the last axis; where rows are shorter, of one row; where they are shorter
//! than [`ROW`], of as many whole rows as fit. A block is [`CHAINS`] sums: column `c` belongs to chain `c % CHAINS`, and a chain combines its
//! points in C order, starting from the operator's identity. The chains of a block are combined as a tree: the first half with the second,
//! element by element, until one is left.
//! Blocks form at most [`CHUNKS`] *chunks* of equally many; within a chunk blocks are combined in order, starting from the identity, and
//! so are the chunks. What the local held before is combined with all that in the end.
//!
//! Rounding errors grow with the length of a chain, of a chunk and the number of chunks: about as slowly as with NumPy's pairwise sums.

use std::ops::Range;

/// Sums side by side: lanes of a gang, or neighbouring threads.
pub const CHAINS: u64 = 32;
/// Points of a block at the most.
pub const BLOCK: u64 = 2048;
/// Rows of so many points are blocks of their own: lanes may then be neighbouring rows, where memory lies so. Fewer would make many blocks, and
/// sums less exact.
pub const ROW: u64 = 64;
/// Chunks at the most: what several threads can share.
pub const CHUNKS: u64 = 64;
/// Blocks of a chunk at the least: what makes up for taking it up.
pub const LEAST: u64 = 8;

/// So many points are one chunk, whatever their extents.
pub const ONE_CHUNK: i64 = (LEAST * ROW) as i64;

/// How an index space is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Points along the last axis, and how often there are so many.
    pub columns: u64,
    pub rows: u64,
    /// One of the two is 1.
    pub rows_per_block: u64,
    pub blocks_per_row: u64,
    /// A chunk ends where a row does.
    whole_rows: bool,
}

impl Cut {
    pub fn new(extents: &[u64]) -> Cut {
        let (columns, outer) = extents.split_last().map_or((1, &[][..]), |(last, outer)| (*last, outer));
        Cut {
            columns,
            rows: outer.iter().fold(1, |rows, n| rows.saturating_mul(*n)),
            rows_per_block: rows_per_block(columns),
            blocks_per_row: columns.div_ceil(BLOCK).max(1),
            whole_rows: !outer.is_empty(),
        }
    }

    pub fn blocks(&self) -> u64 {
        match self.columns {
            0 => 0,
            _ => self.rows.div_ceil(self.rows_per_block).saturating_mul(self.blocks_per_row),
        }
    }

    pub fn blocks_per_chunk(&self) -> u64 {
        let blocks = self.blocks().div_ceil(CHUNKS).max(LEAST);
        match self.whole_rows {
            true => blocks.next_multiple_of(self.blocks_per_row),
            false => blocks,
        }
    }

    pub fn chunks(&self) -> u64 {
        self.blocks().div_ceil(self.blocks_per_chunk())
    }

    /// Are chunks made of rows? Of points otherwise.
    pub fn has_rows(&self) -> bool {
        self.whole_rows
    }

    /// The block that a point is in.
    pub fn block_of(&self, row: u64, column: u64) -> u64 {
        row / self.rows_per_block * self.blocks_per_row + column / BLOCK
    }

    /// What a chunk has, as loops count it: points of an index space of one axis, rows of one of more.
    pub fn units(&self, chunk: u64) -> Range<u64> {
        let (each, all) = match self.whole_rows {
            false => (self.blocks_per_chunk() * BLOCK, self.columns),
            true => (self.blocks_per_chunk() / self.blocks_per_row * self.rows_per_block, self.rows),
        };
        chunk * each..((chunk + 1) * each).min(all)
    }
}

const fn rows_per_block(columns: u64) -> u64 {
    match columns {
        0 => BLOCK,
        1..ROW => BLOCK / columns,
        _ => 1,
    }
}

/// How a device that runs kernels only goes through an index space: blocks of threads leave partial results, one block combines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Blocks of threads.
    pub blocks: u32,
    pub partials: u64,
    /// Partial results that are combined one after the other.
    pub chunk: u64,
}

/// The chain a column belongs to.
pub const fn chain(column: u64) -> u64 {
    column % CHAINS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_one_chunk_and_blocks_are_never_too_long() {
        for extents in [
            &[][..],
            &[0],
            &[1],
            &[2048],
            &[2049],
            &[2_000_000],
            &[3, 0],
            &[5, 7],
            &[1000, 1000],
            &[3, 5000],
            &[100_000, 3],
            &[7, 11, 4097],
        ] {
            let cut = Cut::new(extents);
            let points: u64 = extents.iter().product();
            assert!(cut.chunks() <= CHUNKS);
            let units: u64 = (0..cut.chunks())
                .map(|chunk| cut.units(chunk))
                .map(|units| units.end - units.start)
                .sum();
            let per_unit = if extents.len() > 1 { cut.columns } else { 1 };
            assert_eq!(units * per_unit, points, "{extents:?}");
            assert!(cut.rows_per_block * cut.columns.min(BLOCK) <= BLOCK.max(cut.columns.min(BLOCK)));
            if points > 0 {
                assert_eq!(cut.block_of(cut.rows - 1, cut.columns - 1), cut.blocks() - 1, "{extents:?}");
            }
        }
    }

    #[test]
    fn few_points_are_one_chunk() {
        for points in 1..=ONE_CHUNK as u64 {
            for columns in (1..=points).filter(|columns| points % columns == 0) {
                assert!(
                    Cut::new(&[points / columns, columns]).chunks() <= 1,
                    "{points} in rows of {columns}"
                );
            }
        }
        assert!(Cut::new(&[LEAST + 2, ROW]).chunks() > 1, "no more of them");
    }

    #[test]
    fn chunks_of_rows_start_where_blocks_do() {
        let cut = Cut::new(&[1000, 1000]);
        assert_eq!(
            (cut.rows_per_block, cut.blocks_per_row, cut.blocks(), cut.blocks_per_chunk()),
            (1, 1, 1000, 16)
        );
        assert_eq!(cut.units(1), 16..32);
        let cut = Cut::new(&[1000, 50]);
        assert_eq!((cut.rows_per_block, cut.blocks(), cut.blocks_per_chunk()), (40, 25, 8));
        assert_eq!(cut.units(1), 320..640);
        let cut = Cut::new(&[3, 5000]);
        assert_eq!((cut.blocks(), cut.blocks_per_chunk(), cut.chunks()), (9, 9, 1));
    }
}
