//! Streams, events and graphs of a GPU. wgpu has one queue a device: what streams are given is done in the order it was given in.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use weft_runtime::hosts::{Carrier, Scratch};
use weft_runtime::profile::{self as record, Activity};
use weft_runtime::{Buffer, DeviceId, Event, Graph, Place, Refusal, RunError, Stream, foreign, lock, raw};

use crate::batch::Ticket;
use crate::gpu::Gpu;
use crate::groups::Group;
use crate::live::Live;
use crate::memory::DeviceBuffer;
use crate::profile;
use crate::timestamps::Timestamp;
use crate::variant::{Params, Variant};

#[derive(Debug)]
pub struct GpuStream {
    gpu: Arc<Gpu>,
    handle: u64,
    capturing: AtomicBool,
    captured: Mutex<Vec<Step>>,
    /// Memory that the steps leave something in for one another.
    kept: Mutex<Vec<DeviceBuffer>>,
    /// The batch that its last work is in.
    last: AtomicU64,
}

/// One thing a graph does.
#[derive(Debug)]
pub enum Step {
    Launch {
        variant: Arc<Variant>,
        group: Group,
        dispatches: Vec<([u32; 3], Params)>,
    },
    Copy {
        to: Place,
        from: Place,
        bytes: usize,
    },
    Fill {
        address: u64,
        value: u8,
        bytes: usize,
    },
}

impl GpuStream {
    pub fn new(gpu: Arc<Gpu>, handle: u64) -> Arc<GpuStream> {
        Arc::new(GpuStream {
            gpu,
            handle,
            capturing: AtomicBool::new(false),
            captured: Mutex::default(),
            kept: Mutex::default(),
            last: AtomicU64::new(0),
        })
    }

    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub fn handle(&self) -> u64 {
        self.handle
    }

    #[inline]
    pub fn captures(&self) -> bool {
        self.capturing.load(Ordering::Relaxed)
    }

    /// Work of the stream was recorded.
    #[inline]
    pub fn worked(&self, batch: u64) {
        self.last.fetch_max(batch, Ordering::Relaxed);
    }

    /// The graph that is being captured does this.
    pub fn keep(&self, step: Step) {
        lock(&self.captured).push(step);
    }

    fn copy_now(&self, to: Place, from: Place, bytes: usize) -> Result<(), RunError> {
        let here = |place: Place| match place {
            Place::Host(address) | Place::Device(DeviceId::CPU, address) => Ok(Err(address)),
            Place::Device(id, address) if id == self.gpu.id => Ok(Ok(address)),
            Place::Device(id, _) => Err(RunError::Invalid(format!(
                "memory of {id} does not go to or from {} at once: copy by way of the host",
                self.gpu.id
            ))),
        };
        match (here(to)?, here(from)?) {
            (Ok(to), Ok(from)) => self.on_device(to, from, bytes),
            (Ok(to), Err(from)) => self.upload(to, from, bytes),
            (Err(to), Ok(from)) => self.download(to, from, bytes),
            (Err(_), Err(_)) => Err(Refusal::CopyOfHost.into()),
        }
    }

    fn on_device(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.timed(Activity::CopyOnDevice, bytes, |live| {
            live.copy_on_device(&self.gpu, to, from, bytes as u64)
        })
    }

    fn fill_now(&self, address: u64, value: u8, bytes: usize) -> Result<(), RunError> {
        self.timed(Activity::Fill, bytes, |live| live.fill(&self.gpu, address, value, bytes as u64))
    }

    /// Does what the device does later, and records when it did it if a profile is taken.
    fn timed(&self, what: Activity, bytes: usize, work: impl FnOnce(&Live) -> Result<(), RunError>) -> Result<(), RunError> {
        let live = self.gpu.live()?;
        let timer = match record::is_on() {
            true => profile::Timer::start(&live, &mut live.state()),
            false => None,
        };
        work(&live)?;
        let mut state = live.state();
        if let Some(timer) = timer {
            timer.stop(&mut state, what, what.name(), self, bytes as u64);
        }
        self.worked(state.batch.number());
        Ok(())
    }

    fn replay(&self, step: &Step) -> Result<(), RunError> {
        match step {
            Step::Copy { to, from, bytes } => self.copy_now(*to, *from, *bytes),
            Step::Fill { address, value, bytes } => self.fill_now(*address, *value, *bytes),
            Step::Launch {
                variant,
                group,
                dispatches,
            } => {
                let live = self.gpu.live()?;
                if !Arc::ptr_eq(&live, &variant.live) {
                    return Err(RunError::Invalid(format!(
                        "the graph was lost with {}: capture it again",
                        self.gpu.id
                    )));
                }
                let mut state = live.state();
                for (groups, params) in dispatches {
                    variant.dispatch(&mut state, group, *groups, |room| {
                        room.copy_from_slice(params);
                        Ok::<_, RunError>(())
                    })?;
                }
                self.worked(state.batch.number());
                Ok(())
            }
        }
    }
}

