//! Reductions in any order: their identities at the start, sums of floats in doubles, their results at the end.

use weft_ir::{Reduction, Scalar};

use super::combine::{identity, is_sum};
use super::fixed::is_fixed;
use super::func::Fx;
use super::values::{Num, Res, Slot};
use super::writer::{Elem, Operand};

impl Fx<'_, '_> {
    pub fn start_reductions(&mut self, reductions: &[Reduction]) -> Res<()> {
        let f = self.f;
        for r in reductions.iter().filter(|r| !is_fixed(f, **r)) {
            let s = self.local_scalar(r.local)?;
            let slot = self.slots[r.local.index()].clone();
            self.write_number(&slot, identity(r.op, s), false)?;
            if is_sum(*r, s) {
                let ty = self.gang.vector_ty(Elem::F64);
                let total = self.w.alloca(ty);
                self.w.store(ty, Operand::Zero, total);
                self.sums.totals.push((r.local, total));
            }
        }
        Ok(())
    }

    pub fn move_sums(&mut self) -> Res<()> {
        for (local, total) in self.sums.totals.clone() {
            let (Slot::Lanes { ptr, elem } | Slot::Shared { ptr, elem, .. }) = self.slots[local.index()] else {
                continue;
            };
            let (narrow, wide) = (self.gang.vector_ty(elem), self.gang.vector_ty(Elem::F64));
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
            let lanes = match self.sums.totals.iter().find(|(local, _)| *local == r.local) {
                Some((_, total)) => {
                    held = Scalar::F64;
                    let (ty, total) = (self.gang.vector_ty(Elem::F64), *total);
                    let sum = self.w.load(ty, total);
                    self.wrap(sum, ty)
                }
                None => {
                    let slot = self.slots[r.local.index()].clone();
                    self.read_number(&slot)
                }
            };
            let total = match self.gang.lanes {
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
}
