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

impl<'a> Behind<'a> {
    pub fn new(kind: Kind, stmts: &'a [Stmt], outer: Option<&'a Behind<'a>>) -> Behind<'a> {
        let depth = outer.map_or(0, |outer| outer.depth + 1);
        Behind { kind, stmts, outer, depth }
    }

    /// All that a thread does from here on, to its end; `None` if there is a barrier among it, or more than can be said.
    ///
    /// Each block around becomes a scope, if there is a jump to its end: what stands behind it is there once.
    pub fn code(&self, arrive: &mut Arrive<'_>) -> Option<Block> {
        let mut code = Block::default();
        let mut label = Label(arrive.labels);
        let mut at = Some(self);
        while let Some(behind) = at {
            at = behind.outer;
            if matches!(behind.kind, Kind::Turn { .. }) {
                if !ends(&code) || has(&code, &StmtKind::Continue) {
                    return None;
                }
                continue;
            }
            if behind.kind.jump().is_some_and(|jump| replace(&mut code, &jump, label)) {
                code = scope(label, code);
                label.0 += 1;
            }
            if !ends(&code) {
                if has_barrier(behind.stmts) {
                    return None;
                }
                code.0.extend(behind.stmts.iter().rev().cloned());
            }
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

    /// Puts what follows at their targets in the place of jumps past barriers to where no other barrier follows, out of statements that stand
    /// before this.
    pub fn redirect(&self, arrive: &mut Arrive<'_>, stmts: &mut Vec<Stmt>) {
        self.redirect_in(arrive, stmts, false);
    }

    fn redirect_in(&self, arrive: &mut Arrive<'_>, stmts: &mut Vec<Stmt>, in_loop: bool) {
        for i in 0..stmts.len() {
            let target = match &mut stmts[i].kind {
                StmtKind::Leave(label) => self.find(Kind::Scope(*label)),
                StmtKind::Break if !in_loop => self.find(Kind::Loop),
                kind => {
                    let in_loop = in_loop || is_loop(kind);
                    kind.blocks_mut().for_each(|block| self.redirect_in(arrive, &mut block.0, in_loop));
                    None
                }
            };
            let code = target
                .filter(|target| self.meets_before(target))
                .and_then(|target| target.code(arrive));
            if let Some(code) = code {
                stmts.truncate(i);
                stmts.extend(code.0);
                return;
            }
        }
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

impl Kind {
    /// The jump to the end of the block.
    fn jump(self) -> Option<StmtKind> {
        match self {
            Kind::Scope(label) => Some(StmtKind::Leave(label)),
            Kind::Loop => Some(StmtKind::Break),
            Kind::Block | Kind::Turn { .. } => None,
        }
    }
}

fn is_loop(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. })
}

pub fn scope(label: Label, body: Block) -> Block {
    let span = body.0.first().map_or(Span::NONE, |stmt| stmt.span);
    let kind = StmtKind::Scope(label, body);
    Block(vec![Stmt { kind, span }])
}

/// Is there such a jump out of the code?
pub fn has(code: &Block, jump: &StmtKind) -> bool {
    code.0.iter().any(|stmt| {
        let inside = is_loop(&stmt.kind) && !matches!(jump, StmtKind::Leave(_));
        stmt.kind == *jump || !inside && stmt.kind.blocks().any(|block| has(block, jump))
    })
}

/// Makes such jumps out of the code leave a scope. Whether there were any.
pub fn replace(code: &mut Block, jump: &StmtKind, label: Label) -> bool {
    let mut found = false;
    for stmt in &mut code.0 {
        if stmt.kind == *jump {
            stmt.kind = StmtKind::Leave(label);
            found = true;
        } else if !is_loop(&stmt.kind) || matches!(jump, StmtKind::Leave(_)) {
            for block in stmt.kind.blocks_mut() {
                found |= replace(block, jump, label);
            }
        }
    }
    found
}
