//! The devices of this process, and which of them a call runs on.
//!
//! Functions of `jit` run on the CPU. Kernels run where their stream or their device arrays are, else on the thread's current device.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use weft_forks::Once;
use weft_lazy::machine;
use weft_runtime::{Device, DeviceKind, patience};

use crate::errors;

/// Names the device that kernels run on unless told otherwise: `cpu`, `cuda:0`.
const WISH: &str = "WEFT_DEVICE";

static CPU: LazyLock<Arc<dyn Device>> = LazyLock::new(|| Arc::new(weft_cpu::CpuDevice));
static CUDA: Devices = Once::new();
static OTHERS: Devices = Once::new();
static DEFAULT: Once<Arc<dyn Device>> = Once::new();

type Devices = Once<Vec<Arc<dyn Device>>>;

thread_local! {
    /// What this thread chose.
    static CHOSEN: RefCell<Option<Arc<dyn Device>>> = const { RefCell::new(None) };
    /// What was chosen around each `with` block that is open.
    static OUTER: RefCell<Vec<Option<Arc<dyn Device>>>> = const { RefCell::new(Vec::new()) };
}

/// The device that functions of `jit` run on.
pub fn cpu() -> &'static Arc<dyn Device> {
    &CPU
}

/// The GPUs of the CUDA driver, which is loaded when this is first asked.
fn cuda(py: Python<'_>) -> &'static [Arc<dyn Device>] {
    let devices = || weft_cuda::devices().iter().cloned().map(|gpu| gpu as Arc<dyn Device>).collect();
    found(py, &CUDA, devices)
}

/// The GPUs of the other drivers, software last. Loading those drivers takes longer than many a program.
fn others(py: Python<'_>) -> &'static [Arc<dyn Device>] {
    let devices = || weft_gpu::devices().iter().cloned().map(|gpu| gpu as Arc<dyn Device>).collect();
    found(py, &OTHERS, devices)
}

/// Devices that are looked for once, while other threads of Python go on.
fn found(py: Python<'_>, known: &'static Devices, look: impl FnOnce() -> Vec<Arc<dyn Device>> + Send) -> &'static [Arc<dyn Device>] {
    match known.get() {
        Some(devices) => devices,
        None => py.detach(|| known.get_or_init(look)),
    }
}

/// All devices: the CPU first, then CUDA's, then those of the other drivers.
pub fn all(py: Python<'_>) -> impl Iterator<Item = &'static Arc<dyn Device>> {
    std::iter::once(cpu()).chain(cuda(py)).chain(others(py))
}

/// The device that kernels run on unless told otherwise.
pub fn current(py: Python<'_>) -> PyResult<Arc<dyn Device>> {
    match CHOSEN.with_borrow(Clone::clone) {
        Some(device) => Ok(device),
        None => match DEFAULT.get() {
            Some(device) => Ok(device.clone()),
            None => {
                let device = default(py)?;
                Ok(DEFAULT.get_or_init(|| device).clone())
            }
        },
    }
}

/// The device that arrays are made on if none is named, as the number that arrays have of it: what the thread chose or `WEFT_DEVICE` names,
/// else the CPU. That a machine has a GPU makes no program's arrays leave the memory that NumPy shares with them.
pub fn of_arrays(py: Python<'_>) -> PyResult<u8> {
    static WISHED: Once<u8> = Once::new();
    let number = |device: &Arc<dyn Device>| machine::number(device).map_err(|e| crate::lazy::error(py, e));
    if let Some(chosen) = CHOSEN.with_borrow(|chosen| chosen.as_ref().map(number)) {
        return chosen;
    }
    if let Some(wished) = WISHED.get() {
        return Ok(*wished);
    }
    let wished = match std::env::var(WISH) {
        Ok(name) if !name.is_empty() => number(&default(py)?)?,
        _ => machine::CPU,
    };
    Ok(*WISHED.get_or_init(|| wished))
}

/// The device that `device=` names, or that arrays are made on if it names none.
pub fn for_arrays(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<u8> {
    let Some(device) = device.filter(|device| !device.is_none()) else {
        return of_arrays(py);
    };
    let device = match device.cast::<PyDevice>() {
        Ok(device) => device.get().0.clone(),
        Err(_) => named(py, &device.extract::<String>()?)?,
    };
    machine::number(&device).map_err(|e| crate::lazy::error(py, e))
}

/// The device `WEFT_DEVICE` names, else the first GPU, else the CPU. A GPU that is software is chosen by name only.
fn default(py: Python<'_>) -> PyResult<Arc<dyn Device>> {
    match std::env::var(WISH) {
        Ok(name) if !name.is_empty() => named(py, &name).map_err(|error| {
            let why = error.value(py).to_string();
            errors::launch(py, format!("{WISH} is '{name}': {why}"))
        }),
        _ => {
            let other = || {
                let gpus = if may_have_gpu() { others(py) } else { &[] };
                gpus.iter().find(|gpu| !gpu.info().software)
            };
            Ok(cuda(py).first().or_else(other).unwrap_or(cpu()).clone())
        }
    }
}

/// Linux gives every GPU a file to draw through; where none has one, the drivers need not be asked.
fn may_have_gpu() -> bool {
    let has = |folder: &str, start: &str| {
        let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().starts_with(start))
    };
    !cfg!(target_os = "linux") || has("/dev/dri", "renderD") || has("/dev", "nvidia") || has("/dev", "dxg")
}

/// The device of a name: `cpu`, `cuda` for the first, `cuda:1`, `vulkan:0`.
pub fn named(py: Python<'_>, name: &str) -> PyResult<Arc<dyn Device>> {
    let wanted = if name == "cpu" || name.contains(':') {
        name.to_string()
    } else {
        format!("{name}:0")
    };
    let found = |devices: &'static [Arc<dyn Device>]| devices.iter().find(|device| device.id().to_string() == wanted);
    if wanted == "cpu" {
        return Ok(cpu().clone());
    }
    if let Some(device) = found(cuda(py)).or_else(|| found(others(py))) {
        return Ok(device.clone());
    }
    let known: Vec<String> = all(py).map(|device| device.id().to_string()).collect();
    Err(PyValueError::new_err(format!(
        "no device is called '{name}' here; there is {}",
        known.join(", ")
    )))
}

/// A device of this process. `weft.devices()` lists them. ``with device:`` runs the kernels of the thread there.
#[pyclass(frozen, eq, hash, name = "Device", module = "weft")]
#[derive(Debug)]
pub struct PyDevice(pub Arc<dyn Device>);

impl PartialEq for PyDevice {
    fn eq(&self, other: &PyDevice) -> bool {
        self.0.id() == other.0.id()
    }
}

impl std::hash::Hash for PyDevice {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.id().hash(state);
    }
}

#[pymethods]
impl PyDevice {
    /// `cpu`, `cuda:0`, `vulkan:0`.
    #[getter]
    fn name(&self) -> String {
        self.0.info().name
    }

    /// `cpu`, `cuda`, `vulkan`, `metal` or `dx12`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.id().kind.name()
    }

    /// Its number among the devices of its kind.
    #[getter]
    fn index(&self) -> u32 {
        self.0.id().index
    }

    /// The hardware's own name.
    #[getter]
    fn description(&self) -> String {
        self.0.info().description
    }

    /// Cores of a CPU, multiprocessors of a GPU; 0 where its driver does not say.
    #[getter]
    fn cores(&self) -> usize {
        self.0.info().cores
    }

    /// Bits of a vector register; of a GPU, of a register of all threads that run in step.
    #[getter]
    fn simd_bits(&self) -> usize {
        self.0.info().simd_bits
    }

    /// Instruction sets in use, or compute capability.
    #[getter]
    fn features(&self) -> String {
        self.0.info().features
    }

    /// Is it a driver that runs kernels on the CPU? Such a device is never the default.
    #[getter]
    fn software(&self) -> bool {
        self.0.info().software
    }

    /// Does it compute in float64? Elsewhere Python's floats are float32 in kernels, and arrays of float64 are refused.
    #[getter]
    fn float64(&self) -> bool {
        self.0.limits().float64
    }

    /// Does it compute in 64-bit integers? Elsewhere Python's integers must be known to fit 32 bits, and arrays of int64 are refused.
    #[getter]
    fn int64(&self) -> bool {
        self.0.limits().int64
    }

    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.0.info().memory_bytes
    }

    /// Major and minor; (0, 0) for a device that has none.
    #[getter]
    fn compute_capability(&self) -> (u32, u32) {
        self.0.limits().compute_capability
    }

    /// The hardware's own number as 16 bytes, where it has one.
    #[getter]
    fn uuid(&self) -> Option<[u8; 16]> {
        self.0.info().uuid
    }

    /// A number the driver keeps on the device, by the driver's number for it.
    fn attribute(&self, number: i32) -> Option<i32> {
        self.0.attribute(number)
    }

    /// What a launch may ask for, by name.
    fn limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let limits = self.0.limits();
        let dict = PyDict::new(py);
        dict.set_item("threads_per_block", limits.threads_per_block)?;
        dict.set_item("block", limits.block)?;
        dict.set_item("grid", limits.grid)?;
        dict.set_item("shared_bytes", limits.shared_bytes)?;
        dict.set_item("shared_bytes_optin", limits.shared_bytes_optin)?;
        dict.set_item("warp_size", limits.warp_size)?;
        dict.set_item("multiprocessors", limits.multiprocessors)?;
        dict.set_item("threads_per_multiprocessor", limits.threads_per_multiprocessor)?;
        dict.set_item("registers_per_block", limits.registers_per_block)?;
        dict.set_item("cooperative", limits.cooperative)?;
        Ok(dict)
    }

    /// Bytes of its memory, by name: used, peak, reserved, limit, free, total.
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = py.detach(|| self.0.memory_stats()).map_err(|e| errors::device(py, e))?;
        let dict = PyDict::new(py);
        dict.set_item("used", stats.used)?;
        dict.set_item("peak", stats.peak)?;
        dict.set_item("reserved", stats.reserved)?;
        dict.set_item("limit", stats.limit)?;
        dict.set_item("free", stats.free)?;
        dict.set_item("total", stats.total)?;
        Ok(dict)
    }

    /// Sets the most bytes that arrays may take at once; None lifts the limit.
    #[pyo3(signature = (bytes))]
    fn set_memory_limit(&self, py: Python<'_>, bytes: Option<u64>) -> PyResult<()> {
        self.0.set_memory_limit(bytes).map_err(|e| errors::device(py, e))
    }

    /// Gives pooled memory that nothing uses back to the system.
    fn free_all(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.free_all()).map_err(|e| errors::device(py, e))
    }

    /// Can kernels of this device address the memory of `other`?
    fn can_access_peer(&self, other: &PyDevice) -> bool {
        self.0.can_access_peer(other.0.id())
    }

    /// Waits until the device has done all work given to it; errors of that work are raised here.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        wait(py, &self.0, || self.0.synchronize())
    }

    /// Runs the kernels of this thread here until the block ends.
    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        let outer = CHOSEN.with(|cell| cell.replace(Some(slf.get().0.clone())));
        OUTER.with_borrow_mut(|stack| stack.push(outer));
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        let outer = OUTER.with_borrow_mut(Vec::pop).flatten();
        CHOSEN.with(|cell| cell.replace(outer));
    }

    fn __repr__(&self) -> String {
        let info = self.0.info();
        let units = match (info.cores, self.0.id().kind) {
            (0, _) => String::new(),
            (n, DeviceKind::Cpu) => format!("{n} cores, "),
            (n, _) => format!("{n} multiprocessors, "),
        };
        format!("{} ({}, {units}{})", info.name, info.description, info.features)
    }
}

