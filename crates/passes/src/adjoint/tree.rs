//! The primal function as a tree of nodes in which control never jumps: what the adjoint's analyses and its code are made from.
//!
//! Early exits (`Break`, `Continue`, `Return`, `Leave`) become flags: an exit sets one, what stands behind it in the same turn runs under
//! the condition that no flag is set, and a loop has one local, `stop`, which is looked at at the end of each turn. A loop that can be left
//! has no other way out, so that its number of turns is all there is to know to go through it backwards.
//!
//! A *frame* is what runs as a whole: the function, a turn of a loop, a point of an index space, each with the branches inside of it.

mod build;
mod exits;

use std::collections::HashMap;

use weft_ir::{Const, Function, Index, Local, Op, Reduction, Span, Spread, StmtKind, Type, Value};

use super::independent::Lanes;
use crate::error::PassError;

pub type NodeId = usize;
pub type FrameId = usize;
pub type BlockId = usize;

/// The frame of the whole function.
pub const TOP: FrameId = 0;

#[derive(Debug)]
pub struct Node {
    pub kind: NodeKind,
    pub span: Span,
    /// Its place in the order of the program.
    pub order: usize,
    pub frame: FrameId,
    pub block: BlockId,
    /// The conditions of the branches around it, within its frame.
    pub conds: Vec<Value>,
}

#[derive(Clone, Debug)]
pub enum NodeKind {
    Let(Value, Op),
    Set(Local, Value),
    If {
        cond: Value,
        then: Vec<NodeId>,
        other: Vec<NodeId>,
    },
    Loop(FrameId),
    /// Stores, barriers, what is raised or printed.
    Plain(StmtKind),
    /// What the function returns, item by item: the last node.
    Result(Vec<Value>),
}

#[derive(Debug)]
pub struct Frame {
    pub kind: FrameKind,
    /// The frame around it; that of the function is its own.
    pub parent: FrameId,
    /// Its node in the frame around it.
    pub node: NodeId,
    pub body: Vec<NodeId>,
    pub block: BlockId,
    /// Says at the end of a turn whether it was the last.
    pub stop: Option<Local>,
}

#[derive(Clone, Debug)]
pub enum FrameKind {
    Function,
    Counted {
        var: Value,
        start: Value,
        stop: Value,
        step: Value,
        /// It is the how-manieth loop of the function, index spaces and their axes counted.
        number: usize,
    },
    Endless,
    Points {
        vars: Vec<Value>,
        extents: Vec<Value>,
        reductions: Vec<Reduction>,
        spread: Spread,
        /// As of counted loops.
        number: usize,
    },
}

impl FrameKind {
    /// The values that say how often it runs.
    pub fn bounds(&self) -> Vec<Value> {
        match self {
            FrameKind::Function | FrameKind::Endless => Vec::new(),
            FrameKind::Counted { start, stop, step, .. } => vec![*start, *stop, *step],
            FrameKind::Points { extents, .. } => extents.clone(),
        }
    }

    pub fn vars(&self) -> Vec<Value> {
        match self {
            FrameKind::Function | FrameKind::Endless => Vec::new(),
            FrameKind::Counted { var, .. } => vec![*var],
            FrameKind::Points { vars, .. } => vars.clone(),
        }
    }

    pub fn is_points(&self) -> bool {
        matches!(self, FrameKind::Points { .. })
    }
}

/// What statements surely do first with a local, or may.
#[derive(PartialEq, Eq)]
enum FirstUse {
    None,
    Read,
    Set,
}

#[derive(Debug)]
pub struct Tree {
    /// Types of values and locals; its body is empty.
    pub func: Function,
    pub nodes: Vec<Node>,
    pub frames: Vec<Frame>,
    /// By block, the one around it; the first is its own.
    pub blocks: Vec<BlockId>,
    /// By block, the branch that it is a side of: both sides have the same number.
    pub sides: Vec<Option<usize>>,
    /// Where a value is defined.
    pub defs: HashMap<Value, NodeId>,
    /// Of which frame it is an index.
    pub vars: HashMap<Value, FrameId>,
    /// Where a local is set, by nodes other than loops.
    pub sets: HashMap<Local, Vec<NodeId>>,
    /// The index spaces that reduce into a local.
    pub reduced: HashMap<Local, Vec<FrameId>>,
}

