//! Times of launches and copies on the device, by pairs of events around them, while a profile is taken.

use std::sync::{Arc, Mutex};

use weft_runtime::RunError;
use weft_runtime::profile::{self, Activity, Row};

use crate::driver::Failure;
use crate::driver::table::EventHandle;
use crate::gpu::{Gpu, lock};
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
    if !profile::is_on() || stream.captures() {
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
    let gpu = stream.gpu();
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
    let (name, stream) = (name.to_string(), stream.handle().raw());
    profile::defer(Box::new(move || {
        let (start_ns, duration_ns) = pair.times()?;
        Some(Row {
            what,
            name,
            device: pair.gpu.id(),
            stream,
            start_ns,
            duration_ns,
            bytes,
        })
    }));
    Ok(result)
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
