//! Gangs that are not whole, part by part: a masked block in narrower vectors, of which those without a lane on are skipped.
//!
//! Code that a whole gang goes through with its mask known full stands a second time, for gangs with lanes off, such as the one at the end
//! of a row. LLVM takes as long for the second as for the first, though it seldom runs. Where it is long and straight it is written for one
//! hardware vector instead, in a loop over the parts of the gang that have a lane on. Code with loops is not: in those a whole gang hides
//! the latency that parts would wait for one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::rc::Rc;

use weft_ir::{Block, Effect, FuncKind, Label, Local, Op, Space, StmtKind, Value};
use weft_passes::numbering::Numbered;

use super::counter::Counter;
use super::frames::{Frame, FrameKind};
use super::func::Fx;
use super::gang::{Geometry, Mask};
use super::lanes::Spilled;
use super::values::{Num, Res, Slot, Val, ViewVal, elem};
use super::width;
use super::writer::{Elem, Operand};

/// Code shorter than this is written for the whole gang.
const LEAST_STATEMENTS: usize = 48;

/// What is set aside while code for a part is written.
pub struct Whole {
    lanes: u32,
    steps: HashMap<i64, Operand>,
    slots: Vec<Slot>,
    vals: Vec<Option<Val>>,
    geometry: Option<Geometry>,
    mask: Mask,
    rest: bool,
}

/// A value from outside, as parts can read it.
enum Passed {
    Number(Spilled),
    View(Rc<ViewVal>, Spilled),
    Tuple(Vec<Passed>),
}

/// A local that lives outside the code, too: its lanes in memory meanwhile.
struct Carried {
    local: Local,
    lanes: Spilled,
    is_set: bool,
}

