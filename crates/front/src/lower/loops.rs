//! Loops: `while`, `for` over ranges, arrays, tuples, `enumerate` and `zip`; `break`, `continue`, `else`. Those over points are in `points`.

use ruff_python_ast::{Expr, Stmt, StmtFor, StmtWhile};
use ruff_text_size::Ranged;
use weft_ir::{AxisSlice, BinOp, Block, CmpOp, ErrorKind, Index, Label, Span, Spread, StmtKind, Type, Value};

use super::Lower;
use super::number::Truth;
use super::points::Points;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::{Res, Stop};
use crate::types::Num;
use crate::value::{Iter, Val};

/// A loop being lowered.
#[derive(Default)]
pub struct LoopFrame {
    /// `break` leaves this scope; without one it is the IR's own.
    break_to: Option<Label>,
    /// `continue` leaves this scope; without one it is the IR's own.
    continue_to: Option<Label>,
    /// A `break` was seen.
    breaks: bool,
    pub kind: LoopKind,
}

/// The loops around what is lowered now.
#[derive(Default)]
pub struct Nest {
    /// Innermost last.
    pub frames: Vec<LoopFrame>,
    /// How many turns of loops that are written out came before.
    pub turn: u32,
    /// What is assigned now is the target of such a loop.
    pub starts_turn: bool,
}

/// How a loop's iterations run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopKind {
    #[default]
    InOrder,
    /// In parallel, neighbours as lanes.
    Lanes,
    /// In parallel, each by itself.
    Points,
}

impl LoopFrame {
    pub fn parallel(kind: LoopKind) -> LoopFrame {
        LoopFrame {
            kind,
            ..LoopFrame::default()
        }
    }
}

/// Something to loop over, as a count and the element at a position.
enum Sequence {
    Range { start: Value, step: Value, count: Value },
    Array(Val, Value),
    Enumerate(Box<Sequence>, Val),
    Reversed(Box<Sequence>, Value),
    Zip(Vec<Sequence>),
    Points(Points, Value),
}

