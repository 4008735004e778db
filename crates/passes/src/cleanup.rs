//! Cheap cleaning: constants are folded, what a local was set to once stands for its gets, values nobody reads go.
//!
//! Loads stay even if nobody reads them: only operations without effect are dropped.

use std::collections::HashMap;
use std::mem;

use weft_ir::eval;
use weft_ir::{BinOp, Block, Const, FuncKind, Function, Local, Module, Op, Stmt, StmtKind, Value};

use crate::error::PassError;
use crate::operands::{blocks_mut, ends, stmt_operands, stmt_operands_mut, use_counts, walk};
use crate::{compact, fold};

/// Cleans every function of a module.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for func in &mut module.functions {
        simplify(func);
        drop_dead(func);
        compact::function(func);
    }
    Ok(())
}

fn simplify(func: &mut Function) {
    let mut simplifier = Simplifier {
        set_once: set_once(func),
        known: HashMap::new(),
        renamed: HashMap::new(),
        constants: HashMap::new(),
        tuples: HashMap::new(),
        func,
    };
    let mut body = mem::take(&mut simplifier.func.body);
    simplifier.block(&mut body);
    func.body = body;
}

/// Locals with one `Set` and no other way to change.
fn set_once(func: &Function) -> Vec<bool> {
    let mut counts = vec![0; func.locals.len()];
    if let FuncKind::Loop { reductions, .. } = &func.kind {
        reductions.iter().for_each(|r| counts[r.local.index()] = 2);
    }
    walk(&func.body, &mut |kind| match kind {
        StmtKind::Set(local, _) => counts[local.index()] += 1,
        StmtKind::ParFor { reductions, .. } => reductions.iter().for_each(|r| counts[r.local.index()] = 2),
        StmtKind::Launch { results, .. } => results.iter().for_each(|local| counts[local.index()] = 2),
        _ => {}
    });
    counts.into_iter().map(|count| count == 1).collect()
}

/// A walk in program order.
struct Simplifier<'a> {
    func: &'a mut Function,
    set_once: Vec<bool>,
    /// What locals that are set once hold, from their `Set` to the end of its block.
    known: HashMap<Local, Value>,
    renamed: HashMap<Value, Value>,
    constants: HashMap<Value, Const>,
    tuples: HashMap<Value, Vec<Value>>,
}

impl Simplifier<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut set_here = Vec::new();
        for mut stmt in mem::take(&mut block.0) {
            stmt_operands_mut(&mut stmt.kind, &mut |v| {
                if let Some(new) = self.renamed.get(v) {
                    *v = *new;
                }
            });
            match &mut stmt.kind {
                StmtKind::Let(value, op) => {
                    if let Some(same) = self.same_as(op) {
                        self.renamed.insert(*value, same);
                        continue;
                    }
                    if let Some(constant) = self.constant(*value, op) {
                        self.constants.insert(*value, constant);
                        *op = Op::Const(constant);
                    }
                    if let Op::Tuple(items) = op {
                        self.tuples.insert(*value, items.clone());
                    }
                }
                StmtKind::Set(local, value) if self.set_once[local.index()] => {
                    self.known.insert(*local, *value);
                    set_here.push(*local);
                }
                StmtKind::If { cond, then, other } => {
                    if let Some(Const::Bool(cond)) = self.constants.get(cond) {
                        let taken = if *cond { then } else { other };
                        self.block(taken);
                        block.0.append(&mut taken.0);
                        if ends(block) {
                            break;
                        }
                        continue;
                    }
                    self.block(then);
                    self.block(other);
                }
                kind => blocks_mut(kind).for_each(|inner| self.block(inner)),
            }
            block.0.push(stmt);
        }
        for local in set_here {
            self.known.remove(&local);
        }
    }

    /// The value that an operation gives back as it is.
    fn same_as(&self, op: &Op) -> Option<Value> {
        match op {
            Op::Get(local) => self.known.get(local).copied(),
            Op::Item(tuple, i) => self.tuples.get(tuple)?.get(*i as usize).copied(),
            Op::Select(cond, a, b) => match self.constants.get(cond)? {
                Const::Bool(true) => Some(*a),
                _ => Some(*b),
            },
            Op::Binary(op, a, b) if fold::is_identity(*op, *self.constants.get(b)?) => Some(*a),
            _ => None,
        }
    }

    fn constant(&self, value: Value, op: &Op) -> Option<Const> {
        let known = |v: &Value| self.constants.get(v).copied();
        match op {
            Op::Const(c) => Some(*c),
            Op::Unary(op, a) => eval::unary(*op, known(a)?),
            // A power of floats is the math library's business.
            Op::Binary(BinOp::IntPow, a, _) if !known(a)?.scalar().is_int() => None,
            Op::Binary(op, a, b) => eval::binary(*op, known(a)?, known(b)?),
            Op::Compare(op, a, b) => eval::compare(*op, known(a)?, known(b)?).map(Const::Bool),
            Op::Cast(a) => eval::cast(known(a)?, self.func.ty(value).scalar()?),
            _ => None,
        }
    }
}

fn drop_dead(func: &mut Function) {
    let mut gets = vec![0; func.locals.len()];
    if let FuncKind::Loop { reductions, .. } = &func.kind {
        reductions.iter().for_each(|r| gets[r.local.index()] += 1);
    }
    walk(&func.body, &mut |kind| match kind {
        StmtKind::Let(_, Op::Get(local)) => gets[local.index()] += 1,
        StmtKind::ParFor { reductions, .. } => reductions.iter().for_each(|r| gets[r.local.index()] += 1),
        StmtKind::Launch { results, .. } => results.iter().for_each(|local| gets[local.index()] += 1),
        _ => {}
    });
    let mut uses = Uses {
        values: use_counts(func),
        gets,
    };
    uses.sweep(&mut func.body);
}

/// How often values and locals are still read.
struct Uses {
    values: Vec<u32>,
    gets: Vec<u32>,
}

impl Uses {
    /// Drops dead statements, last first, so that one sweep sees a value after everything that reads it.
    fn sweep(&mut self, block: &mut Block) {
        let mut kept = Vec::with_capacity(block.0.len());
        for mut stmt in mem::take(&mut block.0).into_iter().rev() {
            let inner: Vec<_> = blocks_mut(&mut stmt.kind).collect();
            inner.into_iter().rev().for_each(|inner| self.sweep(inner));
            if self.is_dead(&stmt) {
                stmt_operands(&stmt.kind, &mut |v| self.values[v.index()] -= 1);
                if let StmtKind::Let(_, Op::Get(local)) = &stmt.kind {
                    self.gets[local.index()] -= 1;
                }
            } else {
                kept.push(stmt);
            }
        }
        kept.reverse();
        block.0 = kept;
    }

    fn is_dead(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Let(value, op) => self.values[value.index()] == 0 && is_pure(op),
            StmtKind::Set(local, _) => self.gets[local.index()] == 0,
            StmtKind::If { then, other, .. } => then.0.is_empty() && other.0.is_empty(),
            StmtKind::For { body, .. } | StmtKind::Scope(_, body) => body.0.is_empty(),
            _ => false,
        }
    }
}

/// May the operation be dropped if nobody reads its value?
fn is_pure(op: &Op) -> bool {
    !matches!(op, Op::Load { .. } | Op::Atomic { .. } | Op::Alloc { .. } | Op::Call(..))
}
