//! Which calls stay calls and are not inlined: those of functions that call themselves; on the CPU those of rare functions, too, and of
//! large ones that host code calls more than once, each copy of which would cost LLVM as much as the first. A rare function that works on
//! memory stays one if no lanes call it.
//!
//! Lanes take in whatever else they call. A device function that both lanes and host code call becomes two: the second is a host function.

use std::collections::HashMap;
use std::mem;

use weft_ir::{Block, Effect, FuncId, FuncKind, Function, Module, Op, Spread, StmtKind, Type};

use crate::inline::references;

/// Statements of a function that is large, if it has a loop: what a call costs (some ten instructions, and arguments that pass through
/// memory) is little beside the loop, and what another copy costs to compile is not.
const LARGE: usize = 32;

/// Says of each function whether calls of it stay. Host code that calls large device functions is made to call host functions instead.
pub fn staying(module: &mut Module) -> Vec<bool> {
    let rare = rare_with_memory(module);
    for id in &rare {
        module.functions[id.index()].kind = FuncKind::Host;
    }
    let own: HashMap<FuncId, FuncId> = large(module, &rare).into_iter().map(|id| (id, as_host(module, id))).collect();
    for func in module.functions.iter_mut().filter(|func| func.kind == FuncKind::Host) {
        for_host_calls(&mut func.body, &mut |callee| *callee = *own.get(callee).unwrap_or(callee));
    }
    let mut stay: Vec<bool> = module.functions.iter().map(is_rare).collect();
    for id in own.into_values().chain(rare) {
        stay[id.index()] = true;
    }
    for (stays, is_recursive) in stay.iter_mut().zip(recursive(module)) {
        *stays |= is_recursive;
    }
    stay
}

/// The function as a host function: itself, or a copy.
fn as_host(module: &mut Module, id: FuncId) -> FuncId {
    let func = module.function(id);
    if func.kind == FuncKind::Host {
        return id;
    }
    let copy = Function {
        kind: FuncKind::Host,
        ..func.clone()
    };
    module.functions.push(copy);
    FuncId(module.functions.len() as u32 - 1)
}

/// A helper that hardly ever runs and takes and gives nothing but numbers, and no complex ones.
fn is_rare(func: &Function) -> bool {
    func.flags.rare && func.params.iter().all(|p| is_plain(func.ty(*p))) && is_plain(&func.result)
}

/// The rare functions that work on memory and that only host code calls, by way of device functions too.
fn rare_with_memory(module: &Module) -> Vec<FuncId> {
    let all = (0..module.functions.len() as u32).map(FuncId);
    let mut found: Vec<FuncId> = all
        .filter(|id| module.function(*id).flags.rare && takes_memory(module.function(*id)))
        .collect();
    if !found.is_empty() {
        let roots = module.functions.iter().flat_map(called_by_lanes).collect::<Vec<_>>();
        let reached: Vec<FuncId> = roots
            .into_iter()
            .flat_map(|root| reached(module, root).into_iter().chain([root]))
            .collect();
        found.retain(|id| !reached.contains(id));
    }
    found
}

fn takes_memory(func: &Function) -> bool {
    func.params.iter().any(|p| func.ty(*p).view().is_some())
}

/// The functions that the lanes of one call.
fn called_by_lanes(func: &Function) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = references(&func.body).into_iter().map(|(callee, _)| callee).collect();
    if matches!(func.kind, FuncKind::Host | FuncKind::Device) {
        for callee in host_calls(&func.body) {
            if let Some(at) = found.iter().position(|id| *id == callee) {
                found.swap_remove(at);
            }
        }
    }
    found
}

fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Scalar(s) => !s.is_complex() && *s != weft_ir::Scalar::Bool,
        Type::Tuple(items) => items.iter().all(|item| item.scalar().is_some() && is_plain(item)),
        Type::View(_) => false,
    }
}

