//! Profiles as Python sees them: a session, and the rows it recorded. Tables and traces are made in `weft/_profile.py`.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use weft_cuda::driver::cupti;
use weft_runtime::lock;
use weft_runtime::profile::Session;

/// What happened, its name, the device, the stream's handle, start and duration in nanoseconds, bytes.
type Row = (&'static str, String, String, u64, u64, u64, u64);

/// Records what devices do until it is stopped.
#[pyclass(frozen, module = "weft._weft")]
#[derive(Debug)]
pub struct ProfileSession(Mutex<Option<Session>>);

#[pymethods]
impl ProfileSession {
    #[new]
    fn new(py: Python<'_>) -> PyResult<ProfileSession> {
        show_packages(py)?;
        Ok(ProfileSession(Mutex::new(Some(Session::start()))))
    }

    /// The rows by start time, how many are missing since their times never arrived, and what timed each kind of device; once, and nothing
    /// when it was stopped before. Waits for work on devices that is not done.
    fn stop(&self, py: Python<'_>) -> (Vec<Row>, usize, Vec<(&'static str, String)>) {
        let Some(session) = lock(&self.0).take() else {
            return (Vec::new(), 0, Vec::new());
        };
        let recorded = py.detach(|| session.stop());
        let rows = recorded.rows.into_iter().map(|row| {
            (
                row.what.name(),
                row.name,
                row.device.to_string(),
                row.stream,
                row.start_ns,
                row.duration_ns,
                row.bytes,
            )
        });
        let timers = recorded.timers.into_iter().map(|(kind, words)| (kind.name(), words));
        (rows.collect(), recorded.missing, timers.collect())
    }
}

/// What would time work on CUDA in a profile; none where there is no such device.
#[pyfunction]
pub fn cuda_profiler(py: Python<'_>) -> PyResult<Option<String>> {
    show_packages(py)?;
    Ok(py.detach(weft_cuda::profiler))
}

/// CUPTI may lie in a package of NVIDIA's that Python could import.
fn show_packages(py: Python<'_>) -> PyResult<()> {
    let path = py.import("sys")?.getattr("path")?;
    let folders = path.try_iter()?.filter_map(|folder| folder.ok()?.extract::<PathBuf>().ok());
    cupti::look_in(folders.filter(|folder| folder.is_absolute()).collect());
    Ok(())
}
