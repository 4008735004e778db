//! Divergent barriers: those under conditions that differ between threads, where the threads that do not come to them go on to the kernel's
//! end without meeting another: `if i < n:` around code with a barrier, the idiom of many texts. Hardware counts threads that have ended as
//! arrived, so these end first: `if c { barrier; … }; rest` is `if not c { rest; return }; barrier; …; rest`.
//!
//! Where threads that stay away come to another barrier, those of a block would wait for each other for ever: these are left as they are
//! and refused by the back ends.

use std::mem;

use weft_ir::{Block, FuncKind, Function, Module, Span, Stmt, StmtKind, Value};

use crate::error::PassError;
use crate::operands::{ends, has_barrier};
use crate::uniformity::{self, Calls, Class, Lanes, Uniformity};
use crate::{compact, duplicate, inline};

/// Lets threads end early in every kernel of a module.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    let calls = Calls::of(module);
    for func in module.functions.iter_mut().filter(|func| func.kind == FuncKind::Kernel) {
        if has_barrier(&func.body.0) {
            kernel(func, &calls);
        }
    }
    Ok(())
}

fn kernel(func: &mut Function, calls: &Calls) {
    let info = uniformity::analyze(func, Lanes::Threads(weft_ir::Axis::X), calls);
    let mut next_label = inline::label_count(&func.body);
    let mut rest = mem::take(&mut func.body).0;
    rest.reverse();
    let mut done = Vec::new();
    // The next statement is the last one of `rest`.
    while let Some(stmt) = rest.pop() {
        match apart(&info, stmt, &rest) {
            Err(stmt) => done.push(stmt),
            Ok(Parted {
                cond,
                away,
                come,
                then,
                span,
            }) => {
                let behind: Vec<Stmt> = rest.iter().rev().cloned().collect();
                let away = ending(func, away, Block(behind), &mut next_label);
                let (then, other) = if then { (Block::default(), away) } else { (away, Block::default()) };
                done.push(Stmt {
                    kind: StmtKind::If { cond, then, other },
                    span,
                });
                if ends(&come) {
                    rest.clear();
                }
                rest.extend(come.0.into_iter().rev());
            }
        }
    }
    func.body = Block(done);
    compact::function(func);
}

/// An `if` of which one side has a barrier and the other, with what follows, has none.
struct Parted {
    cond: Value,
    away: Block,
    come: Block,
    /// Threads come where the condition holds.
    then: bool,
    span: Span,
}

/// Takes such a statement apart; gives any other back. What follows is in reverse.
fn apart(info: &Uniformity, stmt: Stmt, behind: &[Stmt]) -> Result<Parted, Stmt> {
    let StmtKind::If { cond, then, other } = &stmt.kind else {
        return Err(stmt);
    };
    let common = matches!(info.values.get(cond.index()), Some(Class::Block | Class::Unset));
    let (in_then, in_other) = (has_barrier(&then.0), has_barrier(&other.0));
    if common || in_then == in_other || has_barrier(behind) {
        return Err(stmt);
    }
    let Stmt {
        kind: StmtKind::If { cond, then, other },
        span,
    } = stmt
    else {
        return Err(stmt);
    };
    let (come, away) = if in_then { (then, other) } else { (other, then) };
    Ok(Parted {
        cond,
        away,
        come,
        then: in_then,
        span,
    })
}

/// A side with a copy of what follows, and the end of the thread.
fn ending(func: &mut Function, mut side: Block, mut behind: Block, next_label: &mut u32) -> Block {
    if ends(&side) {
        return side;
    }
    duplicate::rename(func, &mut behind, next_label);
    side.0.extend(behind.0);
    if !ends(&side) {
        let span = side.0.last().map_or(Span::NONE, |stmt| stmt.span);
        side.0.push(Stmt {
            kind: StmtKind::Return(None),
            span,
        });
    }
    side
}
