//! The devices that tests run on: what is first among this machine's, lavapipe where there is nothing else. And kernels to
//! run on them.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

#[path = "../../../cuda/tests/common/kernels.rs"]
mod kernels;

use std::sync::Arc;

use weft_gpu::GpuDevice;
use weft_runtime::Executable;

pub use kernels::*;

/// The first device of the machine.
pub fn gpu() -> &'static GpuDevice {
    match weft_gpu::devices().first() {
        Some(device) => device,
        None => panic!(
            "{:?}: the tests need a Vulkan driver, such as Mesa's for the CPU",
            weft_gpu::status()
        ),
    }
}

/// A device for a test that looks at what others would change.
pub fn own_gpu() -> Arc<GpuDevice> {
    match weft_gpu::Platform::open().map(|platform| platform.devices) {
        Ok(devices) if !devices.is_empty() => devices[0].clone(),
        other => panic!("{other:?}"),
    }
}

pub fn kernel(source: &str) -> Arc<dyn Executable> {
    kernel_on(gpu(), source)
}
