//! What is kept of the way forwards: how often loops ran, the locals that their turns began with, elements that are overwritten.
//!
//! On the host these are arrays that grow; in threads and points they have the length that is known when the code is made.

use std::collections::HashMap;

use weft_ir::{
    ArrayDecl, ArrayId, Axis, BinOp, Block, CmpOp, Geometry, Index, Layout, Local, Op, Part, Scalar, Space, StmtKind, Type, Value, ViewType,
};

use super::super::plan::Class;
use super::super::plan::memory::class;
use super::super::roots::Root;
use super::super::rules::number;
use super::super::tree::{FrameId, FrameKind, NodeId, NodeKind};
use super::Emitter;

#[derive(Default)]
pub struct Tapes {
    /// Of a loop, the local that counts its turns.
    counters: HashMap<FrameId, Local>,
    /// What a local held at the start of each turn of a loop.
    carried: HashMap<(FrameId, Local), Tape>,
    /// What a load read each time.
    loads: HashMap<NodeId, Tape>,
    /// Of loops in threads and points, what is kept of some of their turns.
    pub steps: HashMap<FrameId, Steps>,
    pub array_shadows: HashMap<ArrayId, ArrayId>,
}

#[derive(Clone, Copy)]
enum Tape {
    /// A local that holds an array of the heap.
    Growing(Local, Scalar),
    Fixed(ArrayId, Scalar),
}

/// Loops of any number of turns in threads and points: what their locals held is kept of every so manieth turn, in `SLOTS` places, and in
/// half as many when these are full. The way back takes the turns from a kept one on in stretches of `STRETCH`, before each of which it goes
/// forwards once more from there, keeping what they begin with.
#[derive(Clone)]
pub struct Steps {
    pub stride: Local,
    next: Local,
    pub slot: Local,
    kept: Vec<(Local, Tape, Tape)>,
}

pub const SLOTS: i64 = 32;
pub const STRETCH: i64 = 32;

/// Turns of loops that are kept one by one though they could be gone through again, at most; and turns of loops in threads and points whose locals are kept, at most; and bytes of a thread.
const FEW_TURNS: i64 = 64;
const MOST_TURNS: i64 = 4096;
const MOST_BYTES: i64 = 32768;

fn view_of(elem: Scalar, space: Space) -> ViewType {
    ViewType {
        elem,
        rank: 1,
        layout: Layout::C,
        space,
        writable: true,
    }
}

