//! Addresses: where an element lies, and what it is in memory.

use weft_ir::{Index, Scalar};
use weft_passes::range::Range;
use weft_thread::{Basic, Code, Numbers};

use super::func::Fx;
use super::values::{Address, Num, Place, Res, View};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    /// A bool in memory is a byte that is 0 or 1.
    pub fn loaded_as(&mut self, s: Scalar, loaded: Operand) -> Operand {
        match s {
            Scalar::Bool => self.w.compare("icmp ne", loaded, Ty::I8.int_const(0)),
            _ => loaded,
        }
    }

    pub fn stored_as(&mut self, s: Scalar, value: Operand) -> Operand {
        match s {
            Scalar::Bool => self.w.convert("zext", value, Ty::I8),
            _ => value,
        }
    }

    /// An index from the front: negative ones that may wrap get the axis's length added.
    pub fn index_from_front(&mut self, index: Index, length: Num) -> Res<Num> {
        let at = self.num(index.value)?;
        if !index.wrap || at.range().is_some_and(|r| r.lo >= 0) {
            return Ok(at);
        }
        if at.const_int().is_some_and(|v| v < 0) {
            return Ok(self.whole(Basic::Add, at, length));
        }
        if let (Num::Short(..), Num::Reg(op)) | (Num::Reg(op), Num::Short(..)) = (length, at)
            && op.ty == Ty::I64
            && length.range().is_some()
        {
            let x = self.take_short(at);
            return Ok(self.wrapped_index(Num::Short(x, Range::I32), length));
        }
        Ok(self.wrapped_index(at, length))
    }

    fn wrapped_index(&mut self, at: Num, length: Num) -> Num {
        match (at, length) {
            (Num::Short(x, _), Num::Short(n, range)) => {
                let negative = self.w.compare("icmp slt", x, Ty::I32.int_const(0));
                let moved = self.w.binary("add", x, n);
                Num::Short(self.w.select(negative, moved, x), Range::new(0, range.hi))
            }
            _ => {
                let (x, n) = (self.take(at), self.take(length));
                let negative = self.w.compare("icmp slt", x, Ty::I64.int_const(0));
                let moved = self.w.binary("add", x, n);
                Num::Reg(self.w.select(negative, moved, x))
            }
        }
    }

    /// Of a contiguous array: the number of the element, the axes from the slowest to the fastest.
    pub fn contiguous_element(&mut self, view: &View, axes: impl Iterator<Item = (Num, Num)>) -> Address {
        let mut number: Option<Operand> = None;
        for (index, length) in axes {
            let index = self.element_number(view, index);
            number = Some(match number {
                None => index,
                Some(outer) => {
                    let length = self.element_number(view, length);
                    let rows = self.w.binary("mul nsw", outer, length);
                    self.w.binary("add nsw", rows, index)
                }
            });
        }
        let (Place { base, align, .. }, size) = (view.place, view.ty.elem.size());
        let ptr = match number.map(|n| (n, n.int())) {
            None | Some((_, Some(0))) => base,
            Some((n, _)) => {
                let wide = match n.int() {
                    Some(v) => Ty::I64.int_const(v),
                    // Not `zext`: LLVM takes constants out of sign extensions only, and would see no neighbours.
                    None if n.ty == Ty::I32 => self.w.convert("sext", n, Ty::I64),
                    None => n,
                };
                self.w
                    .inst(base.ty, format_args!("getelementptr inbounds nuw [{size} x i8], {base}, {wide}"))
            }
        };
        Address { ptr, align }
    }

    fn element_number(&mut self, view: &View, n: Num) -> Operand {
        if view.place.short { self.take_short(n) } else { self.take(n) }
    }

    pub fn strided_element(&mut self, view: &View, at: &[Num]) -> Address {
        let Place {
            base: mut ptr,
            short,
            align,
        } = view.place;
        for (index, stride) in at.iter().zip(&view.strides) {
            if index.const_int() == Some(0) {
                continue;
            }
            let index = if short { self.as_short(*index) } else { *index };
            let (index, stride) = (self.take(index), self.take(*stride));
            let bytes = self.w.binary("mul nsw", index, stride);
            ptr = self.w.inst(ptr.ty, format_args!("getelementptr inbounds i8, {ptr}, {bytes}"));
        }
        Address { ptr, align }
    }

    /// An index that is in bounds of a small array.
    fn as_short(&mut self, index: Num) -> Num {
        match index {
            Num::Reg(op) if op.int().is_none() => Num::Short(self.take_short(index), Range::new(0, Range::I32.hi)),
            _ => index,
        }
    }
}
