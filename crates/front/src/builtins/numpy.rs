//! `numpy`: elementwise functions of numbers and arrays. Their results are NumPy numbers: strong.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};
use weft_ir::{BinOp, Kind, Scalar, Span, UnOp};

use super::arrays;
use super::math::{self, short};
use super::{Entry, Func, python};
use crate::compiler::Res;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::types::{Num, unify};
use crate::value::{Number, Val};

pub fn find(name: &str) -> Option<Entry> {
    if let Some(entry) = arrays::find(name) {
        return Some(entry);
    }
    if let Some(run) = operator(name) {
        return Some(Entry::Func(Func { run, elementwise: true }));
    }
    Some(match name {
        "pi" => Entry::Float(std::f64::consts::PI),
        "e" => Entry::Float(std::f64::consts::E),
        "euler_gamma" => Entry::Float(0.577_215_664_901_532_9),
        "inf" => Entry::Float(f64::INFINITY),
        "nan" => Entry::Float(f64::NAN),
        "bool_" => Entry::Dtype(Scalar::Bool),
        "intp" | "int_" => Entry::Dtype(Scalar::I64),
        "uintp" | "uint" => Entry::Dtype(Scalar::U64),
        "half" => Entry::Dtype(Scalar::F16),
        "single" => Entry::Dtype(Scalar::F32),
        "double" | "float_" => Entry::Dtype(Scalar::F64),
        "abs" | "absolute" => Entry::each(absolute),
        "fabs" => Entry::each(|l, c| strong_ir(l, c, UnOp::Abs)),
        "sqrt" => Entry::each(sqrt),
        "floor" => Entry::each(|l, c| rounding(l, c, UnOp::Floor)),
        "ceil" => Entry::each(|l, c| rounding(l, c, UnOp::Ceil)),
        "trunc" | "fix" => Entry::each(|l, c| rounding(l, c, UnOp::Trunc)),
        "rint" => Entry::each(|l, c| rounding(l, c, UnOp::Rint)),
        "round" | "around" | "round_" => Entry::each(round),
        "square" => Entry::each(square),
        "reciprocal" => Entry::each(reciprocal),
        "sign" => Entry::each(sign),
        "maximum" => Entry::each(|l, c| extreme(l, c, BinOp::Max)),
        "minimum" => Entry::each(|l, c| extreme(l, c, BinOp::Min)),
        "fmax" => Entry::each(|l, c| number_extreme(l, c, BinOp::Max)),
        "fmin" => Entry::each(|l, c| number_extreme(l, c, BinOp::Min)),
        "clip" => Entry::each(clip),
        "where" => Entry::each(choose),
        "isnan" => Entry::each(|l, c| test(l, c, "isnan")),
        "isinf" => Entry::each(|l, c| test(l, c, "isinf")),
        "isfinite" => Entry::each(|l, c| test(l, c, "isfinite")),
        "signbit" => Entry::each(|l, c| strong(l, c, |l, c| math::test(l, c, UnOp::SignBit))),
        "copysign" => Entry::each(|l, c| strong(l, c, math::copysign)),
        "fmod" => Entry::each(fmod),
        "arctan2" | "hypot" => Entry::each(|l, c| strong(l, c, library_binary)),
        "nextafter" => Entry::each(|l, c| strong(l, c, math::nextafter)),
        "deg2rad" | "radians" => Entry::each(|l, c| strong(l, c, math::radians)),
        "rad2deg" | "degrees" => Entry::each(|l, c| strong(l, c, math::degrees)),
        "logical_and" => Entry::each(|l, c| logical(l, c, BinOp::And)),
        "logical_or" => Entry::each(|l, c| logical(l, c, BinOp::Or)),
        "logical_xor" => Entry::each(|l, c| logical(l, c, BinOp::Xor)),
        "logical_not" => Entry::each(logical_not),
        "real" => Entry::each(|l, c| part(l, c, "real")),
        "imag" => Entry::each(|l, c| part(l, c, "imag")),
        "conj" | "conjugate" => Entry::each(|l, c| {
            let val = conjugate(l, c)?;
            no_bool(l, &val, c.span)
        }),
        "angle" => Entry::each(|l, c| strong(l, c, super::complex::phase)),
        name if library_name(name).is_some() => Entry::each(unary),
        "bfloat16" => return None,
        name => return Scalar::from_numpy_name(name).map(Entry::Dtype),
    })
}

