//! Profiles as Python sees them: a session, and the rows it recorded. Tables and traces are made in `weft/_profile.py`.

use std::sync::Mutex;

use pyo3::prelude::*;
use weft_runtime::profile::Session;

use crate::core::lock;

/// What happened, its name, the device, the stream's handle, start and duration in nanoseconds, bytes.
type Row = (&'static str, String, String, u64, u64, u64, u64);

/// Records what devices do until it is stopped.
#[pyclass(frozen, module = "weft._weft")]
#[derive(Debug)]
pub struct ProfileSession(Mutex<Option<Session>>);

#[pymethods]
impl ProfileSession {
    #[new]
    fn new() -> ProfileSession {
        ProfileSession(Mutex::new(Some(Session::start())))
    }

    /// The rows by start time, once; empty when it was stopped before. Waits for work on devices that is not done.
    fn stop(&self, py: Python<'_>) -> Vec<Row> {
        let Some(session) = lock(&self.0).take() else {
            return Vec::new();
        };
        let rows = py.detach(|| session.stop());
        rows.into_iter()
            .map(|row| {
                (
                    row.what.name(),
                    row.name,
                    row.device.to_string(),
                    row.stream,
                    row.start_ns,
                    row.duration_ns,
                    row.bytes,
                )
            })
            .collect()
    }
}
