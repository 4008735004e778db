//! Loops over a gang: lanes that leave at different times, counters that step from lane to lane, iterations that all lanes take.

use std::mem;

use weft_ir::{CmpOp, Op, Scalar, Stmt, StmtKind, Type, Value};
use weft_passes::numbering::{Node, Numbered};
use weft_passes::uniformity::{Class, Facts};

use super::frames::{Frame, FrameKind};
use super::func::Fx;
use super::gang::Mask;
use super::guard::{DOUBLED_STATEMENTS, Range};
use super::module::Unroll;
use super::values::{Num, Res, Slot, Val};
use super::walk::Walk;
use super::writer::{Elem, Label, Operand, Ty};

/// A loop being written.
#[derive(Debug)]
pub struct LoopRun {
    pub facts: Facts,
    /// The mask on entry.
    pub mask: Mask,
    depth: usize,
    /// Lanes that go on to the next iteration.
    pub live: Option<Operand>,
    /// Lanes that go on after the loop, where that is not all and not the live ones.
    kept: Option<Operand>,
    pub after: Label,
    /// To be unrolled whole.
    unrolled: bool,
    after_check: Label,
    next_check: Label,
}

/// Loops of so few iterations, and of so many statements in all of them, are unrolled.
const UNROLLED_TRIPS: usize = 32;
const UNROLLED_STATEMENTS: usize = 512;
/// And of so many lines of text: a gather is one statement, and may be several lines for every lane.
const UNROLLED_LINES: usize = 2048;