/// Something that waits for a device, with the GIL released and until Ctrl-C; what its kernels printed by then goes to `sys.stdout`.
pub fn wait<T: Send>(
    py: Python<'_>,
    device: &Arc<dyn Device>,
    job: impl FnOnce() -> Result<T, weft_runtime::RunError> + Send,
) -> PyResult<T> {
    let hooks = errors::hooks(py);
    let done = py.detach(|| patience::lend(hooks, job));
    crate::core::print(py, &device.take_output())?;
    done.map_err(|e| errors::device(py, e))
}

#[pyfunction]
pub fn devices(py: Python<'_>) -> Vec<PyDevice> {
    all(py).cloned().map(PyDevice).collect()
}

/// Lines on the CUDA driver and its devices, or one that says why there are none.
#[pyfunction]
pub fn cuda_status(py: Python<'_>) -> Vec<String> {
    py.detach(weft_cuda::status).unwrap_or_else(|why| vec![why])
}

/// Lines on the GPUs of other drivers, or one that says why there are none.
#[pyfunction]
pub fn gpu_status(py: Python<'_>) -> Vec<String> {
    py.detach(weft_gpu::status).unwrap_or_else(|why| vec![why])
}

/// The device of a name: ``"cpu"``, ``"cuda:1"``, ``"vulkan:0"``, or ``"cuda"`` and ``"vulkan"`` for the first.
///
/// ``with weft.device("cpu"):`` runs the kernels of the thread on the CPU. Raises ValueError if there is no such device, naming those
/// there are.
///
/// >>> import weft
/// >>> with weft.device("cpu") as chosen:
/// ...     weft.current_device() == chosen
/// True
#[pyfunction]
pub fn device(py: Python<'_>, name: &str) -> PyResult<PyDevice> {
    named(py, name).map(PyDevice)
}