/// `f4`, `<i8`, `float`: other spellings of a type's name.
pub fn dtype_code(code: &str) -> Option<Scalar> {
    Some(match code.trim_start_matches(['<', '=', '|']) {
        "?" | "b1" => Scalar::Bool,
        "i1" | "b" => Scalar::I8,
        "i2" | "h" => Scalar::I16,
        "i4" | "i" => Scalar::I32,
        "i8" | "q" | "l" | "int" => Scalar::I64,
        "u1" | "B" => Scalar::U8,
        "u2" | "H" => Scalar::U16,
        "u4" | "I" => Scalar::U32,
        "u8" | "Q" | "L" => Scalar::U64,
        "f2" | "e" => Scalar::F16,
        "f4" | "f" => Scalar::F32,
        "f8" | "d" | "float" => Scalar::F64,
        "c8" | "F" => Scalar::C64,
        "c16" | "D" | "complex" => Scalar::C128,
        _ => return None,
    })
}

/// The library's name of a function of one float.
fn library_name(name: &str) -> Option<&str> {
    let name = match name {
        "arcsin" => "asin",
        "arccos" => "acos",
        "arctan" => "atan",
        "arcsinh" => "asinh",
        "arccosh" => "acosh",
        "arctanh" => "atanh",
        "erf" | "erfc" | "gamma" | "lgamma" => return None,
        other => other,
    };
    math::UNARY.contains(&name).then_some(name)
}

/// Functions that are operators by name.
fn operator(name: &str) -> Option<super::Handler> {
    Some(match name {
        "add" => |l, c| binary(l, c, Operator::Add),
        "subtract" => |l, c| binary(l, c, Operator::Sub),
        "multiply" => |l, c| binary(l, c, Operator::Mult),
        "divide" | "true_divide" => |l, c| binary(l, c, Operator::Div),
        "floor_divide" => |l, c| binary(l, c, Operator::FloorDiv),
        "mod" | "remainder" => |l, c| binary(l, c, Operator::Mod),
        "power" | "float_power" => |l, c| binary(l, c, Operator::Pow),
        "bitwise_and" => |l, c| binary(l, c, Operator::BitAnd),
        "bitwise_or" => |l, c| binary(l, c, Operator::BitOr),
        "bitwise_xor" => |l, c| binary(l, c, Operator::BitXor),
        "left_shift" => |l, c| binary(l, c, Operator::LShift),
        "right_shift" => |l, c| binary(l, c, Operator::RShift),
        "negative" => |l, c| unary_operator(l, c, UnaryOp::USub),
        "positive" => |l, c| unary_operator(l, c, UnaryOp::UAdd),
        "invert" | "bitwise_not" => |l, c| unary_operator(l, c, UnaryOp::Invert),
        "equal" => |l, c| compare(l, c, CmpOp::Eq),
        "not_equal" => |l, c| compare(l, c, CmpOp::NotEq),
        "less" => |l, c| compare(l, c, CmpOp::Lt),
        "less_equal" => |l, c| compare(l, c, CmpOp::LtE),
        "greater" => |l, c| compare(l, c, CmpOp::Gt),
        "greater_equal" => |l, c| compare(l, c, CmpOp::GtE),
        _ => return None,
    })
}

/// The same number as NumPy's: strong.
pub fn strengthen(l: &mut Lower<'_>, val: &Val, span: Span) -> Res<Val> {
    match val.num() {
        Some(num) => l.cast(val, Num::strong(num.scalar), span),
        None => Ok(val.clone()),
    }
}

fn strong(l: &mut Lower<'_>, call: &Call, run: super::Handler) -> Res<Val> {
    let val = run(l, call)?;
    strengthen(l, &val, call.span)
}

fn strong_ir(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let (value, num) = one_float(l, call)?;
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} takes a real number, not {num}", call.name)));
    }
    Ok(Val::Num(l.b.unary(op, value), num))
}

/// NumPy's float for a number: the smallest that holds an 8- or 16-bit integer, else float64.
fn numpy_float(num: Num) -> Num {
    Num::strong(match num.scalar.kind() {
        Kind::Float | Kind::Complex => num.scalar,
        _ if num.scalar.size() == 1 && !num.weak => Scalar::F16,
        _ if num.scalar.size() == 2 && !num.weak => Scalar::F32,
        _ => Scalar::F64,
    })
}

fn one_float(l: &mut Lower<'_>, call: &Call) -> Res<(weft_ir::Value, Num)> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().map(numpy_float) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {}", call.name, x.ty())));
    };
    Ok((l.number_as(x, num.scalar, call.span)?, num))
}

