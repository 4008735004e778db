//! Counted loops whose threads have different bounds, written out as loops that each thread ends by itself.

use weft_ir::{Block, Builder, Op, StmtKind, UnOp};

use crate::counting::{Counter, Range};
use crate::statements::{append, when};

/// Writes the loop of which a thread does `over` instead of the turn after its last one.
pub fn written_out(b: &mut Builder, range: Range, over: Block, body: Block) {
    let counter = Counter::new(b);
    counter.start(b, range);
    b.open();
    b.push(StmtKind::Let(range.var, Op::Get(counter.next)));
    let up = range.goes_up(b);
    let goes_on = counter.goes_on(b, range, range.var, up);
    let ends = b.unary(UnOp::Not, goes_on);
    when(b, ends, |b| append(b, over));
    counter.advance(b, range, range.var, up);
    append(b, body);
    let body = b.close();
    b.push(StmtKind::Loop(body));
}
