//! Elements that lie apart, loaded into tiles and stored from them.

#![allow(unsafe_code)] // Whoever loads and stores answers for the places.

use weft_ir::Scalar;

/// Fills a tile with `n` elements that lie `stride` bytes apart, aligned or not.
///
/// # Safety
/// All of them can be read; `tile` has room for `n` elements and overlaps none of them.
pub type Load = unsafe fn(tile: *mut u8, from: *const u8, stride: isize, n: usize);

/// Stores the `n` elements of a tile `stride` bytes apart, aligned or not, in the tile's order.
///
/// # Safety
/// All of the places can be written; `tile` has `n` elements, and each either lies in its own place or in none of them.
pub type Store = unsafe fn(to: *mut u8, stride: isize, tile: *const u8, n: usize);

/// The copy of a function that moves elements of a type's size.
macro_rules! by_size {
    ($elem:expr, $function:ident) => {
        match $elem.size() {
            1 => $function::<u8>,
            2 => $function::<u16>,
            4 => $function::<u32>,
            8 => $function::<u64>,
            _ => $function::<[u64; 2]>,
        }
    };
}

/// Rows at a stride, of elements at another.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub rows: usize,
    pub row_stride: isize,
    /// Elements of a row.
    pub n: usize,
    pub stride: isize,
}

/// Fills a tile with the elements of rows, one row behind the other.
///
/// # Safety
/// That of [`Load`], for all rows.
pub type LoadRows = unsafe fn(tile: *mut u8, from: *const u8, rows: Rows);

/// Stores the rows of a tile.
///
/// # Safety
/// That of [`Store`], for all rows.
pub type StoreRows = unsafe fn(to: *mut u8, tile: *const u8, rows: Rows);

pub fn load_rows(elem: Scalar) -> LoadRows {
    by_size!(elem, rows_loaded)
}

pub fn store_rows(elem: Scalar) -> StoreRows {
    by_size!(elem, rows_stored)
}

/// Fills a tile with copies of its first elements: `unit` bytes, so many times in all.
///
/// # Safety
/// The tile has the first of them, and room for all.
pub unsafe fn repeat(tile: *mut u8, unit: usize, times: usize) {
    let (mut done, all) = (unit, unit * times);
    while done < all {
        let some = done.min(all - done);
        // SAFETY: the caller promises the room, and what is copied lies before what it is copied to.
        unsafe { tile.add(done).copy_from_nonoverlapping(tile, some) };
        done += some;
    }
}

pub fn load(elem: Scalar) -> Load {
    by_size!(elem, loaded)
}

pub fn store(elem: Scalar) -> Store {
    by_size!(elem, stored)
}

/// # Safety
/// That of [`Load`].
unsafe fn loaded<T: Copy>(tile: *mut u8, from: *const u8, stride: isize, n: usize) {
    let tile = tile.cast::<T>();
    // SAFETY: the caller promises that the tile has room and that all elements can be read.
    unsafe {
        if stride == size_of::<T>() as isize {
            tile.cast::<u8>().copy_from_nonoverlapping(from, n * size_of::<T>());
            return;
        }
        if stride == 2 * size_of::<T>() as isize {
            // A step that the compiler knows becomes vectors.
            let from = from.cast::<T>();
            (0..n).for_each(|i| tile.add(i).write_unaligned(from.add(2 * i).read_unaligned()));
            return;
        }
        for i in 0..n {
            tile.add(i)
                .write_unaligned(from.offset(stride * i as isize).cast::<T>().read_unaligned());
        }
    }
}

/// # Safety
/// That of [`Store`].
unsafe fn stored<T: Copy>(to: *mut u8, stride: isize, tile: *const u8, n: usize) {
    let tile = tile.cast::<T>();
    // SAFETY: the caller promises that the tile has `n` elements and that all places can be written.
    unsafe {
        if stride == size_of::<T>() as isize {
            // What is written back where it was read lies at the same place.
            to.copy_from(tile.cast::<u8>(), n * size_of::<T>());
            return;
        }
        for i in 0..n {
            to.offset(stride * i as isize)
                .cast::<T>()
                .write_unaligned(tile.add(i).read_unaligned());
        }
    }
}

/// # Safety
/// That of [`LoadRows`].
unsafe fn rows_loaded<T: Copy>(tile: *mut u8, from: *const u8, rows: Rows) {
    let Rows { row_stride, n, stride, .. } = rows;
    let bytes = n * size_of::<T>();
    // SAFETY: the caller promises that the tile has room and that all elements can be read.
    unsafe {
        if row_stride == stride * n as isize {
            return loaded::<T>(tile, from, stride, rows.rows * n);
        }
        if row_stride == 0 {
            loaded::<T>(tile, from, stride, n);
            return repeat(tile, bytes, rows.rows);
        }
        for row in 0..rows.rows {
            loaded::<T>(tile.add(row * bytes), from.offset(row_stride * row as isize), stride, n);
        }
    }
}

/// # Safety
/// That of [`StoreRows`].
unsafe fn rows_stored<T: Copy>(to: *mut u8, tile: *const u8, rows: Rows) {
    let Rows { row_stride, n, stride, .. } = rows;
    // SAFETY: the caller promises that the tile has all elements and that all places can be written.
    unsafe {
        if row_stride == stride * n as isize {
            return stored::<T>(to, stride, tile, rows.rows * n);
        }
        for row in 0..rows.rows {
            stored::<T>(to.offset(row_stride * row as isize), stride, tile.add(row * n * size_of::<T>()), n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_loaded_and_stored_as_one_by_one() {
        let memory: Vec<u32> = (0..400).collect();
        for (count, row_stride, n, stride) in [
            (5, 28, 7, 4),
            (5, 0, 7, 4),
            (6, 40, 3, 8),
            (4, 4, 9, 0),
            (3, 0, 5, 0),
            (1, 0, 6, 4),
            (7, 12, 3, 4),
        ] {
            let rows = Rows {
                rows: count,
                row_stride,
                n,
                stride,
            };
            let place = |row: usize, i: usize| (row_stride as usize * row + stride as usize * i) / 4;
            let mut tile = vec![0u32; count * n];
            // SAFETY: the elements lie in `memory`, and there is room for all.
            unsafe { load_rows(Scalar::F32)(tile.as_mut_ptr().cast(), memory.as_ptr().cast(), rows) };
            let expected: Vec<u32> = (0..count)
                .flat_map(|row| (0..n).map(move |i| (row, i)))
                .map(|(row, i)| memory[place(row, i)])
                .collect();
            assert_eq!(tile, expected, "{rows:?}");
            let (mut found, mut expected) = (vec![0u32; 400], vec![0u32; 400]);
            // SAFETY: as above.
            unsafe { store_rows(Scalar::F32)(found.as_mut_ptr().cast(), tile.as_ptr().cast(), rows) };
            (0..count).for_each(|row| (0..n).for_each(|i| expected[place(row, i)] = tile[row * n + i]));
            assert_eq!(found, expected, "{rows:?}");
        }
    }

    #[test]
    fn a_tile_may_be_stored_where_it_lies() {
        let mut row: Vec<u64> = (0..9).collect();
        let to = row.as_mut_ptr().cast::<u8>();
        // SAFETY: nine elements of eight bytes, and nobody else looks at them.
        unsafe { store(Scalar::F64)(to, 8, to, row.len()) };
        assert_eq!(row, (0..9).collect::<Vec<u64>>());
    }
}
