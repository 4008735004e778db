//! The code of one GPU thread: the walk over the structured IR that is the same whatever writes the instructions.
//!
//! What an operation of the IR means for a thread stands here, once: the order in which operands are evaluated, how views are sliced and
//! taken apart, which arithmetic fits 32 bits, how loops count. What an instruction looks like, and where memory is, is up to who writes
//! the code. It has a [`Thread`] inside and implements one trait for each subject: [`Code`], [`Numbers`], [`Views`], [`Operations`],
//! [`Statements`], [`Entry`]. Of each trait the methods without a body come first: they are what writers differ in.

mod code;
mod count;
mod entry;
mod error;
pub mod folds;
mod number;
mod operations;
mod prepared;
mod statements;
mod values;
mod views;

pub use code::{Code, Thread};
pub use count::{Count, Direction};
pub use entry::{Entry, Param};
pub use error::{EmitError, refused};
pub use number::{Basic, Num, Numbers, Overflow, Register, Sizes};
pub use operations::Operations;
pub use prepared::{prepared, view_params};
pub use statements::Statements;
pub use values::{Machine, Slot, Val, View, is_contiguous};
pub use views::Views;
