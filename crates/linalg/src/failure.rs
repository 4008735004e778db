//! What can be wrong with a matrix.

use std::fmt;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An elimination met a column without a pivot.
    Singular,
    /// A leading minor is not positive.
    NotPositiveDefinite,
    /// An iteration did not come to an end, or could not, with infinities or NaN in the matrix.
    NoConvergence,
    /// There is no memory for what is computed on the way.
    OutOfMemory,
    /// The routine is not there for elements of this type.
    Type,
    /// The routine panicked: a defect, of whatever it is.
    Defect,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::Singular => "the matrix is singular",
            Failure::NotPositiveDefinite => "the matrix is not positive definite",
            Failure::NoConvergence => "the iteration did not converge",
            Failure::Type => "there is no such routine for elements of this type",
            Failure::Defect => "a routine of linear algebra panicked",
            Failure::OutOfMemory => "there is no memory for what is computed on the way",
        })
    }
}

impl std::error::Error for Failure {}
