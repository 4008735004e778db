//! Random views of arrays: slices, transposes, other shapes; and constant arrays.

use super::{Gen, Reach};
use crate::module::{ConstArray, ConstId, Value};
use crate::op::{AxisSlice, BinOp, Op, Part};
use crate::types::{Layout, Scalar, Space, ViewType};

impl Gen {
    /// A view of an array in reach comes into reach.
    pub fn derive_view(&mut self) {
        if self.arrays.is_empty() {
            return;
        }
        let from = self.rng.pick(&self.arrays.clone());
        let Some(ty) = self.b.func.ty(from.view).view() else { return };
        let made = match self.rng.below(4) {
            _ if ty.elem.is_complex() && ty.space != Space::Local && self.rng.chance(30) => self.parts_of(&from, ty),
            0 if from.shape.len() == 2 => self.transposed(&from, ty),
            1 if ty.layout == Layout::C => self.reshaped(&from, ty),
            _ => self.sliced(&from, ty),
        };
        if made.shape.len() <= 3 {
            self.arrays.push(made);
        }
    }

    fn transposed(&mut self, from: &Reach, ty: ViewType) -> Reach {
        let layout = match ty.layout {
            Layout::C => Layout::F,
            Layout::F => Layout::C,
            _ => Layout::Any,
        };
        let view = self.b.emit(ViewType { layout, ..ty }, Op::Transpose(from.view, vec![1, 0]));
        Reach {
            view,
            shape: from.shape.iter().rev().copied().collect(),
            ..from.clone()
        }
    }

    fn parts_of(&mut self, from: &Reach, ty: ViewType) -> Reach {
        let elem = ty.elem.part();
        let part = self.rng.pick(&[Part::Re, Part::Im]);
        let layout = Layout::Any;
        let view = self.b.emit(ViewType { elem, layout, ..ty }, Op::PartView(from.view, part));
        Reach {
            view,
            elem,
            ..from.clone()
        }
    }

    /// All elements along one axis, or in two columns where they are even in number.
    fn reshaped(&mut self, from: &Reach, ty: ViewType) -> Reach {
        let count: u64 = from.shape.iter().product();
        let shape = if count.is_multiple_of(2) && self.rng.chance(50) {
            vec![count / 2, 2]
        } else {
            vec![count]
        };
        let lens = shape.iter().map(|n| self.i64(*n as i64)).collect();
        let ty = ViewType {
            rank: shape.len() as u8,
            ..ty
        };
        let view = self.b.emit(ty, Op::Reshape(from.view, lens));
        Reach {
            view,
            shape,
            ..from.clone()
        }
    }

    fn sliced(&mut self, from: &Reach, ty: ViewType) -> Reach {
        let (mut axes, mut shape) = (Vec::new(), Vec::new());
        for len in &from.shape {
            match self.rng.below(6) {
                0 if from.shape.len() > 1 => axes.push(AxisSlice::At(self.index(*len))),
                1 => {
                    axes.push(AxisSlice::Full);
                    shape.push(*len);
                }
                2 if from.shape.len() == 1 => {
                    axes.extend([AxisSlice::New, AxisSlice::Full]);
                    shape.extend([1, *len]);
                }
                _ => {
                    let (axis, kept) = self.range(*len);
                    axes.push(axis);
                    shape.push(kept);
                }
            }
        }
        let ty = ViewType {
            rank: shape.len() as u8,
            layout: Layout::Any,
            ..ty
        };
        let view = self.b.emit(ty, Op::Slice { view: from.view, axes });
        Reach {
            view,
            shape,
            ..from.clone()
        }
    }

    /// Some entries of an axis, not none; where they start is the same for all threads or not.
    fn range(&mut self, len: u64) -> (AxisSlice, u64) {
        let step = self.rng.pick(&[1i64, 1, 2, 3, -1, -2]);
        let most = (len - 1) / step.unsigned_abs() + 1;
        let kept = 1 + self.rng.below(most);
        let reach = (kept - 1) * step.unsigned_abs();
        let start = self.start(len - reach, if step < 0 { reach } else { 0 });
        let (kept_value, step) = (self.i64(kept as i64), self.i64(step));
        let range = AxisSlice::Range {
            start,
            len: kept_value,
            step,
        };
        (range, kept)
    }

    /// A number from `base` on, below `base + room`.
    fn start(&mut self, room: u64, base: u64) -> Value {
        let base_value = self.i64(base as i64);
        if self.rng.chance(50) {
            let offset = self.rng.below(room);
            return self.i64((base + offset) as i64);
        }
        let any = self.value(Scalar::I64);
        let room = self.i64(room as i64);
        let offset = self.b.binary(BinOp::Mod, any, room);
        self.b.binary(BinOp::Add, offset, base_value)
    }

    /// A constant array of the module comes into reach.
    pub fn constant_array(&mut self) {
        let (elem, len) = (self.any_type(), 1 + self.rng.below(12));
        let bytes = (0..len).flat_map(|_| self.random_const(elem).to_bytes()).collect();
        self.constants.push(ConstArray {
            elem,
            shape: vec![len],
            bytes,
        });
        let ty = ViewType {
            elem,
            rank: 1,
            layout: Layout::C,
            space: Space::Constant,
            writable: false,
        };
        let id = ConstId(self.constants.len() as u32 - 1);
        let view = self.b.emit(ty, Op::ConstArray(id));
        self.arrays.push(Reach {
            view,
            elem,
            shape: vec![len],
            private: false,
        });
    }
}
