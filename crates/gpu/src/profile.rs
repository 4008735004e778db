//! Profiling: times of launches, copies and fills on the device, by its clock, while a profile is taken.

use std::sync::{Arc, Mutex};

use weft_runtime::profile::{self, Activity, Row};
use weft_runtime::{RunError, lock};

use crate::live::{Live, State};
use crate::stream::GpuStream;
use crate::timestamps::Timestamp;

/// Clocks of host and device drift apart: after this long they are compared again.
const AGE_NS: u64 = 4_000_000_000;
/// Comparisons of which the shortest counts: a thread may be kept from its core in any.
const TRIALS: u32 = 5;

/// A moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    host_ns: u64,
    device_ns: f64,
}

/// The moment at which the clocks of an open device and of the host were compared last.
#[derive(Debug, Default)]
pub struct Clock(Mutex<Option<Base>>);

/// Work whose start was written down.
#[derive(Debug)]
pub struct Timer {
    start: Timestamp,
}

impl Timer {
    /// Nothing on a device without a clock: its work is not in profiles.
    pub fn start(live: &Arc<Live>, state: &mut State) -> Option<Timer> {
        live.timestamps.write(live, &mut state.batch).map(|start| Timer { start })
    }

    /// Writes down the end, and works the times out when the session ends.
    pub fn stop(self, state: &mut State, what: Activity, name: &str, stream: &GpuStream, bytes: u64) {
        let live = self.start.live.clone();
        let Some(end) = live.timestamps.write(&live, &mut state.batch) else {
            return;
        };
        let (start, name, device, stream) = (self.start, name.to_string(), stream.gpu().id, stream.handle());
        profile::defer(Box::new(move || {
            let times = live.read_timestamps(&[&start, &end]).ok()?;
            let base = base(&live).ok()?;
            let since = times[0] - base.device_ns;
            Some(Row {
                what,
                name,
                device,
                stream,
                start_ns: base.host_ns.saturating_add_signed(since as i64),
                duration_ns: (times[1] - times[0]).max(0.0) as u64,
                bytes,
            })
        }));
    }
}

/// Both clocks at one moment.
fn base(live: &Arc<Live>) -> Result<Base, RunError> {
    let known = *lock(&live.clock.0);
    if let Some(base) = known
        && profile::now_ns().saturating_sub(base.host_ns) < AGE_NS
    {
        return Ok(base);
    }
    let (mut base, mut best) = compare(live)?;
    for _ in 1..TRIALS {
        let (other, span) = compare(live)?;
        if span < best {
            (base, best) = (other, span);
        }
    }
    *lock(&live.clock.0) = Some(base);
    Ok(base)
}

/// The device's clock in a batch of its own; the host's in the middle of it, which takes the nanoseconds that are given, too.
fn compare(live: &Arc<Live>) -> Result<(Base, u64), RunError> {
    let before = live.state().batch.submit(live);
    live.wait(&before)?;
    let start = profile::now_ns();
    let (mark, ticket) = {
        let mut state = live.state();
        let mark = live.timestamps.write(live, &mut state.batch);
        (mark, state.batch.submit(live))
    };
    live.wait(&ticket)?;
    let span = profile::now_ns() - start;
    let mark = mark.ok_or_else(|| live.no_clock())?;
    let base = Base {
        host_ns: start + span / 2,
        device_ns: live.read_timestamps(&[&mark])?[0],
    };
    Ok((base, span))
}

/// Records what the host does to copy, which is over when it returns.
pub fn host_side<T>(what: Activity, stream: &GpuStream, bytes: u64, work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    if !profile::is_on() {
        return work();
    }
    let start_ns = profile::now_ns();
    let result = work()?;
    profile::record(Row {
        what,
        name: what.name().into(),
        device: stream.gpu().id,
        stream: stream.handle(),
        start_ns,
        duration_ns: profile::now_ns() - start_ns,
        bytes,
    });
    Ok(result)
}
