//! Spilling around barriers: what a kernel keeps between its regions, and the state of their writing.

use std::collections::BTreeMap;

use weft_ir::{Local, Value};

use super::control::FrameKind;
use super::func::Fx;
use super::team::Member;
use super::values::{Res, Val};
use super::views::Slot;
use super::writer::{Label, Operand, Ty};

/// What is kept between regions, and where control of the block goes.
#[derive(Debug)]
pub struct Regions {
    pub lane_axis: Option<usize>,
    pub full: bool,
    /// Number of the region written next.
    pub next: usize,
    /// Number of the gang being run.
    pub gang: Operand,
    /// Where values that several regions read are kept, and the slots the gang being written has them in.
    pub values: BTreeMap<Value, Store>,
    pub slots: BTreeMap<Value, Slot>,
    pub locals: BTreeMap<Local, Store>,
    /// Gangs besides the first of a team.
    pub members: Vec<Member>,
    /// Masks of threads that have not returned, one a gang.
    pub active: Option<Operand>,
    /// `i1`: some gang has such threads.
    pub alive: Operand,
    /// `i1`: all threads of the block have returned, where they do so together or not at all.
    pub ended: Option<Operand>,
    /// Values of the whole block: parameters and the skeleton's counters.
    pub common: Vec<Option<Val>>,
    /// Loops and scopes of the skeleton: their ends and next iterations.
    pub targets: Vec<(FrameKind, Label)>,
    /// Where the next block starts.
    pub block_end: Label,
    /// Local arrays of all gangs.
    pub arrays: Vec<Operand>,
}

/// The memory that holds a slot between regions.
#[derive(Clone, Debug)]
pub enum Store {
    /// One entry a gang for each piece of the slot.
    Gangs(Vec<Operand>),
    /// One for the block: what gangs start a region with, and what they leave.
    Block(Vec<(Operand, Operand)>),
}

impl Fx<'_, '_> {
    pub fn state(&mut self) -> Res<&mut Regions> {
        if self.barriers.regions.is_none() {
            return self.internal("a region outside a kernel with barriers");
        }
        self.barriers
            .regions
            .as_deref_mut()
            .ok_or_else(|| super::EmitError::Internal("no regions".into()))
    }

    /// Keeps a value that another region reads.
    pub fn keep(&mut self, value: Value, val: &Val) -> Res<()> {
        let Some(slot) = self.barriers.regions.as_ref().and_then(|r| r.slots.get(&value)).cloned() else {
            return Ok(());
        };
        self.write_slot(&slot, val, false)
    }

    /// The values that regions hand to each other.
    pub fn kept_values(&self) -> Vec<Value> {
        self.barriers.regions.iter().flat_map(|r| r.values.keys().copied()).collect()
    }

    /// Where the gang being written has them.
    pub fn kept_slots(&mut self) -> Option<&mut BTreeMap<Value, Slot>> {
        self.barriers.regions.as_deref_mut().map(|r| &mut r.slots)
    }

    pub fn kept_slot(&self, value: Value) -> Res<Slot> {
        match self.barriers.regions.as_ref().and_then(|r| r.slots.get(&value)) {
            Some(slot) => Ok(slot.clone()),
            None => self.internal(format!("%{} has no slot between regions", value.0)),
        }
    }

    /// Notes that the threads of a block end, where they do so together.
    pub fn note_end(&mut self) {
        if let Some(ended) = self.barriers.regions.as_ref().and_then(|r| r.ended) {
            self.w.store(Ty::BOOL, Operand::Bool(true), ended);
        }
    }
}
