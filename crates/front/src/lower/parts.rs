//! The real and imaginary parts of arrays: views of the array, whose elements are read and written in place.

use weft_ir::{AxisSlice, Layout, Op, Part, Space, Span, Value, ViewType};

use super::Lower;
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::Val;

/// What a view of parts was made of.
#[derive(Clone, Copy)]
pub struct PartOf {
    pub view: Value,
    pub ty: ViewType,
    pub part: Part,
    /// The block that made it.
    block: u32,
}

impl Lower<'_> {
    /// `array.real` or `array.imag`. Of a real array the real part is the array itself and the imaginary part read-only zeros.
    pub fn array_part(&mut self, base: Val, real: bool, span: Span) -> Res<Val> {
        match base {
            Val::View(view, ty) if ty.elem.is_complex() => {
                let (view, ty) = self.part_view(view, ty, if real { Part::Re } else { Part::Im });
                Ok(Val::View(view, ty))
            }
            // Of an array that has no name nobody sees whether its parts are views.
            Val::Lazy(ref lazy) if lazy.elem.is_complex() => self.array_map(&[base], span, move |l, v| {
                let num = v[0].num().unwrap_or(Num::COMPLEX);
                l.part(&v[0], num, real, span)
            }),
            _ if real => Ok(base),
            _ => self.zeros_like_view(&base, span),
        }
    }

    /// One part of every element, as a view. It is made once where it can be, so that it is seen to be the same.
    pub fn part_view(&mut self, view: Value, ty: ViewType, part: Part) -> (Value, ViewType) {
        let made = ViewType {
            elem: ty.elem.part(),
            layout: Layout::Any,
            ..ty
        };
        let before = self.arrays.parts.iter().find(|(_, of)| of.view == view && of.part == part);
        if let Some((value, of)) = before
            && self.blocks.is_open(of.block)
        {
            return (*value, made);
        }
        let value = self.b.emit(made, Op::PartView(view, part));
        self.arrays.derived(value, view);
        let block = self.blocks.current();
        self.arrays.parts.insert(value, PartOf { view, ty, part, block });
        (value, made)
    }

    /// What a view of parts was made of: its elements are read there, where more is known of the strides.
    pub fn part_of(&self, view: Value) -> Option<PartOf> {
        self.arrays.parts.get(&view).copied()
    }

    /// Zeros of an array's type and shape that cannot be written: one element, stretched.
    fn zeros_like_view(&mut self, array: &Val, span: Span) -> Res<Val> {
        let Ty::View(ty) = array.ty() else {
            return Err(self.typing(span, format!("an array is needed here, and this is {}", array.ty())));
        };
        let lengths = self.shape(array)?;
        let id = self.cx.constants.one_zero(ty.elem, lengths.len());
        let constant = ViewType {
            elem: ty.elem,
            rank: lengths.len() as u8,
            layout: Layout::C,
            space: Space::Constant,
            writable: false,
        };
        let view = self.b.emit(constant, Op::ConstArray(id));
        let one = Val::View(view, constant);
        self.arrays.note_given(&one);
        if lengths.is_empty() {
            return Ok(one);
        }
        let zero = self.b.i64(0);
        let stretched = |len| AxisSlice::Range {
            start: zero,
            len,
            step: zero,
        };
        let axes = lengths.into_iter().map(stretched).collect();
        let (view, ty) = self.slice(view, constant, axes);
        Ok(Val::View(view, ty))
    }

    /// `array.real = value`.
    pub fn store_part(&mut self, base: Val, real: bool, val: &Val, span: Span) -> Res<()> {
        let (view, ty) = self.writable_part(base, real, span)?;
        self.store_array(view, ty, val, span)
    }

    /// The view that an assignment to a part of an array writes.
    pub fn writable_part(&mut self, base: Val, real: bool, span: Span) -> Res<(Value, ViewType)> {
        match self.array_part(base, real, span)? {
            Val::View(view, ty) => {
                self.refuse_read_only(ty, span)?;
                Ok((view, ty))
            }
            other => Err(self.unsupported(span, format!("a part of {}, which no name holds, cannot be assigned", other.ty()))),
        }
    }

    /// Lanes of a gang keep their local arrays interleaved, which only views of whole elements are known to be.
    pub fn refuse_kept_part(&self, val: &Val, span: Span) -> Res<()> {
        match val {
            Val::View(view, ty) if ty.space == Space::Local && self.arrays.parts.contains_key(view) => {
                let message = "a part of a local array cannot be kept in a variable that is assigned more than once";
                Err(self.unsupported(span, message))
            }
            _ => Ok(()),
        }
    }
}

/// Is an attribute one of an array's parts, and the real one?
pub fn is_real(attr: &str) -> Option<bool> {
    match attr {
        "real" => Some(true),
        "imag" => Some(false),
        _ => None,
    }
}
