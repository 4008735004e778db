//! Loads and stores, and where an element lies.

use naga::BinaryOperator;
use weft_ir::{Index, Layout, Part, Scalar};

use super::func::Fx;
use super::number::Num;
use super::values::{Res, View, parts};
use super::writer::{Operand, Ty};

impl Fx<'_> {
    pub fn load_element(&mut self, view: &View, indices: &[Index], part: Part) -> Res<Num> {
        let (s, at) = self.element(view, indices, part)?;
        let loaded = self.load_part(&view.base, s, at)?;
        Ok(Num::Reg(loaded))
    }

    pub fn store_element(&mut self, view: &View, indices: &[Index], value: Num, part: Part) -> Res<()> {
        let (s, at) = self.element(view, indices, part)?;
        let value = self.take(value);
        self.store_part(&view.base, s, at, value)
    }

    /// The type of the part that an access means, and its number.
    pub fn element(&mut self, view: &View, indices: &[Index], part: Part) -> Res<(Scalar, Operand)> {
        if indices.len() != view.shape.len() {
            return self.internal("an access with the wrong number of indices");
        }
        if part == Part::Whole && view.ty.elem.is_complex() {
            return self.internal("an access to a whole complex element");
        }
        let mut at = Vec::new();
        for (index, length) in indices.iter().zip(&view.shape) {
            at.push(self.index(*index, *length)?);
        }
        let axes = at.iter().copied().zip(view.shape.iter().copied());
        let number = match view.ty.layout {
            Layout::C => self.contiguous_element(view, axes),
            Layout::F => self.contiguous_element(view, axes.rev()),
            Layout::Row | Layout::Any => self.strided_element(view, &at),
        };
        let number = self.add32(view.offset, number);
        let number = if part == Part::Im {
            self.add32(number, Ty::I32.int(1))
        } else {
            number
        };
        Ok((view.ty.elem.part(), number))
    }

    /// An index from the front, in 32 bits: negative ones that may wrap get the axis's length added.
    pub fn index(&mut self, index: Index, length: Num) -> Res<Operand> {
        let at = self.num(index.value)?;
        let x = self.take_short(at);
        if !index.wrap || at.range().is_some_and(|r| r.lo >= 0) {
            return Ok(x);
        }
        let n = self.take_short(length);
        let moved = self.add32(x, n);
        if at.range().is_some_and(|r| r.hi < 0) {
            return Ok(moved);
        }
        // Of a short axis every index fits 32 bits.
        let short = at.range().is_some() || length.range().is_some();
        let tested = if short { x } else { self.take(at) };
        let negative = self.w.compare(BinaryOperator::Less, tested, tested.ty.int(0));
        Ok(self.w.select(negative, moved, x))
    }

    /// Of a contiguous array: the number of the part, the axes from the slowest to the fastest.
    fn contiguous_element(&mut self, view: &View, axes: impl Iterator<Item = (Operand, Num)>) -> Operand {
        let mut number = Ty::I32.int(0);
        for (index, length) in axes {
            let rows = self.steps(number, length);
            number = self.add32(rows, index);
        }
        self.mul32(number, Ty::I32.int(parts(view.ty)))
    }

    fn strided_element(&mut self, view: &View, at: &[Operand]) -> Operand {
        let mut number = Ty::I32.int(0);
        for (index, stride) in at.iter().zip(&view.strides) {
            let distance = self.mul32(*index, *stride);
            number = self.add32(number, distance);
        }
        number
    }
}
