//! The walk through the skeleton: statements that hold meetings or jump to where such follow.

use std::collections::{BTreeSet, HashMap};

use weft_ir::{Block, Builder, CmpOp, Const, Function, Local, Op, Scalar, Span, Stmt, StmtKind, Type, UnOp, Value};

use super::frames::{Code, Frame, Target};
use super::runs::{is_jump, jumps_out};
use super::together::{Together, i32, if_then};
use super::warps::Slots;
use super::{Facts, Options, is_meeting};
use crate::counting::{Counter, Range};
use crate::numbering::{Node, Numbered, StmtId};
use crate::uniformity::{Class, Uniformity};

pub struct Walk<'a> {
    pub b: Builder,
    pub info: &'a Uniformity,
    pub facts: &'a mut Facts,
    pub together: Together,
    pub slots: Slots,
    /// Numbers among the values of the function.
    pub numbers: HashMap<Value, i64>,
    pub skip: Local,
    pub frames: Vec<Frame>,
    /// What threads of the block may be waiting for.
    pub waiting: BTreeSet<Code>,
    /// At least one thread is here.
    pub alive: bool,
    /// All threads have jumped away.
    ended: bool,
    /// By value: it is not computed by threads that are elsewhere.
    pub inside: Vec<bool>,
    /// By value: it is the same in all threads, those that are elsewhere included.
    pub common: Vec<bool>,
    pub raises: Vec<(Code, Stmt)>,
    pub next_label: u32,
}

