//! Layouts: strides that follow from a shape, and views of memory in C order.

use weft_ir::{Layout, Space, ViewType};

use super::func::Fx;
use super::values::{Num, ViewVal};
use super::writer::Operand;

impl Fx<'_, '_> {
    /// A view over memory with the strides of a C-contiguous array.
    pub fn contiguous(&mut self, ty: ViewType, base: Operand, offset: Num, shape: Vec<Num>) -> ViewVal {
        let pitch = self.pitch(ty);
        let strides = self.c_strides(&shape, pitch);
        ViewVal {
            ty,
            base,
            offset,
            shape,
            strides,
            pitch,
        }
    }

    pub fn c_strides(&mut self, shape: &[Num], pitch: i64) -> Vec<Num> {
        let mut strides = vec![Num::int(pitch); shape.len()];
        for axis in (0..shape.len().saturating_sub(1)).rev() {
            strides[axis] = self.mul(strides[axis + 1], shape[axis + 1]);
        }
        strides
    }

    /// The strides of a view whose layout gives some of them, from the shape and what the argument block holds.
    pub fn layout_strides(&mut self, ty: ViewType, shape: &[Num], given: &[Num]) -> Vec<Num> {
        let size = ty.elem.size() as i64;
        match ty.layout {
            Layout::C => self.c_strides(shape, size),
            Layout::F => {
                let mut strides = vec![Num::int(size); shape.len()];
                for axis in 1..shape.len() {
                    strides[axis] = self.mul(strides[axis - 1], shape[axis - 1]);
                }
                strides
            }
            Layout::Row => {
                let mut strides = given.to_vec();
                if let Some(last) = strides.last_mut() {
                    *last = Num::int(size);
                }
                strides
            }
            Layout::Any => given.to_vec(),
        }
    }

    /// Bytes between neighbours of a C-contiguous array: local arrays mostly interleave the lanes.
    pub fn pitch(&self, ty: ViewType) -> i64 {
        let lanes = if ty.space == Space::Local && !self.arrays.in_pieces {
            self.gang.lanes.max(1)
        } else {
            1
        };
        ty.elem.size() as i64 * i64::from(lanes)
    }
}
