//! The CUDA back end: IR becomes LLVM IR text for NVPTX in [`emit`], LLVM makes PTX of it for a [`target::Target`], the driver runs it.

pub mod compile;
pub mod driver;
pub mod emit;
pub mod target;

pub use compile::{Ptx, compile_ptx};
