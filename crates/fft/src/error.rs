//! What may be wrong with a transform that is asked for.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No axes are named, one that the array does not have, one twice, or not as many lengths as axes.
    Axes,
    /// A line of no elements.
    Empty,
    /// More elements than memory can have.
    TooLarge,
    /// The memory that the elements are said to be in is not all there.
    Memory,
    /// The result has another number of elements, or of another kind.
    Result,
    /// There is no memory for what lies between.
    OutOfMemory,
    /// The host wants it to stop.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Axes => "the axes of a transform are some of the array's, each once, with a length for each",
            Error::Empty => "a transform has at least one point",
            Error::TooLarge => "the transform is too large",
            Error::Memory => "elements lie outside of their memory",
            Error::Result => "the result of the transform has no place of its size",
            Error::OutOfMemory => "there is no memory for the transform",
            Error::Interrupted => "the transform was interrupted",
        })
    }
}

impl std::error::Error for Error {}
