//! Which loops of the host can go through their turns side by side, as lanes of one thread: those whose turns do not depend on each other but
//! for sums. The adjoint has them as index spaces, whose cotangents lanes then add to memory together.
//!
//! Of loops that stand in one another the one is taken whose lanes meet memory best: neighbours in neighbouring elements, or all in the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use weft_ir::{BinOp, Const, FuncKind, Index, Local, Op, ReduceOp, Reduction, StmtKind, UnOp, Value};

use super::activity::Activity;
use super::own::{Numbers, uses};
use super::roots::{Root, Roots};
use super::tree::{FrameId, FrameKind, NodeId, NodeKind, TOP, Tree};
use crate::distances::{FAR, NEIGHBOURS, SAME};

/// Loops to be index spaces, by their numbers, with the sums of their turns.
pub type Lanes = BTreeMap<usize, Vec<Reduction>>;

/// A loop known to have fewer turns stays one.
const FEW_TURNS: i64 = 16;

/// Accesses that cost so much each on the average are as fast one lane after the other.
const WORTH: usize = 10;

/// The loops of a function for which it pays, but those of `never`.
pub fn find(tree: &Tree, roots: &Roots, activity: &Activity, never: &BTreeSet<usize>) -> Lanes {
    let mut found = Lanes::new();
    if tree.func.kind != FuncKind::Host {
        return found;
    }
    let search = Search {
        tree,
        roots,
        activity,
        uses: uses(tree),
    };
    search.within(TOP, never, &mut found);
    found
}

struct Search<'a> {
    tree: &'a Tree,
    roots: &'a Roots,
    activity: &'a Activity,
    uses: HashMap<Value, usize>,
}

struct Candidate {
    number: usize,
    sums: Vec<Reduction>,
    /// What an access costs on the average; of those in the innermost loops.
    cost: usize,
}

