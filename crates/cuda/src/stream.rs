//! Streams, events and graphs of a GPU.

use std::any::Any;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, ThreadId};

use weft_runtime::hosts::{Carrier, Scratch};
use weft_runtime::profile::Activity;
use weft_runtime::{DeviceId, DeviceKind, Event, Graph, Place, Refusal, RunError, Stream, StreamOptions, foreign, lock, patience};

use crate::capture::{Capture, Goes, Kept};
use crate::driver::table::{EventHandle, GraphExecHandle, GraphHandle, StreamHandle};
use crate::gpu::{Gpu, Job};
use crate::memory::DeviceBuffer;
use crate::per_thread::PerThread;
use crate::profile;
use crate::waits::{self, Waits};

#[derive(Debug)]
pub struct CudaStream {
    gpu: Arc<Gpu>,
    handle: StreamHandle,
    /// Ours: the driver gives a handle again when its stream is gone, and has one handle for the default streams of all threads.
    number: u64,
    /// Made here, and destroyed here.
    owned: bool,
    /// The default stream waits for it, as far as is known: of others' streams it is not.
    blocking: bool,
    /// The thread whose default stream it is.
    of_thread: Option<ThreadId>,
    /// That thread has ended.
    ended: AtomicBool,
    pub waits: Waits,
    /// The capture that was begun with it.
    capturing: Mutex<Option<Arc<Capture>>>,
    me: Weak<CudaStream>,
}

