//! Numbers for statements, by which analyses are asked.
//!
//! Statements are numbered from 0 in pre-order: a statement comes before those in its blocks, an `If`'s `then` before its `other`. A
//! consumer that walks the function carries a [`Numbered`] block instead of a block and may walk it as often as it likes:
//!
//! ```text
//! fn emit(block: Numbered) {
//!     for (id, stmt) in block.iter() {
//!         for inner in Numbered::nested(id, stmt) { emit(inner) }   // then, other; or the body
//!     }
//! }
//! ```

use weft_ir::{Block, Function, Stmt};

use crate::operands::blocks;

/// A statement's place in its function's pre-order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);

/// A block and the number of its first statement.
#[derive(Clone, Copy, Debug)]
pub struct Numbered<'a> {
    pub block: &'a Block,
    pub first: StmtId,
}

impl<'a> Numbered<'a> {
    pub fn body(func: &'a Function) -> Numbered<'a> {
        Numbered {
            block: &func.body,
            first: StmtId(0),
        }
    }

    /// The block's own statements with their numbers, in order.
    pub fn iter(self) -> impl Iterator<Item = (StmtId, &'a Stmt)> {
        let mut next = self.first.0;
        self.block.0.iter().map(move |stmt| {
            let id = StmtId(next);
            next += count(stmt);
            (id, stmt)
        })
    }

    /// The blocks directly inside statement `id`: an `If` gives `then` and `other`, a loop or scope its body.
    pub fn nested(id: StmtId, stmt: &'a Stmt) -> impl Iterator<Item = Numbered<'a>> {
        let mut next = id.0 + 1;
        blocks(&stmt.kind).map(move |block| {
            let first = StmtId(next);
            next += block.0.iter().map(count).sum::<u32>();
            Numbered { block, first }
        })
    }
}

/// The statement and all those nested in it.
fn count(stmt: &Stmt) -> u32 {
    1 + blocks(&stmt.kind).flat_map(|block| &block.0).map(count).sum::<u32>()
}
