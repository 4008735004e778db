//! Lazy arrays: what was asked of arrays is recorded as a graph of values, and computed when somebody looks.

mod arguments;
mod array;
mod budget;
pub mod capture;
pub mod compiled;
mod device_folds;
mod devices;
mod dims;
mod error;
mod flat;
mod folds;
mod form;
mod hoist;
mod hosted;
mod link;
mod lower;
pub mod machine;
mod memory;
pub mod number;
pub mod operation;
pub mod order;
mod program;
pub mod record;
mod run;
pub mod schedule;
mod single;
mod text;
mod tiles;
pub mod trace;
mod value;

pub use array::{Array, Index};
pub use devices::carry;
pub use dims::{Dims, Strides, bytes, dense, is_dense, size};
pub use error::{Error, Result};
pub use memory::{Block, Piece};
pub use value::{FoldKind, Node, Value};
