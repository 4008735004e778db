//! Integer functions: divisors, roots, counts of choices and of bits. The math library's texts serve every integer type.

use weft_ir::{CmpOp, ErrorKind, Kind, Scalar, UnOp, Value};

use super::Entry;
use super::intrinsics::integer;
use super::numpy::strengthen;
use super::python::common_type;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::Num;
use crate::value::Val;

pub fn math(name: &str) -> Option<Entry> {
    Some(match name {
        "gcd" => Entry::each(|l, c| fold(l, c, Common::Divisor)),
        "lcm" => Entry::each(|l, c| fold(l, c, Common::Multiple)),
        "isqrt" => Entry::each(isqrt),
        "factorial" => Entry::each(factorial),
        "comb" => Entry::each(|l, c| choices(l, c, false)),
        "perm" => Entry::each(|l, c| choices(l, c, true)),
        _ => return None,
    })
}

pub fn weft(name: &str) -> Option<Entry> {
    Some(match name {
        "popcount" => Entry::each(|l, c| integer(l, c, UnOp::Popcount)),
        "clz" => Entry::each(|l, c| integer(l, c, UnOp::Clz)),
        "ctz" => Entry::each(|l, c| integer(l, c, UnOp::Ctz)),
        "brev" => Entry::each(|l, c| integer(l, c, UnOp::BitReverse)),
        "isqrt" | "factorial" | "comb" | "perm" => return math(name),
        _ => return None,
    })
}

pub fn numpy(name: &str) -> Option<Entry> {
    Some(match name {
        "gcd" => Entry::each(|l, c| of_two(l, c, Common::Divisor)),
        "lcm" => Entry::each(|l, c| of_two(l, c, Common::Multiple)),
        "bitwise_count" => Entry::each(bitwise_count),
        _ => return None,
    })
}

/// Integers of one type, and that type.
fn integers(l: &mut Lower<'_>, vals: &[Val], call: &Call) -> Res<(Vec<Value>, Num)> {
    let mut num = common_type(l, vals, call)?;
    if num == Num::BOOL {
        num = Num::INT;
    }
    if !num.scalar.is_int() {
        return Err(l.typing(call.span, format!("{} takes integers, not {num}", call.name)));
    }
    let values = vals.iter().map(|v| l.number_as(v, num.scalar, call.span)).collect::<Res<_>>()?;
    Ok((values, num))
}

impl Lower<'_> {
    /// Calls a text of the library that serves every integer type.
    fn integer_call(&mut self, name: &str, args: &[Value], num: Num, call: &Call) -> Res<Val> {
        let args: Vec<Val> = args.iter().map(|v| Val::Num(*v, Num::strong(num.scalar))).collect();
        let result = self.typed_library_call(&format!("{name}_any"), &args, call.span)?;
        self.cast(&result, num, call.span)
    }

    /// Python refuses negative numbers.
    fn refuse_negative(&mut self, value: Value, num: Num, what: &str) -> Res<()> {
        if !num.scalar.is_signed() || !self.python_errors() {
            return Ok(());
        }
        let zero = self.zero(num.scalar);
        let negative = self.b.compare(CmpOp::Lt, value, zero);
        self.raise_if(negative, ErrorKind::Value, what)
    }
}

/// The greatest common divisor or the least common multiple.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Common {
    Divisor,
    Multiple,
}

impl Common {
    /// The math library's name of that of two integers.
    fn text(self) -> &'static str {
        match self {
            Common::Divisor => "gcd",
            Common::Multiple => "lcm",
        }
    }

    /// That of no integers at all.
    fn of_none(self) -> i128 {
        match self {
            Common::Divisor => 0,
            Common::Multiple => 1,
        }
    }
}

/// NumPy's `gcd` and `lcm`.
fn of_two(l: &mut Lower<'_>, call: &Call, which: Common) -> Res<Val> {
    call.exactly::<2>()?;
    let val = fold(l, call, which)?;
    strengthen(l, &val, call.span)
}

