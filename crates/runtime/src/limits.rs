//! Limits: what launches may ask of a device.

use weft_ir::{Block, Function, Module, Op, Space, Span, StmtKind};

use crate::{CompileError, GridShape, RunError};

/// Threads of a block that `plan_forall` makes, and the multiple that its last axis is of.
const FORALL_BLOCK: u64 = 256;
const WARP: u64 = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub threads_per_block: u32,
    /// Threads of a block and blocks of a grid along each axis.
    pub block: [u32; 3],
    pub grid: [u32; 3],
    /// Shared memory of a block, in bytes: without asking, and at the most.
    pub shared_bytes: u32,
    pub shared_bytes_optin: u32,
    pub warp_size: u32,
    pub multiprocessors: u32,
    pub threads_per_multiprocessor: u32,
    pub registers_per_block: u32,
    /// Major and minor; (0, 0) where there is no such thing.
    pub compute_capability: (u32, u32),
    /// Can all blocks of a grid be made to run at the same time?
    pub cooperative: bool,
    /// It computes in float64. Elsewhere Python's floats are float32 in kernels, and float64 that was asked for is refused.
    pub float64: bool,
    /// It computes in 64-bit integers. Elsewhere Python's integers are held in 32 bits where that is enough.
    pub int64: bool,
}

impl Limits {
    /// CUDA's, which every device keeps so that a kernel launches everywhere or nowhere.
    pub const COMMON: Limits = Limits {
        threads_per_block: 1024,
        block: [1024, 1024, 64],
        grid: [i32::MAX as u32, 65535, 65535],
        shared_bytes: 48 << 10,
        shared_bytes_optin: 48 << 10,
        warp_size: 32,
        multiprocessors: 1,
        threads_per_multiprocessor: 1024,
        registers_per_block: 65536,
        compute_capability: (0, 0),
        cooperative: false,
        float64: true,
        int64: true,
    };

    /// Refuses more shared arrays than a block has memory for without asking: `Limits::COMMON` on every device.
    pub fn check_shared_arrays(module: &Module) -> Result<(), CompileError> {
        Limits::COMMON.check_own_shared_arrays(module)
    }

    /// Refuses more shared arrays than a block has memory for here without asking.
    pub fn check_own_shared_arrays(&self, module: &Module) -> Result<(), CompileError> {
        let most = u64::from(self.shared_bytes);
        let function = module.entry_function();
        let total = array_bytes(function, Space::Shared);
        if total <= most {
            return Ok(());
        }
        let mut span = Span::NONE;
        find_shared(&function.body, function, &mut span);
        Err(CompileError::Unsupported {
            message: format!("the kernel wants {total} bytes of shared memory; a block has {most}"),
            span,
        })
    }

    /// Refuses more shared memory, static and dynamic together, than a block can have.
    pub fn check_shared(&self, fixed: u64, dynamic: u32) -> Result<(), RunError> {
        let (wanted, most) = (fixed + u64::from(dynamic), self.shared_bytes_optin);
        if wanted <= u64::from(most) {
            return Ok(());
        }
        Err(RunError::Invalid(format!(
            "a block may have {most} bytes of shared memory: got {wanted}, {dynamic} of them dynamic"
        )))
    }

    /// Threads of a block and blocks of the grid, if a launch of the kernel may have them.
    pub fn check(&self, kernel: &Function, shape: GridShape) -> Result<(u64, u64), RunError> {
        let volume = |n: [u32; 3]| n.iter().map(|&x| u64::from(x)).fold(1u64, u64::saturating_mul);
        let (threads, blocks) = (volume(shape.block), volume(shape.grid));
        let text = |n: [u32; 3]| format!("({}, {}, {})", n[0], n[1], n[2]);
        if threads == 0 || blocks == 0 {
            return Err(RunError::Invalid(format!(
                "a grid and its blocks must have at least one thread along every axis: got {} blocks of {} threads",
                text(shape.grid),
                text(shape.block)
            )));
        }
        if threads > u64::from(self.threads_per_block) {
            return Err(RunError::Invalid(format!(
                "a block may have {} threads: got {}, that is {threads}{}",
                self.threads_per_block,
                text(shape.block),
                self.fewer()
            )));
        }
        let bound = u64::from(kernel.flags.max_threads);
        if bound > 0 && threads > bound {
            return Err(RunError::Invalid(format!(
                "the launch bounds of {} allow blocks of {bound} threads: got {threads}",
                kernel.name
            )));
        }
        within("block", shape.block, self.block)?;
        within("grid", shape.grid, self.grid)?;
        if i64::try_from(blocks).is_err() {
            return Err(RunError::Invalid(format!("the grid {} has too many blocks", text(shape.grid))));
        }
        Ok((threads, blocks))
    }

