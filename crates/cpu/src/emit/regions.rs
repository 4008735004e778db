//! Barriers: a kernel is cut into regions, each run for all gangs of the block before the next one starts.
//!
//! Control around barriers is written once for the block. What a region leaves for another one is kept in arrays with one entry a gang;
//! what is the same for the whole block is kept in one place.

use std::collections::BTreeMap;

use weft_ir::{Local, Stmt, StmtKind, Value};
use weft_passes::numbering::Node;
use weft_passes::uniformity::Class;

use super::barriers::{Regions, Store};
use super::frames::{Frame, FrameKind};
use super::func::Fx;
use super::gang::Mask;
use super::plan::{Plan, is_local};
use super::team::Place;
use super::values::{Res, Slot};
use super::writer::{Label, Operand, Ty};

/// What a region takes from others and leaves for them.
struct Exchange {
    /// The region's number.
    number: usize,
    read: Vec<(Value, Store)>,
    made: Vec<(Value, Store)>,
    locals: Vec<(Local, Store)>,
}

impl<'m> Fx<'_, 'm> {
    /// Makes the memory for what regions hand to each other.
    pub fn start_regions(&mut self, lane_axis: Option<usize>, full: bool, block_end: Label) -> Res<Plan<'m>> {
        let f = self.f;
        let plan = Plan::new(f, self.body);
        let gangs = self.gang_count(lane_axis);
        let (mut values, mut slots) = (BTreeMap::new(), BTreeMap::new());
        for value in &plan.kept {
            let class = self.info.values[value.index()];
            let slot = self.make_slot(class, f.ty(*value))?;
            values.insert(*value, self.store_for(&slot, class, gangs));
            slots.insert(*value, slot);
        }
        let mut locals = BTreeMap::new();
        for local in &plan.kept_locals {
            let slot = self.slots[local.index()].clone();
            locals.insert(*local, self.store_for(&slot, self.info.locals[local.index()], gangs));
        }
        let mask = self.gang.vector_ty(self.gang.mask_elem);
        let uneven = self.info.uneven_returns;
        let active = (plan.returns && uneven).then(|| self.per_gang(mask, gangs));
        let ended = (plan.returns && !uneven).then(|| self.w.alloca(Ty::BOOL));
        let arrays = (0..f.arrays.len())
            .map(|i| {
                if is_local(f, i) {
                    self.gang_array(i, gangs)
                } else {
                    self.arrays.memory[i]
                }
            })
            .collect();
        let regions = Regions {
            lane_axis,
            full,
            next: 0,
            gang: self.w.alloca(Ty::I64),
            values,
            slots,
            locals,
            members: Vec::new(),
            active,
            alive: self.w.alloca(Ty::BOOL),
            ended,
            common: self.known.vals.clone(),
            targets: Vec::new(),
            block_end,
            arrays,
        };
        if let Some(ended) = ended {
            self.w.store(Ty::BOOL, Operand::Bool(false), ended);
        }
        self.barriers.regions = Some(Box::new(regions));
        self.start_masks()?;
        Ok(plan)
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
        let lanes = self.gang.lanes;
        let up = self.w.entry_inst(format_args!("add {}, {}", threads.typed(Ty::I64), lanes - 1));
        self.w.entry_inst(format_args!("udiv {}, {lanes}", up.typed(Ty::I64)))
    }

    fn per_gang(&mut self, ty: Ty, gangs: Operand) -> Operand {
        self.cx.gang_bytes += u64::from(ty.lanes.max(1)) * 8;
        self.w.entry_inst(format_args!("alloca {ty}, {}", gangs.typed(Ty::I64)))
    }

    fn gang_array(&mut self, array: usize, gangs: Operand) -> Operand {
        let bytes = self.arrays.bytes[array].next_multiple_of(64);
        self.cx.gang_bytes += bytes;
        let total = self.w.entry_inst(format_args!("mul {}, {bytes}", gangs.typed(Ty::I64)));
        self.w.entry_inst(format_args!("alloca i8, {}, align 64", total.typed(Ty::I64)))
    }

    fn store_for(&mut self, slot: &Slot, class: Class, gangs: Operand) -> Store {
        let pieces = self.slot_memory(slot);
        if matches!(class, Class::Block | Class::Unset) {
            Store::Block(pieces.iter().map(|(_, ty)| (self.w.alloca(*ty), self.w.alloca(*ty))).collect())
        } else {
            Store::Gangs(pieces.iter().map(|(_, ty)| self.per_gang(*ty, gangs)).collect())
        }
    }

    fn gang_entry(&mut self, array: Operand, ty: Ty, gang: Operand) -> Operand {
        self.w.inst(format_args!(
            "getelementptr {ty}, {}, {}",
            array.typed(Ty::PTR),
            gang.typed(Ty::I64)
        ))
    }

    /// Brings what was kept into its slot, as a gang starts.
    fn restore(&mut self, slot: &Slot, store: &Store, gang: Operand) {
        for (i, (ptr, ty)) in self.slot_memory(slot).into_iter().enumerate() {
            let from = match store {
                Store::Gangs(arrays) => self.gang_entry(arrays[i], ty, gang),
                Store::Block(pairs) => pairs[i].0,
            };
            let value = self.w.load(ty, from);
            self.w.store(ty, value, ptr);
        }
    }

    /// Puts a slot where it is kept, as a gang ends.
    fn save(&mut self, slot: &Slot, store: &Store, gang: Operand) {
        for (i, (ptr, ty)) in self.slot_memory(slot).into_iter().enumerate() {
            let to = match store {
                Store::Gangs(arrays) => self.gang_entry(arrays[i], ty, gang),
                Store::Block(pairs) => pairs[i].1,
            };
            let value = self.w.load(ty, ptr);
            self.w.store(ty, value, to);
        }
    }

    /// After a region: what gangs left for the block is what the next region starts with.
    fn pass_on(&mut self, slot: &Slot, store: &Store) {
        let Store::Block(pairs) = store else {
            return;
        };
        for ((_, ty), (start, left)) in self.slot_memory(slot).into_iter().zip(pairs) {
            let value = self.w.load(ty, *left);
            self.w.store(ty, value, *start);
        }
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
            let at = fx.gang_entry(active, fx.gang.vector_ty(fx.gang.mask_elem), gang);
            fx.save_mask(at, fx.gang.mask_now());
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

    /// Runs statements, then `finish`, for every gang of the block.
    pub fn region(&mut self, plan: &Plan<'m>, nodes: &[Node<'m>], finish: &mut dyn FnMut(&mut Self) -> Res<()>) -> Res<()> {
        let state = self.state()?;
        let region = state.next;
        state.next += 1;
        let (lane_axis, full, gang_slot, active, alive) = (state.lane_axis, state.full, state.gang, state.active, state.alive);
        let (common, block_end, ended) = (state.common.clone(), state.block_end, state.ended);
        let of_values = |values: &mut dyn Iterator<Item = Value>| -> Vec<(Value, Store)> {
            values.filter_map(|v| Some((v, state.values.get(&v)?.clone()))).collect()
        };
        let exchange = Exchange {
            number: region,
            read: of_values(&mut plan.reads[region].iter().copied()),
            made: of_values(&mut made_values(nodes).into_iter()),
            locals: plan.locals[region]
                .iter()
                .filter_map(|l| Some((*l, state.locals.get(l)?.clone())))
                .collect(),
        };
        self.w.store(Ty::I64, Operand::Int(0), gang_slot);
        self.w.store(Ty::BOOL, Operand::Bool(false), alive);
        let together = if full && active.is_none() { self.team_size(nodes) } else { 1 };
        if let (Some(lane_axis), 2..) = (lane_axis, together) {
            self.teams_of_block(lane_axis, together, |fx, places, next| {
                fx.team_region(plan, &exchange, nodes, places, finish)?;
                fx.w.br(next);
                Ok(())
            })?;
        } else {
            self.gangs_of_block(lane_axis, full, &mut |fx, next| {
                let gang = fx.next_gang(gang_slot);
                let end = fx.w.label();
                let work = fx.enter_gang(active, gang, end, next);
                fx.start_region(plan, &exchange, gang)?;
                fx.stmts(nodes)?;
                finish(fx)?;
                fx.control.frames.clear();
                fx.w.place(end);
                if let Some(left) = fx.leave_gang(active, work, gang, alive) {
                    // A gang that has ended leaves nothing: what is common to the block is what those that go on have.
                    let keep = fx.w.label();
                    fx.w.cond_br(left, keep, next);
                    fx.w.place(keep);
                }
                fx.end_region(&exchange, gang);
                fx.w.br(next);
                Ok(())
            })?;
        }
        for (local, store) in &exchange.locals {
            let slot = self.slots[local.index()].clone();
            self.pass_on(&slot, store);
        }
        for (value, store) in &exchange.made {
            let slot = self.kept_slot(*value)?;
            self.pass_on(&slot, store);
        }
        self.known.vals = common;
        let go_on = self.w.label();
        if active.is_some() {
            let any = self.w.load(Ty::BOOL, alive);
            self.w.cond_br(any, go_on, block_end);
        } else if let Some(ended) = ended.filter(|_| nodes.iter().any(|node| returns(node.stmt))) {
            let all = self.w.load(Ty::BOOL, ended);
            self.w.cond_br(all, block_end, go_on);
        }
        self.w.place(go_on);
        Ok(())
    }

    /// A region for several gangs at once.
    fn team_region(
        &mut self,
        plan: &Plan<'m>,
        exchange: &Exchange,
        nodes: &[Node<'m>],
        places: &[Place],
        finish: &mut dyn FnMut(&mut Self) -> Res<()>,
    ) -> Res<()> {
        let mut spare = std::mem::take(&mut self.state()?.members);
        while spare.len() + 1 < places.len() {
            spare.push(self.new_member()?);
        }
        let rest = spare.split_off(places.len() - 1);
        self.barriers.team = spare;
        self.each_member(&mut |fx, i| {
            if let Some(geometry) = &mut fx.gang.geometry {
                geometry.thread = places[i].thread;
            }
            fx.start_region(plan, exchange, places[i].gang)
        })?;
        let end = self.w.label();
        self.control.frames.clear();
        self.control.frames.push(super::control::end_frame(end));
        self.stmts(nodes)?;
        self.each_member(&mut |fx, _| finish(fx))?;
        self.control.frames.clear();
        self.w.place(end);
        self.each_member(&mut |fx, i| {
            fx.end_region(exchange, places[i].gang);
            Ok(())
        })?;
        let mut spare = std::mem::take(&mut self.barriers.team);
        spare.extend(rest);
        self.state()?.members = spare;
        Ok(())
    }

    /// Brings a gang what it needs of other regions.
    fn start_region(&mut self, plan: &Plan<'m>, exchange: &Exchange, gang: Operand) -> Res<()> {
        let common = self.state()?.common.clone();
        self.known.vals.clone_from(&common);
        self.place_local_arrays(gang)?;
        for (local, store) in &exchange.locals {
            let slot = self.slots[local.index()].clone();
            self.restore(&slot, store, gang);
        }
        for (value, store) in &exchange.read {
            let slot = self.kept_slot(*value)?;
            self.restore(&slot, store, gang);
            let val = self.read_slot(&slot)?;
            self.define(*value, val);
        }
        plan.reads[exchange.number].iter().try_for_each(|value| self.repeat(plan, *value))
    }

    /// Keeps what a gang leaves for other regions.
    fn end_region(&mut self, exchange: &Exchange, gang: Operand) {
        for (local, store) in &exchange.locals {
            let slot = self.slots[local.index()].clone();
            self.save(&slot, store, gang);
        }
        for (value, store) in &exchange.made {
            if let Ok(slot) = self.kept_slot(*value) {
                self.save(&slot, store, gang);
            }
        }
    }

    /// Sets up the mask and the frames of a region for one gang. Gives the slot of threads that have not returned.
    fn enter_gang(&mut self, active: Option<Operand>, gang: Operand, end: Label, next: Label) -> Option<Operand> {
        self.control.frames.clear();
        let Some(active) = active else {
            self.control.frames.push(super::control::end_frame(end));
            return None;
        };
        let at = self.gang_entry(active, self.gang.vector_ty(self.gang.mask_elem), gang);
        let mask = self.load_mask(at);
        let (any, start) = (self.any(mask), self.w.label());
        self.w.cond_br(any, start, next);
        self.w.place(start);
        let work = self.mask_slot();
        self.save_mask(work, mask);
        self.gang.mask = Mask::Lanes(mask);
        self.control.frames.push(super::control::end_frame(end));
        self.control.frames.push(Frame {
            kind: FrameKind::Side,
            slot: Some(work),
            waits: true,
            join: end,
            check: end,
        });
        Some(work)
    }

    /// Keeps the threads of a gang that have not returned. Whether there are any, where some gangs may end before others.
    fn leave_gang(&mut self, active: Option<Operand>, work: Option<Operand>, gang: Operand, alive: Operand) -> Option<Operand> {
        let (active, work) = (active?, work?);
        let mask = self.load_mask(work);
        let at = self.gang_entry(active, self.gang.vector_ty(self.gang.mask_elem), gang);
        self.save_mask(at, mask);
        let any = self.any(mask);
        let before = self.w.load(Ty::BOOL, alive);
        let after = self.plain("or", Ty::BOOL, before, any);
        self.w.store(Ty::BOOL, after, alive);
        Some(any)
    }

    fn place_local_arrays(&mut self, gang: Operand) -> Res<()> {
        let arrays = self.state()?.arrays.clone();
        for (i, array) in arrays.into_iter().enumerate() {
            if is_local(self.f, i) {
                let bytes = self.arrays.bytes[i].next_multiple_of(64);
                let offset = self.mul_scalar(gang, Operand::Int(bytes as i64));
                self.arrays.memory[i] = self.w.offset(array, offset);
            }
        }
        Ok(())
    }

    /// Computes a value again that an earlier region had.
    pub fn repeat(&mut self, plan: &Plan<'m>, value: Value) -> Res<()> {
        if self.known.vals[value.index()].is_some() {
            return Ok(());
        }
        let f = self.f;
        let Some(op) = plan.repeatable(f, value) else {
            return self.internal(format!("%{} is lost between regions", value.0));
        };
        let mut operands = Vec::new();
        op.operands(&mut |v| operands.push(v));
        for operand in operands {
            self.repeat(plan, operand)?;
        }
        let val = self.op(value, op)?;
        self.known.defs[value.index()] = Some(op);
        self.define(value, val);
        Ok(())
    }
}

fn returns(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Raise { .. }) || stmt.kind.blocks().any(|block| block.0.iter().any(returns))
}

/// The values a run of statements defines itself; those in its nested blocks are not read elsewhere.
fn made_values(nodes: &[Node<'_>]) -> Vec<Value> {
    let mut made = Vec::new();
    for node in nodes {
        node.stmt.kind.definitions(&mut |v| made.push(v));
    }
    made
}
