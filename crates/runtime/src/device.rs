//! What every device can do: compile, own memory, order work on streams.

use std::fmt::{self, Debug};
use std::ops::Range;
use std::sync::Arc;

use weft_ir::Module;

use crate::{Buffer, CompileError, CompileOptions, Event, Executable, GridShape, HostMemory, Limits, MemoryStats, RunError, Stream};

/// One device of the machine. Usable from any thread.
pub trait Device: Send + Sync + Debug {
    fn id(&self) -> DeviceId;

    fn info(&self) -> DeviceInfo;

    /// What a launch may ask for.
    fn limits(&self) -> &Limits;

    /// A number that the driver keeps on the device, by the driver's number for it (`CUdevice_attribute`); `None` where the device has none.
    fn attribute(&self, number: i32) -> Option<i32>;

    /// Do kernels address the host's memory as it is, NumPy arrays in place? Elsewhere host arrays are copied around a launch.
    fn host_accessible(&self) -> bool;

    /// Can kernels of this device address the memory of `other`?
    fn can_access_peer(&self, other: DeviceId) -> bool;

    /// Lets kernels of this device address the memory of `other` from now on; an error where they cannot.
    fn enable_peer(&self, other: DeviceId) -> Result<(), RunError>;

    /// Compiles a module as the front end made it. The result may compile variants lazily at its first launches.
    fn compile(&self, module: Arc<Module>, options: CompileOptions) -> Result<Arc<dyn Executable>, CompileError>;

    /// Block and grid dimensions for one thread per point of `shape` (1 to 3 axes; thread axis x is the first axis).
    fn plan_forall(&self, shape: &[u64]) -> GridShape;

    /// The stream of work that names none. On CUDA the legacy default stream, which blocking streams wait for and which waits for them.
    fn default_stream(&self) -> Result<Arc<dyn Stream>, RunError>;

    fn new_stream(&self, options: StreamOptions) -> Result<Arc<dyn Stream>, RunError>;

    /// A stream that another library made, by the driver's handle; it stays the other's, who must keep it.
    fn external_stream(&self, raw_handle: u64) -> Result<Arc<dyn Stream>, RunError>;

    /// An event, not recorded yet. Only one with `timing` can be asked for [`Event::elapsed_ms`].
    fn new_event(&self, timing: bool) -> Result<Arc<dyn Event>, RunError>;

    /// Device memory, its content undefined, ready for work on `stream` (`None`: the default stream). Dropping it frees it in that
    /// stream's order. When memory is short the pool is emptied and asked again before [`RunError::OutOfMemory`].
    fn allocate(&self, bytes: usize, stream: Option<&Arc<dyn Stream>>) -> Result<Box<dyn Buffer>, RunError>;

    /// Memory that host and device both address, at the same address.
    fn allocate_host(&self, bytes: usize, kind: HostMemory) -> Result<Box<dyn Buffer>, RunError>;

    /// Makes host memory of others fit for asynchronous copies until the result is dropped, and for kernels, too, if it is to be `mapped`:
    /// only then has the result an address for them. The memory must outlive that.
    fn pin(&self, address: u64, bytes: usize, mapped: bool) -> Result<Box<dyn Buffer>, RunError>;

    fn memory_stats(&self) -> Result<MemoryStats, RunError>;

    /// The most bytes that [`Device::allocate`] may have out at once; `None` lifts the limit.
    fn set_memory_limit(&self, bytes: Option<u64>) -> Result<(), RunError>;

    /// Gives pooled memory that nothing uses back to the system. Waits for the device.
    fn free_all(&self) -> Result<(), RunError>;

    /// Waits until all work given to the device is done; errors of that work arrive here.
    fn synchronize(&self) -> Result<(), RunError>;

    /// How many threads of the host [`Device::share`] uses.
    fn threads(&self) -> usize {
        1
    }

    /// Does `work` for all of so many units, some at a time, on as many of the host's threads as the device has; false of `work` ends it.
    /// What is launched from within runs on the thread that launches it.
    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        work(0..units);
    }

    /// What kernels printed and earlier waits collected, once. Devices whose launches return it in their `Outcome` have none.
    fn take_output(&self) -> String;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeviceKind {
    Cpu,
    Cuda,
    Vulkan,
    Metal,
    Dx12,
}

impl DeviceKind {
    pub const fn name(self) -> &'static str {
        match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Cuda => "cuda",
            DeviceKind::Vulkan => "vulkan",
            DeviceKind::Metal => "metal",
            DeviceKind::Dx12 => "dx12",
        }
    }
}

/// Which device: its name in a word, `cpu`, `cuda:0` or `vulkan:0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId {
    pub kind: DeviceKind,
    pub index: u32,
}

impl DeviceId {
    pub const CPU: DeviceId = DeviceId {
        kind: DeviceKind::Cpu,
        index: 0,
    };

    pub const fn cuda(index: u32) -> DeviceId {
        DeviceId {
            kind: DeviceKind::Cuda,
            index,
        }
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DeviceKind::Cpu => f.write_str("cpu"),
            kind => write!(f, "{}:{}", kind.name(), self.index),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// `cpu`, `cuda:0`, `vulkan:0`.
    pub name: String,
    /// The hardware's own name.
    pub description: String,
    /// Cores of a CPU, multiprocessors of a GPU; 0 where the driver does not say.
    pub cores: usize,
    /// Bits of a vector register, or threads of a warp times 32.
    pub simd_bits: usize,
    /// Instruction sets or compute capability, for people.
    pub features: String,
    pub memory_bytes: u64,
    /// The hardware's own number, where it has one.
    pub uuid: Option<[u8; 16]>,
    /// A driver that runs kernels on the CPU: never used unless named.
    pub software: bool,
}

/// How a stream is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// Less is more urgent; out of the device's range means the nearest in it.
    pub priority: i32,
    /// Does not wait for the legacy default stream, nor that for it.
    pub nonblocking: bool,
}
