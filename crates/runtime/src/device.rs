//! What every device can do: compile a module, run it, own memory.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use weft_ir::{ErrorKind, Module, Span};

/// One device of the machine.
pub trait Device: Send + Sync + Debug {
    fn info(&self) -> DeviceInfo;

    /// Compiles a module as the front end made it. The result may compile variants lazily at its first launches.
    fn compile(&self, module: Arc<Module>, options: CompileOptions) -> Result<Arc<dyn Executable>, CompileError>;

    /// Block and grid dimensions for one thread per point of `shape` (1 to 3 axes; thread axis x is the first axis).
    fn plan_forall(&self, shape: &[u64]) -> GridShape;

    fn allocate(&self, bytes: usize) -> Result<Box<dyn Buffer>, RunError>;

    /// Waits until all work given to the device is done.
    fn synchronize(&self) -> Result<(), RunError>;
}

/// Device memory.
pub trait Buffer: Send + Sync + Any + Debug {
    /// The address kernels use.
    fn address(&self) -> u64;
    fn bytes(&self) -> usize;
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), RunError>;
    fn write(&self, offset: usize, from: &[u8]) -> Result<(), RunError>;
}

/// Compiled code of one module on one device.
pub trait Executable: Send + Sync + Debug {
    /// Runs the entry function. `args` is an argument block (see `docs/architecture.md`); `results` has as many slots as the entry's result type.
    fn run(&self, launch: Launch, args: &[u64], results: &mut [u64], hooks: &Hooks) -> Result<Outcome, RunError>;

    /// `what` in the form the device has it.
    fn inspect(&self, what: Inspect) -> Result<String, CompileError>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// `cpu`, `cuda:0`, `vulkan:0`.
    pub name: String,
    /// The hardware's own name.
    pub description: String,
    /// Cores of a CPU, multiprocessors of a GPU.
    pub cores: usize,
    /// Bits of a vector register, or threads of a warp times 32.
    pub simd_bits: usize,
    /// Instruction sets or compute capability, for people.
    pub features: String,
    pub memory_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// Run on the interpreter with every check.
    pub checked: bool,
    /// Keep the compiled object in the user's cache directory.
    pub cache: bool,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspect {
    Ir,
    Llvm,
    Asm,
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
    /// What `print` wrote.
    pub output: String,
    /// Allocations that result views point into; all others are already freed.
    pub owned: Vec<Box<dyn Buffer>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The program asks for something this device or any device cannot do; the span says where.
    Unsupported { message: String, span: Span },
    /// A defect of Weft: a pass or the code generator refused its input.
    Internal(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The program raised.
    Raised(Raised),
    Interrupted,
    OutOfMemory {
        bytes: u64,
    },
    /// Arguments that the launch cannot take, e.g. a block over 1024 threads.
    Invalid(String),
    Compile(CompileError),
}

/// An exception raised inside compiled or interpreted code, and the output printed before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    pub kind: ErrorKind,
    pub message: String,
    pub span: Span,
    /// Thread x, y, z and block x, y, z, for kernels.
    pub thread: Option<[i64; 6]>,
    pub output: String,
}
