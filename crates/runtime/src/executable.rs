//! Executables: compiled code, and calls of it.

use std::fmt::Debug;

use crate::{Buffer, CompileError, RunError, Stream};

/// Compiled code of one module on one device.
pub trait Executable: Send + Sync + Debug {
    /// Runs the entry function. `args` is an argument block (see `docs/architecture/runtime.md`); `results` has as many slots as the
    /// entry's result type. On a device with streams it returns when the launch is queued; what goes wrong later arrives at a
    /// synchronisation point.
    fn run(&self, launch: Launch, args: &[u64], results: &mut [u64], options: &CallOptions<'_>) -> Result<Outcome, RunError>;

    /// `what` in the form the device has it.
    fn inspect(&self, what: Inspect) -> Result<String, CompileError>;

    /// What a kernel takes of the device, in the form launched last.
    fn resources(&self) -> Result<Resources, RunError>;

    /// How many blocks of this many threads and bytes of dynamic shared memory run at the same time: the most a cooperative launch may have.
    fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u64, RunError>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// Run on the interpreter with every check.
    pub checked: bool,
    /// Keep the compiled object in the user's cache directory.
    pub cache: bool,
    /// Say in the code which line of the source each instruction comes from, for profilers, where the device has a place for that.
    pub lines: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GridShape {
    pub block: [u32; 3],
    pub grid: [u32; 3],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A `Host` function.
    Call,
    /// A `Kernel`.
    Grid(GridShape),
    /// A `Loop` over these extents; `args` holds the parameters after the indices.
    Loop(Vec<u64>),
}

/// How and where a call is made. The default: on the default stream, arrays of the device, nothing asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallOptions<'a> {
    pub hooks: Hooks,
    /// `None`: the device's default stream.
    pub stream: Option<&'a dyn Stream>,
    /// Dynamic shared memory of each block.
    pub shared_bytes: u32,
    /// All blocks run at the same time, so that the grid can wait for itself.
    pub cooperative: bool,
    /// Views among the arguments whose elements are in host memory. A device that addresses host memory has no need of the list; any other
    /// copies them to itself before the launch and back, waiting for it, after.
    pub host_arrays: &'a [HostArray],
}

/// A view among the arguments whose elements are in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostArray {
    /// Index of the view's data pointer in the argument block.
    pub slot: usize,
    /// The lowest byte of any element, and how many bytes there are up to the highest one.
    pub address: u64,
    pub bytes: u64,
    /// Copied back after the launch.
    pub writable: bool,
}

/// What the host language lends a running call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hooks {
    /// Asked now and then on the calling thread between blocks; true ends the launch with [`RunError::Interrupted`].
    pub interrupted: Option<fn() -> bool>,
}

/// What a successful run leaves besides its results.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What `print` wrote, where the run is over when `run` returns.
    pub output: String,
    /// Allocations that result views point into; all others are already freed.
    pub owned: Vec<Box<dyn Buffer>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspect {
    Ir,
    Llvm,
    Asm,
}

/// What a kernel takes of the device. 0 where the device has no such thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Static shared memory of a block, local memory of a thread, constants of the module.
    pub shared_bytes: u64,
    pub local_bytes: u64,
    pub constant_bytes: u64,
    /// The most threads a block may have.
    pub threads: u32,
}
