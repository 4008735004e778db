//! Statements inside statements.

use crate::module::{Block, StmtKind};

impl StmtKind {
    /// The blocks directly inside, in order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, second) = match self {
            StmtKind::If { then, other, .. } => (Some(then), Some(other)),
            StmtKind::Loop(body) | StmtKind::Scope(_, body) | StmtKind::For { body, .. } | StmtKind::ParFor { body, .. } => {
                (Some(body), None)
            }
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The blocks directly inside, in order.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let (first, second) = match self {
            StmtKind::If { then, other, .. } => (Some(then), Some(other)),
            StmtKind::Loop(body) | StmtKind::Scope(_, body) | StmtKind::For { body, .. } | StmtKind::ParFor { body, .. } => {
                (Some(body), None)
            }
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Calls `visit` with this statement and all those nested in it, outer before inner.
    pub fn walk(&self, visit: &mut dyn FnMut(&StmtKind)) {
        visit(self);
        self.blocks().for_each(|inner| inner.walk(visit));
    }
}

impl Block {
    /// Calls `visit` with every statement of the block and those nested in them, outer before inner.
    pub fn walk(&self, visit: &mut dyn FnMut(&StmtKind)) {
        self.0.iter().for_each(|stmt| stmt.kind.walk(visit));
    }
}
