//! Where a function computes in float64: on devices that have none its users are told that the results differ.

use weft_ir::{Block, Function, Op, Span, StmtKind, Value};

use crate::Compiled;

/// The first place, in the entry before what it calls, where 64-bit floats are computed with. That constants and arguments are such floats
/// does not count: most are there to meet a float32.
pub fn first_wide(compiled: &Compiled) -> Option<Span> {
    let users = compiled
        .module
        .functions
        .iter()
        .rev()
        .filter(|function| !is_library(compiled, function));
    users.into_iter().find_map(|function| in_block(compiled, function, &function.body))
}

fn in_block(compiled: &Compiled, function: &Function, block: &Block) -> Option<Span> {
    block.0.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Let(value, op) => is_wide(compiled, function, *value, op).then_some(stmt.span),
        kind => kind.blocks().find_map(|inner| in_block(compiled, function, inner)),
    })
}

fn is_wide(compiled: &Compiled, function: &Function, value: Value, op: &Op) -> bool {
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
            let callee = &compiled.module.functions[callee.index()];
            is_library(compiled, callee) && in_block(compiled, callee, &callee.body).is_some()
        }
        _ => false,
    }
}

/// Is it a function of Weft's own libraries?
fn is_library(compiled: &Compiled, function: &Function) -> bool {
    let first = function.body.0.first();
    first.is_some_and(|stmt| compiled.library.contains(&stmt.span.source))
}
