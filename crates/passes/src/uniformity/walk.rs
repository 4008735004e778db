//! The walk of uniformity over a function's statements, which is made again until it finds nothing new: which lanes may be parked where, and
//! what that makes of the values and locals that are set meanwhile.

use std::collections::HashMap;

use weft_ir::{Const, FuncKind, Function, Label, Local, Op, StmtKind, Type, Value};

use super::{Calls, Class, Facts, Lanes, Uniformity};
use crate::liveness::{Liveness, LocalSet};
use crate::numbering::{Node, Numbered, Numbering, StmtId};

/// A place where lanes may wait; see [`Facts`].
struct Frame {
    kind: FrameKind,
    owner: Option<StmtId>,
    waits: bool,
    /// What a waiting lane may still read.
    live: LocalSet,
    /// Not all gangs of the block come through the inside alike.
    uneven: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameKind {
    Side,
    Next,
    After,
    Scope(Label),
    End,
}

pub(super) struct Walk<'a> {
    pub func: &'a Function,
    pub lanes: Lanes,
    pub calls: &'a Calls,
    live: Liveness,
    pub consts: HashMap<Value, i64>,
    /// Class of a view value's shape; the entry in `values` is that of its address.
    pub shapes: Vec<Class>,
    frames: Vec<Frame>,
    pub out: Uniformity,
    changed: bool,
}

