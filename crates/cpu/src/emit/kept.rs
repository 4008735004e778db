//! Spilling around barriers: what a kernel keeps between its regions, and the state of their writing.

use std::collections::BTreeMap;

use weft_ir::Value;

use super::barriers::Regions;
use super::func::Fx;
use super::target::EmitError;
use super::values::{Res, Slot, Val};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    pub fn state(&mut self) -> Res<&mut Regions> {
        if self.barriers.regions.is_none() {
            return self.internal("a region outside a kernel with barriers");
        }
        self.barriers
            .regions
            .as_deref_mut()
            .ok_or_else(|| EmitError::Internal("no regions".into()))
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
