//! Folds on devices that run kernels only: loops whose points reduce index spaces of their own, and loops with reductions, which are folds of
//! one point. There are four forms, which give the same bits, but for sums of floats in any order (`prange`):
//!
//! - a thread for each point: the loop as it is, whose inner index spaces [`nest`](crate::nest) makes its threads' own;
//! - a block of threads for each point (`block`);
//! - a block of threads for a row of neighbouring points (`columns`);
//! - two kernels for each inner index space, with many blocks for each point (`stages`).
//!
//! `fixed` has the order of what the threads of a block do with inner points that all devices have, `free` the one that suits GPUs.

mod block;
mod columns;
mod count;
mod fixed;
mod free;
mod kernel;
mod shape;
mod shared;
mod single;
mod stages;

use weft_ir::order::Stage;
use weft_ir::{FuncId, Function, Module, Scalar, StmtKind};

use crate::error::PassError;
use crate::nest::ordered;
use crate::{cleanup, contract, inline, legalize, nonneg, structure};
use shape::{Inner, Shape};

pub use single::fold as single;

/// Threads of a block, at the most: what every device has. A multiple of [`FEWEST_THREADS`].
pub const THREADS: u32 = 128;
/// Threads of a block that has a point to itself, at the least.
pub const FEWEST_THREADS: u32 = weft_ir::order::CHAINS as u32;

/// Neighbouring points of a block that has a row of them, and its threads.
pub const COLUMNS: u64 = 16;
pub const COLUMN_THREADS: u32 = 512;

/// A fold whose points many threads can share.
#[derive(Clone, Debug)]
pub struct Fold {
    /// What its kernels are made of.
    module: Module,
    shape: Shape,
}

impl Fold {
    /// Nothing if the module's entry is no such loop. `may_stop`: inner points may raise and print, since the epilogue stores what they give
    /// and does nothing else.
    pub fn find(module: &Module, may_stop: bool) -> Option<Fold> {
        let mut spaces = false;
        let mut see = |kind: &StmtKind| spaces |= matches!(kind, StmtKind::ParFor { .. });
        module.functions.iter().for_each(|func| func.body.walk(&mut see));
        if !spaces {
            return None;
        }
        let mut module = module.clone();
        // What is wrong with the module is said when the loop itself is compiled.
        prepare(&mut module).ok()?;
        let shape = Shape::find(module.entry_function(), may_stop)?;
        Some(Fold { module, shape })
    }

    /// How many inner index spaces there are, one behind the other.
    pub fn phases(&self) -> usize {
        self.shape.inner.len()
    }

    /// Are the inner points what a device should have side by side, rather than the loop's?
    pub fn is_shared_well(&self) -> bool {
        self.shape.is_shared_well(self.module.entry_function())
    }

    /// Are neighbouring points what a block should have beside their inner ones?
    pub fn is_in_columns_well(&self) -> bool {
        self.shape.is_in_columns_well(self.module.entry_function())
    }

    /// The extents of an inner index space in a launch with these arguments. Nothing where the arithmetic of them has no result.
    pub fn extents(&self, phase: usize, args: &[u64]) -> Option<Vec<u64>> {
        let counts = self.shape.inner[phase].counts.iter();
        counts.map(|n| Some(u64::try_from(n.value(args)?).unwrap_or(0))).collect()
    }

    /// What an inner index space of these extents takes in two stages.
    pub fn stage(&self, phase: usize, extents: &[u64]) -> Stage {
        match ordered::shows(self.module.entry_function(), &self.inner(phase).reductions) {
            true => fixed::stage(extents),
            false => free::stage(extents),
        }
    }

    /// What an inner index space reduces.
    pub fn scalars(&self, phase: usize) -> Result<Vec<Scalar>, PassError> {
        let Inner { reductions, span, .. } = self.inner(phase);
        let joins = crate::join::Join::all(self.module.entry_function(), reductions, *span)?;
        Ok(joins.iter().map(|join| join.scalar).collect())
    }

    /// The kernel of a block for each point. Its parameters: those of the loop behind the indices, and the extents (`i64`).
    pub fn block(&self) -> Result<Module, PassError> {
        Ok(self.with(block::kernel(self.module.entry_function(), &self.shape)?))
    }

    /// The kernel of a block for a row of neighbouring points, with the parameters of [`Fold::block`]. Nothing where inner points write, print or
    /// raise.
    pub fn columns(&self) -> Result<Option<Module>, PassError> {
        if !self.shape.may_go_along() {
            return Ok(None);
        }
        Ok(Some(self.with(columns::kernel(self.module.entry_function(), &self.shape)?)))
    }

    /// The kernels of an inner index space for many blocks a point: [`stages`] has their parameters. The second is not needed behind an
    /// index space that reduces nothing, if another one follows. Nothing where the code before an index space may not be done again.
    pub fn stages(&self, phase: usize) -> Result<Option<(Module, Option<Module>)>, PassError> {
        if !self.shape.repeats() {
            return Ok(None);
        }
        let entry = self.module.entry_function();
        let parts = stages::parts(entry, &self.shape, phase)?;
        let joins = !self.inner(phase).reductions.is_empty() || phase + 1 == self.phases();
        let whole = joins.then(|| stages::whole(entry, &self.shape, phase)).transpose()?;
        Ok(Some((self.with(parts), whole.map(|whole| self.with(whole)))))
    }

    fn inner(&self, phase: usize) -> &Inner {
        &self.shape.inner[phase]
    }

    fn with(&self, kernel: Function) -> Module {
        Module {
            sources: self.module.sources.clone(),
            constants: self.module.constants.clone(),
            functions: vec![kernel],
            entry: FuncId(0),
        }
    }
}

/// What has to be done before a loop is taken apart: inner index spaces come to lie in the loop, products fuse as they stand, and indices
/// are judged while extents are in sight.
fn prepare(module: &mut Module) -> Result<(), PassError> {
    legalize::run(module)?;
    contract::run(module)?;
    inline::run(module)?;
    structure::run(module)?;
    cleanup::run(module)?;
    nonneg::run(module)
}