impl CudaStream {
    fn new(gpu: &Arc<Gpu>, handle: StreamHandle, owned: bool, blocking: bool) -> Arc<CudaStream> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let stream = Arc::new_cyclic(|me| CudaStream {
            gpu: gpu.clone(),
            handle,
            number: MADE.fetch_add(1, Ordering::Relaxed),
            owned,
            blocking,
            of_thread: (handle == StreamHandle::PER_THREAD).then(|| thread::current().id()),
            ended: AtomicBool::new(false),
            waits: Waits::default(),
            capturing: Mutex::default(),
            me: me.clone(),
        });
        gpu.remember(&stream);
        stream
    }

    pub fn create(gpu: &Arc<Gpu>, options: StreamOptions) -> Result<Arc<CudaStream>, RunError> {
        let _current = gpu.context.enter()?;
        let handle = gpu
            .context
            .check(gpu.context.create_stream(options.nonblocking, options.priority))?;
        Ok(CudaStream::new(gpu, handle, true, !options.nonblocking))
    }

    /// The legacy default stream.
    pub fn legacy(gpu: &Arc<Gpu>) -> Arc<CudaStream> {
        CudaStream::new(gpu, StreamHandle::NULL, false, false)
    }

    /// The calling thread's default stream.
    pub fn of_this_thread(gpu: &Arc<Gpu>) -> Arc<CudaStream> {
        CudaStream::new(gpu, StreamHandle::PER_THREAD, false, true)
    }

    /// A stream of another library; the same object as long as anyone holds it.
    pub fn external(gpu: &Arc<Gpu>, raw_handle: u64) -> Arc<dyn Stream> {
        let handle = StreamHandle::from_raw(raw_handle);
        if handle == StreamHandle::NULL || handle == StreamHandle::LEGACY {
            return gpu.default_stream().clone();
        }
        if handle == StreamHandle::PER_THREAD {
            return Arc::new(PerThread::new(gpu));
        }
        let made = || CudaStream::new(gpu, handle, false, false);
        gpu.known_stream(handle).unwrap_or_else(made)
    }

    /// The thread whose default stream it is has ended.
    pub fn ends(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// This stream, for what keeps it alive.
    pub fn shared(&self) -> Result<Arc<CudaStream>, RunError> {
        let me = self.me.upgrade();
        me.ok_or_else(|| RunError::Invalid("the stream is being destroyed".into()))
    }

    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// By which the calling thread reaches it. Another thread's default stream is reached by the legacy one: what that is given comes behind
    /// the work of all blocking streams so far, and they wait for it.
    pub fn handle(&self) -> StreamHandle {
        match self.of_thread {
            Some(thread) if thread != thread::current().id() => StreamHandle::NULL,
            _ => self.handle,
        }
    }

    /// Does the default stream wait for it, and it for that?
    pub fn is_ordered_with_default(&self) -> bool {
        self.blocking || self.handle == StreamHandle::NULL
    }

    pub fn is_of_handle(&self, handle: StreamHandle) -> bool {
        self.handle == handle
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where work given to it goes now.
    pub fn goes(&self) -> Result<Goes, RunError> {
        let _current = self.gpu.context.enter()?;
        self.gpu.goes(self.handle())
    }

    /// Does what must not be done to a stream that captures: it would end the capture, or become a part of it.
    fn outside_captures(&self, refusal: Refusal) -> Result<(), RunError> {
        match self.goes()? {
            Goes::Now => Ok(()),
            _ => Err(refusal.into()),
        }
    }

    /// Does something that waits for all work so far, then takes what kernels left in their mailboxes; the first error is returned.
    fn wait_and_collect(&self, wait: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
        self.outside_captures(Refusal::WaitInCapture)?;
        self.look()?;
        waits::over(&self.gpu, &[&self.waits], wait)
    }

    /// Waits for all work so far so that the host language can end it, where it wants to be asked. Every error is left to the wait that
    /// follows, which is short then.
    pub fn look(&self) -> Result<(), RunError> {
        if !patience::can_end() {
            return Ok(());
        }
        if self.handle() == StreamHandle::NULL {
            for stream in self.gpu.streams().iter().filter(|stream| stream.blocking) {
                stream.look_alone()?;
            }
        }
        self.look_alone()
    }

    /// Looks at the stream for a moment, then at a mark behind the work so far, since others may go on giving the stream work.
    pub fn look_alone(&self) -> Result<(), RunError> {
        if patience::look_shortly(|| self.is_done().unwrap_or(true)) {
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
        if lock(&event.stream).captured {
            return Err(RunError::Invalid(
                "a stream that captures cannot be waited for by work outside of its graph".into(),
            ));
        }
        self.wait(&event)
    }

    /// Copies to the device; the host's memory is free when it returns, unless it is pinned.
    pub fn upload(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.bracket(Activity::CopyToDevice, bytes, |context| {
            let into_graph = !matches!(self.gpu.goes(self.handle())?, Goes::Now);
            if into_graph || context.is_pinned(from, bytes) {
                context.check(context.copy_to_device(to, from, bytes, self.handle()))
            } else {
                self.gpu.staging.upload(context, to, from, bytes, self.handle())
            }
        })
    }

    /// Copies to the host; has arrived when it returns, unless the memory is pinned.
    pub fn download(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.bracket(Activity::CopyToHost, bytes, |context| {
            let into_graph = !matches!(self.gpu.goes(self.handle())?, Goes::Now);
            if into_graph || context.is_pinned(to, bytes) {
                return context.check(context.copy_to_host(to, from, bytes, self.handle()));
            }
            // All earlier work of the stream is done with the copy.
            self.wait_and_collect(|| self.gpu.staging.download(context, to, from, bytes, self.handle()))
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
                context.check(context.copy_on_device(to.1, from.1, bytes, self.handle()))
            });
        }
        let context_of = |id: DeviceId| match id == self.gpu.id() {
            true => self.gpu.context.handle(),
            false => self.gpu.sibling(id)?.context.handle(),
        };
        let (to, from) = ((to.1, context_of(to.0)?), (from.1, context_of(from.0)?));
        self.bracket(Activity::CopyToPeer, bytes, |context| {
            context.check(context.copy_to_peer(to, from, bytes, self.handle()))
        })
    }
}

/// A stream of this GPU that a call was given.
pub enum Given<'a> {
    Stream(&'a CudaStream),
    /// The calling thread's default stream.
    Own(Arc<CudaStream>),
}

impl Deref for Given<'_> {
    type Target = CudaStream;

    fn deref(&self) -> &CudaStream {
        match self {
            Given::Stream(stream) => stream,
            Given::Own(stream) => stream,
        }
    }
}

