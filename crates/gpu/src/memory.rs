//! Memory of a GPU: blocks, each a buffer of wgpu's, kept in a pool when they are freed.
//!
//! wgpu knows buffers and offsets, everybody else addresses. So every block has a range of addresses that belong to nothing else, neither
//! of the host nor of another block that ever was, and a table finds the block of an address. What a freed block is used for next comes
//! behind what it was used for, since all work of a device is one queue.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use weft_runtime::{Buffer, DeviceId, DeviceMemory, HostMemory, MemoryStats, RunError, Stream, block_size, inside, read_here, write_here};

use crate::gpu::Gpu;
use crate::live::Live;

/// What a block may be used for.
const USES: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// A buffer and its addresses.
#[derive(Debug)]
pub struct Block {
    pub base: u64,
    /// A multiple of 16, at least what was asked for.
    pub size: u64,
    /// What was asked for; 0 while it is free.
    pub bytes: u64,
    pub buffer: wgpu::Buffer,
}

/// All blocks of an open device.
#[derive(Debug, Default)]
pub struct Table {
    /// By address.
    blocks: Vec<Block>,
    /// Free blocks by size.
    free: HashMap<u64, Vec<u64>>,
    used: u64,
    peak: u64,
    reserved: u64,
}

impl Table {
    /// The block that an address lies in, or just behind.
    pub fn find(&self, address: u64) -> Option<&Block> {
        let behind = self.blocks.partition_point(|block| block.base <= address);
        let block = self.blocks.get(behind.checked_sub(1)?)?;
        (address <= block.base + block.size).then_some(block)
    }

    fn insert(&mut self, block: Block) {
        self.reserved += block.size;
        let place = self.blocks.partition_point(|known| known.base < block.base);
        self.blocks.insert(place, block);
    }

    fn take(&mut self, size: u64, bytes: u64) -> Option<u64> {
        let base = self.free.get_mut(&size)?.pop()?;
        self.mark(base, bytes);
        Some(base)
    }

    fn mark(&mut self, base: u64, bytes: u64) {
        if let Ok(place) = self.blocks.binary_search_by_key(&base, |block| block.base) {
            self.blocks[place].bytes = bytes;
        }
    }

    /// Frees a block for the next who asks for its size.
    pub fn give_back(&mut self, base: u64) {
        let Ok(place) = self.blocks.binary_search_by_key(&base, |block| block.base) else {
            return;
        };
        let block = &mut self.blocks[place];
        self.used -= std::mem::take(&mut block.bytes);
        self.free.entry(block.size).or_default().push(base);
    }

    /// Takes free blocks out of the table.
    fn drain(&mut self) -> Vec<Block> {
        self.free.clear();
        let (kept, gone) = std::mem::take(&mut self.blocks).into_iter().partition(|block| block.bytes > 0);
        self.blocks = kept;
        self.reserved -= gone.iter().map(|block: &Block| block.size).sum::<u64>();
        gone
    }
}

impl Live {
    /// An address of new memory.
    pub fn allocate(&self, gpu: &Gpu, bytes: usize) -> Result<u64, RunError> {
        // A block of nothing has an address, too.
        let (asked, size) = (bytes.max(1) as u64, block_size(bytes) as u64);
        let limit = gpu.memory_limit.load(Ordering::Relaxed);
        {
            let mut state = self.state();
            let memory = &mut state.memory;
            if memory.used.saturating_add(asked) > limit {
                return Err(exhausted(gpu, memory, bytes, Some(limit)));
            }
            // Counted now, so that threads together do not pass the limit.
            memory.used += asked;
            memory.peak = memory.peak.max(memory.used);
            if let Some(base) = memory.take(size, asked) {
                return Ok(base);
            }
        }
        let made = self.new_buffer(size).or_else(|_| {
            self.free_all()?;
            self.new_buffer(size)
        });
        let mut state = self.state();
        let memory = &mut state.memory;
        match made {
            Ok(buffer) => {
                let base = gpu.new_address(size);
                memory.insert(Block {
                    base,
                    size,
                    bytes: asked,
                    buffer,
                });
                Ok(base)
            }
            Err(error) => {
                memory.used -= asked;
                self.check()?;
                Err(match error {
                    RunError::OutOfMemory(_) => exhausted(gpu, memory, bytes, None),
                    other => other,
                })
            }
        }
    }

    fn new_buffer(&self, size: u64) -> Result<wgpu::Buffer, RunError> {
        if size > self.most_bytes {
            return Err(RunError::host_memory(size));
        }
        self.buffer(size, USES)
    }

