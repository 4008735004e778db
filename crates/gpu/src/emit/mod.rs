//! IR to `naga::Module`: one thread is scalar code.
//!
//! The input is a module after `weft_passes::lower_for_gpu`. What comes out is a validated naga module with one entry point, `main`, what
//! its parameter block holds, and the tables its `site` numbers index.
//!
//! Memory is bindings and numbers of elements in them: there are no pointers. The views of a launch that lie in one buffer are a *class*
//! and share a binding; which views those are is part of what is compiled.
//!
//! | group | binding | |
//! |---|---|---|
//! | 0 | 0 | the parameter block, [`Emitted::words`] (`array<u32>`, read-only) |
//! | 0 | 1 | the mailbox, if there is one (`array<atomic<u32>>`) |
//! | 0 | 2 | constant arrays, if there are any (read-only) |
//! | 1 | `i` | class `i` |

mod arith;
mod atomic;
mod control;
mod entry;
mod func;
mod known;
mod mailbox;
mod memory;
mod number;
pub mod numbers;
mod operand;
mod ops;
mod reach;
mod storage;
mod values;
mod views;
mod warp;
mod writer;

pub use entry::{ENTRY, entry_point};
use naga::valid::ModuleInfo;
use weft_ir::{Module, Span};
use weft_runtime::CompileError;
pub use weft_runtime::mailbox::{ErrorSite, PrintPart, PrintSite};

use crate::features::Features;

/// What the host has found out about a launch's arguments and the code may rely on.
///
/// More facts make better code. A launch may use any code whose facts hold for it; `Facts::default()` is always right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Facts {
    /// Every view has fewer than 2^`bits` elements (and every extent is below that), and the grid has fewer threads than that along each
    /// axis (a loop: fewer points, too). Extents come as 32-bit parameters then. Where elements lie is computed in 32 bits in any case,
    /// since a binding is smaller than 2³² bytes.
    pub narrow: bool,
    /// Every `int64` among the scalar arguments (see [`weft_runtime::int_params`]) is between -2^`bits` and 2^`bits`: they come as 32-bit parameters.
    pub small: bool,
    /// [`Facts::BITS`], or fewer where what is made of such numbers would not fit 32 bits else, and there are no others.
    pub bits: u8,
}

impl Default for Facts {
    fn default() -> Facts {
        Facts {
            narrow: false,
            small: false,
            bits: Facts::BITS,
        }
    }
}

impl Facts {
    pub const BITS: u8 = weft_runtime::NARROW.ilog2() as u8;
    pub const ALL: Facts = Facts {
        narrow: true,
        small: true,
        bits: Facts::BITS,
    };

    /// The facts in both.
    pub const fn and(self, other: Facts) -> Facts {
        Facts {
            narrow: self.narrow && other.narrow,
            small: self.small && other.small,
            bits: if self.bits > other.bits { self.bits } else { other.bits },
        }
    }
}

/// What code is made for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub features: &'a Features,
    /// Threads of a block along each axis. A loop's are `[256, 1, 1]` or any other number along the first.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    pub facts: Facts,
    /// Lanes that the module relies on to work together by themselves ([`weft_passes::GpuOptions::group`]).
    pub group: u32,
    /// Of each view of [`weft_thread::view_params`] the number of its binding, from 0 in order of first appearance.
    pub classes: &'a [u32],
}

/// A naga module, its calling convention and its tables.
#[derive(Debug)]
pub struct Emitted {
    /// Validated; the entry point is `main`.
    pub module: naga::Module,
    pub info: ModuleInfo,
    /// The parameter block, word by word.
    pub words: Vec<Word>,
    /// It comes along with the launch's command ([`Features::immediates`]), not in its binding.
    pub immediate: bool,
    /// What happens to each class.
    pub classes: Vec<ClassUse>,
    /// What the constants' binding holds, a multiple of 16 bytes. Empty: there is no such binding.
    pub constants: Vec<u8>,
    pub mailbox: bool,
    /// Bytes of shared memory, the launch's dynamic ones included.
    pub shared_bytes: u64,
    pub error_sites: Vec<ErrorSite>,
    pub print_sites: Vec<PrintSite>,
    /// All float arithmetic of the entry function was written under `fastmath`, and may be fused and reordered.
    pub inexact: bool,
}

/// One `u32` of the parameter block. Slots are those of the argument block, in which loops count their extents first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// Blocks of the whole grid along an axis.
    GridDim(u8),
    /// The number of the first block of this dispatch along an axis.
    FirstBlock(u8),
    /// The low and the high half of a slot.
    Low(u32),
    High(u32),
    /// The `f64` in a slot rounded to a `f32`: its bits. Python's floats come so to devices without float64.
    Single(u32),
    /// 0, for devices without [`Features::exact_zeros`].
    Zero,
    /// Where view `view` (its place in [`weft_thread::view_params`]) starts in its binding, in units of `unit` bytes.
    Offset {
        view: u32,
        unit: u32,
    },
    /// The stride in a slot, in units of `unit` bytes (which divide it); its low half.
    Stride {
        slot: u32,
        unit: u32,
    },
}

/// What a kernel does to the binding of a class. A class that is not written is bound read-only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClassUse {
    pub read: bool,
    pub written: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// The program asks for something the device cannot do; the span says where.
    Unsupported { message: String, span: Span },
    /// It asks for 64-bit integers, which the device has not. With facts of fewer [`Facts::bits`] it may not.
    Wide { message: String, span: Span },
    /// The module is not what the passes promise.
    Internal(String),
    /// The driver does not take the code.
    Refused(CompileError),
}

impl From<EmitError> for CompileError {
    fn from(error: EmitError) -> CompileError {
        match error {
            EmitError::Unsupported { message, span } | EmitError::Wide { message, span } => CompileError::Unsupported { message, span },
            EmitError::Internal(message) => CompileError::Internal(message),
            EmitError::Refused(error) => error,
        }
    }
}

impl From<weft_thread::EmitError> for EmitError {
    fn from(error: weft_thread::EmitError) -> EmitError {
        match error {
            weft_thread::EmitError::Unsupported { message, span } => EmitError::Unsupported { message, span },
            weft_thread::EmitError::Internal(message) => EmitError::Internal(message),
        }
    }
}

impl From<CompileError> for EmitError {
    fn from(error: CompileError) -> EmitError {
        EmitError::Refused(error)
    }
}

/// Writes the entry of a module: a `Kernel`, or a `Loop` without reductions.
pub fn emit(module: &Module, request: &Request) -> Result<Emitted, EmitError> {
    entry::emit(module, request)
}
