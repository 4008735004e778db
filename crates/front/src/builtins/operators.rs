//! `operator`: Python's operators as functions, so that they can be handed to others.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};

use super::{Entry, python};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::value::Val;

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "add" => Entry::of(|l, c| binary(l, c, Operator::Add)),
        "sub" => Entry::of(|l, c| binary(l, c, Operator::Sub)),
        "mul" => Entry::of(|l, c| binary(l, c, Operator::Mult)),
        "truediv" => Entry::of(|l, c| binary(l, c, Operator::Div)),
        "floordiv" => Entry::of(|l, c| binary(l, c, Operator::FloorDiv)),
        "mod" => Entry::of(|l, c| binary(l, c, Operator::Mod)),
        "pow" => Entry::of(|l, c| binary(l, c, Operator::Pow)),
        "matmul" => Entry::of(|l, c| binary(l, c, Operator::MatMult)),
        "and_" => Entry::of(|l, c| binary(l, c, Operator::BitAnd)),
        "or_" => Entry::of(|l, c| binary(l, c, Operator::BitOr)),
        "xor" => Entry::of(|l, c| binary(l, c, Operator::BitXor)),
        "lshift" => Entry::of(|l, c| binary(l, c, Operator::LShift)),
        "rshift" => Entry::of(|l, c| binary(l, c, Operator::RShift)),
        "lt" => Entry::of(|l, c| comparison(l, c, CmpOp::Lt)),
        "le" => Entry::of(|l, c| comparison(l, c, CmpOp::LtE)),
        "gt" => Entry::of(|l, c| comparison(l, c, CmpOp::Gt)),
        "ge" => Entry::of(|l, c| comparison(l, c, CmpOp::GtE)),
        "eq" => Entry::of(|l, c| comparison(l, c, CmpOp::Eq)),
        "ne" => Entry::of(|l, c| comparison(l, c, CmpOp::NotEq)),
        "is_" => Entry::of(|l, c| comparison(l, c, CmpOp::Is)),
        "is_not" => Entry::of(|l, c| comparison(l, c, CmpOp::IsNot)),
        "contains" => Entry::of(contains),
        "neg" => Entry::of(|l, c| unary(l, c, UnaryOp::USub)),
        "pos" => Entry::of(|l, c| unary(l, c, UnaryOp::UAdd)),
        "invert" | "inv" => Entry::of(|l, c| unary(l, c, UnaryOp::Invert)),
        "not_" => Entry::of(|l, c| unary(l, c, UnaryOp::Not)),
        "truth" => Entry::of(truth),
        "abs" => Entry::each(python::abs),
        _ => return None,
    })
}

fn binary(l: &mut Lower<'_>, call: &Call, op: Operator) -> Res<Val> {
    let [a, b] = call.exactly()?;
    l.binary(op, a, b, call.span)
}

fn comparison(l: &mut Lower<'_>, call: &Call, op: CmpOp) -> Res<Val> {
    let [a, b] = call.exactly()?;
    l.compare(op, a, b, call.span)
}

/// `contains(a, b)` is `b in a`.
fn contains(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.exactly()?;
    l.compare(CmpOp::In, b, a, call.span)
}

fn unary(l: &mut Lower<'_>, call: &Call, op: UnaryOp) -> Res<Val> {
    let [a] = call.exactly()?;
    l.unary(op, a, call.span)
}

fn truth(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    call.exactly::<1>()?;
    python::bool(l, call)
}