/// The device that kernels and new device arrays of this thread are on unless told otherwise.
///
/// Arrays of `weft.ndarray` are made on it where it was chosen, and else on the CPU, whatever GPUs there are.
///
/// That is the one chosen by ``with weft.device(...)`` or `set_device`, else what the environment variable ``WEFT_DEVICE`` names, else the
/// first CUDA device, else the first GPU of another driver that is no software, else the CPU. Functions of `jit` always run on the CPU.
#[pyfunction]
pub fn current_device(py: Python<'_>) -> PyResult<PyDevice> {
    current(py).map(PyDevice)
}

/// Runs the kernels of this thread on `device`, and makes its arrays there: a name or one of `devices`, from now on; None is the default again.
#[pyfunction]
#[pyo3(signature = (device))]
pub fn set_device(device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let chosen = match device {
        None => None,
        Some(object) => match object.cast::<PyDevice>() {
            Ok(device) => Some(device.get().0.clone()),
            Err(_) => Some(named(object.py(), object.extract()?)?),
        },
    };
    CHOSEN.with(|cell| cell.replace(chosen));
    Ok(())
}

/// Threads that launches on the CPU may use.
#[pyfunction]
pub fn get_num_threads() -> usize {
    weft_cpu::num_threads()
}

/// Sets how many threads launches on the CPU may use, the calling one among them. At the start that is what `WEFT_NUM_THREADS` says, else
/// the number of cores.
#[pyfunction]
pub fn set_num_threads(n: i64) -> PyResult<()> {
    let most = weft_cpu::MOST_THREADS;
    match usize::try_from(n) {
        Ok(threads) if (1..=most).contains(&threads) => {
            weft_cpu::set_num_threads(threads);
            Ok(())
        }
        _ => Err(PyValueError::new_err(format!(
            "the number of threads must be between 1 and {most}, got {n}"
        ))),
    }
}

/// Waits until the current device has done all work given to it.
#[pyfunction]
pub fn synchronize(py: Python<'_>) -> PyResult<()> {
    let device = current(py)?;
    wait(py, &device, || device.synchronize())
}
