//! `math`: functions of floats that keep the width of strong arguments.

use ruff_python_ast::Operator;
use weft_ir::{BinOp, Kind, Op, Scalar, UnOp};

use super::{Entry, elementary, exact, floats, integers};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::numba;
use crate::stop::Res;
use crate::types::{Num, to_float};
use crate::value::{Lit, Number, Val};

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "pi" => Entry::Float(std::f64::consts::PI),
        "e" => Entry::Float(std::f64::consts::E),
        "tau" => Entry::Float(std::f64::consts::TAU),
        "inf" => Entry::Float(f64::INFINITY),
        "nan" => Entry::Float(f64::NAN),
        "log" => Entry::each(log),
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
        "hypot" => Entry::each(floats::hypot),
        "dist" => Entry::of(floats::dist),
        "prod" => Entry::of(super::through::prod),
        "fma" => Entry::each(fma),
        "radians" => Entry::each(radians),
        "degrees" => Entry::each(degrees),
        _ => {
            return elementary::math(name)
                .or_else(|| floats::math(name))
                .or_else(|| integers::math(name))
                .or_else(|| exact::math(name));
        }
    })
}

/// `weft.math`: functions of numbers that NumPy has no name for.
pub fn weft(name: &str) -> Option<Entry> {
    match name {
        "fma" => find(name),
        _ => elementary::weft(name)
            .or_else(|| floats::weft(name))
            .or_else(|| integers::weft(name)),
    }
}

/// One argument as a float.
fn float_argument(l: &mut Lower<'_>, call: &Call) -> Res<(weft_ir::Value, Num)> {
    let [x] = call.exactly()?;
    real_float(l, x, call)
}

pub fn real_float(l: &mut Lower<'_>, x: &Val, call: &Call) -> Res<(weft_ir::Value, Num)> {
    let Some(num) = x.num().map(|num| l.sized(to_float(num))) else {
        return Err(l.typing(call.span, format!("{} takes a number, not {}", call.name, x.ty())));
    };
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} takes a real number, not {num}", call.name)));
    }
    Ok((l.number_as(x, num.scalar, call.span)?, num))
}

pub fn two_floats(l: &mut Lower<'_>, call: &Call) -> Res<(Val, Val)> {
    let [a, b] = call.exactly()?;
    let (Some(x), Some(y)) = (a.num(), b.num()) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {} and {}", call.name, a.ty(), b.ty())));
    };
    let num = l.sized(to_float(l.unify(x, y)));
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} takes real numbers", call.name)));
    }
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok((Val::Num(x, num), Val::Num(y, num)))
}

/// `log(x)`, or `log(x, base)`.
fn log(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, base] = call.bind(["/x", "/base"], 1)?;
    let (x, num) = real_float(l, &x.unwrap_or(Val::None), call)?;
    let x = l.library_call("log", &[Val::Num(x, num)], call.span)?;
    let Some(base) = base else { return Ok(x) };
    let (base, num) = real_float(l, &base, call)?;
    let base = l.library_call("log", &[Val::Num(base, num)], call.span)?;
    l.binary(Operator::Div, &x, &base, call.span)
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
fn to_int(l: &mut Lower<'_>, call: &Call, op: UnOp, of_constant: fn(f64) -> f64) -> Res<Val> {
    let [x] = call.exactly()?;
    if let Some(v) = x.weak_float() {
        return super::python::whole(l, of_constant(v), call);
    }
    if x.integer_constant().is_some() && x.num().is_some_and(|num| num.weak) {
        return Ok(x.clone());
    }
    if x.num().is_some_and(|n| n.scalar.is_int()) {
        let unsigned = x.num().is_some_and(|n| n.scalar.kind() == Kind::Unsigned);
        let to = if l.numba() && unsigned {
            Num::strong(Scalar::U64)
        } else {
            Num::INT
        };
        return l.cast(x, to, call.span);
    }
    let (x, _) = float_argument(l, call)?;
    let rounded = l.b.unary(op, x);
    Ok(Val::Num(l.b.cast(rounded, Scalar::I64), Num::INT))
}

fn floor(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    to_int(l, call, UnOp::Floor, f64::floor)
}

fn ceil(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    to_int(l, call, UnOp::Ceil, f64::ceil)
}

fn trunc(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    to_int(l, call, UnOp::Trunc, f64::trunc)
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
    let [x, y] = call.exactly()?;
    let small = |v: &Val| v.num().is_some_and(|n| numba::is_small(n.scalar));
    if l.numba_scalars() && small(x) && small(y) {
        let single = Num::strong(Scalar::F32);
        let (x, y) = l.unified(x, y, single, call.span)?;
        return Ok(Val::Num(l.b.binary(BinOp::CopySign, x, y), single));
    }
    ir_binary(l, call, BinOp::CopySign)
}

pub fn fmod(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    ir_binary(l, call, BinOp::Rem)
}

fn pow(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, exponent] = call.exactly()?;
    if l.numba() && x.num().is_some_and(|n| n.scalar == Scalar::F32) && exponent.num().is_some_and(|n| n.scalar.is_int()) {
        // Unlike the operator's, this power of a float32 is a float64.
        let wide = l.cast(x, Num::strong(Scalar::F64), call.span)?;
        return l.power(&wide, exponent, call.span);
    }
    let literal = exponent.const_int().is_some();
    let (x, y) = two_floats(l, call)?;
    let exponent = if literal { exponent.clone() } else { y };
    l.power(&x, &exponent, call.span)
}

fn fma(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b, c] = call.exactly()?;
    let num = super::python::common_type(l, &[a.clone(), b.clone(), c.clone()], call)?;
    let num = l.sized(to_float(num));
    let (x, y) = l.unified(a, b, num, call.span)?;
    let z = l.number_as(c, num.scalar, call.span)?;
    Ok(Val::Num(l.b.emit(num.scalar, Op::Fma(x, y, z)), num))
}

/// A float times a quotient, which is rounded to the float's width, as NumPy has it; 16-bit floats are computed in float32.
fn scaled(l: &mut Lower<'_>, call: &Call, over: f64, under: f64) -> Res<Val> {
    let (x, num) = float_argument(l, call)?;
    let wide = num.with(if num.scalar == Scalar::F64 { Scalar::F64 } else { Scalar::F32 });
    let factor = match wide.scalar {
        Scalar::F64 => over / under,
        _ => f64::from(over as f32 / under as f32),
    };
    let x = l.cast(&Val::Num(x, num), Num::strong(wide.scalar), call.span)?;
    let factor = Val::Lit(Lit {
        num: Num::strong(wide.scalar),
        value: Number::Float(factor),
    });
    let product = l.binary(Operator::Mult, &x, &factor, call.span)?;
    l.cast(&product, num, call.span)
}

pub fn radians(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    scaled(l, call, std::f64::consts::PI, 180.0)
}

pub fn degrees(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    scaled(l, call, 180.0, std::f64::consts::PI)
}
