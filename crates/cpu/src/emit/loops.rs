//! Index spaces: `Loop` functions gang by gang, their reductions, and launching them from host code.

use weft_ir::{Const, FuncId, FuncKind, Function, Local, ReduceOp, Reduction, Scalar, Spread, StmtKind, Value};

use super::entry::end_frame;
use super::fixed::is_fixed;
use super::func::Fx;
use super::mask::Mask;
use super::values::{Num, Res, Val, elem};
use super::views::Slot;
use super::writer::{Elem, Label, Operand, Ty};

/// Least points of a chunk where each is little work.
const LONG_GRAIN: i64 = 1 << 14;

/// Where the context counts short runs: behind its first two words.
const TURNS_AT: i64 = 16;

/// How many short runs there are between two that the runtime does.
const TURNS: i64 = 4096;

/// The most axes of an index space that may be run in place.
const MOST_AXES: usize = 5;

/// Gangs after which sums of floats move on.
const SUMMED_GANGS: i64 = 64;

impl<'m> Fx<'_, 'm> {
    /// Runs the body for `begin..end`: points of one axis, or rows of more.
    pub fn points(&mut self, indices: &[Value], extents: &[Operand]) -> Res<()> {
        let Some((last, outer)) = indices.split_last() else {
            return self.gangs(None, Operand::Arg("begin"), Operand::Arg("end"));
        };
        if outer.is_empty() {
            return self.gangs(Some(*last), Operand::Arg("begin"), Operand::Arg("end"));
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
        Ok(())
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
        if self.lanes == 0 {
            return self.in_turn(index, begin, end);
        }
        if self.totals.is_empty() {
            return self.gangs_in_a_row(index, begin, end);
        }
        let block = self.count(begin, end, SUMMED_GANGS * i64::from(self.lanes));
        let stop = self.scalar_int("add nsw", block.at, Operand::Int(SUMMED_GANGS * i64::from(self.lanes)));
        let stop = self.call("smin", Ty::I64, &[stop, end]);
        self.gangs_in_a_row(index, block.at, stop)?;
        self.move_sums()?;
        self.end_count(&block);
        Ok(())
    }

    pub fn move_sums(&mut self) -> Res<()> {
        for (local, total) in self.totals.clone() {
            let (Slot::Lanes { ptr, elem } | Slot::Shared { ptr, elem, .. }) = self.slots[local.index()] else {
                continue;
            };
            let (narrow, wide) = (self.vector_ty(elem), self.vector_ty(Elem::F64));
            let s = self.local_scalar(local)?;
            let sum = Num::Varying(self.w.load(narrow, ptr));
            let sum = self.cast(s, Scalar::F64, sum);
            let sum = self.take(sum, wide);
            let before = self.w.load(wide, total);
            let after = self.plain("fadd", wide, before, sum);
            self.w.store(wide, after, total);
            self.w.store(narrow, Operand::Zero, ptr);
        }
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
        let lanes = Operand::Int(self.lanes.into());
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
        match self.part_lanes(self.body) {
            Some(lanes) => self.tail_in_parts(index, at, end, lanes)?,
            None => {
                let mask = self.lanes_below(Num::Affine(at, 1), end);
                self.gang(index, at, Mask::Lanes(mask), done)?;
            }
        }
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
        self.mask = mask;
        self.take_chains(at);
        self.frames.push(end_frame(next));
        let f = self.f;
        if let FuncKind::Loop { reductions, .. } = &f.kind {
            self.forget_locals(|local| reductions.iter().any(|r| r.local == local));
        }
        self.block(self.body)?;
        self.frames.pop();
        self.w.br(next);
        self.mask = Mask::Full;
        Ok(())
    }

    pub fn start_reductions(&mut self, reductions: &[Reduction]) -> Res<()> {
        let f = self.f;
        for r in reductions.iter().filter(|r| !is_fixed(f, **r)) {
            let s = self.local_scalar(r.local)?;
            let slot = self.slots[r.local.index()].clone();
            self.write_number(&slot, identity(r.op, s), false)?;
            if is_sum(*r, s) {
                let ty = self.vector_ty(Elem::F64);
                let total = self.w.alloca(ty);
                self.w.store(ty, Operand::Zero, total);
                self.totals.push((r.local, total));
            }
        }
        Ok(())
    }

    /// Combines the lanes of each reduction, halves with halves, and writes the results: sums of floats as doubles where they are
    /// `combined` further.
    pub fn end_reductions(&mut self, reductions: &[Reduction], combined: bool) -> Res<()> {
        for (i, r) in reductions.iter().enumerate() {
            let s = self.local_scalar(r.local)?;
            if let Some(sum) = self.fixed_sum(r) {
                self.store_slot(sum, s, Operand::Arg("extra"), i)?;
                continue;
            }
            let mut held = s;
            let lanes = match self.totals.iter().find(|(local, _)| *local == r.local) {
                Some((_, total)) => {
                    held = Scalar::F64;
                    let (ty, total) = (self.vector_ty(Elem::F64), *total);
                    let sum = self.w.load(ty, total);
                    self.wrap(sum, ty)
                }
                None => {
                    let slot = self.slots[r.local.index()].clone();
                    self.read_number(&slot)
                }
            };
            let total = match self.lanes {
                0 => lanes,
                _ => self.combine_lanes(r.op, held, lanes)?,
            };
            if combined {
                self.store_slot(total, held, Operand::Arg("extra"), i)?;
            } else {
                let total = self.cast(held, s, total);
                self.store_slot(total, s, Operand::Arg("extra"), i)?;
            }
        }
        Ok(())
    }

    pub fn combine_lanes(&mut self, op: ReduceOp, s: Scalar, n: Num) -> Res<Num> {
        let ty = self.vector_ty(elem(s));
        let (mut vector, mut lanes) = (self.take(n, ty), ty.lanes);
        while lanes > 1 {
            let (from, half) = (Ty { lanes, ..ty }, lanes / 2);
            let low = self.part(vector, from, 0, half);
            let high = self.part(vector, from, half, half);
            let joined = self.with_lanes(half, |fx| fx.combine(op.binary(), s, Num::Varying(low), Num::Varying(high)))?;
            vector = self.take(joined, Ty { lanes: half, ..ty });
            lanes = half;
        }
        let one = Ty { lanes: 1, ..ty };
        Ok(Num::Uniform(
            self.w.inst(format_args!("extractelement {}, i64 0", vector.typed(one))),
        ))
    }

    pub fn part(&mut self, vector: Operand, ty: Ty, first: u32, count: u32) -> Operand {
        let picks: Vec<String> = (first..first + count).map(|i| format!("i32 {i}")).collect();
        self.w.inst(format_args!(
            "shufflevector {}, {ty} poison, <{count} x i32> <{}>",
            vector.typed(ty),
            picks.join(", ")
        ))
    }

    /// Runs a `Loop` function through the runtime and combines its results into locals.
    pub fn launch(&mut self, func: FuncId, extents: &[Value], args: &[Value], results: &[Local], spread: Spread) -> Res<()> {
        let module = self.cx.module;
        let target = module.function(func);
        let FuncKind::Loop { reductions, .. } = &target.kind else {
            return self.internal("a launch of what is no loop");
        };
        let body = self.cx.loop_symbol(func, spread)?;
        let block = self.argument_block(extents, args)?;
        let (partial, combine) = self.result_block(&body, reductions, |r| target.local_ty(r.local).scalar())?;
        self.cx.symbol("weft_launch");
        self.cx
            .declare("declare i32 @weft_launch(ptr, ptr, ptr, ptr, ptr, i64, i64, i32, i64)".to_owned());
        let (rank, slots) = (extents.len(), reductions.len());
        // Where the order is fixed, so is the size of the chunks; the sign says it.
        let grain = match reductions.iter().any(|r| r.fixed) {
            true => -grain(target, spread),
            false => grain(target, spread),
        };
        let code = self.w.alloca(Ty::I32);
        let done = match shortest(target, spread) {
            Some(most) if rank <= MOST_AXES => Some(self.run_if_short(&body, extents, block, (partial, &combine, slots), (most, code))?),
            _ => None,
        };
        let spread = spread as i32;
        let failed = self.w.inst(format_args!(
            "call i32 @weft_launch(ptr %ctx, ptr @{body}, ptr {combine}, {}, {}, i64 {rank}, i64 {slots}, i32 {spread}, i64 {grain})",
            block.typed(Ty::PTR),
            partial.typed(Ty::PTR)
        ));
        let failed = match done {
            Some(done) => {
                self.w.store(Ty::I32, failed, code);
                self.w.br(done);
                self.w.place(done);
                self.w.load(Ty::I32, code)
            }
            None => failed,
        };
        self.leave_if_failed(failed);
        self.take_results(results, reductions, partial)
    }

    /// A few points are run here, as the runtime would run them: in one chunk, on this thread. Gives where control goes on; the code written
    /// next is for more points.
    fn run_if_short(
        &mut self,
        body: &str,
        extents: &[Value],
        args: Operand,
        (partial, combine, slots): (Operand, &str, usize),
        (most, code): (i64, Operand),
    ) -> Res<Label> {
        let (short, some, long, done) = (self.w.label(), self.w.label(), self.w.label(), self.w.label());
        let mut lengths = Vec::with_capacity(extents.len());
        for extent in extents {
            match self.num(*extent)? {
                Num::Uniform(n) => lengths.push(n),
                _ => return self.internal("an index space of varying extents"),
            }
        }
        // No length is negative, and the product of so few short ones fits.
        let either = lengths.iter().copied().reduce(|a, b| self.plain("or", Ty::I64, a, b));
        let points = lengths.iter().copied().reduce(|a, b| self.mul_scalar(a, b));
        let (either, points) = (either.unwrap_or(Operand::Int(1)), points.unwrap_or(Operand::Int(1)));
        let each = self.w.inst(format_args!("icmp ult {}, {}", either.typed(Ty::I64), 2 * most));
        let all = self.w.inst(format_args!("icmp ule {}, {most}", points.typed(Ty::I64)));
        let few = self.plain("and", Ty::BOOL, each, all);
        // Now and then the runtime is asked to run it, which asks the host whether to stop.
        let turns = self.w.offset(Operand::Arg("ctx"), Operand::Int(TURNS_AT));
        let turn = self.w.load(Ty::I32, turns);
        let next = self.w.inst(format_args!("add {}, 1", turn.typed(Ty::I32)));
        self.w.store(Ty::I32, next, turns);
        let due = self.w.inst(format_args!("and {}, {}", next.typed(Ty::I32), TURNS - 1));
        let quiet = self.w.inst(format_args!("icmp ne {}, 0", due.typed(Ty::I32)));
        let here = self.plain("and", Ty::BOOL, few, quiet);
        self.w.cond_br(here, short, long);
        self.w.place(short);
        self.w.store(Ty::I32, Operand::Int(0), code);
        let any = self.w.inst(format_args!("icmp ne {}, 0", points.typed(Ty::I64)));
        self.w.cond_br(any, some, done);
        self.w.place(some);
        let rows = match lengths.split_last() {
            Some((_, outer)) if !outer.is_empty() => outer.iter().copied().reduce(|a, b| self.mul_scalar(a, b)),
            _ => Some(points),
        };
        let rows = rows.unwrap_or(points);
        let own = match slots {
            0 => Operand::Null,
            _ => self.w.entry_inst(format_args!("alloca [{slots} x i64]")),
        };
        let failed = self.w.inst(format_args!(
            "call i32 @{body}(ptr %ctx, {}, {}, i64 0, {})",
            args.typed(Ty::PTR),
            own.typed(Ty::PTR),
            rows.typed(Ty::I64)
        ));
        self.w.store(Ty::I32, failed, code);
        if slots > 0 {
            self.w.line(format_args!(
                "call void {combine}({}, {})",
                partial.typed(Ty::PTR),
                own.typed(Ty::PTR)
            ));
        }
        self.w.br(done);
        self.w.place(long);
        Ok(done)
    }

    pub fn argument_block(&mut self, extents: &[Value], args: &[Value]) -> Res<Operand> {
        let slots: usize = extents.len() + args.iter().map(|a| self.f.ty(*a).slots()).sum::<usize>();
        let block = self.w.entry_inst(format_args!("alloca [{} x i64]", slots.max(1)));
        let mut at = 0;
        for value in extents.iter().chain(args) {
            let (val, ty) = (self.val(*value)?, self.f.ty(*value).clone());
            self.store_result(&val, &ty, block, at)?;
            at += ty.slots();
        }
        Ok(block)
    }

    /// Slots holding the identities, and the function that combines two such blocks.
    fn result_block(
        &mut self,
        body: &str,
        reductions: &[Reduction],
        scalar: impl Fn(&Reduction) -> Option<Scalar>,
    ) -> Res<(Operand, String)> {
        if reductions.is_empty() {
            return Ok((Operand::Null, "null".to_owned()));
        }
        let mut kinds = Vec::new();
        for r in reductions {
            match scalar(r) {
                Some(s) if is_sum(*r, s) => kinds.push((r.op, Scalar::F64)),
                Some(s) if !s.is_complex() => kinds.push((r.op, s)),
                _ => return self.internal("a reduction of what is no real number"),
            }
        }
        let block = self.w.entry_inst(format_args!("alloca [{} x i64]", kinds.len()));
        for (i, (op, s)) in kinds.iter().enumerate() {
            self.store_slot(identity(*op, *s), *s, block, i)?;
        }
        let name = format!("{body}.combine");
        if self.cx.helper(&name) {
            combine_function(self, &name, &kinds)?;
        }
        Ok((block, format!("@{name}")))
    }

    pub fn leave_if_failed(&mut self, code: Operand) {
        let failed = self.w.inst(format_args!("icmp ne {}, 0", code.typed(Ty::I32)));
        let (bad, good) = (self.w.label(), self.w.label());
        self.w.cond_br(failed, bad, good);
        self.w.place(bad);
        self.w.store(Ty::I32, code, self.status);
        self.w.br(self.exit);
        self.w.place(good);
    }

    fn take_results(&mut self, results: &[Local], reductions: &[Reduction], block: Operand) -> Res<()> {
        for (i, (local, r)) in results.iter().zip(reductions).enumerate() {
            let s = self.local_scalar(*local)?;
            let slot = self.slots[local.index()].clone();
            let old = self.read_number(&slot);
            let held = if is_sum(*r, s) { Scalar::F64 } else { s };
            let new = self.read_slot_number(block, i, held);
            let old = self.cast(s, held, old);
            let total = self.combine(r.op.binary(), held, old, new)?;
            let total = self.cast(held, s, total);
            self.set_local(*local, &Val::Num(total), false)?;
        }
        Ok(())
    }

    /// A scalar as it lies in slot `at` of a block.
    fn read_slot_number(&mut self, block: Operand, at: usize, s: Scalar) -> Num {
        let ptr = self.w.offset(block, Operand::Int(8 * at as i64));
        let memory = Ty::scalar(super::values::memory_elem(s));
        let value = self.w.load(memory, ptr);
        Num::Uniform(match s {
            Scalar::Bool => self.w.inst(format_args!("icmp ne {}, 0", value.typed(memory))),
            _ => value,
        })
    }
}

