//! Kernels: the blocks of a grid that a call runs.

use weft_ir::Axis;

use super::control::end_frame;
use super::func::Fx;
use super::gang::Geometry;
use super::values::{Num, Res};
use super::writer::Operand;

impl Fx<'_, '_> {
    /// Runs blocks `begin..end` of the grid.
    pub fn blocks(&mut self, lane_axis: Option<Axis>, full: bool) -> Res<()> {
        let dims: Vec<Operand> = (0..6).map(|i| self.load_extra(i)).collect();
        let linear = self.count(Operand::Arg("begin"), Operand::Arg("end"), 1);
        let (grid_x, grid_y) = (dims[3], dims[4]);
        let x = self.scalar_int("urem", linear.at, grid_x);
        let rest = self.scalar_int("udiv", linear.at, grid_x);
        let y = self.scalar_int("urem", rest, grid_y);
        let z = self.scalar_int("udiv", rest, grid_y);
        self.gang.geometry = Some(Geometry {
            thread: [Num::int(0); 3],
            block: [x, y, z],
            block_dim: [dims[0], dims[1], dims[2]],
            grid_dim: [dims[3], dims[4], dims[5]],
        });
        let lane_axis = lane_axis.map(|axis| axis as usize);
        if super::plan::has_barrier(&self.f.body) {
            self.run_regions(lane_axis, full, linear.next)?;
        } else {
            self.gangs_of_block(lane_axis, full, &mut |fx, next| {
                fx.control.frames.push(end_frame(next));
                fx.forget_locals(|_| false);
                fx.block(fx.body)?;
                fx.control.frames.pop();
                Ok(())
            })?;
        }
        self.end_count(&linear);
        Ok(())
    }
}
