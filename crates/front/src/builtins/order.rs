//! NumPy's comparisons and what follows from order: extremes, clipping, signs. Complex numbers have one in NumPy: real parts first.

use ruff_python_ast::CmpOp;
use weft_ir::{BinOp, CmpOp as Cmp, Kind, Op, Scalar, UnOp, Value};

use super::Code;
use super::numpy::strengthen;
use super::reductions::into_given;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::Val;

pub fn compare(l: &mut Lower<'_>, call: &Call, op: CmpOp) -> Res<Val> {
    let [a, b] = call.exactly()?;
    if op != CmpOp::Eq
        && op != CmpOp::NotEq
        && let Some((x, y, num)) = two_complex(l, a, b, call)?
    {
        return Ok(Val::Num(complex_order(l, op, x, y, num), Num::strong(Scalar::Bool)));
    }
    let val = l.compare(op, a, b, call.span)?;
    strengthen(l, &val, call.span)
}

/// Two numbers as complex ones, if one of them is.
fn two_complex(l: &mut Lower<'_>, a: &Val, b: &Val, call: &Call) -> Res<Option<(Value, Value, Num)>> {
    let (Some(x), Some(y)) = (a.num(), b.num()) else {
        return Ok(None);
    };
    let num = l.unify(x, y);
    if !num.scalar.is_complex() {
        return Ok(None);
    }
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok(Some((x, y, Num::strong(num.scalar))))
}

/// NumPy's order of complex numbers: by real parts, then by imaginary ones. False where a part is NaN.
fn complex_order(l: &mut Lower<'_>, op: CmpOp, x: Value, y: Value, num: Num) -> Value {
    let (strict, loose) = match op {
        CmpOp::Lt => (Cmp::Lt, Cmp::Lt),
        CmpOp::LtE => (Cmp::Lt, Cmp::Le),
        CmpOp::Gt => (Cmp::Gt, Cmp::Gt),
        _ => (Cmp::Gt, Cmp::Ge),
    };
    let part = num.scalar.part();
    let [xr, yr] = [x, y].map(|v| l.b.emit(part, Op::Re(v)));
    let [xi, yi] = [x, y].map(|v| l.b.emit(part, Op::Im(v)));
    let (before, same, after) = (
        l.b.compare(strict, xr, yr),
        l.b.compare(Cmp::Eq, xr, yr),
        l.b.compare(loose, xi, yi),
    );
    let [x_nan, y_nan] = [xi, yi].map(|v| l.b.unary(UnOp::IsNan, v));
    let nan = l.b.binary(BinOp::Or, x_nan, y_nan);
    let number = l.not(nan);
    let before = l.b.binary(BinOp::And, before, number);
    let tie = l.b.binary(BinOp::And, same, after);
    l.b.binary(BinOp::Or, before, tie)
}

/// The extreme of two complex numbers; one with a NaN wins over others, or loses.
fn complex_extreme(l: &mut Lower<'_>, op: BinOp, nan_wins: bool, x: Value, y: Value, num: Num) -> Val {
    let order = if op == BinOp::Max { CmpOp::GtE } else { CmpOp::LtE };
    let first = complex_order(l, order, x, y, num);
    let best = l.b.select(first, x, y);
    let part = num.scalar.part();
    let [x_nan, y_nan] = [x, y].map(|v| {
        let (re, im) = (l.b.emit(part, Op::Re(v)), l.b.emit(part, Op::Im(v)));
        let (re, im) = (l.b.unary(UnOp::IsNan, re), l.b.unary(UnOp::IsNan, im));
        l.b.binary(BinOp::Or, re, im)
    });
    let value = if nan_wins {
        let best = l.b.select(y_nan, y, best);
        l.b.select(x_nan, x, best)
    } else {
        let best = l.b.select(x_nan, y, best);
        l.b.select(y_nan, x, best)
    };
    Val::Num(value, num)
}

