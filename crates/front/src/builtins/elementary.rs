//! Elementary functions: the table of the math library's functions and of their names in `math`, `cmath`, `numpy` and `weft.math`.

use weft_ir::{Op, Span, Value};

use super::math::{real_float, two_floats};
use super::numpy::strong_float;
use super::python::complex_num;
use super::{Entry, LibraryCode, loops};
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::Res;
use crate::types::Num;
use crate::value::Val;

/// The library's name, `math`'s and NumPy's; empty where they have none. `weft.math` has those that NumPy has not. NumPy's take complex numbers
/// where the library has a complex definition (`csin_f64`). A new function is one line here.
#[rustfmt::skip]
const FUNCTIONS: &[[&str; 3]] = &[
    ["sin", "sin", "sin"], ["cos", "cos", "cos"], ["tan", "tan", "tan"],
    ["asin", "asin", "arcsin"], ["acos", "acos", "arccos"], ["atan", "atan", "arctan"], ["atan2", "atan2", "arctan2"],
    ["sinpi", "", ""], ["cospi", "", ""], ["tanpi", "", ""], ["sinc", "", "sinc"],
    ["sinh", "sinh", "sinh"], ["cosh", "cosh", "cosh"], ["tanh", "tanh", "tanh"],
    ["asinh", "asinh", "arcsinh"], ["acosh", "acosh", "arccosh"], ["atanh", "atanh", "arctanh"],
    ["exp", "exp", "exp"], ["exp2", "exp2", "exp2"], ["exp10", "", ""], ["expm1", "expm1", "expm1"],
    ["log", "log", "log"], ["log2", "log2", "log2"], ["log10", "log10", "log10"], ["log1p", "log1p", "log1p"],
    ["logaddexp", "", "logaddexp"], ["logaddexp2", "", "logaddexp2"],
    ["cbrt", "cbrt", "cbrt"], ["rsqrt", "", ""], ["hypot", "hypot", "hypot"],
    ["erf", "erf", ""], ["erfc", "erfc", ""], ["erfinv", "", ""], ["gamma", "gamma", ""], ["lgamma", "lgamma", ""], ["i0", "", "i0"],
    ["remainder", "remainder", ""], ["heaviside", "", "heaviside"], ["logb", "", ""], ["ilogb", "", ""],
];

/// Functions of one complex number that `cmath` has.
const COMPLEX: &[&str] = &[
    "exp", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh",
];

/// The library's name of what a namespace calls `name`.
fn library_name(name: &str, column: usize) -> Option<&'static str> {
    FUNCTIONS.iter().find(|row| row[column] == name).map(|row| row[0])
}

fn entry(name: &str, column: usize, unary: LibraryCode, binary: LibraryCode) -> Option<Entry> {
    let library = library_name(name, column)?;
    let arity = weft_math::function(library)?.arity;
    Some(Entry::each_by(if arity == 1 { unary } else { binary }, library))
}

pub fn math(name: &str) -> Option<Entry> {
    entry(name, 1, weak_unary, weak_binary)
}

pub fn weft(name: &str) -> Option<Entry> {
    let extra = FUNCTIONS.iter().any(|row| row[0] == name && row[2].is_empty());
    entry(name, 0, weak_unary, weak_binary).filter(|_| extra)
}

pub fn numpy(name: &str) -> Option<Entry> {
    // Of a ufunc the operand has no name.
    let unary: LibraryCode = match loops::find(name) {
        Some(_) => |l, c, library| strong_unary(l, c, library, "/x"),
        None => |l, c, library| strong_unary(l, c, library, "x"),
    };
    entry(name, 2, unary, strong_binary)
}

pub fn cmath(name: &str) -> Option<Entry> {
    let known = COMPLEX.iter().find(|known| **known == name)?;
    Some(Entry::each_by(complex_unary, known))
}

/// A function whose result is as weak as its argument.
fn weak_unary(l: &mut Lower<'_>, call: &Call, name: &'static str) -> Res<Val> {
    let [x] = call.exactly()?;
    let (x, num) = real_float(l, x, call)?;
    l.library_call(name, &[Val::Num(x, num)], call.span)
}

fn weak_binary(l: &mut Lower<'_>, call: &Call, name: &'static str) -> Res<Val> {
    let (x, y) = two_floats(l, call)?;
    l.library_call(name, &[x, y], call.span)
}

/// NumPy's: the result is strong.
fn strong_unary(l: &mut Lower<'_>, call: &Call, name: &'static str, operand: &str) -> Res<Val> {
    let [x] = call.all([operand])?;
    let x = &x;
    let Some(num) = x.num().map(|num| strong_float(l, num)) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {}", call.name, x.ty())));
    };
    let value = l.number_as(x, num.scalar, call.span)?;
    if num.scalar.is_complex() {
        return Ok(Val::Num(l.complex_unary(name, value, num, call.span)?, num));
    }
    l.library_call(name, &[Val::Num(value, num)], call.span)
}

fn strong_binary(l: &mut Lower<'_>, call: &Call, name: &'static str) -> Res<Val> {
    let [a, b] = call.exactly()?;
    let (Some(x), Some(y)) = (a.num(), b.num()) else {
        return Err(l.typing(call.span, format!("{} takes numbers, not {} and {}", call.name, a.ty(), b.ty())));
    };
    let num = strong_float(l, l.unify(x, y));
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} takes real numbers", call.name)));
    }
    let (x, y) = l.unified(a, b, num, call.span)?;
    l.library_call(name, &[Val::Num(x, num), Val::Num(y, num)], call.span)
}

fn complex_unary(l: &mut Lower<'_>, call: &Call, name: &'static str) -> Res<Val> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().map(|num| complex_num(l, num)) else {
        return Err(l.typing(call.span, format!("{} takes a number, not {}", call.name, x.ty())));
    };
    let value = l.number_as(x, num.scalar, call.span)?;
    Ok(Val::Num(l.complex_unary(name, value, num, call.span)?, num))
}

impl Lower<'_> {
    /// The library's function of one complex number.
    pub fn complex_unary(&mut self, name: &str, x: Value, num: Num, span: Span) -> Res<Value> {
        let parts = self.parts(x, num);
        self.complex_call(name, &[parts.0, parts.1], num, span)
    }

    /// The library's complex function `name` of the parts given: `sin` is `csin`.
    pub fn complex_call(&mut self, name: &str, parts: &[Val], num: Num, span: Span) -> Res<Value> {
        let library = format!("c{name}");
        if weft_math::function(&library).is_none() {
            return Err(self.typing(span, format!("{name} takes a real number, not {num}")));
        }
        let Val::Tuple(items) = self.library_call(&library, parts, span)? else {
            return Err(self.typing(span, "a complex library function gives two parts"));
        };
        let part = num.scalar.part();
        let re = self.number_as(&items[0], part, span)?;
        let im = self.number_as(&items[1], part, span)?;
        Ok(self.b.emit(num.scalar, Op::Complex(re, im)))
    }
}
