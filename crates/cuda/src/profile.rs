//! Profiling: times of launches and copies on the device while a profile is taken: from CUPTI, or by pairs of events around them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use weft_runtime::profile::{self, Activity, Row};
use weft_runtime::{RunError, lock};

use crate::capture::Goes;
use crate::driver::Failure;
use crate::driver::cupti::{self, Flush, Tracer};
use crate::driver::table::EventHandle;
use crate::gpu::Gpu;
use crate::stream::CudaStream;

/// An event's times are floats of milliseconds: after this long a new base keeps them exact to a microsecond.
const BASE_AGE_NS: u64 = 4_000_000_000;

/// Ties the device's clock to the host's.
#[derive(Debug, Default)]
pub struct Clock(Mutex<Option<Arc<Base>>>);

/// An event that was done at a known time of the host.
#[derive(Debug)]
struct Base {
    event: EventHandle,
    host_ns: u64,
}

impl Clock {
    fn base(&self, gpu: &Gpu) -> Result<Arc<Base>, Failure> {
        let mut known = lock(&self.0);
        if let Some(base) = known.as_ref()
            && profile::now_ns() - base.host_ns < BASE_AGE_NS
        {
            return Ok(base.clone());
        }
        // On a stream of its own, so that the event does not wait for work under way.
        let context = &gpu.context;
        let stream = context.create_stream(true, 0)?;
        let event = context.create_event(true)?;
        let recorded = context.record(event, stream).and_then(|()| context.synchronize_event(event));
        let base = Arc::new(Base {
            event,
            host_ns: profile::now_ns(),
        });
        context.destroy_stream(stream)?;
        recorded?;
        *known = Some(base.clone());
        Ok(base)
    }
}

/// Does the work, and records when the device did it if a profile is taken. The context is current.
#[inline]
pub fn bracket<T>(
    stream: &CudaStream,
    what: Activity,
    name: &str,
    bytes: u64,
    work: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    if !profile::is_on() || !matches!(stream.goes(), Ok(Goes::Now)) {
        return work();
    }
    timed(stream, what, name, bytes, work)
}

#[cold]
fn timed<T>(
    stream: &CudaStream,
    what: Activity,
    name: &str,
    bytes: u64,
    work: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    let gpu = stream.gpu().clone();
    let (result, times) = match cupti::tracer(&gpu.context.driver) {
        Some(tracer) => traced(&gpu, tracer, bytes, work)?,
        None => paired(&gpu, stream, work)?,
    };
    let (name, device, stream) = (name.to_string(), gpu.id(), stream.handle().raw());
    profile::defer(Box::new(move || {
        let (start_ns, duration_ns) = times()?;
        Some(Row {
            what,
            name,
            device,
            stream,
            start_ns,
            duration_ns,
            bytes,
        })
    }));
    Ok(result)
}

/// Start and duration, when the work is done; nothing if it failed or CUPTI lost it.
type Times = Box<dyn FnOnce() -> Option<(u64, u64)> + Send>;

/// Pieces of work that CUPTI has followed.
static FOLLOWED: AtomicU64 = AtomicU64::new(0);

fn traced<T>(gpu: &Arc<Gpu>, tracer: Arc<Tracer>, bytes: u64, work: impl FnOnce() -> Result<T, RunError>) -> Result<(T, Times), RunError> {
    let (result, calls) = tracer.follow(work);
    let result = result.inspect_err(|_| tracer.forget(&calls))?;
    let number = FOLLOWED.fetch_add(1, Ordering::Relaxed);
    let gpu = gpu.clone();
    let times = move || {
        let times = [Flush::Complete, Flush::Forced].into_iter().find_map(|how| {
            gather(&gpu, &tracer, number, how);
            tracer.times(&calls, bytes)
        });
        tracer.forget(&calls);
        times
    };
    Ok((result, Box::new(times)))
}

/// Waits for what was followed and has CUPTI deliver its records, unless that was done since this piece of work.
fn gather(gpu: &Gpu, tracer: &Tracer, number: u64, how: Flush) {
    static GATHERED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
    let gathered = &GATHERED[how as usize];
    if gathered.load(Ordering::Acquire) > number {
        return;
    }
    let until = FOLLOWED.load(Ordering::Acquire);
    gpu.wait_for_all();
    tracer.flush(how);
    gathered.fetch_max(until, Ordering::Release);
}

fn paired<T>(gpu: &Arc<Gpu>, stream: &CudaStream, work: impl FnOnce() -> Result<T, RunError>) -> Result<(T, Times), RunError> {
    let context = &gpu.context;
    let base = context.check(gpu.clock.base(gpu))?;
    let pair = Pair {
        start: context.check(context.create_event(true))?,
        end: context.check(context.create_event(true))?,
        gpu: gpu.clone(),
        base,
    };
    context.check(context.record(pair.start, stream.handle()))?;
    let result = work()?;
    context.check(context.record(pair.end, stream.handle()))?;
    Ok((result, Box::new(move || pair.times())))
}

/// Events around one piece of work.
struct Pair {
    gpu: Arc<Gpu>,
    base: Arc<Base>,
    start: EventHandle,
    end: EventHandle,
}

impl Pair {
    /// Start and duration, when the work is done; nothing if it failed.
    fn times(&self) -> Option<(u64, u64)> {
        let context = &self.gpu.context;
        let _current = context.enter().ok()?;
        context.synchronize_event(self.end).ok()?;
        let since = context.elapsed_ms(self.base.event, self.start).ok()?;
        let took = context.elapsed_ms(self.start, self.end).ok()?;
        let nanoseconds = |ms: f32| (f64::from(ms) * 1e6).max(0.0) as u64;
        Some((self.base.host_ns + nanoseconds(since), nanoseconds(took)))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let context = &self.gpu.context;
        if context.is_alive()
            && let Ok(_current) = context.enter()
        {
            let _ = context.destroy_event(self.start);
            let _ = context.destroy_event(self.end);
        }
    }
}
