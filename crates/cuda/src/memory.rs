//! Memory of a GPU: pooled in the order of streams, pinned, managed.
//!
//! The pool is the driver's, one of our own so that other libraries' is left alone; it keeps what is freed until `free_all`. A device
//! without memory pools gets one here: freed blocks wait in bins for the next allocation of their size on the same stream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use weft_runtime::{
    Buffer, DeviceId, DeviceMemory, HostMemory, MemoryStats, Refusal, RunError, Stream, block_size, inside, lock, read_here, write_here,
};

use crate::capture::Goes;
use crate::driver::table::{PoolHandle, StreamHandle};
use crate::driver::{Attribute, Context, Failure, PoolAttribute, codes};
use crate::gpu::{Gpu, Job};
use crate::pins::PinError;
use crate::stream::{self, CudaStream};

/// Bytes of the smallest unit that every GPU compares and swaps.
const WORD: usize = 4;

#[derive(Debug)]
pub struct Pool {
    source: OnceLock<Source>,
    /// Bytes in buffers that are alive, the most there were, and the most there may be.
    used: AtomicU64,
    peak: AtomicU64,
    limit: AtomicU64,
    /// Freed while something captured; freed for good when nothing does.
    deferred: Mutex<Vec<Freed>>,
}

/// Memory that nobody holds any more.
#[derive(Debug)]
struct Freed {
    address: u64,
    bytes: usize,
    /// Where it was allocated, and where it was used besides.
    stream: Arc<CudaStream>,
    others: Vec<Arc<dyn Stream>>,
}

#[derive(Debug)]
enum Source {
    Driver(PoolHandle),
    Bins(Mutex<Bins>),
}

/// Free blocks by stream and size, and the bytes of all blocks. Streams go by our numbers: the driver gives a handle again.
#[derive(Debug, Default)]
struct Bins {
    free: HashMap<(u64, usize), Vec<u64>>,
    reserved: u64,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool {
            source: OnceLock::new(),
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            deferred: Mutex::default(),
        }
    }
}

impl Pool {
    fn source(&self, context: &Context) -> &Source {
        self.source.get_or_init(|| {
            if context.get(Attribute::MemoryPoolsSupported) == 0 {
                return Source::Bins(Mutex::default());
            }
            let made = context.create_pool().and_then(|pool| {
                context.set_pool_attribute(pool, PoolAttribute::ReleaseThreshold, u64::MAX)?;
                Ok(pool)
            });
            made.map_or_else(|_| Source::Bins(Mutex::default()), Source::Driver)
        })
    }

