//! `weft.intrinsics`: bits of numbers, selections and single instructions, which the math library is written with.

use weft_ir::{BinOp, Op, Scalar, UnOp};

use super::Entry;
use super::math;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::{Num, to_float};
use crate::value::Val;

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "bits" => Entry::of(bits),
        "from_bits" => Entry::of(from_bits),
        "select" => Entry::of(select),
        "fma" => return math::find("fma"),
        "sqrt" => Entry::of(|l, c| math::ir_unary(l, c, UnOp::Sqrt)),
        "floor" => Entry::of(|l, c| math::ir_unary(l, c, UnOp::Floor)),
        "ceil" => Entry::of(|l, c| math::ir_unary(l, c, UnOp::Ceil)),
        "trunc" => Entry::of(|l, c| math::ir_unary(l, c, UnOp::Trunc)),
        "rint" => Entry::of(|l, c| math::ir_unary(l, c, UnOp::Rint)),
        "abs" => Entry::of(super::python::abs),
        "copysign" => Entry::of(math::copysign),
        "isnan" => Entry::of(math::isnan),
        "isinf" => Entry::of(math::isinf),
        "signbit" => Entry::of(|l, c| math::test(l, c, UnOp::SignBit)),
        "min" => Entry::of(|l, c| binary(l, c, BinOp::Min)),
        "max" => Entry::of(|l, c| binary(l, c, BinOp::Max)),
        "clz" => Entry::of(|l, c| integer(l, c, UnOp::Clz)),
        "ctz" => Entry::of(|l, c| integer(l, c, UnOp::Ctz)),
        "local_array" => Entry::of(super::cuda::local_array),
        "popcount" => Entry::of(|l, c| integer(l, c, UnOp::Popcount)),
        _ => return None,
    })
}

/// A float's bits as the signed integer of its width.
fn bits(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let num = x.num().map_or(Num::FLOAT, to_float);
    let to = match num.scalar.size() {
        2 => Scalar::I16,
        4 => Scalar::I32,
        _ => Scalar::I64,
    };
    let value = l.number_as(x, num.scalar, call.span)?;
    Ok(Val::Num(l.b.emit(to, Op::Bitcast(value)), Num::strong(to)))
}

/// The float with an integer's bits: 32 bits give a float32, 64 a float64.
fn from_bits(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().filter(|n| n.scalar.is_int() && n.scalar.size() >= 4) else {
        return Err(l.typing(call.span, format!("from_bits takes a 32- or 64-bit integer, not {}", x.ty())));
    };
    let to = if num.scalar.size() == 4 { Scalar::F32 } else { Scalar::F64 };
    let value = l.number_as(x, num.scalar, call.span)?;
    Ok(Val::Num(l.b.emit(to, Op::Bitcast(value)), Num::strong(to)))
}

/// `a if cond else b`, both computed.
fn select(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [cond, a, b] = call.exactly()?;
    let cond = l.truth_value(cond, call.span)?;
    let num = l.literal_type(super::python::common_type(l, &[a.clone(), b.clone()], call)?, &l.unit.function);
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok(Val::Num(l.b.select(cond, x, y), num))
}

fn binary(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let num = super::python::common_type(l, &[a.clone(), b.clone()], call)?;
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok(Val::Num(l.b.binary(op, x, y), num))
}

pub fn integer(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().filter(|n| n.scalar.is_int()) else {
        return Err(l.typing(call.span, format!("{} takes an integer, not {}", call.name, x.ty())));
    };
    let value = l.number_as(x, num.scalar, call.span)?;
    Ok(Val::Num(l.b.unary(op, value), num))
}
