//! Running compiled code on the CPU: contexts, the thread pool, launches, the device.

mod code;
mod context;
mod cooperative;
mod crew;
mod device;
mod executable;
mod held;
mod host;
mod kept;
mod linear;
mod memory;
mod pages;
mod pool;
mod routines;
mod spectral;
mod spread;
mod stack;
mod stream;
#[cfg(test)]
mod tests;
mod variants;

pub use device::CpuDevice;
pub use linear::Crew;
pub use pool::{MOST_THREADS, check_environment, num_threads, set_num_threads};
