//! Barriers of the program itself under conditions that differ between threads are refused, with the words of every device.

use weft_ir::{Block, Function, Span, Stmt, StmtKind, Value};

use crate::error::PassError;
use crate::operands::{is_around_barrier, is_barrier};
use crate::uniformity::{Class, DIVERGENT_BARRIER, Uniformity};

pub fn check(func: &Function, info: &Uniformity) -> Result<(), PassError> {
    block(&func.body, info)
}

fn block(of: &Block, info: &Uniformity) -> Result<(), PassError> {
    for stmt in of.0.iter().filter(|stmt| is_around_barrier(stmt)) {
        match &stmt.kind {
            StmtKind::GridBarrier => {
                let message = "this GPU cannot let the whole grid wait: launch a kernel for each part, or use device='cuda' or 'cpu'";
                return Err(PassError::new(stmt.span, message));
            }
            StmtKind::If { cond, .. } => demand(stmt, &[*cond], info)?,
            StmtKind::For { start, stop, step, .. } => demand(stmt, &[*start, *stop, *step], info)?,
            StmtKind::Let(..)
            | StmtKind::Set(..)
            | StmtKind::Loop(_)
            | StmtKind::ParFor { .. }
            | StmtKind::Launch { .. }
            | StmtKind::Scope(..)
            | StmtKind::Leave(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Raise { .. }
            | StmtKind::Print(_) => {}
        }
        stmt.kind.blocks().try_for_each(|inner| block(inner, info))?;
    }
    Ok(())
}

fn demand(stmt: &Stmt, values: &[Value], info: &Uniformity) -> Result<(), PassError> {
    let common = |v: &Value| matches!(info.values[v.index()], Class::Block | Class::Unset);
    if values.iter().all(common) {
        return Ok(());
    }
    let span = barrier_span(stmt).filter(|span| *span != Span::NONE).unwrap_or(stmt.span);
    Err(PassError::new(span, DIVERGENT_BARRIER))
}

/// The first barrier inside a statement.
fn barrier_span(stmt: &Stmt) -> Option<Span> {
    if is_barrier(&stmt.kind) {
        return Some(stmt.span);
    }
    stmt.kind.blocks().flat_map(|block| &block.0).find_map(barrier_span)
}