fn unary(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (value, num) = one_float(l, call)?;
    let name = library_name(short(call)).unwrap_or_default();
    if num.scalar.is_complex() {
        return Ok(Val::Num(l.complex_unary(name, value, num, call.span)?, num));
    }
    l.library_call(name, &[Val::Num(value, num)], call.span)
}

fn sqrt(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (value, num) = one_float(l, call)?;
    if num.scalar.is_complex() {
        return Ok(Val::Num(l.complex_unary("sqrt", value, num, call.span)?, num));
    }
    Ok(Val::Num(l.b.unary(UnOp::Sqrt, value), num))
}

fn library_binary(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, y) = math::two_floats(l, call)?;
    let name = match short(call) {
        "arctan2" => "atan2",
        other => other,
    };
    l.library_call(name, &[x, y], call.span)
}

/// Rounds floats and keeps integers as they are.
fn rounding(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let [x] = call.exactly()?;
    if x.num().is_some_and(|n| n.scalar.is_int()) {
        return strengthen(l, x, call.span);
    }
    strong_ir(l, call, op)
}

fn round(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, digits] = call.bind(["a", "decimals"], 1)?;
    rounded(l, &x.unwrap_or(Val::None), digits.as_ref(), call)
}

fn rounded(l: &mut Lower<'_>, x: &Val, digits: Option<&Val>, call: &Call) -> Res<Val> {
    let Some(num) = x.num().map(|n| Num::strong(n.scalar)) else {
        return Err(l.typing(call.span, format!("round does not go with {}", x.ty())));
    };
    if !num.scalar.is_float() && !num.scalar.is_complex() {
        return strengthen(l, x, call.span);
    }
    let value = l.number_as(x, num.scalar, call.span)?;
    if num.scalar.is_complex() {
        let part = num.scalar.part();
        let (re, im) = l.parts(value, num);
        let (re, im) = (rounded(l, &re, digits, call)?, rounded(l, &im, digits, call)?);
        let (re, im) = (l.number_as(&re, part, call.span)?, l.number_as(&im, part, call.span)?);
        return Ok(Val::Num(l.b.emit(num.scalar, weft_ir::Op::Complex(re, im)), num));
    }
    match digits {
        None => Ok(Val::Num(l.b.unary(UnOp::Rint, value), num)),
        Some(d) if d.const_int() == Some(0) => Ok(Val::Num(l.b.unary(UnOp::Rint, value), num)),
        Some(d) => python::round_digits(l, value, num, d, call),
    }
}

fn binary(l: &mut Lower<'_>, call: &Call, op: Operator) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let (a, b) = (a.clone(), b.clone());
    let val = l.binary(op, &a, &b, call.span)?;
    strengthen(l, &val, call.span)
}

fn unary_operator(l: &mut Lower<'_>, call: &Call, op: UnaryOp) -> Res<Val> {
    let [a] = call.exactly()?;
    let val = l.unary(op, a, call.span)?;
    strengthen(l, &val, call.span)
}

fn compare(l: &mut Lower<'_>, call: &Call, op: CmpOp) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let val = l.compare(op, a, b, call.span)?;
    strengthen(l, &val, call.span)
}

/// The magnitude; of a bool the bool itself.
fn absolute(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    if x.num().is_some_and(|n| n.scalar == Scalar::Bool) {
        return strengthen(l, x, call.span);
    }
    strong(l, call, python::abs)
}

/// A number as NumPy's arithmetic functions take it where they have no bools: as an `int8`.
fn no_bool(l: &mut Lower<'_>, x: &Val, span: Span) -> Res<Val> {
    match x.num() {
        Some(num) if num.scalar == Scalar::Bool => l.cast(x, Num::strong(Scalar::I8), span),
        _ => strengthen(l, x, span),
    }
}

fn square(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a] = call.exactly()?;
    let a = &no_bool(l, a, call.span)?;
    let val = l.binary(Operator::Mult, a, a, call.span)?;
    strengthen(l, &val, call.span)
}

fn reciprocal(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (value, num) = one_float(l, call)?;
    let one = l.small(num.scalar, 1);
    Ok(Val::Num(l.b.binary(BinOp::Div, one, value), num))
}

/// -1, 0 or 1; NaN stays NaN.
fn sign(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().map(|n| Num::strong(n.scalar)) else {
        return Err(l.typing(call.span, format!("sign does not go with {}", x.ty())));
    };
    if num.scalar == Scalar::Bool || num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("sign does not go with {num}")));
    }
    let value = l.number_as(x, num.scalar, call.span)?;
    let zero = l.zero(num.scalar);
    let one = l.small(num.scalar, 1);
    let above = l.b.compare(weft_ir::CmpOp::Gt, value, zero);
    let below = l.b.compare(weft_ir::CmpOp::Lt, value, zero);
    // Neither above nor below: zero or NaN, which is the value itself.
    let mut result = l.b.select(above, one, value);
    if num.scalar.kind() != Kind::Unsigned {
        let minus = l.b.unary(UnOp::Neg, one);
        result = l.b.select(below, minus, result);
    }
    Ok(Val::Num(result, num))
}

