//! Memory of a device that another library owns: copied with the device's default stream, never freed here.

use std::sync::Arc;

use weft_runtime::{Buffer, Device, DeviceId, Place, RunError, Stream};

#[derive(Debug)]
pub struct Foreign {
    device: Arc<dyn Device>,
    address: u64,
    bytes: usize,
}

impl Foreign {
    pub fn new(device: &Arc<dyn Device>, address: u64, bytes: usize) -> Foreign {
        Foreign {
            device: device.clone(),
            address,
            bytes,
        }
    }

    fn place(&self, offset: usize, bytes: usize) -> Result<Place, RunError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(Place::Device(self.device.id(), self.address + offset as u64)),
            _ => Err(RunError::Invalid(format!(
                "{bytes} bytes at {offset} are outside a buffer of {} bytes",
                self.bytes
            ))),
        }
    }
}

impl Buffer for Foreign {
    fn device(&self) -> DeviceId {
        self.device.id()
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        let from = self.place(offset, into.len())?;
        let stream = self.device.default_stream()?;
        stream.copy(Place::Host(into.as_mut_ptr() as u64), from, into.len())?;
        stream.synchronize()
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        let to = self.place(offset, from.len())?;
        let stream = self.device.default_stream()?;
        stream.copy(to, Place::Host(from.as_ptr() as u64), from.len())?;
        stream.synchronize()
    }

    /// Its owner decides when it is freed.
    fn used_on(&self, _stream: &Arc<dyn Stream>) {}
}
