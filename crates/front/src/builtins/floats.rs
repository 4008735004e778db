//! Functions that take floats apart and compare them: neighbours, exponents, fractions, closeness; and functions with two results.

use ruff_python_ast::Operator;
use weft_ir::{BinOp, Const, Kind, Op, Scalar, UnOp, Value};

use super::math::{real_float, two_floats};
use super::numpy::{strengthen, strong_float};
use super::{Entry, half};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::{Num, to_float};
use crate::value::{Lit, Val};

pub fn math(name: &str) -> Option<Entry> {
    Some(match name {
        "nextafter" => Entry::each(nextafter),
        "ldexp" => Entry::each(ldexp),
        "ulp" => Entry::each_by(distance, "ulp"),
        "frexp" => Entry::of(|l, c| pair(l, c, frexp)),
        "modf" => Entry::of(|l, c| pair(l, c, modf)),
        "isclose" => Entry::each(isclose),
        _ => return None,
    })
}

pub fn weft(name: &str) -> Option<Entry> {
    match name {
        "sincos" => Some(Entry::of(|l, c| pair(l, c, sincos))),
        _ => None,
    }
}

pub fn numpy(name: &str) -> Option<Entry> {
    Some(match name {
        "nextafter" => Entry::each(nextafter),
        "ldexp" => Entry::each(ldexp),
        "spacing" => Entry::each_by(distance, "spacing"),
        "frexp" => Entry::of(frexp),
        "modf" => Entry::of(modf),
        "divmod" => Entry::of(super::python::divmod),
        "isclose" => Entry::each(numpy_isclose),
        _ => return None,
    })
}

/// A function with two results: of arrays, two array expressions.
pub fn pair(l: &mut Lower<'_>, call: &Call, run: impl Fn(&mut Lower<'_>, &Call) -> Res<Val> + Copy) -> Res<Val> {
    if !call.has_array() {
        return run(l, call);
    }
    let mut parts = Vec::with_capacity(2);
    for i in 0..2 {
        let span = call.span;
        let (elements, with) = call.elements();
        parts.push(l.array_map(&elements, span, move |l, vals| {
            let call = with(vals);
            let result = run(l, &call)?;
            call.refuse_unread()?;
            match result {
                Val::Tuple(items) => items.get(i).cloned().ok_or_else(|| l.typing(span, "there is no second result")),
                other => Ok(other),
            }
        })?);
    }
    Ok(Val::tuple(parts))
}

/// The next number towards another. The library knows it of float32 and float64; a 16-bit float's neighbours have neighbouring bits.
fn nextafter(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, y) = two_floats(l, call)?;
    match (&x, &y) {
        (Val::Num(from, num), Val::Num(to, _)) if num.scalar.is_half() => Ok(Val::Num(half::next_after(l, *from, *to, num.scalar), *num)),
        _ => l.library_call("nextafter", &[x, y], call.span),
    }
}

/// `spacing` and `ulp`: how far the next number lies.
fn distance(l: &mut Lower<'_>, call: &Call, name: &str) -> Res<Val> {
    let [x] = call.exactly()?;
    let (value, num) = real_float(l, x, call)?;
    if !num.scalar.is_half() {
        return l.library_call(name, &[Val::Num(value, num)], call.span);
    }
    let infinity = constant(l, num.scalar, f64::INFINITY);
    if num.scalar == Scalar::F16 {
        // NumPy's distance of float16 is that to the next greater number.
        let next = half::next_after(l, value, infinity, num.scalar);
        let distance = l.b.binary(BinOp::Sub, next, value);
        let infinite = l.b.unary(UnOp::IsInf, value);
        let nan = constant(l, num.scalar, f64::NAN);
        return Ok(Val::Num(l.b.select(infinite, nan, distance), num));
    }
    let away = l.b.binary(BinOp::CopySign, infinity, value);
    let next = half::next_after(l, value, away, num.scalar);
    Ok(Val::Num(l.b.binary(BinOp::Sub, next, value), num))
}

fn constant(l: &mut Lower<'_>, s: Scalar, v: f64) -> Value {
    let constant = Lit::float(v).constant(s).unwrap_or(Const::f64(v));
    l.b.constant(constant)
}

