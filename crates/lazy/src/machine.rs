//! The devices that arrays live on. The host language says which there are.

use std::sync::{Arc, OnceLock};

use weft_runtime::Device;

use crate::error::{Error, Result};

static CPU: OnceLock<Arc<dyn Device>> = OnceLock::new();

/// Says what the CPU is: once, before the first array.
pub fn set_cpu(device: Arc<dyn Device>) {
    let _ = CPU.set(device);
}

pub fn cpu() -> Result<&'static Arc<dyn Device>> {
    CPU.get().ok_or_else(|| Error::Internal("no device was named".into()))
}
