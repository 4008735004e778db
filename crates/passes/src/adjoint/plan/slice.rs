//! Slices: all that the replay of a frame has to compute for what is asked of it.

use std::collections::HashSet;

use weft_ir::{FuncKind, Local, Op, StmtKind, Type, Value};

use super::memory::class;
use super::{Class, Demand, Planner, Slice, Trouble, is_remade};
use crate::adjoint::roots::{Root, Roots};
use crate::adjoint::tree::{FrameId, FrameKind, NodeId, NodeKind};
use crate::error::PassError;

impl Planner<'_> {
    /// All that a frame's replay has to compute for the seeds.
    pub(super) fn close(&mut self, frame: FrameId, seeds: Vec<Demand>) -> Result<Slice, Trouble> {
        let mut slice = Slice::default();
        let mut todo = seeds;
        let mut reached = HashSet::new();
        let mut memory: HashSet<Root> = HashSet::new();
        let mut tracked: HashSet<Local> = HashSet::new();
        while let Some(demand) = todo.pop() {
            match demand {
                Demand::Value(value) => {
                    let is_var = self.tree.vars.contains_key(&value);
                    let Some(node) = self.tree.defs.get(&value).copied().filter(|_| !is_var) else {
                        if let Some(of) = self.tree.vars.get(&value).copied() {
                            match self.tree.within(of, frame) {
                                true if of != frame => todo.push(Demand::Loop(of)),
                                true => {}
                                false => drop(slice.outer.insert(value)),
                            }
                        }
                        continue;
                    };
                    let NodeKind::Let(_, op) = self.tree.node(node).kind.clone() else {
                        // It stands for what a local holds before a loop.
                        if !self.tree.within(self.tree.node(node).frame, frame) {
                            slice.outer.insert(value);
                        }
                        continue;
                    };
                    if is_remade(&op) {
                        continue;
                    }
                    if !self.tree.within(self.tree.node(node).frame, frame) {
                        slice.outer.insert(value);
                        continue;
                    }
                    if !slice.values.insert(value) {
                        continue;
                    }
                    self.span = self.tree.node(node).span;
                    todo.push(Demand::Reach(node));
                    match &op {
                        Op::Get(local) => todo.push(Demand::Local(*local)),
                        Op::Atomic { .. }
                        | Op::Warp { .. }
                        | Op::ActiveMask
                        | Op::ThreadState(_)
                        | Op::OutOfStack
                        | Op::BarrierReduce(..) => {
                            let message = format!("the way back needs the value of `{}`, which cannot be computed again", op.name());
                            return Err(PassError::new(self.span, message).into());
                        }
                        _ => {}
                    }
                    op.operands(&mut |value| todo.push(Demand::Value(value)));
                    match &op {
                        Op::Load { view, .. } => self.load(frame, node, *view, &mut todo)?,
                        Op::Routine { .. } => {
                            let message = "the way back needs what a routine of the host gives, which cannot be computed again";
                            return Err(PassError::new(self.span, message).into());
                        }
                        _ => {}
                    }
                }
                Demand::Entry(local) => drop(slice.locals.insert(local)),
                Demand::Local(local) => {
                    slice.locals.insert(local);
                    if !tracked.insert(local) {
                        continue;
                    }
                    let sets: Vec<NodeId> = self.tree.sets.get(&local).cloned().unwrap_or_default();
                    for node in sets {
                        if self.tree.within(self.tree.node(node).frame, frame) {
                            todo.push(Demand::Node(node));
                        }
                    }
                    for space in self.tree.reduced.get(&local).cloned().unwrap_or_default() {
                        if space != frame && self.tree.within(space, frame) {
                            todo.push(Demand::Loop(space));
                        }
                    }
                }
                Demand::Node(node) => {
                    if !slice.nodes.insert(node) {
                        continue;
                    }
                    todo.push(Demand::Reach(node));
                    match &self.tree.node(node).kind {
                        NodeKind::Set(_, value) => todo.push(Demand::Value(*value)),
                        NodeKind::Let(value, Op::Load { .. }) => todo.push(Demand::Value(*value)),
                        NodeKind::Let(_, op @ Op::Atomic { .. }) => op.operands(&mut |value| todo.push(Demand::Value(value))),
                        NodeKind::Let(_, op @ Op::Routine { .. }) => op.operands(&mut |value| todo.push(Demand::Value(value))),
                        NodeKind::Plain(kind) => kind.operands(&mut |value| todo.push(Demand::Value(value))),
                        _ => {}
                    }
                }
                Demand::Reach(node) => {
                    if !reached.insert(node) {
                        continue;
                    }
                    let node = self.tree.node(node);
                    todo.extend(node.conds.iter().map(|cond| Demand::Value(*cond)));
                    if node.frame != frame {
                        todo.push(Demand::Loop(node.frame));
                    }
                }
                Demand::Loop(inner) => {
                    if !slice.loops.insert(inner) {
                        continue;
                    }
                    let entry = self.tree.frame(inner);
                    todo.push(Demand::Reach(entry.node));
                    todo.extend(entry.kind.bounds().into_iter().map(Demand::Value));
                    todo.extend(entry.stop.map(Demand::Local));
                }
                Demand::Memory(root) => {
                    if !memory.insert(root) {
                        continue;
                    }
                    for node in self.roots.writers.get(&root).cloned().unwrap_or_default() {
                        todo.push(Demand::Node(node));
                    }
                    // Threads wait for what others write.
                    if !matches!(root, Root::Array(_)) || Roots::is_shared(self.tree, root) {
                        todo.extend(self.barriers(frame).into_iter().map(Demand::Node));
                    }
                }
            }
        }
        Ok(slice)
    }

    /// A load in the replay of a frame: what memory has to hold for it.
    fn load(&mut self, frame: FrameId, node: NodeId, view: Value, todo: &mut Vec<Demand>) -> Result<(), Trouble> {
        let roots = self.roots.of(view);
        let class = class(self.tree, self.roots, &self.plan.copies, node, view);
        let span = self.tree.node(node).span;
        for root in roots {
            if !self.roots.is_written(root) {
                continue;
            }
            if root == Root::Unknown {
                return Err(PassError::new(span, "the way back needs what is read here, from memory that nothing is known of").into());
            }
            let initial = class == Class::Initial && matches!(root, Root::Param(_)) && !self.plan.copies.contains(&root);
            if initial {
                continue;
            }
            if matches!(root, Root::Param(_)) {
                if self.tree.func.kind != FuncKind::Host {
                    return Err(self.overwritten(node, root).into());
                }
                self.plan.copies.insert(root);
            }
            let home = self.roots.home(self.tree, root);
            if self.roots.filled.contains_key(&root) {
                self.plan.fills.insert(root);
            }
            self.side_by_side(node, root)?;
            if self.tree.within(home, frame) {
                todo.push(Demand::Memory(root));
                continue;
            }
            match class {
                Class::Initial | Class::Last => self.seeds.entry(home).or_default().push(Demand::Memory(root)),
                Class::Taped => {
                    let between = self.tree.frames_between(self.tree.node(node).frame, home);
                    if let Some(space) = between.iter().rev().find(|frame| self.tree.frame(**frame).kind.is_points())
                        && let FrameKind::Points { number, .. } = self.tree.frame(*space).kind
                    {
                        return Err(self.in_turn(number, *space));
                    }
                    if self.tree.func.kind != FuncKind::Host {
                        return Err(self.overwritten(node, root).into());
                    }
                    let NodeKind::Let(value, _) = &self.tree.node(node).kind else {
                        continue;
                    };
                    let value = *value;
                    let position = match self.plan.taped.get(&node) {
                        Some(local) => *local,
                        None => {
                            let local = self.tree.func.new_local(Type::I64, "position");
                            self.tree.sets.entry(local).or_default().push(node);
                            self.plan.taped.insert(node, local);
                            local
                        }
                    };
                    let asked = self.seeds.entry(home).or_default();
                    asked.extend([Demand::Value(value), Demand::Local(position)]);
                    todo.push(Demand::Local(position));
                }
            }
        }
        Ok(())
    }

    pub(super) fn barriers(&self, frame: FrameId) -> Vec<NodeId> {
        let all = self.tree.nodes.iter().enumerate();
        all.filter(|(_, node)| matches!(node.kind, NodeKind::Plain(StmtKind::Barrier)) && self.tree.within(node.frame, frame))
            .map(|(id, _)| id)
            .collect()
    }

    /// Other points may change what a point reads in atomic steps, at any time.
    fn side_by_side(&self, node: NodeId, root: Root) -> Result<(), Trouble> {
        let apart = self.tree.func.kind != FuncKind::Host || self.tree.in_points(self.tree.node(node).frame);
        let mut writers = self.roots.writers.get(&root).into_iter().flatten();
        if apart
            && writers.any(|w| matches!(&self.tree.node(*w).kind, NodeKind::Let(_, Op::Atomic { .. })))
            && !matches!(root, Root::Made(_))
        {
            return Err(PassError::new(
                self.tree.node(node).span,
                "the way back needs what is read here, which other threads change in atomic steps",
            )
            .into());
        }
        Ok(())
    }

    fn overwritten(&self, node: NodeId, root: Root) -> PassError {
        let name = match root {
            Root::Param(param) => self.tree.func.values[param.index()].name.clone().unwrap_or_default(),
            Root::Array(array) => self.tree.func.arrays[array.index()].name.clone(),
            _ => String::new(),
        };
        PassError::new(
            self.tree.node(node).span,
            format!(
                "the way back needs the element of `{name}` that is read here, and the kernel also overwrites `{name}`: \
                 write to another array, or give the kernel a rule with defvjp"
            ),
        )
    }
}
