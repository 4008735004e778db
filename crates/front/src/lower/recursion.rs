//! Recursion: what the results of functions that call themselves are while that is not known, and what they ask before they start.
//!
//! A call of a function that is being compiled takes the type its result has so far. Where it has none yet the call has to wait for the next
//! round, and an expression that gives the call on one side and something else on the other is, for this round, that other: `n if n < 2 else
//! f(n - 1)`. So one path without a call of itself is enough, as in Numba.

use ruff_python_ast::Expr;
use weft_ir::{Block, ErrorKind, Function, Op, Span, Stmt, StmtKind, Type};

use super::Lower;
use crate::stop::{Pending, Res, Stop};
use crate::value::Val;

impl Lower<'_> {
    /// One side of a choice, in a block of its own; `None` if it has to wait for the result of a function being compiled.
    pub fn side(&mut self, lower: impl FnOnce(&mut Self) -> Res<Val>) -> Res<Option<(Block, Val)>> {
        let open = self.blocks.depth();
        self.open_block();
        match lower(self) {
            Ok(val) => Ok(Some((self.close_block(), val))),
            Err(stop) => {
                while self.blocks.depth() > open {
                    self.close_block();
                }
                let Stop::Pending(Pending::Result(..)) = stop else {
                    return Err(stop);
                };
                self.found.keep_failure(stop);
                Ok(None)
            }
        }
    }

    /// Why there is no value: what was kept when the sides of a choice had to wait.
    pub fn kept_failure(&self, span: Span) -> Stop {
        match &self.found.failed {
            Some(Stop::Pending(pending)) => Stop::Pending(pending.clone()),
            Some(Stop::Error(diag)) => Stop::Error(diag.clone()),
            None => self.typing(span, "nothing says what type this has"),
        }
    }

    /// A side that is an expression.
    pub fn side_of(&mut self, e: &Expr) -> Res<Option<(Block, Val)>> {
        self.side(|l| {
            let val = l.expr(e)?;
            l.materialise(val)
        })
    }
}

/// Puts at a function's start that it raises where the stack ends.
pub fn ask_for_stack(func: &mut Function, error: ErrorKind) {
    let span = func.body.0.first().map_or(Span::NONE, |stmt| stmt.span);
    let full = func.new_value(Type::BOOL);
    let raise = StmtKind::Raise {
        kind: error,
        message: format!("maximum recursion depth exceeded: calls of '{}' take up the whole stack", func.name),
    };
    let then = Block(vec![Stmt { kind: raise, span }]);
    let ask = [
        StmtKind::Let(full, Op::OutOfStack),
        StmtKind::If {
            cond: full,
            then,
            other: Block::default(),
        },
    ];
    func.body.0.splice(0..0, ask.map(|kind| Stmt { kind, span }));
}