/// The stream of a call as one of this GPU.
pub fn of<'a>(gpu: &Gpu, stream: &'a dyn Stream) -> Result<Given<'a>, RunError> {
    if stream.device() != gpu.id() {
        return Err(foreign("a stream", stream.device(), gpu.id()));
    }
    let any = stream as &dyn Any;
    if let Some(stream) = any.downcast_ref::<CudaStream>() {
        return Ok(Given::Stream(stream));
    }
    match any.downcast_ref::<PerThread>() {
        Some(stream) => Ok(Given::Own(stream.own()?)),
        None => Err(foreign("a stream", stream.device(), gpu.id())),
    }
}

/// The stream itself, whichever thread asks: in place of a default stream of threads the calling thread's.
pub fn itself(stream: &Arc<dyn Stream>) -> Result<Arc<dyn Stream>, RunError> {
    match (&**stream as &dyn Any).downcast_ref::<PerThread>() {
        Some(stream) => Ok(stream.own()?),
        None => Ok(stream.clone()),
    }
}

/// The stream itself; in place of the default stream of a thread that has ended its GPU's default stream, which comes behind its work.
pub fn lasting(stream: &Arc<dyn Stream>) -> Arc<dyn Stream> {
    match (&**stream as &dyn Any).downcast_ref::<CudaStream>() {
        Some(own) if own.ended.load(Ordering::Acquire) => own.gpu.default_stream().clone(),
        _ => stream.clone(),
    }
}

/// Is it the same queue of work?
pub fn are_one(a: &dyn Stream, b: &dyn Stream) -> bool {
    let number = |stream: &dyn Stream| (stream as &dyn Any).downcast_ref::<CudaStream>().map(CudaStream::number);
    match (number(a), number(b)) {
        (None, None) => a.device() == b.device() && a.raw_handle() == b.raw_handle(),
        (a, b) => a == b,
    }
}

impl Stream for CudaStream {
    fn device(&self) -> DeviceId {
        self.gpu.id()
    }

    fn raw_handle(&self) -> u64 {
        self.handle().raw()
    }

    fn synchronize(&self) -> Result<(), RunError> {
        let context = &self.gpu.context;
        let _current = context.enter()?;
        self.wait_and_collect(|| context.check(context.synchronize_stream(self.handle())))
    }

    fn is_done(&self) -> Result<bool, RunError> {
        let context = &self.gpu.context;
        let _current = context.enter()?;
        self.outside_captures(Refusal::QuestionInCapture)?;
        context.check(context.is_stream_done(self.handle()))
    }

    fn wait(&self, event: &dyn Event) -> Result<(), RunError> {
        if event.device().kind != DeviceKind::Cuda {
            return event.synchronize();
        }
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.stream_wait(self.handle(), EventHandle::from_raw(event.raw_handle())))
    }

    fn record(&self, event: &dyn Event) -> Result<(), RunError> {
        let own = (event as &dyn Any).downcast_ref::<CudaEvent>();
        let Some(event) = own.filter(|own| own.gpu.id() == self.gpu.id()) else {
            return Err(foreign("an event", event.device(), self.gpu.id()));
        };
        let context = &self.gpu.context;
        let _current = context.enter()?;
        let captured = !matches!(self.gpu.goes(self.handle())?, Goes::Now);
        context.check(context.record(event.handle, self.handle()))?;
        *lock(&event.stream) = Recorded {
            on: Some(self.me.clone()),
            captured,
        };
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
            (Ok(_), Ok(_)) => Err(Refusal::CopyOfHost.into()),
        }
    }

    fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), RunError> {
        if bytes == 0 {
            return Ok(());
        }
        self.bracket(Activity::Fill, bytes, |context| {
            self.gpu.goes(self.handle())?;
            context.check(context.fill(address, value, bytes, self.handle()))
        })
    }

    fn add_callback(&self, callback: Box<dyn FnOnce() + Send>) -> Result<(), RunError> {
        let context = &self.gpu.context;
        let _current = context.enter()?;
        if !matches!(self.gpu.goes(self.handle())?, Goes::Now) {
            return Err(Refusal::CallbackInCapture.into());
        }
        context.check(context.add_callback(self.handle(), callback))
    }

    fn begin_capture(&self) -> Result<(), RunError> {
        if self.handle() == StreamHandle::NULL {
            return Err(Refusal::CaptureOfDefault.into());
        }
        let context = &self.gpu.context;
        let _current = context.enter()?;
        let mut capturing = lock(&self.capturing);
        if capturing.is_some() || !matches!(self.gpu.goes(self.handle())?, Goes::Now) {
            return Err(Refusal::CapturesAlready.into());
        }
        context.forget_cause();
        context.check(context.begin_capture(self.handle()))?;
        let Goes::Elsewhere = self.gpu.goes(self.handle())? else {
            return Err(RunError::Invalid("the driver does not say that the stream captures".into()));
        };
        let id = context.check(context.capture_of(self.handle()))?.unwrap_or_default();
        let capture = Arc::new(Capture::new(id));
        self.gpu.begins(&capture);
        *capturing = Some(capture);
        Ok(())
    }

    fn end_capture(&self) -> Result<Arc<dyn Graph>, RunError> {
        let Some(capture) = lock(&self.capturing).take() else {
            return Err(Refusal::CapturesNot.into());
        };
        let context = &self.gpu.context;
        let _current = context.enter()?;
        let made = context.end_capture(self.handle());
        self.gpu.ended(&capture);
        let (graph, exec, steps) = made.map_err(|failure| match failure {
            failure if failure.is_invalidated_capture() => context.first_cause(failure),
            failure => context.error(failure),
        })?;
        Ok(Arc::new(CudaGraph(Arc::new(Parts {
            gpu: self.gpu.clone(),
            graph,
            exec,
            steps,
            capture,
        }))))
    }

    fn is_capturing(&self) -> Result<bool, RunError> {
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.is_capturing(self.handle()))
    }
}

