//! Streams of the CPU. Calls are complete when they return, so a stream is always done and an event holds the time it was recorded.
//!
//! A stream that captures keeps what it is given as steps, which its graph runs again one after the other.

#![allow(unsafe_code)]

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use weft_forks::{Locked, Mutex, Once};
use weft_runtime::profile::{self, Activity};
use weft_runtime::{DeviceId, Event, Graph, Place, Refusal, RunError, Stream};

use super::device::OUTPUT;

/// One step of a graph; gives what it printed.
type Step = Box<dyn Fn() -> Result<String, RunError> + Send + Sync>;

#[derive(Default)]
pub struct CpuStream {
    captured: Mutex<Option<Vec<Step>>>,
}

impl CpuStream {
    pub fn default_stream() -> Arc<CpuStream> {
        static DEFAULT: Once<Arc<CpuStream>> = Once::new();
        DEFAULT.get_or_init(Arc::default).clone()
    }

    fn captured(&self) -> Locked<'_, Option<Vec<Step>>> {
        self.captured.lock()
    }

    /// Keeps a step if the stream captures.
    pub fn keep(&self, make: impl FnOnce() -> Step) -> bool {
        match &mut *self.captured() {
            Some(steps) => {
                steps.push(make());
                true
            }
            None => false,
        }
    }

    /// A copy or fill, now or later, recorded when a profile is taken.
    fn perform(&self, what: Activity, bytes: usize, step: impl Fn() + Send + Sync + 'static) {
        self.keep_or_do(move || profile::timed(what, what.name(), DeviceId::CPU, bytes as u64, &step));
    }

    /// Does it now, or later if the stream captures.
    fn keep_or_do(&self, step: impl Fn() + Send + Sync + 'static) {
        let step = move || {
            step();
            Ok(String::new())
        };
        if let Some(steps) = &mut *self.captured() {
            steps.push(Box::new(step));
            return;
        }
        let _: Result<String, RunError> = step();
    }
}

/// The CPU stream among a call's options.
pub fn of(stream: Option<&dyn Stream>) -> Option<&CpuStream> {
    (stream? as &dyn Any).downcast_ref()
}

impl Stream for CpuStream {
    fn device(&self) -> DeviceId {
        DeviceId::CPU
    }

    fn raw_handle(&self) -> u64 {
        0
    }

    fn synchronize(&self) -> Result<(), RunError> {
        Ok(())
    }

    fn is_done(&self) -> Result<bool, RunError> {
        Ok(true)
    }

    fn wait(&self, event: &dyn Event) -> Result<(), RunError> {
        event.synchronize()
    }

    fn record(&self, event: &dyn Event) -> Result<(), RunError> {
        let event = own(event)?;
        let time = event.time.clone();
        self.keep_or_do(move || *time.lock() = Some(Instant::now()));
        Ok(())
    }

    fn copy(&self, to: Place, from: Place, bytes: usize) -> Result<(), RunError> {
        let what = match (to, from) {
            (Place::Device(..), Place::Host(_)) => Activity::CopyToDevice,
            (Place::Host(_), Place::Device(..)) => Activity::CopyToHost,
            _ => Activity::CopyOnDevice,
        };
        let (to, from) = (address(to)?, address(from)?);
        self.perform(what, bytes, move || {
            // SAFETY: the caller names `bytes` bytes of memory on both sides, as the trait asks.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
        });
        Ok(())
    }

    fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), RunError> {
        self.perform(Activity::Fill, bytes, move || {
            // SAFETY: the caller names `bytes` bytes of memory, as the trait asks.
            unsafe { std::ptr::write_bytes(address as *mut u8, value, bytes) };
        });
        Ok(())
    }

    fn add_callback(&self, callback: Box<dyn FnOnce() + Send>) -> Result<(), RunError> {
        let callback = Mutex::new(Some(callback));
        self.keep_or_do(move || {
            let callback = callback.lock().take();
            if let Some(callback) = callback {
                callback();
            }
        });
        Ok(())
    }

    fn begin_capture(&self) -> Result<(), RunError> {
        match &mut *self.captured() {
            Some(_) => Err(Refusal::CapturesAlready.into()),
            none => {
                *none = Some(Vec::new());
                Ok(())
            }
        }
    }

    fn end_capture(&self) -> Result<Arc<dyn Graph>, RunError> {
        match self.captured().take() {
            Some(steps) => Ok(Arc::new(CpuGraph { steps })),
            None => Err(Refusal::CapturesNot.into()),
        }
    }

    fn is_capturing(&self) -> Result<bool, RunError> {
        Ok(self.captured().is_some())
    }
}

