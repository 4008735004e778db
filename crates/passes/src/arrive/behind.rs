//! What is left for a thread to do: continuations, as chains of the statements behind each block that encloses a place.

use weft_ir::{Block, Label, Span, Stmt, StmtKind};

use super::Arrive;
use crate::operands::{ends, has_barrier};

/// What follows a block when control reaches its end.
pub struct Behind<'a> {
    kind: Kind,
    /// The last one is the next.
    stmts: &'a [Stmt],
    outer: Option<&'a Behind<'a>>,
    /// How many are around it.
    depth: u32,
}

/// Of what the block is the inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Block,
    Scope(Label),
    Loop,
    /// A turn of a loop, behind which comes the next one.
    Turn {
        meets: bool,
    },
}

/// Which jumps out of some statements become what follows at their targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    All,
    /// Those that skip a barrier, if they come to none.
    PastBarriers,
}

impl<'a> Behind<'a> {
    pub fn new(kind: Kind, stmts: &'a [Stmt], outer: Option<&'a Behind<'a>>) -> Behind<'a> {
        let depth = outer.map_or(0, |outer| outer.depth + 1);
        Behind { kind, stmts, outer, depth }
    }

    /// All that a thread does from here on, to its end; `None` if there is a barrier among it, or more than can be said.
    pub fn code(&self, arrive: &mut Arrive<'_>) -> Option<Block> {
        let mut code = Block::default();
        let mut at = Some(self);
        while let Some(behind) = at {
            if matches!(behind.kind, Kind::Turn { .. }) || has_barrier(behind.stmts) {
                return None;
            }
            code.0.extend(behind.stmts.iter().rev().cloned());
            at = if ends(&code) { None } else { behind.outer };
        }
        if !self.jumps(arrive, &mut code.0, Exit::All, false) {
            return None;
        }
        let mut code = arrive.copy(code)?;
        if !ends(&code) {
            let span = code.0.last().map_or(Span::NONE, |stmt| stmt.span);
            code.0.push(Stmt {
                kind: StmtKind::Return(None),
                span,
            });
        }
        Some(code)
    }

    /// Puts what follows at their targets in the place of jumps past barriers, out of statements that stand before this.
    pub fn redirect(&self, arrive: &mut Arrive<'_>, stmts: &mut Vec<Stmt>) {
        self.jumps(arrive, stmts, Exit::PastBarriers, false);
    }

    /// Whether all jumps that were to be replaced could be.
    fn jumps(&self, arrive: &mut Arrive<'_>, stmts: &mut Vec<Stmt>, which: Exit, in_loop: bool) -> bool {
        for i in 0..stmts.len() {
            let target = match &stmts[i].kind {
                StmtKind::Leave(label) => self.find(Kind::Scope(*label)),
                StmtKind::Break if !in_loop => self.find(Kind::Loop),
                StmtKind::Continue if !in_loop && which == Exit::All => return false,
                kind => {
                    let in_loop = in_loop || matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. });
                    let mut inner = stmts[i].kind.blocks_mut();
                    if !inner.all(|block| self.jumps(arrive, &mut block.0, which, in_loop)) {
                        return false;
                    }
                    continue;
                }
            };
            // Others jump inside of the statements.
            let Some(target) = target else { continue };
            if which == Exit::PastBarriers && !self.meets_before(target) {
                continue;
            }
            match target.code(arrive) {
                Some(code) => {
                    stmts.truncate(i);
                    stmts.extend(code.0);
                    return true;
                }
                None if which == Exit::All => return false,
                None => {}
            }
        }
        true
    }

    /// The innermost enclosing block of a kind.
    fn find(&self, kind: Kind) -> Option<&Behind<'a>> {
        let mut at = Some(self);
        while let Some(behind) = at {
            if behind.kind == kind {
                return Some(behind);
            }
            at = behind.outer;
        }
        None
    }

    /// Is there a barrier between here and the end of an enclosing block?
    fn meets_before(&self, target: &Behind<'_>) -> bool {
        let mut at = self;
        while at.depth > target.depth {
            if at.kind == (Kind::Turn { meets: true }) || has_barrier(at.stmts) {
                return true;
            }
            let Some(outer) = at.outer else { break };
            at = outer;
        }
        false
    }
}
