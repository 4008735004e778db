//! A machine for tiles: short runs of elements that lie in the cache, computed operation by operation with the bits of compiled code.
//!
//! Nothing here knows arrays, shapes or Python: operands are places in memory, and every loop is made when Weft is built.

mod casts;
mod complex;
mod element;
mod find;
mod floats;
pub mod fold;
mod halves;
mod integers;
mod iota;
mod run;
pub mod steps;
mod strided;
mod truths;
mod whole;

pub use casts::cast;
pub use find::{copy, find, find_pair, select};
pub use iota::iota;
pub use run::{Arg, Run, TileLoop};
pub use strided::{Load, LoadRows, Rows, Store, StoreRows, load, load_rows, repeat, store, store_rows};
