//! Loops, conditions and copied statements, as passes write them.

use std::mem;

use weft_ir::{BinOp, Block, Builder, CmpOp, FuncKind, Function, Span, Stmt, StmtKind, Type, Value};

/// Writes statements behind `out`, for a function that the builder has meanwhile; the function is whole again whatever `write` gives.
pub fn written<T>(func: &mut Function, span: Span, out: &mut Vec<Stmt>, write: impl FnOnce(&mut Builder) -> T) -> T {
    let mut b = Builder::new(mem::replace(func, Function::new("", FuncKind::Device)));
    b.span = span;
    let result = write(&mut b);
    out.extend(b.close().0);
    *func = b.func;
    result
}

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

/// The same over several axes, the last one innermost: from 0 on.
pub fn nested(b: &mut Builder, vars: &[Value], stops: &[Value], body: impl FnOnce(&mut Builder)) {
    let (zero, one) = (b.i64(0), b.i64(1));
    vars.iter().for_each(|_| b.open());
    body(b);
    for (var, stop) in vars.iter().zip(stops).rev() {
        let body = b.close();
        b.push(StmtKind::For {
            var: *var,
            start: zero,
            stop: *stop,
            step: one,
            body,
        });
    }
}

/// `left >>= bits` until nothing is left, with what is left each time for the body.
pub fn shifted(b: &mut Builder, from: Value, bits: i64, body: impl FnOnce(&mut Builder, Value)) {
    let left = b.func.new_local(Type::I64, "");
    b.set(left, from);
    b.open();
    let (zero, bits, before) = (b.i64(0), b.i64(bits), b.get(left));
    let now = b.binary(BinOp::Shr, before, bits);
    b.set(left, now);
    let over = b.compare(CmpOp::Eq, now, zero);
    when(b, over, |b| b.push(StmtKind::Break));
    body(b, now);
    let turns = b.close();
    b.push(StmtKind::Loop(turns));
}

pub fn when(b: &mut Builder, cond: Value, then: impl FnOnce(&mut Builder)) {
    b.open();
    then(b);
    let then = b.close();
    let other = Block::default();
    b.push(StmtKind::If { cond, then, other });
}

/// Statements behind what is written so far.
pub fn append(b: &mut Builder, block: Block) {
    let span = b.span;
    for stmt in block.0 {
        b.span = stmt.span;
        b.push(stmt.kind);
    }
    b.span = span;
}
