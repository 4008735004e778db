//! Serialization of parallel loops: those inside lanes, those in functions that are no host's, and those over no axes at all, become a nest
//! of `For`s.
//!
//! Locals that a point sets are private to it. In the nest they become fresh locals, which start as what the outer ones hold where a point
//! may read them first; reductions are then ordinary sums into the outer local, but for those whose order is fixed (see `ordered`).

pub mod ordered;

use std::collections::HashMap;
use std::mem;

use weft_ir::{Block, Const, FuncKind, Function, Id, Label, Local, Module, Op, Reduction, Span, Spread, Stmt, StmtKind, Type, Value};

use crate::compact;
use crate::error::PassError;
use crate::inline::label_count;
use crate::liveness::{LocalSet, live_into};
use crate::statements::written;
use ordered::IndexSpace;

/// In every function of a module whose points are threads'.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for func in &mut module.functions {
        let found = func.body.any(&mut |kind| matches!(kind, StmtKind::ParFor { .. }));
        if found {
            function(func, Vec::new())?;
            compact::function(func);
        }
    }
    Ok(())
}

/// `blocks`: index spaces, by their last index, that are one block of the fixed order each.
pub fn function(func: &mut Function, blocks: Vec<Value>) -> Result<(), PassError> {
    let inside = func.kind != FuncKind::Host;
    let next_label = label_count(&func.body);
    let mut body = mem::take(&mut func.body);
    let written = Nester { func, next_label, blocks }.block(&mut body, inside);
    func.body = body;
    written
}

pub struct Nester<'a> {
    pub func: &'a mut Function,
    pub next_label: u32,
    /// Index spaces, by their last index, that are one block of the fixed order each.
    pub blocks: Vec<Value>,
}

impl Nester<'_> {
    pub fn block(&mut self, block: &mut Block, inside: bool) -> Result<(), PassError> {
        for mut stmt in mem::take(&mut block.0) {
            match stmt.kind {
                StmtKind::ParFor {
                    vars,
                    extents,
                    reductions,
                    mut body,
                    ..
                } if inside || vars.is_empty() => {
                    self.block(&mut body, true)?;
                    self.one_by_one((&vars, &extents, &reductions), body, stmt.span, &mut block.0)?;
                }
                ref mut kind => {
                    let inside = inside || matches!(kind, StmtKind::ParFor { spread, .. } if *spread != Spread::Threads);
                    for inner in kind.blocks_mut() {
                        self.block(inner, inside)?;
                    }
                    block.0.push(stmt);
                }
            }
        }
        Ok(())
    }

    /// The points one after the other.
    pub fn one_by_one(
        &mut self,
        space @ (vars, extents, reductions): (&[Value], &[Value], &[Reduction]),
        mut body: Block,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<(), PassError> {
        privatize(self.func, &mut body, reductions, span);
        if ordered::shows(self.func, reductions) && !vars.is_empty() {
            return self.in_fixed_order(space, body, span, out);
        }
        self.nest(vars, extents, body, span, out);
        Ok(())
    }

    fn in_fixed_order(
        &mut self,
        (vars, extents, reductions): (&[Value], &[Value], &[Reduction]),
        mut body: Block,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<(), PassError> {
        let label = Label(self.next_label);
        self.next_label += 1;
        leave_instead_of_continue(&mut body, label);
        let space = IndexSpace {
            vars,
            extents,
            reductions,
            one_block: vars.last().is_some_and(|last| self.blocks.contains(last)),
        };
        written(self.func, span, out, |b| ordered::write(b, &space, body, label))
    }

    /// `for`s over the extents, the last one innermost.
    fn nest(&mut self, vars: &[Value], extents: &[Value], mut body: Block, span: Span, out: &mut Vec<Stmt>) {
        if vars.is_empty() {
            let label = Label(self.next_label);
            self.next_label += 1;
            leave_instead_of_continue(&mut body, label);
            let kind = StmtKind::Scope(label, body);
            return out.push(Stmt { kind, span });
        }
        let (start, step) = (self.func.new_value(Type::I64), self.func.new_value(Type::I64));
        for (value, constant) in [(start, 0), (step, 1)] {
            let kind = StmtKind::Let(value, Op::Const(Const::i64(constant)));
            out.push(Stmt { kind, span });
        }
        for (var, stop) in vars.iter().zip(extents).rev() {
            let kind = StmtKind::For {
                var: *var,
                start,
                stop: *stop,
                step,
                body,
            };
            body = Block(vec![Stmt { kind, span }]);
        }
        out.append(&mut body.0);
    }
}

/// Gives a body its own locals in place of those it sets, reductions aside.
pub fn privatize(func: &mut Function, body: &mut Block, reductions: &[Reduction], span: Span) {
    let reduced: LocalSet = reductions.iter().map(|reduction| reduction.local).collect();
    let mut set = LocalSet::default();
    body.walk(&mut |kind| kind.sets(&mut |local| set.insert(local)));
    let private: HashMap<Local, Local> = set
        .iter()
        .filter(|local| !reduced.contains(*local))
        .map(|local| {
            let data = func.locals[local.index()].clone();
            (local, func.new_local(data.ty, data.name))
        })
        .collect();
    let live = live_into(body, &reduced);
    rename_locals(body, &private);
    let mut start = Vec::new();
    for outer in live.iter() {
        if let Some(inner) = private.get(&outer) {
            let value = func.new_value(func.local_ty(outer).clone());
            for kind in [StmtKind::Let(value, Op::Get(outer)), StmtKind::Set(*inner, value)] {
                start.push(Stmt { kind, span });
            }
        }
    }
    body.0.splice(0..0, start);
}

fn rename_locals(block: &mut Block, renamed: &HashMap<Local, Local>) {
    for stmt in &mut block.0 {
        stmt.kind.ids_mut(&mut |id| {
            if let Id::Local(local) = id {
                *local = renamed.get(local).copied().unwrap_or(*local);
            }
        });
        for inner in stmt.kind.blocks_mut() {
            rename_locals(inner, renamed);
        }
    }
}

/// What ends a point leaves the scope around it.
pub fn leave_instead_of_continue(block: &mut Block, label: Label) {
    for stmt in &mut block.0 {
        match &mut stmt.kind {
            StmtKind::Continue => stmt.kind = StmtKind::Leave(label),
            StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. } => {}
            kind => kind.blocks_mut().for_each(|inner| leave_instead_of_continue(inner, label)),
        }
    }
}
