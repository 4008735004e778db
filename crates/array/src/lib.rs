//! Arrays for kernels: deferred expressions, broadcasting, folds, iteration plans, and the loop nests around scalar functions.
//!
//! Nothing here knows Python: shapes and strides come in as numbers or as values of the IR.

pub mod expr;
pub mod fold;
pub mod kernel;
pub mod loops;
pub mod plan;
pub mod scalar;
pub mod ufunc;

pub use expr::{Expr, Leaf, Nodes};
pub use fold::{AlongAxes, Axes, Fold, Space, State, fold_axes};
pub use kernel::{FoldKernel, FoldState, Input, Kind, Pass, Stores, fold_loop};
pub use loops::{Emit, Walk, at_every_point};
pub use plan::{BroadcastError, Operand, OperandPlan, Plan, broadcast_shapes, layout, plan};
pub use scalar::{Mark, ScalarFn};
pub use ufunc::{Access, UfuncError, map_loop, ufunc_loop};
