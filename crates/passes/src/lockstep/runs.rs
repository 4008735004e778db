//! Predication of statements between meetings: what all threads compute stands before the guard, the rest inside.

use std::collections::HashSet;
use std::mem;

use weft_ir::{Block, Effect, Label, Local, Op, Stmt, StmtKind, Value};

use super::frames::{Code, target_of};
use super::together::{i32, if_then};
use super::walk::Walk;
use crate::numbering::{Node, StmtId};
use crate::uniformity::Class;

/// The statements of a run that only threads do which are here.
#[derive(Default)]
struct Guarded {
    stmts: Vec<Stmt>,
    set: HashSet<Local>,
    read: HashSet<Local>,
    writes: bool,
}

impl Guarded {
    fn push(&mut self, stmt: Stmt) {
        let mut see = |kind: &StmtKind| {
            if let StmtKind::Let(_, Op::Get(local)) = kind {
                self.read.insert(*local);
            }
            kind.sets(&mut |local| _ = self.set.insert(local));
            self.writes |= matches!(kind.effect(), Effect::Store | Effect::Atomic);
        };
        stmt.kind.walk(&mut see);
        self.stmts.push(stmt);
    }
}

impl Walk<'_> {
    /// Statements that neither hold meetings nor jump to where such follow.
    pub fn run(&mut self, stmts: &[&Stmt]) {
        if self.waiting.is_empty() {
            for stmt in stmts {
                if let StmtKind::Let(value, _) = &stmt.kind {
                    self.note(*value, false, self.info.values[value.index()] == Class::Block);
                }
                self.push(stmt);
            }
            return;
        }
        let mut guarded = Guarded::default();
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let(value, op) => {
                    let loads = matches!(op, Op::Load { .. });
                    if loads && guarded.writes && self.is_common_load(*value, op) {
                        self.flush(&mut guarded);
                    }
                    let free = match op {
                        Op::Get(local) => !guarded.set.contains(local),
                        Op::Load { .. } => self.is_common_load(*value, op),
                        op => op.effect().is_free() && !self.reads_inside(op),
                    };
                    self.note(*value, !free, free && self.is_common(*value, op));
                    if free {
                        self.push(stmt);
                    } else {
                        guarded.push((*stmt).clone());
                    }
                }
                StmtKind::Set(local, value) if self.is_kept_up(*local) && self.common[value.index()] => {
                    if guarded.read.contains(local) || guarded.set.contains(local) {
                        self.flush(&mut guarded);
                    }
                    self.push(stmt);
                }
                _ => {
                    self.set_apart(stmt);
                    guarded.push((*stmt).clone());
                }
            }
        }
        self.flush(&mut guarded);
    }

    /// What follows the last meeting: nobody waits for anybody any more.
    pub fn rest(&mut self, stmts: &[&Stmt]) {
        self.guarded(|walk| stmts.iter().for_each(|stmt| walk.push(stmt)));
    }

    fn push(&mut self, stmt: &Stmt) {
        self.b.span = stmt.span;
        self.b.push(stmt.kind.clone());
    }

    fn flush(&mut self, guarded: &mut Guarded) {
        let Guarded { stmts, .. } = mem::take(guarded);
        if let Some(first) = stmts.first() {
            self.b.span = first.span;
            self.guarded(|walk| {
                for stmt in stmts {
                    walk.b.span = stmt.span;
                    walk.b.push(stmt.kind);
                }
            });
        }
    }

    fn reads_inside(&self, op: &Op) -> bool {
        let mut found = false;
        op.operands(&mut |v| found |= self.inside[v.index()]);
        found
    }

    /// Is the value of a free operation the same in all threads, those that are elsewhere included?
    fn is_common(&self, value: Value, op: &Op) -> bool {
        let mut all = self.info.values[value.index()] == Class::Block;
        op.operands(&mut |v| all &= self.common[v.index()]);
        match op {
            Op::Get(local) => all && self.is_kept_up(*local),
            _ => all,
        }
    }

    /// Every thread may load it: one does that is here, and all load the same.
    fn is_common_load(&self, value: Value, op: &Op) -> bool {
        matches!(op, Op::Load { .. }) && self.alive && self.is_common(value, op)
    }

    fn is_kept_up(&self, local: Local) -> bool {
        self.info.locals[local.index()] == Class::Block && !self.facts.apart.contains(&local)
    }

    /// Threads that are elsewhere do not see what the statement sets.
    fn set_apart(&mut self, stmt: &Stmt) {
        let mut set = Vec::new();
        let mut see = |kind: &StmtKind| {
            if let StmtKind::Set(local, _) = kind {
                set.push(*local);
            }
        };
        stmt.kind.walk(&mut see);
        set.into_iter().for_each(|local| self.facts.set_apart(local));
    }

    /// A statement without meetings out of which some threads jump: they only take note of where to.
    pub fn exits(&mut self, node: Node<'_>) {
        self.set_apart(node.stmt);
        self.b.span = node.stmt.span;
        let label = Label(self.next_label);
        self.next_label += 1;
        let mut jumps = Vec::new();
        let mut body = Block(vec![node.stmt.clone()]);
        self.divert(&mut body, &[node], &mut Inside::default(), label, &mut jumps);
        self.guarded(|walk| walk.b.push(StmtKind::Scope(label, body)));
        jumps.into_iter().for_each(|(depth, code)| self.left_for(depth, code));
    }

    /// Replaces jumps that lead out of the block, a copy of the statements `nodes`.
    fn divert(&mut self, block: &mut Block, nodes: &[Node<'_>], inside: &mut Inside, label: Label, jumps: &mut Vec<(usize, Code)>) {
        for (mut stmt, node) in mem::take(&mut block.0).into_iter().zip(nodes) {
            if inside.keeps(&stmt.kind) || !is_jump(&stmt.kind) {
                let opened = inside.open(&stmt.kind);
                for (inner, numbered) in stmt.kind.blocks_mut().zip(node.blocks()) {
                    let nodes: Vec<_> = numbered.iter().collect();
                    self.divert(inner, &nodes, inside, label, jumps);
                }
                inside.close(opened);
                block.0.push(stmt);
                continue;
            }
            let Some((depth, code)) = self.destination(node.id, &stmt) else {
                block.0.push(stmt);
                continue;
            };
            jumps.push((depth, code));
            let span = stmt.span;
            let value = self.b.func.new_value(weft_ir::Scalar::I32.into());
            let kinds = [
                StmtKind::Let(value, Op::Const(i32(code.0.into()))),
                StmtKind::Set(self.skip, value),
                StmtKind::Leave(label),
            ];
            block.0.extend(kinds.map(|kind| Stmt { kind, span }));
        }
    }

    /// Where a jump leads, and what `skip` holds in a thread that waits there.
    pub fn destination(&mut self, id: StmtId, stmt: &Stmt) -> Option<(usize, Code)> {
        let depth = target_of(&self.frames, &stmt.kind)?;
        let code = match &stmt.kind {
            StmtKind::Raise { .. } => {
                let code = Code::raises(id);
                if !self.raises.iter().any(|(known, _)| *known == code) {
                    self.raises.push((code, stmt.clone()));
                }
                code
            }
            _ => self.frames[depth].code,
        };
        Some((depth, code))
    }

    /// Does what `fill` writes only in threads that are here.
    pub fn guarded(&mut self, fill: impl FnOnce(&mut Self)) {
        match self.here() {
            None => fill(self),
            Some(here) => {
                self.b.open();
                fill(self);
                let then = self.b.close();
                self.b.push(if_then(here, then));
            }
        }
    }
}

