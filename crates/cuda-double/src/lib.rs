//! A stand-in for `libcuda.so.1`, for tests: the calls of NVIDIA's driver that programs make, on devices that are not there. Kernels come
//! as PTX; they are parsed, checked and run on the CPU, every access to memory with them.
//!
//! What it pretends to be and how it fails is set by environment variables: see `settings`.

pub mod api;
pub mod codes;
mod decode;
mod driver;
mod exec;
mod libraries;
mod ptx;
pub mod settings;
