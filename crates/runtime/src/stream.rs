//! Streams of work in order, events in them, and graphs captured from them.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use crate::{DeviceId, RunError};

/// A queue of work that a device does in order. On a device whose calls are complete when they return, a stream is always done.
///
/// A method that waits is a synchronisation point: it returns the error of earlier work on the device that failed, a `Raised` among them.
pub trait Stream: Any + Send + Sync + Debug {
    fn device(&self) -> DeviceId;

    /// The driver's handle (`CUstream`); 0 for the default stream and on a device without a driver.
    fn raw_handle(&self) -> u64;

    /// Waits until all work so far is done.
    fn synchronize(&self) -> Result<(), RunError>;

    /// Is all work so far done? Does not wait.
    fn is_done(&self) -> Result<bool, RunError>;

    /// Work given later starts when what the event was last recorded behind is done. An event of any device; one never recorded is done.
    fn wait(&self, event: &dyn Event) -> Result<(), RunError>;

    /// Marks the event behind all work so far; an earlier mark is forgotten.
    fn record(&self, event: &dyn Event) -> Result<(), RunError>;

    /// Copies `bytes` in stream order. Pinned host memory is read or written later: it must stay until the stream is done with it. Any
    /// other host memory is free when the call returns: an upload is staged, a download has arrived (which makes it a synchronisation
    /// point).
    fn copy(&self, to: Place, from: Place, bytes: usize) -> Result<(), RunError>;

    /// Sets `bytes` of device memory to a value, in stream order.
    fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), RunError>;

    /// Calls a function when all work so far is done, on a thread of the driver's. It must not call the device.
    fn add_callback(&self, callback: Box<dyn FnOnce() + Send>) -> Result<(), RunError>;

    /// Collects the launches and copies that follow instead of doing them. What they use must live as long as the graph.
    fn begin_capture(&self) -> Result<(), RunError>;

    /// Ends a capture; what was collected can be replayed.
    fn end_capture(&self) -> Result<Arc<dyn Graph>, RunError>;

    fn is_capturing(&self) -> Result<bool, RunError>;
}

/// Where a copy goes to or comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Host(u64),
    Device(DeviceId, u64),
}

/// A mark in a stream.
pub trait Event: Any + Send + Sync + Debug {
    fn device(&self) -> DeviceId;

    /// The driver's handle (`CUevent`); 0 on a device without a driver.
    fn raw_handle(&self) -> u64;

    /// Waits until the work before the mark is done. A synchronisation point; returns at once for an event never recorded.
    fn synchronize(&self) -> Result<(), RunError>;

    fn is_done(&self) -> Result<bool, RunError>;

    /// Milliseconds from this mark to the `later` one on the same device, waiting for neither: both must be recorded, made with timing, and done.
    fn elapsed_ms(&self, later: &dyn Event) -> Result<f64, RunError>;
}

/// Work captured from a stream.
pub trait Graph: Send + Sync + Debug {
    fn device(&self) -> DeviceId;

    /// Does all of it again, in `stream`'s order.
    fn launch(&self, stream: &dyn Stream) -> Result<(), RunError>;

    /// How many launches, copies and other steps there are.
    fn steps(&self) -> usize;
}