impl<'m> Fx<'_, 'm> {
    /// The lanes of a part, if such a block may be written for parts.
    pub fn part_lanes(&self, block: Numbered<'_>) -> Option<u32> {
        // First what costs nothing to ask: this is asked of every block.
        if block.size() < LEAST_STATEMENTS {
            return None;
        }
        let lanes = self.cx.target.vector_bits / width::widest(self.f);
        let reduces = matches!(&self.f.kind, FuncKind::Loop { reductions, .. } if !reductions.is_empty());
        let alone = !self.gang.is_warp && self.barriers.team.is_empty() && self.barriers.regions.is_none() && !reduces;
        let interleaved = self.f.arrays.iter().any(|a| a.space == Space::Local);
        let mut loops = |kind: &StmtKind| matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. });
        let fits = lanes > 1 && self.gang.lanes > lanes && alone && !interleaved;
        (fits && !block.block.any(&mut loops)).then_some(lanes)
    }

    /// Can a block inside the function be written for parts, if it is worth it?
    fn falls_apart(&self, block: &Block) -> bool {
        let passes = |value: &Value| self.known.vals[value.index()].as_ref().is_none_or(can_pass);
        !block.any(&mut needs_whole_gang)
            && stays_inside(block)
            && outer_values(block).iter().all(passes)
            && locals(block)
                .into_iter()
                .all(|(local, is_set)| self.can_carry(local, is_set, block))
    }

    fn can_carry(&self, local: Local, is_set: bool, block: &Block) -> bool {
        match &self.slots[local.index()] {
            Slot::Lanes { .. } => true,
            slot => self.is_private(local, block) || !is_set && is_uniform(slot),
        }
    }

    /// Does the local live only inside the block? In a loop it may live from one iteration to the next.
    fn is_private(&self, local: Local, block: &Block) -> bool {
        let looped = self.control.frames.iter().any(|f| f.kind == FrameKind::Next);
        !looped && mentions(&self.f.body, local) == mentions(block, local)
    }

    /// A block for the lanes that are on, in code that stands a second time.
    pub fn masked_block(&mut self, block: Numbered<'m>) -> Res<()> {
        match (self.part_lanes(block), self.gang.mask) {
            (Some(lanes), Mask::Lanes(mask @ Operand::Reg(_))) if self.control.rest && self.falls_apart(block.block) => {
                self.block_in_parts(block, lanes, mask)
            }
            _ => self.block(block),
        }
    }

    fn block_in_parts(&mut self, numbered: Numbered<'m>, lanes: u32, mask: Operand) -> Res<()> {
        let block = numbered.block;
        let mask = self.spill(Num::Varying(mask), self.gang.mask_elem);
        let mut passed = Vec::new();
        for value in outer_values(block) {
            if let Some(val) = self.known.vals[value.index()].clone() {
                passed.push((value, self.pass(value, &val)?));
            }
        }
        let carried = self.carry(block);
        let part = self.count(Operand::Int(0), Operand::Int(self.gang.lanes.into()), lanes.into());
        let whole = self.start_part(lanes);
        self.start_block(&part, mask, &passed)?;
        self.own_locals(block, &carried, part.at)?;
        let over = self.w.label();
        self.control.frames.push(Frame {
            kind: FrameKind::Side,
            slot: None,
            waits: true,
            join: over,
            check: over,
        });
        self.block(numbered)?;
        self.control.frames.pop();
        self.w.place(over);
        self.keep_part(&carried, part.at);
        self.end_part(whole);
        self.end_short_count(&part);
        self.take_back(&carried)
    }

    /// What there is per lane is made anew for fewer lanes.
    pub fn start_part(&mut self, lanes: u32) -> Whole {
        Whole {
            lanes: mem::replace(&mut self.gang.lanes, lanes),
            steps: mem::take(&mut self.gang.steps),
            slots: self.slots.clone(),
            vals: self.known.vals.clone(),
            geometry: self.gang.geometry,
            mask: self.gang.mask,
            rest: mem::replace(&mut self.control.rest, false),
        }
    }

    pub fn end_part(&mut self, whole: Whole) {
        self.gang.lanes = whole.lanes;
        self.gang.steps = whole.steps;
        self.slots = whole.slots;
        self.known.vals = whole.vals;
        self.gang.geometry = whole.geometry;
        self.gang.mask = whole.mask;
        self.control.rest = whole.rest;
    }

    /// Goes on to the next part if no lane is on in this one; else what the block reads becomes that of this part's lanes.
    fn start_block(&mut self, part: &Counter, mask: Spilled, passed: &[(Value, Passed)]) -> Res<()> {
        let Num::Varying(bits) = self.part_of(mask, part.at)? else {
            return self.internal("a part without a mask");
        };
        let (start, any) = (self.w.label(), self.any(bits));
        self.w.cond_br(any, start, part.next);
        self.w.place(start);
        self.gang.mask = Mask::Lanes(bits);
        if let Some(mut geometry) = self.gang.geometry {
            for thread in &mut geometry.thread {
                *thread = self.part_of(Spilled::Computed(*thread), part.at)?;
            }
            self.gang.geometry = Some(geometry);
        }
        self.known.vals.fill(None);
        for (value, from) in passed {
            let val = self.taken(from, part.at)?;
            self.define(*value, val);
        }
        Ok(())
    }

    /// A value where every part can read its lanes of it.
    fn pass(&mut self, value: Value, val: &Val) -> Res<Passed> {
        Ok(match val {
            Val::Num(n) => Passed::Number(self.spill(*n, elem(self.scalar(value)?))),
            Val::View(view) => {
                let offset = self.spill(view.offset, Elem::I64);
                Passed::View(view.clone(), offset)
            }
            Val::Tuple(items) => {
                let items = items.iter().map(|item| self.pass(value, item));
                Passed::Tuple(items.collect::<Res<_>>()?)
            }
        })
    }

    fn taken(&mut self, passed: &Passed, first: Operand) -> Res<Val> {
        Ok(match passed {
            Passed::Number(n) => Val::Num(self.part_of(*n, first)?),
            Passed::View(view, offset) => {
                let offset = self.part_of(*offset, first)?;
                Val::View(Rc::new(ViewVal {
                    offset,
                    ..(**view).clone()
                }))
            }
            Passed::Tuple(items) => {
                let items = items.iter().map(|item| self.taken(item, first));
                Val::Tuple(items.collect::<Res<_>>()?)
            }
        })
    }

    /// Puts aside the lanes of locals that live outside the block, too.
    fn carry(&mut self, block: &Block) -> Vec<Carried> {
        let mut carried = Vec::new();
        for (local, is_set) in locals(block) {
            let slot = self.slots[local.index()].clone();
            if let (Slot::Lanes { elem, .. }, false) = (&slot, self.is_private(local, block)) {
                let n = self.read_number(&slot);
                let lanes = self.spill(n, *elem);
                carried.push(Carried { local, lanes, is_set });
            }
        }
        carried
    }

    /// Memory of a part's own for its locals.
    fn own_locals(&mut self, block: &Block, carried: &[Carried], first: Operand) -> Res<()> {
        for (local, _) in locals(block) {
            let i = local.index();
            let (class, ty) = (self.info.locals[i], self.f.locals[i].ty.clone());
            if !is_uniform(&self.slots[i]) {
                self.slots[i] = self.make_slot(class, &ty)?;
            }
        }
        for Carried { local, lanes, .. } in carried {
            let (n, slot) = (self.part_of(*lanes, first)?, self.slots[local.index()].clone());
            self.write_number(&slot, n, false)?;
        }
        Ok(())
    }

    /// Puts what a part left in its locals to the lanes of the others.
    fn keep_part(&mut self, carried: &[Carried], first: Operand) {
        for local in carried.iter().filter(|c| c.is_set) {
            let slot = self.slots[local.local.index()].clone();
            if let (Spilled::Memory(memory, held, e), Num::Varying(op)) = (local.lanes, self.read_number(&slot)) {
                let (value, ty) = self.in_memory(op, e);
                let ptr = self.lane_slot(memory, held, first);
                self.w.store(ty, value, ptr);
            }
        }
    }

    fn take_back(&mut self, carried: &[Carried]) -> Res<()> {
        for local in carried.iter().filter(|c| c.is_set) {
            let (n, slot) = (self.part_of(local.lanes, Operand::Int(0))?, self.slots[local.local.index()].clone());
            self.write_number(&slot, n, false)?;
        }
        Ok(())
    }
}

