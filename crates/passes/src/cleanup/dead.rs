//! Dead code elimination: what nobody reads: sets that are overwritten before any read, values without effect, empty regions.

use std::mem;

use weft_ir::{Block, Function, Stmt, StmtKind};

use crate::liveness::Liveness;
use crate::numbering::StmtId;
use crate::operands::use_counts;

/// Drops the sets of locals that no path reads afterwards.
pub fn drop_sets(func: &mut Function) {
    let live = Liveness::of(func);
    let mut body = mem::take(&mut func.body);
    keep_live_sets(&mut body, &live, &mut 0);
    func.body = body;
}

fn keep_live_sets(block: &mut Block, live: &Liveness, next: &mut u32) {
    block.0.retain_mut(|stmt| {
        let id = StmtId(*next);
        *next += 1;
        stmt.kind.blocks_mut().for_each(|inner| keep_live_sets(inner, live, next));
        !live.is_dead_set(id)
    });
}

/// Drops values nobody reads and regions nothing is left in.
pub fn drop_values(func: &mut Function) {
    let mut uses = use_counts(func);
    sweep(&mut func.body, &mut uses);
}

/// Drops dead statements, last first, so that one sweep sees a value after everything that reads it.
fn sweep(block: &mut Block, uses: &mut [u32]) {
    let mut kept = Vec::with_capacity(block.0.len());
    for mut stmt in mem::take(&mut block.0).into_iter().rev() {
        let inner: Vec<_> = stmt.kind.blocks_mut().collect();
        inner.into_iter().rev().for_each(|inner| sweep(inner, uses));
        if is_dead(&stmt, uses) {
            stmt.kind.operands(&mut |v| uses[v.index()] -= 1);
        } else {
            kept.push(stmt);
        }
    }
    kept.reverse();
    block.0 = kept;
}

fn is_dead(stmt: &Stmt, uses: &[u32]) -> bool {
    match &stmt.kind {
        StmtKind::Let(value, op) => uses[value.index()] == 0 && op.effect().is_free(),
        StmtKind::If { then, other, .. } => then.0.is_empty() && other.0.is_empty(),
        StmtKind::For { body, .. } | StmtKind::Scope(_, body) => body.0.is_empty(),
        _ => false,
    }
}
