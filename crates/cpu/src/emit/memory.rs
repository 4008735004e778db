//! Loads and stores: by the class of the address a scalar access, a vector access, or what `gather` writes; masked where lanes may be off.

use weft_ir::{Index, Part, Scalar};

use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res, ViewVal, elem, memory_elem};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    pub fn load_element(&mut self, view: &ViewVal, indices: &[Index], part: Part) -> Res<Num> {
        let s = self.accessed(view, part)?;
        let offset = self.element_offset(view, indices, part)?;
        let memory = memory_elem(s);
        let (loaded, ty) = match offset {
            Num::Uniform(at) => {
                let ty = Ty::scalar(memory);
                (self.load_at(view.base, at, ty, s.size(), true), ty)
            }
            Num::Affine(at, step) if step == s.size() as i64 => {
                let ty = self.gang.vector_ty(memory);
                self.fetch_ahead(view, indices, at, s);
                (self.load_neighbours(view.base, at, ty, s.size())?, ty)
            }
            Num::Affine(at, step) if step == -(s.size() as i64) => {
                let ty = self.gang.vector_ty(memory);
                (self.load_reversed(view.base, at, ty, s.size()), ty)
            }
            Num::Affine(at, step) if part != Part::Whole && step == 2 * s.size() as i64 && self.gang.mask == Mask::Full => {
                let ty = self.gang.vector_ty(memory);
                (self.load_part(view, at, ty, part), ty)
            }
            Num::Affine(at, step) if self.is_close(step, s) => {
                let ty = self.gang.vector_ty(memory);
                (self.load_every(view.base, at, ty, (step / s.size() as i64) as u32), ty)
            }
            _ => {
                let ty = self.gang.vector_ty(memory);
                (self.gather(view.base, offset, ty, s.size())?, ty)
            }
        };
        let value = self.loaded_as(loaded, ty, s);
        Ok(self.wrap(value, ty))
    }

    pub fn store_element(&mut self, view: &ViewVal, indices: &[Index], value: Num, part: Part) -> Res<()> {
        let s = self.accessed(view, part)?;
        let offset = self.element_offset(view, indices, part)?;
        let (vector, align) = (self.gang.vector_ty(memory_elem(s)), s.size());
        match (offset, value) {
            (Num::Uniform(at), Num::Uniform(_)) => {
                let ty = Ty::scalar(memory_elem(s));
                let stored = self.stored_as(value, ty, s);
                let ptr = self.element_ptr(view.base, at);
                self.w
                    .line(format_args!("store {}, {}, align {align}", stored.typed(ty), ptr.typed(Ty::PTR)));
            }
            (Num::Affine(at, step), _) if step == align as i64 => {
                let stored = self.stored_as(value, vector, s);
                self.store_neighbours(view.base, at, vector, stored, align)?;
            }
            (Num::Affine(at, step), _) if step == -(align as i64) => {
                let stored = self.stored_as(value, vector, s);
                self.store_reversed(view.base, at, vector, stored, align);
            }
            _ => {
                let stored = self.stored_as(value, vector, s);
                self.scatter(view.base, offset, vector, stored, align)?;
            }
        }
        Ok(())
    }

    fn accessed(&self, view: &ViewVal, part: Part) -> Res<Scalar> {
        match part {
            Part::Whole if view.ty.elem.is_complex() => self.internal("an access to a whole complex element"),
            Part::Whole => Ok(view.ty.elem),
            _ => Ok(view.ty.elem.part()),
        }
    }

    /// A bool in memory is a byte that is 0 or 1.
    fn loaded_as(&mut self, loaded: Operand, ty: Ty, s: Scalar) -> Operand {
        if s != Scalar::Bool {
            return loaded;
        }
        self.w
            .inst(format_args!("icmp ne {}, {}", loaded.typed(ty), Operand::Int(0).of(ty)))
    }

    pub fn stored_as(&mut self, value: Num, ty: Ty, s: Scalar) -> Operand {
        let register = ty.with(elem(s));
        let x = self.take(value, register);
        if s != Scalar::Bool {
            return x;
        }
        match x {
            Operand::Bool(b) => Operand::Int(i64::from(b)),
            _ => self.convert("zext", x, register, ty),
        }
    }

    fn load_at(&mut self, base: Operand, at: Operand, ty: Ty, align: usize, certain: bool) -> Operand {
        let ptr = if certain {
            self.element_ptr(base, at)
        } else {
            self.w.offset(base, at)
        };
        self.w.inst(format_args!("load {ty}, {}, align {align}", ptr.typed(Ty::PTR)))
    }

    fn load_neighbours(&mut self, base: Operand, at: Operand, ty: Ty, align: usize) -> Res<Operand> {
        match self.gang.mask {
            Mask::Full => Ok(self.load_at(base, at, ty, align, true)),
            Mask::Lanes(mask) if self.is_narrow(ty) => self.load_narrow(base, at, ty, align, mask),
            Mask::Lanes(mask) => {
                let (ptr, bits) = (self.w.offset(base, at), self.bits_of(mask));
                Ok(self.masked_load(ptr, ty, align, bits))
            }
        }
    }

    fn masked_load(&mut self, ptr: Operand, ty: Ty, align: usize, mask: Operand) -> Operand {
        let bits = self.gang.bits_ty();
        let name = format!("llvm.masked.load.{}.p0", ty.suffix());
        self.cx.declare(format!("declare {ty} @{name}(ptr, {bits}, {ty})"));
        let ptr = ptr.of(Ty::PTR);
        self.w.inst(format_args!(
            "call {ty} @{name}(ptr align {align} {ptr}, {}, {ty} zeroinitializer)",
            mask.typed(bits)
        ))
    }

    fn store_neighbours(&mut self, base: Operand, at: Operand, ty: Ty, value: Operand, align: usize) -> Res<()> {
        match self.gang.mask {
            Mask::Full => {
                let ptr = self.element_ptr(base, at);
                let (align, past) = match self.gang.streams {
                    Some(bytes) => (bytes as usize, ", !nontemporal !{i32 1}"),
                    None => (align, ""),
                };
                self.w.line(format_args!(
                    "store {}, {}, align {align}{past}",
                    value.typed(ty),
                    ptr.typed(Ty::PTR)
                ));
            }
            Mask::Lanes(mask) if self.is_narrow(ty) => self.store_narrow(base, at, ty, value, align, mask)?,
            Mask::Lanes(mask) => {
                let (ptr, bits) = (self.w.offset(base, at), self.bits_of(mask));
                self.masked_store(ptr, ty, value, align, bits);
            }
        }
        Ok(())
    }

    fn masked_store(&mut self, ptr: Operand, ty: Ty, value: Operand, align: usize, mask: Operand) {
        let bits = self.gang.bits_ty();
        let name = format!("llvm.masked.store.{}.p0", ty.suffix());
        self.cx.declare(format!("declare void @{name}({ty}, ptr, {bits})"));
        let ptr = ptr.of(Ty::PTR);
        self.w.line(format_args!(
            "call void @{name}({}, ptr align {align} {ptr}, {})",
            value.typed(ty),
            mask.typed(bits)
        ));
    }

    /// Lanes that go down in memory: the vector that ends at lane 0's element, turned round.
    fn load_reversed(&mut self, base: Operand, at: Operand, ty: Ty, align: usize) -> Operand {
        let ptr = self.last_lane_ptr(base, at, align);
        let loaded = match self.gang.mask {
            Mask::Full => self.w.inst(format_args!("load {ty}, {}, align {align}", ptr.typed(Ty::PTR))),
            Mask::Lanes(mask) => {
                let bits = self.bits_of(mask);
                let turned = self.reversed(bits, self.gang.bits_ty());
                self.masked_load(ptr, ty, align, turned)
            }
        };
        self.reversed(loaded, ty)
    }

    fn store_reversed(&mut self, base: Operand, at: Operand, ty: Ty, value: Operand, align: usize) {
        let ptr = self.last_lane_ptr(base, at, align);
        let value = self.reversed(value, ty);
        match self.gang.mask {
            Mask::Full => self
                .w
                .line(format_args!("store {}, {}, align {align}", value.typed(ty), ptr.typed(Ty::PTR))),
            Mask::Lanes(mask) => {
                let bits = self.bits_of(mask);
                let turned = self.reversed(bits, self.gang.bits_ty());
                self.masked_store(ptr, ty, value, align, turned);
            }
        }
    }

    fn last_lane_ptr(&mut self, base: Operand, at: Operand, size: usize) -> Operand {
        let back = Operand::Int(-(i64::from(self.gang.lanes) - 1) * size as i64);
        let lowest = self.add_scalar(at, back);
        self.w.offset(base, lowest)
    }

    fn reversed(&mut self, op: Operand, ty: Ty) -> Operand {
        if op.is_const() {
            return op;
        }
        let name = format!("llvm.vector.reverse.{}", ty.suffix());
        self.cx.declare(format!("declare {ty} @{name}({ty})"));
        self.w.inst(format_args!("call {ty} @{name}({})", op.typed(ty)))
    }
}
