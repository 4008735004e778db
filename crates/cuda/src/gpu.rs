//! What everything on one GPU shares: its context, memory pool, staging buffers, streams, and what kernels printed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use weft_runtime::{DeviceId, DeviceInfo, Limits, Output, RunError, lock, patience};

use crate::capture::{Capture, Kept};
use crate::driver::table::{DeviceOrdinal, EventHandle, GraphExecHandle, GraphHandle, ModuleHandle, StreamHandle};
use crate::driver::{Attribute, Context, Driver, Failure};
use crate::memory::Pool;
use crate::profile::Clock;
use crate::staging::Staging;
use crate::stream::CudaStream;
use crate::target::{self, Target};
use crate::waits::{self, Waits};
use crate::words::Words;

/// Something to be given back.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    Pinned(u64),
    Managed(u64),
    /// Memory of others, which is unpinned: address and bytes.
    Registered(u64, u64),
    /// What barriers of a graph's kernels counted in.
    Word(u64),
    /// What a graph's kernels left for one another.
    Memory(u64),
    Module(ModuleHandle),
    Graph(GraphHandle, GraphExecHandle),
}

#[derive(Debug)]
pub struct Gpu {
    pub context: Context,
    pub info: DeviceInfo,
    pub limits: Limits,
    pub target: Target,
    /// The newest PTX ISA that the driver serves.
    pub newest_ptx: u32,
    pub pool: Pool,
    pub staging: Staging,
    pub clock: Clock,
    pub words: Words,
    default: OnceLock<Arc<CudaStream>>,
    /// Streams that are alive, by our numbers.
    streams: Mutex<HashMap<u64, Weak<CudaStream>>>,
    /// What streams left that are gone, whose kernels may still run.
    orphans: Waits,
    /// Behind all work of streams that are gone.
    marks: Mutex<Vec<EventHandle>>,
    /// What kernels printed and waits collected.
    pub output: Output,
    /// Captures under way that were begun here, by the driver's number, and what is put off until nothing captures.
    captures: Mutex<HashMap<u64, Arc<Capture>>>,
    later: Mutex<Vec<Job>>,
    /// What graphs of other libraries use, which say nothing when they are gone.
    for_good: Mutex<Vec<Arc<dyn Kept>>>,
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
            words: Words::default(),
            default: OnceLock::new(),
            streams: Mutex::default(),
            orphans: Waits::default(),
            marks: Mutex::default(),
            output: Output::default(),
            captures: Mutex::default(),
            later: Mutex::default(),
            for_good: Mutex::default(),
            siblings: OnceLock::new(),
            context,
            info,
            limits,
            target,
            newest_ptx: target::newest_ptx(driver.version),
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
                && let Ok(_current) = gpu.context.enter()
            {
                gpu.wait_for_streams();
            }
        }
    }

    /// The legacy default stream.
    pub fn default_stream(self: &Arc<Self>) -> &Arc<CudaStream> {
        self.default.get_or_init(|| CudaStream::legacy(self))
    }

    /// The stream of a handle, if it is known.
    pub fn known_stream(&self, handle: StreamHandle) -> Option<Arc<CudaStream>> {
        // The latest: one of before has gone, for its maker, when the driver gives its handle again.
        let alive = self.streams().into_iter().filter(|stream| stream.is_of_handle(handle));
        alive.max_by_key(|stream| stream.number())
    }

    /// Is the stream of this number alive?
    pub fn has_stream(&self, number: u64) -> bool {
        lock(&self.streams).get(&number).is_some_and(|stream| stream.strong_count() > 0)
    }

    pub fn remember(&self, stream: &Arc<CudaStream>) {
        lock(&self.streams).insert(stream.number(), Arc::downgrade(stream));
    }

    /// The streams that are known and alive.
    pub fn streams(&self) -> Vec<Arc<CudaStream>> {
        lock(&self.streams).values().filter_map(Weak::upgrade).collect()
    }

    /// A stream that goes away leaves what its kernels, which may still run, leave, and a mark behind them.
    pub fn forget(&self, number: u64, left: &Waits, mark: Option<EventHandle>) {
        lock(&self.streams).remove(&number);
        self.orphans.adopt(left);
        lock(&self.marks).extend(mark);
    }

    pub fn known_capture(&self, id: u64) -> Option<Arc<Capture>> {
        lock(&self.captures).get(&id).cloned()
    }

    pub fn begins(&self, capture: &Arc<Capture>) {
        lock(&self.captures).insert(capture.id, capture.clone());
    }

    /// A capture has ended. What was put off meanwhile is done.
    pub fn ended(&self, capture: &Capture) {
        self.gave_up(capture);
        self.settle();
    }

    /// A capture will not be ended. What was put off waits for the next one to end, or the next to be put off.
    pub fn gave_up(&self, capture: &Capture) {
        lock(&self.captures).remove(&capture.id);
    }

    /// Does a capture go on that was begun here?
    pub fn captures(&self) -> bool {
        !lock(&self.captures).is_empty()
    }

    /// A graph of another library uses this.
    pub fn keep_for_good(&self, what: Arc<dyn Kept>) {
        let mut kept = lock(&self.for_good);
        if !kept.iter().any(|known| Arc::ptr_eq(known, &what)) {
            kept.push(what);
        }
    }

    /// Gives back what work under way may still use, behind that work. Nothing to be done on a lost device.
    pub fn give_back(&self, job: Job) {
        if !self.context.is_alive() {
            return;
        }
        lock(&self.later).push(job);
        self.settle();
    }

    /// Does what is put off while something captures: waiting for the device would end the capture, or become a part of it.
    pub fn settle(&self) {
        if self.captures() || !self.context.is_alive() {
            return;
        }
        let Ok(_current) = self.context.enter() else { return };
        self.pool.free_deferred(self);
        if lock(&self.later).is_empty() || !self.wait_for_streams() {
            return;
        }
        let _relaxed = self.context.relaxed();
        let jobs = std::mem::take(&mut *lock(&self.later));
        jobs.into_iter().for_each(|job| self.finish(job));
    }

    fn finish(&self, job: Job) {
        let context = &self.context;
        // There is nobody to tell of what fails here: the next wait will.
        let _ = match job {
            Job::Pinned(address) => context.free_pinned(address),
            Job::Managed(address) | Job::Memory(address) => context.free(address),
            Job::Registered(address, bytes) => {
                context.driver.pins.unpin(context, address, bytes);
                Ok(())
            }
            Job::Word(word) => {
                self.words.give_back(word);
                Ok(())
            }
            Job::Module(module) => context.unload_module(module),
            Job::Graph(graph, exec) => context.destroy_graph(graph, exec),
        };
    }

    /// Waits for the work of all streams that are known, and of those that were. Not for the device, which other libraries' streams that
    /// capture are streams of, too. False if one of ours captures. The context is current.
    pub fn wait_for_streams(&self) -> bool {
        let context = &self.context;
        let mut handles: Vec<StreamHandle> = self.streams().iter().map(|stream| stream.handle()).collect();
        handles.push(StreamHandle::NULL);
        if !handles.iter().all(|handle| self.is_free(*handle)) {
            return false;
        }
        let _relaxed = context.relaxed();
        // What fails here the next wait tells.
        let marks = std::mem::take(&mut *lock(&self.marks));
        for mark in marks {
            let _ = context.synchronize_event(mark).and_then(|()| context.destroy_event(mark));
        }
        for handle in handles {
            let _ = context.synchronize_stream(handle);
        }
        true
    }

    /// Waits for everything on the device and gathers what kernels left.
    pub fn synchronize(&self) -> Result<(), RunError> {
        if !self.context.is_used() {
            return Ok(());
        }
        if self.captures() {
            return Err(RunError::Invalid(format!(
                "{} cannot be waited for while a stream captures",
                self.id()
            )));
        }
        let streams = self.streams();
        if patience::can_end() {
            streams.iter().try_for_each(|stream| stream.look_alone())?;
        }
        let _current = self.context.enter()?;
        let mut all: Vec<&Waits> = streams.iter().map(|stream| &stream.waits).collect();
        all.push(&self.orphans);
        let waited = waits::over(self, &all, || self.context.check(self.context.synchronize()));
        self.settle();
        waited
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
        float64: true,
        int64: true,
    }
}
