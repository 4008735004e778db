//! Linear algebra of dense matrices: products, systems of equations, decompositions, many matrices at a time.
//!
//! A [`Routine`] is what NumPy calls a generalised ufunc: it has a signature in named lengths, and is called with stacks of matrices.
//! Nothing here knows Python, devices or lazy arrays: operands are places in memory with shapes and strides.

mod balance;
mod bidiagonal;
mod bidiagonal_vectors;
mod bidiagonalise;
mod cholesky;
mod eigen;
mod element;
mod failure;
mod householder;
mod lu;
mod operand;
mod products;
mod qr;
mod reflections;
mod routines;
mod run;
mod schur;
mod scratch;
mod signature;
mod small;
mod small_lu;
mod small_svd;
mod svd;
mod triangular_vectors;
mod tridiagonal;
mod tridiagonalise;

pub use element::Dtype;
pub use failure::Failure;
pub use operand::Operand;
pub use routines::Routine;
pub use run::{Alone, Threads, run};
pub use signature::{Form, Kind, Mismatch, Shapes};
