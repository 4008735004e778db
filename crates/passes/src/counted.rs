//! Counting loops, as passes write them.

use weft_ir::{Builder, StmtKind, Value};

/// `for var in range(start, stop, step)`, of whose body `body` is written.
pub fn counted(b: &mut Builder, var: Value, [start, stop, step]: [Value; 3], body: impl FnOnce(&mut Builder)) {
    b.open();
    body(b);
    let body = b.close();
    b.push(StmtKind::For {
        var,
        start,
        stop,
        step,
        body,
    });
}
