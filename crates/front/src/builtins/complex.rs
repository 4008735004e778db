//! `cmath`: complex functions that are more than a call of the math library's.

use ruff_python_ast::Operator;
use weft_ir::{BinOp, Op, Scalar, UnOp, Value};

use super::Entry;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::Num;
use crate::value::Val;

use super::python::complex_num;

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "pi" => Entry::Float(std::f64::consts::PI),
        "e" => Entry::Float(std::f64::consts::E),
        "tau" => Entry::Float(std::f64::consts::TAU),
        "inf" => Entry::Float(f64::INFINITY),
        "nan" => Entry::Float(f64::NAN),
        "log" => Entry::each(log),
        "isclose" => Entry::each(super::floats::complex_isclose),
        "phase" => Entry::each(phase),
        "polar" => Entry::of(|l, c| super::floats::pair(l, c, polar)),
        "rect" => Entry::each(super::floats::rect),
        "isnan" => Entry::each(isnan),
        "isinf" => Entry::each(isinf),
        "isfinite" => Entry::each(isfinite),
        _ => return super::elementary::cmath(name),
    })
}

fn argument(l: &mut Lower<'_>, call: &Call) -> Res<(Value, Num)> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().map(|num| complex_num(l, num)) else {
        return Err(l.typing(call.span, format!("{} takes a number, not {}", call.name, x.ty())));
    };
    Ok((l.number_as(x, num.scalar, call.span)?, num))
}

/// `log(z)`, or `log(z, base)`.
fn log(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let one = |l: &mut Lower<'_>, x: &Val| {
        let Some(num) = x.num().map(|num| complex_num(l, num)) else {
            return Err(l.typing(call.span, format!("{} takes a number, not {}", call.name, x.ty())));
        };
        let value = l.number_as(x, num.scalar, call.span)?;
        Ok(Val::Num(l.complex_unary("log", value, num, call.span)?, num))
    };
    let [x, base] = call.bind(["/z", "/base"], 1)?;
    let x = one(l, &x.unwrap_or(Val::None))?;
    let Some(base) = base else { return Ok(x) };
    let base = one(l, &base)?;
    l.binary(Operator::Div, &x, &base, call.span)
}

pub fn phase(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, num) = argument(l, call)?;
    let (re, im) = l.parts(x, num);
    l.library_call("atan2", &[im, re], call.span)
}

fn polar(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, num) = argument(l, call)?;
    let (re, im) = l.parts(x, num);
    let radius = l.library_call("hypot", &[re.clone(), im.clone()], call.span)?;
    let angle = l.library_call("atan2", &[im, re], call.span)?;
    Ok(Val::tuple(vec![radius, angle]))
}

pub fn isnan(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    either(l, call, UnOp::IsNan)
}

pub fn isinf(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    either(l, call, UnOp::IsInf)
}

fn either(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let (x, num) = argument(l, call)?;
    Ok(Val::Num(either_part(l, x, num, op), num.with(Scalar::Bool)))
}

fn either_part(l: &mut Lower<'_>, x: Value, num: Num, op: UnOp) -> Value {
    let part = num.scalar.part();
    let re = l.b.emit(part, Op::Re(x));
    let im = l.b.emit(part, Op::Im(x));
    let (re, im) = (l.b.unary(op, re), l.b.unary(op, im));
    l.b.binary(BinOp::Or, re, im)
}

pub fn isfinite(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, num) = argument(l, call)?;
    let nan = either_part(l, x, num, UnOp::IsNan);
    let inf = either_part(l, x, num, UnOp::IsInf);
    let bad = l.b.binary(BinOp::Or, nan, inf);
    Ok(Val::Num(l.not(bad), num.with(Scalar::Bool)))
}
