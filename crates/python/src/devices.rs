//! The devices of this process.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use weft_runtime::{Device, DeviceInfo};

static DEVICES: PyOnceLock<Vec<Arc<dyn Device>>> = PyOnceLock::new();

pub fn all(py: Python<'_>) -> &'static [Arc<dyn Device>] {
    DEVICES.get_or_init(py, || vec![Arc::new(weft_cpu::CpuDevice)])
}

/// The device that host functions and, unless told otherwise, kernels run on.
pub fn current(py: Python<'_>) -> PyResult<Arc<dyn Device>> {
    match all(py).first() {
        Some(device) => Ok(device.clone()),
        None => Err(crate::errors::launch(py, "no device is present".into())),
    }
}

/// What `weft.devices()` lists.
#[pyclass(frozen, name = "Device", module = "weft")]
#[derive(Debug)]
pub struct PyDevice(DeviceInfo);

#[pymethods]
impl PyDevice {
    /// `cpu`, `cuda:0`.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The hardware's own name.
    #[getter]
    fn description(&self) -> &str {
        &self.0.description
    }

    /// Cores of a CPU, multiprocessors of a GPU.
    #[getter]
    fn cores(&self) -> usize {
        self.0.cores
    }

    /// Bits of a vector register.
    #[getter]
    fn simd_bits(&self) -> usize {
        self.0.simd_bits
    }

    /// Instruction sets in use.
    #[getter]
    fn features(&self) -> &str {
        &self.0.features
    }

    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes
    }

    fn __repr__(&self) -> String {
        format!(
            "{} ({}, {} cores, {})",
            self.0.name, self.0.description, self.0.cores, self.0.features
        )
    }
}

#[pyfunction]
pub fn devices(py: Python<'_>) -> Vec<PyDevice> {
    all(py).iter().map(|device| PyDevice(device.info())).collect()
}

/// Threads that launches on the CPU may use.
#[pyfunction]
pub fn get_num_threads() -> usize {
    weft_cpu::num_threads()
}

/// Sets how many threads launches on the CPU may use, the calling one among them; 0 restores the default
/// (`WEFT_NUM_THREADS`, else the number of cores).
#[pyfunction]
pub fn set_num_threads(n: usize) {
    weft_cpu::set_num_threads(n);
}

/// Waits until the current device has done all work given to it.
#[pyfunction]
pub fn synchronize(py: Python<'_>) -> PyResult<()> {
    let device = current(py)?;
    py.detach(|| device.synchronize()).map_err(|e| crate::errors::device(py, e))
}
