//! Counted loops whose threads have different bounds, written out as loops that each thread ends by itself.

use weft_ir::{BinOp, Block, Builder, CmpOp, Const, Op, StmtKind, Type, UnOp, Value};

use crate::statements::{append, when};

/// What a `For` counts.
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

/// Writes the loop of which a thread does `over` instead of the turn after its last one.
pub fn written_out(b: &mut Builder, range: Range, over: Block, body: Block) {
    let (next, more) = (b.func.new_local(Type::I64, "next"), b.func.new_local(Type::BOOL, "more"));
    let yes = b.constant(Const::Bool(true));
    b.set(next, range.start);
    b.set(more, yes);
    b.open();
    b.push(StmtKind::Let(range.var, Op::Get(next)));
    let (at, zero, goes_on) = (range.var, b.i64(0), b.get(more));
    let up = b.compare(CmpOp::Gt, range.step, zero);
    let (below, above) = (b.compare(CmpOp::Lt, at, range.stop), b.compare(CmpOp::Gt, at, range.stop));
    let inside = b.select(up, below, above);
    let goes_on = b.binary(BinOp::And, inside, goes_on);
    let ends = b.unary(UnOp::Not, goes_on);
    when(b, ends, |b| append(b, over));
    // A counter that wraps round has had its last turn.
    let after = b.binary(BinOp::Add, at, range.step);
    let (grew, shrank) = (b.compare(CmpOp::Gt, after, at), b.compare(CmpOp::Lt, after, at));
    let grows = b.select(up, grew, shrank);
    b.set(more, grows);
    b.set(next, after);
    append(b, body);
    let body = b.close();
    b.push(StmtKind::Loop(body));
}
