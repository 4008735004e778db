//! IR to LLVM IR text for NVPTX: one thread is scalar code.
//!
//! The input is a module after `weft_passes::lower_for_cuda`. What comes out is one LLVM module as text, how its entry takes its
//! arguments, and the tables its `site` numbers index. Nothing here calls LLVM.

mod access;
mod arith;
mod atomic;
mod calls;
mod cast;
mod control;
mod divide;
mod entry;
mod export;
mod func;
mod grid;
mod group;
mod helpers;
mod lines;
mod mailbox;
mod mma;
mod module;
mod number;
mod ops;
mod together;
mod values;
mod views;
mod writer;

use weft_ir::{Function, Module};
pub use weft_runtime::mailbox::{ErrorSite, PrintPart, PrintSite};
pub use weft_thread::EmitError;

use crate::target::Target;

/// What the host has found out about a launch's arguments and the code may rely on.
///
/// More facts make better code. A launch may use any code whose facts hold for it; `Facts::default()` is always right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts {
    /// Every view has fewer than 2³⁰ elements (and every extent is below that), its strides in bytes fit 32 bits, and the grid has fewer
    /// than 2³⁰ threads along each axis (a loop: fewer points, too). Extents and strides come as 32-bit parameters then, and indices are
    /// computed in 32 bits.
    pub narrow: bool,
    /// Every view's data address is a multiple of 16, and its strides are multiples of its elements' size.
    pub aligned: bool,
    /// The bytes of a view that the kernel writes (see [`weft_runtime::ViewParam::written`]) are no bytes of any other view.
    pub disjoint: bool,
    /// Every `int64` among the scalar arguments (see [`weft_runtime::int_params`]) is between -2³⁰ and 2³⁰: they come as 32-bit parameters.
    pub small: bool,
}

impl Facts {
    pub const ALL: Facts = Facts {
        narrow: true,
        aligned: true,
        disjoint: true,
        small: true,
    };

    /// The facts in both.
    pub const fn and(self, other: Facts) -> Facts {
        Facts {
            narrow: self.narrow && other.narrow,
            aligned: self.aligned && other.aligned,
            disjoint: self.disjoint && other.disjoint,
            small: self.small && other.small,
        }
    }
}

/// An LLVM module, its calling convention and its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    pub text: String,
    /// Symbol of the entry.
    pub entry: String,
    /// What each parameter of the entry is, in order. Behind them comes the address of the mailbox, if there is one, and that of the
    /// grid's barrier, if there is one.
    pub params: Vec<Param>,
    pub mailbox: bool,
    /// Bytes of shared memory the entry declares itself.
    pub shared_bytes: u64,
    /// Is memory asked for at the launch (`extern shared`) used?
    pub dynamic_shared: bool,
    /// Are there barriers of the grid? The launch has to be cooperative then, and needs 8 bytes of device memory for the barrier: zero at
    /// first, as launches leave them, and not those of a launch that may run at the same time.
    pub grid_sync: bool,
    /// Points of a loop that a thread takes at a time, 1 for kernels: fewer threads do.
    pub points: u32,
    /// Bytes of stack that the code relies on each thread to have, where functions call themselves.
    pub stack_bytes: u64,
    pub error_sites: Vec<ErrorSite>,
    pub print_sites: Vec<PrintSite>,
}

impl Emitted {
    /// Bytes that all parameters take, each at a multiple of its size.
    pub fn param_bytes(&self) -> u32 {
        let hidden = [self.mailbox, self.grid_sync].map(|used| if used { 8 } else { 0 });
        let sizes = self
            .params
            .iter()
            .map(|param| param.bytes)
            .chain(hidden.into_iter().filter(|bytes| *bytes > 0));
        sizes.fold(0, |end: u32, bytes| end.next_multiple_of(bytes.max(1)) + bytes)
    }
}

/// A parameter takes the low `bytes` bytes of a slot of the argument block, so that on a little-endian host the slot's address is what
/// the driver is given. Loops count their extents as slots before the argument block's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    pub slot: u32,
    pub bytes: u32,
}

/// Writes the entry of a module: a `Kernel`, or a `Loop` without reductions. With `lines` it says which line of the source each instruction
/// comes from.
pub fn emit(module: &Module, target: Target, facts: Facts, lines: bool) -> Result<Emitted, EmitError> {
    entry::emit(module, target, facts, lines)
}

/// Does a thread take several points of a loop at a time, where arrays are aligned?
pub fn takes_groups(entry: &Function) -> bool {
    entry
        .params
        .split_first()
        .is_some_and(|(index, _)| group::Group::of(entry, &[*index]).is_some())
}

/// Writes the entry of a module for programs of others to launch or call: a `Kernel` with all its parameters, whether it reads them or
/// not, that relies on no facts; or a `Device` function that takes and gives its values as C does.
pub fn export(module: &Module, target: Target, symbol: Option<&str>, lines: bool) -> Result<Emitted, EmitError> {
    export::export(module, target, symbol, lines)
}