fn two_numbers(l: &mut Lower<'_>, call: &Call) -> Res<(weft_ir::Value, weft_ir::Value, Num)> {
    let [a, b] = call.exactly()?;
    let (Some(x), Some(y)) = (a.num(), b.num()) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {} and {}", call.name, a.ty(), b.ty())));
    };
    let num = unify(x, y);
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, "complex numbers have no order"));
    }
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok((x, y, Num::strong(num.scalar)))
}

/// `maximum` and `minimum`: a NaN wins.
fn extreme(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let (x, y, num) = two_numbers(l, call)?;
    Ok(Val::Num(l.b.binary(op, x, y), num))
}

/// `fmax` and `fmin`: a number wins over NaN.
pub fn number_extreme(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let (x, y, num) = two_numbers(l, call)?;
    let best = l.b.binary(op, x, y);
    if !num.scalar.is_float() {
        return Ok(Val::Num(best, num));
    }
    let (x_nan, y_nan) = (l.b.unary(UnOp::IsNan, x), l.b.unary(UnOp::IsNan, y));
    let best = l.b.select(y_nan, x, best);
    Ok(Val::Num(l.b.select(x_nan, y, best), num))
}

fn clip(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, low, high] = call.exactly()?;
    let mut result = x.clone();
    for (bound, op) in [(low, BinOp::Max), (high, BinOp::Min)] {
        if matches!(bound, Val::None) {
            continue;
        }
        let pair = Call {
            name: call.name.clone(),
            pos: vec![result, bound.clone()],
            kw: Vec::new(),
            span: call.span,
        };
        result = extreme(l, &pair, op)?;
    }
    strengthen(l, &result, call.span)
}

/// `where(cond, a, b)`.
fn choose(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [cond, a, b] = call.exactly()?;
    let cond = l.truth_value(cond, call.span)?;
    let num = python::common_type(l, &[a.clone(), b.clone()], call)?;
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok(Val::Num(l.b.select(cond, x, y), Num::strong(num.scalar)))
}

fn test(l: &mut Lower<'_>, call: &Call, name: &str) -> Res<Val> {
    let [x] = call.exactly()?;
    let module = if x.num().is_some_and(|n| n.scalar.is_complex()) {
        "cmath"
    } else {
        "math"
    };
    let val = l.known_call(&format!("{module}.{name}"), call)?;
    strengthen(l, &val, call.span)
}

fn fmod(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, y, num) = two_numbers(l, call)?;
    Ok(Val::Num(l.b.binary(BinOp::Rem, x, y), num))
}

fn logical(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let (x, y) = (l.truth_value(a, call.span)?, l.truth_value(b, call.span)?);
    Ok(Val::Num(l.b.binary(op, x, y), Num::strong(Scalar::Bool)))
}

fn logical_not(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a] = call.exactly()?;
    let value = l.truth_value(a, call.span)?;
    Ok(Val::Num(l.not(value), Num::strong(Scalar::Bool)))
}

fn part(l: &mut Lower<'_>, call: &Call, name: &str) -> Res<Val> {
    let [x] = call.exactly()?;
    let val = l.attribute(x.clone(), name, call.span)?;
    strengthen(l, &val, call.span)
}

pub fn conjugate(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = x.num() else {
        return Err(l.typing(call.span, format!("conjugate does not go with {}", x.ty())));
    };
    if !num.scalar.is_complex() {
        return l.unary(UnaryOp::UAdd, x, call.span);
    }
    let value = l.number_as(x, num.scalar, call.span)?;
    Ok(Val::Num(l.b.unary(UnOp::Conj, value), num))
}

/// A constant of a number's type at an end of its range, for reductions.
pub fn extreme_constant(s: Scalar, most: bool) -> Number {
    match s.kind() {
        Kind::Bool => Number::Bool(most),
        Kind::Float | Kind::Complex => Number::Float(if most { f64::INFINITY } else { f64::NEG_INFINITY }),
        Kind::Signed | Kind::Unsigned => {
            let (low, high) = crate::value::int_range(s);
            Number::Int(if most { high } else { low })
        }
    }
}