/// The stream as one of this GPU.
pub fn of<'a>(gpu: &Gpu, stream: &'a dyn Stream) -> Result<&'a GpuStream, RunError> {
    let own = (stream as &dyn Any).downcast_ref::<GpuStream>();
    own.filter(|own| own.gpu.id == gpu.id)
        .ok_or_else(|| foreign("a stream", stream.device(), gpu.id))
}

impl Carrier for GpuStream {
    type Buffer = DeviceBuffer;

    fn captures(&self) -> Result<bool, RunError> {
        Ok(self.captures())
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceBuffer, RunError> {
        if self.captures() {
            return Err(Refusal::AllocatesInCapture.into());
        }
        DeviceBuffer::new(&self.gpu, bytes)
    }

    fn scratch(&self, bytes: usize) -> Result<Option<Scratch<DeviceBuffer>>, RunError> {
        let memory = DeviceBuffer::new(&self.gpu, bytes)?;
        if !self.captures() {
            return Ok(Some(Scratch::Own(memory)));
        }
        let address = memory.address();
        lock(&self.kept).push(memory);
        Ok(Some(Scratch::OfGraph(address)))
    }

    fn upload(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        profile::host_side(Activity::CopyToDevice, self, bytes as u64, || {
            self.gpu.live()?.upload(&self.gpu, to, raw::bytes(from, bytes))
        })
    }

    fn download(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        profile::host_side(Activity::CopyToHost, self, bytes as u64, || {
            self.gpu.live()?.download(&self.gpu, to, from, bytes)
        })
    }

    fn finish(&self) -> Result<(), RunError> {
        self.synchronize()
    }
}

impl Stream for GpuStream {
    fn device(&self) -> DeviceId {
        self.gpu.id
    }

    fn raw_handle(&self) -> u64 {
        self.handle
    }

    fn synchronize(&self) -> Result<(), RunError> {
        if self.captures() {
            return Err(Refusal::WaitInCapture.into());
        }
        self.gpu.synchronize()
    }

    fn is_done(&self) -> Result<bool, RunError> {
        let Some(live) = self.gpu.opened() else { return Ok(true) };
        let mut last = self.last.load(Ordering::Relaxed);
        {
            let mut state = live.state();
            if last >= state.batch.number() {
                // A batch that was submitted when it was full has no successor yet.
                last = state.batch.submit(&live).number;
            }
        }
        live.is_done(last)
    }

    /// What is given to this device later comes behind its own events anyhow.
    fn wait(&self, event: &dyn Event) -> Result<(), RunError> {
        if event.device() == self.gpu.id {
            return Ok(());
        }
        event.synchronize()
    }

    fn record(&self, event: &dyn Event) -> Result<(), RunError> {
        let own = (event as &dyn Any).downcast_ref::<GpuEvent>();
        let Some(event) = own.filter(|own| own.gpu.id == self.gpu.id) else {
            return Err(foreign("an event", event.device(), self.gpu.id));
        };
        event.mark()
    }

    fn copy(&self, to: Place, from: Place, bytes: usize) -> Result<(), RunError> {
        if bytes == 0 {
            return Ok(());
        }
        if self.captures() {
            self.keep(Step::Copy { to, from, bytes });
            return Ok(());
        }
        self.copy_now(to, from, bytes)
    }

    fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), RunError> {
        if bytes == 0 {
            return Ok(());
        }
        if self.captures() {
            self.keep(Step::Fill { address, value, bytes });
            return Ok(());
        }
        self.fill_now(address, value, bytes)
    }

    fn add_callback(&self, callback: Box<dyn FnOnce() + Send>) -> Result<(), RunError> {
        if self.captures() {
            return Err(Refusal::CallbackInCapture.into());
        }
        let live = self.gpu.live()?;
        let ticket = live.state().batch.submit(&live);
        self.gpu.callbacks.add(live, ticket, callback)
    }

    fn begin_capture(&self) -> Result<(), RunError> {
        if self.handle == 0 {
            return Err(Refusal::CaptureOfDefault.into());
        }
        match self.capturing.swap(true, Ordering::Relaxed) {
            true => Err(Refusal::CapturesAlready.into()),
            false => Ok(()),
        }
    }

