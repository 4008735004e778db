//! What streams and events refuse, in the same words on every device.

use crate::{DeviceId, RunError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    AllocatesInCapture,
    WaitInCapture,
    QuestionInCapture,
    CallbackInCapture,
    CaptureOfDefault,
    CapturesAlready,
    CapturesNot,
    /// A copy on a GPU's stream from host to host.
    CopyOfHost,
    NoTiming,
    NotRecorded,
    NotDone,
}

impl Refusal {
    const fn words(self) -> &'static str {
        match self {
            Refusal::AllocatesInCapture => {
                "memory cannot be allocated on a stream while it captures: allocate before, for as long as the graph is used"
            }
            Refusal::WaitInCapture => "a stream cannot be waited for while it captures",
            Refusal::QuestionInCapture => "a stream cannot be asked for its end while it captures",
            Refusal::CallbackInCapture => "a callback cannot be captured: a graph would call it again",
            Refusal::CaptureOfDefault => "the default stream cannot capture: make a stream for it",
            Refusal::CapturesAlready => "the stream captures already",
            Refusal::CapturesNot => "the stream does not capture",
            Refusal::CopyOfHost => "a copy on a GPU's stream has the GPU on one side",
            Refusal::NoTiming => "the event was made without timing",
            Refusal::NotRecorded => "the event was not recorded",
            Refusal::NotDone => "the time between events is known when both are done: wait for the later one",
        }
    }
}

impl From<Refusal> for RunError {
    fn from(refusal: Refusal) -> RunError {
        RunError::Invalid(refusal.words().into())
    }
}

/// A stream or an event of a device that another one was given.
pub fn foreign(what: &str, of: DeviceId, to: DeviceId) -> RunError {
    RunError::Invalid(format!("{what} of {of} was given to {to}"))
}
