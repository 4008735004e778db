//! The back end for every GPU with a Vulkan, Metal or DirectX 12 driver: IR becomes a `naga::Module`, wgpu runs it.

pub mod emit;
pub mod features;
pub mod probe;
pub mod spirv;
