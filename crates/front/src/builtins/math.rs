//! `math`: functions of floats that keep the width of strong arguments.

use ruff_python_ast::Operator;
use weft_ir::{BinOp, CmpOp, Op, Scalar, UnOp};

use super::Entry;
use crate::compiler::Res;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::types::{Num, to_float, unify};
use crate::value::{Lit, Val};

/// Functions of one float in the math library, by the name all of `math`, `numpy` and the library share.
pub const UNARY: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log", "log2",
    "log10", "log1p", "cbrt", "erf", "erfc", "gamma", "lgamma",
];

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "pi" => Entry::Float(std::f64::consts::PI),
        "e" => Entry::Float(std::f64::consts::E),
        "tau" => Entry::Float(std::f64::consts::TAU),
        "inf" => Entry::Float(f64::INFINITY),
        "nan" => Entry::Float(f64::NAN),
        "log" => Entry::each(log),
        name if UNARY.contains(&name) => Entry::each(library_unary),
        "sqrt" => Entry::each(sqrt),
        "fabs" => Entry::each(fabs),
        "floor" => Entry::each(floor),
        "ceil" => Entry::each(ceil),
        "trunc" => Entry::each(trunc),
        "isnan" => Entry::each(isnan),
        "isinf" => Entry::each(isinf),
        "isfinite" => Entry::each(isfinite),
        "copysign" => Entry::each(copysign),
        "fmod" => Entry::each(fmod),
        "pow" => Entry::each(pow),
        "atan2" | "hypot" | "ldexp" | "remainder" => Entry::each(library_binary),
        "nextafter" => Entry::each(nextafter),
        "fma" => Entry::each(fma),
        "radians" => Entry::each(radians),
        "degrees" => Entry::each(degrees),
        "modf" => Entry::of(modf),
        "gcd" => Entry::of(gcd),
        _ => return None,
    })
}

/// The last part of a call's name: `sin` of `math.sin`.
pub fn short(call: &Call) -> &str {
    call.name.rsplit('.').next().unwrap_or(&call.name)
}

/// One argument as a float.
fn float_argument(l: &mut Lower<'_>, call: &Call) -> Res<(weft_ir::Value, Num)> {
    let [x] = call.exactly()?;
    real_float(l, x, call)
}

pub fn real_float(l: &mut Lower<'_>, x: &Val, call: &Call) -> Res<(weft_ir::Value, Num)> {
    let Some(num) = x.num().map(to_float) else {
        return Err(l.typing(call.span, format!("{} takes a number, not {}", call.name, x.ty())));
    };
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} takes a real number, not {num}", call.name)));
    }
    Ok((l.number_as(x, num.scalar, call.span)?, num))
}

pub fn library_unary(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, num) = float_argument(l, call)?;
    l.library_call(short(call), &[Val::Num(x, num)], call.span)
}

pub fn library_binary(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, y) = two_floats(l, call)?;
    l.library_call(short(call), &[x, y], call.span)
}

/// The next number towards another. The library knows it of float32 and float64; a 16-bit float's neighbours have neighbouring bits.
pub fn nextafter(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, y) = two_floats(l, call)?;
    match (&x, &y) {
        (Val::Num(from, num), Val::Num(to, _)) if num.scalar.is_half() => {
            Ok(Val::Num(super::half::next_after(l, *from, *to, num.scalar), *num))
        }
        _ => l.library_call("nextafter", &[x, y], call.span),
    }
}

pub fn two_floats(l: &mut Lower<'_>, call: &Call) -> Res<(Val, Val)> {
    let [a, b] = call.exactly()?;
    let (Some(x), Some(y)) = (a.num(), b.num()) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {} and {}", call.name, a.ty(), b.ty())));
    };
    let num = to_float(unify(x, y));
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} takes real numbers", call.name)));
    }
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok((Val::Num(x, num), Val::Num(y, num)))
}

/// `log(x)`, or `log(x, base)`.
fn log(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    if let [x, base] = call.pos.as_slice() {
        let (x, num) = real_float(l, x, call)?;
        let (base, base_num) = real_float(l, base, call)?;
        let x = l.library_call("log", &[Val::Num(x, num)], call.span)?;
        let base = l.library_call("log", &[Val::Num(base, base_num)], call.span)?;
        return l.binary(Operator::Div, &x, &base, call.span);
    }
    library_unary(l, call)
}

pub fn ir_unary(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let (x, num) = float_argument(l, call)?;
    Ok(Val::Num(l.b.unary(op, x), num))
}

fn sqrt(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    ir_unary(l, call, UnOp::Sqrt)
}

fn fabs(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    ir_unary(l, call, UnOp::Abs)
}

