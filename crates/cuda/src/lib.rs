//! The CUDA back end: IR becomes LLVM IR text for NVPTX in [`emit`], LLVM makes PTX of it for a [`target::Target`], the driver runs it.

pub mod driver;
pub mod emit;
pub mod target;
