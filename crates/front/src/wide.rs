//! What a function computes in float64 on devices that have it: where there is none, its users are told that the results differ.

use weft_ir::{Block, Function, Module, Op, Span, StmtKind, Value};

/// The first place, in the entry before what it calls, where 64-bit floats are computed with. That constants and arguments are such floats
/// does not count: most are there to meet a float32.
pub fn first_wide(module: &Module) -> Option<Span> {
    let users = module.functions.iter().rev().filter(|function| !is_library(module, function));
    users.into_iter().find_map(|function| in_block(module, function, &function.body))
}

fn in_block(module: &Module, function: &Function, block: &Block) -> Option<Span> {
    block.0.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Let(value, op) => is_wide(module, function, *value, op).then_some(stmt.span),
        kind => kind.blocks().find_map(|inner| in_block(module, function, inner)),
    })
}

fn is_wide(module: &Module, function: &Function, value: Value, op: &Op) -> bool {
    let wide = |value: Value| {
        function
            .ty(value)
            .scalar()
            .is_some_and(|s| (s.is_float() || s.is_complex()) && s.part().size() == 8)
    };
    match op {
        Op::Unary(..) | Op::Binary(..) | Op::Fma(..) | Op::Cast(_) => wide(value),
        Op::Compare(_, a, _) => wide(*a),
        Op::Call(callee, _) => {
            let callee = &module.functions[callee.index()];
            is_library(module, callee) && in_block(module, callee, &callee.body).is_some()
        }
        _ => false,
    }
}

/// Is it one of Weft's own libraries, whose lines say nothing to users?
fn is_library(module: &Module, function: &Function) -> bool {
    let first = function.body.0.first();
    let source = first.and_then(|stmt| module.sources.get(stmt.span.source.index()));
    source.is_some_and(|source| source.file.starts_with(crate::library::FILE))
}
