//! The verifier: is a module well formed? [`verify`] checks everything a back end relies on; what it accepts has a meaning the interpreter
//! gives.
//!
//! `error` says what can be wrong, `body` walks statements (scopes, structure, kinds), `ops` checks operations by their table with the
//! `rules` it names, this file checks declarations and the call graph.

mod body;
mod error;
mod ops;
mod rules;

pub use error::{Fault, VerifyError};

use crate::module::{ConstArray, FuncId, FuncKind, Function, Module, Reduction, Span, Spread};
use crate::types::{Space, Type};

/// Checks every function of the module; gives the first fault found.
pub fn verify(module: &Module) -> Result<(), VerifyError> {
    if module.functions.get(module.entry.index()).is_none() {
        return Err(VerifyError::in_module(Fault::UnknownFunction(module.entry)));
    }
    for (i, array) in module.constants.iter().enumerate() {
        const_array(array).map_err(|_| VerifyError::in_module(Fault::BadConstArray(i)))?;
    }
    let mut calls = Vec::new();
    for function in &module.functions {
        signature(function).map_err(|fault| VerifyError::new(function, Span::NONE, fault))?;
        calls.push(body::check(module, function)?);
    }
    acyclic(module, &calls)?;
    threads_reach_threads(module, &calls)?;
    lanes_stay_lanes(module, &calls)
}

/// What one function's body asks of the rest.
#[derive(Debug, Default)]
struct Summary {
    calls: Vec<(FuncId, Span)>,
    /// Those among them inside of index spaces.
    calls_of_points: Vec<(FuncId, Span)>,
    launches: Vec<(FuncId, Spread, Span)>,
    /// Uses barriers, geometry or shared memory itself.
    needs_threads: bool,
    /// A loop function that allocates or launches, which lanes cannot.
    alone: bool,
}

fn const_array(array: &ConstArray) -> Result<(), ()> {
    let count = array.shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).ok_or(())?;
    let bytes = count.checked_mul(array.elem.size() as u64).ok_or(())?;
    if bytes == array.bytes.len() as u64 { Ok(()) } else { Err(()) }
}

fn signature(function: &Function) -> Result<(), Fault> {
    for param in &function.params {
        if function.values.get(param.index()).is_none() {
            return Err(Fault::UnknownValue(*param));
        }
    }
    for array in &function.arrays {
        let sized = array.shape.iter().try_fold(array.elem.size() as u64, |n, &d| n.checked_mul(d));
        if !matches!(array.space, Space::Shared | Space::Local) || sized.is_none() {
            return Err(Fault::BadArray(array.name.clone()));
        }
    }
    match &function.kind {
        FuncKind::Host | FuncKind::Device => Ok(()),
        FuncKind::Kernel => no_result(function),
        FuncKind::Loop { rank, reductions } => {
            no_result(function)?;
            let indices = function.params.get(..*rank as usize).ok_or(Fault::LoopIndices)?;
            if indices.iter().any(|p| *function.ty(*p) != Type::I64) {
                return Err(Fault::LoopIndices);
            }
            self::reductions(function, reductions)
        }
    }
}

fn no_result(function: &Function) -> Result<(), Fault> {
    if function.result.is_unit() { Ok(()) } else { Err(Fault::HasResult) }
}

fn reductions(function: &Function, reductions: &[Reduction]) -> Result<(), Fault> {
    if reductions.iter().any(|r| r.fixed != reductions[0].fixed) {
        return Err(Fault::Orders);
    }
    reductions.iter().try_for_each(|r| reduction(function, *r))
}

fn reduction(function: &Function, reduction: Reduction) -> Result<(), Fault> {
    let Some(local) = function.locals.get(reduction.local.index()) else {
        return Err(Fault::UnknownLocal(reduction.local));
    };
    match local.ty.scalar() {
        Some(scalar) if reduction.op.takes(scalar) => Ok(()),
        _ => Err(Fault::Operand {
            op: format!("reduction {}", reduction.op.name()),
            found: local.ty.clone(),
        }),
    }
}

/// No function may reach itself but one that is called: no kernel, no loop.
fn acyclic(module: &Module, summaries: &[Summary]) -> Result<(), VerifyError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; summaries.len()];
    for root in 0..summaries.len() {
        if marks[root] == Mark::Done {
            continue;
        }
        // Each entry is a function and how many of its calls have been followed.
        let mut stack = vec![(root, 0)];
        while let Some((func, next)) = stack.pop() {
            let Some(&(callee, span)) = summaries[func].calls.get(next) else {
                marks[func] = Mark::Done;
                continue;
            };
            marks[func] = Mark::Open;
            stack.push((func, next + 1));
            match marks[callee.index()] {
                Mark::Open if matches!(module.functions[callee.index()].kind, FuncKind::Host | FuncKind::Device) => {}
                Mark::Open => return Err(VerifyError::new(&module.functions[func], span, Fault::Recursion(callee))),
                Mark::New => stack.push((callee.index(), 0)),
                Mark::Done => {}
            }
        }
    }
    Ok(())
}

/// Barriers, geometry and shared memory mean nothing outside a launch: no host or loop function may reach them, nor points inside a thread.
fn threads_reach_threads(module: &Module, summaries: &[Summary]) -> Result<(), VerifyError> {
    for (function, summary) in module.functions.iter().zip(summaries) {
        let calls = match function.kind {
            FuncKind::Kernel | FuncKind::Device => &summary.calls_of_points,
            FuncKind::Host | FuncKind::Loop { .. } => &summary.calls,
        };
        for &(callee, span) in calls {
            if reaches_threads(summaries, callee) {
                return Err(VerifyError::new(function, span, Fault::NeedsThreads(callee)));
            }
        }
    }
    Ok(())
}

/// A loop function that allocates or launches runs point by point, never as lanes.
fn lanes_stay_lanes(module: &Module, summaries: &[Summary]) -> Result<(), VerifyError> {
    for (function, summary) in module.functions.iter().zip(summaries) {
        for &(callee, spread, span) in &summary.launches {
            if spread != Spread::Threads && summaries[callee.index()].alone {
                return Err(VerifyError::new(function, span, Fault::NeedsPoints(callee)));
            }
        }
    }
    Ok(())
}

fn reaches_threads(summaries: &[Summary], from: FuncId) -> bool {
    let mut seen = vec![false; summaries.len()];
    let mut stack = vec![from];
    while let Some(func) = stack.pop() {
        if std::mem::replace(&mut seen[func.index()], true) {
            continue;
        }
        let summary = &summaries[func.index()];
        if summary.needs_threads {
            return true;
        }
        stack.extend(summary.calls.iter().map(|(callee, _)| *callee));
    }
    false
}