impl Tree {
    /// Index spaces in `sequential` (by the number they are met in) become loops that go from point to point, and loops in `lanes` index spaces.
    pub fn build(func: &Function, sequential: &[usize], lanes: &Lanes) -> Result<Tree, PassError> {
        let mut shell = func.clone();
        let body = std::mem::take(&mut shell.body);
        let tree = Tree {
            func: shell,
            nodes: Vec::new(),
            frames: vec![Frame {
                kind: FrameKind::Function,
                parent: TOP,
                node: 0,
                body: Vec::new(),
                block: 0,
                stop: None,
            }],
            blocks: vec![0],
            sides: vec![None],
            defs: HashMap::new(),
            vars: HashMap::new(),
            sets: HashMap::new(),
            reduced: HashMap::new(),
        };
        let mut tree = build::build(tree, &body, sequential, lanes)?;
        tree.number();
        Ok(tree)
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub fn frame(&self, id: FrameId) -> &Frame {
        &self.frames[id]
    }

    /// The frame in which a value is made; parameters belong to the function.
    pub fn frame_of(&self, value: Value) -> FrameId {
        match (self.vars.get(&value), self.defs.get(&value)) {
            (Some(frame), _) => *frame,
            (None, Some(node)) => self.nodes[*node].frame,
            (None, None) => TOP,
        }
    }

    pub fn block_of(&self, value: Value) -> BlockId {
        match (self.vars.get(&value), self.defs.get(&value)) {
            (Some(frame), _) => self.frames[*frame].block,
            (None, Some(node)) => self.nodes[*node].block,
            (None, None) => 0,
        }
    }

    /// Is `inner` the frame `outer`, or inside of it?
    pub fn within(&self, inner: FrameId, outer: FrameId) -> bool {
        let mut at = inner;
        loop {
            if at == outer {
                return true;
            }
            if at == TOP {
                return false;
            }
            at = self.frames[at].parent;
        }
    }

    /// Do two blocks stand in different sides of a branch?
    pub fn exclude(&self, a: BlockId, b: BlockId) -> bool {
        let path = |mut at: BlockId| {
            let mut path = vec![at];
            while at != 0 {
                at = self.blocks[at];
                path.push(at);
            }
            path.reverse();
            path
        };
        let (a, b) = (path(a), path(b));
        let apart = a.iter().zip(&b).find(|(a, b)| a != b);
        apart.is_some_and(|(a, b)| self.sides[*a].is_some() && self.sides[*a] == self.sides[*b])
    }

    /// The frames from `inner` outwards, up to but without `outer`.
    pub fn frames_between(&self, inner: FrameId, outer: FrameId) -> Vec<FrameId> {
        let mut found = Vec::new();
        let mut at = inner;
        while at != outer && at != TOP {
            found.push(at);
            at = self.frames[at].parent;
        }
        found
    }

    /// Is there an index space around the frame, itself counted, whose points run side by side?
    pub fn in_points(&self, frame: FrameId) -> bool {
        let mut around = self.frames_between(frame, TOP).into_iter();
        around.any(|frame| self.frames[frame].kind.is_points())
    }

    /// Is a local set inside of a frame, or of one inside of it?
    pub fn sets_within(&self, local: Local, frame: FrameId) -> bool {
        let sets = self.sets.get(&local).into_iter().flatten();
        let reduced = self.reduced.get(&local).into_iter().flatten();
        sets.map(|node| self.nodes[*node].frame)
            .chain(reduced.map(|space| self.frames[*space].parent))
            .any(|at| self.within(at, frame))
    }

    /// Is a local set inside of a frame, but outside of a loop in it?
    pub fn sets_beside(&self, local: Local, frame: FrameId, inner: FrameId) -> bool {
        let sets = self.sets.get(&local).into_iter().flatten();
        let reduced = self.reduced.get(&local).into_iter().flatten();
        sets.map(|node| self.nodes[*node].frame)
            .chain(reduced.map(|space| self.frames[*space].parent))
            .any(|at| self.within(at, frame) && !self.within(at, inner))
    }

    /// May a turn of a loop read what a local held when it began? Not where it is surely set first.
    pub fn begins_with(&self, local: Local, frame: FrameId) -> bool {
        let mut sets = self.sets.get(&local).into_iter().flatten().map(|id| &self.nodes[*id]);
        // Loads of what is on a tape count on.
        sets.any(|node| matches!(node.kind, NodeKind::Let(..))) || self.first_use(local, &self.frames[frame].body) == FirstUse::Read
    }

    fn first_use(&self, local: Local, list: &[NodeId]) -> FirstUse {
        for id in list {
            let found = match &self.nodes[*id].kind {
                NodeKind::Let(_, Op::Get(of)) if *of == local => FirstUse::Read,
                NodeKind::Set(to, _) if *to == local => FirstUse::Set,
                NodeKind::If { then, other, .. } => match (self.first_use(local, then), self.first_use(local, other)) {
                    (FirstUse::Read, _) | (_, FirstUse::Read) => FirstUse::Read,
                    (FirstUse::Set, FirstUse::Set) => FirstUse::Set,
                    _ => FirstUse::None,
                },
                // Loops look at whether to stop themselves, and may have no turns.
                NodeKind::Loop(inner) if self.frames[*inner].stop == Some(local) => FirstUse::Read,
                NodeKind::Loop(inner) if self.first_use(local, &self.frames[*inner].body) == FirstUse::Read => FirstUse::Read,
                _ => FirstUse::None,
            };
            if found != FirstUse::None {
                return found;
            }
        }
        FirstUse::None
    }

    pub fn ty(&self, value: Value) -> &Type {
        self.func.ty(value)
    }

    /// The operation that defines a value.
    pub fn op(&self, value: Value) -> Option<&Op> {
        match &self.nodes[*self.defs.get(&value)?].kind {
            NodeKind::Let(_, op) => Some(op),
            _ => None,
        }
    }

    /// The view and the indices of a load, a store or an atomic operation.
    pub fn access(&self, node: NodeId) -> Option<(Value, &[Index])> {
        match &self.nodes[node].kind {
            NodeKind::Let(_, Op::Load { view, indices, .. } | Op::Atomic { view, indices, .. })
            | NodeKind::Plain(StmtKind::Store { view, indices, .. }) => Some((*view, indices)),
            _ => None,
        }
    }

    /// The constant that a value is.
    pub fn constant(&self, value: Value) -> Option<Const> {
        match self.op(value)? {
            Op::Const(c) => Some(*c),
            _ => None,
        }
    }

    pub fn int(&self, value: Value) -> Option<i64> {
        match self.constant(value)? {
            Const::Int(_, n) => Some(n),
            _ => None,
        }
    }

    /// The nodes in the order of the program.
    pub fn in_order(&self) -> Vec<NodeId> {
        let mut ids: Vec<NodeId> = (0..self.nodes.len()).collect();
        ids.sort_by_key(|id| self.nodes[*id].order);
        ids
    }

    fn number(&mut self) {
        let mut next = 0;
        let body = self.frames[TOP].body.clone();
        self.number_list(&body, &mut next);
    }

    fn number_list(&mut self, list: &[NodeId], next: &mut usize) {
        for id in list {
            self.nodes[*id].order = *next;
            *next += 1;
            let inner = match &self.nodes[*id].kind {
                NodeKind::If { then, other, .. } => vec![then.clone(), other.clone()],
                NodeKind::Loop(frame) => vec![self.frames[*frame].body.clone()],
                _ => Vec::new(),
            };
            inner.iter().for_each(|list| self.number_list(list, next));
        }
    }
}