impl Search<'_> {
    /// Takes the best of each nest of loops in a frame.
    fn within(&self, frame: FrameId, never: &BTreeSet<usize>, found: &mut Lanes) {
        let children = (1..self.tree.frames.len()).filter(|inner| self.tree.frame(*inner).parent == frame);
        for inner in children {
            if self.tree.frame(inner).kind.is_points() {
                continue;
            }
            let best = self.candidate(inner, never);
            let deeper = self.best_inside(inner, never);
            match best {
                Some(own) if deeper.is_none_or(|cost| own.cost < cost) => {
                    if own.cost < WORTH {
                        found.insert(own.number, own.sums);
                    }
                }
                _ => self.within(inner, never, found),
            }
        }
    }

    /// The lowest cost of the loops inside of one.
    fn best_inside(&self, frame: FrameId, never: &BTreeSet<usize>) -> Option<usize> {
        let inside = (1..self.tree.frames.len()).filter(|inner| *inner != frame && self.tree.within(*inner, frame));
        inside.filter_map(|inner| Some(self.candidate(inner, never)?.cost)).min()
    }

    fn candidate(&self, frame: FrameId, never: &BTreeSet<usize>) -> Option<Candidate> {
        let entry = self.tree.frame(frame);
        let FrameKind::Counted {
            var,
            start,
            stop,
            step,
            number,
        } = entry.kind
        else {
            return None;
        };
        let known = |value: Value| self.tree.int(value);
        let is_short = known(start)
            .zip(known(stop))
            .is_some_and(|(start, stop)| stop.saturating_sub(start) < FEW_TURNS);
        let in_points = self.tree.in_points(entry.parent);
        if never.contains(&number) || entry.stop.is_some() || known(step) != Some(1) || is_short || in_points {
            return None;
        }
        if !self.inside(frame).all(|node| self.may_run_in_lanes(frame, node)) || !self.has_derivative(frame) {
            return None;
        }
        let sums = self.sums(frame)?;
        if !self.memory_is_apart(frame, var) {
            return None;
        }
        let cost = self.cost(frame, var)?;
        Some(Candidate { number, sums, cost })
    }

    fn inside(&self, frame: FrameId) -> impl Iterator<Item = NodeId> {
        (0..self.tree.nodes.len()).filter(move |node| self.tree.within(self.tree.node(*node).frame, frame))
    }

    fn may_run_in_lanes(&self, frame: FrameId, node: NodeId) -> bool {
        match &self.tree.node(node).kind {
            NodeKind::Let(value, op) => match op {
                Op::Alloc { .. } | Op::Routine { .. } | Op::Libm { .. } | Op::ThreadState(_) | Op::OutOfStack | Op::Atomic { .. } => false,
                Op::Get(_) => self.tree.ty(*value).view().is_none(),
                _ => true,
            },
            NodeKind::Set(local, _) => self.tree.func.local_ty(*local).view().is_none(),
            NodeKind::If { .. } => true,
            NodeKind::Loop(inner) => self.is_plain_loop(frame, *inner),
            NodeKind::Plain(kind) => matches!(kind, StmtKind::Store { .. } | StmtKind::Raise { .. }),
            NodeKind::Result(_) => false,
        }
    }

    /// A counted loop that hands nothing from turn to turn but sums: lanes have no room to keep the rest.
    fn is_plain_loop(&self, outer: FrameId, inner: FrameId) -> bool {
        let entry = self.tree.frame(inner);
        let counted = matches!(entry.kind, FrameKind::Counted { .. }) && entry.stop.is_none();
        counted && (inner == outer || self.sums(inner).is_some())
    }

    /// Is there anything to differentiate?
    fn has_derivative(&self, frame: FrameId) -> bool {
        self.inside(frame).any(|node| match &self.tree.node(node).kind {
            NodeKind::Let(value, Op::Load { .. }) => self.activity.is_active(self.tree, *value),
            NodeKind::Plain(StmtKind::Store { view, .. }) => self.activity.has_shadow(self.roots, *view),
            _ => false,
        })
    }

    /// The locals that turns hand on, if all are sums that nobody looks at before the end. Nothing else that turns set is read behind them.
    fn sums(&self, frame: FrameId) -> Option<Vec<Reduction>> {
        let mut found = Vec::new();
        for local in (0..self.tree.func.locals.len() as u32).map(Local) {
            if !self.tree.sets_within(local, frame) {
                continue;
            }
            if self.is_sum(local, frame) {
                found.push(Reduction::free(local, ReduceOp::Add));
            } else if self.tree.begins_with(local, frame) || self.is_read_behind(local, frame) {
                return None;
            }
        }
        Some(found)
    }

    /// Is a local only ever added to in a frame?
    fn is_sum(&self, local: Local, frame: FrameId) -> bool {
        let is_number = |local: Local| self.tree.func.local_ty(local).scalar().is_some_and(|s| s.is_int() || s.is_float());
        let reads = self
            .inside(frame)
            .filter(|node| matches!(self.tree.node(*node).kind, NodeKind::Let(_, Op::Get(of)) if of == local));
        let sets: Vec<NodeId> = self
            .inside(frame)
            .filter(|node| matches!(self.tree.node(*node).kind, NodeKind::Set(to, _) if to == local))
            .collect();
        let is_reduced = self
            .tree
            .reduced
            .get(&local)
            .is_some_and(|spaces| spaces.iter().any(|space| self.tree.within(*space, frame)));
        is_number(local) && !is_reduced && reads.count() == sets.len() && sets.iter().all(|set| self.adds(local, *set, &sets))
    }

    /// Is it `local = local + …`, with nothing set between?
    fn adds(&self, local: Local, set: NodeId, sets: &[NodeId]) -> bool {
        let NodeKind::Set(_, value) = self.tree.node(set).kind else {
            return false;
        };
        let read = |value: Value| {
            let node = *self.tree.defs.get(&value)?;
            let is_read = matches!(self.tree.node(node).kind, NodeKind::Let(_, Op::Get(of)) if of == local);
            (is_read && self.uses.get(&value) == Some(&1)).then_some(node)
        };
        let read = match self.tree.op(value) {
            _ if self.uses.get(&value) != Some(&1) => None,
            Some(Op::Binary(BinOp::Add, a, b)) => read(*a).or_else(|| read(*b)),
            Some(Op::Binary(BinOp::Sub, a, _)) => read(*a),
            _ => None,
        };
        let Some(read) = read else { return false };
        let (from, to) = (self.tree.node(read), self.tree.node(set));
        let between = |other: &NodeId| (from.order..to.order).contains(&self.tree.node(*other).order);
        from.block == to.block && !sets.iter().any(between)
    }

    /// May what a loop's turns leave in a local be read outside of it?
    fn is_read_behind(&self, local: Local, frame: FrameId) -> bool {
        let at = self.tree.node(self.tree.frame(frame).node).order;
        self.tree.nodes.iter().any(|node| {
            if !matches!(node.kind, NodeKind::Let(_, Op::Get(of)) if of == local) || self.tree.within(node.frame, frame) {
                return false;
            }
            let around = self.tree.frames_between(node.frame, TOP);
            let set_first = |around: &FrameId| {
                let apart = !self.tree.within(frame, *around) || node.order < at;
                apart && !self.tree.begins_with(local, *around)
            };
            !around.iter().any(set_first)
        })
    }

    /// Do turns touch elements of their own in all that the loop writes to?
    fn memory_is_apart(&self, frame: FrameId, var: Value) -> bool {
        let mut numbers = Numbers::new(self.tree);
        let written = self
            .roots
            .writers
            .iter()
            .filter(|(_, nodes)| nodes.iter().any(|node| self.is_in(*node, frame)));
        let written: Vec<Root> = written.map(|(root, _)| *root).collect();
        written
            .iter()
            .all(|root| *root != Root::Unknown && self.own_elements(*root, frame, var, &mut numbers))
    }

    fn is_in(&self, node: NodeId, frame: FrameId) -> bool {
        self.tree.within(self.tree.node(node).frame, frame)
    }

    fn own_elements(&self, root: Root, frame: FrameId, var: Value, numbers: &mut Numbers<'_>) -> bool {
        let all = self
            .roots
            .writers
            .get(&root)
            .into_iter()
            .chain(self.roots.readers.get(&root))
            .flatten();
        let mut agreed: Option<(Value, usize, usize)> = None;
        for node in all.filter(|node| self.is_in(**node, frame)) {
            let Some((view, indices)) = self.tree.access(*node) else {
                return false;
            };
            let moves = |index: &Index| !index.wrap && self.steps(index.value, frame, var).is_some_and(|by| by != 0);
            let same = match agreed {
                Some((of, axis, number)) => {
                    of == view
                        && indices
                            .get(axis)
                            .is_some_and(|index| !index.wrap && numbers.of(index.value) == number)
                }
                None => match indices.iter().position(moves) {
                    Some(axis) => {
                        agreed = Some((view, axis, numbers.of(indices[axis].value)));
                        self.is_from_outside(view, frame)
                    }
                    None => false,
                },
            };
            if !same {
                return false;
            }
        }
        true
    }

    fn is_from_outside(&self, view: Value, frame: FrameId) -> bool {
        self.tree.func.params.contains(&view) || !self.tree.within(self.tree.frame_of(view), frame)
    }

    /// By how much a value moves from one turn of a loop to the next, if it does by the same always and by nothing else. Those that move are
    /// different in all turns: no integer comes round to where it was, as those of few bits do.
    fn steps(&self, value: Value, frame: FrameId, var: Value) -> Option<i64> {
        if value == var {
            return Some(1);
        }
        let by = self.steps_of(value, frame, var)?;
        let comes_round = match self.tree.ty(value).scalar() {
            _ if by == 0 => false,
            Some(s) if s.is_int() && s.size() == 8 => by.unsigned_abs() >= 1 << 31,
            Some(s) if s.is_int() && s.size() == 4 => by.unsigned_abs() != 1,
            _ => true,
        };
        (!comes_round).then_some(by)
    }

    fn steps_of(&self, value: Value, frame: FrameId, var: Value) -> Option<i64> {
        if !self.tree.within(self.tree.frame_of(value), frame) {
            return Some(0);
        }
        match self.tree.op(value)? {
            Op::Const(_) => Some(0),
            Op::Dim(view, _) if self.is_from_outside(*view, frame) => Some(0),
            Op::Cast(of) => self.steps(*of, frame, var),
            Op::Unary(UnOp::Neg, of) => self.steps(*of, frame, var)?.checked_neg(),
            Op::Binary(BinOp::Add, a, b) => self.steps(*a, frame, var)?.checked_add(self.steps(*b, frame, var)?),
            Op::Binary(BinOp::Sub, a, b) => self.steps(*a, frame, var)?.checked_sub(self.steps(*b, frame, var)?),
            Op::Binary(BinOp::Mul, a, b) => match (self.tree.constant(*a), self.tree.constant(*b)) {
                (Some(Const::Int(_, by)), _) => self.steps(*b, frame, var)?.checked_mul(by),
                (_, Some(Const::Int(_, by))) => self.steps(*a, frame, var)?.checked_mul(by),
                _ => (self.steps(*a, frame, var)? == 0 && self.steps(*b, frame, var)? == 0).then_some(0),
            },
            _ => None,
        }
    }

    /// The same where indices of loops inside count as standing still: lanes are in the same turn of these.
    fn lanes_step(&self, value: Value, frame: FrameId, var: Value) -> Option<i64> {
        if value == var {
            return Some(1);
        }
        if self.tree.vars.contains_key(&value) {
            return Some(0);
        }
        match self.tree.op(value) {
            Some(Op::Binary(op @ (BinOp::Add | BinOp::Sub), a, b)) if self.steps(value, frame, var).is_none() => {
                let (a, b) = (self.lanes_step(*a, frame, var)?, self.lanes_step(*b, frame, var)?);
                if *op == BinOp::Add { a.checked_add(b) } else { a.checked_sub(b) }
            }
            _ => self.steps(value, frame, var),
        }
    }

    /// What an access in the innermost loops costs on the average, if the lanes are turns of this one.
    fn cost(&self, frame: FrameId, var: Value) -> Option<usize> {
        let accesses: Vec<&[Index]> = self.inside(frame).filter_map(|node| Some(self.tree.access(node)?.1)).collect();
        let deepest = accesses.iter().map(|indices| self.depth_of(indices)).max()?;
        let costs: Vec<usize> = accesses
            .into_iter()
            .filter(|indices| self.depth_of(indices) == deepest)
            .map(|indices| self.cost_of(indices, frame, var))
            .collect();
        Some(costs.iter().sum::<usize>() / costs.len().max(1))
    }

    /// How deep in loops an access has to stand: what does not change in a loop is read before it.
    fn depth_of(&self, indices: &[Index]) -> usize {
        indices.iter().map(|index| self.depth(index.value)).max().unwrap_or(0)
    }

    fn depth(&self, value: Value) -> usize {
        let around = |frame: FrameId| self.tree.frames_between(frame, TOP).len();
        if let Some(frame) = self.tree.vars.get(&value) {
            return around(*frame);
        }
        let Some(op) = self.tree.op(value) else { return 0 };
        if matches!(op, Op::Get(_) | Op::Load { .. }) {
            return around(self.tree.frame_of(value));
        }
        let mut deepest = 0;
        op.operands(&mut |operand| deepest = deepest.max(self.depth(operand)));
        deepest
    }

    fn cost_of(&self, indices: &[Index], frame: FrameId, var: Value) -> usize {
        let steps: Vec<Option<i64>> = indices.iter().map(|index| self.lanes_step(index.value, frame, var)).collect();
        let Some((last, outer)) = steps.split_last() else { return SAME };
        match last {
            _ if outer.iter().any(|step| *step != Some(0)) => FAR,
            Some(0) => SAME,
            Some(1 | -1) => NEIGHBOURS,
            _ => FAR,
        }
    }
}