    /// Memory for work on a stream. The context is current.
    pub fn allocate(&self, gpu: &Gpu, bytes: usize, stream: &CudaStream) -> Result<u64, RunError> {
        self.free_deferred(gpu);
        let used = self.used.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        let limit = self.limit.load(Ordering::Relaxed);
        let taken = if used > limit {
            Err(self.exhausted(gpu, bytes, Some(limit)))
        } else {
            // Atomic operations on small elements exchange the whole word that they lie in.
            self.take_or_make_room(gpu, bytes.max(1).next_multiple_of(WORD), stream)
        };
        match taken {
            Ok(address) => {
                self.peak.fetch_max(used, Ordering::Relaxed);
                Ok(address)
            }
            Err(error) => {
                self.used.fetch_sub(bytes as u64, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    fn take_or_make_room(&self, gpu: &Gpu, bytes: usize, stream: &CudaStream) -> Result<u64, RunError> {
        let context = &gpu.context;
        match self.take(context, bytes, stream) {
            Err(failure) if failure.code == codes::OUT_OF_MEMORY => {}
            result => return context.check(result),
        }
        self.free_all(gpu)?;
        match self.take(context, bytes, stream) {
            Err(failure) if failure.code == codes::OUT_OF_MEMORY => Err(self.exhausted(gpu, bytes, None)),
            result => context.check(result),
        }
    }

    fn take(&self, context: &Context, bytes: usize, stream: &CudaStream) -> Result<u64, Failure> {
        match self.source(context) {
            Source::Driver(pool) => context.allocate_from(*pool, bytes, stream.handle()),
            Source::Bins(bins) => {
                let size = block_size(bytes);
                if let Some(address) = lock(bins).free.get_mut(&(stream.number(), size)).and_then(Vec::pop) {
                    return Ok(address);
                }
                let _relaxed = context.relaxed();
                let address = context.allocate(size)?;
                lock(bins).reserved += size as u64;
                Ok(address)
            }
        }
    }

    /// Frees behind the work so far of the streams that it was used on, or later if that cannot be while something captures.
    fn free(&self, gpu: &Gpu, freed: Freed) {
        let context = &gpu.context;
        // What cannot be freed is lost with the device.
        let Ok(_current) = context.enter() else { return };
        let streams = freed
            .others
            .iter()
            .map(|other| other.raw_handle())
            .chain([freed.stream.handle().raw()]);
        if gpu.captures() || !streams.map(StreamHandle::from_raw).all(|stream| gpu.is_free(stream)) {
            lock(&self.deferred).push(freed);
            return;
        }
        let _ = freed.others.iter().try_for_each(|other| freed.stream.wait_for(other.as_ref()));
        match self.source(context) {
            Source::Driver(_) => {
                let _ = context.free_to_pool(freed.address, freed.stream.handle());
            }
            Source::Bins(bins) => {
                let key = (freed.stream.number(), block_size(freed.bytes.max(1).next_multiple_of(WORD)));
                lock(bins).free.entry(key).or_default().push(freed.address);
            }
        }
        self.used.fetch_sub(freed.bytes as u64, Ordering::Relaxed);
    }

    /// Frees what was kept while something captured.
    pub fn free_deferred(&self, gpu: &Gpu) {
        let deferred = std::mem::take(&mut *lock(&self.deferred));
        deferred.into_iter().for_each(|freed| self.free(gpu, freed));
    }

    /// Waits for the device (not while a stream captures), then gives back what nothing uses. The context is current.
    pub fn free_all(&self, gpu: &Gpu) -> Result<(), RunError> {
        let context = &gpu.context;
        let captures = gpu.captures() || !gpu.wait_for_streams();
        let _relaxed = context.relaxed();
        match self.source(context) {
            Source::Driver(pool) => context.check(context.trim_pool(*pool, 0)),
            Source::Bins(_) if captures => Ok(()),
            Source::Bins(bins) => {
                let free = std::mem::take(&mut lock(bins).free);
                for ((_, size), blocks) in free {
                    for address in blocks {
                        context.check(context.free(address))?;
                        lock(bins).reserved -= size as u64;
                    }
                }
                Ok(())
            }
        }
    }

    pub fn set_limit(&self, bytes: Option<u64>) {
        self.limit.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Lets kernels of another device address what comes from the pool. The context is current.
    pub fn share(&self, gpu: &Gpu, with: &Gpu) -> Result<(), RunError> {
        match self.source(&gpu.context) {
            Source::Driver(pool) => gpu.context.check(gpu.context.share_pool(*pool, with.context.ordinal)),
            // Whole allocations are shared as soon as access is enabled.
            Source::Bins(_) => Ok(()),
        }
    }

    /// The context is current.
    pub fn stats(&self, gpu: &Gpu) -> Result<MemoryStats, RunError> {
        let context = &gpu.context;
        let (free, total) = context.check(context.memory())?;
        let limit = self.limit.load(Ordering::Relaxed);
        Ok(MemoryStats {
            used: self.used.load(Ordering::Relaxed),
            peak: self.peak.load(Ordering::Relaxed),
            reserved: context.check(self.reserved(context))?,
            limit: (limit != u64::MAX).then_some(limit),
            free,
            total,
        })
    }

    fn reserved(&self, context: &Context) -> Result<u64, Failure> {
        match self.source(context) {
            Source::Driver(pool) => context.pool_attribute(*pool, PoolAttribute::ReservedCurrent),
            Source::Bins(bins) => Ok(lock(bins).reserved),
        }
    }

    fn exhausted(&self, gpu: &Gpu, requested: usize, limit: Option<u64>) -> RunError {
        let context = &gpu.context;
        let (free, total) = context.memory().unwrap_or((0, gpu.info.memory_bytes));
        // The request itself is counted already.
        let used = self.used.load(Ordering::Relaxed).saturating_sub(requested as u64);
        let device = DeviceMemory {
            free,
            total,
            used,
            pooled: self.reserved(context).unwrap_or(0).saturating_sub(used),
            limit,
        };
        RunError::device_memory(requested as u64, device)
    }
}

/// Memory of the pool.
#[derive(Debug)]
pub struct DeviceBuffer {
    gpu: Arc<Gpu>,
    address: u64,
    bytes: usize,
    /// Where it was allocated, and where it was used besides.
    stream: Arc<CudaStream>,
    others: Mutex<Vec<Arc<dyn Stream>>>,
}

impl DeviceBuffer {
    pub fn new(stream: &CudaStream, bytes: usize) -> Result<DeviceBuffer, RunError> {
        let gpu = stream.gpu();
        let _current = gpu.context.enter()?;
        if !matches!(gpu.goes(stream.handle())?, Goes::Now) {
            return Err(Refusal::AllocatesInCapture.into());
        }
        let shared = stream.shared()?;
        Ok(DeviceBuffer {
            address: gpu.pool.allocate(gpu, bytes, stream)?,
            bytes,
            gpu: gpu.clone(),
            stream: shared,
            others: Mutex::default(),
        })
    }

    /// Makes the buffer's stream wait for all other work that uses it.
    fn join(&self) -> Result<(), RunError> {
        let others = std::mem::take(&mut *lock(&self.others));
        others.iter().try_for_each(|other| self.stream.wait_for(other.as_ref()))
    }

    fn check(&self, offset: usize, bytes: usize) -> Result<u64, RunError> {
        inside(self.address, self.bytes, offset, bytes)
    }
}

impl Buffer for DeviceBuffer {
    fn device(&self) -> DeviceId {
        self.gpu.id()
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        let from = self.check(offset, into.len())?;
        self.join()?;
        self.stream.download(into.as_mut_ptr() as u64, from, into.len())?;
        self.stream.synchronize()
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        let to = self.check(offset, from.len())?;
        self.join()?;
        self.stream.upload(to, from.as_ptr() as u64, from.len())
    }

    fn used_on(&self, stream: Option<&Arc<dyn Stream>>) {
        let stream: Arc<dyn Stream> = match stream {
            None if self.stream.is_ordered_with_default() => return,
            None => self.gpu.default_stream().clone(),
            Some(stream) => match stream::itself(stream) {
                Ok(stream) => stream,
                // A thread that ends gives it no work either.
                Err(_) => return,
            },
        };
        let mut others = lock(&self.others);
        let is_known = |others: &[Arc<dyn Stream>], stream: &dyn Stream| {
            let mut known = others.iter().map(|other| &**other).chain([&*self.stream as &dyn Stream]);
            known.any(|known| stream::are_one(known, stream))
        };
        if is_known(&others, &*stream) {
            return;
        }
        // Threads come and go while a buffer lives.
        let before = std::mem::take(&mut *others);
        for stream in before.iter().map(stream::lasting).chain([stream]) {
            if !is_known(&others, &*stream) {
                others.push(stream);
            }
        }
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if !self.gpu.context.is_alive() {
            return;
        }
        let freed = Freed {
            address: self.address,
            bytes: self.bytes,
            stream: self.stream.clone(),
            others: std::mem::take(&mut *lock(&self.others)),
        };
        self.gpu.pool.free(&self.gpu, freed);
    }
}

/// Memory that host and device address.
#[derive(Debug)]
pub struct HostBuffer {
    gpu: Arc<Gpu>,
    /// Where kernels find it, and where the host does.
    address: u64,
    host: u64,
    bytes: usize,
    release: Job,
}

impl HostBuffer {
    pub fn new(gpu: &Arc<Gpu>, bytes: usize, kind: HostMemory) -> Result<HostBuffer, RunError> {
        let context = &gpu.context;
        let _current = context.enter()?;
        let _relaxed = context.relaxed();
        let room = bytes.max(1);
        let made = match kind {
            HostMemory::Pinned => context.allocate_pinned(room, false).map(|address| (address, Job::Pinned(address))),
            HostMemory::WriteCombined => context.allocate_pinned(room, true).map(|address| (address, Job::Pinned(address))),
            HostMemory::Managed if context.get(Attribute::ManagedMemory) == 0 => {
                return Err(RunError::Unsupported(format!("{} has no managed memory", gpu.id())));
            }
            HostMemory::Managed => context.allocate_managed(room).map(|address| (address, Job::Managed(address))),
        };
        let (address, release) = made.map_err(|failure| match failure.code {
            codes::OUT_OF_MEMORY => RunError::host_memory(bytes as u64),
            _ => context.error(failure),
        })?;
        let mut buffer = HostBuffer {
            gpu: gpu.clone(),
            address,
            host: address,
            bytes,
            release,
        };
        if kind != HostMemory::Managed {
            buffer.address = context.check(context.device_address(address))?;
        }
        Ok(buffer)
    }

    /// Pins memory of others until this is dropped. What is not `mapped` has no address but the host's.
    pub fn pin(gpu: &Arc<Gpu>, address: u64, bytes: usize, mapped: bool) -> Result<HostBuffer, RunError> {
        let context = &gpu.context;
        let _current = context.enter()?;
        let _relaxed = context.relaxed();
        let pinned = context.driver.pins.pin(context, address, bytes as u64, mapped);
        let device_address = pinned.map_err(|error| match error {
            PinError::Refused(failure) => context.error(failure),
            PinError::InPieces => RunError::Invalid(
                "a part of the array's memory is pinned already, and the device has it elsewhere: map the whole before parts of it are pinned".into(),
            ),
        })?;
        Ok(HostBuffer {
            gpu: gpu.clone(),
            address: device_address,
            host: address,
            bytes,
            release: Job::Registered(address, bytes as u64),
        })
    }
}

impl Buffer for HostBuffer {
    fn device(&self) -> DeviceId {
        self.gpu.id()
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn host_address(&self) -> u64 {
        self.host
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    /// Waits for the device: whoever uses memory of both sides says nowhere on which stream.
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError> {
        read_here(self, offset, into, || self.gpu.synchronize())
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError> {
        write_here(self, offset, from, || self.gpu.synchronize())
    }

    fn used_on(&self, _stream: Option<&Arc<dyn Stream>>) {}
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        self.gpu.give_back(self.release);
    }
}