/// `ldexp(x, n)`: of x's type, whatever the type of n.
fn ldexp(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, n] = call.exactly()?;
    let Some(count) = n.num().filter(|n| !n.scalar.is_complex()) else {
        return Err(l.typing(call.span, format!("{} takes an integer exponent, not {}", call.name, n.ty())));
    };
    let (value, num) = real_float(l, x, call)?;
    let n = l.number_as(n, count.scalar, call.span)?;
    let wide = Num::strong(if num.scalar == Scalar::F64 { Scalar::F64 } else { Scalar::F32 });
    let n = l.b.cast(n, wide.scalar);
    let x = l.b.cast(value, wide.scalar);
    let result = l.library_call("ldexp", &[Val::Num(x, wide), Val::Num(n, wide)], call.span)?;
    l.cast(&result, num, call.span)
}

/// Mantissa and exponent, the exponent a Python int.
fn frexp(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    exponent_as(l, call, Num::INT)
}

fn exponent_as(l: &mut Lower<'_>, call: &Call, num: Num) -> Res<Val> {
    let parts = two_results(l, call, "frexp")?;
    match <[Val; 2]>::try_from(parts) {
        Ok([mantissa, exponent]) => Ok(Val::tuple(vec![mantissa, l.cast(&exponent, num, call.span)?])),
        Err(parts) => Ok(Val::tuple(parts)),
    }
}

/// The fraction and the whole part, both with the argument's sign.
fn modf(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    two_results(l, call, "modf").map(Val::tuple)
}

fn sincos(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    two_results(l, call, "sincos").map(Val::tuple)
}

fn two_results(l: &mut Lower<'_>, call: &Call, name: &str) -> Res<Vec<Val>> {
    let [x] = call.exactly()?;
    let (x, num) = real_float(l, x, call)?;
    match l.library_call(name, &[Val::Num(x, num)], call.span)? {
        Val::Tuple(items) => Ok(items.into_vec()),
        other => Ok(vec![other]),
    }
}

/// `math.isclose`: the tolerance is relative to the larger number.
fn isclose(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (pair, tolerances) = isclose_operands(call)?;
    close(l, call, "isclose", pair, tolerances, Closeness::Python)
}

/// `cmath.isclose`.
pub fn complex_isclose(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (pair, tolerances) = isclose_operands(call)?;
    close(l, call, "isclose", pair, tolerances, Closeness::Complex)
}

fn isclose_operands(call: &Call) -> Res<([Val; 2], [Val; 2])> {
    let [a, b, relative, absolute] = call.bind(["a", "b", "*rel_tol", "*abs_tol"], 2)?;
    let tolerances = [relative.unwrap_or(Val::Lit(Lit::float(1e-9))), absolute.unwrap_or(Val::int(0))];
    Ok(([a, b].map(|v| v.unwrap_or(Val::None)), tolerances))
}

/// `np.isclose`: relative to the second number.
fn numpy_isclose(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [a, b, relative, absolute, equal_nan] = call.bind(["a", "b", "rtol", "atol", "equal_nan"], 2)?;
    let tolerances = [
        relative.unwrap_or(Val::Lit(Lit::float(1e-5))),
        absolute.unwrap_or(Val::Lit(Lit::float(1e-8))),
    ];
    let pair = [a, b].map(|v| v.unwrap_or(Val::None));
    let val = close(l, call, "near", pair.clone(), tolerances, Closeness::NumPy)?;
    let val = match equal_nan {
        Some(equal) if equal.num().is_none() => {
            return Err(l.typing(call.span, format!("equal_nan is a bool, not {}", equal.ty())));
        }
        Some(equal) if equal.lit().is_none_or(|lit| lit.value.truth()) => {
            let equal = l.truth_value(&equal, call.span)?;
            either_or_nan(l, &val, pair, equal, call)?
        }
        _ => val,
    };
    strengthen(l, &val, call.span)
}

/// What is close, and where `equal` says so two NaNs.
fn either_or_nan(l: &mut Lower<'_>, near: &Val, pair: [Val; 2], equal: Value, call: &Call) -> Res<Val> {
    let near = l.truth_value(near, call.span)?;
    let mut both = equal;
    for x in pair {
        let nan = is_nan(l, &x, call)?;
        both = l.b.binary(BinOp::And, both, nan);
    }
    let num = Num::strong(Scalar::Bool);
    Ok(Val::Num(l.b.binary(BinOp::Or, near, both), num))
}

