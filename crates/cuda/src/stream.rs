//! Streams, events and graphs of a GPU.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use weft_runtime::hosts::Carrier;
use weft_runtime::profile::Activity;
use weft_runtime::{DeviceId, DeviceKind, Event, Graph, Place, RunError, Stream, StreamOptions, patience};

use crate::driver::table::{EventHandle, GraphExecHandle, GraphHandle, StreamHandle};
use crate::gpu::{Gpu, Job, lock};
use crate::mailbox::Mailbox;
use crate::memory::DeviceBuffer;
use crate::profile;
use crate::waits::{self, Waits};

#[derive(Debug)]
pub struct CudaStream {
    gpu: Arc<Gpu>,
    handle: StreamHandle,
    /// Made here, and destroyed here.
    owned: bool,
    /// The default stream waits for it, as far as is known: of others' streams it is not.
    blocking: bool,
    pub waits: Waits,
    /// What kernels of the capture under way need, for the graph.
    captured: Mutex<Vec<Arc<dyn Kept>>>,
    captured_mailboxes: Mutex<Vec<Arc<Mailbox>>>,
    capturing: AtomicBool,
    me: Weak<CudaStream>,
}

/// What a graph keeps alive.
pub trait Kept: Any + Send + Sync + std::fmt::Debug {}

impl CudaStream {
    pub fn new(gpu: Arc<Gpu>, handle: StreamHandle, owned: bool, blocking: bool) -> Arc<CudaStream> {
        Arc::new_cyclic(|me| CudaStream {
            gpu,
            handle,
            owned,
            blocking,
            waits: Waits::default(),
            captured: Mutex::default(),
            captured_mailboxes: Mutex::default(),
            capturing: AtomicBool::new(false),
            me: me.clone(),
        })
    }

    pub fn create(gpu: &Arc<Gpu>, options: StreamOptions) -> Result<Arc<CudaStream>, RunError> {
        let _current = gpu.context.enter()?;
        let handle = gpu
            .context
            .check(gpu.context.create_stream(options.nonblocking, options.priority))?;
        let stream = CudaStream::new(gpu.clone(), handle, true, !options.nonblocking);
        gpu.remember(handle, &stream);
        Ok(stream)
    }

    /// A stream of another library; the same object as long as anyone holds it.
    pub fn external(gpu: &Arc<Gpu>, raw_handle: u64) -> Arc<CudaStream> {
        let handle = StreamHandle::from_raw(raw_handle);
        if handle == StreamHandle::NULL {
            return gpu.default_stream().clone();
        }
        gpu.known_stream(handle).unwrap_or_else(|| {
            let stream = CudaStream::new(gpu.clone(), handle, false, false);
            gpu.remember(handle, &stream);
            stream
        })
    }

    /// This stream, for what keeps it alive.
    pub fn shared(&self) -> Result<Arc<CudaStream>, RunError> {
        let me = self.me.upgrade();
        me.ok_or_else(|| RunError::Invalid("the stream is being destroyed".into()))
    }

    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub fn handle(&self) -> StreamHandle {
        self.handle
    }

    /// Does a capture that was begun here go on?
    #[inline]
    pub fn captures(&self) -> bool {
        self.capturing.load(Ordering::Relaxed)
    }