impl fmt::Debug for CpuStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CpuStream")
    }
}

fn address(place: Place) -> Result<u64, RunError> {
    match place {
        Place::Host(address) | Place::Device(DeviceId::CPU, address) => Ok(address),
        Place::Device(device, _) => Err(RunError::Invalid(format!(
            "memory of {device} is copied on a stream of that device, not of the CPU"
        ))),
    }
}

#[derive(Debug, Default)]
pub struct CpuEvent {
    time: Arc<Mutex<Option<Instant>>>,
    timing: bool,
}

impl CpuEvent {
    pub fn new(timing: bool) -> CpuEvent {
        CpuEvent {
            timing,
            ..CpuEvent::default()
        }
    }

    fn taken(&self) -> Result<Instant, RunError> {
        if !self.timing {
            return Err(Refusal::NoTiming.into());
        }
        self.time.lock().ok_or_else(|| Refusal::NotRecorded.into())
    }
}

fn own(event: &dyn Event) -> Result<&CpuEvent, RunError> {
    let device = event.device();
    (event as &dyn Any)
        .downcast_ref()
        .ok_or_else(|| RunError::Invalid(format!("an event of {device} does not go with the CPU")))
}

impl Event for CpuEvent {
    fn device(&self) -> DeviceId {
        DeviceId::CPU
    }

    fn raw_handle(&self) -> u64 {
        0
    }

    fn synchronize(&self) -> Result<(), RunError> {
        Ok(())
    }

    fn is_done(&self) -> Result<bool, RunError> {
        Ok(true)
    }

    fn elapsed_ms(&self, later: &dyn Event) -> Result<f64, RunError> {
        let (from, to) = (self.taken()?, own(later)?.taken()?);
        Ok(match to.checked_duration_since(from) {
            Some(time) => time.as_secs_f64() * 1e3,
            None => -from.duration_since(to).as_secs_f64() * 1e3,
        })
    }
}

struct CpuGraph {
    steps: Vec<Step>,
}

impl Graph for CpuGraph {
    fn device(&self) -> DeviceId {
        DeviceId::CPU
    }

    fn launch(&self, _stream: &dyn Stream) -> Result<(), RunError> {
        for step in &self.steps {
            OUTPUT.push(&step()?);
        }
        Ok(())
    }

    fn steps(&self) -> usize {
        self.steps.len()
    }
}

impl fmt::Debug for CpuGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuGraph of {} steps", self.steps.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_hold_the_time_they_were_recorded() {
        let stream = CpuStream::default();
        let (first, second, untimed) = (CpuEvent::new(true), CpuEvent::new(true), CpuEvent::new(false));
        assert!(first.elapsed_ms(&second).is_err());
        stream.record(&first).unwrap();
        stream.record(&second).unwrap();
        let between = first.elapsed_ms(&second).unwrap();
        assert!(between >= 0.0);
        assert_eq!(second.elapsed_ms(&first).unwrap(), -between);
        stream.record(&untimed).unwrap();
        assert!(first.elapsed_ms(&untimed).is_err());
    }

    #[test]
    fn captured_steps_run_when_the_graph_does() {
        let stream = CpuStream::default();
        let (mut a, mut b) = ([1u8, 2, 3], [0u8; 3]);
        let (from, to) = (Place::Host(a.as_mut_ptr() as u64), Place::Host(b.as_mut_ptr() as u64));
        stream.begin_capture().unwrap();
        assert!(stream.begin_capture().is_err());
        stream.copy(to, from, 3).unwrap();
        stream.fill(a.as_mut_ptr() as u64, 9, 2).unwrap();
        let graph = stream.end_capture().unwrap();
        assert!(stream.end_capture().is_err());
        assert_eq!((a, b, graph.steps()), ([1, 2, 3], [0; 3], 2));
        graph.launch(&stream).unwrap();
        assert_eq!((a, b), ([9, 9, 3], [1, 2, 3]));
        graph.launch(&stream).unwrap();
        assert_eq!((a, b), ([9, 9, 3], [9, 9, 3]));
        let elsewhere = Place::Device(DeviceId::cuda(0), 0);
        assert!(stream.copy(to, elsewhere, 1).is_err());
    }
}
