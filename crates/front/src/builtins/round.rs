//! Rounding to decimals: Python's `round` to the nearest one, `np.round` by a multiplication, a rounding and a division in the number's type.

use weft_ir::{BinOp, CmpOp, Const, ErrorKind, Kind, Op, Scalar, UnOp, Value};

use super::numpy::strengthen;
use super::reductions::into_given;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::{Lit, Val};

/// Up to here a power of ten is a float64, and `round` of a written number of digits needs no table.
const EXACT_TENS: i64 = 22;

/// 10 to this is the largest power of ten among the floats.
const LARGEST_TEN: i64 = 308;

/// Beyond as many digits on either side of the point nothing is rounded, or nothing is left.
const MOST_DIGITS: i64 = 400;

/// The digits that a call asks for.
#[derive(Clone, Copy)]
enum Digits {
    /// None: the nearest whole number is wanted.
    Whole,
    Written(i64),
    Given(Value),
}

impl Digits {
    fn of(l: &mut Lower<'_>, val: Option<&Val>, call: &Call) -> Res<Digits> {
        let val = match val {
            None | Some(Val::None) => return Ok(Digits::Whole),
            Some(val) => val,
        };
        if let Some(n) = val.const_int() {
            let most = i128::from(MOST_DIGITS);
            return Ok(Digits::Written(n.clamp(-most, most) as i64));
        }
        let n = l.bound_value(val, call.span)?;
        let (least, most) = (l.b.i64(-MOST_DIGITS), l.b.i64(MOST_DIGITS));
        let n = l.b.binary(BinOp::Max, n, least);
        Ok(Digits::Given(l.b.binary(BinOp::Min, n, most)))
    }

    fn value(self, l: &mut Lower<'_>) -> Value {
        match self {
            Digits::Whole => l.b.i64(0),
            Digits::Written(n) => l.b.i64(n),
            Digits::Given(n) => n,
        }
    }
}

/// `round(number, ndigits)`: half to even; to an integer without digits.
pub fn python(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x, digits] = call.bind(["number", "ndigits"], 1)?;
    let x = x.unwrap_or(Val::None);
    let Some(num) = x.num() else {
        let diag = Diagnostic::new(DiagnosticKind::Typing, call.span, format!("round does not go with {}", x.ty()));
        return Err(if x.is_array() {
            diag.help("use np.round").into()
        } else {
            diag.into()
        });
    };
    let digits = Digits::of(l, digits.as_ref(), call)?;
    if l.numba_scalars() && !num.scalar.is_complex() && !matches!(digits, Digits::Whole) {
        // Numba takes an integer for a float where digits are given, and rounds Python's floats as NumPy does.
        let float = l.unify(num, Num::strong(Scalar::F32));
        let x = l.cast(&x, float, call.span)?;
        return scaled(l, &x, digits, call);
    }
    match (num.scalar.kind(), digits) {
        (Kind::Complex, _) => Err(l.typing(call.span, "complex numbers cannot be rounded")),
        (Kind::Float, Digits::Whole) => {
            if let Some(v) = x.weak_float() {
                return super::python::whole(l, v.round_ties_even(), call);
            }
            let value = l.number_as(&x, num.scalar, call.span)?;
            let rounded = l.b.unary(UnOp::Rint, value);
            Ok(Val::Num(l.b.cast(rounded, Scalar::I64), Num::INT))
        }
        (_, Digits::Whole) if num.weak && x.integer_constant().is_some() => Ok(x),
        (_, Digits::Whole) => l.cast(&x, Num::INT, call.span),
        (Kind::Float, _) if num.weak => decimal(l, &x, digits, call),
        (_, _) if num.weak => {
            let value = l.number_as(&x, Scalar::I64, call.span)?;
            Ok(Val::Num(whole(l, value, Scalar::I64, digits), Num::INT))
        }
        _ => scaled(l, &x, digits, call),
    }
}

/// `np.round(a, decimals, out)`, and the method.
pub fn numpy(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (rest, out) = call.without("out", 2)?;
    let (x, _) = rest.split_first("a")?;
    let elem = match x.ty() {
        Ty::View(view) => Some(view.elem),
        Ty::Num(num) => Some(num.scalar),
        _ => None,
    };
    if let (Some(Ty::View(out)), Some(elem)) = (out.map(|out| out.ty()), elem)
        && (elem.is_float() || elem.is_complex())
        && out.elem != elem
    {
        // NumPy rounds in the type of `out`.
        let message = format!(
            "numbers of {0} are rounded into an array of {0}, not of {1}",
            elem.numpy_name(),
            out.elem.numpy_name()
        );
        return Err(l.unsupported(call.span, message));
    }
    into_given(l, call, 2, |l, call| l.map_elements(|l, call| rounded(l, call, "a"), call))
}

/// `np.rint(x)` of a complex number.
pub fn rint(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    rounded(l, call, "x")
}

