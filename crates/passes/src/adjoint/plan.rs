//! What of the primal the adjoint has to compute again, frame by frame.
//!
//! Going backwards through a frame begins with going forwards through it once more: its *replay*. A replay computes what the way back
//! reads, and no more: a slice of the frame, in which loops run forwards where something they leave is read behind them, or where the state
//! that their own turns begin with has to be kept. What a frame's replay reads of what stands outside (`outer`, `entry`) is asked of the
//! frame around it in turn. So frames are taken from the inside out.
//!
//! Memory comes in classes (`Class`), by who writes to what is read and when. Memory is written in the replay of the frame that it comes to
//! be in (its *home*) alone, and in what runs before.

pub mod memory;
mod slice;

use std::collections::{BTreeSet, HashMap, HashSet};

use weft_ir::{BinOp, Const, FuncKind, Local, Op, Span, Spread, StmtKind, Value};

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
}

fn frame_node(tree: &Tree, frame: FrameId) -> NodeId {
    tree.frame(frame).node
}
