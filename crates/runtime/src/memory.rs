//! Device memory: buffers, and kinds of memory that host and device share.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use crate::{DeviceId, RunError, Stream, raw};

/// A piece of device memory; dropping it frees it, in the order of the stream it was allocated for.
pub trait Buffer: Send + Sync + Any + Debug {
    fn device(&self) -> DeviceId;

    /// The address kernels use.
    fn address(&self) -> u64;

    /// The address the host uses, of memory that both address.
    fn host_address(&self) -> u64 {
        self.address()
    }

    fn bytes(&self) -> usize;

    /// Copies `into.len()` bytes from `offset` on to the host and waits for them: a synchronisation point. Ordered behind the stream the
    /// buffer was allocated for and behind those it was said to be used on.
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError>;

    /// Copies bytes of the host to `offset`; ordered as [`Buffer::read`]. The bytes are free when it returns.
    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError>;

    /// Work on this stream (`None`: the default stream) uses the buffer, too: what is freed or read comes after it. Needed for streams that do
    /// not wait for the buffer's own by themselves.
    fn used_on(&self, stream: Option<&Arc<dyn Stream>>);
}

/// Kinds of memory that host and device both address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostMemory {
    /// The host's, which copies read and write asynchronously and kernels address over the bus.
    Pinned,
    /// The same, slow to read for the host.
    WriteCombined,
    /// Pages that move to whoever touches them.
    Managed,
}

/// Bytes of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// In buffers that are alive.
    pub used: u64,
    /// The most `used` has been.
    pub peak: u64,
    /// Taken from the system: `used`, and what the pool keeps for the next allocations.
    pub reserved: u64,
    /// What `used` may be at the most.
    pub limit: Option<u64>,
    /// What the device has left, and has in all.
    pub free: u64,
    pub total: u64,
}

/// Sizes that pools keep blocks of: at most an eighth more than asked for.
pub fn block_size(bytes: usize) -> usize {
    const GRAIN: usize = 512;
    let grain = (bytes.max(1).next_power_of_two() / 8).max(GRAIN);
    bytes.max(1).next_multiple_of(grain)
}

/// The address of a piece of a buffer; an error where it reaches beyond.
pub fn inside(address: u64, size: usize, offset: usize, bytes: usize) -> Result<u64, RunError> {
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(address + offset as u64),
        _ => Err(RunError::Invalid(format!(
            "{bytes} bytes at {offset} are outside a buffer of {size} bytes"
        ))),
    }
}

/// [`Buffer::read`] of memory that the host addresses, behind a wait for who else uses it.
pub fn read_here(
    buffer: &impl Buffer,
    offset: usize,
    into: &mut [u8],
    wait: impl FnOnce() -> Result<(), RunError>,
) -> Result<(), RunError> {
    let from = inside(buffer.host_address(), buffer.bytes(), offset, into.len())?;
    wait()?;
    raw::read(from, into);
    Ok(())
}

/// [`Buffer::write`] of such memory.
pub fn write_here(buffer: &impl Buffer, offset: usize, from: &[u8], wait: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
    let to = inside(buffer.host_address(), buffer.bytes(), offset, from.len())?;
    wait()?;
    raw::write(to, from);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_little_more_than_asked_for() {
        assert_eq!([1, 512, 513, 4000].map(block_size), [512, 512, 1024, 4096]);
        for bytes in [5000, 100_000, 123_456_789] {
            let size = block_size(bytes);
            assert!(size >= bytes && size <= bytes + bytes / 4, "{bytes}: {size}");
        }
    }
}
