//! Index spaces: the points of `Loop` functions, gang by gang or one after the other, row by row.

use weft_ir::order::BLOCK;
use weft_ir::{FuncKind, Value};

use super::control::end_frame;
use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res, Val};
use super::writer::{Label, Operand, Ty};

/// Gangs after which sums of floats move on.
const SUMMED_GANGS: i64 = 64;

impl<'m> Fx<'_, 'm> {
    /// Runs the body for `begin..end`: points of one axis, or rows of more.
    pub fn points(&mut self, indices: &[Value], extents: &[Operand]) -> Res<()> {
        let Some((last, outer)) = indices.split_last() else {
            return self.gangs(None, Operand::Arg("begin"), Operand::Arg("end"));
        };
        if outer.is_empty() {
            self.gangs(Some(*last), Operand::Arg("begin"), Operand::Arg("end"))?;
            self.end_streams();
            return Ok(());
        }
        let row = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, Operand::Arg("begin"), row);
        let (head, body, done) = (self.w.label(), self.w.label(), self.w.label());
        self.w.place(head);
        let at = self.w.load(Ty::I64, row);
        let more = self.w.inst(format_args!("icmp slt {}, %end", at.typed(Ty::I64)));
        self.w.cond_br(more, body, done);
        self.w.place(body);
        self.outer_indices(outer, extents, at);
        self.gangs(Some(*last), Operand::Int(0), extents[extents.len() - 1])?;
        let at = self.w.load(Ty::I64, row);
        let next = self.add_scalar(at, Operand::Int(1));
        self.w.store(Ty::I64, next, row);
        self.w.br(head);
        self.w.place(done);
        self.end_streams();
        Ok(())
    }

    /// What went past the caches is in memory for whoever is told next that it is there: such stores are in no order with others.
    fn end_streams(&mut self) {
        if self.gang.streams.is_some() {
            self.w.line(format_args!("fence seq_cst"));
        }
    }

    /// Splits a row number into the indices of all axes but the last.
    fn outer_indices(&mut self, outer: &[Value], extents: &[Operand], row: Operand) {
        let mut rest = row;
        for axis in (1..outer.len()).rev() {
            let extent = extents[axis];
            let index = self.scalar_int("urem", rest, extent);
            rest = self.scalar_int("udiv", rest, extent);
            self.define(outer[axis], Val::Num(Num::Uniform(index)));
        }
        self.define(outer[0], Val::Num(Num::Uniform(rest)));
    }

    /// Neighbouring points. Where floats are summed, the lanes' sums move into wider ones before they grow long.
    fn gangs(&mut self, index: Option<Value>, begin: Operand, end: Operand) -> Res<()> {
        if self.has_fixed() {
            return self.fixed_gangs(index, begin, end);
        }
        if self.gang.lanes == 0 {
            return self.in_turn(index, begin, end);
        }
        if self.sums.totals.is_empty() {
            return self.gangs_in_a_row(index, begin, end);
        }
        let block = self.count(begin, end, SUMMED_GANGS * i64::from(self.gang.lanes));
        let stop = self.scalar_int("add nsw", block.at, Operand::Int(SUMMED_GANGS * i64::from(self.gang.lanes)));
        let stop = self.call("smin", Ty::I64, &[stop, end]);
        self.gangs_in_a_row(index, block.at, stop)?;
        self.move_sums()?;
        self.end_count(&block);
        Ok(())
    }

    /// Whole gangs first, then one with some lanes off. Where stores are to be aligned, a row of few lanes comes before.
    pub fn gangs_in_a_row(&mut self, index: Option<Value>, begin: Operand, end: Operand) -> Res<()> {
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, begin, slot);
        let Some(first) = self.first_stop(index, begin, end)? else {
            return self.row(index, slot, end);
        };
        let until = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, first, until);
        let (head, again, done) = (self.w.label(), self.w.label(), self.w.label());
        self.w.place(head);
        let stop = self.w.load(Ty::I64, until);
        self.row(index, slot, stop)?;
        let more = self.w.inst(format_args!("icmp slt {}, {}", stop.typed(Ty::I64), end.of(Ty::I64)));
        self.w.cond_br(more, again, done);
        self.w.place(again);
        self.w.store(Ty::I64, stop, slot);
        self.w.store(Ty::I64, end, until);
        self.w.br(head);
        self.w.place(done);
        Ok(())
    }

    /// From the number in `slot` on.
    fn row(&mut self, index: Option<Value>, slot: Operand, end: Operand) -> Res<()> {
        let (head, whole, next) = (self.w.label(), self.w.label(), self.w.label());
        let (tail_head, tail, done) = (self.w.label(), self.w.label(), self.w.label());
        let lanes = Operand::Int(self.gang.lanes.into());
        self.w.place(head);
        let at = self.w.load(Ty::I64, slot);
        let after = self.scalar_int("add nsw", at, lanes);
        let fits = self.w.inst(format_args!("icmp sle {}, {}", after.typed(Ty::I64), end.of(Ty::I64)));
        self.w.cond_br(fits, whole, tail_head);
        self.w.place(whole);
        self.gang(index, at, Mask::Full, next)?;
        self.w.place(next);
        self.w.store(Ty::I64, after, slot);
        self.w.br(head);
        self.w.place(tail_head);
        let some = self.w.inst(format_args!("icmp slt {}, {}", at.typed(Ty::I64), end.of(Ty::I64)));
        self.w.cond_br(some, tail, done);
        self.w.place(tail);
        self.control.tail = true;
        match self.part_lanes(self.body) {
            Some(lanes) => self.tail_in_parts(index, at, end, lanes)?,
            None => {
                let mask = self.lanes_below(Num::Affine(at, 1), end);
                self.gang(index, at, Mask::Lanes(mask), done)?;
            }
        }
        self.control.tail = false;
        self.w.place(done);
        Ok(())
    }

    fn tail_in_parts(&mut self, index: Option<Value>, at: Operand, end: Operand, lanes: u32) -> Res<()> {
        let part = self.count(at, end, lanes.into());
        let whole = self.start_part(lanes);
        self.slots.clear();
        self.make_slots()?;
        let mask = self.lanes_below(Num::Affine(part.at, 1), end);
        self.gang(index, part.at, Mask::Lanes(mask), part.next)?;
        self.end_part(whole);
        self.end_short_count(&part);
        Ok(())
    }

    fn gang(&mut self, index: Option<Value>, at: Operand, mask: Mask, next: Label) -> Res<()> {
        if let Some(index) = index {
            self.define(index, Val::Num(Num::Affine(at, 1)));
        }
        self.gang.mask = mask;
        self.take_chains(at);
        self.control.frames.push(end_frame(next));
        let f = self.f;
        if let FuncKind::Loop { reductions, .. } = &f.kind {
            self.forget_locals(|local| reductions.iter().any(|r| r.local == local));
        }
        self.block(self.body)?;
        self.control.frames.pop();
        self.w.br(next);
        self.gang.mask = Mask::Full;
        Ok(())
    }

    /// The points `begin..end` of the last axis, one by one.
    pub fn in_turn(&mut self, index: Option<Value>, begin: Operand, end: Operand) -> Res<()> {
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, begin, slot);
        let (head, point, next, done) = (self.w.label(), self.w.label(), self.w.label(), self.w.label());
        self.w.place(head);
        let at = self.w.load(Ty::I64, slot);
        let more = self.w.inst(format_args!("icmp slt {}, {}", at.typed(Ty::I64), end.of(Ty::I64)));
        self.w.cond_br(more, point, done);
        self.w.place(point);
        let f = self.f;
        if self.cx.allocates(&f.body) {
            // No view outlives the point that made it.
            self.free_unless(&[]);
        }
        if let Some(index) = index {
            self.define(index, Val::Num(Num::Uniform(at)));
        }
        self.gang.mask = Mask::Full;
        self.take_chains(at);
        self.control.frames.push(end_frame(next));
        self.block(self.body)?;
        self.control.frames.pop();
        self.w.br(next);
        self.w.place(next);
        self.move_sums()?;
        let after = self.scalar_int("add nsw", at, Operand::Int(1));
        self.w.store(Ty::I64, after, slot);
        self.w.br(head);
        self.w.place(done);
        Ok(())
    }

    /// The columns `begin..end` of a row, block by block. A block of several rows ends with the last of them.
    pub fn fixed_gangs(&mut self, index: Option<Value>, begin: Operand, end: Operand) -> Res<()> {
        let block = self.count(begin, end, BLOCK as i64);
        let stop = self.scalar_int("add nsw", block.at, Operand::Int(BLOCK as i64));
        let stop = self.call("smin", Ty::I64, &[stop, end]);
        match self.gang.lanes {
            0 => self.in_turn(index, block.at, stop)?,
            _ => self.gangs_in_a_row(index, block.at, stop)?,
        }
        self.end_row()?;
        self.end_count(&block);
        Ok(())
    }
}