/// `gcd` and `lcm` of any number of integers, by their magnitudes as unsigned numbers, which the least signed number has, too.
fn fold(l: &mut Lower<'_>, call: &Call, which: Common) -> Res<Val> {
    let vals = call.any_number()?;
    if vals.is_empty() {
        return Ok(Val::int(which.of_none()));
    }
    let (values, num) = integers(l, vals, call)?;
    if which == Common::Multiple {
        refuse_large(call, num, vals, |all| {
            all.iter().try_fold(1, |so_far, n| least_multiple(so_far, *n))
        })?;
    }
    let magnitude = num.with(unsigned(num.scalar));
    let mut result: Option<Value> = None;
    for value in values {
        let size = l.b.unary(UnOp::Abs, value);
        let size = l.b.cast(size, magnitude.scalar);
        result = Some(match result {
            None => size,
            Some(so_far) => {
                let next = l.integer_call(which.text(), &[so_far, size], magnitude, call)?;
                l.number_as(&next, magnitude.scalar, call.span)?
            }
        });
    }
    let result = result.unwrap_or_else(|| l.zero(magnitude.scalar));
    Ok(Val::Num(l.b.cast(result, num.scalar), num))
}

fn unsigned(s: Scalar) -> Scalar {
    match s.size() {
        1 => Scalar::U8,
        2 => Scalar::U16,
        4 => Scalar::U32,
        _ => Scalar::U64,
    }
}

fn isqrt(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let (values, num) = integers(l, std::slice::from_ref(x), call)?;
    l.refuse_negative(values[0], num, "isqrt() argument must be nonnegative")?;
    l.integer_call("isqrt", &values, num, call)
}

fn factorial(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let (values, num) = integers(l, std::slice::from_ref(x), call)?;
    refuse_large(call, num, std::slice::from_ref(x), |n| number_of_choices(n[0], n[0], true))?;
    l.refuse_negative(values[0], num, "factorial() not defined for negative values")?;
    l.integer_call("factorial", &values, num, call)
}

/// `comb(n, k)` and, of `ordered` choices, `perm(n, k=n)`.
fn choices(l: &mut Lower<'_>, call: &Call, ordered: bool) -> Res<Val> {
    let [n, k] = call.bind(["/n", "/k"], if ordered { 1 } else { 2 })?;
    let n = n.unwrap_or(Val::None);
    let k = match k {
        None | Some(Val::None) if ordered => n.clone(),
        k => k.unwrap_or(Val::None),
    };
    let vals = [n, k];
    let (values, num) = integers(l, &vals, call)?;
    refuse_large(call, num, &vals, |all| number_of_choices(all[0], all[1], ordered))?;
    l.refuse_negative(values[0], num, "n must be a non-negative integer")?;
    l.refuse_negative(values[1], num, "k must be a non-negative integer")?;
    l.integer_call(if ordered { "perm" } else { "comb" }, &values, num, call)
}

/// Refuses constants whose result, if `of` has one, does not fit.
fn refuse_large(call: &Call, num: Num, vals: &[Val], of: impl Fn(&[i128]) -> Option<i128>) -> Res<()> {
    let Some(constants) = vals.iter().map(Val::const_int).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let most = if num.scalar.is_signed() { i64::MAX.into() } else { u64::MAX.into() };
    if of(&constants).is_some_and(|result: i128| result <= most) {
        return Ok(());
    }
    let shown: Vec<String> = constants.iter().map(i128::to_string).collect();
    let message = format!("{}({}) does not fit 64 bits", call.name, shown.join(", "));
    Err(Diagnostic::new(DiagnosticKind::Value, call.span, message).into())
}

fn least_multiple(a: i128, b: i128) -> Option<i128> {
    let (mut x, mut y) = (a.checked_abs()?, b.checked_abs()?);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    if x == 0 { Some(0) } else { (a / x).checked_mul(b)?.checked_abs() }
}

/// Ways to choose k of n, in order or not; none that is 2^64 or more.
fn number_of_choices(n: i128, k: i128, ordered: bool) -> Option<i128> {
    if n < 0 || k < 0 || k > n {
        return Some(0);
    }
    let k = if ordered { k } else { k.min(n - k) };
    let mut ways: i128 = 1;
    for i in 0..k {
        ways = ways.checked_mul(n - i)?;
        if !ordered {
            ways /= i + 1;
        }
        if ways > u64::MAX.into() {
            return None;
        }
    }
    Some(ways)
}

/// NumPy's: bits of the magnitude, as a `uint8`.
fn bitwise_count(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [x] = call.exactly()?;
    let (values, num) = integers(l, std::slice::from_ref(x), call)?;
    let size = match num.scalar.kind() {
        Kind::Signed => l.b.unary(UnOp::Abs, values[0]),
        _ => values[0],
    };
    let count = l.b.unary(UnOp::Popcount, size);
    Ok(Val::Num(l.b.cast(count, Scalar::U8), Num::strong(Scalar::U8)))
}