/// Rounds to a Python integer.
fn to_int(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let [x] = call.exactly()?;
    if x.num().is_some_and(|n| n.scalar.is_int()) {
        return l.cast(x, Num::INT, call.span);
    }
    let (x, _) = float_argument(l, call)?;
    let rounded = l.b.unary(op, x);
    Ok(Val::Num(l.b.cast(rounded, Scalar::I64), Num::INT))
}

fn floor(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    to_int(l, call, UnOp::Floor)
}

fn ceil(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    to_int(l, call, UnOp::Ceil)
}

fn trunc(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    to_int(l, call, UnOp::Trunc)
}

pub fn test(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let (x, num) = float_argument(l, call)?;
    Ok(Val::Num(l.b.unary(op, x), num.with(Scalar::Bool)))
}

pub fn isnan(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    test(l, call, UnOp::IsNan)
}

pub fn isinf(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    test(l, call, UnOp::IsInf)
}

/// Neither infinite nor NaN: `x - x` is then 0.
pub fn isfinite(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, num) = float_argument(l, call)?;
    let nan = l.b.unary(UnOp::IsNan, x);
    let inf = l.b.unary(UnOp::IsInf, x);
    let either = l.b.binary(BinOp::Or, nan, inf);
    Ok(Val::Num(l.not(either), num.with(Scalar::Bool)))
}

fn ir_binary(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let (x, y) = two_floats(l, call)?;
    match (&x, &y) {
        (Val::Num(a, num), Val::Num(b, _)) => Ok(Val::Num(l.b.binary(op, *a, *b), *num)),
        _ => Ok(x),
    }
}

pub fn copysign(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    ir_binary(l, call, BinOp::CopySign)
}

pub fn fmod(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    ir_binary(l, call, BinOp::Rem)
}

fn pow(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [_, exponent] = call.exactly()?;
    let literal = exponent.const_int().is_some();
    let (x, y) = two_floats(l, call)?;
    let exponent = if literal { exponent.clone() } else { y };
    l.power(&x, &exponent, call.span)
}

fn fma(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b, c] = call.exactly()?;
    let num = to_float(super::python::common_type(l, &[a.clone(), b.clone(), c.clone()], call)?);
    let (x, y) = l.unified(a, b, num, call.span)?;
    let z = l.number_as(c, num.scalar, call.span)?;
    Ok(Val::Num(l.b.emit(num.scalar, Op::Fma(x, y, z)), num))
}

fn scaled(l: &mut Lower<'_>, call: &Call, factor: f64) -> Res<Val> {
    let (x, num) = float_argument(l, call)?;
    l.binary(Operator::Mult, &Val::Num(x, num), &Val::Lit(Lit::float(factor)), call.span)
}

pub fn radians(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    scaled(l, call, std::f64::consts::PI / 180.0)
}

pub fn degrees(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    scaled(l, call, 180.0 / std::f64::consts::PI)
}

/// The fraction and the whole part, both with the argument's sign.
fn modf(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, num) = float_argument(l, call)?;
    let whole = l.b.unary(UnOp::Trunc, x);
    let difference = l.b.binary(BinOp::Sub, x, whole);
    let infinite = l.b.unary(UnOp::IsInf, x);
    let zero = l.zero(num.scalar);
    let fraction = l.b.select(infinite, zero, difference);
    let fraction = l.b.binary(BinOp::CopySign, fraction, x);
    Ok(Val::Tuple(vec![Val::Num(fraction, num), Val::Num(whole, num)]))
}

/// Euclid's algorithm on magnitudes.
fn gcd(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let num = super::python::common_type(l, &[a.clone(), b.clone()], call)?;
    if !num.scalar.is_int() {
        return Err(l.typing(call.span, "gcd takes integers"));
    }
    let (x, y) = l.unified(a, b, num, call.span)?;
    let left = l.b.func.new_local(num.scalar.into(), "");
    let right = l.b.func.new_local(num.scalar.into(), "");
    let (x, y) = (l.b.unary(UnOp::Abs, x), l.b.unary(UnOp::Abs, y));
    l.b.set(left, x);
    l.b.set(right, y);
    l.open_block();
    let y = l.b.get(right);
    let zero = l.zero(num.scalar);
    let done = l.b.compare(CmpOp::Eq, y, zero);
    l.emit_if(done, |l| {
        l.b.push(weft_ir::StmtKind::Break);
        Ok(())
    })?;
    let x = l.b.get(left);
    let rest = l.b.binary(BinOp::Rem, x, y);
    l.b.set(left, y);
    l.b.set(right, rest);
    let body = l.close_block();
    l.b.push(weft_ir::StmtKind::Loop(body));
    Ok(Val::Num(l.b.get(left), num))
}
