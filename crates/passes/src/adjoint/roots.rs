//! Which memory each view is part of, and who writes to it.

use std::collections::{BTreeSet, HashMap};

use weft_ir::{ArrayId, Op, Space, StmtKind, Value};

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
        roots
    }

    pub fn of(&self, view: Value) -> BTreeSet<Root> {
        self.views.get(&view).cloned().unwrap_or_else(|| BTreeSet::from([Root::Unknown]))
    }

    /// The one piece of memory that a view is part of.
    pub fn only(&self, view: Value) -> Option<Root> {
        let all = self.views.get(&view)?;
        all.first().copied().filter(|_| all.len() == 1)
    }

    pub fn is_written(&self, root: Root) -> bool {
        root == Root::Unknown || self.writers.contains_key(&root)
    }

    /// The frame in which memory comes to be.
    pub fn home(&self, tree: &Tree, root: Root) -> FrameId {
        match root {
            Root::Made(node) => tree.node(node).frame,
            Root::Param(_) | Root::Array(_) | Root::Fixed | Root::Unknown => TOP,
        }
    }

    pub fn is_shared(tree: &Tree, root: Root) -> bool {
        matches!(root, Root::Array(id) if tree.func.arrays[id.index()].space == Space::Shared)
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
