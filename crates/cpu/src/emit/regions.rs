//! Barriers: a kernel is cut into regions, each run for all gangs of the block before the next one starts.

use weft_ir::{Block, StmtKind};

use super::func::Fx;
use super::values::Res;

pub fn has_barrier(block: &Block) -> bool {
    let mut found = false;
    weft_passes::operands::walk(block, &mut |kind| found |= matches!(kind, StmtKind::Barrier));
    found
}

impl Fx<'_, '_> {
    pub fn regions(&mut self, _lane_axis: usize, _full: bool) -> Res<()> {
        self.unsupported("barriers")
    }
}
