//! Barriers: a kernel is cut into regions, each run for all gangs of the block before the next one starts.
//!
//! Control around barriers is written once for the block. What a region leaves for another one is kept in arrays with one entry a gang;
//! what is the same for the whole block is kept in one place.

use std::collections::BTreeMap;

use weft_ir::{BarrierOp, Block, Local, Span, Stmt, StmtKind, Value};
use weft_passes::operands;
use weft_passes::uniformity::Class;

use super::control::{Frame, FrameKind};
use super::func::Fx;
use super::iterate::Range;
use super::mask::Mask;
use super::plan::{Piece, Plan, barrier_span, is_local, pieces};
use super::values::{Num, Res, Val};
use super::views::Slot;
use super::writer::{Elem, Label, Operand, Ty};

/// What is kept between regions, and where control of the block goes.
#[derive(Debug)]
pub struct Regions {
    lane_axis: Option<usize>,
    full: bool,
    /// Number of the region written next.
    next: usize,
    /// Number of the gang being run.
    gang: Operand,
    values: BTreeMap<Value, Kept>,
    locals: BTreeMap<Local, Kept>,
    /// Masks of threads that have not returned, one a gang.
    active: Option<Operand>,
    /// `i1`: some gang has such threads.
    alive: Operand,
    /// `i1`: all threads of the block have returned, where they do so together or not at all.
    ended: Option<Operand>,
    /// Values of the whole block: parameters and the skeleton's counters.
    common: Vec<Option<Val>>,
    /// Loops and scopes of the skeleton: their ends and next iterations.
    targets: Vec<(FrameKind, Label)>,
    /// Where the next block starts.
    block_end: Label,
    /// Local arrays of all gangs.
    arrays: Vec<Operand>,
}

/// A slot and the memory that holds it between regions.
#[derive(Clone, Debug)]
struct Kept {
    slot: Slot,
    store: Store,
}

#[derive(Clone, Debug)]
enum Store {
    /// One entry a gang for each piece of the slot.
    Gangs(Vec<Operand>),
    /// One for the block: what gangs start a region with, and what they leave.
    Block(Vec<(Operand, Operand)>),
}

pub fn has_barrier(block: &Block) -> bool {
    block.0.iter().any(|stmt| barrier_span(stmt).is_some())
}

