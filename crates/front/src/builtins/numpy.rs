//! `numpy`: element-wise functions and ufuncs of numbers and arrays. Their results are NumPy numbers: strong.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};
use weft_ir::{BinOp, Const, Kind, Op, ReduceOp, Scalar, Span, UnOp, Value, eval};

use super::arrays;
use super::loops::Ufunc;
use super::{Applied, Code, Does, Entry, Func, Handler, Joins, classes, complex, elementary, floats, integers, loops, math, order, python};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::{Num, to_float, unify};
use crate::value::{Lit, Number, Val};

pub fn find(name: &str) -> Option<Entry> {
    let Some(entry) = known(name) else { return Entry::text(name) };
    Some(match (entry, loops::find(name)) {
        (Entry::Func(Func { does: Does::Run(run), .. }), Some(ufunc)) => Entry::Func(Func {
            does: Does::Ufunc(run, ufunc),
            applied: if ufunc.is_pair() { Applied::Whole } else { Applied::Elements },
        }),
        (Entry::Func(func), _) => Entry::Func(func.of_numpy()),
        (entry, _) => entry,
    })
}

/// A ufunc of numbers: these are converted to the types of the loop that NumPy takes, and the results to what it gives.
pub fn ufunc(l: &mut Lower<'_>, call: &Call, run: Handler, ufunc: Ufunc) -> Res<Val> {
    let given = call.any_number()?;
    let Some(nums) = given.iter().map(Val::num).collect::<Option<Vec<_>>>() else {
        let types: Vec<_> = given.iter().map(|v| v.ty().to_string()).collect();
        return Err(l.typing(call.span, format!("{} takes numbers, not {}", call.name, types.join(" and "))));
    };
    let Some(mut found) = l.loop_of(ufunc, &nums) else {
        let types: Vec<_> = nums.iter().map(Num::to_string).collect();
        return Err(l.typing(call.span, format!("{} does not go with {}", call.name, types.join(" and "))));
    };
    // A float64 that only Python's numbers ask for.
    let of_floats = |n: &Num| n.scalar.is_float() || n.scalar.is_complex();
    let asked = nums.iter().any(|n| !n.weak && of_floats(n) && n.scalar.part().size() == 8);
    if !asked && (nums.iter().all(|n| n.weak) || nums.iter().any(|n| n.weak && of_floats(n))) {
        for scalar in found.operands.iter_mut().chain(&mut found.results) {
            *scalar = l.sized(Num::weak(*scalar)).scalar;
        }
    }
    let span = call.span;
    let pos = operands(l, given, &found.operands, span)?;
    let val = l.by_elements(|l| run.run(l, &call.of(pos)))?;
    let strong = |l: &mut Lower<'_>, (val, to): (&Val, &Scalar)| l.cast(val, Num::strong(*to), span);
    match val {
        Val::Tuple(items) => Ok(Val::Tuple(
            items.iter().zip(&found.results).map(|pair| strong(l, pair)).collect::<Res<_>>()?,
        )),
        val => strong(l, (&val, &found.results[0])),
    }
}

/// A ufunc's operands in the types of its loop. A literal beside other operands stays one, since what is known of it saves work.
fn operands(l: &mut Lower<'_>, given: &[Val], types: &[Scalar], span: Span) -> Res<Vec<Val>> {
    let others = given.iter().any(|v| v.lit().is_none());
    let mut operands = Vec::with_capacity(types.len());
    for (val, to) in given.iter().zip(types) {
        let cast = l.cast(val, Num::strong(*to), span)?;
        let kept = others && val.lit().is_some_and(|lit| unify(lit.num, Num::strong(*to)) == Num::strong(*to));
        operands.push(if kept { val.clone() } else { cast });
    }
    Ok(operands)
}