/// `void (ptr into, ptr from)`: `into = into op from`, slot by slot.
fn combine_function(fx: &mut Fx<'_, '_>, name: &str, kinds: &[(ReduceOp, Scalar)]) -> Res<()> {
    let outer = std::mem::take(&mut fx.w);
    let written = kinds.iter().enumerate().try_for_each(|(i, (op, s))| {
        let a = fx.read_slot_number(Operand::Arg("into"), i, *s);
        let b = fx.read_slot_number(Operand::Arg("from"), i, *s);
        let joined = fx.combine(op.binary(), *s, a, b)?;
        fx.store_slot(joined, *s, Operand::Arg("into"), i)
    });
    let inner = std::mem::replace(&mut fx.w, outer);
    written?;
    let text = format!(
        "define internal void @{name}(ptr %into, ptr %from) #0 {{\nentry:\n{}  ret void\n}}\n",
        inner.body
    );
    fx.cx.push_function(&text);
    Ok(())
}

/// Least points of a chunk of a reduction: enough to make up for what a chunk costs.
fn grain(body: &Function, spread: Spread) -> i64 {
    let mut loops = false;
    body.body
        .walk(&mut |kind| loops |= matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. }));
    match (spread, loops) {
        (Spread::Threads, _) => 1,
        (_, true) => 64,
        (_, false) => LONG_GRAIN,
    }
}

/// Up to how many points an index space is run where it stands, without the runtime: those of a statement or two. Not where a point is a loop.
fn shortest(body: &Function, spread: Spread) -> Option<i64> {
    match (spread, grain(body, spread)) {
        (Spread::Lanes, LONG_GRAIN) => Some(1024),
        (Spread::Gangs, LONG_GRAIN) => Some(512),
        _ => None,
    }
}

/// A sum in any order, whose rounding errors would add up.
fn is_sum(r: Reduction, s: Scalar) -> bool {
    r.op == ReduceOp::Add && s.is_float() && !r.fixed
}

/// What changes nothing when combined.
pub fn identity(op: ReduceOp, s: Scalar) -> Num {
    Num::Uniform(match op.identity(s) {
        Some(Const::Bool(b)) => Operand::Bool(b),
        Some(Const::Int(_, v)) => Operand::Int(v),
        Some(Const::F16(bits) | Const::BF16(bits)) => Operand::Int(bits.into()),
        Some(Const::F32(bits)) => Operand::F32(bits),
        Some(Const::F64(bits)) => Operand::F64(bits),
        Some(Const::C64(..) | Const::C128(..)) | None => Operand::Zero,
    })
}
