//! Memory that others own: of a device, copied with its default stream and never freed here; of the host, page-locked for a while.

use std::sync::{Arc, Mutex};

use weft_runtime::{Buffer, Device, DeviceId, Place, RunError, Stream, lock};

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
    fn used_on(&self, _stream: Option<&Arc<dyn Stream>>) {}
}

/// Host memory that is page-locked until it is let go, which happens before the last array on it is gone.
#[derive(Debug)]
pub struct Locked {
    device: DeviceId,
    address: u64,
    host_address: u64,
    bytes: usize,
    held: Mutex<Option<Box<dyn Buffer>>>,
}

impl Locked {
    pub fn new(held: Box<dyn Buffer>) -> Locked {
        Locked {
            device: held.device(),
            address: held.address(),
            host_address: held.host_address(),
            bytes: held.bytes(),
            held: Mutex::new(Some(held)),
        }
    }

    pub fn let_go(&self) {
        drop(lock(&self.held).take());
    }

    fn with(&self, work: impl FnOnce(&dyn Buffer) -> Result<(), RunError>) -> Result<(), RunError> {
        match &*lock(&self.held) {
            Some(held) => work(&**held),
            None => Err(RunError::Invalid("the array was mapped for a block that has ended".into())),
        }
    }
}

impl Buffer for Locked {
    fn device(&self) -> DeviceId {
        self.device
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn host_address(&self) -> u64 {
        self.host_address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        self.with(|held| held.read(offset, into))
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        self.with(|held| held.write(offset, from))
    }

    fn used_on(&self, stream: Option<&Arc<dyn Stream>>) {
        if let Some(held) = &*lock(&self.held) {
            held.used_on(stream);
        }
    }
}