/// What a name stands for; a ufunc's handler is given numbers of the types that its loop takes.
fn known(name: &str) -> Option<Entry> {
    if let Some(entry) = arrays::find(name) {
        return Some(entry);
    }
    if let Some(run) = operator(name) {
        return Some(Entry::each(run));
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
        "abs" | "absolute" => Entry::each(python::abs),
        "fabs" => Entry::each(|l, c| strong_ir(l, c, UnOp::Abs)),
        "sqrt" => Entry::each(sqrt),
        "floor" => Entry::each(|l, c| rounding(l, c, UnOp::Floor)),
        "ceil" => Entry::each(|l, c| rounding(l, c, UnOp::Ceil)),
        "trunc" => Entry::each(|l, c| rounding(l, c, UnOp::Trunc)),
        "fix" => Entry::each(|l, c| {
            let [x] = c.all(["x"])?;
            rounding(l, &c.of(vec![x]), UnOp::Trunc)
        }),
        "rint" => Entry::each(rint),
        "round" | "around" | "round_" => Entry::of(super::round::numpy),
        "square" => Entry::each(square),
        "reciprocal" => Entry::each(reciprocal),
        "sign" => Entry::each(order::sign),
        "maximum" => Entry::each_joining(Joins::of(ReduceOp::Max, [false, false]), |l, c| order::extreme(l, c, BinOp::Max)),
        "minimum" => Entry::each_joining(Joins::of(ReduceOp::Min, [false, false]), |l, c| order::extreme(l, c, BinOp::Min)),
        "fmax" => Entry::each_joining(Joins::of(ReduceOp::Max, [true, true]), |l, c| {
            order::number_extreme(l, c, BinOp::Max)
        }),
        "fmin" => Entry::each_joining(Joins::of(ReduceOp::Min, [true, true]), |l, c| {
            order::number_extreme(l, c, BinOp::Min)
        }),
        "clip" => Entry::of(order::clip),
        "where" => Entry::of(where_),
        "isnan" => Entry::each(|l, c| test(l, c, math::isnan, complex::isnan)),
        "isinf" => Entry::each(|l, c| test(l, c, math::isinf, complex::isinf)),
        "isfinite" => Entry::each(|l, c| test(l, c, math::isfinite, complex::isfinite)),
        "signbit" => Entry::each(|l, c| math::test(l, c, UnOp::SignBit)),
        "copysign" => Entry::each(math::copysign),
        "fmod" => Entry::each(fmod),
        "float_power" => Entry::each(float_power),
        "deg2rad" | "radians" => Entry::each(math::radians),
        "rad2deg" | "degrees" => Entry::each(math::degrees),
        "logical_and" => Entry::each(|l, c| logical(l, c, BinOp::And)),
        "logical_or" => Entry::each(|l, c| logical(l, c, BinOp::Or)),
        "logical_xor" => Entry::each(|l, c| logical(l, c, BinOp::Xor)),
        "logical_not" => Entry::each(logical_not),
        "real" => Entry::of(|l, c| part(l, c, "real")),
        "imag" => Entry::of(|l, c| part(l, c, "imag")),
        "conj" | "conjugate" => Entry::each(conjugate),
        "angle" => Entry::each(angle),
        "isneginf" => Entry::each(|l, c| infinite(l, c, weft_ir::CmpOp::Lt)),
        "isposinf" => Entry::each(|l, c| infinite(l, c, weft_ir::CmpOp::Gt)),
        "nan_to_num" => Entry::each(nan_to_num),
        "result_type" => Entry::of(super::language::result_type),
        "can_cast" => Entry::of(super::language::can_cast),
        "bfloat16" => return None,
        name => {
            return elementary::numpy(name)
                .or_else(|| floats::numpy(name))
                .or_else(|| integers::numpy(name))
                .or_else(|| classes::numpy(name))
                .or_else(|| Scalar::from_numpy_name(name).map(Entry::Dtype));
        }
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

/// Functions that are operators by name.
fn operator(name: &str) -> Option<Code> {
    Some(match name {
        "add" => |l, c| binary(l, c, Operator::Add),
        "subtract" => |l, c| binary(l, c, Operator::Sub),
        "multiply" => |l, c| binary(l, c, Operator::Mult),
        "divide" | "true_divide" => |l, c| binary(l, c, Operator::Div),
        "floor_divide" => |l, c| binary(l, c, Operator::FloorDiv),
        "mod" | "remainder" => |l, c| binary(l, c, Operator::Mod),
        "power" => |l, c| binary(l, c, Operator::Pow),
        "bitwise_and" => |l, c| binary(l, c, Operator::BitAnd),
        "bitwise_or" => |l, c| binary(l, c, Operator::BitOr),
        "bitwise_xor" => |l, c| binary(l, c, Operator::BitXor),
        "left_shift" => |l, c| binary(l, c, Operator::LShift),
        "right_shift" => |l, c| binary(l, c, Operator::RShift),
        "negative" => |l, c| unary_operator(l, c, UnaryOp::USub),
        "positive" => |l, c| unary_operator(l, c, UnaryOp::UAdd),
        "invert" | "bitwise_not" => |l, c| unary_operator(l, c, UnaryOp::Invert),
        "equal" => |l, c| order::compare(l, c, CmpOp::Eq),
        "not_equal" => |l, c| order::compare(l, c, CmpOp::NotEq),
        "less" => |l, c| order::compare(l, c, CmpOp::Lt),
        "less_equal" => |l, c| order::compare(l, c, CmpOp::LtE),
        "greater" => |l, c| order::compare(l, c, CmpOp::Gt),
        "greater_equal" => |l, c| order::compare(l, c, CmpOp::GtE),
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

fn strong_ir(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let (value, num) = one_float(l, call)?;
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} takes a real number, not {num}", call.name)));
    }
    Ok(Val::Num(l.b.unary(op, value), num))
}

/// The strong float that functions compute in which are no ufuncs: float64 for integers, however small.
pub fn strong_float(l: &Lower<'_>, num: Num) -> Num {
    Num::strong(l.sized(to_float(num)).scalar)
}

fn one_float(l: &mut Lower<'_>, call: &Call) -> Res<(Value, Num)> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().map(|num| strong_float(l, num)) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {}", call.name, x.ty())));
    };
    Ok((l.number_as(x, num.scalar, call.span)?, num))
}

fn sqrt(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (value, num) = one_float(l, call)?;
    if num.scalar.is_complex() {
        return Ok(Val::Num(l.complex_unary("sqrt", value, num, call.span)?, num));
    }
    Ok(Val::Num(l.b.unary(UnOp::Sqrt, value), num))
}

/// Rounds floats and keeps integers and bools as they are.
fn rounding(l: &mut Lower<'_>, call: &Call, op: UnOp) -> Res<Val> {
    let [x] = call.exactly()?;
    if x.num().is_some_and(|n| n.scalar.is_int() || n.scalar == Scalar::Bool) {
        return strengthen(l, x, call.span);
    }
    strong_ir(l, call, op)
}

fn binary(l: &mut Lower<'_>, call: &Call, op: Operator) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let (a, b) = (a.clone(), b.clone());
    l.binary(op, &a, &b, call.span)
}

fn unary_operator(l: &mut Lower<'_>, call: &Call, op: UnaryOp) -> Res<Val> {
    let [a] = call.exactly()?;
    l.unary(op, a, call.span)
}

fn square(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a] = call.exactly()?;
    l.binary(Operator::Mult, a, a, call.span)
}

/// `where(cond, a, b)`, element by element; `where(cond)` is `nonzero(cond)`.
fn where_(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    match call.any_number()? {
        [condition] => l.text_call("nonzero", &call.of(vec![condition.clone()])),
        _ => l.map_elements(choose, call),
    }
}

/// One over a number; of integers the whole part. Zero gives what infinity becomes as that integer.
fn reciprocal(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let num = x.num().unwrap_or(Num::FLOAT);
    let value = l.number_as(x, num.scalar, call.span)?;
    if num.scalar.is_complex() {
        return complex_reciprocal(l, value, num);
    }
    let one = l.small(num.scalar, 1);
    if num.scalar.is_float() {
        return Ok(Val::Num(l.b.binary(BinOp::Div, one, value), num));
    }
    let zero = l.zero(num.scalar);
    let size = l.b.unary(UnOp::Abs, value);
    let unit = l.b.compare(weft_ir::CmpOp::Eq, size, one);
    let whole = l.b.select(unit, value, zero);
    let none = l.b.compare(weft_ir::CmpOp::Eq, value, zero);
    let infinity =
        l.b.constant(eval::cast(Const::f64(f64::INFINITY), num.scalar).unwrap_or(eval::zero(num.scalar)));
    Ok(Val::Num(l.b.select(none, infinity, whole), num))
}

/// NumPy's: divided by the larger part, with no care for zero.
fn complex_reciprocal(l: &mut Lower<'_>, value: Value, num: Num) -> Res<Val> {
    let part = num.scalar.part();
    let (re, im) = (l.b.emit(part, Op::Re(value)), l.b.emit(part, Op::Im(value)));
    let (re_size, im_size) = (l.b.unary(UnOp::Abs, re), l.b.unary(UnOp::Abs, im));
    let flat = l.b.compare(weft_ir::CmpOp::Le, im_size, re_size);
    let (large, small) = (l.b.select(flat, re, im), l.b.select(flat, im, re));
    let ratio = l.b.binary(BinOp::Div, small, large);
    let product = l.b.binary(BinOp::Mul, small, ratio);
    let divisor = l.b.binary(BinOp::Add, large, product);
    let one = l.small(part, 1);
    let (unit, rest) = (l.b.binary(BinOp::Div, one, divisor), l.b.binary(BinOp::Div, ratio, divisor));
    let re = l.b.select(flat, unit, rest);
    let im = l.b.select(flat, rest, unit);
    let im = l.b.unary(UnOp::Neg, im);
    Ok(Val::Num(l.b.emit(num.scalar, Op::Complex(re, im)), num))
}

/// Half to even; the parts of a complex number apart.
fn rint(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    match x.num() {
        Some(num) if num.scalar.is_complex() => super::round::rint(l, call),
        _ => rounding(l, call, UnOp::Rint),
    }
}

/// `power` in float64 or complex128.
fn float_power(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b] = call.exactly()?;
    l.power(a, b, call.span)
}

