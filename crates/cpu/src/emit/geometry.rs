//! Thread geometry: where the gang being written stands in its block, and its block in the grid.

use weft_ir::Geometry as Query;

use super::func::Fx;
use super::gang::Geometry;
use super::values::{Num, Res};
use super::writer::{Elem, Operand};

impl Fx<'_, '_> {
    pub fn geometry(&mut self, query: Query) -> Res<Num> {
        let Some(g) = self.gang.geometry else {
            return self.unsupported("thread geometry outside a kernel");
        };
        Ok(match query {
            Query::ThreadIdx(axis) => g.thread[axis as usize],
            Query::BlockIdx(axis) => Num::Uniform(g.block[axis as usize]),
            Query::BlockDim(axis) => Num::Uniform(g.block_dim[axis as usize]),
            Query::GridDim(axis) => Num::Uniform(g.grid_dim[axis as usize]),
            // A warp starts at a multiple of its size.
            Query::LaneId if self.gang.is_warp => Num::Affine(Operand::Int(0), 1),
            Query::LaneId => {
                let linear = self.linear_thread(&g);
                let ty = self.gang.vector_ty(Elem::I64);
                let linear = self.take(linear, ty);
                Num::Varying(self.plain("and", ty, linear, Operand::Int(31)))
            }
        })
    }

    /// The thread's number in its block, x fastest.
    pub fn linear_thread(&mut self, g: &Geometry) -> Num {
        let zy = self.mul(g.thread[2], Num::Uniform(g.block_dim[1]));
        let zy = self.add(zy, g.thread[1]);
        let zyx = self.mul(zy, Num::Uniform(g.block_dim[0]));
        self.add(zyx, g.thread[0])
    }
}
