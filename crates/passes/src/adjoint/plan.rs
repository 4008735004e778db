//! What of the primal the adjoint has to compute again, frame by frame.
//!
//! Going backwards through a frame begins with going forwards through it once more: its *replay*. A replay computes what the way back
//! reads, and no more: a slice of the frame, in which loops run forwards where something they leave is read behind them, or where the state
//! that their own turns begin with has to be kept. What a frame's replay reads of what stands outside (`outer`, `entry`) is asked of the
//! frame around it in turn. So frames are taken from the inside out.
//!
//! Memory comes in classes (`Class`), by who writes to what is read and when. Memory is written in the replay of the frame that it comes to
//! be in (its *home*) alone, and in what runs before.

use std::collections::{BTreeSet, HashMap, HashSet};

use weft_ir::{BinOp, Const, FuncKind, Index, Local, Op, Span, Spread, StmtKind, Type, Value};

use super::activity::Activity;
use super::own::{Adding, Own};
use super::roots::{Root, Roots};
use super::rules::{Book, edges};
use super::tree::{FrameId, FrameKind, Node, NodeId, NodeKind, TOP, Tree};
use crate::error::PassError;

/// What a load reads when it is done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// What was there before the function ran: nothing has written to it yet.
    Initial,
    /// What is there in the end: nothing writes to it any more.
    Last,
    /// Something else: what was read is kept.
    Taped,
}

/// What a frame's replay computes.
#[derive(Debug, Default)]
pub struct Slice {
    pub values: HashSet<Value>,
    /// Sets, stores and other nodes without a value.
    pub nodes: HashSet<NodeId>,
    pub loops: HashSet<FrameId>,
    pub locals: HashSet<Local>,
    /// Values from outside of the frame.
    pub outer: BTreeSet<Value>,
}

#[derive(Debug, Default)]
pub struct Plan {
    pub slices: HashMap<FrameId, Slice>,
    /// Nodes that something has to be done for on the way back.
    pub reversed: HashSet<NodeId>,
    /// Values of a frame's replay that are read after it.
    pub kept: HashSet<Value>,
    /// Of a loop, the locals that its turns begin with, and that its turns set.
    pub carried: HashMap<FrameId, BTreeSet<Local>>,
    /// Of a loop, the value that a local has before it, for the others.
    pub before: HashMap<(FrameId, Local), Value>,
    /// Parameters of which the adjoint makes a copy that it may write to.
    pub copies: BTreeSet<Root>,
    /// Loads whose values are kept, each with the local that says how many have been so far.
    pub taped: HashMap<NodeId, Local>,
    /// Loops whose number of turns is counted.
    pub counted: HashSet<FrameId>,
    /// Values outside of a frame that the way back through it reads.
    pub reads: HashMap<FrameId, BTreeSet<Value>>,
    /// Threads wait for each other between the ways forth and back of the function, since they share memory.
    pub meets: bool,
    /// Loops whose turns are gone through from the first one on to come to the state of a later one.
    pub again: HashSet<FrameId>,
    /// Of a loop, the integer locals that rise by the same in each turn: by a value, or by one.
    pub rising: HashMap<(FrameId, Local), Option<Value>>,
    /// Shared arrays that are read again in the loops that fill them.
    pub fills: HashSet<Root>,
}

/// Why a plan cannot be made for the tree as it is.
pub enum Trouble {
    Refused(PassError),
    /// The index space of this number is to be a loop.
    Sequential(usize),
}

impl From<PassError> for Trouble {
    fn from(error: PassError) -> Trouble {
        Trouble::Refused(error)
    }
}

#[derive(Clone, Copy, Debug)]
enum Demand {
    Value(Value),
    Local(Local),
    /// What it holds at the frame's start.
    Entry(Local),
    Node(NodeId),
    Reach(NodeId),
    Loop(FrameId),
    Memory(Root),
}

pub struct Planner<'a> {
    pub tree: &'a mut Tree,
    pub roots: &'a Roots,
    pub activity: &'a Activity,
    pub book: &'a Book,
    pub own: &'a Own,
    pub plan: Plan,
    /// What the insides of frames ask of those around them.
    seeds: HashMap<FrameId, Vec<Demand>>,
    span: Span,
}

