//! Views by addresses and bytes: memory of locals and arrays, and where elements lie.

use weft_ir::{BinOp, Index, Local, Part, Scalar, Space, ViewType};
use weft_thread::{Basic, Code, Numbers, Overflow, Views};

use super::func::Fx;
use super::number::NARROW;
use super::values::{Address, Num, Place, PlaceSlot, Res, Variable, View};
use super::writer::{Memory, Operand, Ty};

impl<'m> Views<'m> for Fx<'_, 'm> {
    fn variable(&mut self, s: Scalar) -> Variable {
        self.variable_of(Ty::of(s))
    }

    fn get(&mut self, variable: Variable) -> Operand {
        self.w.load(variable.ty, variable.ptr)
    }

    fn set(&mut self, variable: Variable, value: Operand) {
        self.w.store(value, variable.ptr);
    }

    fn place_slot(&mut self, _local: Local, ty: ViewType) -> PlaceSlot {
        PlaceSlot {
            base: self.variable_of(Ty::Ptr(self.cx.memory(ty.space))),
            short: self.has_short_lengths(ty),
            align: self.assumed_align(ty),
        }
    }

    fn get_place(&mut self, _ty: ViewType, slot: &PlaceSlot) -> Place {
        Place {
            base: self.get(slot.base),
            short: slot.short,
            align: slot.align,
        }
    }

    fn set_place(&mut self, slot: &PlaceSlot, place: &Place) {
        self.set(slot.base, place.base);
    }

    fn element_stride(&self, ty: ViewType) -> i64 {
        ty.elem.size() as i64
    }

    fn steps(&mut self, stride: Num, n: Num, overflow: Overflow) -> Res<Num> {
        match overflow {
            Overflow::Never => Ok(self.whole(Basic::Mul, stride, n)),
            Overflow::Wraps => self.binary(BinOp::Mul, Scalar::I64, stride, n, Scalar::I64),
        }
    }

    /// Not `inbounds`.
    fn moved(&mut self, place: Place, at: Num, stride: Num) -> Place {
        if at.const_int() == Some(0) {
            return place;
        }
        let (at, stride) = (self.take(at), self.take(stride));
        let bytes = self.w.binary("mul", at, stride);
        let Place { base, .. } = place;
        let base = self.w.inst(base.ty, format_args!("getelementptr i8, {base}, {bytes}"));
        Place { base, ..place }
    }

    fn part_place(&mut self, ty: ViewType, place: &Place, part: Part) -> Place {
        let size = ty.elem.size();
        let moved = match part {
            Part::Im => self.moved(*place, Num::int(size as i64), Num::int(1)),
            Part::Whole | Part::Re => *place,
        };
        Place { align: size, ..moved }
    }

    fn select_place(&mut self, cond: Operand, a: &Place, b: &Place) -> Place {
        Place {
            base: self.w.select(cond, a.base, b.base),
            short: a.short && b.short,
            align: a.align.min(b.align),
        }
    }

    fn is_short(&self, view: &View, _axis: Option<Num>) -> bool {
        view.place.short
    }

    fn index(&mut self, index: Index, length: Num) -> Res<Num> {
        self.index_from_front(index, length)
    }

    fn contiguous(&mut self, view: &View, axes: impl Iterator<Item = (Num, Num)>) -> Address {
        self.contiguous_element(view, axes)
    }

    fn strided(&mut self, view: &View, at: &[Num]) -> Address {
        self.strided_element(view, at)
    }

    fn imaginary(&mut self, s: Scalar, address: Address) -> Address {
        let (ptr, align) = (address.ptr, s.size());
        let ptr = self
            .w
            .inst(ptr.ty, format_args!("getelementptr inbounds nuw i8, {ptr}, i64 {align}"));
        Address { ptr, align }
    }

    fn load(&mut self, view: &View, s: Scalar, Address { ptr, align }: Address) -> Res<Operand> {
        let memory = Ty::in_memory(s);
        let fixed = if view.ty.space == Space::Constant {
            ", !invariant.load !1"
        } else {
            ""
        };
        let loaded = self.w.inst(memory, format_args!("load {memory}, {ptr}, align {align}{fixed}"));
        Ok(self.loaded_as(s, loaded))
    }

    fn store(&mut self, _view: &View, s: Scalar, Address { ptr, align }: Address, value: Operand) -> Res<()> {
        let stored = self.stored_as(s, value);
        self.w.line(format_args!("store {stored}, {ptr}, align {align}"));
        Ok(())
    }
}

impl Fx<'_, '_> {
    fn variable_of(&mut self, ty: Ty) -> Variable {
        Variable {
            ptr: self.w.alloca(ty),
            ty,
        }
    }

    /// What the elements of a view that may be a parameter's are aligned to.
    pub fn assumed_align(&self, ty: ViewType) -> usize {
        if self.cx.facts.aligned || ty.space != Space::Global {
            ty.elem.size()
        } else {
            ty.elem.part().size()
        }
    }

    /// Memory for the function's arrays.
    pub fn memory_of_arrays(&mut self) -> Res<()> {
        let f = self.f;
        for decl in &f.arrays {
            let count = decl.shape.iter().try_fold(1u64, |n, axis| n.checked_mul(*axis));
            let bytes = count.and_then(|n| n.checked_mul(decl.elem.size() as u64));
            let Some(bytes) = bytes.filter(|b| *b < NARROW as u64) else {
                return self.unsupported(format!("the array {} is too large", decl.name));
            };
            let base = match decl.space {
                Space::Shared => self.cx.shared_array(bytes.max(1)),
                _ => self
                    .w
                    .entry_inst(Ty::Ptr(Memory::Generic), format_args!("alloca [{} x i8], align 16", bytes.max(1))),
            };
            self.arrays.push(base);
        }
        Ok(())
    }
}