impl<'a> Walk<'a> {
    pub fn new(mut b: Builder, info: &'a Uniformity, facts: &'a mut Facts, options: Options) -> Walk<'a> {
        let values = b.func.values.len();
        let mut common = vec![false; values];
        b.func.params.iter().for_each(|param| common[param.index()] = true);
        let together = Together::new(&mut b, options);
        let slots = Slots::new(&mut b, &together);
        let skip = b.func.new_local(Scalar::I32.into(), "skip");
        Walk {
            b,
            info,
            facts,
            together,
            slots,
            numbers: HashMap::new(),
            skip,
            frames: vec![Frame::new(Target::End, Code::ENDED)],
            waiting: BTreeSet::new(),
            alive: true,
            ended: false,
            inside: vec![false; values],
            common,
            raises: Vec::new(),
            next_label: 0,
        }
    }

    pub fn function(mut self, body: Numbered<'_>) -> Function {
        body.block.walk(&mut |kind| match kind {
            StmtKind::Scope(label, _) => self.next_label = self.next_label.max(label.0 + 1),
            StmtKind::Let(value, Op::Const(Const::Int(_, n))) => {
                self.numbers.insert(*value, *n);
            }
            _ => {}
        });
        self.b.open();
        self.block(body, false);
        for (code, stmt) in std::mem::take(&mut self.raises) {
            if self.waiting.contains(&code) {
                self.b.span = stmt.span;
                let raises = self.waits_for(code);
                self.b.push(if_then(raises, Block(vec![stmt])));
            }
        }
        let body = self.b.close();
        self.b.span = Span::NONE;
        self.together.start(&mut self.b);
        let zero = self.b.constant(i32(0));
        self.b.set(self.skip, zero);
        let mut func = self.b.finish();
        func.body.0.extend(body.0);
        func
    }

    pub fn note(&mut self, value: Value, inside: bool, common: bool) {
        self.inside[value.index()] = inside;
        self.common[value.index()] = common;
    }

    /// Whether the thread is here; nothing where all are.
    pub fn here(&mut self) -> Option<Value> {
        (!self.waiting.is_empty()).then(|| self.waits_for(Code::HERE))
    }

    fn waits_for(&mut self, code: Code) -> Value {
        let (skip, code) = (self.b.get(self.skip), self.b.constant(i32(code.0.into())));
        self.b.compare(CmpOp::Eq, skip, code)
    }

    fn set_skip(&mut self, code: Code) {
        let code = self.b.constant(i32(code.0.into()));
        self.b.set(self.skip, code);
    }

    /// Threads that waited for `code` go on.
    fn arrive(&mut self, code: Code) {
        let waits = self.waits_for(code);
        self.b.open();
        self.set_skip(Code::HERE);
        let then = self.b.close();
        self.b.push(if_then(waits, then));
        self.waiting.remove(&code);
    }

    fn has_meeting(&self, stmt: &Stmt) -> bool {
        stmt.kind.any(&mut is_meeting)
    }

    /// `more`: threads may meet behind the block.
    fn block(&mut self, block: Numbered<'_>, more: bool) {
        let nodes: Vec<_> = block.iter().collect();
        let last_meeting = nodes.iter().rposition(|node| self.has_meeting(node.stmt));
        let mut run: Vec<&Stmt> = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            let stmt = node.stmt;
            let before_meeting = last_meeting.is_some_and(|last| i < last);
            if !more && last_meeting.is_none_or(|last| i > last) {
                // Nobody waits for anybody any more.
                run.push(stmt);
                continue;
            }
            let (meets, nested) = (self.has_meeting(stmt), stmt.kind.blocks().next().is_some());
            if !meets && !jumps_out(stmt) {
                run.push(stmt);
                continue;
            }
            self.run(&std::mem::take(&mut run));
            self.b.span = stmt.span;
            match &stmt.kind {
                _ if nested => self.control(*node, meets, more || before_meeting),
                kind if is_jump(kind) => self.jump(*node),
                kind => self.meet(kind),
            }
        }
        if more {
            self.run(&run);
        } else if !run.is_empty() {
            self.rest(&run);
        }
    }

    fn control(&mut self, node: Node<'_>, meets: bool, more: bool) {
        let id = node.id;
        match &node.stmt.kind {
            StmtKind::If { cond, then, other } if self.agreed(*cond) => {
                let [then, other] = node.sides(then, other);
                self.branch(*cond, then, other, more);
            }
            StmtKind::If { cond, then, other } if meets => {
                let [then, other] = node.sides(then, other);
                self.both_sides(id, *cond, then, other, more);
            }
            StmtKind::Scope(label, body) if meets => self.scope(id, *label, node.body(body), more),
            StmtKind::Loop(body) if meets => self.looping(id, None, node.body(body)),
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } if meets => {
                let range = Range {
                    var: *var,
                    start: *start,
                    stop: *stop,
                    step: *step,
                };
                self.looping(id, Some(range), node.body(body));
            }
            _ => self.exits(node),
        }
    }

    /// Is the value the same in all threads that look at it?
    fn agreed(&self, value: Value) -> bool {
        let same = matches!(self.info.values[value.index()], Class::Block | Class::Unset);
        same && self.waiting.is_empty() || self.common[value.index()]
    }

    fn depth(&self, code: Code) -> usize {
        self.frames.iter().rposition(|frame| frame.code == code).unwrap_or(0)
    }

    /// All threads that are here jump, in the skeleton.
    fn jump(&mut self, node: Node<'_>) {
        let stmt = node.stmt;
        let Some((depth, code)) = self.destination(node.id, stmt) else {
            return self.b.push(stmt.kind.clone());
        };
        // Who waits for something inside of what is left would never be woken.
        let together = match stmt.kind {
            StmtKind::Return(_) => self.waiting.iter().all(|w| *w == Code::ENDED),
            StmtKind::Raise { .. } => self.waiting.is_empty(),
            _ => self.waiting.iter().all(|w| self.depth(*w) <= depth),
        };
        if together {
            self.ended = true;
            let waiting = self.waiting.clone();
            match self.frames[depth].target {
                Target::Next(id) => self.facts.at_head(id, waiting.into_iter(), code),
                _ => self.frames[depth].arriving.extend(waiting),
            }
            return self.b.push(stmt.kind.clone());
        }
        self.guarded(|walk| walk.set_skip(code));
        self.left_for(depth, code);
    }

    /// Some threads have jumped away.
    pub fn left_for(&mut self, depth: usize, code: Code) {
        self.waiting.insert(code);
        self.alive = false;
        self.frames[depth].used = true;
        let mut passed = Vec::new();
        for frame in &mut self.frames[depth + 1..] {
            frame.escaped = true;
            if let Target::Next(id) = frame.target {
                passed.push(id);
            }
        }
        passed.into_iter().for_each(|id| self.facts.escapes(id));
    }

    /// All go the same way.
    fn branch(&mut self, cond: Value, then: Numbered<'_>, other: Numbered<'_>, more: bool) {
        let before = (self.waiting.clone(), self.alive);
        let mut sides = Vec::new();
        let mut ways: Vec<(BTreeSet<Code>, bool)> = Vec::new();
        for side in [then, other] {
            (self.waiting, self.alive) = before.clone();
            self.b.open();
            self.block(side, more);
            sides.push(self.b.close());
            if !std::mem::take(&mut self.ended) {
                ways.push((self.waiting.clone(), self.alive));
            }
        }
        self.ended = ways.is_empty();
        self.waiting = ways.iter().flat_map(|(waiting, _)| waiting).copied().collect();
        self.alive = ways.iter().all(|(_, alive)| *alive);
        let other = sides.pop().unwrap_or_default();
        let then = sides.pop().unwrap_or_default();
        self.b.push(StmtKind::If { cond, then, other });
    }

    /// All walk through both sides.
    fn both_sides(&mut self, id: StmtId, cond: Value, then: Numbered<'_>, other: Numbered<'_>, more: bool) {
        let alive = self.alive;
        let (first, second) = (Code::behind(id), Code::joined(id));
        self.frames.push(Frame::new(Target::Side, first));
        self.frames.push(Frame::new(Target::Side, second));
        self.guarded(|walk| {
            walk.b.open();
            let then = walk.b.close();
            walk.b.open();
            walk.set_skip(first);
            let other = walk.b.close();
            walk.b.push(StmtKind::If { cond, then, other });
        });
        self.waiting.insert(first);
        self.alive = false;
        let meets_in_other = other.block.0.iter().any(|stmt| self.has_meeting(stmt));
        self.block(then, more || meets_in_other);
        if other.is_empty() {
            self.arrive(first);
        } else {
            let here = self.waits_for(Code::HERE);
            self.b.open();
            self.set_skip(second);
            let done = self.b.close();
            self.b.open();
            self.arrive(first);
            let turn = self.b.close();
            self.b.push(StmtKind::If {
                cond: here,
                then: done,
                other: turn,
            });
            self.waiting.insert(second);
            self.alive = false;
            self.block(other, more);
            self.arrive(second);
        }
        self.leave_frames(2, alive);
    }

    /// The innermost frames end; `alive` is whether anybody was here at their start.
    fn leave_frames(&mut self, count: usize, alive: bool) {
        let rest = self.frames.len() - count;
        let escaped = self.frames.drain(rest..).any(|frame| frame.escaped && frame.target == Target::Side);
        self.alive = self.waiting.is_empty() || alive && !escaped;
    }

    fn scope(&mut self, id: StmtId, label: weft_ir::Label, body: Numbered<'_>, more: bool) {
        let alive = self.alive;
        let code = Code::behind(id);
        self.frames.push(Frame::new(Target::Scope(label), code));
        self.b.open();
        self.block(body, more);
        let body = self.b.close();
        self.b.push(StmtKind::Scope(label, body));
        let ended = std::mem::take(&mut self.ended);
        let Some(frame) = self.frames.pop() else { return };
        if ended {
            self.waiting.clear();
        }
        self.waiting.extend(frame.arriving);
        if frame.used {
            self.waiting.insert(code);
            self.arrive(code);
        }
        self.alive = self.waiting.is_empty() || alive && !frame.escaped;
    }

    fn looping(&mut self, id: StmtId, range: Option<Range>, body: Numbered<'_>) {
        let facts = self.facts.of_loop(id);
        let (behind, next) = (Code::behind(id), Code::next(id));
        let counted = range.filter(|range| range.bounds().iter().all(|v| self.agreed(*v)));
        let own = match counted {
            Some(_) => None,
            None => range,
        };
        let votes = facts.escapes || own.is_some();
        let before = self.waiting.clone();
        let only_if = if votes { None } else { self.somebody() };
        let alive = self.alive || only_if.is_some();
        let counter = own.map(|range| self.start_counting(range));
        self.frames.push(Frame::new(Target::After, behind));
        self.frames.push(Frame::new(Target::Next(id), next));
        self.waiting.extend(&facts.waiting);
        self.b.open();
        if facts.continues {
            self.arrive(next);
        }
        if let (Some(range), Some(counter)) = (own, counter) {
            self.count(range, counter, behind);
        }
        let at_head = self.waiting.clone();
        if votes {
            self.leave_if_nobody();
        }
        self.alive = true;
        if let Some(range) = counted {
            let same = self.info.values[range.var.index()] == Class::Block;
            self.note(range.var, false, same);
        }
        self.block(body, true);
        if !std::mem::take(&mut self.ended) {
            self.facts.at_head(id, self.waiting.iter().copied(), next);
        }
        let body = self.b.close();
        self.b.push(match counted {
            Some(range) => range.counted(body),
            None => StmtKind::Loop(body),
        });
        self.frames.pop();
        let Some(frame) = self.frames.pop() else { return };
        self.waiting = frame.arriving.into_iter().collect();
        if votes || counted.is_some() {
            self.waiting.extend(at_head);
        }
        if counted.is_some() && facts.continues {
            self.arrive(next);
        }
        if frame.used {
            self.arrive(behind);
        }
        self.alive = self.waiting.is_empty() || alive && !frame.escaped;
        if let Some(cond) = only_if {
            let then = self.b.close();
            self.b.push(if_then(cond, then));
            self.waiting.extend(before);
            self.alive = false;
        }
    }

    /// Sees to it that what follows runs only if a thread is here. Gives the condition, if what follows has to stand under it: its
    /// block is then open.
    fn somebody(&mut self) -> Option<Value> {
        if self.alive || self.waiting.is_empty() {
            return None;
        }
        let any = self.any_here();
        if self.waiting.iter().all(|code| *code == Code::ENDED) {
            let none = self.b.unary(UnOp::Not, any);
            let then = self.block_of(StmtKind::Return(None));
            self.b.push(if_then(none, then));
            self.alive = true;
            return None;
        }
        self.b.open();
        Some(any)
    }

    fn leave_if_nobody(&mut self) {
        let any = self.any_here();
        let none = self.b.unary(UnOp::Not, any);
        let then = self.block_of(StmtKind::Break);
        self.b.push(if_then(none, then));
    }

    fn block_of(&mut self, kind: StmtKind) -> Block {
        self.b.open();
        self.b.push(kind);
        self.b.close()
    }

    /// A thread counts its own turns where they are not as many as those of others. Gives where its index is kept, too.
    fn start_counting(&mut self, range: Range) -> (Local, Counter) {
        let at = self.b.func.new_local(Type::I64, "at");
        let counter = Counter::new(&mut self.b);
        self.guarded(|walk| counter.start(&mut walk.b, range));
        (at, counter)
    }

    /// The head of a turn: threads that have had all theirs wait behind the loop.
    fn count(&mut self, range: Range, (kept, counter): (Local, Counter), behind: Code) {
        self.guarded(|walk| {
            let b = &mut walk.b;
            let (at, up) = (b.get(counter.next), range.goes_up(b));
            let goes_on = counter.goes_on(b, range, at, up);
            b.open();
            counter.advance(b, range, at, up);
            b.set(kept, at);
            let then = b.close();
            b.open();
            walk.set_skip(behind);
            let other = walk.b.close();
            walk.b.push(StmtKind::If {
                cond: goes_on,
                then,
                other,
            });
        });
        let depth = self.frames.len() - 2;
        self.waiting.insert(behind);
        self.frames[depth].used = true;
        self.b.push(StmtKind::Let(range.var, Op::Get(kept)));
        self.note(range.var, false, false);
    }
}
