//! Addresses: from a view and its index list to a byte offset and its class.

use weft_ir::{Index, Part};

use super::func::Fx;
use super::values::{Num, Res, ViewVal};
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    /// The byte offset of an element from the view's base.
    pub fn element_offset(&mut self, view: &ViewVal, indices: &[Index], part: Part) -> Res<Num> {
        if indices.len() != view.shape.len() {
            return self.internal("an access with the wrong number of indices");
        }
        let mut offset = view.offset;
        for (axis, index) in indices.iter().enumerate() {
            let at = self.index(*index, view.shape[axis])?;
            let bytes = self.mul(at, view.strides[axis]);
            offset = self.add(offset, bytes);
        }
        if part == Part::Im {
            let size = view.ty.elem.part().size() as i64;
            offset = self.add(offset, Num::int(size));
        }
        Ok(offset)
    }

    /// An index from the front: negative ones that may wrap get the axis's length added.
    pub fn index(&mut self, index: Index, length: Num) -> Res<Num> {
        let at = self.num(index.value)?;
        if !index.wrap {
            return Ok(at);
        }
        if let Some(v) = at.const_int() {
            return Ok(if v < 0 { self.add(at, length) } else { at });
        }
        let ty = self.gang.join_ty(&[at, length], Elem::I64);
        let (x, n) = (self.take(at, ty), self.take(length, ty));
        let negative = self.w.inst(format_args!("icmp slt {}, {}", x.typed(ty), Operand::Int(0).of(ty)));
        let moved = self.plain("add", ty, x, n);
        let result = self.select_op(ty, negative, moved, x);
        Ok(self.wrap(result, ty))
    }

    /// The address of one element, for an access that certainly happens.
    pub fn element_ptr(&mut self, base: Operand, offset: Operand) -> Operand {
        if offset == Operand::Int(0) {
            return base;
        }
        self.w.inst(format_args!(
            "getelementptr inbounds i8, {}, {}",
            base.typed(Ty::PTR),
            offset.typed(Ty::I64)
        ))
    }

    /// One pointer a lane.
    pub fn lane_ptrs(&mut self, base: Operand, offset: Num) -> Operand {
        let ty = self.gang.vector_ty(Elem::I64);
        let offsets = self.take(offset, ty);
        self.w
            .inst(format_args!("getelementptr i8, {}, {}", base.typed(Ty::PTR), offsets.typed(ty)))
    }
}