    /// Launches something that writes to mailboxes, which the next wait reads, or those after launches of the graph being captured.
    pub fn launch_with<'a>(
        &self,
        mailboxes: impl IntoIterator<Item = &'a Arc<Mailbox>>,
        launch: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        if !self.captures() {
            return self.waits.launch(mailboxes, launch);
        }
        let mut list = lock(&self.captured_mailboxes);
        launch()?;
        for mailbox in mailboxes {
            if !list.iter().any(|known| Arc::ptr_eq(known, mailbox)) {
                list.push(mailbox.clone());
            }
        }
        Ok(())
    }

    /// The graph being captured uses this.
    pub fn keep(&self, what: Arc<dyn Kept>) {
        lock(&self.captured).push(what);
    }

    /// Does something that waits for all work so far, then takes what kernels left in their mailboxes; the first error is returned.
    fn wait_and_collect(&self, wait: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
        self.look()?;
        waits::over(&self.gpu, &[&self.waits], wait)
    }

    /// Waits for all work so far so that the host language can end it, where it wants to be asked. Every error is left to the wait that
    /// follows, which is short then.
    pub fn look(&self) -> Result<(), RunError> {
        if !patience::can_end() || self.gpu.captures() {
            return Ok(());
        }
        if self.handle == StreamHandle::NULL {
            for stream in self.gpu.streams().iter().filter(|stream| stream.blocking) {
                stream.look_alone()?;
            }
        }
        self.look_alone()
    }

    /// Looks at a mark behind the work so far, since others may go on giving the stream work.
    pub fn look_alone(&self) -> Result<(), RunError> {
        if self.is_done().unwrap_or(true) {
            return Ok(());
        }
        let Ok(mark) = CudaEvent::create(&self.gpu, false) else {
            return Ok(());
        };
        if self.record(&mark).is_err() {
            return Ok(());
        }
        patience::look_until(|| mark.is_done().unwrap_or(true))
    }

    /// Work given here later waits for what was given to another stream so far.
    pub fn wait_for(&self, other: &dyn Stream) -> Result<(), RunError> {
        if other.device().kind != DeviceKind::Cuda {
            return other.synchronize();
        }
        let gpu = if other.device() == self.gpu.id() {
            self.gpu.clone()
        } else {
            self.gpu.sibling(other.device())?
        };
        let event = CudaEvent::create(&gpu, false)?;
        other.record(&event)?;
        self.wait(&event)
    }

    /// Copies to the device; the host's memory is free when it returns, unless it is pinned.
    pub fn upload(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.bracket(Activity::CopyToDevice, bytes, |context| {
            if self.captures() || context.is_pinned(from) {
                context.check(context.copy_to_device(to, from, bytes, self.handle))
            } else {
                self.gpu.staging.upload(context, to, from, bytes, self.handle)
            }
        })
    }

    /// Copies to the host; has arrived when it returns, unless the memory is pinned.
    pub fn download(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.bracket(Activity::CopyToHost, bytes, |context| {
            if self.captures() || context.is_pinned(to) {
                return context.check(context.copy_to_host(to, from, bytes, self.handle));
            }
            // All earlier work of the stream is done with the copy.
            self.wait_and_collect(|| self.gpu.staging.download(context, to, from, bytes, self.handle))
        })
    }

    fn bracket<T>(
        &self,
        what: Activity,
        bytes: usize,
        work: impl FnOnce(&crate::driver::Context) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let _current = self.gpu.context.enter()?;
        profile::bracket(self, what, what.name(), bytes as u64, || work(&self.gpu.context))
    }

    fn copy_devices(&self, to: (DeviceId, u64), from: (DeviceId, u64), bytes: usize) -> Result<(), RunError> {
        if to.0 == from.0 {
            return self.bracket(Activity::CopyOnDevice, bytes, |context| {
                context.check(context.copy_on_device(to.1, from.1, bytes, self.handle))
            });
        }
        let context_of = |id: DeviceId| match id == self.gpu.id() {
            true => self.gpu.context.handle(),
            false => self.gpu.sibling(id)?.context.handle(),
        };
        let (to, from) = ((to.1, context_of(to.0)?), (from.1, context_of(from.0)?));
        self.bracket(Activity::CopyToPeer, bytes, |context| {
            context.check(context.copy_to_peer(to, from, bytes, self.handle))
        })
    }
}

/// The stream of a call as one of this GPU.
pub fn of<'a>(gpu: &Gpu, stream: &'a dyn Stream) -> Result<&'a CudaStream, RunError> {
    let own = (stream as &dyn Any).downcast_ref::<CudaStream>();
    own.filter(|own| own.gpu.id() == gpu.id())
        .ok_or_else(|| foreign(gpu, "a stream", stream.device()))
}

fn foreign(gpu: &Gpu, what: &str, of: DeviceId) -> RunError {
    RunError::Invalid(format!("{what} of {of} was given to {}", gpu.id()))
}

impl Stream for CudaStream {
    fn device(&self) -> DeviceId {
        self.gpu.id()
    }

    fn raw_handle(&self) -> u64 {
        self.handle.raw()
    }