/// -1, 0 or 1; NaN stays NaN. Of a complex number its direction.
pub fn sign(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().map(|n| Num::strong(n.scalar)) else {
        return Err(l.typing(call.span, format!("sign does not go with {}", x.ty())));
    };
    let value = l.number_as(x, num.scalar, call.span)?;
    if num.scalar.is_complex() {
        return Ok(Val::Num(l.complex_unary("sign", value, num, call.span)?, num));
    }
    let zero = l.zero(num.scalar);
    let one = l.small(num.scalar, 1);
    let above = l.b.compare(Cmp::Gt, value, zero);
    let below = l.b.compare(Cmp::Lt, value, zero);
    let mut result = zero;
    if num.scalar.is_float() {
        // NaN stays NaN; `ml_dtypes` keeps the sign of zero, too.
        let nan = l.b.unary(UnOp::IsNan, value);
        result = match num.scalar {
            Scalar::BF16 => value,
            _ => l.b.select(nan, value, zero),
        };
    }
    result = l.b.select(above, one, result);
    if num.scalar.kind() != Kind::Unsigned {
        let minus = l.b.unary(UnOp::Neg, one);
        result = l.b.select(below, minus, result);
    }
    Ok(Val::Num(result, num))
}

pub fn two_numbers(l: &mut Lower<'_>, call: &Call) -> Res<(Value, Value, Num)> {
    let [a, b] = call.exactly()?;
    let (Some(x), Some(y)) = (a.num(), b.num()) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {} and {}", call.name, a.ty(), b.ty())));
    };
    let num = l.unify(x, y);
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, "complex numbers have no order"));
    }
    let (x, y) = l.unified(a, b, num, call.span)?;
    Ok((x, y, Num::strong(num.scalar)))
}

/// `maximum` and `minimum`: a NaN wins.
pub fn extreme(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let [a, b] = call.exactly()?;
    if let Some((x, y, num)) = two_complex(l, a, b, call)? {
        return Ok(complex_extreme(l, op, true, x, y, num));
    }
    let (x, y, num) = two_numbers(l, call)?;
    Ok(Val::Num(best(l, op, x, y, num), num))
}

/// Of equals, such as zeros of both signs, the second; of float16 the first, as NumPy has it.
fn best(l: &mut Lower<'_>, op: BinOp, x: Value, y: Value, num: Num) -> Value {
    match num.scalar {
        Scalar::F16 => l.b.binary(op, y, x),
        _ => l.b.binary(op, x, y),
    }
}

/// `fmax` and `fmin`: a number wins over NaN.
pub fn number_extreme(l: &mut Lower<'_>, call: &Call, op: BinOp) -> Res<Val> {
    let [a, b] = call.exactly()?;
    if let Some((x, y, num)) = two_complex(l, a, b, call)? {
        return Ok(complex_extreme(l, op, false, x, y, num));
    }
    let (x, y, num) = two_numbers(l, call)?;
    let best = best(l, op, x, y, num);
    if !num.scalar.is_float() {
        return Ok(Val::Num(best, num));
    }
    let (x_nan, y_nan) = (l.b.unary(UnOp::IsNan, x), l.b.unary(UnOp::IsNan, y));
    let best = l.b.select(y_nan, x, best);
    Ok(Val::Num(l.b.select(x_nan, y, best), num))
}

/// `clip(a, a_min, a_max)`; `min` and `max` are other names of the bounds, which may be None or left out.
///
/// Zeros of both signs are equal: between two numbers what equals a bound stays as it is; with an array for a bound it becomes the bound, as in
/// NumPy, which tells them apart by strides and takes axes of one element that are stretched for numbers, too.
pub fn clip(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    into_given(l, call, 3, clipped)
}

/// `a.clip(min, max)`, of which one may be left out.
pub fn clip_method(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (rest, out) = call.without("out", 3)?;
    let [x, min, max] = rest.bind(["a", "min", "max"], 1)?;
    rest.refuse_unread()?;
    if min.is_none() && max.is_none() {
        return Err(call.misfit(format!("{} needs a bound: min or max", call.name)));
    }
    let [x, min, max, out] = [x, min, max, out].map(|val| val.unwrap_or(Val::None));
    clip(l, &call.of(vec![x, min, max, out]))
}