/// The angle of a complex number, in degrees if asked. Real numbers have it in the type of `arctan2(0, x)`.
fn angle(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [z, deg] = call.bind(["z", "deg"], 1)?;
    let z = z.unwrap_or(Val::None);
    let Some(num) = z.num().map(|n| Num::strong(n.scalar)) else {
        return Err(l.typing(call.span, format!("angle takes numbers, not {}", z.ty())));
    };
    let (re, im) = if num.scalar.is_complex() {
        let value = l.number_as(&z, num.scalar, call.span)?;
        l.parts(value, num)
    } else {
        (l.cast(&z, num, call.span)?, Val::int(0))
    };
    let phase = l.call_of("numpy.arctan2", vec![im, re], call.span)?;
    match deg.as_ref().map(|d| d.lit().map(|l| l.value.truth())) {
        None | Some(Some(false)) => Ok(phase),
        Some(Some(true)) => {
            let degree = Val::Lit(Lit::float(180.0 / std::f64::consts::PI));
            l.binary(Operator::Mult, &phase, &degree, call.span)
        }
        Some(None) => Err(l.unsupported(call.span, "angle's 'deg' must be a constant")),
    }
}

/// `isneginf` and `isposinf`.
fn infinite(l: &mut Lower<'_>, call: &Call, side: weft_ir::CmpOp) -> Res<Val> {
    let [x] = call.all(["x"])?;
    let (value, num) = math::real_float(l, &x, call)?;
    let zero = l.zero(num.scalar);
    let infinite = l.b.unary(UnOp::IsInf, value);
    let side = l.b.compare(side, value, zero);
    Ok(Val::Num(l.b.binary(BinOp::And, infinite, side), Num::strong(Scalar::Bool)))
}