impl<'m> Fx<'_, 'm> {
    pub fn run_regions(&mut self, lane_axis: Option<usize>, full: bool, block_end: Label) -> Res<()> {
        let f = self.f;
        let plan = Plan::new(f);
        let gangs = self.gang_count(lane_axis);
        let mut values = BTreeMap::new();
        for value in &plan.kept {
            let class = self.info.values[value.index()];
            values.insert(*value, self.kept(class, f.ty(*value), gangs)?);
        }
        let mut locals = BTreeMap::new();
        for local in &plan.kept_locals {
            let slot = self.slots[local.index()].clone();
            locals.insert(*local, self.kept_slot(slot, self.info.locals[local.index()], gangs));
        }
        let mask = self.vector_ty(self.mask_elem);
        let uneven = self.info.uneven_returns;
        let active = (plan.returns && uneven).then(|| self.per_gang(mask, gangs));
        let ended = (plan.returns && !uneven).then(|| self.w.alloca(Ty::BOOL));
        let arrays = (0..f.arrays.len())
            .map(|i| {
                if is_local(f, i) {
                    self.gang_array(i, gangs)
                } else {
                    self.arrays[i]
                }
            })
            .collect();
        let regions = Regions {
            lane_axis,
            full,
            next: 0,
            gang: self.w.alloca(Ty::I64),
            values,
            locals,
            active,
            alive: self.w.alloca(Ty::BOOL),
            ended,
            common: self.vals.clone(),
            targets: Vec::new(),
            block_end,
            arrays,
        };
        if let Some(ended) = ended {
            self.w.store(Ty::BOOL, Operand::Bool(false), ended);
        }
        self.regions = Some(Box::new(regions));
        self.start_masks()?;
        self.skeleton(&plan, &f.body)?;
        self.w.br(block_end);
        self.regions = None;
        Ok(())
    }

    fn state(&mut self) -> Res<&mut Regions> {
        if self.regions.is_none() {
            return self.internal("a region outside a kernel with barriers");
        }
        self.regions
            .as_deref_mut()
            .ok_or_else(|| super::EmitError::Internal("no regions".into()))
    }

    /// How many gangs a block has, computed in the entry block.
    fn gang_count(&mut self, lane_axis: Option<usize>) -> Operand {
        let mut total = Operand::Int(1);
        for axis in 0..3 {
            let ptr = self.w.entry_inst(format_args!("getelementptr i64, ptr %extra, i64 {axis}"));
            let mut n = self.w.entry_inst(format_args!("load i64, {}", ptr.typed(Ty::PTR)));
            if Some(axis) == lane_axis {
                n = self.whole_gangs(n);
            }
            total = self.w.entry_inst(format_args!("mul {}, {}", total.typed(Ty::I64), n.of(Ty::I64)));
        }
        if lane_axis.is_none() { self.whole_gangs(total) } else { total }
    }

    /// The gangs that hold so many threads.
    fn whole_gangs(&mut self, threads: Operand) -> Operand {
        let lanes = self.lanes;
        let up = self.w.entry_inst(format_args!("add {}, {}", threads.typed(Ty::I64), lanes - 1));
        self.w.entry_inst(format_args!("udiv {}, {lanes}", up.typed(Ty::I64)))
    }

    fn per_gang(&mut self, ty: Ty, gangs: Operand) -> Operand {
        self.cx.gang_bytes += u64::from(ty.lanes.max(1)) * 8;
        self.w.entry_inst(format_args!("alloca {ty}, {}", gangs.typed(Ty::I64)))
    }

    fn gang_array(&mut self, array: usize, gangs: Operand) -> Operand {
        let bytes = self.array_bytes[array].next_multiple_of(64);
        self.cx.gang_bytes += bytes;
        let total = self.w.entry_inst(format_args!("mul {}, {bytes}", gangs.typed(Ty::I64)));
        self.w.entry_inst(format_args!("alloca i8, {}, align 64", total.typed(Ty::I64)))
    }

    fn kept(&mut self, class: Class, ty: &weft_ir::Type, gangs: Operand) -> Res<Kept> {
        let slot = self.make_slot(class, ty)?;
        Ok(self.kept_slot(slot, class, gangs))
    }

    fn kept_slot(&mut self, slot: Slot, class: Class, gangs: Operand) -> Kept {
        let pieces = self.slot_memory(&slot);
        let store = if matches!(class, Class::Block | Class::Unset) {
            Store::Block(pieces.iter().map(|(_, ty)| (self.w.alloca(*ty), self.w.alloca(*ty))).collect())
        } else {
            Store::Gangs(pieces.iter().map(|(_, ty)| self.per_gang(*ty, gangs)).collect())
        };
        Kept { slot, store }
    }

    fn gang_entry(&mut self, array: Operand, ty: Ty, gang: Operand) -> Operand {
        self.w.inst(format_args!(
            "getelementptr {ty}, {}, {}",
            array.typed(Ty::PTR),
            gang.typed(Ty::I64)
        ))
    }

    /// Brings what was kept into its slot, as a gang starts.
    fn restore(&mut self, kept: &Kept, gang: Operand) {
        for (i, (ptr, ty)) in self.slot_memory(&kept.slot).into_iter().enumerate() {
            let from = match &kept.store {
                Store::Gangs(arrays) => self.gang_entry(arrays[i], ty, gang),
                Store::Block(pairs) => pairs[i].0,
            };
            let value = self.w.load(ty, from);
            self.w.store(ty, value, ptr);
        }
    }

    /// Puts a slot where it is kept, as a gang ends.
    fn save(&mut self, kept: &Kept, gang: Operand) {
        for (i, (ptr, ty)) in self.slot_memory(&kept.slot).into_iter().enumerate() {
            let to = match &kept.store {
                Store::Gangs(arrays) => self.gang_entry(arrays[i], ty, gang),
                Store::Block(pairs) => pairs[i].1,
            };
            let value = self.w.load(ty, ptr);
            self.w.store(ty, value, to);
        }
    }

    /// After a region: what gangs left for the block is what the next region starts with.
    fn pass_on(&mut self, kept: &Kept) {
        let Store::Block(pairs) = &kept.store else {
            return;
        };
        for ((_, ty), (start, left)) in self.slot_memory(&kept.slot).into_iter().zip(pairs) {
            let value = self.w.load(ty, *left);
            self.w.store(ty, value, *start);
        }
    }

    /// Keeps a value that another region reads.
    pub fn keep(&mut self, value: Value, val: &Val) -> Res<()> {
        let Some(kept) = self.regions.as_ref().and_then(|r| r.values.get(&value)).cloned() else {
            return Ok(());
        };
        self.write_slot(&kept.slot, val, false)
    }

    /// Before the first region: all threads of the block run.
    fn start_masks(&mut self) -> Res<()> {
        let state = self.state()?;
        let (Some(active), lane_axis, full, slot) = (state.active, state.lane_axis, state.full, state.gang) else {
            return Ok(());
        };
        self.w.store(Ty::I64, Operand::Int(0), slot);
        self.gangs_of_block(lane_axis, full, &mut |fx, next| {
            let gang = fx.next_gang(slot);
            let at = fx.gang_entry(active, fx.vector_ty(fx.mask_elem), gang);
            fx.save_mask(at, fx.mask_now());
            fx.w.br(next);
            Ok(())
        })
    }

    /// The number of the gang that starts.
    fn next_gang(&mut self, slot: Operand) -> Operand {
        let gang = self.w.load(Ty::I64, slot);
        let next = self.add_scalar(gang, Operand::Int(1));
        self.w.store(Ty::I64, next, slot);
        gang
    }

    fn skeleton(&mut self, plan: &Plan<'m>, block: &'m Block) -> Res<()> {
        for piece in pieces(block) {
            match piece {
                Piece::Barrier => {}
                Piece::GridBarrier => self.grid_barrier(),
                Piece::Reduce(result, op, value) => self.reduce(plan, result, op, value)?,
                Piece::Run(stmts) => self.region(plan, stmts, &mut |_| Ok(()))?,
                Piece::Control(stmt) => self.skeleton_control(plan, stmt)?,
            }
        }
        Ok(())
    }

    /// Other blocks catch up; the runtime says when.
    fn grid_barrier(&mut self) {
        self.cx.symbol("weft_grid_barrier");
        self.cx.declare("declare void @weft_grid_barrier(ptr)".into());
        self.w.line(format_args!("call void @weft_grid_barrier(ptr %ctx)"));
    }

    /// Every gang adds its lanes in which the value is true (for `And`: false).
    fn reduce(&mut self, plan: &Plan<'m>, result: Value, op: BarrierOp, value: Value) -> Res<()> {
        let total = self.w.alloca(Ty::I32);
        self.w.store(Ty::I32, Operand::Int(0), total);
        self.region(plan, &[], &mut |fx| {
            let bits = fx.bits_ty();
            let n = fx.num(value)?;
            let mut holds = fx.take(n, bits);
            if op == BarrierOp::And {
                holds = fx.plain("xor", bits, holds, Operand::Bool(true));
            }
            let (count, before) = (fx.count_lanes(holds), fx.w.load(Ty::I32, total));
            let after = fx.plain("add", Ty::I32, before, count);
            fx.w.store(Ty::I32, after, total);
            Ok(())
        })?;
        let total = self.w.load(Ty::I32, total);
        let answer = match op {
            BarrierOp::Count => total,
            BarrierOp::And => self.plain("icmp eq", Ty::I32, total, Operand::Int(0)),
            BarrierOp::Or => self.plain("icmp ne", Ty::I32, total, Operand::Int(0)),
        };
        let answer = Val::Num(Num::Uniform(answer));
        self.define(result, answer.clone());
        self.state()?.common[result.index()] = Some(answer);
        Ok(())
    }

    /// Runs statements, then `finish`, for every gang of the block.
    fn region(&mut self, plan: &Plan<'m>, stmts: &'m [Stmt], finish: &mut dyn FnMut(&mut Self) -> Res<()>) -> Res<()> {
        let state = self.state()?;
        let region = state.next;
        state.next += 1;
        let (lane_axis, full, gang_slot, active, alive) = (state.lane_axis, state.full, state.gang, state.active, state.alive);
        let (common, block_end, ended) = (state.common.clone(), state.block_end, state.ended);
        let locals: Vec<Kept> = plan.locals[region].iter().filter_map(|l| state.locals.get(l).cloned()).collect();
        let read: Vec<(Value, Kept)> = plan.reads[region]
            .iter()
            .filter_map(|v| Some((*v, state.values.get(v)?.clone())))
            .collect();
        let made: Vec<Kept> = made_values(stmts).iter().filter_map(|v| state.values.get(v).cloned()).collect();
        self.w.store(Ty::I64, Operand::Int(0), gang_slot);
        self.w.store(Ty::BOOL, Operand::Bool(false), alive);
        self.gangs_of_block(lane_axis, full, &mut |fx, next| {
            let gang = fx.next_gang(gang_slot);
            fx.vals.clone_from(&common);
            fx.place_local_arrays(gang)?;
            let end = fx.w.label();
            let work = fx.enter_gang(active, gang, end, next);
            locals.iter().for_each(|kept| fx.restore(kept, gang));
            for (value, kept) in &read {
                fx.restore(kept, gang);
                let val = fx.read_slot(&kept.slot)?;
                fx.define(*value, val);
            }
            for value in &plan.reads[region] {
                fx.repeat(plan, *value)?;
            }
            fx.stmts(stmts)?;
            finish(fx)?;
            fx.frames.clear();
            fx.w.place(end);
            locals.iter().chain(&made).for_each(|kept| fx.save(kept, gang));
            fx.leave_gang(active, work, gang, alive);
            fx.w.br(next);
            Ok(())
        })?;
        locals.iter().chain(&made).for_each(|kept| self.pass_on(kept));
        self.vals = common;
        let go_on = self.w.label();
        if active.is_some() {
            let any = self.w.load(Ty::BOOL, alive);
            self.w.cond_br(any, go_on, block_end);
        } else if let Some(ended) = ended.filter(|_| returns(stmts)) {
            let all = self.w.load(Ty::BOOL, ended);
            self.w.cond_br(all, block_end, go_on);
        }
        self.w.place(go_on);
        Ok(())
    }

    /// Notes that the threads of a block end, where they do so together.
    pub fn note_end(&mut self) {
        if let Some(ended) = self.regions.as_ref().and_then(|r| r.ended) {
            self.w.store(Ty::BOOL, Operand::Bool(true), ended);
        }
    }

    /// Sets up the mask and the frames of a region for one gang. Gives the slot of threads that have not returned.
    fn enter_gang(&mut self, active: Option<Operand>, gang: Operand, end: Label, next: Label) -> Option<Operand> {
        self.frames.clear();
        let Some(active) = active else {
            self.frames.push(super::entry::end_frame(end));
            return None;
        };
        let at = self.gang_entry(active, self.vector_ty(self.mask_elem), gang);
        let mask = self.load_mask(at);
        let (any, start) = (self.any(mask), self.w.label());
        self.w.cond_br(any, start, next);
        self.w.place(start);
        let work = self.mask_slot();
        self.save_mask(work, mask);
        self.mask = Mask::Lanes(mask);
        self.frames.push(super::entry::end_frame(end));
        self.frames.push(Frame {
            kind: FrameKind::Side,
            slot: Some(work),
            waits: true,
            join: end,
            check: end,
        });
        Some(work)
    }

    fn leave_gang(&mut self, active: Option<Operand>, work: Option<Operand>, gang: Operand, alive: Operand) {
        let (Some(active), Some(work)) = (active, work) else {
            return;
        };
        let mask = self.load_mask(work);
        let at = self.gang_entry(active, self.vector_ty(self.mask_elem), gang);
        self.save_mask(at, mask);
        let any = self.any(mask);
        let before = self.w.load(Ty::BOOL, alive);
        let after = self.plain("or", Ty::BOOL, before, any);
        self.w.store(Ty::BOOL, after, alive);
    }

    fn place_local_arrays(&mut self, gang: Operand) -> Res<()> {
        let arrays = self.state()?.arrays.clone();
        for (i, array) in arrays.into_iter().enumerate() {
            if is_local(self.f, i) {
                let bytes = self.array_bytes[i].next_multiple_of(64);
                let offset = self.mul_scalar(gang, Operand::Int(bytes as i64));
                self.arrays[i] = self.w.offset(array, offset);
            }
        }
        Ok(())
    }

    /// Computes a value again that an earlier region had.
    fn repeat(&mut self, plan: &Plan<'m>, value: Value) -> Res<()> {
        if self.vals[value.index()].is_some() {
            return Ok(());
        }
        let f = self.f;
        let Some(op) = plan.repeatable(f, value) else {
            return self.internal(format!("%{} is lost between regions", value.0));
        };
        let mut operands = Vec::new();
        operands::op_operands(op, &mut |v| operands.push(v));
        for operand in operands {
            self.repeat(plan, operand)?;
        }
        let val = self.op(value, op)?;
        self.defs[value.index()] = Some(op);
        self.define(value, val);
        Ok(())
    }

    /// A number of the whole block, for the skeleton.
    fn common_number(&mut self, plan: &Plan<'m>, value: Value) -> Res<Num> {
        if self.vals[value.index()].is_none() {
            match self.state()?.values.get(&value).cloned() {
                Some(Kept {
                    slot,
                    store: Store::Block(pairs),
                }) => {
                    let (ptr, ty) = (pairs[0].0, self.slot_memory(&slot)[0].1);
                    return Ok(Num::Uniform(self.w.load(ty, ptr)));
                }
                Some(_) => return self.internal("a skeleton that differs between gangs"),
                None => self.repeat(plan, value)?,
            }
        }
        let n = self.num(value)?;
        let common = self.state()?.common.clone();
        self.vals = common;
        Ok(n)
    }

    /// Refuses control around a barrier that threads may take differently.
    fn demand_common(&mut self, stmt: &Stmt, values: &[Value]) -> Res<()> {
        if values
            .iter()
            .all(|v| matches!(self.info.values[v.index()], Class::Block | Class::Unset))
        {
            return Ok(());
        }
        self.span = barrier_span(stmt).filter(|span| *span != Span::NONE).unwrap_or(stmt.span);
        self.unsupported("a barrier that not all threads of a block may reach: the condition it stands under differs between threads")
    }

    fn skeleton_control(&mut self, plan: &Plan<'m>, stmt: &'m Stmt) -> Res<()> {
        self.span = stmt.span;
        match &stmt.kind {
            StmtKind::If { cond, then, other } => {
                self.demand_common(stmt, &[*cond])?;
                let cond = self.common_number(plan, *cond)?;
                let cond = self.take(cond, Ty::BOOL);
                let (yes, no, join) = (self.w.label(), self.w.label(), self.w.label());
                self.w.cond_br(cond, yes, no);
                self.w.place(yes);
                self.skeleton(plan, then)?;
                self.w.br(join);
                self.w.place(no);
                self.skeleton(plan, other)?;
                self.w.place(join);
                Ok(())
            }
            StmtKind::Loop(body) => {
                let (head, after) = (self.w.label(), self.w.label());
                self.w.place(head);
                self.skeleton_body(plan, body, &[(FrameKind::After, after), (FrameKind::Next, head)])?;
                self.w.br(head);
                self.w.place(after);
                Ok(())
            }
            StmtKind::Scope(label, body) => {
                let after = self.w.label();
                self.skeleton_body(plan, body, &[(FrameKind::Scope(*label), after)])?;
                self.w.place(after);
                Ok(())
            }
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => self.skeleton_for(plan, stmt, *var, [*start, *stop, *step], body),
            StmtKind::Break => self.skeleton_jump(FrameKind::After),
            StmtKind::Continue => self.skeleton_jump(FrameKind::Next),
            StmtKind::Leave(label) => self.skeleton_jump(FrameKind::Scope(*label)),
            _ => self.internal("a statement around a barrier that is no control"),
        }
    }

    fn skeleton_body(&mut self, plan: &Plan<'m>, body: &'m Block, targets: &[(FrameKind, Label)]) -> Res<()> {
        let depth = self.state()?.targets.len();
        self.state()?.targets.extend_from_slice(targets);
        self.skeleton(plan, body)?;
        self.state()?.targets.truncate(depth);
        Ok(())
    }

    fn skeleton_jump(&mut self, kind: FrameKind) -> Res<()> {
        match self.state()?.targets.iter().rfind(|t| t.0 == kind) {
            Some((_, label)) => {
                let label = *label;
                self.w.br(label);
                Ok(())
            }
            None => self.internal("a jump that leads nowhere"),
        }
    }

    fn skeleton_for(&mut self, plan: &Plan<'m>, stmt: &'m Stmt, var: Value, values: [Value; 3], body: &'m Block) -> Res<()> {
        self.demand_common(stmt, &values)?;
        let [start, stop, step] = values;
        let by = self.common_number(plan, step)?;
        let range = Range {
            start: self.common_number(plan, start)?,
            stop: self.common_number(plan, stop)?,
            step: by,
            up: self.counts_up(step, by),
        };
        let slot = Slot::Shared {
            ptr: self.w.alloca(Ty::I64),
            elem: Elem::I64,
            step: 0,
        };
        self.write_number(&slot, range.start, false)?;
        let (head, inside, next, after) = (self.w.label(), self.w.label(), self.w.label(), self.w.label());
        self.w.place(head);
        let at = self.read_number(&slot);
        let more = self.in_range(at, &range);
        let more = self.take(more, Ty::BOOL);
        self.w.cond_br(more, inside, after);
        self.w.place(inside);
        self.define(var, Val::Num(at));
        self.state()?.common[var.index()] = Some(Val::Num(at));
        self.skeleton_body(plan, body, &[(FrameKind::After, after), (FrameKind::Next, next)])?;
        self.w.place(next);
        let moved = self.add(at, range.step);
        self.write_number(&slot, moved, false)?;
        let wrapped = self.wrapped(at, moved, &range);
        let wrapped = self.take(wrapped, Ty::BOOL);
        self.w.cond_br(wrapped, after, head);
        self.w.place(after);
        Ok(())
    }
}

fn returns(stmts: &[Stmt]) -> bool {
    let ends = |kind: &StmtKind| matches!(kind, StmtKind::Return(_) | StmtKind::Raise { .. });
    stmts
        .iter()
        .any(|stmt| ends(&stmt.kind) || operands::blocks(&stmt.kind).any(|block| returns(&block.0)))
}

/// The values a run of statements defines itself; those in its nested blocks are not read elsewhere.
fn made_values(stmts: &[Stmt]) -> Vec<Value> {
    let mut made = Vec::new();
    for stmt in stmts {
        operands::defs(&stmt.kind, &mut |v| made.push(v));
    }
    made
}
