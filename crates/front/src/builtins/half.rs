//! float16 and bfloat16: `cuda.fp16`, numba-cuda's functions of float16, and what has to know a 16-bit float's bits.

use weft_ir::{BinOp, CmpOp, Const, Op, Scalar, UnOp, Value};

use super::{Entry, order};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::Num;
use crate::value::Val;

const HALF: Num = Num::strong(Scalar::F16);

/// What `cuda.fp16` holds. Functions of the math library and reciprocals are computed in float32 and rounded.
pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "hadd" => Entry::of(|l, c| binary(l, c, BinOp::Add)),
        "hsub" => Entry::of(|l, c| binary(l, c, BinOp::Sub)),
        "hmul" => Entry::of(|l, c| binary(l, c, BinOp::Mul)),
        "hdiv" => Entry::of(|l, c| binary(l, c, BinOp::Div)),
        "hmax" => Entry::of(|l, c| extreme(l, c, BinOp::Max)),
        "hmin" => Entry::of(|l, c| extreme(l, c, BinOp::Min)),
        "hfma" => Entry::of(fma),
        "hneg" => Entry::of(|l, c| unary(l, c, UnOp::Neg)),
        "habs" => Entry::of(|l, c| unary(l, c, UnOp::Abs)),
        "hsqrt" => Entry::of(|l, c| unary(l, c, UnOp::Sqrt)),
        "hceil" => Entry::of(|l, c| unary(l, c, UnOp::Ceil)),
        "hfloor" => Entry::of(|l, c| unary(l, c, UnOp::Floor)),
        "htrunc" => Entry::of(|l, c| unary(l, c, UnOp::Trunc)),
        "hrint" => Entry::of(|l, c| unary(l, c, UnOp::Rint)),
        "hsin" => Entry::of(|l, c| library(l, c, "sin")),
        "hcos" => Entry::of(|l, c| library(l, c, "cos")),
        "htanh" => Entry::of(|l, c| library(l, c, "tanh")),
        "hexp" => Entry::of(|l, c| library(l, c, "exp")),
        "hexp2" => Entry::of(|l, c| library(l, c, "exp2")),
        "hexp10" => Entry::of(|l, c| library(l, c, "exp10")),
        "hlog" => Entry::of(|l, c| library(l, c, "log")),
        "hlog2" => Entry::of(|l, c| library(l, c, "log2")),
        "hlog10" => Entry::of(|l, c| library(l, c, "log10")),
        "hrsqrt" => Entry::of(|l, c| library(l, c, "rsqrt")),
        "hrcp" => Entry::of(reciprocal),
        "heq" => Entry::of(|l, c| compare(l, c, CmpOp::Eq)),
        "hne" => Entry::of(not_equal),
        "hlt" => Entry::of(|l, c| compare(l, c, CmpOp::Lt)),
        "hle" => Entry::of(|l, c| compare(l, c, CmpOp::Le)),
        "hgt" => Entry::of(|l, c| compare(l, c, CmpOp::Gt)),
        "hge" => Entry::of(|l, c| compare(l, c, CmpOp::Ge)),
        _ => return None,
    })
}

fn arguments<const N: usize>(l: &mut Lower<'_>, call: &Call) -> Res<[Value; N]> {
    let mut values = Vec::with_capacity(N);
    for x in call.exactly::<N>()? {
        values.push(l.number_as(x, Scalar::F16, call.span)?);
    }
    Ok(std::array::from_fn(|i| values[i]))
}

fn unary(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let [x] = arguments(l, call)?;
    Ok(Val::Num(l.b.unary(op, x), HALF))
}

fn binary(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let [x, y] = arguments(l, call)?;
    Ok(Val::Num(l.b.binary(op, x, y), HALF))
}

/// A number wins over NaN.
fn extreme(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let [x, y] = arguments::<2>(l, call)?.map(|v| Val::Num(v, HALF));
    order::number_extreme(l, &call.of(vec![x, y]), op)
}

fn fma(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, y, z] = arguments(l, call)?;
    Ok(Val::Num(l.b.emit(Scalar::F16, Op::Fma(x, y, z)), HALF))
}

fn compare(l: &mut Lower<'_>, call: &Call, op: CmpOp) -> Res<Val> {
    let [x, y] = arguments(l, call)?;
    Ok(Val::Num(l.b.compare(op, x, y), Num::strong(Scalar::Bool)))
}

/// CUDA's `__hne` is false where either is NaN.
fn not_equal(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, y] = arguments(l, call)?;
    let (less, more) = (l.b.compare(CmpOp::Lt, x, y), l.b.compare(CmpOp::Gt, x, y));
    Ok(Val::Num(l.b.binary(BinOp::Or, less, more), Num::strong(Scalar::Bool)))
}

fn library(l: &mut Lower<'_>, call: &Call, name: &str) -> Res<Val> {
    let [x] = arguments(l, call)?;
    l.library_call(name, &[Val::Num(x, HALF)], call.span)
}

fn reciprocal(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = arguments(l, call)?;
    let one = l.small(Scalar::F16, 1);
    Ok(Val::Num(l.b.binary(BinOp::Div, one, x), HALF))
}

/// The neighbour of a 16-bit float towards another: one more or one less as an integer, by whether its magnitude grows. Beside zero lies the
/// smallest number of the other's sign.
pub fn next_after(l: &mut Lower<'_>, from: Value, to: Value, s: Scalar) -> Value {
    let word = |l: &mut Lower<'_>, v: i64| l.b.constant(Const::Int(Scalar::I16, v));
    let bits = l.b.emit(Scalar::I16, Op::Bitcast(from));
    let (one, minus_one) = (word(l, 1), word(l, -1));
    let zero = l.zero(s);
    let (positive, up) = (l.b.compare(CmpOp::Gt, from, zero), l.b.compare(CmpOp::Lt, from, to));
    let inwards = l.b.binary(BinOp::Xor, positive, up);
    let step = l.b.select(inwards, minus_one, one);
    let moved = l.b.binary(BinOp::Add, bits, step);
    let moved = l.b.emit(s, Op::Bitcast(moved));
    let least = l.b.emit(s, Op::Bitcast(one));
    let least = l.b.binary(BinOp::CopySign, least, to);
    let is_zero = l.b.compare(CmpOp::Eq, from, zero);
    let next = l.b.select(is_zero, least, moved);
    let equal = l.b.compare(CmpOp::Eq, from, to);
    // Of two zeros NumPy gives the first for float16, ml_dtypes the second, as C does.
    let next = l.b.select(equal, if s == Scalar::F16 { from } else { to }, next);
    let (nan_from, nan_to) = (l.b.unary(UnOp::IsNan, from), l.b.unary(UnOp::IsNan, to));
    let next = l.b.select(nan_to, to, next);
    l.b.select(nan_from, from, next)
}
