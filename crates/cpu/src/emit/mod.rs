//! IR to LLVM IR text: gangs of SIMD lanes for kernels and loops, scalar code for host functions.
//!
//! The input is a module after `inline`, `legalize`, `outline`, `contract` and `nonneg`. What comes out is one LLVM module as text and the
//! tables its `site` numbers index. Nothing here calls LLVM.
//!
//! Files call those above them in this list, and their own line from left to right:
//!
//! - text and module: `writer`, `width`, `plan`, `module`
//! - a function's state, and its numbers: `values`, `func`, `instructions`
//! - arithmetic on lanes: `half`, `cast`, `arith`, `mask`, `apart`, `guard`, `geometry`, `counter`
//! - memory: `access`, `ahead`, `align`, `lanes`, `gather`, `narrow`, `complex`, `memory`, `atomic`, `warp`, `layout`, `slots`, `print`, `views`,
//!   `arrays`, `sweep`
//! - what outlives a statement: `combine`, `fixed`, `reductions`; `kept` between barriers, `team` side by side
//! - operations: `call`, `alone`, `launch`, `ops`
//! - statements: `parts`, `control`, `iterate`, `block`
//! - what runs a body: `loops` over points; `gangs`, `regions`, `skeleton`, `kernel` over blocks
//! - functions as a whole: `entry`
//!
//! Statements hold blocks, which hold statements: `parts`, `control` and `iterate` go through the one door back, `Fx::block` (and
//! `Fx::stmts`, a part of a block). No function of the program is written inside another: what a call or a launch refers to is queued in
//! `ModuleCx::wanted` and written when its turn comes. Types may be named from anywhere: `Fx` in `func` holds the state of all.

mod access;
mod ahead;
mod align;
mod alone;
mod apart;
mod arith;
mod arrays;
mod atomic;
mod block;
mod call;
mod cast;
mod combine;
mod complex;
mod control;
mod counter;
mod entry;
mod fixed;
mod func;
mod gangs;
mod gather;
mod geometry;
mod guard;
mod half;
mod instructions;
mod iterate;
mod kept;
mod kernel;
mod lanes;
mod launch;
mod layout;
mod loops;
mod mask;
mod memory;
mod module;
mod narrow;
mod ops;
mod parts;
mod plan;
mod print;
mod reductions;
mod regions;
mod skeleton;
mod slots;
mod sweep;
mod team;
mod values;
mod views;
mod warp;
pub mod width;
mod writer;

pub use ahead::computes_long;
use module::{ModuleCx, Wanted};
use weft_ir::{Axis, FuncKind, Module, Span, Spread};
use weft_passes::numbering::Numbering;
pub use weft_runtime::mailbox::{ErrorSite, PrintPart, PrintSite};

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
    /// Lanes of a gang instead of the choice of [`width`].
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

/// Writes the module's entry and the functions it refers to.
pub fn emit(module: &Module, target: &Target, variant: &Variant) -> Result<Emitted, EmitError> {
    let numberings: Vec<_> = module.functions.iter().map(|f| Numbering::of(&f.body)).collect();
    let mut cx = ModuleCx::new(module, &numberings, target);
    let function = module.entry_function();
    let (id, symbol) = (module.entry, module::symbol(function, module.entry));
    match (&function.kind, variant) {
        (FuncKind::Host, Variant::Plain) => entry::host(&mut cx, id, &symbol, "")?,
        (FuncKind::Loop { .. }, Variant::Plain) => entry::looping(&mut cx, id, &symbol, "")?,
        (FuncKind::Kernel, Variant::Kernel { axis, width, full }) => entry::kernel(&mut cx, id, &symbol, *axis, *width, *full)?,
        (kind, _) => return Err(EmitError::Internal(format!("an entry of kind {kind:?} with {variant:?}"))),
    }
    while let Some(wanted) = cx.wanted.pop_front() {
        match wanted {
            Wanted::Host(id, symbol) => entry::host(&mut cx, id, &symbol, "internal ")?,
            Wanted::Loop(id, symbol, Spread::Threads) => entry::points(&mut cx, id, &symbol, "internal ")?,
            Wanted::Loop(id, symbol, Spread::Lanes | Spread::Gangs) => entry::looping(&mut cx, id, &symbol, "internal ")?,
            Wanted::Rare(id, symbol, lanes) => entry::rare(&mut cx, id, &symbol, lanes)?,
        }
    }
    Ok(cx.finish(symbol))
}
