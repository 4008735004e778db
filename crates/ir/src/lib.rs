//! Weft's intermediate representation: typed, structured, printable.
//!
//! Front ends build a [`Module`], passes refine it, back ends consume it, and [`interp`] says what it means.
//! Nothing here knows Python, LLVM or a device.

pub mod builder;
pub mod eval;
pub mod interp;
pub mod mma;
pub mod module;
mod names;
pub mod op;
pub mod order;
pub mod random;
pub mod repr;
mod table;
pub mod testing;
pub mod text;
pub mod types;
pub mod verify;
mod walk;

pub use builder::Builder;
pub use module::*;
pub use op::*;
pub use types::{Kind, Layout, Scalar, Space, Type, ViewType};
pub use walk::Rename;
