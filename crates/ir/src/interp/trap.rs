//! Traps: why a run ended early.

use std::fmt;

use crate::module::{ErrorKind, Span};
use crate::types::Layout;

/// A fault and where it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Trap {
    pub fault: Fault,
    pub span: Span,
    /// The span is one of Weft's own library.
    pub(super) in_library: bool,
    /// The function it happened in.
    pub function: String,
    /// Thread x, y, z and block x, y, z, in a kernel.
    pub thread: Option<[i64; 6]>,
    /// The point of the index space, in a `ParFor` or a `Loop` function.
    pub point: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The program raised.
    Raised {
        kind: ErrorKind,
        message: String,
    },
    /// An index outside its axis.
    OutOfBounds {
        array: String,
        index: Vec<i64>,
        shape: Vec<i64>,
    },
    /// An access through a view that reaches outside its buffer, or whose buffer is gone.
    OutsideBuffer {
        array: String,
        index: Vec<i64>,
        shape: Vec<i64>,
    },
    /// Two threads of a block (or two points of a parallel loop) touch the same element between two barriers, and at least one of them
    /// writes without an atomic operation.
    Race {
        array: String,
        index: Vec<i64>,
        shape: Vec<i64>,
        /// The other thread's or point's linear number, where it is known.
        other: Option<u32>,
        /// Did this access write?
        write: bool,
    },
    /// A read of shared, local or freshly allocated memory nothing has written.
    Uninitialised {
        array: String,
        index: Vec<i64>,
        shape: Vec<i64>,
    },
    /// A read of a local nothing has set.
    UnsetLocal {
        name: String,
    },
    /// Threads of a block are at different barriers, or some have ended while others wait.
    BarrierDivergence {
        waiting: u32,
        threads: u32,
    },
    /// A view is not laid out as its type says.
    Layout {
        array: String,
        layout: Layout,
    },
    /// A view cannot have the shape asked for: a negative extent, a slice outside its axis, another number of elements.
    BadView {
        array: String,
        message: String,
    },
    /// Lanes of a warp do not meet as their masks say.
    WarpDivergence {
        mask: u32,
        /// The lanes that wait here with this mask.
        waiting: u32,
    },
    /// Two lanes give tensor cores different matrices.
    UnequalViews {
        array: String,
        lanes: [u32; 2],
    },
    /// A lane waits with a mask that does not name it.
    NotInMask {
        mask: u32,
        lane: u32,
    },
    /// A shuffle reads a lane that takes no part.
    ShuffleSource {
        lane: u32,
    },
    OutOfMemory {
        bytes: u64,
    },
    /// The host asked to stop.
    Interrupted,
    /// Arguments or a launch the entry cannot take.
    Invalid(String),
    /// A defect of the interpreter or the verifier.
    Malformed,
}

impl Trap {
    pub(super) fn new(fault: Fault, span: Span) -> Box<Trap> {
        Box::new(Trap {
            fault,
            span,
            in_library: false,
            function: String::new(),
            thread: None,
            point: Vec::new(),
        })
    }

    pub(super) fn invalid(message: impl Into<String>) -> Box<Trap> {
        Trap::new(Fault::Invalid(message.into()), Span::NONE)
    }

    pub(super) fn malformed() -> Box<Trap> {
        Trap::new(Fault::Malformed, Span::NONE)
    }

    /// The kind of exception the trap becomes.
    pub fn error_kind(&self) -> ErrorKind {
        match &self.fault {
            Fault::Raised { kind, .. } => *kind,
            Fault::OutOfBounds { .. } | Fault::OutsideBuffer { .. } => ErrorKind::Index,
            Fault::OutOfMemory { .. } => ErrorKind::Memory,
            Fault::BadView { .. } | Fault::Invalid(_) | Fault::Layout { .. } => ErrorKind::Value,
            _ => ErrorKind::Assertion,
        }
    }
}

/// `x[1, 2]`
struct Element<'a>(&'a str, &'a [i64]);

impl fmt::Display for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.0, self.1)
    }
}

/// `(1, 2)`, `(1,)`
struct Tuple<'a>(&'a [i64]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<String> = self.0.iter().map(i64::to_string).collect();
        write!(f, "({}{})", items.join(", "), if items.len() == 1 { "," } else { "" })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Raised { message, .. } => f.write_str(message),
            Fault::OutOfBounds { array, index, shape } => {
                write!(f, "index out of bounds: {} of shape {}", Element(array, index), Tuple(shape))
            }
            Fault::OutsideBuffer { array, index, shape } => {
                write!(f, "{} of shape {} lies outside its memory", Element(array, index), Tuple(shape))
            }
            Fault::Race {
                array,
                index,
                other,
                write,
                ..
            } => {
                let verb = if *write { "written" } else { "read" };
                write!(f, "data race: {} is {verb} here and ", Element(array, index))?;
                match other {
                    Some(other) => write!(f, "accessed by thread number {other} with no barrier between"),
                    None => f.write_str("accessed by several other threads with no barrier between"),
                }
            }
            Fault::Uninitialised { array, index, shape } => {
                write!(
                    f,
                    "{} of shape {} is read before anything wrote it",
                    Element(array, index),
                    Tuple(shape)
                )
            }
            Fault::UnsetLocal { name } => write!(f, "variable {name:?} is read before it is set"),
            Fault::BarrierDivergence { waiting, threads } => {
                write!(
                    f,
                    "{waiting} of {threads} threads wait at this barrier; all must reach the same one"
                )
            }
            Fault::WarpDivergence { mask, waiting } => {
                write!(
                    f,
                    "lanes {waiting:#010x} of the warp wait here for the lanes of mask {mask:#010x}, which do not all come"
                )
            }
            Fault::UnequalViews { array, lanes: [a, b] } => {
                write!(
                    f,
                    "lanes {a} and {b} give cuda.mma different views of {array}; all lanes multiply the same matrices"
                )
            }
            Fault::NotInMask { mask, lane } => write!(f, "lane {lane} waits with mask {mask:#010x}, which does not name it"),
            Fault::ShuffleSource { lane } => write!(f, "the shuffle reads lane {lane}, which takes no part in it"),
            Fault::Layout { array, layout } => write!(f, "{array} is not laid out as its type says ({})", layout.name()),
            Fault::BadView { array, message } => write!(f, "{array}: {message}"),
            Fault::OutOfMemory { bytes } => write!(f, "cannot allocate {bytes} bytes"),
            Fault::Interrupted => f.write_str("interrupted"),
            Fault::Invalid(message) => f.write_str(message),
            Fault::Malformed => f.write_str("the interpreter met code that the verifier should have refused"),
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)?;
        if let Some(place) = &self.thread {
            write!(f, " (thread {}, block {})", Tuple(&place[..3]), Tuple(&place[3..]))?;
        }
        if !self.point.is_empty() {
            write!(f, " (point {})", Tuple(&self.point))?;
        }
        Ok(())
    }
}

impl std::error::Error for Trap {}
