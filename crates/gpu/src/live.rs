//! An open device: wgpu's device and queue, what is recorded for it, and how its failures become errors.
//!
//! A device that is lost is never mended: another one is opened in its place, with memory and kernels of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

use weft_forks as forks;
use weft_runtime::{DeviceId, DeviceLost, DriverError, RunError, lock, patience};

use crate::batch::{self, Batch, Ticket};
use crate::features::Features;
use crate::flusher::Flusher;
use crate::gpu::Gpu;
use crate::groups::{Groups, Layouts};
use crate::mailbox::Mailbox;
use crate::memory::Table;
use crate::profile::Clock;
use crate::splice::Splice;
use crate::staging::Staging;
use crate::timestamps::Timestamps;
use crate::tried;
use crate::waits::Waits;

/// Batches of a device that is opened again are numbered far behind those before.
const GENERATION: u32 = 40;

#[derive(Debug)]
pub struct Live {
    pub id: DeviceId,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// What the device can do, by trial where its driver does not say.
    pub features: Features,
    /// The largest buffer, and what offsets of bindings are multiples of.
    pub most_bytes: u64,
    pub alignment: u64,
    /// Where parameters of launches are.
    pub arena: wgpu::Buffer,
    pub layouts: Layouts,
    pub staging: Staging,
    pub splice: OnceLock<Splice>,
    pub pipelines: Option<wgpu::PipelineCache>,
    pub timestamps: Timestamps,
    pub clock: Clock,
    /// The last batch that is done.
    pub done: Arc<AtomicU64>,
    /// What `forks::count` was when it was opened.
    pub forks: u32,
    sink: Arc<Sink>,
    state: Mutex<State>,
    /// Mailboxes were read, and what was in them was told.
    pub told: Condvar,
    flusher: Arc<Flusher>,
}

/// What is changed by whoever gives work to the device.
#[derive(Debug)]
pub struct State {
    pub memory: Table,
    pub batch: Batch,
    pub groups: Groups,
    /// Of kernels launched since mailboxes were last looked at.
    pub mailboxes: Vec<Arc<Mailbox>>,
    pub waits: Waits,
    /// The kernel recorded last.
    pub last_kernel: Option<Arc<str>>,
}

/// Where wgpu reports what nobody asked for.
#[derive(Debug, Default)]
struct Sink {
    error: Mutex<Option<String>>,
    has_error: AtomicBool,
    lost: OnceLock<String>,
    /// Somebody was told that it is lost.
    is_told: AtomicBool,
}