/// Plans, and adds locals and values to the tree that stand for what is counted and kept.
pub fn plan(tree: &mut Tree, roots: &Roots, activity: &Activity, book: &Book, own: &Own) -> Result<Plan, Trouble> {
    let mut copies = BTreeSet::new();
    loop {
        let plan = Plan {
            copies: copies.clone(),
            ..Plan::default()
        };
        let mut planner = Planner {
            tree,
            roots,
            activity,
            book,
            own,
            plan,
            seeds: HashMap::new(),
            span: Span::NONE,
        };
        planner.run()?;
        if planner.plan.copies == copies {
            return Ok(planner.plan);
        }
        copies = planner.plan.copies;
    }
}

/// Is an operation done where its value is read, whenever that is?
pub fn is_remade(op: &Op) -> bool {
    matches!(
        op,
        Op::Const(_) | Op::ConstArray(_) | Op::Array(_) | Op::Geometry(_) | Op::DynamicShared
    )
}

impl Planner<'_> {
    fn run(&mut self) -> Result<(), Trouble> {
        let top = self.tree.frame(TOP).body.clone();
        self.plan.meets = self.activity.shadowed.iter().any(|root| Roots::is_shared(self.tree, *root));
        self.mark(&top);
        let mut frames: Vec<FrameId> = (0..self.tree.frames.len()).collect();
        // Frames inside of others have larger numbers.
        frames.reverse();
        for frame in frames {
            if frame == TOP || self.plan.reversed.contains(&self.tree.frame(frame).node) {
                self.frame(frame)?;
            }
        }
        Ok(())
    }

    /// Marks the nodes that have something to do on the way back.
    fn mark(&mut self, list: &[NodeId]) -> bool {
        let mut any = false;
        for id in list {
            let (inner, own) = match &self.tree.node(*id).kind {
                NodeKind::If { then, other, .. } => (vec![then.clone(), other.clone()], false),
                NodeKind::Loop(frame) => (vec![self.tree.frame(*frame).body.clone()], false),
                NodeKind::Let(_, Op::Atomic { view, .. }) => (Vec::new(), self.activity.has_shadow(self.roots, *view)),
                NodeKind::Let(value, _) => (Vec::new(), self.activity.is_active(self.tree, *value)),
                NodeKind::Set(local, _) => (Vec::new(), self.activity.is_active_local(self.tree, *local)),
                NodeKind::Plain(StmtKind::Store { view, .. }) => (Vec::new(), self.activity.has_shadow(self.roots, *view)),
                NodeKind::Plain(StmtKind::Barrier) => (Vec::new(), self.plan.meets),
                NodeKind::Plain(_) => (Vec::new(), false),
                NodeKind::Result(values) => (Vec::new(), !values.is_empty()),
            };
            let mut marked = own;
            for list in inner {
                marked |= self.mark(&list);
            }
            if marked {
                self.plan.reversed.insert(*id);
            }
            any |= marked;
        }
        any
    }

    fn frame(&mut self, frame: FrameId) -> Result<(), Trouble> {
        let mut seeds = self.seeds.remove(&frame).unwrap_or_default();
        let mut kept = Vec::new();
        let body = self.tree.frame(frame).body.clone();
        self.way_back(&body, &mut seeds, &mut kept)?;
        self.raises(frame, &mut seeds);
        seeds.extend(kept.iter().map(|value| Demand::Value(*value)));
        let mut reads: BTreeSet<Value> = BTreeSet::new();
        for value in kept {
            match self.tree.within(self.tree.frame_of(value), frame) {
                true => drop(self.plan.kept.insert(value)),
                false => drop(reads.insert(value)),
            }
        }
        let slice = self.close(frame, seeds)?;
        reads.extend(slice.outer.iter().copied());
        self.plan.slices.insert(frame, slice);
        self.plan.reads.insert(frame, reads);
        Ok(())
    }

    /// What the way back through the nodes of a frame reads of its replay.
    fn way_back(&mut self, list: &[NodeId], seeds: &mut Vec<Demand>, kept: &mut Vec<Value>) -> Result<(), Trouble> {
        for id in list {
            if !self.plan.reversed.contains(id) {
                continue;
            }
            let node = self.tree.node(*id);
            self.span = node.span;
            match node.kind.clone() {
                NodeKind::Let(_, Op::Load { view, indices, .. } | Op::Atomic { view, indices, .. })
                | NodeKind::Plain(StmtKind::Store { view, indices, .. }) => {
                    kept.extend(indices.iter().map(|index| index.value));
                    self.shadow(view, kept);
                }
                NodeKind::Let(value, op) => {
                    for (operand, factor) in edges(self.tree, self.book, value, &op) {
                        if self.activity.is_active(self.tree, operand) {
                            kept.extend(factor.needs());
                        }
                    }
                }
                NodeKind::If { cond, then, other } => {
                    kept.push(cond);
                    self.way_back(&then, seeds, kept)?;
                    self.way_back(&other, seeds, kept)?;
                }
                NodeKind::Loop(inner) => self.inner(inner, seeds, kept)?,
                NodeKind::Result(values) => {
                    for value in values {
                        if self.tree.ty(value).view().is_some() && self.activity.has_shadow(self.roots, value) {
                            self.shadow(value, kept);
                        }
                    }
                }
                NodeKind::Set(..) | NodeKind::Plain(_) => {}
            }
        }
        Ok(())
    }

    /// What it takes to have the shadow of a view.
    fn shadow(&mut self, view: Value, kept: &mut Vec<Value>) {
        let Some(op) = self.tree.op(view).cloned() else { return };
        match &op {
            Op::Slice { view: of, .. } | Op::Transpose(of, _) | Op::PartView(of, _) | Op::Reshape(of, _) => {
                op.operands(&mut |value| {
                    if value != *of {
                        kept.push(value);
                    }
                });
                self.shadow(*of, kept);
            }
            Op::Select(cond, a, b) => {
                kept.push(*cond);
                self.shadow(*a, kept);
                self.shadow(*b, kept);
            }
            Op::Get(_) | Op::Alloc { .. } => kept.push(view),
            _ => {}
        }
    }

    /// What the way back through a loop asks of the frame around it.
    fn inner(&mut self, inner: FrameId, seeds: &mut Vec<Demand>, kept: &mut Vec<Value>) -> Result<(), Trouble> {
        let frame = self.tree.frame(inner);
        let (kind, stop) = (frame.kind.clone(), frame.stop);
        kept.extend(kind.bounds());
        kept.extend(self.plan.reads.get(&inner).into_iter().flatten());
        if let FrameKind::Points {
            reductions,
            number,
            spread,
            ..
        } = &kind
        {
            // One thread adds faster without atomic steps.
            let in_lanes = *spread == Spread::Lanes && !self.tree.in_points(self.tree.frame(inner).parent);
            if self.tree.func.kind == FuncKind::Host && !in_lanes && self.adds_atomically(inner) {
                return Err(self.in_turn(*number, inner));
            }
            for reduction in reductions {
                let active = self.activity.is_active_local(self.tree, reduction.local);
                if active && reduction.op != weft_ir::ReduceOp::Add {
                    return Err(self.in_turn(*number, inner));
                }
            }
            let reduced: Vec<Local> = reductions.iter().map(|reduction| reduction.local).collect();
            let locals: Vec<Local> = self.read_by(inner);
            for local in locals.into_iter().filter(|local| !reduced.contains(local)) {
                if !self.tree.sets_within(local, inner) || self.tree.begins_with(local, inner) {
                    self.keep_before(local, inner, seeds);
                }
            }
            return Ok(());
        }
        if stop.is_some() {
            self.plan.counted.insert(inner);
            seeds.push(Demand::Loop(inner));
        }
        let locals: Vec<Local> = self
            .plan
            .slices
            .get(&inner)
            .map(|slice| slice.locals.iter().copied().collect())
            .unwrap_or_default();
        for local in locals {
            let carried = self.tree.sets_within(local, inner);
            if carried && !self.tree.begins_with(local, inner) {
                continue;
            }
            let rising = if carried { self.rising(local, inner) } else { None };
            if carried && rising.is_none() && !self.meets_in(inner) {
                self.plan.carried.entry(inner).or_default().insert(local);
                self.plan.counted.insert(inner);
                seeds.push(Demand::Loop(inner));
                seeds.push(Demand::Local(local));
                continue;
            }
            match rising {
                Some(step) => {
                    kept.extend(step);
                    self.plan.rising.insert((inner, local), step);
                }
                None if carried => {
                    self.plan.again.insert(inner);
                    seeds.push(Demand::Loop(inner));
                }
                None => {}
            }
            self.keep_before(local, inner, seeds);
        }
        Ok(())
    }

    /// The locals that a frame's replay reads.
    fn read_by(&self, frame: FrameId) -> Vec<Local> {
        let slice = self.plan.slices.get(&frame);
        slice.map(|slice| slice.locals.iter().copied().collect()).unwrap_or_default()
    }

    /// Keeps what a local holds before a loop.
    fn keep_before(&mut self, local: Local, inner: FrameId, seeds: &mut Vec<Demand>) {
        let node = frame_node(self.tree, inner);
        let value = match self.plan.before.get(&(inner, local)) {
            Some(value) => *value,
            None => {
                let ty = self.tree.func.local_ty(local).clone();
                let value = self.tree.func.new_value(ty);
                // It is made where the loop's node is.
                self.tree.defs.insert(value, node);
                self.plan.before.insert((inner, local), value);
                value
            }
        };
        self.plan.kept.insert(value);
        seeds.push(Demand::Reach(node));
        // What nothing else sets in the frame is as it was at the frame's start.
        let at = self.tree.node(node).frame;
        seeds.push(match self.tree.sets_beside(local, at, inner) {
            true => Demand::Local(local),
            false => Demand::Entry(local),
        });
    }

    /// By what an integer local rises in each turn of a loop but the last, if it does: a value from outside of the loop, or (nothing) one.
    fn rising(&self, local: Local, inner: FrameId) -> Option<Option<Value>> {
        if !self.tree.func.local_ty(local).scalar()?.is_int() {
            return None;
        }
        let sets = self.tree.sets.get(&local)?;
        let mut inside = sets.iter().filter(|id| self.tree.within(self.tree.node(**id).frame, inner));
        let (set, more) = (self.tree.node(*inside.next()?), inside.next());
        if more.is_some() || set.frame != inner || self.tree.reduced.contains_key(&local) || !self.every_turn(set, inner) {
            return None;
        }
        match &set.kind {
            NodeKind::Let(..) => Some(None),
            NodeKind::Set(_, value) => {
                let Op::Binary(BinOp::Add, a, b) = self.tree.op(*value)? else {
                    return None;
                };
                let step = match (self.tree.op(*a), self.tree.op(*b)) {
                    (Some(Op::Get(of)), _) if *of == local && self.tree.frame_of(*a) == inner => *b,
                    (_, Some(Op::Get(of))) if *of == local && self.tree.frame_of(*b) == inner => *a,
                    _ => return None,
                };
                let fixed = self.tree.op(step).is_some_and(is_remade) || !self.tree.within(self.tree.frame_of(step), inner);
                fixed.then_some(Some(step))
            }
            _ => None,
        }
    }

    /// Does every turn of a loop come to a node, but one that is the last?
    fn every_turn(&self, node: &Node, inner: FrameId) -> bool {
        let mut block = node.block;
        while block != self.tree.frame(inner).block {
            let Some(branch) = self.tree.sides[block] else { return false };
            // The other side stops the loop.
            let stop = self.tree.frame(inner).stop;
            let stops = self.tree.nodes.iter().any(|other| {
                let sets = matches!(other.kind, NodeKind::Set(local, value) if Some(local) == stop && self.tree.constant(value) == Some(Const::Bool(true)));
                sets && other.block != block && self.tree.sides[other.block] == Some(branch)
            });
            if !stops {
                return false;
            }
            block = self.tree.blocks[block];
        }
        true
    }

    /// Do threads wait for each other in a loop? Then the state of its turns has to be seen to be the same for all of them, which it is not
    /// when it is read from an array.
    fn meets_in(&self, frame: FrameId) -> bool {
        !self.barriers(frame).is_empty()
    }

    /// Do the points of an index space add to elements that others add to?
    fn adds_atomically(&self, frame: FrameId) -> bool {
        let mut loads = self.own.loads.iter();
        loads.any(|(node, adding)| *adding == Adding::Atomic && self.tree.within(self.tree.node(*node).frame, frame))
    }

    /// An index space has to be gone through in turn; one of threads cannot.
    fn in_turn(&self, number: usize, frame: FrameId) -> Trouble {
        let span = self.tree.node(frame_node(self.tree, frame)).span;
        match self.tree.func.kind {
            FuncKind::Host if !self.tree.in_points(self.tree.frame(frame).parent) => Trouble::Sequential(number),
            FuncKind::Host => match self.outermost(frame) {
                Some(number) => Trouble::Sequential(number),
                None => Trouble::Refused(PassError::new(span, "an index space inside of another has no derivative here")),
            },
            _ => Trouble::Refused(PassError::new(span, "an index space inside of a thread has no derivative here")),
        }
    }

    /// The number of the outermost index space around a frame.
    fn outermost(&self, frame: FrameId) -> Option<usize> {
        let around = self.tree.frames_between(frame, TOP);
        around.into_iter().rev().find_map(|frame| match &self.tree.frame(frame).kind {
            FrameKind::Points { number, .. } => Some(*number),
            _ => None,
        })
    }

    /// What raises in a frame, or in loops inside that the way back leaves out.
    fn raises(&self, frame: FrameId, seeds: &mut Vec<Demand>) {
        for (id, node) in self.tree.nodes.iter().enumerate() {
            if !matches!(node.kind, NodeKind::Plain(StmtKind::Raise { .. })) || !self.tree.within(node.frame, frame) {
                continue;
            }
            let inside = self.tree.frames_between(node.frame, frame);
            if !inside
                .iter()
                .any(|inner| self.plan.reversed.contains(&self.tree.frame(*inner).node))
            {
                seeds.push(Demand::Node(id));
            }
        }
    }

    /// All that a frame's replay has to compute for the seeds.
    fn close(&mut self, frame: FrameId, seeds: Vec<Demand>) -> Result<Slice, Trouble> {
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

    fn barriers(&self, frame: FrameId) -> Vec<NodeId> {
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

/// Who writes to what a load reads, and when?
pub fn class(tree: &Tree, roots: &Roots, copies: &BTreeSet<Root>, node: NodeId, view: Value) -> Class {
    let mut class = Class::Initial;
    for root in roots.of(view) {
        if !roots.is_written(root) {
            continue;
        }
        let home = roots.home(tree, root);
        let writers = roots.writers.get(&root).cloned().unwrap_or_default();
        let (mut earlier, mut later) = (false, false);
        for writer in writers {
            let (w, n) = (tree.node(writer), tree.node(node));
            let apart = tree.exclude(w.block, n.block);
            earlier |= w.order < n.order && !apart;
            later |= w.order > n.order && !apart;
            let around = tree.frames_between(n.frame, home);
            let shared = around.iter().any(|frame| {
                let again = !tree.frame(*frame).kind.is_points();
                again && tree.within(w.frame, *frame) && !distinct(tree, *frame, node, writer)
            });
            earlier |= shared;
            later |= shared;
        }
        let initial = !earlier && matches!(root, Root::Param(_)) && !copies.contains(&root);
        class = class.max(match (initial, later) {
            (true, _) => Class::Initial,
            (false, false) => Class::Last,
            (false, true) => Class::Taped,
        });
    }
    class
}

/// Do two accesses touch different elements in different turns of a loop? They do where both have the loop's index, in the same place of
/// the same view.
fn distinct(tree: &Tree, frame: FrameId, load: NodeId, writer: NodeId) -> bool {
    let FrameKind::Counted { var, .. } = tree.frame(frame).kind else {
        return false;
    };
    let (Some((view, at)), Some((other, there))) = (access(tree, load), access(tree, writer)) else {
        return false;
    };
    let outside = !tree.within(tree.frame_of(view), frame) || tree.func.params.contains(&view);
    let counted = not_negative(tree, var);
    let same = |(a, b): (&Index, &Index)| a.value == var && b.value == var && (counted || !a.wrap && !b.wrap);
    view == other && outside && at.iter().zip(there).any(same)
}

/// Is an integer surely not negative?
fn not_negative(tree: &Tree, value: Value) -> bool {
    if let Some(frame) = tree.vars.get(&value) {
        return match tree.frame(*frame).kind {
            FrameKind::Counted { start, step, .. } => not_negative(tree, start) && not_negative(tree, step),
            _ => true,
        };
    }
    match tree.op(value) {
        Some(Op::Const(Const::Int(_, n))) => *n >= 0,
        Some(Op::Geometry(_) | Op::Dim(..)) => true,
        Some(Op::Binary(BinOp::Add | BinOp::Mul, a, b)) => not_negative(tree, *a) && not_negative(tree, *b),
        _ => false,
    }
}

/// The view and the indices of a load, a store or an atomic operation.
fn access(tree: &Tree, node: NodeId) -> Option<(Value, &[Index])> {
    match &tree.node(node).kind {
        NodeKind::Let(_, Op::Load { view, indices, .. } | Op::Atomic { view, indices, .. })
        | NodeKind::Plain(StmtKind::Store { view, indices, .. }) => Some((*view, indices)),
        _ => None,
    }
}

fn frame_node(tree: &Tree, frame: FrameId) -> NodeId {
    tree.frame(frame).node
}
