//! Reductions whose order is fixed (`weft_ir::order`): the chains of a block in memory, of which a gang has those of its columns in hand, and
//! the sum of the blocks.

use weft_ir::order::{BLOCK, CHAINS, ROW};
use weft_ir::{Function, Reduction, Scalar};

use super::combine::identity;
use super::func::Fx;
use super::sums::{Fixed, FixedSum};
use super::values::{Num, Res, Slot, elem};
use super::writer::{Operand, Ty};

/// Does the order show in the result?
pub fn is_fixed(f: &Function, r: Reduction) -> bool {
    f.is_ordered(r)
}

/// Lanes of a function with such reductions: no more than there are chains.
pub fn lanes(f: &Function, reductions: &[Reduction], lanes: u32) -> u32 {
    match reductions.iter().any(|r| is_fixed(f, *r)) {
        true => lanes.min(CHAINS as u32),
        false => lanes,
    }
}

impl Fx<'_, '_> {
    /// Makes the memory of such reductions; `columns` is the length of the last of several axes.
    pub fn start_fixed(&mut self, reductions: &[Reduction], columns: Option<Operand>) -> Res<()> {
        let mut sums = Vec::new();
        for r in reductions.iter().filter(|r| is_fixed(self.f, **r)) {
            let scalar = self.local_scalar(r.local)?;
            let sum = self.w.alloca(Ty::scalar(elem(scalar)));
            let start = identity(r.op, scalar);
            let start = self.take(start, Ty::scalar(elem(scalar)));
            self.w.store(Ty::scalar(elem(scalar)), start, sum);
            let chains = self.w.alloca(all_chains(scalar));
            sums.push(FixedSum {
                reduction: *r,
                scalar,
                chains,
                sum,
            });
        }
        if sums.is_empty() {
            return Ok(());
        }
        let rows = columns.map(|columns| {
            let some = self.call("umax", Ty::I64, &[columns, Operand::Int(1)]);
            let fit = self.scalar_int("udiv", Operand::Int(BLOCK as i64), some);
            let long = self.w.inst(format_args!("icmp uge {}, {ROW}", columns.typed(Ty::I64)));
            let rows = self.select_op(Ty::I64, long, Operand::Int(1), fit);
            let count = self.w.alloca(Ty::I64);
            self.w.store(Ty::I64, Operand::Int(0), count);
            (rows, count)
        });
        self.sums.fixed = Fixed { sums, rows };
        for i in 0..self.sums.fixed.sums.len() {
            self.clear_chains(self.sums.fixed.sums[i]);
        }
        Ok(())
    }

    pub fn has_fixed(&self) -> bool {
        !self.sums.fixed.sums.is_empty()
    }

    /// Gives the gang that starts at a column its chains.
    pub fn take_chains(&mut self, column: Operand) {
        for i in 0..self.sums.fixed.sums.len() {
            let FixedSum {
                reduction, scalar, chains, ..
            } = self.sums.fixed.sums[i];
            let elem = elem(scalar);
            let ptr = match self.gang.lanes == CHAINS as u32 {
                true => chains,
                false => {
                    let chain = self.plain("and", Ty::I64, column, Operand::Int(CHAINS as i64 - 1));
                    let bytes = self.scalar_int("mul", chain, Operand::Int(i64::from(elem.bits() / 8)));
                    self.w.offset(chains, bytes)
                }
            };
            self.slots[reduction.local.index()] = match self.gang.lanes {
                0 => Slot::Shared { ptr, elem, step: 0 },
                _ => Slot::Lanes { ptr, elem },
            };
        }
    }

    /// What is left of a block when the rows are through.
    pub fn end_last_block(&mut self) -> Res<()> {
        match self.sums.fixed.rows {
            Some(_) => self.end_block(),
            None => Ok(()),
        }
    }

    /// Adds the block's chains, as a tree, to the sum of the blocks, and starts them anew.
    fn end_block(&mut self) -> Res<()> {
        for i in 0..self.sums.fixed.sums.len() {
            let fixed = self.sums.fixed.sums[i];
            let (op, s) = (fixed.reduction.op, fixed.scalar);
            let one = Ty::scalar(elem(s));
            let chains = Num::Varying(self.w.load(all_chains(s), fixed.chains));
            let block = self.with_lanes(CHAINS as u32, |fx| fx.combine_lanes(op, s, chains))?;
            let sum = Num::Uniform(self.w.load(one, fixed.sum));
            let sum = self.with_lanes(0, |fx| fx.combine(op.binary(), s, sum, block))?;
            let sum = self.take(sum, one);
            self.w.store(one, sum, fixed.sum);
            self.clear_chains(fixed);
        }
        Ok(())
    }

    fn clear_chains(&mut self, fixed: FixedSum) {
        let (ty, start) = (all_chains(fixed.scalar), identity(fixed.reduction.op, fixed.scalar));
        let start = self.with_lanes(CHAINS as u32, |fx| fx.take(start, ty));
        self.w.store(ty, start, fixed.chains);
    }

    /// The sum of all blocks.
    pub fn fixed_sum(&mut self, r: &Reduction) -> Option<Num> {
        let fixed = self.sums.fixed.sums.iter().find(|fixed| fixed.reduction.local == r.local)?;
        let (one, sum) = (Ty::scalar(elem(fixed.scalar)), fixed.sum);
        Some(Num::Uniform(self.w.load(one, sum)))
    }

    /// Ends a block of one row, or of several with the last of them.
    pub fn end_row(&mut self) -> Res<()> {
        match self.sums.fixed.rows {
            None => self.end_block()?,
            Some((rows, count)) => {
                let (full, next) = (self.w.label(), self.w.label());
                let so_far = self.w.load(Ty::I64, count);
                let now = self.add_scalar(so_far, Operand::Int(1));
                self.w.store(Ty::I64, now, count);
                let ends = self.w.inst(format_args!("icmp sge {}, {}", now.typed(Ty::I64), rows.of(Ty::I64)));
                self.w.cond_br(ends, full, next);
                self.w.place(full);
                self.w.store(Ty::I64, Operand::Int(0), count);
                self.end_block()?;
                self.w.br(next);
                self.w.place(next);
            }
        }
        Ok(())
    }
}

fn all_chains(s: Scalar) -> Ty {
    let lanes = CHAINS as u32;
    Ty { elem: elem(s), lanes }
}
