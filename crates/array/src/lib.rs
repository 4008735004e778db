//! What arrays are to kernels: broadcasting, iteration plans, and the loops around scalar functions that make ufuncs.
//!
//! Nothing here knows Python: shapes and strides come in as numbers.

pub mod plan;
pub mod ufunc;

pub use plan::{BroadcastError, Operand, OperandPlan, Plan, broadcast_shapes, plan};
pub use ufunc::{Access, UfuncError, ufunc_loop};
