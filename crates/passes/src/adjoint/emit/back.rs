//! The way back through a frame: cotangents go from results to what they were made of.

use weft_ir::{
    AtomicOp, Axis, BinOp, Block, CmpOp, Const, Geometry, Index, Local, Op, Part, ReduceOp, Reduction, Scalar, StmtKind, Type, UnOp, Value,
};

use super::super::own::Adding;
use super::super::rules::{edges, number};
use super::super::tree::{FrameId, FrameKind, NodeId, NodeKind};
use super::Emitter;
use super::tape::STRETCH;

impl Emitter<'_> {
    pub(super) fn back(&mut self, frame: FrameId, list: &[NodeId]) {
        for id in list.iter().rev() {
            if !self.parts.plan.reversed.contains(id) {
                continue;
            }
            let node = self.tree.node(*id);
            self.b.span = node.span;
            let block = node.block;
            match &node.kind {
                NodeKind::Let(
                    _,
                    Op::Atomic {
                        op, view, indices, value, ..
                    },
                ) => {
                    if self.is_active(*value) {
                        let shadow = self.shadow(*view);
                        let indices = self.indices(indices);
                        let g = self.load_at(shadow, indices, Part::Whole);
                        let g = if *op == AtomicOp::Sub { self.b.unary(UnOp::Neg, g) } else { g };
                        self.give(*value, g, block);
                    }
                }
                NodeKind::Let(value, op) => self.back_through(*id, *value, op),
                NodeKind::Set(local, value) => {
                    let from = self.adjoint_local(*local);
                    let g = self.b.get(from);
                    self.zero_adjoint(*local);
                    if self.is_active(*value) {
                        self.give(*value, g, block);
                    }
                }
                NodeKind::Plain(StmtKind::Store {
                    view,
                    indices,
                    part,
                    value,
                }) => self.back_store(*id, *view, indices, *part, *value),
                NodeKind::Plain(StmtKind::Barrier) => self.b.push(StmtKind::Barrier),
                NodeKind::Plain(_) => {}
                NodeKind::If { cond, then, other } => {
                    let cond = self.value(*cond);
                    let then = self.branch_back(frame, then);
                    let other = self.branch_back(frame, other);
                    self.b.span = node.span;
                    self.b.push(StmtKind::If { cond, then, other });
                }
                NodeKind::Loop(inner) => self.loop_back(*inner),
                NodeKind::Result(values) => self.results_back(values, block),
            }
        }
    }

    fn branch_back(&mut self, frame: FrameId, list: &[NodeId]) -> Block {
        self.open();
        if let Some(first) = list.first() {
            let block = self.tree.node(*first).block;
            self.zero_crossing(block);
            self.back(frame, list);
        }
        self.close()
    }

    /// Adds to the cotangent of a value, from a node in a block of the primal.
    fn give(&mut self, value: Value, g: Value, block: usize) {
        if self.tree.block_of(value) == block {
            let sum = match self.pending.get(&value).copied() {
                Some(before) => self.b.binary(BinOp::Add, before, g),
                None => g,
            };
            self.pending.insert(value, sum);
            return;
        }
        let local = self.adjoint_value(value);
        let before = self.b.get(local);
        let sum = self.b.binary(BinOp::Add, before, g);
        self.b.set(local, sum);
    }

    /// The cotangent of a value, all of it.
    pub(super) fn take(&mut self, value: Value) -> Option<Value> {
        let own = self.pending.remove(&value);
        if !self.crossing.contains(&value) {
            return own;
        }
        let local = self.adjoint_value(value);
        let other = self.b.get(local);
        Some(match own {
            Some(own) => self.b.binary(BinOp::Add, other, own),
            None => other,
        })
    }

    fn back_through(&mut self, id: NodeId, value: Value, op: &Op) {
        let block = self.tree.node(id).block;
        let Some(g) = self.take(value) else { return };
        match op {
            Op::Get(local) => {
                let to = self.adjoint_local(*local);
                let before = self.b.get(to);
                let sum = self.b.binary(BinOp::Add, before, g);
                self.b.set(to, sum);
            }
            Op::Load { view, indices, part } => {
                let adding = self.parts.own.loads.get(&id).cloned().unwrap_or(Adding::Plain);
                if adding == Adding::Nothing || !self.parts.activity.has_shadow(self.parts.roots, *view) {
                    return;
                }
                let shadow = self.shadow(*view);
                let indices = self.indices(indices);
                match adding {
                    Adding::PlainIfSingle(axes) => {
                        let cond = self.single(&axes);
                        self.open();
                        self.add_to(shadow, indices.clone(), *part, g, true);
                        let then = self.close();
                        self.open();
                        self.add_to(shadow, indices, *part, g, false);
                        let other = self.close();
                        self.b.push(StmtKind::If { cond, then, other });
                    }
                    adding => self.add_to(shadow, indices, *part, g, adding == Adding::Plain),
                }
            }
            op => {
                for (operand, factor) in edges(self.tree, self.parts.book, value, op) {
                    if !self.is_active(operand) {
                        continue;
                    }
                    let needs = factor.needs();
                    let known: Vec<(Value, Value)> = needs.iter().map(|need| (*need, self.value(*need))).collect();
                    let of = |need: Value| known.iter().find(|(v, _)| *v == need).map_or(need, |(_, new)| *new);
                    let to = self.tree.ty(operand).scalar().unwrap_or(Scalar::F64);
                    let share = factor.apply(&mut self.b, g, to, &of);
                    self.give(operand, share, block);
                }
            }
        }
    }

    /// Has the grid one thread along each of these axes?
    fn single(&mut self, axes: &[Axis]) -> Value {
        let one = self.b.i64(1);
        let mut all = None;
        for axis in axes {
            for geometry in [Geometry::BlockDim(*axis), Geometry::GridDim(*axis)] {
                let n = self.b.emit(Type::I64, Op::Geometry(geometry));
                let is = self.b.compare(CmpOp::Eq, n, one);
                all = Some(match all {
                    Some(before) => self.b.binary(BinOp::And, before, is),
                    None => is,
                });
            }
        }
        match all {
            Some(all) => all,
            None => self.b.constant(Const::Bool(true)),
        }
    }

    fn load_at(&mut self, shadow: Value, indices: Vec<Index>, part: Part) -> Value {
        let elem = self.b.ty(shadow).view().map_or(Scalar::F64, |view| view.elem);
        let elem = if part == Part::Whole { elem } else { elem.part() };
        let g = self.b.emit(
            elem,
            Op::Load {
                view: shadow,
                indices,
                part,
            },
        );
        if part == Part::Im { self.b.unary(UnOp::Neg, g) } else { g }
    }

    fn back_store(&mut self, id: NodeId, view: Value, indices: &[Index], part: Part, value: Value) {
        let block = self.tree.node(id).block;
        let shadow = self.shadow(view);
        let indices = self.indices(indices);
        let g = self.load_at(shadow, indices.clone(), part);
        if let Some((added, minus)) = self.parts.own.adds.get(&id).copied() {
            if self.is_active(added) {
                let g = if minus { self.b.unary(UnOp::Neg, g) } else { g };
                self.give(added, g, block);
            }
            return;
        }
        let scalar = self.b.ty(g).scalar().unwrap_or(Scalar::F64);
        let zero = number(&mut self.b, scalar, 0.0);
        self.b.push(StmtKind::Store {
            view: shadow,
            indices,
            part,
            value: zero,
        });
        if self.is_active(value) {
            self.give(value, g, block);
        }
    }

    fn results_back(&mut self, values: &[Value], block: usize) {
        for (at, value) in values.iter().enumerate() {
            let Some(given) = self.cotangents.get(&at).copied() else { continue };
            let Some(ty) = self.tree.ty(*value).view() else {
                if self.is_active(*value) {
                    let g = match self.parts.imaginary_results.contains(&at) {
                        true => self.b.unary(UnOp::Neg, given),
                        false => given,
                    };
                    self.give(*value, g, block);
                }
                continue;
            };
            if !self.parts.activity.has_shadow(self.parts.roots, *value) {
                continue;
            }
            let shadow = self.shadow(*value);
            let shape: Vec<Value> = (0..ty.rank).map(|axis| self.b.emit(Type::I64, Op::Dim(shadow, axis))).collect();
            let parts = if ty.elem.is_complex() {
                vec![Part::Re, Part::Im]
            } else {
                vec![Part::Whole]
            };
            let elem = if ty.elem.is_complex() { ty.elem.part() } else { ty.elem };
            self.each_element(&shape, |e, indices| {
                for part in parts {
                    let g = e.b.emit(
                        elem,
                        Op::Load {
                            view: given,
                            indices: indices.clone(),
                            part,
                        },
                    );
                    let old = e.b.emit(
                        elem,
                        Op::Load {
                            view: shadow,
                            indices: indices.clone(),
                            part,
                        },
                    );
                    let sum = e.b.binary(BinOp::Add, old, g);
                    e.b.push(StmtKind::Store {
                        view: shadow,
                        indices: indices.clone(),
                        part,
                        value: sum,
                    });
                }
            });
        }
    }

    fn loop_back(&mut self, inner: FrameId) {
        let entry = self.tree.frame(inner);
        let (kind, body, block, span) = (entry.kind.clone(), entry.body.clone(), entry.block, self.tree.node(entry.node).span);
        for value in self.parts.plan.reads.get(&inner).cloned().unwrap_or_default() {
            match self.tree.ty(value).view() {
                Some(_) if self.shadows_spilled.contains_key(&value) => drop(self.shadow(value)),
                _ => {}
            }
            self.value(value);
        }
        if kind.is_points() {
            return self.points_back(inner, &kind, &body);
        }
        for (local, value) in self.before(inner) {
            let (to, from) = (self.local(local), self.value(value));
            self.b.set(to, from);
            if self.tracks(local) {
                let shadow = self.shadow(value);
                let ty = self.shadow_local_ty(local);
                let to = self.shadow_local(local, ty);
                self.b.set(to, shadow);
            }
        }
        let turns = match self.turns_counted(inner) {
            Some(turns) => turns,
            None => self.turns_of(&kind),
        };
        let header = match &kind {
            FrameKind::Counted { var, start, step, .. } => Some((*var, self.value(*start), self.value(*step))),
            _ => None,
        };
        if self.tapes.steps.contains_key(&inner) {
            self.steps_back(inner, header, turns, &body);
            return;
        }
        let zero = self.b.i64(0);
        if self.parts.plan.again.contains(&inner) && !self.may_run_again(inner) {
            self.fail(
                span,
                "threads wait for each other in this loop, whose turns change memory that the way back reads",
            );
            return;
        }
        self.downwards(turns, zero, |e, turn| {
            if e.parts.plan.again.contains(&inner) {
                e.run_up_to(inner, header, turn, &body);
            }
            e.set_var(header, turn);
            e.restore(inner, turn);
            e.whole(inner, block, &body);
        });
        self.b.span = span;
    }

    /// The turns before one, from the first on.
    fn run_up_to(&mut self, inner: FrameId, header: Option<(Value, Value, Value)>, turn: Value, body: &[NodeId]) {
        for (local, value) in self.before(inner) {
            let (to, from) = (self.local(local), self.value(value));
            self.b.set(to, from);
        }
        let (start, step) = (self.b.i64(0), self.b.i64(1));
        let var = self.b.func.new_value(Type::I64);
        self.open();
        self.set_var(header, var);
        let parent = self.tree.frame(inner).parent;
        self.forth(parent, body, true, true);
        let body = self.close();
        let stop = turn;
        self.b.push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
    }

    /// A loop from `stop - 1` down to `start`.
    fn downwards(&mut self, stop: Value, start: Value, what: impl FnOnce(&mut Self, Value)) {
        let (one, step) = (self.b.i64(1), self.b.i64(-1));
        let (first, end) = (self.b.binary(BinOp::Sub, stop, one), self.b.binary(BinOp::Sub, start, one));
        let var = self.b.func.new_value(Type::I64);
        self.open();
        what(self, var);
        let body = self.close();
        let (start, stop) = (first, end);
        self.b.push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
    }

    /// The index of a counted loop in a turn.
    fn set_var(&mut self, header: Option<(Value, Value, Value)>, turn: Value) {
        if let Some((var, start, step)) = header {
            let far = self.b.binary(BinOp::Mul, turn, step);
            let at = self.b.binary(BinOp::Add, start, far);
            self.values.insert(var, at);
        }
    }

    /// The way back through a loop of which some turns were kept.
    fn steps_back(&mut self, inner: FrameId, header: Option<(Value, Value, Value)>, turns: Value, body: &[NodeId]) {
        let Some(steps) = self.tapes.steps.get(&inner).cloned() else {
            return;
        };
        let (parent, block) = (self.tree.frame(inner).parent, self.tree.frame(inner).block);
        let (zero, one, stretch, most) = (self.b.i64(0), self.b.i64(1), self.b.i64(STRETCH), self.b.i64(STRETCH - 1));
        let (slots, stride) = (self.b.get(steps.slot), self.b.get(steps.stride));
        self.downwards(slots, zero, |e, slot| {
            let from = e.b.binary(BinOp::Mul, slot, stride);
            let to = e.b.binary(BinOp::Add, from, stride);
            let to = e.b.binary(BinOp::Min, to, turns);
            let len = e.b.binary(BinOp::Sub, to, from);
            let len = e.b.binary(BinOp::Add, len, most);
            let stretches = e.b.binary(BinOp::FloorDiv, len, stretch);
            e.downwards(stretches, zero, |e, number| {
                let first = e.b.binary(BinOp::Mul, number, stretch);
                let first = e.b.binary(BinOp::Add, from, first);
                let stop = e.b.binary(BinOp::Add, first, stretch);
                let stop = e.b.binary(BinOp::Min, stop, to);
                e.restore_slot(inner, slot);
                e.restore_rising(inner, from);
                let var = e.b.func.new_value(Type::I64);
                e.open();
                let place = e.b.binary(BinOp::Sub, var, first);
                let inside = e.b.compare(CmpOp::Ge, var, first);
                e.open();
                e.keep_place(inner, place);
                let then = e.close();
                e.b.push(StmtKind::If {
                    cond: inside,
                    then,
                    other: Block::default(),
                });
                let last = e.b.binary(BinOp::Sub, stop, one);
                let goes_on = e.b.compare(CmpOp::Lt, var, last);
                e.open();
                e.set_var(header, var);
                e.forth(parent, body, true, true);
                let then = e.close();
                e.b.push(StmtKind::If {
                    cond: goes_on,
                    then,
                    other: Block::default(),
                });
                let again = e.close();
                e.b.push(StmtKind::For {
                    var,
                    start: from,
                    stop,
                    step: one,
                    body: again,
                });
                e.downwards(stop, first, |e, turn| {
                    e.set_var(header, turn);
                    e.restore_rising(inner, turn);
                    let place = e.b.binary(BinOp::Sub, turn, first);
                    e.restore_place(inner, place);
                    e.whole(inner, block, body);
                });
            });
        });
    }

    /// How often a counted loop runs: in unsigned numbers, in which no difference is too large.
    fn turns_of(&mut self, kind: &FrameKind) -> Value {
        let FrameKind::Counted { start, stop, step, .. } = kind else {
            return self.b.i64(0);
        };
        let unit = self.tree.int(*step) == Some(1);
        let (start, stop, step) = (self.value(*start), self.value(*stop), self.value(*step));
        let zero = self.b.i64(0);
        let rising = self.b.binary(BinOp::Sub, stop, start);
        let over = self.b.compare(CmpOp::Lt, start, stop);
        if unit {
            return self.b.select(over, rising, zero);
        }
        let falling = self.b.binary(BinOp::Sub, start, stop);
        let under = self.b.compare(CmpOp::Gt, start, stop);
        let up = self.b.compare(CmpOp::Gt, step, zero);
        let far = self.b.select(up, rising, falling);
        let back = self.b.unary(UnOp::Neg, step);
        let stride = self.b.select(up, step, back);
        let any = self.b.select(up, over, under);
        let (far, stride) = (self.b.cast(far, Scalar::U64), self.b.cast(stride, Scalar::U64));
        let one = self.b.constant(Const::Int(Scalar::U64, 1));
        let rest = self.b.binary(BinOp::Sub, far, one);
        let whole = self.b.binary(BinOp::FloorDiv, rest, stride);
        let turns = self.b.binary(BinOp::Add, whole, one);
        let turns = self.b.cast(turns, Scalar::I64);
        self.b.select(any, turns, zero)
    }

    fn points_back(&mut self, inner: FrameId, kind: &FrameKind, body: &[NodeId]) {
        let FrameKind::Points {
            vars,
            extents,
            reductions,
            spread,
            ..
        } = kind
        else {
            return;
        };
        let (block, span) = (self.tree.frame(inner).block, self.tree.node(self.tree.frame(inner).node).span);
        let extents: Vec<Value> = extents.iter().map(|extent| self.value(*extent)).collect();
        let fixed = reductions.first().is_some_and(|r| r.fixed);
        let mut gathered = Vec::new();
        for value in self.captured(inner) {
            let local = self.adjoint_value(value);
            gathered.push(Reduction {
                local,
                op: ReduceOp::Add,
                fixed,
            });
        }
        // Each point has cotangents of locals of its own; those that it reads from around are summed up.
        let mut starts: Vec<(Local, Option<Value>)> = Vec::new();
        let mut sums: Vec<(Local, Local)> = Vec::new();
        for local in (0..self.tree.func.locals.len() as u32).map(Local) {
            if !self.parts.activity.is_active_local(self.tree, local) || !self.touches(local, inner) {
                continue;
            }
            let from = self.adjoint_local(local);
            let reduced = reductions.iter().any(|r| r.local == local);
            if reduced {
                starts.push((local, Some(self.b.get(from))));
            } else if self.tree.sets_within(local, inner) && !self.tree.begins_with(local, inner) {
                starts.push((local, None));
            } else {
                let data = self.b.func.locals[from.index()].clone();
                let sum = self.b.func.new_local(data.ty, data.name);
                self.zero(sum);
                gathered.push(Reduction {
                    local: sum,
                    op: ReduceOp::Add,
                    fixed,
                });
                sums.push((local, sum));
            }
        }
        let mut before = Vec::new();
        for (local, value) in self.before(inner) {
            let shadow = self.tracks(local).then(|| self.shadow(value));
            before.push((local, self.value(value), shadow));
        }
        let outer_adjoints = self.adjoint_locals.clone();
        let outer_locals = self.private_locals(inner, &[]);
        self.open();
        let vars = self.new_vars(vars);
        for (local, value, shadow) in before {
            let to = self.local(local);
            self.b.set(to, value);
            if let Some(shadow) = shadow {
                let ty = self.shadow_local_ty(local);
                let to = self.shadow_local(local, ty);
                self.b.set(to, shadow);
            }
        }
        for (local, sum) in &sums {
            self.adjoint_locals.insert(*local, *sum);
        }
        for (local, start) in starts {
            self.adjoint_locals.remove(&local);
            match start {
                Some(start) => {
                    let to = self.adjoint_local(local);
                    self.b.set(to, start);
                }
                None => self.zero_adjoint(local),
            }
        }
        self.whole(inner, block, body);
        let body = self.close();
        self.adjoint_locals = outer_adjoints;
        self.locals = outer_locals;
        self.b.span = span;
        self.b.push(StmtKind::ParFor {
            vars,
            extents,
            reductions: gathered,
            spread: *spread,
            body,
        });
        for (local, sum) in sums {
            let to = self.adjoint_local(local);
            let (before, more) = (self.b.get(to), self.b.get(sum));
            let all = self.b.binary(BinOp::Add, before, more);
            self.b.set(to, all);
        }
    }

    fn zero(&mut self, local: Local) {
        if let Some(scalar) = self.b.func.local_ty(local).scalar() {
            let zero = number(&mut self.b, scalar, 0.0);
            self.b.set(local, zero);
        }
    }

    /// Is a local read or set inside of a frame?
    fn touches(&self, local: Local, frame: FrameId) -> bool {
        self.tree.nodes.iter().any(|node| {
            let named = match &node.kind {
                NodeKind::Let(_, Op::Get(of)) | NodeKind::Set(of, _) => *of == local,
                _ => false,
            };
            named && self.tree.within(node.frame, frame)
        })
    }

    /// Values from around an index space that its points give cotangents to.
    fn captured(&self, frame: FrameId) -> Vec<Value> {
        let mut found = Vec::new();
        for node in &self.tree.nodes {
            if !self.tree.within(node.frame, frame) {
                continue;
            }
            for value in self.receivers(node) {
                let outside = !self.tree.within(self.tree.frame_of(value), frame);
                if outside && self.is_active(value) && !found.contains(&value) {
                    found.push(value);
                }
            }
        }
        found.sort_unstable();
        found
    }
}