fn clipped(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (_, bounds) = clip_operands(call)?;
    let is_number = |bound: &Val| bound.num().is_some() || matches!(bound.ty(), Ty::View(view) if view.rank == 0);
    let run: Code = match bounds.iter().all(|bound| bound.as_ref().is_some_and(is_number)) {
        true => |l, call| clip_each(l, call, true),
        false => |l, call| clip_each(l, call, false),
    };
    l.map_elements(run, call)
}

/// The operand and its bounds, as far as there are any.
fn clip_operands(call: &Call) -> Res<(Val, [Option<Val>; 2])> {
    let [x, a_min, a_max, min, max] = call.bind(["a", "a_min", "a_max", "*min", "*max"], 1)?;
    let by_old_names = a_min.is_some() || a_max.is_some();
    if by_old_names && (min.is_some() || max.is_some()) {
        return Err(call.misfit(format!(
            "{} takes its bounds as a_min and a_max or as min and max, not as both",
            call.name
        )));
    }
    if by_old_names && (a_min.is_none() || a_max.is_none()) {
        return Err(call.misfit(format!("{} takes both a_min and a_max; either may be None", call.name)));
    }
    let bounds = [a_min.or(min), a_max.or(max)].map(|bound| bound.filter(|bound| !matches!(bound, Val::None)));
    Ok((x.unwrap_or(Val::None), bounds))
}

/// One element clipped; it `stays` where it equals a bound, or becomes the bound.
fn clip_each(l: &mut Lower<'_>, call: &Call, stays: bool) -> Res<Val> {
    let (operand, bounds) = clip_operands(call)?;
    // A Python number among bounds of NumPy's: its type counts.
    let mut result = strengthen(l, &operand, call.span)?;
    let both = bounds.iter().all(Option::is_some);
    for (bound, op) in bounds.into_iter().zip([BinOp::Max, BinOp::Min]) {
        let Some(bound) = bound else { continue };
        if let Some((x, y, num)) = two_complex(l, &result, &bound, call)?.filter(|_| both) {
            result = complex_bounded(l, op, x, y, num);
            continue;
        }
        // Of float16 the first operand is taken of equals, of others the second.
        let half = match (result.num(), bound.num()) {
            (Some(x), Some(y)) => l.unify(x, y).scalar == Scalar::F16,
            _ => false,
        };
        let operands = if stays && !half { [bound, result] } else { [result, bound] };
        result = extreme(l, &call.of(operands.to_vec()), op)?;
    }
    strengthen(l, &result, call.span)
}

/// A complex number between bounds: it stays if a part of it is NaN or if it lies beyond the bound, where a part of the bound that is NaN
/// counts for nothing. `np.maximum` and `np.minimum` have it otherwise.
fn complex_bounded(l: &mut Lower<'_>, op: BinOp, x: Value, bound: Value, num: Num) -> Val {
    let beyond = if op == BinOp::Max { Cmp::Gt } else { Cmp::Lt };
    let part = num.scalar.part();
    let [xr, br] = [x, bound].map(|v| l.b.emit(part, Op::Re(v)));
    let [xi, bi] = [x, bound].map(|v| l.b.emit(part, Op::Im(v)));
    let (same, by_re, by_im) = (
        l.b.compare(Cmp::Eq, xr, br),
        l.b.compare(beyond, xr, br),
        l.b.compare(beyond, xi, bi),
    );
    let inside = l.b.select(same, by_im, by_re);
    let [re_nan, im_nan] = [xr, xi].map(|v| l.b.unary(UnOp::IsNan, v));
    let nan = l.b.binary(BinOp::Or, re_nan, im_nan);
    let keeps = l.b.binary(BinOp::Or, nan, inside);
    Val::Num(l.b.select(keeps, x, bound), num)
}
