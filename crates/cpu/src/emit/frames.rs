//! Where control goes: the frames it stands in, and the function's end.

use super::writer::{Label, Operand};

/// Where control goes: what `control` and `iterate` open and close.
pub struct Control {
    /// What control stands in, innermost last.
    pub frames: Vec<Frame>,
    /// The function's end.
    pub exit: Label,
    /// Memory of the `i32` that the function returns.
    pub status: Operand,
    /// A body is being written twice already.
    pub doubled: bool,
    /// What is being written is the second of the two: for gangs that are not whole.
    pub rest: bool,
    /// The last gang of a row is being written, which is not whole.
    pub tail: bool,
}

/// A place where control comes together.
#[derive(Clone, Debug)]
pub struct Frame {
    pub kind: FrameKind,
    /// The lanes that will arrive, where some may be lost on the way.
    pub slot: Option<Operand>,
    /// Lanes may wait here while others run.
    pub waits: bool,
    /// Reached with a lane on.
    pub join: Label,
    /// Reached when no lane runs on; the same as `join` where lanes certainly wait.
    pub check: Label,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The end of an `If`.
    Side,
    /// The next iteration of a loop.
    Next,
    /// The end of a loop.
    After,
    Scope(weft_ir::Label),
    /// The end of the function, or of a region between barriers.
    End,
}

impl Control {
    /// Where control goes when no lane runs on inside the frame at `depth`.
    pub fn outer_check(&self, depth: usize) -> Label {
        self.frames[..depth].iter().rev().find(|f| f.waits).map_or(self.exit, |f| f.check)
    }
}