/// What must not be done part by part: it speaks of the gang, its order shows, or it leads out of the block.
fn needs_whole_gang(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Let(_, Op::Geometry(weft_ir::Geometry::LaneId)) => true,
        StmtKind::Let(_, op) => matches!(op.effect(), Effect::Warp | Effect::Lanes | Effect::Barrier | Effect::Alloc),
        StmtKind::Set(..)
        | StmtKind::If { .. }
        | StmtKind::Store { .. }
        | StmtKind::Scope(..)
        | StmtKind::Leave(_)
        | StmtKind::Fence(_) => false,
        StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. } | StmtKind::Launch { .. } => true,
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise { .. } => true,
        StmtKind::Barrier
        | StmtKind::GridBarrier
        | StmtKind::SyncWarp(_)
        | StmtKind::Mma { .. }
        | StmtKind::Sleep(_)
        | StmtKind::Print(_) => true,
    }
}

/// Do all jumps of a block lead to its own scopes?
fn stays_inside(block: &Block) -> bool {
    let (mut scopes, mut targets) = (BTreeSet::<Label>::new(), BTreeSet::new());
    block.walk(&mut |kind| match kind {
        StmtKind::Scope(label, _) => {
            scopes.insert(*label);
        }
        StmtKind::Leave(label) => {
            targets.insert(*label);
        }
        _ => {}
    });
    targets.is_subset(&scopes)
}

/// The values a block reads and does not make.
fn outer_values(block: &Block) -> BTreeSet<Value> {
    let (mut made, mut read) = (BTreeSet::new(), BTreeSet::new());
    block.walk(&mut |kind| {
        kind.definitions(&mut |v| {
            made.insert(v);
        });
        kind.operands(&mut |v| {
            read.insert(v);
        });
    });
    &read - &made
}

/// The locals a block mentions, and whether it sets them.
fn locals(block: &Block) -> BTreeMap<Local, bool> {
    let mut found = BTreeMap::new();
    block.walk(&mut |kind| match kind {
        StmtKind::Set(local, _) => {
            found.insert(*local, true);
        }
        StmtKind::Let(_, Op::Get(local)) => {
            found.entry(*local).or_insert(false);
        }
        _ => {}
    });
    found
}

fn mentions(block: &Block, local: Local) -> usize {
    let mut count = 0;
    block.walk(&mut |kind| {
        count += usize::from(match kind {
            StmtKind::Set(l, _) | StmtKind::Let(_, Op::Get(l)) => *l == local,
            StmtKind::Launch { results, .. } => results.contains(&local),
            _ => false,
        });
    });
    count
}

/// Can parts have their lanes of a value? Not of views whose extents differ from lane to lane.
fn can_pass(val: &Val) -> bool {
    match val {
        Val::Num(_) => true,
        Val::View(view) => view.shape.iter().chain(&view.strides).all(|n| n.is_uniform()),
        Val::Tuple(items) => items.iter().all(|item| matches!(item, Val::View(_)) && can_pass(item)),
    }
}

/// Is what the slot holds the same for all lanes?
fn is_uniform(slot: &Slot) -> bool {
    match slot {
        Slot::Shared { step, .. } => *step == 0,
        Slot::Lanes { .. } => false,
        Slot::View { parts, .. } => parts.iter().all(is_uniform),
    }
}
