//! Structuring: early exits become nesting where they can: `if c { leave }; rest` is `if c {} else { rest }` when `rest` ends where `leave`
//! leads.
//!
//! A gang pays for an exit under a varying condition with a mask that lives on; an `if` it only pays for while inside. So an exit that
//! leads where control would go anyway is dropped, what follows an `if` with such an exit moves into its other side, and a scope that
//! nothing leaves any more dissolves. An `if` with only its other side left gets the opposite condition. A `Return` stays where a barrier follows: a thread that has returned is not awaited there, while a
//! barrier inside an `if` would have to be reached by all.

use std::collections::HashMap;
use std::mem;

use weft_ir::{BinOp, Block, Function, Label, Module, Op, Scalar, Span, Stmt, StmtKind, Type, UnOp, Value};

use crate::compact;
use crate::error::PassError;
use crate::operands::{ends, has_barrier};

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
            kind => kind.blocks_mut().for_each(|body| rewrite(body, &Exits::of_loop_body(), depth + 1)),
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
    block.any(&mut |kind| matches!(kind, StmtKind::Leave(l) if *l == label))
}

/// `if c {} else { … }` is `if !c { … }`; a comparison of integers is turned around rather than negated, an `or` of such is an `and`.
fn negate_conditions(func: &mut Function, block: &mut Block, conditions: &mut HashMap<Value, Op>) {
    for mut stmt in mem::take(&mut block.0) {
        match &mut stmt.kind {
            StmtKind::Let(value, op) if is_negatable(func, op, conditions) => {
                conditions.insert(*value, op.clone());
            }
            StmtKind::If { cond, then, other } if then.0.is_empty() && !other.0.is_empty() => {
                *cond = negated(func, *cond, conditions, stmt.span, &mut block.0);
                mem::swap(then, other);
            }
            _ => {}
        }
        stmt.kind.blocks_mut().for_each(|inner| negate_conditions(func, inner, conditions));
        block.0.push(stmt);
    }
}

/// Has the operation an opposite without a `not`, given that those in `conditions` have one?
fn is_negatable(func: &Function, op: &Op, conditions: &HashMap<Value, Op>) -> bool {
    match op {
        Op::Compare(_, a, _) => func.ty(*a).scalar().is_some_and(Scalar::is_int),
        Op::Binary(BinOp::And | BinOp::Or, a, b) => conditions.contains_key(a) && conditions.contains_key(b),
        _ => false,
    }
}

/// Writes the opposite of a condition.
fn negated(func: &mut Function, cond: Value, conditions: &HashMap<Value, Op>, span: Span, out: &mut Vec<Stmt>) -> Value {
    let op = match conditions.get(&cond) {
        Some(Op::Compare(op, a, b)) => Op::Compare(op.opposite(), *a, *b),
        Some(Op::Binary(op, a, b)) => {
            let a = negated(func, *a, conditions, span, out);
            let b = negated(func, *b, conditions, span, out);
            Op::Binary(if *op == BinOp::And { BinOp::Or } else { BinOp::And }, a, b)
        }
        _ => Op::Unary(UnOp::Not, cond),
    };
    let value = func.new_value(Type::BOOL);
    let kind = StmtKind::Let(value, op);
    out.push(Stmt { kind, span });
    value
}
