//! IR to LLVM IR text: gangs of SIMD lanes for kernels and loops, scalar code for host functions.
//!
//! The input is a module after `inline`, `legalize`, `outline`, `contract` and `nonneg`. What comes out is one LLVM module as text and the
//! tables its `site` numbers index. Nothing here calls LLVM.
//!
//! Files call and name those above them in this list, and their own line from left to right:
//!
//! - text and module: `target`, `writer`, `width`, `plan`, `module`
//! - a function's state: `values`, `walk`, `gang`, `frames`, `sums`, `barriers`, `func`; its numbers: `numbers`, `instructions`
//! - arithmetic on lanes: `half`, `cast`, `rounding`, `divide`, `arith`, `mask`, `apart`, `guard`, `geometry`, `counter`
//! - memory: `access`, `ahead`, `align`, `lanes`, `gather`, `narrow`, `complex`, `memory`, `atomic`, `combine`, `together`,
//!   `warp`, `layout`, `slots`, `print`, `views`,
//!   `arrays`, `sweep`
//! - what outlives a statement: `fixed`, `reductions`; `kept` between barriers, `team` side by side
//! - operations: `call`, `alone`, `launch`, `routine`, `host`, `ops`
//! - statements: `parts`, `control`, `iterate`, `block`
//! - what runs a body: `loops` over points; `gangs`, `regions`, `skeleton`, `kernel` over blocks
//! - functions as a whole: `entry`
//!
//! Statements hold blocks, which hold statements: `parts`, `control` and `iterate` go through the one door back, `Fx::block` (and
//! `Fx::stmts`, a part of a block). No function of the program is written inside another: what a call or a launch refers to is queued in
//! `ModuleCx::wanted` and written when its turn comes. `Fx` in `func` holds the state of all; the files before it have the types of its
//! parts.

mod access;
mod ahead;
mod align;
mod alone;
mod apart;
mod arith;
mod arrays;
mod atomic;
mod barriers;
mod block;
mod call;
mod cast;
mod combine;
mod complex;
mod control;
mod counter;
mod divide;
mod entry;
mod fixed;
mod frames;
mod func;
mod gang;
mod gangs;
mod gather;
mod geometry;
mod guard;
mod half;
mod host;
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
mod numbers;
mod ops;
mod parts;
mod plan;
mod print;
mod reductions;
mod regions;
mod rounding;
mod routine;
mod skeleton;
mod slots;
mod sums;
mod sweep;
mod target;
mod team;
mod together;
mod values;
mod views;
mod walk;
mod warp;
pub mod width;
mod writer;

pub use ahead::computes_long;
use module::{ModuleCx, Wanted};
pub use target::{EmitError, Emitted, Target, Variant};
use weft_ir::{FuncKind, Module, Spread};
use weft_passes::numbering::Numbering;
pub use weft_runtime::mailbox::{ErrorSite, PrintPart, PrintSite};

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