impl<'m> Fx<'_, 'm> {
    pub fn emit_loop(&mut self, node: Node<'m>, body: Numbered<'m>) -> Res<()> {
        let facts = self.facts(node);
        match self.guarded(facts, body) {
            Some(exit) => self.doubled_loop(facts, body, exit),
            None => self.divergent_loop(facts, body),
        }
    }

    fn divergent_loop(&mut self, facts: Facts, body: Numbered<'m>) -> Res<()> {
        let head = self.w.label();
        let run = self.open_loop(facts, head);
        self.w.place(head);
        self.gang.mask = self.mask_from(run.live, run.mask);
        self.sweep(body.block);
        self.block(body)?;
        self.w.br(head);
        self.close_loop(&run, head);
        Ok(())
    }

    /// The place of the only exit of a loop like `while i < n`, if it comes first and one scalar can tell whether all lanes stay.
    fn guarded(&self, facts: Facts, body: Numbered<'_>) -> Option<usize> {
        if self.gang.lanes == 0
            || self.gang.mask != Mask::Full
            || self.control.doubled
            || facts.lossy
            || !facts.breaks
            || body.size() > DOUBLED_STATEMENTS
        {
            return None;
        }
        let body = body.block;
        let exit = body.0.iter().position(|s| !matches!(s.kind, StmtKind::Let(..)))?;
        let StmtKind::If { cond, then, other } = &body.0[exit].kind else {
            return None;
        };
        let only_leaves = matches!(then.0.as_slice(), [Stmt { kind: StmtKind::Break, .. }]) && other.0.is_empty();
        let steps = body.0[..exit]
            .iter()
            .any(|s| matches!(&s.kind, StmtKind::Let(v, op) if v == cond && self.compares_steps(op)));
        let pure = body.0[..exit]
            .iter()
            .all(|s| !matches!(s.kind, StmtKind::Let(_, Op::Atomic { .. })));
        (only_leaves && steps && pure && !body.0[exit + 1..].iter().any(breaks)).then_some(exit)
    }

    fn compares_steps(&self, op: &Op) -> bool {
        let Op::Compare(op, a, b) = op else {
            return false;
        };
        let steps = |v: &Value| *self.f.ty(*v) == Type::I64 && self.info.values[v.index()] != Class::Varying;
        !matches!(op, CmpOp::Eq | CmpOp::Ne) && steps(a) && steps(b)
    }

    /// Runs the iterations that all lanes take with the mask known full, then the rest.
    fn doubled_loop(&mut self, facts: Facts, body: Numbered<'m>, exit: usize) -> Res<()> {
        let nodes: Vec<_> = body.iter().collect();
        let StmtKind::If { cond, .. } = &nodes[exit].stmt.kind else {
            return self.internal("a loop without its exit");
        };
        self.control.doubled = true;
        let (head, inside) = (self.w.label(), self.w.label());
        let whole = Facts {
            waits: false,
            breaks: false,
            ..facts
        };
        let run = self.open_loop(whole, head);
        self.w.place(head);
        self.gang.mask = Mask::Full;
        self.stmts(&nodes[..exit])?;
        let Some(all) = self.all_lanes(*cond, false)? else {
            return self.internal("a loop whose exit cannot be tested for all lanes");
        };
        self.w.cond_br(all, inside, run.after);
        self.w.place(inside);
        self.stmts(&nodes[exit + 1..])?;
        self.w.br(head);
        self.close_loop(&run, head);
        self.gang.mask = Mask::Full;
        self.divergent_loop(facts, body)?;
        self.control.doubled = false;
        Ok(())
    }

    /// Sets up the two frames of a loop whose next iteration starts at `next`.
    pub fn open_loop(&mut self, facts: Facts, next: Label) -> LoopRun {
        let (mask, depth) = (self.gang.mask, self.control.frames.len());
        let live = self.slot_if(facts.waits || facts.lossy);
        let kept = self.slot_if(facts.waits && facts.lossy);
        let after = self.w.label();
        let after_check = if kept.is_some() { self.w.label() } else { after };
        let next_check = if facts.next_waits { self.w.label() } else { next };
        self.control.frames.push(Frame {
            kind: FrameKind::After,
            slot: kept,
            waits: facts.waits,
            join: after,
            check: after_check,
        });
        self.control.frames.push(Frame {
            kind: FrameKind::Next,
            slot: live,
            waits: facts.next_waits,
            join: next,
            check: next_check,
        });
        LoopRun {
            facts,
            mask,
            depth,
            live,
            kept,
            after,
            unrolled: false,
            after_check,
            next_check,
        }
    }

    /// Where control goes when no lane is left for another iteration.
    pub fn loop_over(&self, run: &LoopRun) -> Label {
        if run.facts.waits {
            run.after_check
        } else {
            self.control.outer_check(run.depth)
        }
    }

    /// Ends a loop and goes on after it.
    pub fn close_loop(&mut self, run: &LoopRun, next: Label) {
        let over = self.loop_over(run);
        if run.facts.next_waits {
            self.w.place(run.next_check);
            match run.live {
                Some(live) => self.test_slot(live, next, over),
                None => self.w.br(next),
            }
        }
        self.control.frames.truncate(run.depth);
        if let Some(kept) = run.kept {
            self.w.place(run.after_check);
            let outer = self.control.outer_check(run.depth);
            self.test_slot(kept, run.after, outer);
        }
        self.w.place(run.after);
        let slot = match run.facts.lossy {
            false => None,
            true => run.kept.or(run.live),
        };
        self.gang.mask = self.mask_from(slot, run.mask);
    }

    /// `for var in range(start, stop, step)`.
    pub fn emit_for(&mut self, node: Node<'m>, var: Value, range: [Value; 3], body: Numbered<'m>) -> Res<()> {
        let range = self.range(range)?;
        let slot = self.counter_slot(var);
        self.write_number(&slot, range.start, false)?;
        let facts = self.facts(node);
        if range.uniform() && matches!(slot, Slot::Shared { step: 0, .. }) {
            return self.uniform_for(facts, var, &slot, &range, body);
        }
        let alone = !facts.breaks && !facts.lossy;
        if let (Slot::Shared { step, .. }, true, true) = (
            &slot,
            range.stop.is_uniform() && alone,
            self.gang.mask == Mask::Full && !self.control.doubled,
        ) && *step != 0
        {
            self.control.doubled = true;
            self.full_for(facts, var, &slot, &range, body)?;
            self.gang.mask = Mask::Full;
            self.control.rest = true;
            self.divergent_for(facts, var, &slot, &range, body)?;
            self.control.rest = false;
            self.control.doubled = false;
            return Ok(());
        }
        self.divergent_for(facts, var, &slot, &range, body)
    }

    fn counter_slot(&mut self, var: Value) -> Slot {
        use weft_passes::uniformity::Class;
        let scalar = Ty::I64;
        match self.info.values[var.index()] {
            Class::Varying if self.gang.lanes > 0 => {
                let ty = self.gang.vector_ty(Elem::I64);
                Slot::Lanes {
                    ptr: self.w.alloca(ty),
                    elem: Elem::I64,
                }
            }
            Class::Affine(step) if self.gang.lanes > 0 => Slot::Shared {
                ptr: self.w.alloca(scalar),
                elem: Elem::I64,
                step,
            },
            _ => Slot::Shared {
                ptr: self.w.alloca(scalar),
                elem: Elem::I64,
                step: 0,
            },
        }
    }

    /// Every lane runs the same iterations.
    fn uniform_for(&mut self, facts: Facts, var: Value, slot: &Slot, range: &Range, body: Numbered<'m>) -> Res<()> {
        let (head, start, next) = (self.w.label(), self.w.label(), self.w.label());
        let mut run = self.open_loop(facts, next);
        run.unrolled = self.gang.lanes > 0
            && self.barriers.team.is_empty()
            && range
                .trips()
                .is_some_and(|n| n <= UNROLLED_TRIPS && n * body.size() <= UNROLLED_STATEMENTS);
        self.w.place(head);
        let at = self.read_number(slot);
        let more = self.in_range(at, range);
        let Num::Uniform(more) = more else {
            return self.internal("a uniform range with a varying end");
        };
        self.w.cond_br(more, start, run.after);
        self.w.place(start);
        self.define_common(var, &Val::Num(at));
        self.gang.mask = self.mask_from(run.live, run.mask);
        self.sweep(body.block);
        let walk = match (range.step.const_int(), at, range.stop) {
            (Some(1), Num::Uniform(at), Num::Uniform(stop)) if !run.unrolled => self.walk_of(var, [at, stop], body.block),
            _ => Walk::default(),
        };
        let outer = mem::replace(&mut self.walk, walk);
        let start_of_body = self.w.body.len();
        self.block(body)?;
        self.walk = outer;
        if run.unrolled {
            let lines = self.w.body[start_of_body..].matches('\n').count();
            run.unrolled = range.trips().is_some_and(|n| n * lines <= UNROLLED_LINES);
        }
        self.latch(&run, slot, range, head, next)?;
        self.close_loop(&run, next);
        Ok(())
    }

    /// The iterations in which all lanes are in range, of a loop whose lanes are neighbours.
    fn full_for(&mut self, facts: Facts, var: Value, slot: &Slot, range: &Range, body: Numbered<'m>) -> Res<()> {
        let (head, start, next) = (self.w.label(), self.w.label(), self.w.label());
        let facts = Facts {
            waits: false,
            breaks: false,
            ..facts
        };
        let run = self.open_loop(facts, next);
        self.w.place(head);
        let at = self.read_number(slot);
        let Some(all) = self.all_in_range(at, range) else {
            return self.internal("an affine range without an end for all lanes");
        };
        self.w.cond_br(all, start, run.after);
        self.w.place(start);
        self.define(var, Val::Num(at));
        self.block(body)?;
        self.latch(&run, slot, range, head, next)?;
        self.close_loop(&run, next);
        Ok(())
    }

    /// Lanes run out of iterations at different times.
    fn divergent_for(&mut self, facts: Facts, var: Value, slot: &Slot, range: &Range, body: Numbered<'m>) -> Res<()> {
        let (head, start, next) = (self.w.label(), self.w.label(), self.w.label());
        let run = self.open_loop(facts, next);
        let Some(live) = run.live else {
            return self.internal("a divergent range in a loop taken for uniform");
        };
        self.w.place(head);
        let at = self.read_number(slot);
        let more = self.in_range(at, range);
        let ty = self.gang.bits_ty();
        let more = self.take(more, ty);
        let more = self.mask_of(more);
        let on = self.load_mask(live);
        let on = self.mask_and(on, more);
        self.save_mask(live, on);
        let (any, over) = (self.any(on), self.loop_over(&run));
        self.w.cond_br(any, start, over);
        self.w.place(start);
        self.define(var, Val::Num(at));
        self.gang.mask = Mask::Lanes(on);
        self.masked_block(body)?;
        self.latch(&run, slot, range, head, next)?;
        self.close_loop(&run, next);
        Ok(())
    }

    /// The next iteration's number. A step other than 1 may wrap round behind the end: then the range is over.
    fn latch(&mut self, run: &LoopRun, slot: &Slot, range: &Range, head: Label, next: Label) -> Res<()> {
        self.w.place(next);
        let at = self.read_number(slot);
        if let (Num::Uniform(i), Num::Uniform(Operand::Int(step @ (1 | -1)))) = (at, range.step) {
            let moved = self.w.inst(format_args!("add nsw {}, {step}", i.typed(Ty::I64)));
            self.write_number(slot, Num::Uniform(moved), false)?;
            self.back_to(head, run.unrolled);
            return Ok(());
        }
        let moved = self.add(at, range.step);
        self.write_number(slot, moved, false)?;
        match (at, moved) {
            (Num::Uniform(i) | Num::Affine(i, _), Num::Uniform(n) | Num::Affine(n, _)) if range.step.is_uniform() => {
                let wrapped = self.wrapped(Num::Uniform(i), Num::Uniform(n), range);
                let wrapped = self.take(wrapped, Ty::BOOL);
                let over = if range.uniform() { run.after } else { self.loop_over(run) };
                self.w.cond_br(wrapped, over, head);
            }
            _ => {
                let wrapped = self.wrapped(at, moved, range);
                let ty = self.gang.bits_ty();
                let wrapped = self.take(wrapped, ty);
                let wrapped = self.mask_of(wrapped);
                if let Some(live) = run.live {
                    let on = self.load_mask(live);
                    let on = self.mask_without(on, wrapped);
                    self.save_mask(live, on);
                }
                self.w.br(head);
            }
        }
        Ok(())
    }

    /// The branch that closes a loop; LLVM's costs for gangs are too high for it to unroll by itself.
    fn back_to(&mut self, head: Label, unrolled: bool) {
        if unrolled {
            let id = self.cx.marked_loop(Unroll::Whole);
            self.w.end(format_args!("br label %{head}, !llvm.loop !{id}"));
        } else {
            self.w.br(head);
        }
    }

    /// Did `from + step = to` wrap?
    pub fn wrapped(&mut self, from: Num, to: Num, range: &Range) -> Num {
        if let Some(up) = range.up {
            let op = if up { CmpOp::Lt } else { CmpOp::Gt };
            return self.compare(op, Scalar::I64, to, from);
        }
        let below = self.compare(CmpOp::Lt, Scalar::I64, to, from);
        let down = self.compare(CmpOp::Lt, Scalar::I64, range.step, Num::int(0));
        self.compare(CmpOp::Ne, Scalar::Bool, below, down)
    }
}

/// Does a statement leave the loop it stands in?
fn breaks(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Loop(_) | StmtKind::For { .. } => false,
        kind => kind.blocks().any(|block| block.0.iter().any(breaks)),
    }
}
