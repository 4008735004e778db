//! What the emitter is asked for and what it gives: the machine, the variant, the text with its tables, and why there is none.

use weft_ir::{Axis, Span};
use weft_runtime::mailbox::{ErrorSite, PrintSite};

/// What the emitter must know of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// `target triple` of the module; none leaves it to whoever compiles the text.
    pub triple: Option<String>,
    /// LLVM's names: `znver3`, `+avx2,+fma`.
    pub cpu: String,
    pub features: String,
    /// Bits of the widest vector register worth using.
    pub vector_bits: u32,
    /// Comparisons give one bit a lane (AVX-512); else a lane-wide integer.
    pub mask_registers: bool,
    /// Vector gathers, and scatters if there are any, take no longer than an access for every lane. AMD's take two to five times as long.
    pub gathers: bool,
    /// Fused multiply-add in hardware; without it `fma` and `fmaf` are called.
    pub fma: bool,
    /// `floor`, `ceil`, `trunc`, `rint` in hardware (SSE4.1, NEON); without it they are computed.
    pub rounding: bool,
    /// Conversions between float16 and float32 in hardware (F16C, NEON); without it they are computed.
    pub half: bool,
    /// Lanes of a gang instead of the choice of [`width`](super::width).
    pub gang: Option<u32>,
}

/// How a module's entry is specialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// A `Host` or `Loop` entry.
    Plain,
    /// A `Kernel` whose lanes are threads along `axis`; axes before it have dimension 1. `full`: the block dimension along
    /// `axis` is a multiple of `width`. No axis: lanes are threads in the order of their linear index, whatever the block's shape.
    Kernel { axis: Option<Axis>, width: u32, full: bool },
}

/// An LLVM module and its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    pub text: String,
    /// Symbol of the entry function.
    pub entry: String,
    pub error_sites: Vec<ErrorSite>,
    pub print_sites: Vec<PrintSite>,
    /// Calls of Weft's library that may fail.
    pub call_sites: Vec<Span>,
    /// Runtime and C library symbols the text refers to.
    pub symbols: Vec<&'static str>,
    /// Stack the entry takes for every gang of a block besides its frame: what is kept across barriers.
    pub gang_bytes: u64,
    /// A function calls itself: it asks the context how much stack is left.
    pub recursive: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// The program asks for something the CPU cannot do; the span says where.
    Unsupported { message: String, span: Span },
    /// The module is not what the passes promise.
    Internal(String),
}
