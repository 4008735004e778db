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

pub fn load(elem: Scalar) -> Load {
    match elem.size() {
        1 => loaded::<u8>,
        2 => loaded::<u16>,
        4 => loaded::<u32>,
        8 => loaded::<u64>,
        _ => loaded::<[u64; 2]>,
    }
}

pub fn store(elem: Scalar) -> Store {
    match elem.size() {
        1 => stored::<u8>,
        2 => stored::<u16>,
        4 => stored::<u32>,
        8 => stored::<u64>,
        _ => stored::<[u64; 2]>,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_may_be_stored_where_it_lies() {
        let mut row: Vec<u64> = (0..9).collect();
        let to = row.as_mut_ptr().cast::<u8>();
        // SAFETY: nine elements of eight bytes, and nobody else looks at them.
        unsafe { store(Scalar::F64)(to, 8, to, row.len()) };
        assert_eq!(row, (0..9).collect::<Vec<u64>>());
    }
}