/// Loops and scopes around a statement that are left whole.
#[derive(Default)]
struct Inside {
    loops: usize,
    labels: Vec<Label>,
}

impl Inside {
    fn keeps(&self, jump: &StmtKind) -> bool {
        match jump {
            StmtKind::Break | StmtKind::Continue => self.loops > 0,
            StmtKind::Leave(label) => self.labels.contains(label),
            _ => false,
        }
    }

    fn open(&mut self, kind: &StmtKind) -> (usize, usize) {
        let before = (self.loops, self.labels.len());
        match kind {
            StmtKind::Loop(_) | StmtKind::For { .. } => self.loops += 1,
            StmtKind::Scope(label, _) => self.labels.push(*label),
            _ => {}
        }
        before
    }

    fn close(&mut self, (loops, labels): (usize, usize)) {
        self.loops = loops;
        self.labels.truncate(labels);
    }
}

pub fn is_jump(kind: &StmtKind) -> bool {
    matches!(
        kind,
        StmtKind::Leave(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise { .. }
    )
}

/// Does the statement jump out of itself?
pub fn jumps_out(stmt: &Stmt) -> bool {
    fn search(stmt: &Stmt, inside: &mut Inside) -> bool {
        if is_jump(&stmt.kind) {
            return !inside.keeps(&stmt.kind);
        }
        let opened = inside.open(&stmt.kind);
        let found = stmt.kind.blocks().any(|block| block.0.iter().any(|stmt| search(stmt, inside)));
        inside.close(opened);
        found
    }
    search(stmt, &mut Inside::default())
}