fn rounded(l: &mut Lower<'_>, call: &Call, operand: &str) -> Res<Val> {
    let [x, digits] = call.bind([operand, "decimals"], 1)?;
    let x = x.unwrap_or(Val::None);
    if x.num().is_none() {
        return Err(l.typing(call.span, format!("round does not go with {}", x.ty())));
    }
    if matches!(digits, Some(Val::None)) {
        return Err(l.typing(call.span, "round takes a number of decimals, not None"));
    }
    let x = strengthen(l, &x, call.span)?;
    match Digits::of(l, digits.as_ref(), call)? {
        Digits::Whole => scaled(l, &x, Digits::Written(0), call),
        digits => scaled(l, &x, digits, call),
    }
}

/// A Python float rounded to the nearest decimal: the float that is next to it.
fn decimal(l: &mut Lower<'_>, x: &Val, digits: Digits, call: &Call) -> Res<Val> {
    let strong = Num::strong(Scalar::F64);
    let x = l.cast(x, strong, call.span)?;
    let result = match digits {
        Digits::Written(n) if n.abs() <= EXACT_TENS => {
            let ten = Val::Num(l.b.constant(Const::f64(10f64.powi(n.unsigned_abs() as i32))), strong);
            let side = if n >= 0 { "_round_after_point" } else { "_round_before_point" };
            return python_float(l, side, &[x, ten], call);
        }
        digits => {
            let n = digits.value(l);
            python_float(l, "_round_digits", &[x.clone(), Val::Num(n, Num::strong(Scalar::I64))], call)?
        }
    };
    if l.python_errors() {
        let (before, after) = (
            l.number_as(&x, Scalar::F64, call.span)?,
            l.number_as(&result, Scalar::F64, call.span)?,
        );
        let (was, is) = (l.b.unary(UnOp::IsInf, before), l.b.unary(UnOp::IsInf, after));
        let overflows = l.b.compare(CmpOp::Ne, was, is);
        l.raise_if(overflows, ErrorKind::Overflow, "rounded value too large to represent")?;
    }
    Ok(result)
}

fn python_float(l: &mut Lower<'_>, definition: &str, args: &[Val], call: &Call) -> Res<Val> {
    let result = l.typed_library_call(definition, args, call.span)?;
    l.cast(&result, Num::FLOAT, call.span)
}

/// An integer rounded to tens, hundreds and so on, exactly; more digits than it has give 0.
fn whole(l: &mut Lower<'_>, value: Value, s: Scalar, digits: Digits) -> Value {
    if matches!(digits, Digits::Written(n) if n >= 0) {
        return value;
    }
    // Magnitudes, which the least integer has, too. 10^19 is the largest power of ten of 64 bits.
    let size = l.b.unary(UnOp::Abs, value);
    let size = l.b.cast(size, Scalar::U64);
    let (zero, one) = (l.zero(Scalar::U64), l.small(Scalar::U64, 1));
    let n = digits.value(l);
    let (p, gone) = match digits {
        Digits::Written(n) => {
            let p = 10u64.checked_pow(n.unsigned_abs() as u32).unwrap_or(1);
            let gone = l.b.constant(Const::Bool(n < -19));
            (l.b.constant(Const::Int(Scalar::U64, p as i64)), gone)
        }
        _ => {
            let none = l.b.i64(0);
            let back = l.b.unary(UnOp::Neg, n);
            let back = l.b.binary(BinOp::Max, back, none);
            let most = l.b.i64(19);
            let gone = l.b.compare(CmpOp::Gt, back, most);
            let back = l.b.binary(BinOp::Min, back, most);
            let ten = l.small(Scalar::U64, 10);
            let back = l.b.cast(back, Scalar::U64);
            (l.b.binary(BinOp::IntPow, ten, back), gone)
        }
    };
    let count = l.b.binary(BinOp::FloorDiv, size, p);
    let down = l.b.binary(BinOp::Mul, count, p);
    let rest = l.b.binary(BinOp::Sub, size, down);
    let other = l.b.binary(BinOp::Sub, p, rest);
    let more = l.b.compare(CmpOp::Gt, rest, other);
    let tie = l.b.compare(CmpOp::Eq, rest, other);
    let odd = l.b.binary(BinOp::And, count, one);
    let odd = l.b.compare(CmpOp::Ne, odd, zero);
    let tie = l.b.binary(BinOp::And, tie, odd);
    let up = l.b.binary(BinOp::Or, more, tie);
    let step = l.b.select(up, p, zero);
    let rounded = l.b.binary(BinOp::Add, down, step);
    let rounded = l.b.select(gone, zero, rounded);
    let rounded = l.b.cast(rounded, Scalar::I64);
    let opposite = l.b.unary(UnOp::Neg, rounded);
    let nought = l.zero(s);
    let negative = l.b.compare(CmpOp::Lt, value, nought);
    l.b.select(negative, opposite, rounded)
}

