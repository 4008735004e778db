//! Running compiled code on the CPU: contexts, the thread pool, launches, the device.

mod checked;
mod code;
mod context;
mod crew;
mod device;
mod executable;
mod format;
mod memory;
mod pool;
mod spread;
#[cfg(test)]
mod tests;

pub use device::CpuDevice;
pub use format::{float32, float64};
pub use pool::{num_threads, set_num_threads};
