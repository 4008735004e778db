//! Queries of statements by passes and emitters: who reads a value, where threads meet, where control ends.

use weft_ir::{Block, Effect, Function, Label, Stmt, StmtKind};

/// How often each value of a function is read, by value.
pub fn use_counts(func: &Function) -> Vec<u32> {
    let mut counts = vec![0; func.values.len()];
    func.body.walk(&mut |kind| kind.operands(&mut |v| counts[v.index()] += 1));
    counts
}

/// Do all threads of a block or of the grid meet at the statement?
pub fn is_barrier(kind: &StmtKind) -> bool {
    matches!(kind.effect(), Effect::Barrier | Effect::Grid)
}

/// Do the statements hold a barrier, or what is inside them?
pub fn has_barrier(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| stmt.kind.any(&mut is_barrier))
}

/// Does the statement hold a barrier, or jump to where control around barriers goes on?
pub fn is_around_barrier(stmt: &Stmt) -> bool {
    fn outward(stmt: &Stmt, in_loop: bool, labels: &mut Vec<Label>) -> bool {
        match &stmt.kind {
            kind if is_barrier(kind) => true,
            StmtKind::Break | StmtKind::Continue => !in_loop,
            StmtKind::Leave(label) => !labels.contains(label),
            StmtKind::Scope(label, body) => {
                labels.push(*label);
                body.0.iter().any(|s| outward(s, in_loop, labels))
            }
            kind => {
                let in_loop = in_loop || matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. });
                kind.blocks().any(|block| block.0.iter().any(|s| outward(s, in_loop, labels)))
            }
        }
    }
    outward(stmt, false, &mut Vec::new())
}

/// Do the lanes of a warp meet at the statement, or ask which of them do?
pub fn is_of_warp(kind: &StmtKind) -> bool {
    matches!(kind.effect(), Effect::Warp | Effect::Lanes)
}

/// Do lanes of a warp meet anywhere in a function?
pub fn uses_warps(func: &Function) -> bool {
    func.body.any(&mut is_of_warp)
}

/// Does control never reach what follows the statement in its block?
pub fn is_terminator(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Leave(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise { .. } => true,
        StmtKind::If { then, other, .. } => ends(then) && ends(other),
        StmtKind::Let(..)
        | StmtKind::Set(..)
        | StmtKind::Loop(_)
        | StmtKind::For { .. }
        | StmtKind::ParFor { .. }
        | StmtKind::Launch { .. }
        | StmtKind::Scope(..)
        | StmtKind::Store { .. }
        | StmtKind::Barrier
        | StmtKind::GridBarrier
        | StmtKind::SyncWarp(_)
        | StmtKind::Mma { .. }
        | StmtKind::Fence(_)
        | StmtKind::Sleep(_)
        | StmtKind::Print(_) => false,
    }
}

/// Does control never reach a block's end?
pub fn ends(block: &Block) -> bool {
    block.0.last().is_some_and(|stmt| is_terminator(&stmt.kind))
}
