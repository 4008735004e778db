//! What everything on one GPU shares: its context, memory pool, staging buffers, streams, and what kernels printed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use weft_runtime::{DeviceId, DeviceInfo, Limits, Output, RunError, patience};

use crate::driver::table::{DeviceOrdinal, GraphExecHandle, GraphHandle, ModuleHandle, StreamHandle};
use crate::driver::{Attribute, Context, Driver, Failure};
use crate::memory::Pool;
use crate::profile::Clock;
use crate::staging::Staging;
use crate::stream::CudaStream;
use crate::target::Target;
use crate::waits::{self, Waits};

/// Something to be given back.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    Pinned(u64),
    Managed(u64),
    /// Memory of others, which is unpinned.
    Registered(u64),
    Module(ModuleHandle),
    Graph(GraphHandle, GraphExecHandle),
}

#[derive(Debug)]
pub struct Gpu {
    pub context: Context,
    pub info: DeviceInfo,
    pub limits: Limits,
    pub target: Target,
    pub pool: Pool,
    pub staging: Staging,
    pub clock: Clock,
    default: OnceLock<Arc<CudaStream>>,
    /// Streams that are alive, by handle.
    streams: Mutex<HashMap<u64, Weak<CudaStream>>>,
    /// What streams left that are gone, whose kernels may still run.
    orphans: Waits,
    /// What kernels printed and waits collected.
    pub output: Output,
    /// Captures under way, while which the device cannot be waited for, and what is put off until then.
    captures: Mutex<u32>,
    later: Mutex<Vec<Job>>,
    /// All GPUs of this process, this one too, by index.
    siblings: OnceLock<Vec<Weak<Gpu>>>,
}

impl Gpu {
    /// Asks the driver what the device is; does not make its context. The error is a line that says why Weft does not use it.
    pub fn open(driver: &Arc<Driver>, index: u32, ordinal: DeviceOrdinal) -> Result<Gpu, String> {
        let context = Context::new(driver.clone(), index, ordinal);
        let (name, memory_bytes, uuid) = context.describe().map_err(|failure| said(driver, failure))?;
        let limits = limits(&context);
        let (major, minor) = limits.compute_capability;
        let target = Target::choose(driver.version, major, minor).map_err(|error| format!("{name}: {error}"))?;
        let info = DeviceInfo {
            name: context.id.to_string(),
            description: name,
            cores: limits.multiprocessors as usize,
            simd_bits: 32 * limits.warp_size as usize,
            features: format!("compute capability {major}.{minor}"),
            memory_bytes,
            uuid: Some(uuid),
            software: false,
        };
        Ok(Gpu {
            pool: Pool::default(),
            staging: Staging::default(),
            clock: Clock::default(),
            default: OnceLock::new(),
            streams: Mutex::default(),
            orphans: Waits::default(),
            output: Output::default(),
            captures: Mutex::new(0),
            later: Mutex::default(),
            siblings: OnceLock::new(),
            context,
            info,
            limits,
            target,
        })
    }

    pub fn id(&self) -> DeviceId {
        self.context.id
    }

    pub fn set_siblings(&self, all: &[Arc<Gpu>]) {
        self.siblings.get_or_init(|| all.iter().map(Arc::downgrade).collect());
    }

    /// Another GPU of this process.
    pub fn sibling(&self, id: DeviceId) -> Result<Arc<Gpu>, RunError> {
        let all = self.siblings.get().map_or(&[][..], Vec::as_slice);
        let found = all.iter().filter_map(Weak::upgrade).find(|gpu| gpu.id() == id);
        found.ok_or_else(|| RunError::Invalid(format!("{id} is no CUDA device of this process")))
    }

    /// Waits for work on all GPUs of this process that can be waited for, and tells nobody how it went.
    pub fn wait_for_all(&self) {
        let all = self.siblings.get().map_or(&[][..], Vec::as_slice);
        for gpu in all.iter().filter_map(Weak::upgrade) {
            if gpu.context.is_alive()
                && !gpu.captures()
                && let Ok(_current) = gpu.context.enter()
            {
                let _ = gpu.context.synchronize();
            }
        }
    }