/// NaN as 0 and infinities as the largest numbers, or what is given for them.
fn nan_to_num(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, copy, nan, posinf, neginf] = call.bind(["x", "copy", "nan", "posinf", "neginf"], 1)?;
    if copy.is_some_and(|v| v.lit().is_none_or(|l| !l.value.truth())) {
        return Err(l.unsupported(call.span, "nan_to_num with copy=False cannot be compiled"));
    }
    let x = x.unwrap_or(Val::None);
    if x.num().is_some_and(|n| n.scalar.is_int() || n.scalar == Scalar::Bool) {
        return strengthen(l, &x, call.span);
    }
    let (value, num) = math::real_float(l, &x, call)?;
    let largest = match num.scalar {
        Scalar::F16 => 65504.0,
        Scalar::BF16 => 3.389_531_389_251_535_5e38,
        Scalar::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let given = |v: Option<Val>, other: f64| v.filter(|v| !matches!(v, Val::None)).unwrap_or(Val::Lit(Lit::float(other)));
    let nan = l.number_as(&given(nan, 0.0), num.scalar, call.span)?;
    let high = l.number_as(&given(posinf, largest), num.scalar, call.span)?;
    let low = l.number_as(&given(neginf, -largest), num.scalar, call.span)?;
    let zero = l.zero(num.scalar);
    let (is_nan, is_inf) = (l.b.unary(UnOp::IsNan, value), l.b.unary(UnOp::IsInf, value));
    let below = l.b.compare(weft_ir::CmpOp::Lt, value, zero);
    let end = l.b.select(below, low, high);
    let result = l.b.select(is_inf, end, value);
    Ok(Val::Num(l.b.select(is_nan, nan, result), Num::strong(num.scalar)))
}

/// `where(cond, a, b)`.
fn choose(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [cond, a, b] = call.exactly()?;
    let cond = l.truth_value(cond, call.span)?;
    let num = python::common_type(l, &[a.clone(), b.clone()], call)?;
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok(Val::Num(l.b.select(cond, x, y), Num::strong(num.scalar)))
}

fn test(l: &mut Lower<'_>, call: &Call, real: Code, complex: Code) -> Res<Val> {
    let [x] = call.exactly()?;
    let of_complex = x.num().is_some_and(|n| n.scalar.is_complex());
    let val = if of_complex { complex(l, call)? } else { real(l, call)? };
    strengthen(l, &val, call.span)
}

fn fmod(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, y, num) = order::two_numbers(l, call)?;
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

/// A part of a number: of Python's a Python number.
fn part(l: &mut Lower<'_>, call: &Call, name: &str) -> Res<Val> {
    let [x] = call.all(["val"])?;
    l.attribute(x, name, call.span)
}

pub fn conjugate(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = x.num() else {
        return Err(l.typing(call.span, format!("conjugate does not go with {}", x.ty())));
    };
    if !num.scalar.is_complex() && l.numba() {
        return Ok(x.clone());
    }
    if num == Num::BOOL {
        return l.unary(UnaryOp::UAdd, x, call.span);
    }
    if !num.scalar.is_complex() {
        return Ok(x.clone());
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