impl Live {
    pub fn open(gpu: &Arc<Gpu>, generation: u64) -> Result<Arc<Live>, RunError> {
        let request = gpu.request();
        let limits = request.required_limits.clone();
        let has = request.required_features;
        let opened = catch_unwind(AssertUnwindSafe(|| pollster::block_on(gpu.adapter.request_device(&request))));
        let (device, queue) = opened
            .map_err(|_| Gpu::driver_error("request_device", "the driver failed"))?
            .map_err(|error| Gpu::driver_error("request_device", error))?;
        let sink = Arc::new(Sink::default());
        let before = generation << GENERATION;
        sink.listen(&device);
        let pipelines = has
            .contains(wgpu::Features::PIPELINE_CACHE)
            .then(|| crate::pipelines::open(gpu, &device));
        let live = Arc::new(Live {
            id: gpu.id,
            features: tried::find(gpu, &device, &queue),
            most_bytes: limits.max_buffer_size,
            alignment: u64::from(limits.min_storage_buffer_offset_alignment).max(16),
            arena: batch::arena(&device),
            layouts: Layouts::new(&device, gpu.said.immediates),
            staging: Staging::default(),
            splice: OnceLock::new(),
            pipelines,
            timestamps: Timestamps::new(&device, &queue, has),
            clock: Clock::default(),
            done: Arc::new(AtomicU64::new(before)),
            forks: forks::count(),
            sink,
            state: Mutex::new(State {
                memory: Table::default(),
                batch: Batch::new(before),
                groups: Groups::default(),
                mailboxes: Vec::new(),
                waits: Waits::default(),
                last_kernel: None,
            }),
            told: Condvar::new(),
            flusher: Arc::default(),
            device,
            queue,
        });
        live.check()?;
        Flusher::start(&live.flusher, &live);
        Ok(live)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// A batch was begun, which someone has to submit.
    pub fn opened_batch(&self) {
        self.flusher.wake();
    }

    pub fn is_lost(&self) -> bool {
        self.sink.lost.get().is_some()
    }

    /// Is it lost, and was somebody told?
    pub fn is_gone(&self) -> bool {
        self.is_lost() && self.sink.is_told.load(Ordering::Relaxed)
    }

    /// The error of earlier calls that nobody was told of, if there is one.
    #[inline]
    pub fn check(&self) -> Result<(), RunError> {
        if self.is_lost() || self.sink.has_error.load(Ordering::Acquire) {
            return Err(self.error());
        }
        Ok(())
    }

    /// The error of a call that failed: that of a lost device if that is why. The state may be locked.
    #[cold]
    pub fn failed(&self, otherwise: RunError) -> RunError {
        // wgpu tells of a loss when it looks after the device.
        let _ = catch_unwind(AssertUnwindSafe(|| self.device.poll(wgpu::PollType::Poll)));
        match self.is_lost() {
            true => self.error(),
            false => otherwise,
        }
    }

    #[cold]
    fn error(&self) -> RunError {
        if let Some(why) = self.sink.lost.get() {
            self.sink.is_told.store(true, Ordering::Relaxed);
            let state = self.state.try_lock().ok();
            let kernel = state.and_then(|state| state.last_kernel.as_ref().map(|name| name.to_string()));
            return RunError::DeviceLost(Box::new(DeviceLost {
                device: self.id,
                kernel,
                error: DriverError {
                    call: "device",
                    code: 0,
                    name: "lost".into(),
                    text: why.clone(),
                },
            }));
        }
        self.sink.has_error.store(false, Ordering::Release);
        let text = lock(&self.sink.error).take();
        self.failed(Gpu::driver_error("submit", text.unwrap_or_else(|| "unknown error".into())))
    }

    /// Runs something and gives the error that wgpu reports of it.
    pub fn scoped<T>(&self, work: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
        scoped(&self.device, work)
    }

    /// Waits for a batch.
    pub fn wait(&self, ticket: &Ticket) -> Result<(), RunError> {
        if !self.is_known_done(ticket) {
            // Where the host language can end the wait. Errors are left to what follows.
            patience::look_until(|| self.is_done(ticket.number).unwrap_or(true))?;
            if !self.is_known_done(ticket) {
                return self.wait_blocked(ticket);
            }
        }
        self.check()
    }

    /// Waits for a batch and makes wgpu look after what is done, though the batch may be known to be.
    pub fn wait_always(&self, ticket: &Ticket) -> Result<(), RunError> {
        self.wait(ticket)?;
        self.poll()
    }

    fn is_known_done(&self, ticket: &Ticket) -> bool {
        ticket.number <= self.done.load(Ordering::Acquire)
    }

    /// Leaves the wait to the driver. What is done need not be waited for so: that costs a call of the system.
    fn wait_blocked(&self, ticket: &Ticket) -> Result<(), RunError> {
        self.poll_for(wgpu::PollType::Wait {
            submission_index: ticket.index.clone(),
            timeout: None,
        })?;
        self.done.fetch_max(ticket.number, Ordering::Release);
        self.check()
    }

    /// Looks whether anything is done, without waiting.
    pub fn poll(&self) -> Result<(), RunError> {
        self.poll_for(wgpu::PollType::Poll)?;
        self.check()
    }

    fn poll_for(&self, what: wgpu::PollType) -> Result<(), RunError> {
        self.check()?;
        // wgpu panics where it finds the device lost while it waits.
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(what))) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Gpu::driver_error("poll", error)),
            Err(_) => {
                let _ = self.sink.lost.set("the driver gave it up".into());
                Err(self.error())
            }
        }
    }

    /// Ends the device as a failing driver would.
    pub fn lose(&self) {
        self.device.destroy();
    }
}

/// See [`Live::scoped`].
pub fn scoped<T>(device: &wgpu::Device, work: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let result = work();
    let mut error = None;
    for scope in [validation, internal, memory] {
        error = pollster::block_on(scope.pop()).or(error);
    }
    (result, error)
}

impl Sink {
    fn listen(self: &Arc<Self>, device: &wgpu::Device) {
        let sink = self.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let text = match &error {
                wgpu::Error::OutOfMemory { .. } => "the device is out of memory".to_string(),
                other => other.to_string(),
            };
            lock(&sink.error).get_or_insert(text);
            sink.has_error.store(true, Ordering::Release);
        }));
        let sink = self.clone();
        device.set_device_lost_callback(move |_, message| {
            let _ = sink.lost.set(message);
        });
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.flusher.stop();
        // Its end is no loss.
        self.device.set_device_lost_callback(|_, _| ());
    }
}