impl Emitter<'_> {
    /// Makes tapes, and shadows of shared and local arrays, at the start of the function.
    pub(super) fn open_tapes(&mut self) {
        let mut carried: Vec<(FrameId, Local)> = Vec::new();
        for (frame, locals) in &self.parts.plan.carried {
            carried.extend(locals.iter().map(|local| (*frame, *local)));
        }
        carried.sort_unstable();
        for (frame, local) in carried {
            if self.steps_through(frame) {
                self.keep_steps(frame, local);
                continue;
            }
            if let Some(tape) = self.carried_tape(frame, local) {
                self.tapes.carried.insert((frame, local), tape);
            }
        }
        let mut taped: Vec<(NodeId, Local)> = self.parts.plan.taped.iter().map(|(node, local)| (*node, *local)).collect();
        taped.sort_unstable();
        for (node, position) in taped {
            let elem = match &self.tree.node(node).kind {
                NodeKind::Let(value, _) => self.tree.ty(*value).scalar(),
                _ => None,
            };
            let tape = self.growing(elem.unwrap_or(Scalar::F64));
            self.tapes.loads.insert(node, tape);
            let (zero, local) = (self.b.i64(0), self.local(position));
            self.b.set(local, zero);
        }
        self.array_shadows();
    }

    /// Is a loop one of those whose turns are kept now and then?
    fn steps_through(&self, frame: FrameId) -> bool {
        !self.grows(frame) && self.turns(frame).is_none_or(|turns| turns > FEW_TURNS) && self.may_run_again(frame)
    }

    fn keep_steps(&mut self, frame: FrameId, local: Local) {
        let Some(elem) = self.tree.func.local_ty(local).scalar() else {
            self.carried_tape(frame, local);
            return;
        };
        let (slots, stretch) = (self.fixed(elem, SLOTS), self.fixed(elem, STRETCH));
        if !self.tapes.steps.contains_key(&frame) {
            let mut new = |name| self.b.func.new_local(Type::I64, name);
            let (stride, next, slot) = (new("stride"), new("next"), new("slot"));
            let kept = Vec::new();
            self.tapes.steps.insert(frame, Steps { stride, next, slot, kept });
        }
        if let Some(steps) = self.tapes.steps.get_mut(&frame) {
            steps.kept.push((local, slots, stretch));
        }
    }

    /// May the way forth through a loop be gone once more when memory holds what it does in the end?
    pub(super) fn may_run_again(&self, inner: FrameId) -> bool {
        let parent = self.tree.frame(inner).parent;
        let Some(slice) = self.parts.plan.slices.get(&parent) else {
            return false;
        };
        let inside = |node: NodeId| self.tree.within(self.tree.node(node).frame, inner);
        let changes = slice.nodes.iter().any(|node| {
            let changes = match &self.tree.node(*node).kind {
                NodeKind::Plain(kind) => !matches!(kind, StmtKind::Raise { .. }),
                NodeKind::Let(..) => true,
                _ => false,
            };
            changes && inside(*node)
        });
        let reads = slice.values.iter().any(|value| {
            let (Some(node), Some(Op::Load { view, .. })) = (self.tree.defs.get(value), self.tree.op(*value)) else {
                return false;
            };
            inside(*node) && class(self.tree, self.parts.roots, &self.parts.plan.copies, *node, *view) == Class::Taped
        });
        !changes && !reads
    }

    /// At the start of a turn: is it one to keep?
    fn record_step(&mut self, inner: FrameId, turn: Value) {
        let Some(steps) = self.tapes.steps.get(&inner).cloned() else {
            return;
        };
        let next = self.b.get(steps.next);
        let due = self.b.compare(CmpOp::Eq, turn, next);
        self.open();
        let (slot, all) = (self.b.get(steps.slot), self.b.i64(SLOTS));
        let full = self.b.compare(CmpOp::Eq, slot, all);
        self.open();
        let (start, stop, step) = (self.b.i64(0), self.b.i64(SLOTS / 2), self.b.i64(1));
        let var = self.b.func.new_value(Type::I64);
        self.open();
        let twice = self.b.binary(BinOp::Add, var, var);
        for (_, slots, _) in &steps.kept {
            let value = self.read(*slots, twice);
            self.write(*slots, var, value);
        }
        let body = self.close();
        self.b.push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
        self.b.set(steps.slot, stop);
        let stride = self.b.get(steps.stride);
        let stride = self.b.binary(BinOp::Add, stride, stride);
        self.b.set(steps.stride, stride);
        let then = self.close();
        self.b.push(StmtKind::If {
            cond: full,
            then,
            other: Block::default(),
        });
        let slot = self.b.get(steps.slot);
        for (local, slots, _) in &steps.kept {
            let from = self.local(*local);
            let value = self.b.get(from);
            self.write(*slots, slot, value);
        }
        let one = self.b.i64(1);
        let slot = self.b.binary(BinOp::Add, slot, one);
        self.b.set(steps.slot, slot);
        let stride = self.b.get(steps.stride);
        let next = self.b.binary(BinOp::Add, turn, stride);
        self.b.set(steps.next, next);
        let then = self.close();
        self.b.push(StmtKind::If {
            cond: due,
            then,
            other: Block::default(),
        });
    }

    /// Sets the locals to what was kept in a slot, or in a place of the stretch; or keeps them there.
    pub(super) fn restore_slot(&mut self, inner: FrameId, slot: Value) {
        for (local, slots, _) in self.tapes.steps.get(&inner).map_or_else(Vec::new, |steps| steps.kept.clone()) {
            let (value, to) = (self.read(slots, slot), self.local(local));
            self.b.set(to, value);
        }
    }

    /// Sets the locals that rise by the same in each turn.
    pub(super) fn restore_rising(&mut self, inner: FrameId, turn: Value) {
        let of_loop = self.parts.plan.rising.iter().filter(|((frame, _), _)| *frame == inner);
        let mut rising: Vec<(Local, Option<Value>)> = of_loop.map(|((_, local), step)| (*local, *step)).collect();
        rising.sort_unstable();
        for (local, step) in rising {
            let Some(before) = self.parts.plan.before.get(&(inner, local)).copied() else {
                continue;
            };
            let before = self.value(before);
            let scalar = self.tree.func.local_ty(local).scalar().unwrap_or(Scalar::I64);
            let turns = self.b.cast(turn, scalar);
            let far = match step {
                Some(step) => {
                    let step = self.value(step);
                    self.b.binary(BinOp::Mul, turns, step)
                }
                None => turns,
            };
            let now = self.b.binary(BinOp::Add, before, far);
            let to = self.local(local);
            self.b.set(to, now);
        }
    }

    pub(super) fn restore_place(&mut self, inner: FrameId, place: Value) {
        for (local, _, stretch) in self.tapes.steps.get(&inner).map_or_else(Vec::new, |steps| steps.kept.clone()) {
            let (value, to) = (self.read(stretch, place), self.local(local));
            self.b.set(to, value);
        }
    }

    pub(super) fn keep_place(&mut self, inner: FrameId, place: Value) {
        for (local, _, stretch) in self.tapes.steps.get(&inner).map_or_else(Vec::new, |steps| steps.kept.clone()) {
            let from = self.local(local);
            let value = self.b.get(from);
            self.write(stretch, place, value);
        }
    }

    fn carried_tape(&mut self, frame: FrameId, local: Local) -> Option<Tape> {
        let span = self.tree.node(self.tree.frame(frame).node).span;
        let name = self.tree.func.locals[local.index()].name.clone();
        let Some(elem) = self.tree.func.local_ty(local).scalar() else {
            self.fail(
                span,
                &format!("the turns of this loop hand on `{name}`, an array: write to arrays that are there before the loop"),
            );
            return None;
        };
        if self.grows(frame) {
            return Some(self.growing(elem));
        }
        match self.turns(frame) {
            Some(turns) if turns <= MOST_TURNS && turns * (elem.size() as i64) <= MOST_BYTES => Some(self.fixed(elem, turns)),
            _ => {
                self.fail(
                    span,
                    &format!(
                        "the way back needs what `{name}` held in each turn of this loop, whose number of turns is not known when the code \
                         is made: give it a range with constant bounds, or the function a rule with defvjp"
                    ),
                );
                None
            }
        }
    }

    /// Shadows of shared and local arrays, which start as zeros.
    fn array_shadows(&mut self) {
        let shadowed = self.parts.activity.shadowed.iter();
        let mut arrays: Vec<ArrayId> = shadowed
            .filter_map(|root| match root {
                Root::Array(id) => Some(*id),
                _ => None,
            })
            .collect();
        arrays.sort_unstable();
        for id in arrays {
            let decl = self.tree.func.arrays[id.index()].clone();
            let (elem, rank, space) = (decl.elem, decl.shape.len() as u8, decl.space);
            let lens = decl.shape.clone();
            let shape: Vec<Value> = decl.shape.iter().map(|len| self.b.i64(*len as i64)).collect();
            let shadow = self.b.func.new_array(ArrayDecl {
                name: format!("d_{}", decl.name),
                ..decl
            });
            self.tapes.array_shadows.insert(id, shadow);
            let view = self.b.emit(
                ViewType {
                    elem,
                    rank,
                    layout: Layout::C,
                    space,
                    writable: true,
                },
                Op::Array(shadow),
            );
            let zero = number(&mut self.b, elem, 0.0);
            if space == Space::Shared {
                self.zero_together(view, &lens, zero);
                continue;
            }
            self.each_element(&shape, |e, indices| {
                e.b.push(StmtKind::Store {
                    view,
                    indices,
                    part: Part::Whole,
                    value: zero,
                })
            });
        }
        if self.parts.plan.meets {
            self.b.push(StmtKind::Barrier);
        }
    }

    /// The threads of a block share the elements of an array among them.
    fn zero_together(&mut self, view: Value, shape: &[u64], zero: Value) {
        let len = self.b.i64(shape.iter().product::<u64>() as i64);
        let (mut own, mut all) = (self.b.i64(0), self.b.i64(1));
        for axis in [Axis::Z, Axis::Y, Axis::X] {
            let width = self.b.emit(Type::I64, Op::Geometry(Geometry::BlockDim(axis)));
            let at = self.b.emit(Type::I64, Op::Geometry(Geometry::ThreadIdx(axis)));
            let before = self.b.binary(BinOp::Mul, own, width);
            own = self.b.binary(BinOp::Add, before, at);
            all = self.b.binary(BinOp::Mul, all, width);
        }
        let var = self.b.func.new_value(Type::I64);
        self.open();
        let (mut rest, mut indices) = (var, Vec::new());
        for len in shape.iter().rev() {
            let len = self.b.i64(*len as i64);
            let at = self.b.binary(BinOp::Mod, rest, len);
            indices.insert(0, Index { value: at, wrap: false });
            rest = self.b.binary(BinOp::FloorDiv, rest, len);
        }
        let (part, value) = (Part::Whole, zero);
        self.b.push(StmtKind::Store {
            view,
            indices,
            part,
            value,
        });
        let body = self.close();
        let (start, stop, step) = (own, len, all);
        self.b.push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
    }

    /// Can the arrays of a loop's tape grow?
    fn grows(&self, frame: FrameId) -> bool {
        self.is_host() && !self.tree.in_points(self.tree.frame(frame).parent)
    }

    /// How often a loop runs at most, if that is known.
    fn turns(&self, frame: FrameId) -> Option<i64> {
        let FrameKind::Counted { start, stop, step, .. } = self.tree.frame(frame).kind else {
            return None;
        };
        let (start, stop, step) = (self.tree.int(start)?, self.tree.int(stop)?, self.tree.int(step)?);
        let far = if step > 0 {
            stop.checked_sub(start)?
        } else {
            start.checked_sub(stop)?
        };
        let step = step.checked_abs().filter(|step| *step > 0)?;
        Some(far.max(0).checked_add(step - 1)? / step)
    }

    fn growing(&mut self, elem: Scalar) -> Tape {
        let ty = view_of(elem, Space::Global);
        let local = self.b.func.new_local(Type::View(ty), "tape");
        let len = self.b.i64(64);
        let made = self.b.emit(
            ty,
            Op::Alloc {
                zeroed: false,
                shape: vec![len],
            },
        );
        self.b.set(local, made);
        Tape::Growing(local, elem)
    }

    fn fixed(&mut self, elem: Scalar, len: i64) -> Tape {
        let decl = ArrayDecl {
            name: "tape".into(),
            elem,
            shape: vec![len.max(1) as u64],
            space: Space::Local,
        };
        Tape::Fixed(self.b.func.new_array(decl), elem)
    }

    fn tape_view(&mut self, tape: Tape) -> Value {
        match tape {
            Tape::Growing(local, _) => self.b.get(local),
            Tape::Fixed(id, elem) => self.b.emit(view_of(elem, Space::Local), Op::Array(id)),
        }
    }

    fn read(&mut self, tape: Tape, at: Value) -> Value {
        let (Tape::Growing(_, elem) | Tape::Fixed(_, elem)) = tape;
        let view = self.tape_view(tape);
        let indices = vec![Index { value: at, wrap: false }];
        self.b.emit(
            elem,
            Op::Load {
                view,
                indices,
                part: Part::Whole,
            },
        )
    }

    fn write(&mut self, tape: Tape, at: Value, value: Value) {
        if let Tape::Growing(local, elem) = tape {
            self.make_room(local, elem, at);
        }
        let view = self.tape_view(tape);
        let indices = vec![Index { value: at, wrap: false }];
        self.b.push(StmtKind::Store {
            view,
            indices,
            part: Part::Whole,
            value,
        });
    }

    /// A tape that is full becomes one of twice the length.
    fn make_room(&mut self, local: Local, elem: Scalar, at: Value) {
        let ty = view_of(elem, Space::Global);
        let old = self.b.get(local);
        let len = self.b.emit(Type::I64, Op::Dim(old, 0));
        let full = self.b.compare(CmpOp::Ge, at, len);
        self.open();
        let twice = self.b.binary(BinOp::Add, len, len);
        let new = self.b.emit(
            ty,
            Op::Alloc {
                zeroed: false,
                shape: vec![twice],
            },
        );
        self.each_element(&[len], |e, indices| {
            let value = e.b.emit(
                elem,
                Op::Load {
                    view: old,
                    indices: indices.clone(),
                    part: Part::Whole,
                },
            );
            e.b.push(StmtKind::Store {
                view: new,
                indices,
                part: Part::Whole,
                value,
            });
        });
        self.b.set(local, new);
        let then = self.close();
        self.b.push(StmtKind::If {
            cond: full,
            then,
            other: Block::default(),
        });
    }

    /// Before a loop whose turns are counted.
    pub(super) fn start_record(&mut self, inner: FrameId) {
        let func = &mut self.b.func;
        let counter = *self
            .tapes
            .counters
            .entry(inner)
            .or_insert_with(|| func.new_local(Type::I64, "turns"));
        let zero = self.b.i64(0);
        self.b.set(counter, zero);
        if let Some(steps) = self.tapes.steps.get(&inner).cloned() {
            let one = self.b.i64(1);
            self.b.set(steps.stride, one);
            self.b.set(steps.next, zero);
            self.b.set(steps.slot, zero);
        }
    }

    /// At the start of its turns.
    pub(super) fn record(&mut self, inner: FrameId) {
        let Some(counter) = self.tapes.counters.get(&inner).copied() else {
            return;
        };
        let at = self.b.get(counter);
        for (local, tape) in self.carried(inner) {
            let from = self.local(local);
            let value = self.b.get(from);
            self.write(tape, at, value);
        }
        self.record_step(inner, at);
        let one = self.b.i64(1);
        let next = self.b.binary(BinOp::Add, at, one);
        self.b.set(counter, next);
    }

    fn carried(&self, inner: FrameId) -> Vec<(Local, Tape)> {
        let locals = self.parts.plan.carried.get(&inner).into_iter().flatten();
        locals
            .filter_map(|local| Some((*local, *self.tapes.carried.get(&(inner, *local))?)))
            .collect()
    }

    /// How often a loop ran.
    pub(super) fn turns_counted(&mut self, inner: FrameId) -> Option<Value> {
        let counter = self.tapes.counters.get(&inner).copied()?;
        Some(self.b.get(counter))
    }

    /// Sets the locals as they were at the start of a turn.
    pub(super) fn restore(&mut self, inner: FrameId, turn: Value) {
        self.restore_rising(inner, turn);
        for (local, tape) in self.carried(inner) {
            let value = self.read(tape, turn);
            let to = self.local(local);
            self.b.set(to, value);
        }
    }

    /// Keeps what a load read.
    pub(super) fn write_tape(&mut self, node: NodeId, position: Local, value: Value) {
        let Some(tape) = self.tapes.loads.get(&node).copied() else { return };
        let at = self.next_position(position);
        self.write(tape, at, value);
    }

    /// What a load read.
    pub(super) fn read_tape(&mut self, node: NodeId, position: Local) -> Value {
        let at = self.next_position(position);
        match self.tapes.loads.get(&node).copied() {
            Some(tape) => self.read(tape, at),
            None => at,
        }
    }

    fn next_position(&mut self, position: Local) -> Value {
        let local = self.local(position);
        let at = self.b.get(local);
        let one = self.b.i64(1);
        let next = self.b.binary(BinOp::Add, at, one);
        self.b.set(local, next);
        at
    }
}
