//! Reachability: drops the functions of a module that its entry does not reach.

use weft_ir::{Block, FuncId, Module, Op, StmtKind};

pub fn prune(mut module: Module) -> Module {
    let mut reached = vec![false; module.functions.len()];
    let mut work = vec![module.entry];
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut reached[id.index()], true) {
            continue;
        }
        for_each_call(&mut module.functions[id.index()].body, &mut |callee| work.push(*callee));
    }
    let mut next = 0;
    let renumbered: Vec<FuncId> = reached
        .iter()
        .map(|&kept| {
            let id = FuncId(next);
            next += u32::from(kept);
            id
        })
        .collect();
    let mut kept = reached.iter();
    module.functions.retain(|_| kept.next().copied().unwrap_or(false));
    for function in &mut module.functions {
        for_each_call(&mut function.body, &mut |callee| *callee = renumbered[callee.index()]);
    }
    module.entry = renumbered[module.entry.index()];
    module
}

fn for_each_call(block: &mut Block, visit: &mut impl FnMut(&mut FuncId)) {
    for stmt in &mut block.0 {
        if let StmtKind::Let(_, Op::Call(callee, _)) = &mut stmt.kind {
            visit(callee);
        }
        stmt.kind.blocks_mut().for_each(|inner| for_each_call(inner, visit));
    }
}