    fn synchronize(&self) -> Result<(), RunError> {
        let context = &self.gpu.context;
        let _current = context.enter()?;
        self.wait_and_collect(|| context.check(context.synchronize_stream(self.handle)))
    }

    fn is_done(&self) -> Result<bool, RunError> {
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.is_stream_done(self.handle))
    }

    fn wait(&self, event: &dyn Event) -> Result<(), RunError> {
        if event.device().kind != DeviceKind::Cuda {
            return event.synchronize();
        }
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.stream_wait(self.handle, EventHandle::from_raw(event.raw_handle())))
    }

    fn record(&self, event: &dyn Event) -> Result<(), RunError> {
        let own = (event as &dyn Any).downcast_ref::<CudaEvent>();
        let Some(event) = own.filter(|own| own.gpu.id() == self.gpu.id()) else {
            return Err(foreign(&self.gpu, "an event", event.device()));
        };
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.record(event.handle, self.handle))?;
        *lock(&event.stream) = Some(self.handle);
        Ok(())
    }

    fn copy(&self, to: Place, from: Place, bytes: usize) -> Result<(), RunError> {
        let host = |place: Place| match place {
            Place::Host(address) | Place::Device(DeviceId::CPU, address) => Ok(address),
            Place::Device(id, address) => Err((id, address)),
        };
        match (host(to), host(from)) {
            (_, _) if bytes == 0 => Ok(()),
            (Err(to), Err(from)) => self.copy_devices(to, from, bytes),
            (Err((id, to)), Ok(from)) if id == self.gpu.id() => self.upload(to, from, bytes),
            (Ok(to), Err((id, from))) if id == self.gpu.id() => self.download(to, from, bytes),
            (Err((id, _)), Ok(_)) | (Ok(_), Err((id, _))) => Err(RunError::Invalid(format!(
                "memory of {id} and of the host are copied on a stream of {id}, not of {}",
                self.gpu.id()
            ))),
            (Ok(_), Ok(_)) => Err(RunError::Invalid("a copy on a GPU's stream has the GPU on one side".into())),
        }
    }

    fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), RunError> {
        if bytes == 0 {
            return Ok(());
        }
        self.bracket(Activity::Fill, bytes, |context| {
            context.check(context.fill(address, value, bytes, self.handle))
        })
    }

    fn add_callback(&self, callback: Box<dyn FnOnce() + Send>) -> Result<(), RunError> {
        if self.captures() {
            return Err(RunError::Invalid(
                "a callback cannot be captured: a graph would call it again".into(),
            ));
        }
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.add_callback(self.handle, callback))
    }

    fn begin_capture(&self) -> Result<(), RunError> {
        if self.handle == StreamHandle::NULL {
            return Err(RunError::Invalid("the default stream cannot capture: make a stream for it".into()));
        }
        let context = &self.gpu.context;
        let _current = context.enter()?;
        if self.captures() {
            return Err(RunError::Invalid("the stream captures already".into()));
        }
        context.check(context.begin_capture(self.handle))?;
        self.capturing.store(true, Ordering::Relaxed);
        self.gpu.capture(true);
        Ok(())
    }

    fn end_capture(&self) -> Result<Arc<dyn Graph>, RunError> {
        if !self.capturing.swap(false, Ordering::Relaxed) {
            return Err(RunError::Invalid("the stream does not capture".into()));
        }
        let mailboxes = std::mem::take(&mut *lock(&self.captured_mailboxes));
        let kept = std::mem::take(&mut *lock(&self.captured));
        let context = &self.gpu.context;
        let _current = context.enter()?;
        let made = context.end_capture(self.handle);
        self.gpu.capture(false);
        let (graph, exec, steps) = context.check(made)?;
        Ok(Arc::new(CudaGraph {
            gpu: self.gpu.clone(),
            graph,
            exec,
            steps,
            mailboxes,
            _kept: kept,
        }))
    }

    fn is_capturing(&self) -> Result<bool, RunError> {
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.is_capturing(self.handle))
    }
}

impl Carrier for CudaStream {
    type Buffer = DeviceBuffer;

