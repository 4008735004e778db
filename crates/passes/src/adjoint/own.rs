//! Which elements of a shadow no other thread and no other point adds to, so that adding to them needs no atomic step.

use std::collections::HashMap;

use weft_ir::{Axis, BinOp, Const, FuncKind, Geometry, Index, Op, Space, StmtKind, Value};

use super::activity::Activity;
use super::roots::{Root, Roots};
use super::tree::{FrameId, FrameKind, NodeId, NodeKind, TOP, Tree};

/// How a load's cotangent is added to the shadow.
#[derive(Clone, Debug, PartialEq)]
pub enum Adding {
    Plain,
    Atomic,
    /// Plain where the grid has one thread along each of these axes.
    PlainIfSingle(Vec<Axis>),
    /// Its store takes care of it.
    Nothing,
}

#[derive(Debug, Default)]
pub struct Own {
    pub loads: HashMap<NodeId, Adding>,
    /// Stores that add to what was there, of which the shadow stays as it is: by node, the value added and whether it is subtracted.
    pub adds: HashMap<NodeId, (Value, bool)>,
}

/// Numbers for values: those with the same number are the same wherever both are known.
pub struct Numbers<'a> {
    tree: &'a Tree,
    known: HashMap<Value, usize>,
    made: HashMap<Key, usize>,
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Itself(Value),
    Const(Const),
    Geometry(Geometry),
    Binary(BinOp, usize, usize),
    Cast(weft_ir::Type, usize),
}

impl<'a> Numbers<'a> {
    pub fn new(tree: &'a Tree) -> Numbers<'a> {
        Numbers {
            tree,
            known: HashMap::new(),
            made: HashMap::new(),
        }
    }

    pub fn of(&mut self, value: Value) -> usize {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let key = match self.tree.op(value) {
            Some(Op::Const(c)) => Key::Const(*c),
            Some(Op::Geometry(g)) => Key::Geometry(*g),
            Some(Op::Cast(a)) => Key::Cast(self.tree.ty(value).clone(), self.of(*a)),
            Some(Op::Binary(op, a, b)) => {
                let (op, a, b) = (*op, self.of(*a), self.of(*b));
                match op {
                    BinOp::Add | BinOp::Mul => Key::Binary(op, a.min(b), a.max(b)),
                    _ => Key::Binary(op, a, b),
                }
            }
            _ => Key::Itself(value),
        };
        let next = self.made.len();
        let number = *self.made.entry(key).or_insert(next);
        self.known.insert(value, number);
        number
    }

    fn geometry(&mut self, geometry: Geometry) -> usize {
        let next = self.made.len();
        *self.made.entry(Key::Geometry(geometry)).or_insert(next)
    }

    fn binary(&mut self, op: BinOp, a: usize, b: usize) -> usize {
        let next = self.made.len();
        *self.made.entry(Key::Binary(op, a.min(b), a.max(b))).or_insert(next)
    }

    /// A thread's number in the grid along an axis.
    fn thread(&mut self, axis: Axis) -> usize {
        let (block, width) = (self.geometry(Geometry::BlockIdx(axis)), self.geometry(Geometry::BlockDim(axis)));
        let first = self.binary(BinOp::Mul, block, width);
        let own = self.geometry(Geometry::ThreadIdx(axis));
        self.binary(BinOp::Add, first, own)
    }

    /// How many threads the grid has along an axis.
    fn threads(&mut self, axis: Axis) -> usize {
        let (blocks, width) = (self.geometry(Geometry::GridDim(axis)), self.geometry(Geometry::BlockDim(axis)));
        self.binary(BinOp::Mul, blocks, width)
    }
}

impl Own {
    pub fn find(tree: &Tree, roots: &Roots, activity: &Activity) -> Own {
        let mut own = Own::default();
        let mut numbers = Numbers::new(tree);
        own.find_adds(tree, roots, activity, &mut numbers);
        let sites: Vec<Site> = (0..tree.nodes.len()).filter_map(|id| Site::of(tree, roots, activity, id)).collect();
        for site in &sites {
            let adding = match own.loads.get(&site.node) {
                Some(known) => known.clone(),
                None => adding(tree, roots, &mut numbers, site, &sites, &own),
            };
            own.loads.insert(site.node, adding);
        }
        own
    }