impl Carrier for CudaStream {
    type Buffer = DeviceBuffer;

    fn captures(&self) -> Result<bool, RunError> {
        Ok(!matches!(self.goes()?, Goes::Now))
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceBuffer, RunError> {
        DeviceBuffer::new(self, bytes)
    }

    fn scratch(&self, bytes: usize) -> Result<Option<Scratch<DeviceBuffer>>, RunError> {
        match self.goes()? {
            Goes::Now => Ok(Some(Scratch::Own(DeviceBuffer::new(self, bytes)?))),
            Goes::Here(capture) => Ok(Some(Scratch::OfGraph(capture.memory(&self.gpu, bytes)?))),
            Goes::Elsewhere => Ok(None),
        }
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
        let context = &self.gpu.context;
        if context.is_forked() {
            // Another thread of the parent may have held any lock.
            return;
        }
        let mut mark = None;
        if self.of_thread.is_some() {
            // The thread ends: the driver has left it. Nobody can end a capture of its stream any more.
            if let Some(capture) = lock(&self.capturing).take() {
                self.gpu.gave_up(&capture);
            }
        } else if context.is_alive()
            && let Ok(_current) = context.enter()
        {
            self.give_up_capture();
            mark = self.owned.then(|| self.leave()).flatten();
        }
        self.gpu.forget(self.number, &self.waits, mark);
    }
}

impl CudaStream {
    /// Ends a capture that nobody can end any more.
    fn give_up_capture(&self) {
        let context = &self.gpu.context;
        if let Some(capture) = lock(&self.capturing).take() {
            if let Ok((graph, exec, _)) = context.end_capture(self.handle()) {
                let _ = context.destroy_graph(graph, exec);
            }
            self.gpu.ended(&capture);
        }
    }

    /// Gives the stream up; work that was given to it goes on. Gives an event behind that work.
    fn leave(&self) -> Option<EventHandle> {
        let context = &self.gpu.context;
        let mark = context.create_event(false).ok();
        let marked = mark.filter(|mark| self.gpu.is_free(self.handle) && context.record(*mark, self.handle).is_ok());
        let _ = context.destroy_stream(self.handle);
        marked
    }
}

/// Where an event was recorded last.
#[derive(Debug, Default)]
struct Recorded {
    on: Option<Weak<CudaStream>>,
    /// As a part of a graph, so that it is at no time done.
    captured: bool,
}

#[derive(Debug)]
pub struct CudaEvent {
    gpu: Arc<Gpu>,
    handle: EventHandle,
    timing: bool,
    stream: Mutex<Recorded>,
}

impl CudaEvent {
    pub fn create(gpu: &Arc<Gpu>, timing: bool) -> Result<CudaEvent, RunError> {
        let _current = gpu.context.enter()?;
        Ok(CudaEvent {
            handle: gpu.context.check(gpu.context.create_event(timing))?,
            gpu: gpu.clone(),
            timing,
            stream: Mutex::default(),
        })
    }

