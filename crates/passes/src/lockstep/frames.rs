//! Reconvergence points: where threads may jump to and wait: the ends of what encloses a statement.

use weft_ir::{Label, StmtKind};

use crate::numbering::StmtId;

/// What `skip` holds in a thread that waits. 0 is for threads that do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub i32);

impl Code {
    pub const HERE: Code = Code(0);
    /// The thread is done.
    pub const ENDED: Code = Code(1);

    /// Behind a loop, a scope, or the first side of an `if`.
    pub fn behind(id: StmtId) -> Code {
        Code(2 + 4 * id.0 as i32)
    }

    /// The next turn of a loop.
    pub fn next(id: StmtId) -> Code {
        Code(3 + 4 * id.0 as i32)
    }

    /// Behind both sides of an `if`.
    pub fn joined(id: StmtId) -> Code {
        Code(4 + 4 * id.0 as i32)
    }

    /// Done but for the exception to be raised at the end.
    pub fn raises(id: StmtId) -> Code {
        Code(5 + 4 * id.0 as i32)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    End,
    After,
    Next(StmtId),
    Scope(Label),
    Side,
}

#[derive(Clone, Debug)]
pub struct Frame {
    pub target: Target,
    pub code: Code,
    /// Threads wait for its end.
    pub used: bool,
    /// Some threads inside went to where its end does not bring them back.
    pub escaped: bool,
    /// What threads were waiting for where all others jumped here.
    pub arriving: Vec<Code>,
}

impl Frame {
    pub fn new(target: Target, code: Code) -> Frame {
        Frame {
            target,
            code,
            used: false,
            escaped: false,
            arriving: Vec::new(),
        }
    }
}

/// The frame a jump leads to, by its position.
pub fn target_of(frames: &[Frame], kind: &StmtKind) -> Option<usize> {
    let leads_to = |frame: &Frame| match (kind, frame.target) {
        (StmtKind::Break, Target::After) | (StmtKind::Continue, Target::Next(_)) => true,
        (StmtKind::Leave(label), Target::Scope(scope)) => *label == scope,
        (StmtKind::Return(_) | StmtKind::Raise { .. }, Target::End) => true,
        _ => false,
    };
    frames.iter().rposition(leads_to)
}