    fn end_capture(&self) -> Result<Arc<dyn Graph>, RunError> {
        if !self.capturing.swap(false, Ordering::Relaxed) {
            return Err(Refusal::CapturesNot.into());
        }
        Ok(Arc::new(GpuGraph {
            gpu: self.gpu.clone(),
            steps: std::mem::take(&mut *lock(&self.captured)),
            _kept: std::mem::take(&mut *lock(&self.kept)),
        }))
    }

    fn is_capturing(&self) -> Result<bool, RunError> {
        Ok(self.captures())
    }
}

#[derive(Debug)]
pub struct GpuEvent {
    gpu: Arc<Gpu>,
    timing: bool,
    mark: Mutex<Option<Mark>>,
}

/// A place in the queue: the batch that the work before it ends in.
#[derive(Debug)]
struct Mark {
    live: Arc<Live>,
    ticket: Ticket,
    stamp: Option<Arc<Timestamp>>,
}

impl GpuEvent {
    pub fn new(gpu: &Arc<Gpu>, timing: bool) -> GpuEvent {
        GpuEvent {
            gpu: gpu.clone(),
            timing,
            mark: Mutex::default(),
        }
    }

    fn mark(&self) -> Result<(), RunError> {
        let live = self.gpu.live()?;
        let mark = {
            let mut state = live.state();
            let state = &mut *state;
            let stamp = match self.timing {
                true => live.timestamps.write(&live, &mut state.batch),
                false => None,
            };
            let ticket = state.batch.submit(&live);
            Mark {
                stamp: stamp.map(Arc::new),
                live: live.clone(),
                ticket,
            }
        };
        let old = lock(&self.mark).replace(mark);
        drop(old);
        live.check()
    }

    /// The open device and the batch of the mark, if there is one.
    fn place(&self) -> Option<(Arc<Live>, Ticket)> {
        let mark = lock(&self.mark);
        mark.as_ref().map(|mark| (mark.live.clone(), mark.ticket.clone()))
    }

    fn time(&self) -> Result<Arc<Timestamp>, RunError> {
        if !self.timing {
            return Err(Refusal::NoTiming.into());
        }
        match &*lock(&self.mark) {
            None => Err(Refusal::NotRecorded.into()),
            Some(Mark { stamp: None, live, .. }) => Err(live.no_clock()),
            Some(mark) if !mark.live.is_done(mark.ticket.number)? => Err(Refusal::NotDone.into()),
            Some(Mark { stamp: Some(stamp), .. }) => Ok(stamp.clone()),
        }
    }
}

impl Event for GpuEvent {
    fn device(&self) -> DeviceId {
        self.gpu.id
    }

    fn raw_handle(&self) -> u64 {
        0
    }

    fn synchronize(&self) -> Result<(), RunError> {
        let Some((live, ticket)) = self.place() else { return Ok(()) };
        live.wait(&ticket)?;
        live.synchronize_mailboxes(&self.gpu)
    }

    fn is_done(&self) -> Result<bool, RunError> {
        match self.place() {
            Some((live, ticket)) => live.is_done(ticket.number),
            None => Ok(true),
        }
    }

    fn elapsed_ms(&self, later: &dyn Event) -> Result<f64, RunError> {
        let own = (later as &dyn Any).downcast_ref::<GpuEvent>();
        let Some(later) = own.filter(|later| later.gpu.id == self.gpu.id) else {
            return Err(foreign("an event", later.device(), self.gpu.id));
        };
        let (start, end) = (self.time()?, later.time()?);
        if !Arc::ptr_eq(&start.live, &end.live) {
            return Err(RunError::Invalid(format!("{} was lost between the events", self.gpu.id)));
        }
        let times = end.live.read_timestamps(&[&start, &end])?;
        Ok((times[1] - times[0]) / 1e6)
    }
}

impl Live {
    /// Is a batch done? Does not wait.
    pub fn is_done(&self, batch: u64) -> Result<bool, RunError> {
        if batch > self.done.load(Ordering::Acquire) {
            self.poll()?;
        }
        Ok(batch <= self.done.load(Ordering::Acquire))
    }
}

#[derive(Debug)]
struct GpuGraph {
    gpu: Arc<Gpu>,
    steps: Vec<Step>,
    /// Freed with the graph: all work is one queue, so that it comes behind the graph's.
    _kept: Vec<DeviceBuffer>,
}

impl Graph for GpuGraph {
    fn device(&self) -> DeviceId {
        self.gpu.id
    }

    fn launch(&self, stream: &dyn Stream) -> Result<(), RunError> {
        let stream = of(&self.gpu, stream)?;
        if stream.captures() {
            return Err(RunError::Unsupported(format!("{} captures no graphs into graphs", self.gpu.id)));
        }
        self.steps.iter().try_for_each(|step| stream.replay(step))
    }

    fn steps(&self) -> usize {
        self.steps.len()
    }
}
