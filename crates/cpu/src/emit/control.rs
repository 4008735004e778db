//! Predication: structured control flow over a gang, with branches, scopes and the jumps out of them.
//!
//! Each construct that control comes together after is a *frame*. Lanes that jump to an outer frame under divergent control wait there:
//! the frames on the way keep, in a slot, the lanes that will still arrive. When no lane is left running, control goes to the innermost
//! frame at which lanes may wait, and tests there whether any do.

use weft_ir::{ErrorKind, StmtKind, Value};
use weft_passes::numbering::{Node, Numbered};
use weft_passes::uniformity::Facts;

use super::frames::{Frame, FrameKind};
use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res};
use super::writer::{Label, Operand, Ty};

impl<'m> Fx<'_, 'm> {
    /// A slot that holds the current mask, where it is needed.
    pub fn slot_if(&mut self, needed: bool) -> Option<Operand> {
        if !needed || self.gang.lanes == 0 {
            return None;
        }
        let slot = self.mask_slot();
        self.save_mask(slot, self.gang.mask_now());
        Some(slot)
    }

    pub fn mask_from(&mut self, slot: Option<Operand>, otherwise: Mask) -> Mask {
        match slot {
            Some(slot) => Mask::Lanes(self.load_mask(slot)),
            None => otherwise,
        }
    }

    /// Sends the lanes that are on to a frame.
    pub fn jump(&mut self, target: FrameKind) -> Res<()> {
        let Some(at) = self.control.frames.iter().rposition(|f| f.kind == target) else {
            return self.internal(format!("a jump to {target:?}, which does not enclose it"));
        };
        if target == FrameKind::End {
            self.note_end();
        }
        let Some(waiting) = self.control.frames[at + 1..].iter().rposition(|f| f.waits) else {
            let join = self.control.frames[at].join;
            self.w.br(join);
            return Ok(());
        };
        let gone = self.gang.mask_now();
        for i in at + 1..self.control.frames.len() {
            if let Some(slot) = self.control.frames[i].slot {
                let kept = self.load_mask(slot);
                let kept = self.mask_without(kept, gone);
                self.save_mask(slot, kept);
            }
        }
        let check = self.control.frames[at + 1 + waiting].check;
        self.w.br(check);
        Ok(())
    }

    /// At a frame's check: goes to `join` if the slot has a lane on, else further out.
    pub fn test_slot(&mut self, slot: Operand, join: Label, otherwise: Label) {
        let mask = self.load_mask(slot);
        let any = self.any(mask);
        self.w.cond_br(any, join, otherwise);
    }

    pub fn emit_if(&mut self, node: Node<'m>, cond: Value, sides: [Numbered<'m>; 2]) -> Res<()> {
        match self.num(cond)? {
            Num::Uniform(c) => self.uniform_if(node, c, sides),
            _ if self.gang.mask == Mask::Full && !self.control.doubled => match self.whole_gang_test(cond, sides)? {
                Some((test, full_side)) => self.doubled_if(node, cond, sides, test, full_side),
                None => self.divergent_if(node, cond, sides),
            },
            _ => self.divergent_if(node, cond, sides),
        }
    }

    fn uniform_if(&mut self, node: Node<'m>, cond: Operand, [then, other]: [Numbered<'m>; 2]) -> Res<()> {
        let (yes, no, join) = (self.w.label(), self.w.label(), self.w.label());
        let mask = self.gang.mask;
        let slot = self.slot_if(self.facts(node).lossy);
        self.control.frames.push(Frame {
            kind: FrameKind::Side,
            slot,
            waits: false,
            join,
            check: join,
        });
        self.w.cond_br(cond, yes, if other.is_empty() { join } else { no });
        self.w.place(yes);
        self.block(then)?;
        self.w.br(join);
        if !other.is_empty() {
            self.gang.mask = mask;
            self.w.place(no);
            self.block(other)?;
            self.w.br(join);
        }
        self.control.frames.pop();
        self.w.place(join);
        self.gang.mask = self.mask_from(slot, mask);
        Ok(())
    }

    fn divergent_if(&mut self, node: Node<'m>, cond: Value, [then, other]: [Numbered<'m>; 2]) -> Res<()> {
        let cond = self.condition(cond)?;
        let (mask, lossy) = (self.gang.mask, self.facts(node).lossy);
        let join = self.w.label();
        let check = if lossy { self.w.label() } else { join };
        let slot = self.slot_if(lossy);
        let depth = self.control.frames.len();
        self.control.frames.push(Frame {
            kind: FrameKind::Side,
            slot,
            waits: true,
            join,
            check,
        });
        if !then.is_empty() && other.is_empty() {
            self.side(cond, then, join, join)?;
        } else if !then.is_empty() {
            // Where all lanes of the first side jump away, those of the other still wait for their turn.
            let rest = self.w.label();
            self.control.frames[depth].check = rest;
            self.side(cond, then, rest, rest)?;
            self.control.frames[depth].check = check;
            self.gang.mask = mask;
            self.w.place(rest);
        }
        if !other.is_empty() {
            let off = self.mask_not(cond);
            self.side(off, other, check, check)?;
        }
        self.control.frames.pop();
        if let (true, Some(slot)) = (lossy, slot) {
            self.w.place(check);
            let outer = self.control.outer_check(depth);
            self.test_slot(slot, join, outer);
        }
        self.w.place(join);
        self.gang.mask = self.mask_from(slot, mask);
        Ok(())
    }

    /// A varying condition as a mask.
    fn condition(&mut self, cond: Value) -> Res<Operand> {
        let (ty, cond) = (self.gang.bits_ty(), self.num(cond)?);
        let bits = self.take(cond, ty);
        Ok(self.mask_of(bits))
    }

    /// Runs a side for the lanes in which `cond` holds, if any; then goes to `after`, or to `skipped` if there were none.
    fn side(&mut self, cond: Operand, body: Numbered<'m>, skipped: Label, after: Label) -> Res<()> {
        let taken = self.narrowed(cond);
        let (start, any) = (self.w.label(), self.any(taken));
        if self.leaves_loop(body.block) {
            self.w.rare_br(any, start, skipped);
        } else {
            self.w.cond_br(any, start, skipped);
        }
        self.w.place(start);
        self.gang.mask = Mask::Lanes(taken);
        self.masked_block(body)?;
        self.w.br(after);
        Ok(())
    }

    /// Writes an `If` twice: for a gang that takes one side as a whole, with the mask still known full, and for any other.
    fn doubled_if(&mut self, node: Node<'m>, cond: Value, sides: [Numbered<'m>; 2], test: Operand, full: Numbered<'m>) -> Res<()> {
        let (whole, part, join) = (self.w.label(), self.w.label(), self.w.label());
        let lossy = self.facts(node).lossy;
        let slot = self.slot_if(lossy);
        self.control.doubled = true;
        self.w.cond_br(test, whole, part);
        self.w.place(whole);
        self.full_side(full, slot, join)?;
        self.gang.mask = Mask::Full;
        self.w.place(part);
        self.control.rest = true;
        self.divergent_if(node, cond, sides)?;
        self.control.rest = false;
        if let Some(slot) = slot {
            self.save_mask(slot, self.gang.mask_now());
        }
        self.control.doubled = false;
        self.w.place(join);
        self.gang.mask = self.mask_from(slot, Mask::Full);
        Ok(())
    }

    fn full_side(&mut self, body: Numbered<'m>, slot: Option<Operand>, join: Label) -> Res<()> {
        self.control.frames.push(Frame {
            kind: FrameKind::Side,
            slot,
            waits: false,
            join,
            check: join,
        });
        self.block(body)?;
        self.control.frames.pop();
        self.w.br(join);
        Ok(())
    }

    /// Does a block end with lanes leaving a loop? That happens once a lane, iterations happen often.
    fn leaves_loop(&self, body: &weft_ir::Block) -> bool {
        let jump = body
            .0
            .last()
            .is_some_and(|s| matches!(s.kind, StmtKind::Break | StmtKind::Leave(_) | StmtKind::Return(_)));
        jump && self.control.frames.iter().any(|f| f.kind == FrameKind::After)
    }

    pub fn emit_scope(&mut self, node: Node<'m>, label: weft_ir::Label, body: Numbered<'m>) -> Res<()> {
        let Facts { waits, lossy, .. } = self.facts(node);
        let (mask, depth, join) = (self.gang.mask, self.control.frames.len(), self.w.label());
        let check = if lossy { self.w.label() } else { join };
        let slot = self.slot_if(lossy);
        self.control.frames.push(Frame {
            kind: FrameKind::Scope(label),
            slot,
            waits,
            join,
            check,
        });
        self.block(body)?;
        self.w.br(join);
        self.control.frames.pop();
        if let (true, Some(slot)) = (waits, slot) {
            self.w.place(check);
            let outer = self.control.outer_check(depth);
            self.test_slot(slot, join, outer);
        }
        self.w.place(join);
        self.gang.mask = self.mask_from(slot, mask);
        Ok(())
    }

    /// Records the error and ends the function for the lanes that are on.
    pub fn raise(&mut self, kind: ErrorKind, message: &str) -> Res<()> {
        self.report(kind, message)?;
        self.w.line(format_args!("store i32 1, {}", self.control.status.typed(Ty::PTR)));
        self.jump(FrameKind::End)
    }
}

/// The frame of a function's end, or of the end of what is run once per gang.
pub fn end_frame(join: Label) -> Frame {
    Frame {
        kind: FrameKind::End,
        slot: None,
        waits: true,
        join,
        check: join,
    }
}
