//! Early exits become nesting where they can: `if c { leave }; rest` is `if c {} else { rest }` when `rest` ends where `leave` leads.
//!
//! A gang pays for an exit under a varying condition with a mask that lives on; an `if` it only pays for while inside. So an exit that
//! leads where control would go anyway is dropped, what follows an `if` with such an exit moves into its other side, and a scope that
//! nothing leaves any more dissolves. An `if` with only its other side left gets the opposite condition. A `Return` stays where a barrier follows: a thread that has returned is not awaited there, while a
//! barrier inside an `if` would have to be reached by all.

use std::collections::HashMap;
use std::mem;

use weft_ir::{Block, CmpOp, Function, Label, Module, Op, Scalar, Stmt, StmtKind, Type, UnOp, Value};

use crate::compact;
use crate::error::PassError;
use crate::operands::{blocks, blocks_mut, ends, walk};

/// Restructures every function of a module.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for func in &mut module.functions {
        function(func);
    }
    Ok(())
}

fn function(func: &mut Function) {
    let at_end = Exits {
        returns: func.result.is_unit(),
        ..Exits::default()
    };
    rewrite(&mut func.body, &at_end, 0);
    let mut body = mem::take(&mut func.body);
    negate_conditions(func, &mut body, &mut HashMap::new());
    func.body = body;
    compact::function(func);
}

/// The exits that lead where the end of a block leads.
#[derive(Clone, Default)]
struct Exits {
    returns: bool,
    continues: bool,
    labels: Vec<Label>,
}

impl Exits {
    fn of_loop_body() -> Exits {
        Exits {
            continues: true,
            ..Exits::default()
        }
    }

    fn with(&self, label: Label) -> Exits {
        let mut exits = self.clone();
        exits.labels.push(label);
        exits
    }

    fn contains(&self, kind: &StmtKind) -> bool {
        match kind {
            StmtKind::Return(None) => self.returns,
            StmtKind::Continue => self.continues,
            StmtKind::Leave(label) => self.labels.contains(label),
            _ => false,
        }
    }
}

/// Blocks are nested no deeper than this, so that a long row of early exits does not exhaust the stack of those who walk it.
const MAX_DEPTH: usize = 64;

fn rewrite(block: &mut Block, exits: &Exits, depth: usize) {
    let mut rest = mem::take(&mut block.0).into_iter();
    while let Some(mut stmt) = rest.next() {
        if depth < MAX_DEPTH
            && let StmtKind::If { then, other, .. } = &mut stmt.kind
            && let Some(goes_on) = side_that_goes_on(then, other, exits, rest.as_slice())
        {
            goes_on.0.extend(rest.by_ref());
        }
        let last = rest.as_slice().is_empty();
        if last && exits.contains(&stmt.kind) {
            break;
        }
        match &mut stmt.kind {
            StmtKind::If { then, other, .. } => {
                let exits = if last { exits } else { &Exits::default() };
                rewrite(then, exits, depth + 1);
                rewrite(other, exits, depth + 1);
            }
            StmtKind::Scope(label, body) => {
                let outer = if last { exits } else { &Exits::default() };
                rewrite(body, &outer.with(*label), depth + 1);
                if !leaves(body, *label) {
                    let dead_after = ends(body);
                    block.0.append(&mut body.0);
                    if dead_after {
                        break;
                    }
                    continue;
                }
            }
            kind => blocks_mut(kind).for_each(|body| rewrite(body, &Exits::of_loop_body(), depth + 1)),
        }
        block.0.push(stmt);
    }
}

/// The side of an `if` into which what follows may move: the other one ends in an exit that then can go.
fn side_that_goes_on<'a>(then: &'a mut Block, other: &'a mut Block, exits: &Exits, rest: &[Stmt]) -> Option<&'a mut Block> {
    if rest.is_empty() || ends(then) == ends(other) {
        return None;
    }
    let (ending, goes_on) = if ends(then) { (then, other) } else { (other, then) };
    let exit = tail_exit(ending, exits)?;
    if matches!(exit, StmtKind::Return(_)) && has_barrier(rest) {
        return None;
    }
    Some(goes_on)
}

/// An exit of `exits` at an end of the block.
fn tail_exit<'a>(block: &'a Block, exits: &Exits) -> Option<&'a StmtKind> {
    match &block.0.last()?.kind {
        StmtKind::If { then, other, .. } => tail_exit(then, exits).or_else(|| tail_exit(other, exits)),
        kind => exits.contains(kind).then_some(kind),
    }
}

fn leaves(block: &Block, label: Label) -> bool {
    let mut found = false;
    walk(block, &mut |kind| found |= matches!(kind, StmtKind::Leave(l) if *l == label));
    found
}

fn has_barrier(stmts: &[Stmt]) -> bool {
    let mut found = false;
    for stmt in stmts {
        found |= matches!(stmt.kind, StmtKind::Barrier);
        for inner in blocks(&stmt.kind) {
            walk(inner, &mut |kind| found |= matches!(kind, StmtKind::Barrier));
        }
    }
    found
}

/// `if c {} else { … }` is `if !c { … }`; a comparison of integers is turned around rather than negated.
fn negate_conditions(func: &mut Function, block: &mut Block, comparisons: &mut HashMap<Value, Op>) {
    for mut stmt in mem::take(&mut block.0) {
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::Let(value, Op::Compare(op, a, b)) if func.ty(*a).scalar().is_some_and(Scalar::is_int) => {
                comparisons.insert(*value, Op::Compare(opposite(*op), *a, *b));
            }
            StmtKind::If { cond, then, other } if then.0.is_empty() && !other.0.is_empty() => {
                let op = comparisons.get(cond).cloned().unwrap_or(Op::Unary(UnOp::Not, *cond));
                *cond = func.new_value(Type::BOOL);
                mem::swap(then, other);
                let kind = StmtKind::Let(*cond, op);
                block.0.push(Stmt { kind, span });
            }
            _ => {}
        }
        blocks_mut(&mut stmt.kind).for_each(|inner| negate_conditions(func, inner, comparisons));
        block.0.push(stmt);
    }
}

fn opposite(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Ge => CmpOp::Lt,
    }
}
