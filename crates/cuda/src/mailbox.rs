//! Mailboxes: where a kernel leaves errors and lines of print for the host (the layout is in `docs/architecture/runtime.md`).
//!
//! A mailbox belongs to one compiled kernel and one stream, or to one graph. It is read when that has been waited for.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

pub use weft_runtime::mailbox::Sites;
use weft_runtime::mailbox::{CAPACITY, DROPPED, RING, STATE, TAKEN, Words};
use weft_runtime::{Buffer, HostMemory, RunError, lock, raw};

use crate::gpu::Gpu;
use crate::memory::HostBuffer;

#[derive(Debug)]
pub struct Mailbox {
    memory: HostBuffer,
    sites: Arc<Sites>,
    /// Slots of the ring that were read.
    read: Mutex<u64>,
    /// Streams whose work may write to it.
    users: AtomicU32,
}

impl Mailbox {
    pub fn new(gpu: &Arc<Gpu>, sites: &Arc<Sites>) -> Result<Arc<Mailbox>, RunError> {
        let ring_slots = sites.ring_slots();
        let bytes = (RING + 8 * ring_slots) as usize;
        let memory = HostBuffer::new(gpu, bytes, HostMemory::Pinned)?;
        raw::write(memory.host_address(), &vec![0; bytes]);
        raw::store(memory.host_address() + CAPACITY, ring_slots);
        Ok(Arc::new(Mailbox {
            memory,
            sites: sites.clone(),
            read: Mutex::new(0),
            users: AtomicU32::new(0),
        }))
    }

    /// Where kernels find it.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    fn here(&self) -> u64 {
        self.memory.host_address()
    }

    /// A stream's work uses it from now on, until it is collected there while the stream is quiet.
    pub fn used(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes out what is there: lines go to the GPU's output, an error is returned. `quiet`: a stream that used it is done with it.
    pub fn collect(&self, gpu: &Gpu, quiet: bool) -> Result<(), RunError> {
        let alone = quiet && self.users.fetch_sub(1, Ordering::Relaxed) == 1;
        let mut text = String::new();
        let mut read = lock(&self.read);
        self.sites.lines(self, &mut read, &mut text);
        if alone {
            self.reset(&mut read, &mut text);
        }
        gpu.output.push(&text);
        let error = self.sites.error(self);
        if error.is_some() {
            raw::store(self.here() + STATE, 0u32);
        }
        error.map_or(Ok(()), Err)
    }

    /// Empties the ring: nobody writes to it.
    fn reset(&self, read: &mut u64, text: &mut String) {
        if self.u64(TAKEN) == 0 {
            return;
        }
        self.sites.dropped(self, text);
        raw::write(self.here() + RING, &vec![0; (8 * *read) as usize]);
        raw::store(self.here() + DROPPED, 0u64);
        raw::store(self.here() + TAKEN, 0u64);
        *read = 0;
    }
}

/// The device may be writing to it.
impl Words for Mailbox {
    fn u32(&self, offset: u64) -> u32 {
        raw::load(self.here() + offset)
    }

    fn u64(&self, offset: u64) -> u64 {
        raw::load(self.here() + offset)
    }
}
