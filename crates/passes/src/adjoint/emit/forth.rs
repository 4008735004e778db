//! Replays: what a frame's slice holds, forwards.

use std::collections::HashMap;

use weft_ir::{AxisSlice, Block, FuncKind, Local, Op, Reduction, StmtKind, Type, Value};

use super::super::tree::{FrameId, FrameKind, NodeId, NodeKind, TOP};
use super::Emitter;

impl Emitter<'_> {
    /// Goes forwards through nodes of a frame, or (`copied`) of one inside of it. What is made in a block that ends before the way back
    /// (`passing`) travels in locals.
    pub(super) fn forth(&mut self, frame: FrameId, list: &[NodeId], passing: bool, copied: bool) {
        for id in list {
            if !self.in_slice(frame, *id) {
                continue;
            }
            let node = self.tree.node(*id);
            self.b.span = node.span;
            match &node.kind {
                NodeKind::Let(value, op) => {
                    self.define(frame, *id, *value, op);
                    if passing && !copied {
                        self.spill(*value);
                    }
                }
                NodeKind::Set(local, value) => {
                    let new = self.value(*value);
                    let to = self.local(*local);
                    self.b.set(to, new);
                    // What was never set is part of no memory.
                    if self.tracks(*local) && !self.parts.roots.of(*value).is_empty() {
                        let shadow = self.shadow(*value);
                        self.set_shadow(*local, shadow);
                    }
                }
                NodeKind::Plain(kind) => {
                    let mut kind = kind.clone();
                    let mut operands = Vec::new();
                    kind.operands(&mut |value| operands.push(value));
                    let mut new: Vec<Value> = operands.into_iter().map(|value| self.value(value)).collect();
                    new.reverse();
                    kind.operands_mut(&mut |value| {
                        if let Some(next) = new.pop() {
                            *value = next;
                        }
                    });
                    self.b.push(kind);
                }
                NodeKind::If { cond, then, other } => {
                    let cond = self.value(*cond);
                    let then = self.branch_forth(frame, then, copied);
                    let other = self.branch_forth(frame, other, copied);
                    self.b.span = node.span;
                    self.b.push(StmtKind::If { cond, then, other });
                }
                NodeKind::Loop(inner) => self.forth_loop(frame, *inner, passing, copied),
                NodeKind::Result(_) => {}
            }
        }
    }

    fn branch_forth(&mut self, frame: FrameId, list: &[NodeId], copied: bool) -> Block {
        self.open();
        self.forth(frame, list, true, copied);
        self.close()
    }

    fn define(&mut self, frame: FrameId, id: NodeId, value: Value, op: &Op) {
        let ty = self.tree.ty(value).clone();
        if let (Op::Load { view, .. }, Some(position)) = (op, self.parts.plan.taped.get(&id).copied()) {
            let home = self.home(*view);
            if !self.tree.within(home, frame) {
                let read = self.read_tape(id, position);
                return self.values.insert(value, read);
            }
            let op = self.translated(op);
            let read = self.b.emit(ty, op);
            self.values.insert(value, read);
            if home == frame {
                self.write_tape(id, position, read);
            }
            return;
        }
        let new_op = match op {
            Op::Get(local) => Op::Get(self.local(*local)),
            op => self.translated(op),
        };
        let made = self.b.emit(ty, new_op);
        self.values.insert(value, made);
        if self.tree.ty(value).view().is_none() || !self.parts.activity.has_shadow(self.parts.roots, value) {
            return;
        }
        match op {
            Op::Get(local) => {
                let ty = self.shadow_ty(value);
                let from = self.shadow_local(*local, ty);
                let got = self.b.get(from);
                self.shadows.insert(value, got);
            }
            Op::Alloc { shape, .. } => {
                let shape = shape.iter().map(|len| self.value(*len)).collect();
                let ty = self.tree.ty(value).clone();
                let shadow = self.b.emit(ty, Op::Alloc { zeroed: true, shape });
                self.shadows.insert(value, shadow);
            }
            _ => {}
        }
    }

    /// The frame that the memory of a view comes to be in.
    fn home(&self, view: Value) -> FrameId {
        let roots = self.parts.roots.of(view);
        let homes = roots.iter().map(|root| self.parts.roots.home(self.tree, *root));
        homes.max().unwrap_or(TOP)
    }

    /// Keeps a value, and the shadow that was made with it, for the way back.
    fn spill(&mut self, value: Value) {
        if !self.parts.plan.kept.contains(&value) {
            return;
        }
        if let Some(made) = self.values.get(value) {
            let ty = self.b.ty(made);
            let func = &mut self.b.func;
            let local = *self.spilled.entry(value).or_insert_with(|| func.new_local(ty, "kept"));
            self.b.set(local, made);
        }
        if let Some(shadow) = self.shadows.get(value) {
            let ty = self.b.ty(shadow);
            let func = &mut self.b.func;
            let local = *self.shadows_spilled.entry(value).or_insert_with(|| func.new_local(ty, "kept"));
            self.b.set(local, shadow);
        }
    }

    /// Is a local one of views that have shadows?
    pub(super) fn tracks(&self, local: Local) -> bool {
        if self.tree.func.local_ty(local).view().is_none() {
            return false;
        }
        let sets = self.tree.sets.get(&local).into_iter().flatten();
        let mut values = sets.filter_map(|node| match self.tree.node(*node).kind {
            NodeKind::Set(_, value) => Some(value),
            _ => None,
        });
        values.any(|value| self.parts.activity.has_shadow(self.parts.roots, value))
    }

    pub(super) fn shadow_local(&mut self, local: Local, ty: Type) -> Local {
        let func = &mut self.b.func;
        *self.shadow_locals.entry(local).or_insert_with(|| func.new_local(ty, "shadow"))
    }

    /// All that is assigned to a local has shadows of one type, or they are made so.
    fn set_shadow(&mut self, local: Local, shadow: Value) {
        let ty = self.shadow_local_ty(local);
        let to = self.shadow_local(local, ty.clone());
        let mut shadow = shadow;
        if let Some(view) = ty.view().filter(|_| self.b.ty(shadow) != ty) {
            let axes = vec![AxisSlice::Full; usize::from(view.rank)];
            shadow = self.b.emit(ty, Op::Slice { view: shadow, axes });
        }
        self.b.set(to, shadow);
    }

    pub(super) fn shadow_local_ty(&self, local: Local) -> Type {
        let get = self.tree.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Let(value, Op::Get(of)) if *of == local => Some(*value),
            _ => None,
        });
        get.map_or_else(|| self.tree.func.local_ty(local).clone(), |get| self.shadow_ty(get))
    }

    /// The locals that a loop's turns read and do not set, with the values that stand for what they hold before it.
    pub(super) fn before(&self, inner: FrameId) -> Vec<(Local, Value)> {
        let all = self.parts.plan.before.iter().filter(|((of, _), _)| *of == inner);
        let mut found: Vec<(Local, Value)> = all.map(|((_, local), value)| (*local, *value)).collect();
        found.sort_unstable();
        found
    }

    fn forth_loop(&mut self, frame: FrameId, inner: FrameId, passing: bool, copied: bool) {
        let own = !copied && self.tree.frame(inner).parent == frame;
        if own {
            for (local, value) in self.before(inner) {
                let from = self.local(local);
                let got = self.b.get(from);
                self.values.insert(value, got);
                if self.tracks(local) {
                    let ty = self.shadow_local_ty(local);
                    let from = self.shadow_local(local, ty);
                    let got = self.b.get(from);
                    self.shadows.insert(value, got);
                }
                if passing {
                    self.spill(value);
                }
            }
        }
        let runs = self.parts.plan.slices.get(&frame).is_some_and(|slice| slice.loops.contains(&inner));
        if !runs {
            return;
        }
        let entry = self.tree.frame(inner);
        let (kind, stop, body, span) = (entry.kind.clone(), entry.stop, entry.body.clone(), self.tree.node(entry.node).span);
        if let FrameKind::Points {
            vars,
            extents,
            reductions,
            spread,
            ..
        } = &kind
        {
            let extents: Vec<Value> = extents.iter().map(|extent| self.value(*extent)).collect();
            let wanted: Vec<Reduction> = reductions.iter().copied().filter(|r| self.wants_local(frame, r.local)).collect();
            let reductions: Vec<Reduction> = wanted
                .iter()
                .map(|r| Reduction {
                    local: self.local(r.local),
                    ..*r
                })
                .collect();
            self.open();
            let vars = self.new_vars(vars);
            self.forth(frame, &body, true, true);
            let body = self.close();
            self.b.span = span;
            return self.b.push(StmtKind::ParFor {
                vars,
                extents,
                reductions,
                spread: *spread,
                body,
            });
        }
        let records = own && self.parts.plan.counted.contains(&inner);
        if records {
            self.start_record(inner);
        }
        let header = match &kind {
            FrameKind::Counted {
                var, start, stop, step, ..
            } => Some((*var, self.value(*start), self.value(*stop), self.value(*step))),
            _ => None,
        };
        self.open();
        let var = header.and_then(|(var, ..)| self.new_vars(&[var]).pop());
        if records {
            self.record(inner);
        }
        self.forth(frame, &body, true, true);
        if let Some(stop) = stop {
            let local = self.local(stop);
            let cond = self.b.get(local);
            self.open();
            self.b.push(StmtKind::Break);
            let then = self.close();
            self.b.push(StmtKind::If {
                cond,
                then,
                other: Block::default(),
            });
        }
        let body = self.close();
        self.b.span = span;
        match (header, var) {
            (Some((_, start, stop, step)), Some(var)) => self.b.push(StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            }),
            _ => self.b.push(StmtKind::Loop(body)),
        }
    }

    fn wants_local(&self, frame: FrameId, local: Local) -> bool {
        self.parts
            .plan
            .slices
            .get(&frame)
            .is_some_and(|slice| slice.locals.contains(&local))
    }

    pub(super) fn new_vars(&mut self, vars: &[Value]) -> Vec<Value> {
        let mut made = Vec::new();
        for var in vars {
            let new = self.b.func.new_value(Type::I64);
            self.values.insert(*var, new);
            made.push(new);
        }
        made
    }

    /// Gives the points of an index space locals of their own, but for what they reduce; gives those of before.
    pub(super) fn private_locals(&mut self, space: FrameId, reduced: &[Reduction]) -> HashMap<Local, Local> {
        let outer = self.locals.clone();
        for local in self.locals_set_in(space) {
            if !reduced.iter().any(|r| r.local == local) {
                self.locals.remove(&local);
            }
        }
        outer
    }

    pub(super) fn is_host(&self) -> bool {
        self.tree.func.kind == FuncKind::Host
    }
}