    /// The legacy default stream.
    pub fn default_stream(self: &Arc<Self>) -> &Arc<CudaStream> {
        self.default.get_or_init(|| {
            let stream = CudaStream::new(self.clone(), StreamHandle::NULL, false, false);
            lock(&self.streams).insert(0, Arc::downgrade(&stream));
            stream
        })
    }

    /// The stream of a handle, if it is known.
    pub fn known_stream(&self, handle: StreamHandle) -> Option<Arc<CudaStream>> {
        lock(&self.streams).get(&handle.raw())?.upgrade()
    }

    pub fn remember(&self, handle: StreamHandle, stream: &Arc<CudaStream>) {
        lock(&self.streams).insert(handle.raw(), Arc::downgrade(stream));
    }

    /// The streams that are known and alive.
    pub fn streams(&self) -> Vec<Arc<CudaStream>> {
        lock(&self.streams).values().filter_map(Weak::upgrade).collect()
    }

    /// A stream that goes away leaves what its kernels, which may still run, leave.
    pub fn forget(&self, handle: StreamHandle, left: &Waits) {
        let mut streams = lock(&self.streams);
        if streams.get(&handle.raw()).is_some_and(|known| known.strong_count() == 0) {
            streams.remove(&handle.raw());
        }
        drop(streams);
        self.orphans.adopt(left);
    }

    /// A stream begins to capture, or has ended it.
    pub fn capture(&self, begins: bool) {
        let mut captures = lock(&self.captures);
        if begins {
            *captures += 1;
            return;
        }
        *captures -= 1;
        if *captures == 0 {
            drop(captures);
            self.pool.free_deferred(self);
            let later = std::mem::take(&mut *lock(&self.later));
            later.into_iter().for_each(|job| self.give_back(job));
        }
    }

    pub fn captures(&self) -> bool {
        *lock(&self.captures) > 0
    }

    /// Gives back what work under way may still use, behind that work. Nothing to be done on a lost device.
    pub fn give_back(&self, job: Job) {
        let context = &self.context;
        if !context.is_alive() {
            return;
        }
        if self.captures() {
            lock(&self.later).push(job);
            return;
        }
        let Ok(_current) = context.enter() else { return };
        // There is nobody to tell of what fails here: the next wait will.
        let _ = context.synchronize();
        let _ = match job {
            Job::Pinned(address) => context.free_pinned(address),
            Job::Managed(address) => context.free(address),
            Job::Registered(address) => context.unpin(address),
            Job::Module(module) => context.unload_module(module),
            Job::Graph(graph, exec) => context.destroy_graph(graph, exec),
        };
    }

    /// Waits for everything on the device and gathers what kernels left.
    pub fn synchronize(&self) -> Result<(), RunError> {
        if !self.context.is_used() {
            return Ok(());
        }
        let streams = self.streams();
        if patience::can_end() && !self.captures() {
            streams.iter().try_for_each(|stream| stream.look_alone())?;
        }
        let _current = self.context.enter()?;
        let mut all: Vec<&Waits> = streams.iter().map(|stream| &stream.waits).collect();
        all.push(&self.orphans);
        waits::over(self, &all, || self.context.check(self.context.synchronize()))
    }
}

fn said(driver: &Driver, failure: Failure) -> String {
    driver.describe(failure).to_string()
}

fn limits(context: &Context) -> Limits {
    use Attribute::*;
    let get = |attribute| context.get(attribute);
    let shared_bytes = get(MaxSharedMemoryPerBlock);
    Limits {
        threads_per_block: get(MaxThreadsPerBlock),
        block: [get(MaxBlockDimX), get(MaxBlockDimY), get(MaxBlockDimZ)],
        grid: [get(MaxGridDimX), get(MaxGridDimY), get(MaxGridDimZ)],
        shared_bytes,
        shared_bytes_optin: get(MaxSharedMemoryPerBlockOptin).max(shared_bytes),
        warp_size: get(WarpSize),
        multiprocessors: get(MultiprocessorCount),
        threads_per_multiprocessor: get(MaxThreadsPerMultiprocessor),
        registers_per_block: get(MaxRegistersPerBlock),
        compute_capability: (get(ComputeCapabilityMajor), get(ComputeCapabilityMinor)),
        cooperative: get(CooperativeLaunch) != 0,
    }
}

/// A lock whose holder cannot have left it half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