    /// What to do about blocks that fit most devices but not this one.
    fn fewer(&self) -> &'static str {
        match self.threads_per_block < Limits::COMMON.threads_per_block {
            true => ": launch more and smaller blocks, or with .forall(shape), which fits them to the device",
            false => "",
        }
    }

    /// Block and grid dimensions of a GPU for one thread per point. The last axis of the shape gets the threads of warps, since it is the
    /// one along which elements are neighbours.
    pub fn plan_forall(&self, shape: &[u64]) -> GridShape {
        let mut block = [1; 3];
        let mut grid = [1; 3];
        let mut left = FORALL_BLOCK.min(u64::from(self.threads_per_block)).max(1);
        for (axis, &extent) in shape.iter().enumerate().take(3).rev() {
            // A row shorter than a warp leaves threads for the axis before it.
            let wanted = if axis + 1 == shape.len().min(3) && extent > WARP {
                extent.next_multiple_of(WARP)
            } else {
                extent.next_power_of_two()
            };
            let threads = wanted.clamp(1, left.min(u64::from(self.block[axis])));
            left = (left / threads).max(1);
            block[axis] = threads as u32;
            grid[axis] = u32::try_from(extent.div_ceil(threads)).unwrap_or(u32::MAX);
        }
        GridShape { block, grid }
    }
}

/// What a function's arrays in one kind of memory take.
pub fn array_bytes(function: &Function, space: Space) -> u64 {
    let arrays = function.arrays.iter().filter(|array| array.space == space);
    let bytes = arrays.map(|array| array.shape.iter().fold(array.elem.size() as u64, |n, &axis| n.saturating_mul(axis)));
    bytes.fold(0, u64::saturating_add)
}

fn within(what: &str, size: [u32; 3], most: [u32; 3]) -> Result<(), RunError> {
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        if size[axis] > most[axis] {
            return Err(RunError::Invalid(format!(
                "{what} size {} along {name} is over the limit of {}",
                size[axis], most[axis]
            )));
        }
    }
    Ok(())
}

/// The place of the last shared array, at which the limit is passed.
fn find_shared(block: &Block, function: &Function, span: &mut Span) {
    for stmt in &block.0 {
        match &stmt.kind {
            StmtKind::Let(_, Op::Array(id)) if function.arrays[id.index()].space == Space::Shared => *span = stmt.span,
            StmtKind::If { then, other, .. } => {
                find_shared(then, function, span);
                find_shared(other, function, span);
            }
            StmtKind::Loop(body) | StmtKind::For { body, .. } | StmtKind::Scope(_, body) => find_shared(body, function, span),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forall_covers_every_point() {
        for shape in [&[1u64][..], &[1000], &[3, 5], &[2500, 2500], &[4, 5, 600], &[7, 1], &[1000, 3]] {
            let plan = Limits::COMMON.plan_forall(shape);
            for (axis, &extent) in shape.iter().enumerate() {
                assert!(u64::from(plan.block[axis]) * u64::from(plan.grid[axis]) >= extent);
                assert!(plan.block[axis] <= Limits::COMMON.block[axis]);
            }
            assert!(plan.block.iter().product::<u32>() <= 256, "{plan:?}");
        }
        assert_eq!(Limits::COMMON.plan_forall(&[10, 1000]).block, [1, 256, 1]);
        assert_eq!(Limits::COMMON.plan_forall(&[1000, 16]).block, [16, 16, 1]);
        assert_eq!(Limits::COMMON.plan_forall(&[100, 100, 100]).block, [1, 4, 64]);
        let small = Limits {
            threads_per_block: 128,
            ..Limits::COMMON
        };
        assert_eq!(small.plan_forall(&[10, 1000]).block, [1, 128, 1]);
    }
}
