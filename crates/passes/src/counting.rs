//! What a `For` counts, and how a thread counts it by itself where bounds differ.

use weft_ir::{BinOp, Block, Builder, CmpOp, Const, Local, StmtKind, Type, Value};

/// A `For`'s index and range.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub var: Value,
    pub start: Value,
    pub stop: Value,
    pub step: Value,
}

impl Range {
    pub fn bounds(&self) -> [Value; 3] {
        [self.start, self.stop, self.step]
    }

    /// Is the step one up?
    pub fn goes_up(&self, b: &mut Builder) -> Value {
        let zero = b.i64(0);
        b.compare(CmpOp::Gt, self.step, zero)
    }

    pub fn counted(self, body: Block) -> StmtKind {
        let Range { var, start, stop, step } = self;
        StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        }
    }
}

/// What a thread counts the turns of a loop in.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The next index.
    pub next: Local,
    /// Whether there may be one: a counter that wraps round has had its last turn.
    more: Local,
}

impl Counter {
    pub fn new(b: &mut Builder) -> Counter {
        Counter {
            next: b.func.new_local(Type::I64, "next"),
            more: b.func.new_local(Type::BOOL, "more"),
        }
    }

    pub fn start(self, b: &mut Builder, range: Range) {
        let yes = b.constant(Const::Bool(true));
        b.set(self.next, range.start);
        b.set(self.more, yes);
    }

    /// Is there a turn with the index `at`? `up` is what [`Range::goes_up`] gave.
    pub fn goes_on(self, b: &mut Builder, range: Range, at: Value, up: Value) -> Value {
        let more = b.get(self.more);
        let (below, above) = (b.compare(CmpOp::Lt, at, range.stop), b.compare(CmpOp::Gt, at, range.stop));
        let inside = b.select(up, below, above);
        b.binary(BinOp::And, inside, more)
    }

    pub fn advance(self, b: &mut Builder, range: Range, at: Value, up: Value) {
        let next = b.binary(BinOp::Add, at, range.step);
        let (grew, shrank) = (b.compare(CmpOp::Gt, next, at), b.compare(CmpOp::Lt, next, at));
        let more = b.select(up, grew, shrank);
        b.set(self.more, more);
        b.set(self.next, next);
    }
}
