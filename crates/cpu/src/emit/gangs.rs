//! The gangs of a block: loops over them, with lanes along one axis or in the order of the linear index.

use super::func::Fx;
use super::gang::{Geometry, Mask};
use super::values::{Num, Res};
use super::writer::{Elem, Label, Operand, Ty};

impl Fx<'_, '_> {
    /// Writes `body` once, in loops over the gangs of a block: lanes along one axis, the others outside.
    pub fn gangs_of_block(&mut self, lane_axis: Option<usize>, full: bool, body: &mut dyn FnMut(&mut Self, Label) -> Res<()>) -> Res<()> {
        let Some(mut geometry) = self.gang.geometry else {
            return self.internal("threads outside a kernel");
        };
        let Some(lane_axis) = lane_axis else {
            return self.gangs_in_a_line(geometry, full, body);
        };
        let mut outer = Vec::new();
        for axis in (0..3).rev().filter(|axis| *axis != lane_axis) {
            let counter = self.count(Operand::Int(0), geometry.block_dim[axis], 1);
            geometry.thread[axis] = Num::Uniform(counter.at);
            outer.push(counter);
        }
        let length = geometry.block_dim[lane_axis];
        let gang = self.count(Operand::Int(0), length, self.gang.lanes.into());
        geometry.thread[lane_axis] = Num::Affine(gang.at, 1);
        self.gang.geometry = Some(geometry);
        self.gang.mask = if full {
            Mask::Full
        } else {
            Mask::Lanes(self.lanes_below(Num::Affine(gang.at, 1), length))
        };
        body(self, gang.next)?;
        self.gang.mask = Mask::Full;
        self.end_count(&gang);
        for counter in outer.iter().rev() {
            self.end_count(counter);
        }
        Ok(())
    }

    /// The same with lanes along the linear index of threads, which wraps round along the axes.
    fn gangs_in_a_line(&mut self, mut geometry: Geometry, full: bool, body: &mut dyn FnMut(&mut Self, Label) -> Res<()>) -> Res<()> {
        let [x, y, z] = geometry.block_dim;
        let plane = self.mul_scalar(x, y);
        let length = self.mul_scalar(plane, z);
        let gang = self.count(Operand::Int(0), length, self.gang.lanes.into());
        let word = self.gang.vector_ty(Elem::I32);
        let linear = self.take(Num::Affine(gang.at, 1), word.with(Elem::I64));
        let linear = self.convert("trunc", linear, word.with(Elem::I64), word);
        let (rows, in_row) = self.thread_division(linear, x, word);
        let (planes, in_plane) = self.thread_division(rows, y, word);
        geometry.thread = [in_row, in_plane, planes].map(|index| Num::Varying(self.convert("zext", index, word, word.with(Elem::I64))));
        self.gang.geometry = Some(geometry);
        self.gang.mask = if full {
            Mask::Full
        } else {
            Mask::Lanes(self.lanes_below(Num::Affine(gang.at, 1), length))
        };
        body(self, gang.next)?;
        self.gang.mask = Mask::Full;
        self.end_count(&gang);
        Ok(())
    }

    /// Quotient and remainder of numbers below 2^10 by one up to 2^10, by multiplication: exact, since `n (m d - 2^20) < 2^20`.
    fn thread_division(&mut self, n: Operand, d: Operand, word: Ty) -> (Operand, Operand) {
        let inverse = self.scalar_int("udiv", Operand::Int(1 << 20), d);
        let inverse = self.add_scalar(inverse, Operand::Int(1));
        let [inverse, d] = [inverse, d].map(|op| {
            let narrow = self.convert("trunc", op, Ty::I64, Ty::I32);
            self.splat(narrow, word)
        });
        let product = self.plain("mul", word, n, inverse);
        let quotient = self.plain("lshr", word, product, Operand::Int(20));
        let back = self.plain("mul", word, quotient, d);
        (quotient, self.plain("sub", word, n, back))
    }
}
