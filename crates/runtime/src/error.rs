//! Errors: what can go wrong when code is compiled or run.

use std::fmt;
use std::sync::Arc;

use weft_ir::{ErrorKind, Module, Span};

use crate::DeviceId;

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
    Raised(Box<Raised>),
    Interrupted,
    OutOfMemory(Box<OutOfMemory>),
    /// Arguments that the launch cannot take, e.g. a block over 1024 threads.
    Invalid(String),
    /// The device cannot do that at all.
    Unsupported(String),
    Compile(CompileError),
    /// The driver refused a call, which left the device as it was.
    Driver(Box<DriverError>),
    /// Work on the device failed so that the driver takes no more of it from this process: an illegal address, a hardware error.
    DeviceLost(Box<DeviceLost>),
    /// The process was forked after it had used the device, whose driver does not survive that.
    Forked(DeviceId),
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
    /// What ran, where that is not what the caller just ran: an error that arrives at a later synchronisation point. `span` is in its sources.
    pub module: Option<Arc<Module>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub requested: u64,
    /// Of a device's memory; the host's is not known.
    pub device: Option<DeviceMemory>,
}

/// Bytes of a device's memory when there was not enough of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    pub free: u64,
    pub total: u64,
    /// In buffers of this process, and what its pool holds beyond.
    pub used: u64,
    pub pooled: u64,
    /// The limit set for `used`, if that is what was hit.
    pub limit: Option<u64>,
}

/// A device that this process cannot use any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLost {
    pub device: DeviceId,
    /// The kernel that most likely did it: the launch last queued before the error showed.
    pub kernel: Option<String>,
    pub error: DriverError,
}

/// An error the driver returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The driver's function.
    pub call: &'static str,
    /// Its `CUresult`, by number and name, and the driver's own words.
    pub code: i32,
    pub name: String,
    pub text: String,
}

impl RunError {
    pub fn host_memory(requested: u64) -> RunError {
        RunError::OutOfMemory(Box::new(OutOfMemory { requested, device: None }))
    }

    pub fn device_memory(requested: u64, device: DeviceMemory) -> RunError {
        RunError::OutOfMemory(Box::new(OutOfMemory {
            requested,
            device: Some(device),
        }))
    }

    /// What went wrong when a driver was given code, as an error of compiling it.
    pub fn of_compiling(self) -> CompileError {
        match self {
            RunError::Compile(error) => error,
            other => CompileError::Unsupported {
                message: other.to_string(),
                span: Span::NONE,
            },
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Unsupported { message, .. } | CompileError::Internal(message) => f.write_str(message),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Raised(raised) => raised.fmt(f),
            RunError::Interrupted => f.write_str("interrupted"),
            RunError::OutOfMemory(error) => error.fmt(f),
            RunError::Invalid(message) | RunError::Unsupported(message) => f.write_str(message),
            RunError::Compile(error) => error.fmt(f),
            RunError::Driver(error) => error.fmt(f),
            RunError::DeviceLost(lost) => lost.fmt(f),
            RunError::Forked(device) => write!(
                f,
                "{device} was in use when this process was forked, and its driver does not work in the child; start processes with \
                 multiprocessing's \"spawn\" or \"forkserver\", or use the device first in the child"
            ),
        }
    }
}

impl fmt::Display for DeviceLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is lost to this process", self.device)?;
        if let Some(kernel) = &self.kernel {
            write!(f, "; the kernel launched last was {kernel}")?;
        }
        write!(f, ": {}", self.error)
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(module) = &self.module {
            write!(f, " in {}", module.entry_function().name)?;
        }
        if let Some([tx, ty, tz, bx, by, bz]) = self.thread {
            write!(f, " (thread ({tx}, {ty}, {tz}) of block ({bx}, {by}, {bz}))")?;
        }
        Ok(())
    }
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(device) = &self.device else {
            return write!(f, "no memory for {} bytes", self.requested);
        };
        let DeviceMemory {
            free,
            total,
            used,
            pooled,
            limit,
        } = device;
        write!(f, "no device memory for {} bytes: ", self.requested)?;
        if let Some(limit) = limit {
            write!(f, "the limit is {limit} bytes, ")?;
        }
        write!(
            f,
            "{used} bytes are in arrays, {pooled} in the pool, {free} of the device's {total} bytes are free"
        )
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({}, error {})", self.call, self.text, self.name, self.code)
    }
}

impl std::error::Error for CompileError {}
impl std::error::Error for RunError {}

impl From<Raised> for RunError {
    fn from(raised: Raised) -> RunError {
        RunError::Raised(Box::new(raised))
    }
}

impl From<OutOfMemory> for RunError {
    fn from(error: OutOfMemory) -> RunError {
        RunError::OutOfMemory(Box::new(error))
    }
}