/// A NumPy number: times or over a power of ten, to the nearest whole number, and back.
fn scaled(l: &mut Lower<'_>, x: &Val, digits: Digits, call: &Call) -> Res<Val> {
    let num = x.num().unwrap_or(Num::FLOAT);
    let s = num.scalar;
    let value = l.number_as(x, s, call.span)?;
    let to_whole = matches!(digits, Digits::Written(0));
    let kept = matches!(digits, Digits::Written(n) if n >= 0);
    let rounded = match s.kind() {
        Kind::Complex => {
            let (re, im) = l.parts(value, num);
            let (re, im) = (scaled(l, &re, digits, call)?, scaled(l, &im, digits, call)?);
            let (re, im) = (l.number_as(&re, s.part(), call.span)?, l.number_as(&im, s.part(), call.span)?);
            l.b.emit(s, Op::Complex(re, im))
        }
        Kind::Float if to_whole => l.b.unary(UnOp::Rint, value),
        Kind::Float => scaled_float(l, value, s, digits, call)?,
        Kind::Bool if to_whole => return l.cast(x, Num::strong(Scalar::F16), call.span),
        Kind::Bool => return Err(l.typing(call.span, "NumPy bools cannot be rounded to digits")),
        _ if kept => value,
        // As NumPy has it, in float64 and back; narrow integers come out the same without.
        _ if s.size() == 8 => {
            let float = l.b.cast(value, Scalar::F64);
            let rounded = scaled_float(l, float, Scalar::F64, digits, call)?;
            let rounded = l.b.cast(rounded, s);
            keep_unless_back(l, digits, rounded, value)
        }
        _ => {
            let wide = l.b.cast(value, Scalar::I64);
            let rounded = whole(l, wide, Scalar::I64, digits);
            narrowed(l, rounded, s, digits)
        }
    };
    Ok(Val::Num(rounded, Num::strong(s)))
}

/// Integers are rounded before the point only.
fn keep_unless_back(l: &mut Lower<'_>, digits: Digits, rounded: Value, value: Value) -> Value {
    match digits {
        Digits::Given(n) => {
            let zero = l.b.i64(0);
            let back = l.b.compare(CmpOp::Lt, n, zero);
            l.b.select(back, rounded, value)
        }
        _ => rounded,
    }
}

/// A rounded integer in its own type, as a conversion from float64 has it: an `int32` is the least one where it is over the end, and where the
/// power of ten is infinite, which makes NaN of it.
fn narrowed(l: &mut Lower<'_>, value: Value, s: Scalar, digits: Digits) -> Value {
    let narrow = l.b.cast(value, s);
    if s != Scalar::I32 {
        return narrow;
    }
    let back = l.b.cast(narrow, Scalar::I64);
    let fits = l.b.compare(CmpOp::Eq, back, value);
    let (n, last) = (digits.value(l), l.b.i64(-LARGEST_TEN));
    let finite = l.b.compare(CmpOp::Ge, n, last);
    let fits = l.b.binary(BinOp::And, fits, finite);
    let least = l.b.constant(Const::Int(Scalar::I32, i32::MIN.into()));
    l.b.select(fits, narrow, least)
}

fn scaled_float(l: &mut Lower<'_>, value: Value, s: Scalar, digits: Digits, call: &Call) -> Res<Value> {
    if let Digits::Written(n) = digits {
        let scale = Lit::float(numpy_ten_to(n.unsigned_abs())).constant(s);
        let scale = l.b.constant(scale.unwrap_or(Const::f64(1.0)));
        return Ok(scaled_by(l, value, scale, n > 0));
    }
    let n = digits.value(l);
    let zero = l.b.i64(0);
    let after = l.b.compare(CmpOp::Gt, n, zero);
    let count = l.b.unary(UnOp::Abs, n);
    let scale = l.typed_library_call("_ten_to", &[Val::Num(count, Num::strong(Scalar::I64))], call.span)?;
    let scale = l.number_as(&scale, Scalar::F64, call.span)?;
    let scale = l.b.cast(scale, s);
    let (up, down) = (scaled_by(l, value, scale, true), scaled_by(l, value, scale, false));
    Ok(l.b.select(after, up, down))
}

fn scaled_by(l: &mut Lower<'_>, value: Value, scale: Value, up: bool) -> Value {
    let (there, back) = if up { (BinOp::Mul, BinOp::Div) } else { (BinOp::Div, BinOp::Mul) };
    let large = l.b.binary(there, value, scale);
    let rounded = l.b.unary(UnOp::Rint, large);
    l.b.binary(back, rounded, scale)
}

/// A power of ten as NumPy computes it: by multiplications, which round from 10^23 on.
fn numpy_ten_to(n: u64) -> f64 {
    (0..n).fold(1.0, |p, _| p * 10.0)
}
