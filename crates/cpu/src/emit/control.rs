//! Structured control flow over a gang: branches, loops, scopes and the jumps out of them.
//!
//! Each construct that control comes together after is a *frame*. Lanes that jump to an outer frame under divergent control wait there:
//! the frames on the way keep, in a slot, the lanes that will still arrive. When no lane is left running, control goes to the innermost
//! frame at which lanes may wait, and tests there whether any do.

use weft_ir::{Block, CmpOp, Scalar, Stmt, StmtKind, Value};
use weft_passes::uniformity::{Facts, key};

use super::func::Fx;
use super::mask::Mask;
use super::values::{Num, Res, Val};
use super::views::Slot;
use super::writer::{Elem, Label, Operand, Ty};

/// A place where control comes together.
#[derive(Clone, Debug)]
pub struct Frame {
    pub kind: FrameKind,
    /// The lanes that will arrive, where some may be lost on the way.
    pub slot: Option<Operand>,
    /// Lanes may wait here while others run.
    pub waits: bool,
    /// Reached with a lane on.
    pub join: Label,
    /// Reached when no lane runs on; the same as `join` where lanes certainly wait.
    pub check: Label,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The end of an `If`.
    Side,
    /// The next iteration of a loop.
    Next,
    /// The end of a loop.
    After,
    Scope(weft_ir::Label),
    /// The end of the function, or of a region between barriers.
    End,
}

