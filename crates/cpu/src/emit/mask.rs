//! Masks: which lanes are on, how masks are kept across blocks, tests of whole masks.

use super::func::Fx;
use super::values::Num;
use super::writer::{Elem, Operand, Ty};

/// The lanes that are on. Code is only reached with at least one lane on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// All of them, known when the code is written.
    Full,
    /// As this vector of `i1` says.
    Lanes(Operand),
}

impl Mask {
    pub const fn operand(self) -> Operand {
        match self {
            Mask::Full => Operand::Bool(true),
            Mask::Lanes(op) => op,
        }
    }
}

impl Fx<'_, '_> {
    pub fn mask_ty(&self) -> Ty {
        self.vector_ty(Elem::I1)
    }

    /// The lanes of the current mask in which a condition holds.
    pub fn narrowed(&mut self, cond: Operand) -> Operand {
        match self.mask {
            Mask::Full => cond,
            Mask::Lanes(mask) => self.mask_and(mask, cond),
        }
    }

    /// `mask & cond`. Under `fastmath` a lane that is off may hold poison, which a select stops and an `and` does not.
    pub fn mask_and(&mut self, mask: Operand, cond: Operand) -> Operand {
        let ty = self.mask_ty();
        match (mask, cond) {
            (Operand::Bool(true), other) | (other, Operand::Bool(true)) => other,
            (Operand::Bool(false), _) | (_, Operand::Bool(false)) => Operand::Bool(false),
            _ if self.f.flags.fastmath => {
                self.w.inst(format_args!("select {}, {}, {ty} zeroinitializer", mask.typed(ty), cond.typed(ty)))
            }
            _ => self.w.inst(format_args!("and {}, {}", mask.typed(ty), cond.of(ty))),
        }
    }

    pub fn mask_not(&mut self, mask: Operand) -> Operand {
        let ty = self.mask_ty();
        match mask {
            Operand::Bool(b) => Operand::Bool(!b),
            _ => self.w.inst(format_args!("xor {}, splat (i1 true)", mask.typed(ty))),
        }
    }

    /// `mask & !gone`.
    pub fn mask_without(&mut self, mask: Operand, gone: Operand) -> Operand {
        let kept = self.mask_not(gone);
        self.mask_and(kept, mask)
    }

    pub fn any(&mut self, mask: Operand) -> Operand {
        if matches!(mask, Operand::Bool(_)) {
            return mask;
        }
        let ty = self.mask_ty();
        let name = format!("llvm.vector.reduce.or.{}", ty.suffix());
        self.cx.declare(format!("declare i1 @{name}({ty})"));
        self.w.inst(format_args!("call i1 @{name}({})", mask.typed(ty)))
    }

    /// Memory for a mask that changes across blocks; promoted to a register by LLVM.
    pub fn mask_slot(&mut self) -> Operand {
        let ty = self.vector_ty(self.mask_elem);
        self.w.alloca(ty)
    }

    pub fn save_mask(&mut self, slot: Operand, mask: Operand) {
        let (bits, wide) = (self.mask_ty(), self.vector_ty(self.mask_elem));
        let value = match mask {
            Operand::Bool(b) if self.mask_elem != Elem::I1 => Operand::Int(-i64::from(b)),
            Operand::Bool(_) => mask,
            _ if self.mask_elem == Elem::I1 => mask,
            _ => self.w.inst(format_args!("sext {} to {wide}", mask.typed(bits))),
        };
        self.w.store(wide, value, slot);
    }

    pub fn load_mask(&mut self, slot: Operand) -> Operand {
        let wide = self.vector_ty(self.mask_elem);
        let value = self.w.load(wide, slot);
        if self.mask_elem == Elem::I1 {
            return value;
        }
        self.w.inst(format_args!("icmp slt {}, zeroinitializer", value.typed(wide)))
    }

    /// The mask `lane index + base < end`.
    pub fn lanes_below(&mut self, base: Num, end: Operand) -> Operand {
        let ty = self.vector_ty(Elem::I64);
        let (lanes, end) = (self.take(base, ty), self.splat(end, ty));
        self.w.inst(format_args!("icmp slt {}, {}", lanes.typed(ty), end.of(ty)))
    }
}
