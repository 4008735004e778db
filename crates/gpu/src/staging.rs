//! Staging buffers, through which the host reads what the device has: kept for the next reads.

use std::sync::Mutex;
use std::sync::mpsc;

use weft_runtime::{RunError, lock};

use crate::batch::Ticket;
use crate::gpu::Gpu;
use crate::live::Live;

/// Bytes of a buffer, for small reads and large, and how many idle ones of each are kept.
pub const SMALL: u64 = 64 << 10;
pub const LARGE: u64 = 4 << 20;
const MOST_IDLE: usize = 4;

#[derive(Debug, Default)]
pub struct Staging {
    idle: Mutex<Vec<Slot>>,
}

/// A buffer that copies write and the host maps.
#[derive(Debug)]
pub struct Slot {
    pub buffer: wgpu::Buffer,
    pub bytes: u64,
}

impl Live {
    /// A buffer for this many bytes, at most [`LARGE`].
    pub fn slot(&self, bytes: u64) -> Result<Slot, RunError> {
        let size = if bytes <= SMALL { SMALL } else { LARGE };
        {
            let mut idle = lock(&self.staging.idle);
            if let Some(place) = idle.iter().position(|slot| slot.bytes == size) {
                return Ok(idle.swap_remove(place));
            }
        }
        Ok(Slot {
            buffer: self.buffer(size, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?,
            bytes: size,
        })
    }

    /// Waits for a batch that copied to the slot, and shows its first bytes.
    pub fn open_slot<T>(&self, slot: Slot, ticket: &Ticket, bytes: u64, look: impl FnOnce(&[u8]) -> T) -> Result<T, RunError> {
        let part = slot.buffer.slice(0..bytes.next_multiple_of(wgpu::MAP_ALIGNMENT).min(slot.bytes));
        let (tell, told) = mpsc::channel();
        part.map_async(wgpu::MapMode::Read, move |result| {
            let _ = tell.send(result);
        });
        // Behind `map_async`, so that this or another thread's wait finds it.
        self.wait_always(ticket)?;
        let unmapped = |what: String| self.failed(Gpu::driver_error("map_async", what));
        match told.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(unmapped(error.to_string())),
            Err(error) => return Err(unmapped(error.to_string())),
        }
        let view = part.get_mapped_range().map_err(|error| unmapped(error.to_string()))?;
        let result = look(&view[..bytes as usize]);
        drop(view);
        slot.buffer.unmap();
        let mut idle = lock(&self.staging.idle);
        if idle.iter().filter(|known| known.bytes == slot.bytes).count() < MOST_IDLE {
            idle.push(slot);
        }
        Ok(result)
    }
}
