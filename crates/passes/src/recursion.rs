//! What functions that call themselves may not do: on a device without a stack anything, else what threads do together.
//!
//! A thread is in such a function alone: how deep it is there differs from thread to thread, and lanes of a gang go through it one by one.

use weft_ir::{ArrayId, Effect, FuncId, FuncKind, Module, Op, Space, Span, StmtKind, Type};

use crate::calls::{reached, reaches_itself};
use crate::error::PassError;
use crate::inline::references;

/// Refuses what threads do together in device functions that call themselves, and in what those call.
pub fn check(module: &Module) -> Result<(), PassError> {
    for id in device_functions(module).filter(|id| reaches_itself(module, *id)) {
        gives_no_array(module, id)?;
        // It is among them.
        reached(module, id).into_iter().try_for_each(|callee| alone(module, callee, id))?;
    }
    Ok(())
}

/// An array that a lane's call gives would be the lane's own.
fn gives_no_array(module: &Module, id: FuncId) -> Result<(), PassError> {
    fn has_array(ty: &Type) -> bool {
        match ty {
            Type::View(_) => true,
            Type::Tuple(items) => items.iter().any(has_array),
            Type::Scalar(_) => false,
        }
    }
    let func = module.function(id);
    if !has_array(&func.result) {
        return Ok(());
    }
    let mut at = Span::NONE;
    each_statement(&func.body.0, &mut |kind, span| {
        if matches!(kind, StmtKind::Return(_)) && at == Span::NONE {
            at = span;
        }
    });
    let name = &func.name;
    Err(PassError::new(
        at,
        format!(
            "'{name}' calls itself and returns an array, which functions called in kernels cannot: return where it starts and how long it is"
        ),
    ))
}

/// Refuses all of them, for shaders.
pub fn refuse(module: &Module) -> Result<(), PassError> {
    for id in device_functions(module) {
        for (callee, span) in references(&module.function(id).body) {
            if callee == id || reached(module, callee).contains(&id) {
                let name = &module.function(callee).name;
                return Err(PassError::new(
                    span,
                    format!(
                        "'{name}' calls itself, and shaders have no stack: run this on the CPU or on CUDA, or write a loop with a local \
                         array as the stack"
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Those that the entry calls, by way of others too.
fn device_functions(module: &Module) -> impl Iterator<Item = FuncId> + '_ {
    let all = reached(module, module.entry).into_iter();
    all.filter(|id| module.function(*id).kind == FuncKind::Device)
}

/// Refuses what a function does with other threads, which `id` calls, or is.
fn alone(module: &Module, function: FuncId, id: FuncId) -> Result<(), PassError> {
    let func = module.function(function);
    let shared = |id: &ArrayId| func.arrays[id.index()].space == Space::Shared;
    let mut found = None;
    each_statement(&func.body.0, &mut |kind, span| {
        let what = match kind {
            StmtKind::Let(_, Op::Array(array)) if shared(array) => "a shared array is made",
            StmtKind::Let(_, Op::DynamicShared) => "dynamic shared memory is asked for",
            kind => match kind.effect() {
                Effect::Barrier | Effect::Grid => "a barrier stands",
                Effect::Warp | Effect::Lanes => "an operation of a warp stands",
                _ => return,
            },
        };
        found.get_or_insert((what, span));
    });
    match found {
        None => Ok(()),
        Some((what, span)) => {
            let name = &module.function(id).name;
            Err(PassError::new(
                span,
                format!(
                    "{what} in '{name}' or in what it calls, and '{name}' calls itself, which each thread does alone: do this in the kernel"
                ),
            ))
        }
    }
}

fn each_statement(stmts: &[weft_ir::Stmt], visit: &mut impl FnMut(&StmtKind, Span)) {
    for stmt in stmts {
        visit(&stmt.kind, stmt.span);
        for inner in stmt.kind.blocks() {
            each_statement(&inner.0, visit);
        }
    }
}