impl Lower<'_> {
    pub fn break_loop(&mut self, span: Span) -> Res<bool> {
        let Some(frame) = self.nest.frames.last_mut() else {
            return Err(self.unsupported(span, "break outside a loop"));
        };
        if frame.kind != LoopKind::InOrder {
            return Err(self.unsupported(span, "break cannot leave a prange loop"));
        }
        frame.breaks = true;
        let kind = frame.break_to.map_or(StmtKind::Break, StmtKind::Leave);
        self.b.push(kind);
        Ok(true)
    }

    pub fn continue_loop(&mut self, span: Span) -> Res<bool> {
        let Some(frame) = self.nest.frames.last() else {
            return Err(self.unsupported(span, "continue outside a loop"));
        };
        let kind = frame.continue_to.map_or(StmtKind::Continue, StmtKind::Leave);
        self.b.push(kind);
        Ok(true)
    }

    /// Runs `body` inside a loop's frame; gives whether it held a `break`.
    fn in_loop(&mut self, frame: LoopFrame, body: impl FnOnce(&mut Self) -> Res<()>) -> Res<bool> {
        self.nest.frames.push(frame);
        body(self)?;
        Ok(self.nest.frames.pop().is_some_and(|f| f.breaks))
    }

    /// A loop with its `else`: `make` emits the loop, whose `break` then leaves the scope around both.
    fn with_else(&mut self, orelse: &[Stmt], make: impl FnOnce(&mut Self, Option<Label>) -> Res<bool>) -> Res<bool> {
        if orelse.is_empty() {
            return make(self, None);
        }
        let label = self.blocks.fresh_label();
        self.open_block();
        make(self, Some(label))?;
        let ends = self.block(orelse);
        let block = self.close_block();
        let leaves = self.push_scope(label, block);
        Ok(ends && !leaves)
    }

    pub fn while_loop(&mut self, s: &StmtWhile) -> Res<bool> {
        self.with_else(&s.orelse, |l, break_to| l.while_inner(s, break_to))
    }

    fn while_inner(&mut self, s: &StmtWhile, break_to: Option<Label>) -> Res<bool> {
        let span = self.b.span;
        let mut endless = false;
        self.open_block();
        let frame = LoopFrame {
            break_to,
            ..LoopFrame::default()
        };
        let breaks = self.in_loop(frame, |l| {
            let truth = match l.condition(&s.test) {
                Ok(truth) => truth,
                Err(stop) => return Err(l.body_for_types(&s.body, stop)),
            };
            match truth {
                Truth::Known(true) => endless = true,
                Truth::Known(false) => {
                    l.b.push(StmtKind::Break);
                    return Ok(());
                }
                Truth::Value(cond) => {
                    l.open_block();
                    l.b.push(StmtKind::Break);
                    let other = l.close_block();
                    l.b.push(StmtKind::If {
                        cond,
                        then: Block::default(),
                        other,
                    });
                }
            }
            l.block(&s.body);
            Ok(())
        })?;
        let body = self.close_block();
        self.b.span = span;
        self.b.push(StmtKind::Loop(body));
        Ok(endless && !breaks)
    }

    /// A loop whose head waits for a type: its body may give it.
    fn body_for_types(&mut self, body: &[Stmt], stop: Stop) -> Stop {
        if matches!(stop, Stop::Pending(_)) {
            self.nest.frames.push(LoopFrame::default());
            self.nested(body);
            self.nest.frames.pop();
        }
        stop
    }

    pub fn for_loop(&mut self, s: &StmtFor) -> Res<bool> {
        if s.is_async {
            return Err(self.unsupported(self.b.span, "async for cannot be compiled"));
        }
        let iterable = match self.expr(&s.iter) {
            Ok(iterable) => iterable,
            Err(stop) => return Err(self.body_for_types(&s.body, stop)),
        };
        if let Val::Tuple(items) = &iterable {
            return match items.is_unrolled() {
                true => self.written_out(s, items),
                false => self.with_unrolled(s, items),
            };
        }
        if let Some(points) = iterable.points()
            && points.extents.is_empty()
        {
            let span = self.span(s.iter.range());
            let only = self.point_element(points, &[], span)?;
            return self.with_unrolled(s, &[only]);
        }
        self.with_else(&s.orelse, |l, break_to| {
            l.for_inner(s, iterable, break_to)?;
            Ok(false)
        })
    }

    fn for_inner(&mut self, s: &StmtFor, iterable: Val, break_to: Option<Label>) -> Res<()> {
        let span = self.span(s.iter.range());
        let frame = LoopFrame {
            break_to,
            ..LoopFrame::default()
        };
        match iterable {
            Val::Iter(iter) => match *iter {
                Iter::Range {
                    start,
                    stop,
                    step,
                    parallel: true,
                } if !self.needs_order(s) => self.prange_loop(s, [&start, &stop, &step], Spread::Gangs),
                Iter::Range { start, stop, step, .. } if self.only_sums(s) => self.prange_loop(s, [&start, &stop, &step], Spread::Lanes),
                Iter::Range { start, stop, step, .. } => self.range_loop(s, [&start, &stop, &step], frame),
                Iter::Points(points) => self.points_loop(s, &points, break_to),
                other => {
                    let sequence = self.iter_sequence(other, span)?;
                    self.sequence_loop(s, &sequence, frame)
                }
            },
            val => {
                let sequence = self.sequence(val, span)?;
                self.sequence_loop(s, &sequence, frame)
            }
        }
    }

    /// `start`, `stop` and `step` as IR values; a step of zero is refused or raises.
    pub fn range_bounds(&mut self, [start, stop, step]: [&Val; 3], span: Span) -> Res<[Value; 3]> {
        if step.const_int() == Some(0) {
            return Err(Diagnostic::new(DiagnosticKind::Value, span, "the step of a range cannot be zero").into());
        }
        let bounds = [
            self.range_value(start, span)?,
            self.range_value(stop, span)?,
            self.range_value(step, span)?,
        ];
        if step.const_int().is_none() {
            let zero = self.b.i64(0);
            let none = self.b.compare(CmpOp::Eq, bounds[2], zero);
            self.emit_if(none, |l| {
                l.b.push(StmtKind::Raise {
                    kind: ErrorKind::Value,
                    message: "range() arg 3 must not be zero".into(),
                });
                Ok(())
            })?;
        }
        Ok(bounds)
    }

    fn range_loop(&mut self, s: &StmtFor, bounds: [&Val; 3], frame: LoopFrame) -> Res<()> {
        let span = self.span(s.iter.range());
        let upward = bounds[2].const_int().is_some_and(|k| k > 0);
        let [start, stop, step] = self.range_bounds(bounds, span)?;
        let var = self.b.func.new_value(Type::I64);
        if upward && self.facts.is_nonneg(start) {
            self.facts.mark_nonneg(var);
        }
        self.counted(s, var, [start, stop, step], frame, |_| Ok(Val::Num(var, Num::INT)))
    }

    /// A loop over the numbers of a range, each of which stands for an `element`.
    fn counted(
        &mut self,
        s: &StmtFor,
        var: Value,
        [start, stop, step]: [Value; 3],
        frame: LoopFrame,
        element: impl FnOnce(&mut Self) -> Res<Val>,
    ) -> Res<()> {
        self.open_block();
        self.in_loop(frame, |l| {
            let element = element(l)?;
            l.assign_target(&s.target, element)?;
            l.block(&s.body);
            Ok(())
        })?;
        let body = self.close_block();
        self.b.span = self.span(s.range());
        self.b.push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
        Ok(())
    }

    /// The body of a nest of loops, all of which `break` leaves by `exit`.
    pub fn nested_body(&mut self, s: &StmtFor, element: Val, exit: Label) -> Res<()> {
        let frame = LoopFrame {
            break_to: Some(exit),
            ..LoopFrame::default()
        };
        self.in_loop(frame, |l| {
            l.assign_target(&s.target, element)?;
            l.block(&s.body);
            Ok(())
        })?;
        Ok(())
    }

    // ---- arrays, enumerate, zip ----

    fn sequence(&mut self, val: Val, span: Span) -> Res<Sequence> {
        match val {
            Val::Iter(iter) => self.iter_sequence(*iter, span),
            Val::View(view, ty) if ty.rank > 0 => {
                let count = self.dim(view, 0);
                Ok(Sequence::Array(Val::View(view, ty), count))
            }
            Val::Lazy(_) => {
                let view = self.materialise(val)?;
                self.sequence(view, span)
            }
            other => {
                let message = format!("{} cannot be looped over", other.ty());
                let diag = Diagnostic::new(DiagnosticKind::Typing, span, message);
                Err(diag.help("loop over range(...), an array or a tuple").into())
            }
        }
    }

    fn iter_sequence(&mut self, iter: Iter, span: Span) -> Res<Sequence> {
        match iter {
            Iter::Range { start, stop, step, .. } => {
                let known = step.const_int();
                let [start, stop, step] = self.range_bounds([&start, &stop, &step], span)?;
                let count = self.range_length(start, stop, step, known);
                Ok(Sequence::Range { start, step, count })
            }
            Iter::Enumerate(inner, first) => {
                let inner = self.sequence(inner, span)?;
                Ok(Sequence::Enumerate(Box::new(inner), first))
            }
            Iter::Reversed(inner) => {
                let inner = self.sequence(inner, span)?;
                let count = self.count(&inner);
                Ok(Sequence::Reversed(Box::new(inner), count))
            }
            Iter::Zip(parts) => {
                let parts = parts.into_iter().map(|p| self.sequence(p, span)).collect::<Res<Vec<_>>>()?;
                Ok(Sequence::Zip(parts))
            }
            Iter::Points(points) => {
                let count = self.product(&points.extents);
                Ok(Sequence::Points(points, count))
            }
        }
    }

    fn count(&mut self, sequence: &Sequence) -> Value {
        match sequence {
            Sequence::Range { count, .. } | Sequence::Array(_, count) | Sequence::Reversed(_, count) | Sequence::Points(_, count) => *count,
            Sequence::Enumerate(inner, _) => self.count(inner),
            Sequence::Zip(parts) => {
                let counts: Vec<Value> = parts.iter().map(|p| self.count(p)).collect();
                let least = counts.into_iter().reduce(|a, b| self.b.binary(BinOp::Min, a, b));
                least.unwrap_or_else(|| self.b.i64(0))
            }
        }
    }

    fn element(&mut self, sequence: &Sequence, at: Value, span: Span) -> Res<Val> {
        Ok(match sequence {
            Sequence::Range { start, step, .. } => {
                let offset = self.b.binary(BinOp::Mul, at, *step);
                Val::Num(self.b.binary(BinOp::Add, *start, offset), Num::INT)
            }
            Sequence::Array(array, _) => {
                let Val::View(view, ty) = array else {
                    return Err(self.typing(span, "an array is needed here"));
                };
                let index = Index { value: at, wrap: false };
                if ty.rank == 1 {
                    return Ok(self.load(*view, *ty, vec![index]));
                }
                let mut axes = vec![AxisSlice::Full; ty.rank as usize];
                axes[0] = AxisSlice::At(index);
                let (value, ty) = self.slice(*view, *ty, axes);
                Val::View(value, ty)
            }
            Sequence::Enumerate(inner, first) => {
                let first = self.index_value(first, span)?;
                let number = self.b.binary(BinOp::Add, at, first);
                if self.facts.is_nonneg(first) {
                    self.facts.mark_nonneg(number);
                }
                Val::tuple(vec![Val::Num(number, Num::INT), self.element(inner, at, span)?])
            }
            Sequence::Reversed(inner, count) => {
                let one = self.b.i64(1);
                let last = self.b.binary(BinOp::Sub, *count, one);
                let from_end = self.b.binary(BinOp::Sub, last, at);
                self.facts.mark_nonneg(from_end);
                return self.element(inner, from_end, span);
            }
            Sequence::Points(points, _) => return self.numbered_point(points, at, span),
            Sequence::Zip(parts) => Val::Tuple(parts.iter().map(|p| self.element(p, at, span)).collect::<Res<_>>()?),
        })
    }

    fn sequence_loop(&mut self, s: &StmtFor, sequence: &Sequence, frame: LoopFrame) -> Res<()> {
        let span = self.span(s.iter.range());
        let range = [self.b.i64(0), self.count(sequence), self.b.i64(1)];
        let var = self.b.func.new_value(Type::I64);
        self.facts.mark_nonneg(var);
        self.counted(s, var, range, frame, |l| l.element(sequence, var, span))
    }

    // ---- tuples ----

    /// A loop of the library that is written out as if there were no loop: each turn starts new versions of the variables it assigns.
    fn written_out(&mut self, s: &StmtFor, items: &[Val]) -> Res<bool> {
        for item in items {
            self.nest.turn += 1;
            self.nest.starts_turn = true;
            let assigned = self.assign_target(&s.target, item.clone());
            self.nest.starts_turn = false;
            assigned?;
            if self.block(&s.body) {
                return Ok(true);
            }
        }
        self.nest.turn += 1;
        Ok(false)
    }

    /// A loop over a tuple is written out, item by item: the items may differ in type.
    fn with_unrolled(&mut self, s: &StmtFor, items: &[Val]) -> Res<bool> {
        let exit = self.blocks.fresh_label();
        self.open_block();
        let mut ended = false;
        for item in items {
            if self.unrolled_item(&s.target, item, &s.body, exit)? {
                ended = true;
                break;
            }
        }
        if !ended {
            ended = self.block(&s.orelse);
        }
        let block = self.close_block();
        let leaves = self.push_scope(exit, block);
        Ok(ended && !leaves)
    }

    fn unrolled_item(&mut self, target: &Expr, item: &Val, body: &[Stmt], exit: Label) -> Res<bool> {
        let next = self.blocks.fresh_label();
        let frame = LoopFrame {
            break_to: Some(exit),
            continue_to: Some(next),
            ..LoopFrame::default()
        };
        let mut ends = false;
        self.open_block();
        self.in_loop(frame, |l| {
            l.assign_target(target, item.clone())?;
            ends = l.block(body);
            Ok(())
        })?;
        let block = self.close_block();
        let continues = self.push_scope(next, block);
        Ok(ends && !continues)
    }

    /// Emits a block under its label, or as it is where nothing leaves it early; gives whether something does.
    pub fn push_scope(&mut self, label: Label, block: Block) -> bool {
        let leaves = leaves(&block, label);
        if leaves {
            self.b.push(StmtKind::Scope(label, block));
        } else {
            self.splice(block);
        }
        leaves
    }
}

fn leaves(block: &Block, label: Label) -> bool {
    block.0.iter().any(|stmt| match &stmt.kind {
        StmtKind::Leave(l) => *l == label,
        StmtKind::If { then, other, .. } => leaves(then, label) || leaves(other, label),
        StmtKind::Loop(body) | StmtKind::For { body, .. } | StmtKind::ParFor { body, .. } | StmtKind::Scope(_, body) => leaves(body, label),
        _ => false,
    })
}
