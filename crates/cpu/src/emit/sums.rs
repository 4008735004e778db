//! Partial results of an index space's reductions: what is kept of them while its points are run.

use weft_ir::{Local, Reduction, Scalar};

use super::writer::Operand;

/// Reductions of an index space: what `reductions` and `fixed` start and end.
#[derive(Default)]
pub struct Sums {
    /// Sums of floats across gangs, as doubles: the reduction's local and the memory of one double a lane.
    pub totals: Vec<(Local, Operand)>,
    /// Those of a fixed order.
    pub fixed: Fixed,
}

/// What a function keeps of its reductions of a fixed order.
#[derive(Clone, Debug, Default)]
pub struct Fixed {
    pub sums: Vec<FixedSum>,
    /// Rows of a block, and the count of those in it so far, where the index space has rows.
    pub rows: Option<(Operand, Operand)>,
}

#[derive(Clone, Copy, Debug)]
pub struct FixedSum {
    pub reduction: Reduction,
    pub scalar: Scalar,
    /// Memory of all chains, and of the blocks' sum so far.
    pub chains: Operand,
    pub sum: Operand,
}