/// Large functions of which host code would get more than one copy, but for `rare` ones, which stay calls.
fn large(module: &Module, rare: &[FuncId]) -> Vec<FuncId> {
    let order = callees_first(module);
    let mut sizes = vec![0usize; module.functions.len()];
    let mut loops = vec![false; module.functions.len()];
    for id in &order {
        let (mut size, mut has_loop) = (0usize, false);
        let body = &module.function(*id).body;
        body.walk(&mut |kind| {
            size += 1;
            has_loop |= matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. });
        });
        // A call that stays is as large as any statement.
        for (callee, _) in references(body).into_iter().filter(|(callee, _)| !rare.contains(callee)) {
            size = size.saturating_add(sizes[callee.index()]);
            has_loop |= loops[callee.index()];
        }
        (sizes[id.index()], loops[id.index()]) = (size, has_loop);
    }
    let mut copies = vec![0usize; module.functions.len()];
    copies[module.entry.index()] = usize::from(module.entry_function().kind == FuncKind::Host);
    let mut found = Vec::new();
    for id in order.iter().rev() {
        let func = module.function(*id);
        let mut count = copies[id.index()];
        if rare.contains(id) {
            count = count.min(1);
        } else if count > 1 && sizes[id.index()] >= LARGE && loops[id.index()] && !is_rare(func) {
            found.push(*id);
            count = 1;
        }
        for callee in host_calls(&func.body) {
            copies[callee.index()] = copies[callee.index()].saturating_add(count);
        }
    }
    found
}

/// The functions that the entry reaches, each after those it calls but for those that call it.
fn callees_first(module: &Module) -> Vec<FuncId> {
    let mut seen = vec![false; module.functions.len()];
    let mut order = Vec::new();
    // Each with the functions it calls that are still to be looked at.
    let mut open = vec![(module.entry, called(module, module.entry))];
    seen[module.entry.index()] = true;
    while let Some((id, left)) = open.last_mut() {
        match left.pop() {
            Some(next) => {
                if !mem::replace(&mut seen[next.index()], true) {
                    open.push((next, called(module, next)));
                }
            }
            None => {
                order.push(*id);
                open.pop();
            }
        }
    }
    order
}

pub fn called(module: &Module, id: FuncId) -> Vec<FuncId> {
    references(&module.function(id).body)
        .into_iter()
        .map(|(callee, _)| callee)
        .collect()
}

/// By function: does it call itself, by way of others too? Each such circle has one that asks for the stack that is left, and takes in the
/// others.
pub fn recursive(module: &Module) -> Vec<bool> {
    let all = (0..module.functions.len() as u32).map(FuncId);
    all.map(|id| asks_for_stack(&module.function(id).body) && reaches_itself(module, id))
        .collect()
}

pub fn asks_for_stack(body: &Block) -> bool {
    body.any(&mut |kind| matches!(kind, StmtKind::Let(_, Op::OutOfStack)))
}

pub fn reaches_itself(module: &Module, id: FuncId) -> bool {
    reached(module, id).contains(&id)
}

/// The functions that one calls, by way of others too.
pub fn reached(module: &Module, id: FuncId) -> Vec<FuncId> {
    let mut seen = vec![false; module.functions.len()];
    let mut found = Vec::new();
    let mut todo = called(module, id);
    while let Some(next) = todo.pop() {
        if !mem::replace(&mut seen[next.index()], true) {
            found.push(next);
            todo.extend(called(module, next));
        }
    }
    found
}

/// The functions that a block calls where no lanes are, each as often as it does.
fn host_calls(block: &Block) -> Vec<FuncId> {
    let mut found = Vec::new();
    for stmt in &block.0 {
        match &stmt.kind {
            StmtKind::Let(_, Op::Call(callee, _)) => found.push(*callee),
            kind if has_lanes(kind) => {}
            kind => kind.blocks().for_each(|inner| found.extend(host_calls(inner))),
        }
    }
    found
}

fn for_host_calls(block: &mut Block, visit: &mut impl FnMut(&mut FuncId)) {
    for stmt in &mut block.0 {
        match &mut stmt.kind {
            StmtKind::Let(_, Op::Call(callee, _)) => visit(callee),
            kind if has_lanes(kind) => {}
            kind => kind.blocks_mut().for_each(|inner| for_host_calls(inner, visit)),
        }
    }
}

fn has_lanes(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::ParFor { spread, .. } if *spread != Spread::Threads)
}

/// By function: does it, or one it calls, change memory, make arrays or print?
pub fn effects(module: &Module) -> Vec<bool> {
    let own = |func: &Function| {
        func.body.any(&mut |kind| match kind.effect() {
            Effect::Store | Effect::Atomic | Effect::Alloc | Effect::Output | Effect::Fence => true,
            Effect::Warp | Effect::Lanes | Effect::Barrier | Effect::Grid => true,
            Effect::Pure | Effect::Get | Effect::Set | Effect::Load | Effect::Call | Effect::Flow => false,
        })
    };
    let own: Vec<bool> = module.functions.iter().map(own).collect();
    let all = (0..module.functions.len() as u32).map(FuncId);
    all.map(|id| own[id.index()] || reached(module, id).into_iter().any(|callee| own[callee.index()]))
        .collect()
}
