//! The back end for every GPU with a Vulkan, Metal or DirectX 12 driver: IR becomes a `naga::Module`, wgpu runs it.

mod adapters;
mod batch;
mod callbacks;
mod device;
pub mod emit;
mod executable;
mod facts;
pub mod features;
mod flusher;
mod gpu;
mod groups;
mod hal;
mod live;
mod mailbox;
mod memory;
mod pipelines;
pub mod probe;
mod profile;
mod show;
pub mod spirv;
mod splice;
mod staging;
mod stream;
mod timestamps;
mod transfer;
mod tried;
mod variant;
mod waits;

pub use adapters::{Platform, devices, platform, status};
pub use device::GpuDevice;