impl<'a> Walk<'a> {
    pub fn new(func: &'a Function, lanes: Lanes, calls: &'a Calls) -> Walk<'a> {
        let mut consts = HashMap::new();
        func.body.walk(&mut |kind| {
            if let StmtKind::Let(value, Op::Const(Const::Int(_, v))) = kind {
                consts.insert(*value, *v);
            }
        });
        let mut out = Uniformity {
            values: vec![Class::Unset; func.values.len()],
            locals: vec![Class::Unset; func.locals.len()],
            ..Uniformity::default()
        };
        let params = if lanes == Lanes::Callers { Class::Varying } else { Class::Block };
        for param in &func.params {
            out.values[param.index()] = params;
        }
        let mut at_end = LocalSet::default();
        if let FuncKind::Loop { rank, reductions } = &func.kind {
            for index in &func.params[..*rank as usize] {
                out.values[index.index()] = Class::Gang;
            }
            if let (Some(last), Lanes::Points) = (func.params[..*rank as usize].last(), lanes) {
                out.values[last.index()] = Class::Affine(1);
            }
            for r in reductions {
                at_end.insert(r.local);
                out.locals[r.local.index()] = if lanes == Lanes::Points { Class::Varying } else { Class::Gang };
            }
        }
        let end = Frame {
            kind: FrameKind::End,
            owner: None,
            waits: true,
            live: at_end,
            uneven: false,
        };
        let shapes = vec![Class::Block; func.values.len()];
        Walk {
            func,
            lanes,
            calls,
            live: Liveness::of(func),
            consts,
            shapes,
            frames: vec![end],
            out,
            changed: false,
        }
    }

    pub fn fixpoint(mut self) -> Uniformity {
        let numbering = Numbering::of(&self.func.body);
        loop {
            self.changed = false;
            self.block(numbering.body());
            if !self.changed && !self.settle() {
                return self.out;
            }
        }
    }

    /// Locals that are read but never set hold anything; says whether there were any.
    fn settle(&mut self) -> bool {
        let unset = self.out.locals.iter_mut().filter(|class| **class == Class::Unset);
        unset.map(|class| *class = Class::Block).count() > 0
    }

    pub fn class(&self, value: Value) -> Class {
        self.out.values[value.index()]
    }

    fn set_value(&mut self, value: Value, class: Class) {
        let joined = self.class(value).join(class);
        if joined != self.class(value) {
            self.out.values[value.index()] = joined;
            self.changed = true;
        }
    }

    fn note(&mut self, owner: StmtId, change: impl FnOnce(&mut Facts)) {
        let before = self.out.facts_of(owner);
        let mut facts = before;
        change(&mut facts);
        if facts != before {
            self.out.facts.insert(owner, facts);
            self.changed = true;
        }
    }

    fn block(&mut self, block: Numbered<'_>) {
        block.iter().for_each(|node| self.stmt(node));
    }

    fn stmt(&mut self, node: Node<'_>) {
        let id = node.id;
        match &node.stmt.kind {
            StmtKind::Let(value, op) => self.define(*value, op),
            StmtKind::Set(local, value) => self.set(id, *local, *value),
            StmtKind::If { cond, then, other } => {
                let [then, other] = node.sides(then, other);
                self.branch(id, *cond, then, other);
            }
            StmtKind::Loop(body) => self.looping(id, false, node.body(body)),
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => {
                let (start, stop, step) = (self.class(*start), self.class(*stop), self.class(*step));
                self.set_value(*var, counter(start, step));
                let range = start.with(stop).with(step);
                if !range.is_uniform() {
                    self.note(id, |f| f.waits = true);
                }
                self.looping(id, !matches!(range, Class::Block | Class::Unset), node.body(body));
            }
            StmtKind::Scope(label, body) => {
                let facts = self.out.facts_of(id);
                let live = self.live.after(id).clone();
                self.inside(FrameKind::Scope(*label), id, facts.waits, facts.uneven, live, node.body(body));
            }
            StmtKind::Leave(label) => self.jump(FrameKind::Scope(*label)),
            StmtKind::Break => self.jump(FrameKind::After),
            StmtKind::Continue => self.jump(FrameKind::Next),
            StmtKind::Return(_) | StmtKind::Raise { .. } => self.jump(FrameKind::End),
            // Only host functions have index spaces, and they have no lanes.
            StmtKind::ParFor { .. } | StmtKind::Launch { .. } => {}
            StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Print(_) => {}
        }
    }

    fn inside(&mut self, kind: FrameKind, owner: StmtId, waits: bool, uneven: bool, live: LocalSet, body: Numbered<'_>) {
        self.frames.push(Frame {
            kind,
            owner: Some(owner),
            waits,
            live,
            uneven,
        });
        self.block(body);
        self.frames.pop();
    }

    fn branch(&mut self, id: StmtId, cond: Value, then: Numbered<'_>, other: Numbered<'_>) {
        let class = self.class(cond);
        let (diverges, uneven) = (!class.is_uniform(), !matches!(class, Class::Block | Class::Unset));
        let after = self.live.after(id).clone();
        let mut live = after.clone();
        live.union(self.live.other(id));
        self.inside(FrameKind::Side, id, diverges, uneven, live, then);
        self.inside(FrameKind::Side, id, diverges, uneven, after, other);
    }

    fn looping(&mut self, id: StmtId, uneven: bool, body: Numbered<'_>) {
        let facts = self.out.facts_of(id);
        let uneven = uneven || facts.uneven;
        let (after, head) = (self.live.after(id).clone(), self.live.head(id).clone());
        self.frames.push(Frame {
            kind: FrameKind::After,
            owner: Some(id),
            waits: facts.waits,
            live: after,
            uneven,
        });
        self.inside(FrameKind::Next, id, facts.next_waits, uneven, head, body);
        self.frames.pop();
    }

    /// Lanes that jump while others may be parked on the way leave those others behind.
    fn jump(&mut self, target: FrameKind) {
        let Some(at) = self.frames.iter().rposition(|f| f.kind == target) else {
            return;
        };
        let owner = self.frames[at].owner;
        if self.frames[at + 1..].iter().any(|f| f.uneven) {
            match owner {
                Some(owner) => self.note(owner, |f| f.uneven = true),
                None => {
                    self.changed |= !self.out.uneven_returns;
                    self.out.uneven_returns = true;
                }
            }
        }
        if !self.frames[at + 1..].iter().any(|f| f.waits) {
            return;
        }
        match (target, owner) {
            (FrameKind::Next, Some(owner)) => self.note(owner, |f| f.next_waits = true),
            (FrameKind::After, Some(owner)) => self.note(owner, |f| {
                f.breaks = true;
                f.waits = true;
            }),
            (FrameKind::Scope(_), Some(owner)) => self.note(owner, |f| f.waits = true),
            _ if !self.out.returns => {
                self.out.returns = true;
                self.changed = true;
            }
            _ => {}
        }
        let passed: Vec<StmtId> = self.frames[at + 1..]
            .iter()
            .filter(|f| f.kind != FrameKind::Next)
            .filter_map(|f| f.owner)
            .collect();
        for owner in passed {
            self.note(owner, |f| f.lossy = true);
        }
    }

    fn set(&mut self, id: StmtId, local: Local, value: Value) {
        let blend = self.frames.iter().any(|f| f.waits && f.live.contains(local));
        let mut class = self.class(value);
        if matches!(self.func.local_ty(local), Type::View(_)) && !class.is_uniform() {
            class = Class::Varying;
        }
        if blend {
            class = Class::Varying;
            self.changed |= self.out.blends.insert(id);
        }
        if class == Class::Block && self.frames.iter().any(|f| f.uneven) {
            class = Class::Gang;
        }
        let old = self.out.locals[local.index()];
        let joined = old.join(class);
        if joined != old {
            self.out.locals[local.index()] = joined;
            self.changed = true;
        }
    }

    fn define(&mut self, value: Value, op: &Op) {
        let class = self.op(op, value);
        self.set_value(value, class);
        let shape = self.shape(op);
        let joined = self.shapes[value.index()].join(shape);
        if joined != self.shapes[value.index()] {
            self.shapes[value.index()] = joined;
            self.changed = true;
        }
    }
}

/// All lanes that still run have run as often, so that with a uniform step a counter is what its start is.
fn counter(start: Class, step: Class) -> Class {
    match (start.is_uniform(), step.is_uniform()) {
        (true, true) => start.join(step),
        (false, true) => start,
        _ => Class::Varying,
    }
}