    fn captures(&self) -> bool {
        self.captures()
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceBuffer, RunError> {
        DeviceBuffer::new(self, bytes)
    }

    fn upload(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.upload(to, from, bytes)
    }

    fn download(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.download(to, from, bytes)
    }

    fn finish(&self) -> Result<(), RunError> {
        self.synchronize()
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        self.gpu.forget(self.handle, &self.waits);
        if !self.owned || !self.gpu.context.is_alive() {
            return;
        }
        if let Ok(_current) = self.gpu.context.enter() {
            // Work that was given to it goes on.
            let _ = self.gpu.context.destroy_stream(self.handle);
        }
    }
}

#[derive(Debug)]
pub struct CudaEvent {
    gpu: Arc<Gpu>,
    handle: EventHandle,
    timing: bool,
    /// Where it was recorded last.
    stream: Mutex<Option<StreamHandle>>,
}

impl CudaEvent {
    pub fn create(gpu: &Arc<Gpu>, timing: bool) -> Result<CudaEvent, RunError> {
        let _current = gpu.context.enter()?;
        Ok(CudaEvent {
            handle: gpu.context.check(gpu.context.create_event(timing))?,
            gpu: gpu.clone(),
            timing,
            stream: Mutex::new(None),
        })
    }

    fn check_timed(&self) -> Result<(), RunError> {
        let why = if !self.timing {
            "the event was made without timing"
        } else if lock(&self.stream).is_none() {
            "the event was not recorded"
        } else {
            return Ok(());
        };
        Err(RunError::Invalid(why.into()))
    }
}

impl Event for CudaEvent {
    fn device(&self) -> DeviceId {
        self.gpu.id()
    }

    fn raw_handle(&self) -> u64 {
        self.handle.raw()
    }

    fn synchronize(&self) -> Result<(), RunError> {
        patience::look_until(|| self.is_done().unwrap_or(true))?;
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.synchronize_event(self.handle))?;
        let stream = *lock(&self.stream);
        match stream.and_then(|stream| self.gpu.known_stream(stream)) {
            Some(stream) => stream.waits.glance(&self.gpu),
            None => Ok(()),
        }
    }

    fn is_done(&self) -> Result<bool, RunError> {
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.is_event_done(self.handle))
    }

    fn elapsed_ms(&self, later: &dyn Event) -> Result<f64, RunError> {
        let own = (later as &dyn Any).downcast_ref::<CudaEvent>();
        let Some(later) = own.filter(|later| later.gpu.id() == self.gpu.id()) else {
            return Err(foreign(&self.gpu, "an event", later.device()));
        };
        self.check_timed()?;
        later.check_timed()?;
        let context = &self.gpu.context;
        let _current = context.enter()?;
        if !(context.check(context.is_event_done(self.handle))? && context.check(context.is_event_done(later.handle))?) {
            return Err(RunError::Invalid(
                "the time between events is known when both are done: wait for the later one".into(),
            ));
        }
        Ok(f64::from(context.check(context.elapsed_ms(self.handle, later.handle))?))
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        if self.gpu.context.is_alive()
            && let Ok(_current) = self.gpu.context.enter()
        {
            let _ = self.gpu.context.destroy_event(self.handle);
        }
    }
}

#[derive(Debug)]
struct CudaGraph {
    gpu: Arc<Gpu>,
    graph: GraphHandle,
    exec: GraphExecHandle,
    steps: usize,
    mailboxes: Vec<Arc<Mailbox>>,
    _kept: Vec<Arc<dyn Kept>>,
}

impl Graph for CudaGraph {
    fn device(&self) -> DeviceId {
        self.gpu.id()
    }

    fn launch(&self, stream: &dyn Stream) -> Result<(), RunError> {
        let stream = of(&self.gpu, stream)?;
        let context = &self.gpu.context;
        let _current = context.enter()?;
        stream.launch_with(&self.mailboxes, || {
            profile::bracket(stream, Activity::Graph, "graph", 0, || {
                context.check(context.launch_graph(self.exec, stream.handle))
            })
        })
    }

    fn steps(&self) -> usize {
        self.steps
    }
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        self.gpu.give_back(Job::Graph(self.graph, self.exec));
    }
}