    fn check_timed(&self) -> Result<(), RunError> {
        match () {
            () if !self.timing => Err(Refusal::NoTiming.into()),
            () if lock(&self.stream).on.is_none() => Err(Refusal::NotRecorded.into()),
            () => Ok(()),
        }
    }
}

impl CudaEvent {
    fn check_real(&self) -> Result<(), RunError> {
        if lock(&self.stream).captured {
            return Err(RunError::Invalid(
                "the event was recorded into a graph, so that it cannot be waited for: record it again outside of the capture".into(),
            ));
        }
        Ok(())
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
        self.check_real()?;
        patience::look_until(|| self.is_done().unwrap_or(true))?;
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.synchronize_event(self.handle))?;
        let stream = lock(&self.stream).on.clone();
        match stream.and_then(|stream| stream.upgrade()) {
            Some(stream) => stream.waits.glance(&self.gpu),
            None => Ok(()),
        }
    }

    fn is_done(&self) -> Result<bool, RunError> {
        self.check_real()?;
        let context = &self.gpu.context;
        let _current = context.enter()?;
        context.check(context.is_event_done(self.handle))
    }

    fn elapsed_ms(&self, later: &dyn Event) -> Result<f64, RunError> {
        let own = (later as &dyn Any).downcast_ref::<CudaEvent>();
        let Some(later) = own.filter(|later| later.gpu.id() == self.gpu.id()) else {
            return Err(foreign("an event", later.device(), self.gpu.id()));
        };
        self.check_real().and(later.check_real())?;
        self.check_timed()?;
        later.check_timed()?;
        let context = &self.gpu.context;
        let _current = context.enter()?;
        if !(context.check(context.is_event_done(self.handle))? && context.check(context.is_event_done(later.handle))?) {
            return Err(Refusal::NotDone.into());
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
struct CudaGraph(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    gpu: Arc<Gpu>,
    graph: GraphHandle,
    exec: GraphExecHandle,
    steps: usize,
    /// What it keeps.
    capture: Arc<Capture>,
}

impl Kept for Parts {}

impl CudaGraph {
    /// Makes it a step of another graph, which keeps it.
    fn put_into(&self, goes: &Goes, launch: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
        let Parts { gpu, capture, .. } = &*self.0;
        if let Some(why) = capture.is_alone() {
            return Err(RunError::Unsupported(format!(
                "a graph whose kernels {why} cannot be a step of another graph, which could run at the same time: capture its kernels again"
            )));
        }
        let mailboxes = capture.mailboxes();
        match goes {
            Goes::Here(outer) => {
                outer.launch(&mailboxes, launch)?;
                outer.keep(self.0.clone());
                Ok(())
            }
            _ if mailboxes.is_empty() => {
                gpu.keep_for_good(self.0.clone());
                launch()
            }
            _ => Err(RunError::Unsupported(
                "a graph whose kernels print or may raise cannot be a step of a graph that another library captures".into(),
            )),
        }
    }
}

impl Graph for CudaGraph {
    fn device(&self) -> DeviceId {
        self.0.gpu.id()
    }

    fn launch(&self, stream: &dyn Stream) -> Result<(), RunError> {
        let Parts { gpu, exec, capture, .. } = &*self.0;
        let stream = of(gpu, stream)?;
        let context = &gpu.context;
        let _current = context.enter()?;
        let launch = || {
            profile::bracket(&stream, Activity::Graph, "graph", 0, || {
                context.check(context.launch_graph(*exec, stream.handle()))
            })
        };
        match gpu.goes(stream.handle())? {
            Goes::Now => stream.waits.launch(&capture.mailboxes(), launch),
            into => self.put_into(&into, launch),
        }
    }

    fn steps(&self) -> usize {
        self.0.steps
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.gpu.give_back(Job::Graph(self.graph, self.exec));
    }
}