    /// A buffer, or out of memory.
    pub fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, RunError> {
        let (buffer, error) = self.scoped(|| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        });
        match error {
            None => Ok(buffer),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(RunError::host_memory(size)),
            Some(other) => Err(self.failed(Gpu::driver_error("create_buffer", other))),
        }
    }

    /// Waits, then gives free blocks back to the system.
    pub fn free_all(&self) -> Result<(), RunError> {
        let (gone, ticket) = {
            let mut state = self.state();
            state.groups.clear();
            (state.memory.drain(), state.batch.submit(self))
        };
        self.wait(&ticket)?;
        drop(gone);
        // wgpu lets go of what was dropped when it looks after the device the next time.
        self.poll()
    }

    pub fn memory_stats(&self, gpu: &Gpu) -> MemoryStats {
        let state = self.state();
        let Table { used, peak, reserved, .. } = state.memory;
        let limit = gpu.memory_limit.load(Ordering::Relaxed);
        MemoryStats {
            used,
            peak,
            reserved,
            limit: (limit != u64::MAX).then_some(limit),
            free: gpu.info.memory_bytes.saturating_sub(reserved),
            total: gpu.info.memory_bytes,
        }
    }
}

fn exhausted(gpu: &Gpu, memory: &Table, requested: usize, limit: Option<u64>) -> RunError {
    let total = gpu.info.memory_bytes;
    let device = DeviceMemory {
        free: total.saturating_sub(memory.reserved),
        total,
        used: memory.used,
        pooled: memory.reserved.saturating_sub(memory.used),
        limit,
    };
    RunError::device_memory(requested as u64, device)
}

/// Memory of the pool.
#[derive(Debug)]
pub struct DeviceBuffer {
    gpu: Arc<Gpu>,
    live: Arc<Live>,
    address: u64,
    bytes: usize,
}

impl DeviceBuffer {
    pub fn new(gpu: &Arc<Gpu>, bytes: usize) -> Result<DeviceBuffer, RunError> {
        let live = gpu.live()?;
        Ok(DeviceBuffer {
            address: live.allocate(gpu, bytes)?,
            gpu: gpu.clone(),
            live,
            bytes,
        })
    }
}

impl Buffer for DeviceBuffer {
    fn device(&self) -> DeviceId {
        self.gpu.id
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        let from = inside(self.address, self.bytes, offset, into.len())?;
        self.gpu.live()?.download(&self.gpu, into.as_mut_ptr() as u64, from, into.len())
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        let to = inside(self.address, self.bytes, offset, from.len())?;
        self.gpu.live()?.upload(&self.gpu, to, from)
    }

    /// All streams of a device are in one queue.
    fn used_on(&self, _stream: Option<&Arc<dyn Stream>>) {}
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        // In a forked child the lock may be held by a thread that is not there.
        if !self.gpu.is_forked() {
            self.live.state().memory.give_back(self.address);
        }
    }
}

/// Memory of the host that copies use. Kernels do not address it.
#[derive(Debug)]
pub struct HostBuffer {
    gpu: Arc<Gpu>,
    /// Empty where the memory is others'.
    _memory: Vec<u128>,
    address: u64,
    bytes: usize,
}

impl HostBuffer {
    pub fn new(gpu: &Arc<Gpu>, bytes: usize, kind: HostMemory) -> Result<HostBuffer, RunError> {
        if kind == HostMemory::Managed {
            return Err(RunError::Unsupported(format!(
                "{} has no managed memory: its kernels do not address the host's",
                gpu.id
            )));
        }
        let words = bytes.div_ceil(size_of::<u128>()).max(1);
        let mut memory = Vec::new();
        memory.try_reserve_exact(words).map_err(|_| RunError::host_memory(bytes as u64))?;
        memory.resize(words, 0u128);
        Ok(HostBuffer {
            gpu: gpu.clone(),
            address: memory.as_ptr() as u64,
            _memory: memory,
            bytes,
        })
    }

    /// Copies read and write others' memory as it is.
    pub fn pin(gpu: &Arc<Gpu>, address: u64, bytes: usize) -> HostBuffer {
        HostBuffer {
            gpu: gpu.clone(),
            _memory: Vec::new(),
            address,
            bytes,
        }
    }
}

impl Buffer for HostBuffer {
    fn device(&self) -> DeviceId {
        self.gpu.id
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        read_here(self, offset, into, || self.gpu.synchronize())
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        write_here(self, offset, from, || self.gpu.synchronize())
    }

    fn used_on(&self, _stream: Option<&Arc<dyn Stream>>) {}
}
