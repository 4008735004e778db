//! The CUDA back end: IR becomes LLVM IR text for NVPTX in [`emit`], LLVM makes PTX of it for a [`target::Target`], the driver runs it.

mod capture;
pub mod compile;
mod device;
pub mod driver;
pub mod emit;
mod executable;
mod facts;
mod gpu;
mod mailbox;
mod memory;
mod per_thread;
mod pins;
mod profile;
mod staging;
mod stream;
pub mod target;
mod variant;
mod waits;
mod words;

pub use compile::{Ptx, compile_ptx, export_ptx};
pub use device::{CudaDevice, Platform, devices, platform, profiler, status};
