//! Serialization of parallel loops: those inside lanes, those in functions that are no host's, and those over no axes at all, become a nest
//! of `For`s.
//!
//! Locals that a point sets are private to it. In the nest they become fresh locals, which start as what the outer ones hold where a point
//! may read them first; reductions are then ordinary sums into the outer local, but for those whose order is fixed (see `ordered`).

use std::collections::HashMap;
use std::mem;

use weft_ir::{Block, Builder, Const, FuncKind, Function, Id, Label, Local, Op, Reduction, Span, Spread, Stmt, StmtKind, Type, Value};

use super::ordered::{self, IndexSpace};
use crate::inline::label_count;
use crate::liveness::{LocalSet, live_into};

/// `blocks`: index spaces, by their last index, that are one block of the fixed order each.
pub fn run(func: &mut Function, blocks: Vec<Value>) {
    let inside = func.kind != FuncKind::Host;
    let next_label = label_count(&func.body);
    let mut body = mem::take(&mut func.body);
    Nester { func, next_label, blocks }.block(&mut body, inside);
    func.body = body;
}

pub struct Nester<'a> {
    pub func: &'a mut Function,
    pub next_label: u32,
    /// Index spaces, by their last index, that are one block of the fixed order each.
    pub blocks: Vec<Value>,
}

impl Nester<'_> {
    pub fn block(&mut self, block: &mut Block, inside: bool) {
        for mut stmt in mem::take(&mut block.0) {
            match stmt.kind {
                StmtKind::ParFor {
                    vars,
                    extents,
                    reductions,
                    mut body,
                    ..
                } if inside || vars.is_empty() => {
                    self.block(&mut body, true);
                    self.one_by_one((&vars, &extents, &reductions), body, stmt.span, &mut block.0);
                }
                ref mut kind => {
                    let inside = inside || matches!(kind, StmtKind::ParFor { spread, .. } if *spread != Spread::Threads);
                    for inner in kind.blocks_mut() {
                        self.block(inner, inside);
                    }
                    block.0.push(stmt);
                }
            }
        }
    }

    /// The points one after the other.
    pub fn one_by_one(
        &mut self,
        space @ (vars, extents, reductions): (&[Value], &[Value], &[Reduction]),
        mut body: Block,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        self.privatize(&mut body, reductions, span);
        match ordered::shows(self.func, reductions) && !vars.is_empty() {
            true => self.in_fixed_order(space, body, span, out),
            false => self.nest(vars, extents, body, span, out),
        }
    }

    /// Gives a body its own locals in place of those it sets, reductions aside.
    fn privatize(&mut self, body: &mut Block, reductions: &[Reduction], span: Span) {
        let reduced: LocalSet = reductions.iter().map(|reduction| reduction.local).collect();
        let mut set = LocalSet::default();
        body.walk(&mut |kind| kind.sets(&mut |local| set.insert(local)));
        let private: HashMap<Local, Local> = set
            .iter()
            .filter(|local| !reduced.contains(*local))
            .map(|local| {
                let data = self.func.locals[local.index()].clone();
                (local, self.func.new_local(data.ty, data.name))
            })
            .collect();
        let live = live_into(body, &reduced);
        rename_locals(body, &private);
        let mut start = Vec::new();
        for outer in live.iter() {
            if let Some(inner) = private.get(&outer) {
                let value = self.func.new_value(self.func.local_ty(outer).clone());
                for kind in [StmtKind::Let(value, Op::Get(outer)), StmtKind::Set(*inner, value)] {
                    start.push(Stmt { kind, span });
                }
            }
        }
        body.0.splice(0..0, start);
    }

    fn in_fixed_order(
        &mut self,
        (vars, extents, reductions): (&[Value], &[Value], &[Reduction]),
        mut body: Block,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let label = Label(self.next_label);
        self.next_label += 1;
        leave_instead_of_continue(&mut body, label);
        let mut b = Builder::new(mem::replace(self.func, Function::new("", FuncKind::Device)));
        b.span = span;
        let space = IndexSpace {
            vars,
            extents,
            reductions,
            one_block: vars.last().is_some_and(|last| self.blocks.contains(last)),
        };
        ordered::write(&mut b, &space, body, label);
        out.extend(b.close().0);
        *self.func = b.func;
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

fn leave_instead_of_continue(block: &mut Block, label: Label) {
    for stmt in &mut block.0 {
        match &mut stmt.kind {
            StmtKind::Continue => stmt.kind = StmtKind::Leave(label),
            StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. } => {}
            kind => kind.blocks_mut().for_each(|inner| leave_instead_of_continue(inner, label)),
        }
    }
}