impl<'m> Fx<'_, 'm> {
    pub fn facts(&self, stmt: &Stmt) -> Facts {
        self.info.facts.get(&key(stmt)).copied().unwrap_or_default()
    }

    /// A slot that holds the current mask, where it is needed.
    fn slot_if(&mut self, needed: bool) -> Option<Operand> {
        if !needed || self.lanes == 0 {
            return None;
        }
        let slot = self.mask_slot();
        self.save_mask(slot, self.mask_now());
        Some(slot)
    }

    fn mask_from(&mut self, slot: Option<Operand>, otherwise: Mask) -> Mask {
        match slot {
            Some(slot) => Mask::Lanes(self.load_mask(slot)),
            None => otherwise,
        }
    }

    /// Where control goes when no lane runs on inside the frame at `depth`.
    fn outer_check(&self, depth: usize) -> Label {
        self.frames[..depth].iter().rev().find(|f| f.waits).map_or(self.exit, |f| f.check)
    }

    /// Sends the lanes that are on to a frame.
    pub fn jump(&mut self, target: FrameKind) -> Res<()> {
        let Some(at) = self.frames.iter().rposition(|f| f.kind == target) else {
            return self.internal(format!("a jump to {target:?}, which does not enclose it"));
        };
        let Some(waiting) = self.frames[at + 1..].iter().rposition(|f| f.waits) else {
            let join = self.frames[at].join;
            self.w.br(join);
            return Ok(());
        };
        let gone = self.mask_now();
        for i in at + 1..self.frames.len() {
            if let Some(slot) = self.frames[i].slot {
                let kept = self.load_mask(slot);
                let kept = self.mask_without(kept, gone);
                self.save_mask(slot, kept);
            }
        }
        let check = self.frames[at + 1 + waiting].check;
        self.w.br(check);
        Ok(())
    }

    /// At a frame's check: goes to `join` if the slot has a lane on, else further out.
    fn test_slot(&mut self, slot: Operand, join: Label, otherwise: Label) {
        let mask = self.load_mask(slot);
        let any = self.any(mask);
        self.w.cond_br(any, join, otherwise);
    }

    pub fn emit_if(&mut self, stmt: &'m Stmt, cond: Value, then: &'m Block, other: &'m Block) -> Res<()> {
        match self.num(cond)? {
            Num::Uniform(c) => self.uniform_if(stmt, c, then, other),
            _ if self.mask == Mask::Full && !self.doubled => match self.whole_gang_test(cond, then, other)? {
                Some((test, full_side)) => self.doubled_if(stmt, cond, then, other, test, full_side),
                None => self.divergent_if(stmt, cond, then, other),
            },
            _ => self.divergent_if(stmt, cond, then, other),
        }
    }

    fn uniform_if(&mut self, stmt: &'m Stmt, cond: Operand, then: &'m Block, other: &'m Block) -> Res<()> {
        let (yes, no, join) = (self.w.label(), self.w.label(), self.w.label());
        let mask = self.mask;
        let slot = self.slot_if(self.facts(stmt).lossy);
        self.frames.push(Frame {
            kind: FrameKind::Side,
            slot,
            waits: false,
            join,
            check: join,
        });
        self.w.cond_br(cond, yes, if other.0.is_empty() { join } else { no });
        self.w.place(yes);
        self.block(then)?;
        self.w.br(join);
        if !other.0.is_empty() {
            self.mask = mask;
            self.w.place(no);
            self.block(other)?;
            self.w.br(join);
        }
        self.frames.pop();
        self.w.place(join);
        self.mask = self.mask_from(slot, mask);
        Ok(())
    }

    fn divergent_if(&mut self, stmt: &'m Stmt, cond: Value, then: &'m Block, other: &'m Block) -> Res<()> {
        let cond = self.condition(cond)?;
        let (mask, lossy) = (self.mask, self.facts(stmt).lossy);
        let join = self.w.label();
        let check = if lossy { self.w.label() } else { join };
        let slot = self.slot_if(lossy);
        let depth = self.frames.len();
        self.frames.push(Frame {
            kind: FrameKind::Side,
            slot,
            waits: true,
            join,
            check,
        });
        if !then.0.is_empty() && other.0.is_empty() {
            self.side(cond, then, join, join)?;
        } else if !then.0.is_empty() {
            // Where all lanes of the first side jump away, those of the other still wait for their turn.
            let rest = self.w.label();
            self.frames[depth].check = rest;
            self.side(cond, then, rest, rest)?;
            self.frames[depth].check = check;
            self.mask = mask;
            self.w.place(rest);
        }
        if !other.0.is_empty() {
            let off = self.mask_not(cond);
            self.side(off, other, check, check)?;
        }
        self.frames.pop();
        if let (true, Some(slot)) = (lossy, slot) {
            self.w.place(check);
            let outer = self.outer_check(depth);
            self.test_slot(slot, join, outer);
        }
        self.w.place(join);
        self.mask = self.mask_from(slot, mask);
        Ok(())
    }

    /// A varying condition as a mask.
    fn condition(&mut self, cond: Value) -> Res<Operand> {
        let (ty, cond) = (self.bits_ty(), self.num(cond)?);
        let bits = self.take(cond, ty);
        Ok(self.mask_of(bits))
    }

    /// Runs a side for the lanes in which `cond` holds, if any; then goes to `after`, or to `skipped` if there were none.
    fn side(&mut self, cond: Operand, body: &'m Block, skipped: Label, after: Label) -> Res<()> {
        let taken = self.narrowed(cond);
        let (start, any) = (self.w.label(), self.any(taken));
        if self.leaves_loop(body) {
            self.w.rare_br(any, start, skipped);
        } else {
            self.w.cond_br(any, start, skipped);
        }
        self.w.place(start);
        self.mask = Mask::Lanes(taken);
        self.block(body)?;
        self.w.br(after);
        Ok(())
    }

    /// Writes an `If` twice: for a gang that takes one side as a whole, with the mask still known full, and for any other.
    fn doubled_if(&mut self, stmt: &'m Stmt, cond: Value, then: &'m Block, other: &'m Block, test: Operand, full: &'m Block) -> Res<()> {
        let (whole, part, join) = (self.w.label(), self.w.label(), self.w.label());
        let lossy = self.facts(stmt).lossy;
        let slot = self.slot_if(lossy);
        self.doubled = true;
        self.w.cond_br(test, whole, part);
        self.w.place(whole);
        self.full_side(full, slot, join)?;
        self.mask = Mask::Full;
        self.w.place(part);
        self.divergent_if(stmt, cond, then, other)?;
        if let Some(slot) = slot {
            self.save_mask(slot, self.mask_now());
        }
        self.doubled = false;
        self.w.place(join);
        self.mask = self.mask_from(slot, Mask::Full);
        Ok(())
    }

    fn full_side(&mut self, body: &'m Block, slot: Option<Operand>, join: Label) -> Res<()> {
        self.frames.push(Frame {
            kind: FrameKind::Side,
            slot,
            waits: false,
            join,
            check: join,
        });
        self.block(body)?;
        self.frames.pop();
        self.w.br(join);
        Ok(())
    }

    /// Does a block end with lanes leaving a loop? That happens once a lane, iterations happen often.
    fn leaves_loop(&self, body: &Block) -> bool {
        let jump = body
            .0
            .last()
            .is_some_and(|s| matches!(s.kind, StmtKind::Break | StmtKind::Leave(_) | StmtKind::Return(_)));
        jump && self.frames.iter().any(|f| f.kind == FrameKind::After)
    }

    pub fn emit_scope(&mut self, stmt: &'m Stmt, label: weft_ir::Label, body: &'m Block) -> Res<()> {
        let Facts { waits, lossy, .. } = self.facts(stmt);
        let (mask, depth, join) = (self.mask, self.frames.len(), self.w.label());
        let check = if lossy { self.w.label() } else { join };
        let slot = self.slot_if(lossy);
        self.frames.push(Frame {
            kind: FrameKind::Scope(label),
            slot,
            waits,
            join,
            check,
        });
        self.block(body)?;
        self.w.br(join);
        self.frames.pop();
        if let (true, Some(slot)) = (waits, slot) {
            self.w.place(check);
            let outer = self.outer_check(depth);
            self.test_slot(slot, join, outer);
        }
        self.w.place(join);
        self.mask = self.mask_from(slot, mask);
        Ok(())
    }

    pub fn emit_loop(&mut self, stmt: &'m Stmt, body: &'m Block) -> Res<()> {
        let facts = self.facts(stmt);
        let head = self.w.label();
        let run = self.open_loop(facts, head);
        self.w.place(head);
        self.mask = self.mask_from(run.live, run.mask);
        self.block(body)?;
        self.w.br(head);
        self.close_loop(&run, head);
        Ok(())
    }

    /// Sets up the two frames of a loop whose next iteration starts at `next`.
    pub fn open_loop(&mut self, facts: Facts, next: Label) -> LoopRun {
        let (mask, depth) = (self.mask, self.frames.len());
        let live = self.slot_if(facts.waits || facts.lossy);
        let kept = self.slot_if(facts.waits && facts.lossy);
        let after = self.w.label();
        let after_check = if kept.is_some() { self.w.label() } else { after };
        let next_check = if facts.next_waits { self.w.label() } else { next };
        self.frames.push(Frame {
            kind: FrameKind::After,
            slot: kept,
            waits: facts.waits,
            join: after,
            check: after_check,
        });
        self.frames.push(Frame {
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
            self.outer_check(run.depth)
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
        self.frames.truncate(run.depth);
        if let Some(kept) = run.kept {
            self.w.place(run.after_check);
            let outer = self.outer_check(run.depth);
            self.test_slot(kept, run.after, outer);
        }
        self.w.place(run.after);
        let slot = match run.facts.lossy {
            false => None,
            true => run.kept.or(run.live),
        };
        self.mask = self.mask_from(slot, run.mask);
    }

    /// `for var in range(start, stop, step)`.
    pub fn emit_for(&mut self, stmt: &'m Stmt, var: Value, range: [Value; 3], body: &'m Block) -> Res<()> {
        let range = self.range(range)?;
        let slot = self.counter_slot(var);
        self.write_number(&slot, range.start, false)?;
        let facts = self.facts(stmt);
        if range.uniform() && matches!(slot, Slot::Shared { step: 0, .. }) {
            return self.uniform_for(facts, var, &slot, &range, body);
        }
        let alone = !facts.breaks && !facts.lossy;
        if let (Slot::Shared { step, .. }, true, true) = (&slot, range.stop.is_uniform() && alone, self.mask == Mask::Full && !self.doubled)
            && *step != 0
        {
            self.doubled = true;
            self.full_for(facts, var, &slot, &range, body)?;
            self.mask = Mask::Full;
            self.divergent_for(facts, var, &slot, &range, body)?;
            self.doubled = false;
            return Ok(());
        }
        self.divergent_for(facts, var, &slot, &range, body)
    }

    fn counter_slot(&mut self, var: Value) -> Slot {
        use weft_passes::uniformity::Class;
        let scalar = Ty::I64;
        match self.info.values[var.index()] {
            Class::Varying if self.lanes > 0 => {
                let ty = self.vector_ty(Elem::I64);
                Slot::Lanes {
                    ptr: self.w.alloca(ty),
                    elem: Elem::I64,
                }
            }
            Class::Affine(step) if self.lanes > 0 => Slot::Shared {
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
    fn uniform_for(&mut self, facts: Facts, var: Value, slot: &Slot, range: &Range, body: &'m Block) -> Res<()> {
        let (head, start, next) = (self.w.label(), self.w.label(), self.w.label());
        let mut run = self.open_loop(facts, next);
        run.unrolled = self.lanes > 0
            && range
                .trips()
                .is_some_and(|n| n <= UNROLLED_TRIPS && n * size(body) <= UNROLLED_STATEMENTS);
        self.w.place(head);
        let at = self.read_number(slot);
        let more = self.in_range(at, range);
        let Num::Uniform(more) = more else {
            return self.internal("a uniform range with a varying end");
        };
        self.w.cond_br(more, start, run.after);
        self.w.place(start);
        self.define(var, Val::Num(at));
        self.mask = self.mask_from(run.live, run.mask);
        self.block(body)?;
        self.latch(&run, slot, range, head, next)?;
        self.close_loop(&run, next);
        Ok(())
    }

    /// The iterations in which all lanes are in range, of a loop whose lanes are neighbours.
    fn full_for(&mut self, facts: Facts, var: Value, slot: &Slot, range: &Range, body: &'m Block) -> Res<()> {
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
    fn divergent_for(&mut self, facts: Facts, var: Value, slot: &Slot, range: &Range, body: &'m Block) -> Res<()> {
        let (head, start, next) = (self.w.label(), self.w.label(), self.w.label());
        let run = self.open_loop(facts, next);
        let Some(live) = run.live else {
            return self.internal("a divergent range in a loop taken for uniform");
        };
        self.w.place(head);
        let at = self.read_number(slot);
        let more = self.in_range(at, range);
        let ty = self.bits_ty();
        let more = self.take(more, ty);
        let more = self.mask_of(more);
        let on = self.load_mask(live);
        let on = self.mask_and(on, more);
        self.save_mask(live, on);
        let (any, over) = (self.any(on), self.loop_over(&run));
        self.w.cond_br(any, start, over);
        self.w.place(start);
        self.define(var, Val::Num(at));
        self.mask = Mask::Lanes(on);
        self.block(body)?;
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
        match (at, moved, range.step) {
            (Num::Uniform(i) | Num::Affine(i, _), Num::Uniform(n) | Num::Affine(n, _), step) if step.is_uniform() => {
                let wrapped = self.wrapped(Num::Uniform(i), Num::Uniform(n), step);
                let wrapped = self.take(wrapped, Ty::BOOL);
                let over = if range.uniform() { run.after } else { self.loop_over(run) };
                self.w.cond_br(wrapped, over, head);
            }
            _ => {
                let wrapped = self.wrapped(at, moved, range.step);
                let ty = self.bits_ty();
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
            let id = self.cx.unrolled_loop();
            self.w.end(format_args!("br label %{head}, !llvm.loop !{id}"));
        } else {
            self.w.br(head);
        }
    }

    /// Did `from + step = to` wrap?
    pub fn wrapped(&mut self, from: Num, to: Num, step: Num) -> Num {
        if let Some(step) = step.const_int() {
            let op = if step > 0 { CmpOp::Lt } else { CmpOp::Gt };
            return self.compare(op, Scalar::I64, to, from);
        }
        let below = self.compare(CmpOp::Lt, Scalar::I64, to, from);
        let down = self.compare(CmpOp::Lt, Scalar::I64, step, Num::int(0));
        self.compare(CmpOp::Ne, Scalar::Bool, below, down)
    }
}

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

/// The numbers of a `For`.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub start: Num,
    pub stop: Num,
    pub step: Num,
}

/// Loops of so few iterations, and of so many statements in all of them, are unrolled.
const UNROLLED_TRIPS: usize = 32;
const UNROLLED_STATEMENTS: usize = 512;

impl Range {
    /// How many iterations, if that is known.
    fn trips(&self) -> Option<usize> {
        let (start, stop, step) = (self.start.const_int()?, self.stop.const_int()?, self.step.const_int()?);
        let span = if step > 0 {
            stop.checked_sub(start)?
        } else {
            start.checked_sub(stop)?
        };
        usize::try_from(span.max(0).unsigned_abs().div_ceil(step.unsigned_abs())).ok()
    }

    fn uniform(&self) -> bool {
        self.start.is_uniform() && self.stop.is_uniform() && self.step.is_uniform()
    }
}

/// How many statements a block holds, nested ones included.
pub fn size(block: &Block) -> usize {
    block
        .0
        .iter()
        .map(|s| 1 + weft_passes::uniformity::blocks(s).into_iter().map(size).sum::<usize>())
        .sum()
}
