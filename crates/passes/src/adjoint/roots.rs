//! Which memory each view is part of, and who writes to it.

use std::collections::{BTreeSet, HashMap};

use weft_ir::{ArrayId, Axis, Geometry, Op, Space, StmtKind, Value};

use super::own::meets_between;

use super::tree::{FrameId, NodeId, NodeKind, TOP, Tree};

/// What owns memory that a function works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    Param(Value),
    /// What an `Alloc` makes, each time it runs.
    Made(NodeId),
    Array(ArrayId),
    /// Constants.
    Fixed,
    /// Memory of which nothing is known.
    Unknown,
}

#[derive(Debug, Default)]
pub struct Roots {
    views: HashMap<Value, BTreeSet<Root>>,
    /// Stores and atomic operations that may write to memory.
    pub writers: HashMap<Root, Vec<NodeId>>,
    pub readers: HashMap<Root, Vec<NodeId>>,
    /// Shared arrays that each turn of a loop fills anew, if blocks have the threads for it.
    pub filled: HashMap<Root, Filled>,
}

/// A shared array whose elements are each stored by a thread of their own at the start of each turn of a loop.
#[derive(Clone, Debug)]
pub struct Filled {
    pub frame: FrameId,
    /// Axes of the block, and how many threads it has to have along each.
    pub threads: Vec<(Axis, u64)>,
}

impl Roots {
    pub fn find(tree: &Tree) -> Roots {
        let mut roots = Roots::default();
        for param in &tree.func.params {
            if tree.ty(*param).view().is_some() {
                roots.views.insert(*param, BTreeSet::from([Root::Param(*param)]));
            }
        }
        let order = tree.in_order();
        while roots.round(tree, &order) {}
        for id in order {
            roots.note(tree, id);
        }
        for (at, decl) in tree.func.arrays.iter().enumerate() {
            let root = Root::Array(ArrayId(at as u32));
            if decl.space == Space::Shared
                && let Some(filled) = roots.filled(tree, root, &decl.shape)
            {
                roots.filled.insert(root, filled);
            }
        }
        roots
    }

    pub fn of(&self, view: Value) -> BTreeSet<Root> {
        self.views.get(&view).cloned().unwrap_or_else(|| BTreeSet::from([Root::Unknown]))
    }

    pub fn is_written(&self, root: Root) -> bool {
        root == Root::Unknown || self.writers.contains_key(&root)
    }

    /// The frame in which memory comes to be.
    pub fn home(&self, tree: &Tree, root: Root) -> FrameId {
        match root {
            Root::Made(node) => tree.node(node).frame,
            Root::Array(_) if self.filled.contains_key(&root) => self.filled[&root].frame,
            Root::Param(_) | Root::Array(_) | Root::Fixed | Root::Unknown => TOP,
        }
    }

    pub fn is_shared(tree: &Tree, root: Root) -> bool {
        matches!(root, Root::Array(id) if tree.func.arrays[id.index()].space == Space::Shared)
    }

    /// The loop whose turns fill a shared array before they read it.
    fn filled(&self, tree: &Tree, root: Root, shape: &[u64]) -> Option<Filled> {
        let (writers, readers) = (self.writers.get(&root)?, self.readers.get(&root)?);
        let all = || writers.iter().chain(readers).map(|node| tree.node(*node).frame);
        let around = tree.frames_between(all().next()?, TOP);
        let frame = around.into_iter().find(|frame| all().all(|at| tree.within(at, *frame)))?;
        let mut loops = tree.frames_between(frame, TOP).into_iter().map(|frame| tree.frame(frame));
        // All threads come to it.
        if loops.any(|frame| frame.kind.is_points() || !tree.node(frame.node).conds.is_empty()) {
            return None;
        }
        let first_read = readers.iter().map(|node| tree.node(*node).order).min()?;
        let threads = writers.iter().find_map(|node| {
            let node = tree.node(*node);
            let NodeKind::Plain(StmtKind::Store { view, indices, .. }) = &node.kind else {
                return None;
            };
            let whole = matches!(tree.op(*view), Some(Op::Array(_)));
            if node.frame != frame || !node.conds.is_empty() || !whole || !meets_between(tree, node.order, first_read) {
                return None;
            }
            let axes: Option<Vec<Axis>> = indices.iter().map(|index| thread_axis(tree, index.value)).collect();
            let axes = axes?;
            let apart = axes.iter().enumerate().all(|(i, axis)| !axes[..i].contains(axis));
            apart.then(|| axes.into_iter().zip(shape.iter().copied()).collect())
        })?;
        Some(Filled { frame, threads })
    }

    fn round(&mut self, tree: &Tree, order: &[NodeId]) -> bool {
        let mut changed = false;
        for id in order {
            let NodeKind::Let(value, op) = &tree.node(*id).kind else { continue };
            if tree.ty(*value).view().is_none() {
                continue;
            }
            let found: BTreeSet<Root> = match op {
                Op::Slice { view, .. } | Op::Transpose(view, _) | Op::PartView(view, _) | Op::Reshape(view, _) => self.known(*view),
                Op::Select(_, a, b) => self.known(*a).union(&self.known(*b)).copied().collect(),
                Op::Get(local) => {
                    let sets = tree.sets.get(local).into_iter().flatten();
                    sets.filter_map(|node| match tree.node(*node).kind {
                        NodeKind::Set(_, value) => Some(self.known(value)),
                        _ => None,
                    })
                    .flatten()
                    .collect()
                }
                Op::Alloc { .. } => BTreeSet::from([Root::Made(*id)]),
                Op::Array(array) => BTreeSet::from([Root::Array(*array)]),
                Op::ConstArray(_) => BTreeSet::from([Root::Fixed]),
                _ => BTreeSet::from([Root::Unknown]),
            };
            let known = self.views.entry(*value).or_default();
            let before = known.len();
            known.extend(found);
            changed |= known.len() != before;
        }
        changed
    }

    fn known(&self, view: Value) -> BTreeSet<Root> {
        self.views.get(&view).cloned().unwrap_or_default()
    }

    fn note(&mut self, tree: &Tree, id: NodeId) {
        let (written, read): (Vec<Value>, Vec<Value>) = match &tree.node(id).kind {
            NodeKind::Let(_, Op::Load { view, .. }) => (Vec::new(), vec![*view]),
            NodeKind::Let(_, Op::Atomic { view, .. }) => (vec![*view], vec![*view]),
            NodeKind::Let(_, Op::Routine { routine, operands, .. }) => {
                let (reads, _) = routine.arity();
                (
                    operands[reads.min(operands.len())..].to_vec(),
                    operands[..reads.min(operands.len())].to_vec(),
                )
            }
            NodeKind::Plain(StmtKind::Store { view, .. }) => (vec![*view], Vec::new()),
            NodeKind::Plain(StmtKind::Mma { sums, left, right, .. }) => (vec![*sums], vec![*sums, *left, *right]),
            _ => return,
        };
        for view in written {
            for root in self.of(view) {
                self.writers.entry(root).or_default().push(id);
            }
        }
        for view in read {
            for root in self.of(view) {
                self.readers.entry(root).or_default().push(id);
            }
        }
    }
}

/// The axis of the block of which a value is the thread's number.
fn thread_axis(tree: &Tree, value: Value) -> Option<Axis> {
    match tree.op(value)? {
        Op::Geometry(Geometry::ThreadIdx(axis)) => Some(*axis),
        _ => None,
    }
}
