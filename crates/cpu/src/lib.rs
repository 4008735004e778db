//! The CPU back end: IR becomes LLVM IR text in [`emit`], and runs on every core in [`exec`].

pub mod emit;
pub mod exec;

pub use exec::{CpuDevice, Crew, MOST_THREADS, check_environment, num_threads, set_num_threads};