    /// Finds `y[i] += v`: a load, an addition and a store of the same element, in one block, with nothing between that touches `y`.
    fn find_adds(&mut self, tree: &Tree, roots: &Roots, activity: &Activity, numbers: &mut Numbers<'_>) {
        let uses = uses(tree);
        for (id, node) in tree.nodes.iter().enumerate() {
            let NodeKind::Plain(StmtKind::Store { view, indices, value, .. }) = &node.kind else {
                continue;
            };
            if !activity.has_shadow(roots, *view) || uses.get(value) != Some(&1) {
                continue;
            }
            let Some(Op::Binary(op @ (BinOp::Add | BinOp::Sub), a, b)) = tree.op(*value) else {
                continue;
            };
            let sides = if *op == BinOp::Add {
                vec![(*a, *b), (*b, *a)]
            } else {
                vec![(*a, *b)]
            };
            for (old, added) in sides {
                let (
                    Some(load),
                    Some(Op::Load {
                        view: from, indices: at, ..
                    }),
                ) = (tree.defs.get(&old).copied(), tree.op(old))
                else {
                    continue;
                };
                let same = from == view
                    && at.len() == indices.len()
                    && at
                        .iter()
                        .zip(indices)
                        .all(|(a, b)| a.wrap == b.wrap && numbers.of(a.value) == numbers.of(b.value));
                if same && uses.get(&old) == Some(&1) && tree.node(load).block == node.block && undisturbed(tree, roots, load, id, *view) {
                    self.loads.insert(load, Adding::Nothing);
                    self.adds.insert(id, (added, *op == BinOp::Sub));
                    break;
                }
            }
        }
    }
}

/// How often each value is an operand.
pub fn uses(tree: &Tree) -> HashMap<Value, usize> {
    let mut uses: HashMap<Value, usize> = HashMap::new();
    for node in &tree.nodes {
        let mut count = |value: Value| *uses.entry(value).or_default() += 1;
        match &node.kind {
            NodeKind::Let(_, op) => op.operands(&mut count),
            NodeKind::Set(_, value) => count(*value),
            NodeKind::If { cond, .. } => count(*cond),
            NodeKind::Loop(frame) => tree.frame(*frame).kind.bounds().into_iter().for_each(count),
            NodeKind::Plain(kind) => kind.operands(&mut count),
            NodeKind::Result(values) => values.iter().for_each(|value| count(*value)),
        }
    }
    uses
}

/// Does nothing between two nodes touch the memory that a view is part of?
fn undisturbed(tree: &Tree, roots: &Roots, from: NodeId, to: NodeId, view: Value) -> bool {
    let (first, last) = (tree.node(from).order, tree.node(to).order);
    roots.of(view).iter().all(|root| {
        let writers = roots.writers.get(root).into_iter().flatten();
        let readers = roots.readers.get(root).into_iter().flatten();
        writers.chain(readers).all(|node| {
            let order = tree.node(*node).order;
            *node == from || *node == to || order < first || order > last
        })
    }) && !meets_between(tree, first, last)
}

/// Is there a barrier between two places?
pub fn meets_between(tree: &Tree, first: usize, last: usize) -> bool {
    tree.nodes.iter().any(|node| {
        let is_barrier = matches!(node.kind, NodeKind::Plain(StmtKind::Barrier));
        is_barrier && first < node.order && node.order < last
    })
}

/// A load whose cotangent goes to a shadow.
struct Site {
    node: NodeId,
    view: Value,
    indices: Vec<Index>,
    roots: Vec<Root>,
    /// The outermost index space around it; the whole grid for threads of kernels.
    region: Option<FrameId>,
}

impl Site {
    fn of(tree: &Tree, roots: &Roots, activity: &Activity, node: NodeId) -> Option<Site> {
        let NodeKind::Let(value, Op::Load { view, indices, .. }) = &tree.node(node).kind else {
            return None;
        };
        if !activity.is_active(tree, *value) {
            return None;
        }
        let around = tree.frames_between(tree.node(node).frame, TOP);
        let space = around.into_iter().rev().find(|frame| tree.frame(*frame).kind.is_points());
        Some(Site {
            node,
            view: *view,
            indices: indices.clone(),
            roots: roots.of(*view).into_iter().collect(),
            region: match tree.func.kind {
                FuncKind::Kernel => Some(TOP),
                _ => space,
            },
        })
    }
}

fn adding(tree: &Tree, roots: &Roots, numbers: &mut Numbers<'_>, site: &Site, sites: &[Site], own: &Own) -> Adding {
    let Some(region) = site.region else { return Adding::Plain };
    let private = |root: &Root| match root {
        Root::Array(id) => tree.func.arrays[id.index()].space == Space::Local,
        Root::Made(_) => {
            region != TOP && tree.within(roots.home(tree, *root), region) && {
                let around = tree.frames_between(tree.node(site.node).frame, roots.home(tree, *root));
                !around.iter().any(|frame| tree.frame(*frame).kind.is_points())
            }
        }
        _ => false,
    };
    if site.roots.iter().all(private) {
        return Adding::Plain;
    }
    if is_stored(tree, numbers, site) {
        return Adding::Plain;
    }
    let Some(covered) = covers(tree, numbers, site) else {
        return Adding::Atomic;
    };
    // The others that add to the same memory have to add to the same elements.
    for other in sites {
        let apart = other.region != site.region || !other.roots.iter().any(|root| site.roots.contains(root));
        if apart || other.node == site.node || own.loads.get(&other.node) == Some(&Adding::Nothing) {
            continue;
        }
        let same = other.view == site.view
            && covered
                .places
                .iter()
                .all(|(axis, number)| other.indices.get(*axis).is_some_and(|index| numbers.of(index.value) == *number))
            && covers(tree, numbers, other).is_some();
        if !same {
            return Adding::Atomic;
        }
    }
    match covered.single.is_empty() {
        true => Adding::Plain,
        false => Adding::PlainIfSingle(covered.single),
    }
}

/// Does the same thread store to the element whenever it loads it? Then no other thread reads it.
fn is_stored(tree: &Tree, numbers: &mut Numbers<'_>, site: &Site) -> bool {
    let load = tree.node(site.node);
    tree.nodes.iter().any(|node| {
        let NodeKind::Plain(StmtKind::Store { view, indices, .. }) = &node.kind else {
            return false;
        };
        *view == site.view
            && node.frame == load.frame
            && !meets_between(tree, load.order.min(node.order), load.order.max(node.order))
            && load.conds.starts_with(&node.conds)
            && indices.len() == site.indices.len()
            && indices
                .iter()
                .zip(&site.indices)
                .all(|(a, b)| a.wrap == b.wrap && numbers.of(a.value) == numbers.of(b.value))
    })
}

struct Covered {
    /// Axes of the view, and the number of the index there.
    places: Vec<(usize, usize)>,
    single: Vec<Axis>,
}

/// Have different points, or threads, different indices?
fn covers(tree: &Tree, numbers: &mut Numbers<'_>, site: &Site) -> Option<Covered> {
    let given: Vec<usize> = site.indices.iter().map(|index| numbers.of(index.value)).collect();
    let mut places = Vec::new();
    for frame in tree.frames_between(tree.node(site.node).frame, TOP) {
        let FrameKind::Points { vars, .. } = &tree.frame(frame).kind else {
            continue;
        };
        for var in vars {
            let number = numbers.of(*var);
            places.push((given.iter().position(|at| *at == number)?, number));
        }
    }
    let mut single = Vec::new();
    if site.region == Some(TOP) {
        for axis in Axis::XYZ {
            let thread = numbers.thread(axis);
            let strided = strided(tree, numbers, site, axis);
            match given.iter().position(|at| *at == thread || Some(*at) == strided) {
                Some(at) => places.push((at, given[at])),
                None => single.push(axis),
            }
        }
        if single.len() == 3 {
            return None;
        }
    }
    Some(Covered { places, single })
}

/// The index of a loop around that goes through the grid's threads: from the own number on, in steps of their number.
fn strided(tree: &Tree, numbers: &mut Numbers<'_>, site: &Site, axis: Axis) -> Option<usize> {
    let (thread, threads) = (numbers.thread(axis), numbers.threads(axis));
    tree.frames_between(tree.node(site.node).frame, TOP)
        .into_iter()
        .find_map(|frame| match tree.frame(frame).kind {
            FrameKind::Counted { var, start, step, .. } if numbers.of(start) == thread && numbers.of(step) == threads => {
                Some(numbers.of(var))
            }
            _ => None,
        })
}
