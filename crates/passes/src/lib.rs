//! Passes and analyses over the IR, one file each, and the order in which each device runs them.

pub mod adjoint;
pub mod alone;
pub mod arrive;
mod calls;
pub mod cleanup;
mod compact;
pub mod contract;
mod counting;
mod cut;
pub mod distances;
mod duplicate;
mod elements;
mod error;
pub mod flat;
mod fold;
pub mod halves;
pub mod inline;
mod join;
pub mod legalize;
pub mod liveness;
pub mod lockstep;
mod neighbours;
mod nest;
pub mod nonneg;
pub mod numbering;
pub mod operands;
pub mod origins;
pub mod outline;
pub mod range;
pub mod recursion;
pub mod reduce;
mod statements;
pub mod structure;
pub mod uniformity;
pub mod written;

pub use error::PassError;
pub use lockstep::Options as GpuOptions;

use weft_ir::Module;

/// Everything between the front end's module and the CPU emitter, in order.
///
/// Complex numbers and tuples go first, so that contraction sees complex products as float ones; contraction goes before inlining, so
/// that a function fuses by its own flag and not by its caller's. Indices are judged before loops are outlined, while extents are in sight.
/// 16-bit floats are widened after contraction, which sees their products, and before cleaning, which drops the conversions nobody needs.
pub fn lower_for_cpu(module: &mut Module) -> Result<(), PassError> {
    recursion::check(module)?;
    legalize::run(module)?;
    contract::run(module)?;
    inline::run_for_cpu(module)?;
    alone::run(module, true);
    arrive::run(module)?;
    structure::run(module)?;
    halves::run(module)?;
    cleanup::run(module)?;
    nonneg::run(module)?;
    outline::run(module)?;
    Ok(())
}

/// Everything between the front end's module and the CUDA emitter, in order: as for the CPU, but that no loops are outlined, since host
/// functions do not run there: index spaces inside of a thread are its own ([`nest`]).
pub fn lower_for_cuda(module: &mut Module) -> Result<(), PassError> {
    recursion::check(module)?;
    legalize::run(module)?;
    contract::run(module)?;
    inline::run_for_stack(module)?;
    alone::run(module, false);
    structure::run(module)?;
    cleanup::run(module)?;
    nonneg::run(module)?;
    nest::run(module)?;
    Ok(())
}

/// Everything between the front end's module and the emitter for other GPUs, in order. Afterwards every barrier stands in control flow that
/// is the same for the whole block, and no thread has ended before one.
pub fn lower_for_gpu(module: &mut Module, options: &GpuOptions) -> Result<(), PassError> {
    recursion::refuse(module)?;
    legalize::run(module)?;
    contract::run(module)?;
    inline::run(module)?;
    arrive::run(module)?;
    structure::run(module)?;
    halves::run(module)?;
    cleanup::run(module)?;
    nonneg::run(module)?;
    nest::run(module)?;
    lockstep::run(module, *options)?;
    structure::run(module)?;
    cleanup::run(module)?;
    Ok(())
}