/// Is a number, or a part of a complex one, NaN?
fn is_nan(l: &mut Lower<'_>, x: &Val, call: &Call) -> Res<Value> {
    let Some(num) = x.num() else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {}", call.name, x.ty())));
    };
    let value = l.number_as(x, num.scalar, call.span)?;
    Ok(match num.scalar.kind() {
        Kind::Float => l.b.unary(UnOp::IsNan, value),
        Kind::Complex => {
            let part = num.scalar.part();
            let [re, im] = [Op::Re(value), Op::Im(value)].map(|op| l.b.emit(part, op));
            let [re, im] = [re, im].map(|part| l.b.unary(UnOp::IsNan, part));
            l.b.binary(BinOp::Or, re, im)
        }
        Kind::Bool | Kind::Signed | Kind::Unsigned => l.b.constant(Const::Bool(false)),
    })
}

/// The numbers that a comparison is made in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closeness {
    Complex,
    /// As weak as the operands, complex if one of them is.
    Python,
    /// Strong, complex if one of the operands is.
    NumPy,
}

/// Real numbers by their difference; complex ones by its size and theirs.
fn close(l: &mut Lower<'_>, call: &Call, name: &str, [a, b]: [Val; 2], [relative, absolute]: [Val; 2], of: Closeness) -> Res<Val> {
    let (Some(x), Some(y)) = (a.num(), b.num()) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {} and {}", call.name, a.ty(), b.ty())));
    };
    let num = l.unify(x, y);
    if of == Closeness::Complex || num.scalar.is_complex() {
        let num = super::python::complex_num(l, num);
        let (x, y) = l.unified(&a, &b, num, call.span)?;
        let (ar, ai) = l.parts(x, num);
        let (br, bi) = l.parts(y, num);
        return l.library_call(&format!("c{name}"), &[ar, ai, br, bi, relative, absolute], call.span);
    }
    let num = match of {
        Closeness::NumPy => strong_float(l, num),
        Closeness::Python | Closeness::Complex => l.sized(to_float(num)),
    };
    let (x, y) = l.unified(&a, &b, num, call.span)?;
    l.library_call(name, &[Val::Num(x, num), Val::Num(y, num), relative, absolute], call.span)
}

/// `hypot` of any number of coordinates.
pub fn hypot(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    if l.numba()
        && let [a, b] = call.any_number()?
    {
        let (a, b) = (a.clone(), b.clone());
        let (x, y) = two_floats(l, &call.of(vec![a, b]))?;
        return l.library_call("hypot", &[x, y], call.span);
    }
    let mut length: Option<Val> = None;
    for x in call.any_number()? {
        let (x, num) = real_float(l, x, call)?;
        let x = Val::Num(x, num);
        let pair = match length {
            None => vec![x],
            Some(so_far) => vec![so_far, x],
        };
        length = Some(match pair.as_slice() {
            [x] => super::python::abs(l, &call.of(vec![x.clone()]))?,
            _ => {
                let (x, y) = two_floats(l, &call.of(pair))?;
                l.library_call("hypot", &[x, y], call.span)?
            }
        });
    }
    Ok(length.unwrap_or(Val::Lit(Lit::float(0.0))))
}

/// `dist(p, q)` of two points given as tuples.
pub fn dist(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [Val::Tuple(p), Val::Tuple(q)] = call.exactly()? else {
        return Err(l.unsupported(call.span, "dist takes two tuples here"));
    };
    if p.len() != q.len() {
        return Err(l.typing(call.span, "both points must have the same number of dimensions"));
    }
    let mut sides = Vec::with_capacity(p.len());
    for (a, b) in p.iter().zip(q) {
        // Floats first: a difference of integers may wrap.
        let (a, b) = two_floats(l, &call.of(vec![a.clone(), b.clone()]))?;
        sides.push(l.binary(Operator::Sub, &a, &b, call.span)?);
    }
    hypot(l, &call.of(sides))
}

/// A complex number of size and angle.
pub fn rect(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (radius, angle) = two_floats(l, call)?;
    let num = super::python::complex_num(l, radius.num().unwrap_or(Num::FLOAT));
    let part = num.scalar.part();
    let Val::Tuple(parts) = l.library_call("rect", &[radius, angle], call.span)? else {
        return Err(l.typing(call.span, "rect gives two parts"));
    };
    let re = l.number_as(&parts[0], part, call.span)?;
    let im = l.number_as(&parts[1], part, call.span)?;
    Ok(Val::Num(l.b.emit(num.scalar, Op::Complex(re, im)), num))
}
