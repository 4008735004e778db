//! Compilation: from a module to PTX.

use weft_ir::{Module, Span};
use weft_passes::{flat, lower_for_cuda};
use weft_runtime::CompileError;
use weft_thread::refused;

use crate::emit::{self, Emitted, Facts};
use crate::target::Target;

/// PTX and how its entry is called.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// The assembly; `emitted.text` is the LLVM IR it was made of.
    pub text: String,
    pub emitted: Emitted,
    pub target: Target,
}

/// A module as the front end made it, for a target. No device or driver is needed.
pub fn compile_ptx(module: &Module, target: Target, facts: Facts) -> Result<Ptx, CompileError> {
    compile_lowered(&lowered(module)?, target, facts, false)
}

/// A module for programs of others, which launch or call its entry by a name (`None`: made of the function's); see [`emit::export`].
pub fn export_ptx(module: &Module, target: Target, symbol: Option<&str>, lines: bool) -> Result<Ptx, CompileError> {
    let emitted = emit::export(&lowered(module)?, target, symbol, lines)?;
    assembly(module, emitted, target)
}

/// A module made ready for [`compile_lowered`].
pub fn lowered(module: &Module) -> Result<Module, CompileError> {
    let mut module = module.clone();
    lower_for_cuda(&mut module).map_err(refused)?;
    Ok(module)
}

/// What [`lowered`] gave as a loop over the threads of a grid in a row, if threads should take several of its points at a time.
pub fn in_groups(module: &Module) -> Option<Module> {
    let flags = module.entry_function().flags;
    // Who says how many registers or threads there may be means the threads as they are.
    if [flags.max_threads, flags.min_blocks, flags.max_registers] != [0; 3] {
        return None;
    }
    flat::as_loop(module).filter(|module| emit::takes_groups(module.entry_function()))
}

/// What [`lowered`] gave, for a target and a set of facts.
pub fn compile_lowered(module: &Module, target: Target, facts: Facts, lines: bool) -> Result<Ptx, CompileError> {
    assembly(module, emit::emit(module, target, facts, lines)?, target)
}

/// The target for what was emitted, under a driver that serves PTX up to a version.
pub fn target_for(module: &Module, emitted: &Emitted, target: Target, newest: u32) -> Result<Target, CompileError> {
    target
        .with_room(emitted.param_bytes(), newest)
        .map_err(|message| CompileError::Unsupported {
            message,
            span: module.entry_function().body.0.first().map_or(Span::NONE, |first| first.span),
        })
}

fn assembly(module: &Module, emitted: Emitted, target: Target) -> Result<Ptx, CompileError> {
    let target = target_for(module, &emitted, target, u32::MAX)?;
    let text = weft_llvm::ptx(&emitted.text, target.sm, target.ptx).map_err(|error| CompileError::Internal(error.to_string()))?;
    Ok(Ptx { text, emitted, target })
}
