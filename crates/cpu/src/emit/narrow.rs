//! Masked accesses to neighbouring bytes and 16-bit words where the hardware masks neither (AVX2 and before): LLVM would write a branch
//! for every lane. The whole vector when all lanes are on, which is mostly so, else lane after lane.

use super::func::Fx;
use super::values::{Num, Res};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    /// Has the target no masked accesses to elements of this type?
    pub fn is_narrow(&self, ty: Ty) -> bool {
        !self.cx.target.mask_registers && ty.elem.bits() < 32
    }

    /// Lanes that are off hold 0.
    pub fn load_narrow(&mut self, base: Operand, at: Operand, ty: Ty, align: usize, mask: Operand) -> Res<Operand> {
        let result = self.w.alloca(ty);
        let (whole, some, done) = (self.w.label(), self.w.label(), self.w.label());
        let all = self.all(mask);
        self.w.cond_br(all, whole, some);
        self.w.place(whole);
        let ptr = self.w.offset(base, at);
        let loaded = self.w.inst(format_args!("load {ty}, {}, align {align}", ptr.typed(Ty::PTR)));
        self.w.store(ty, loaded, result);
        self.w.br(done);
        self.w.place(some);
        let loaded = self.gather_by_lane(base, Num::Affine(at, align as i64), ty, align)?;
        self.w.store(ty, loaded, result);
        self.w.place(done);
        Ok(self.w.load(ty, result))
    }

    pub fn store_narrow(&mut self, base: Operand, at: Operand, ty: Ty, value: Operand, align: usize, mask: Operand) -> Res<()> {
        let (whole, some, done) = (self.w.label(), self.w.label(), self.w.label());
        let all = self.all(mask);
        self.w.cond_br(all, whole, some);
        self.w.place(whole);
        let ptr = self.w.offset(base, at);
        self.w
            .line(format_args!("store {}, {}, align {align}", value.typed(ty), ptr.typed(Ty::PTR)));
        self.w.br(done);
        self.w.place(some);
        self.scatter_by_lane(base, Num::Affine(at, align as i64), ty, value, align)?;
        self.w.place(done);
        Ok(())
    }

    /// Are all lanes on?
    fn all(&mut self, mask: Operand) -> Operand {
        let off = self.mask_not(mask);
        match self.any(off) {
            Operand::Bool(b) => Operand::Bool(!b),
            any => self.w.inst(format_args!("xor {}, true", any.typed(Ty::BOOL))),
        }
    }
}
