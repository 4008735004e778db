//! `cmath`, and the complex side of `numpy`'s functions.

use weft_ir::{BinOp, CmpOp, Op, Scalar, Span, UnOp, Value};

use super::Entry;
use crate::compiler::Res;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::types::Num;
use crate::value::Val;

use super::math::short;
use super::python::complex_num;

/// Functions of one complex number.
const UNARY: &[&str] = &[
    "exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "log10",
];

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "pi" => Entry::Float(std::f64::consts::PI),
        "e" => Entry::Float(std::f64::consts::E),
        "tau" => Entry::Float(std::f64::consts::TAU),
        "inf" => Entry::Float(f64::INFINITY),
        "nan" => Entry::Float(f64::NAN),
        name if UNARY.contains(&name) => Entry::each(unary),
        "phase" => Entry::each(phase),
        "polar" => Entry::of(polar),
        "rect" => Entry::of(rect),
        "isnan" => Entry::each(|l, c| either(l, c, UnOp::IsNan)),
        "isinf" => Entry::each(|l, c| either(l, c, UnOp::IsInf)),
        "isfinite" => Entry::each(isfinite),
        _ => return None,
    })
}

fn argument(l: &mut Lower<'_>, call: &Call) -> Res<(Value, Num)> {
    let [x] = call.exactly()?;
    let Some(num) = x.num().map(complex_num) else {
        return Err(l.typing(call.span, format!("{} takes a number, not {}", call.name, x.ty())));
    };
    Ok((l.number_as(x, num.scalar, call.span)?, num))
}

fn unary(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, num) = argument(l, call)?;
    let value = l.complex_unary(short(call), x, num, call.span)?;
    Ok(Val::Num(value, num))
}

impl Lower<'_> {
    /// A complex function: the library's, or made of real ones.
    pub fn complex_unary(&mut self, name: &str, x: Value, num: Num, span: Span) -> Res<Value> {
        let library = format!("c{name}");
        if weft_math::function(&library).is_some() {
            let (re, im) = self.parts(x, num);
            let result = self.library_call(&library, &[re, im], span)?;
            return self.complex_of_pair(&result, num, span);
        }
        match name {
            "exp" => self.complex_exp(x, num, span),
            "log" => self.complex_log(x, num, span),
            "sqrt" => self.complex_sqrt(x, num, span),
            _ => Err(self.unsupported(span, format!("'{name}' of a complex number is not in Weft's math library yet"))),
        }
    }

    fn complex_of_pair(&mut self, pair: &Val, num: Num, span: Span) -> Res<Value> {
        let Val::Tuple(items) = pair else {
            return Err(self.typing(span, "a complex library function gives two parts"));
        };
        let part = num.scalar.part();
        let re = self.number_as(&items[0], part, span)?;
        let im = self.number_as(&items[1], part, span)?;
        Ok(self.b.emit(num.scalar, Op::Complex(re, im)))
    }

    /// `e^re (cos im + i sin im)`.
    pub fn complex_exp(&mut self, x: Value, num: Num, span: Span) -> Res<Value> {
        let part = num.scalar.part();
        let (re, im) = self.parts(x, num);
        let radius = self.library_call("exp", &[re], span)?;
        let radius = self.number_as(&radius, part, span)?;
        self.complex_of_polar(radius, &im, num, span)
    }

    fn complex_of_polar(&mut self, radius: Value, angle: &Val, num: Num, span: Span) -> Res<Value> {
        let part = num.scalar.part();
        let cos = self.library_call("cos", std::slice::from_ref(angle), span)?;
        let sin = self.library_call("sin", std::slice::from_ref(angle), span)?;
        let cos = self.number_as(&cos, part, span)?;
        let sin = self.number_as(&sin, part, span)?;
        let re = self.b.binary(BinOp::Mul, radius, cos);
        let im = self.b.binary(BinOp::Mul, radius, sin);
        Ok(self.b.emit(num.scalar, Op::Complex(re, im)))
    }

    /// `log |x| + i arg x`.
    pub fn complex_log(&mut self, x: Value, num: Num, span: Span) -> Res<Value> {
        let part = num.scalar.part();
        let (re, im) = self.parts(x, num);
        let radius = self.library_call("hypot", &[re.clone(), im.clone()], span)?;
        let log = self.library_call("log", &[radius], span)?;
        let angle = self.library_call("atan2", &[im, re], span)?;
        let log = self.number_as(&log, part, span)?;
        let angle = self.number_as(&angle, part, span)?;
        Ok(self.b.emit(num.scalar, Op::Complex(log, angle)))
    }

    /// With `t = sqrt((|re| + |x|) / 2)`: `(t, im / 2t)` on the right half plane, `(|im| / 2t, ±t)` on the left.
    fn complex_sqrt(&mut self, x: Value, num: Num, span: Span) -> Res<Value> {
        let part = num.scalar.part();
        let (re_val, im_val) = self.parts(x, num);
        let radius = self.library_call("hypot", &[re_val.clone(), im_val.clone()], span)?;
        let radius = self.number_as(&radius, part, span)?;
        let (re, im) = (self.number_as(&re_val, part, span)?, self.number_as(&im_val, part, span)?);
        let two = self.small(part, 2);
        let zero = self.zero(part);
        let abs_re = self.b.unary(UnOp::Abs, re);
        let sum = self.b.binary(BinOp::Add, abs_re, radius);
        let half = self.b.binary(BinOp::Div, sum, two);
        let t = self.b.unary(UnOp::Sqrt, half);
        let twice = self.b.binary(BinOp::Mul, t, two);
        let abs_im = self.b.unary(UnOp::Abs, im);
        let quotient = self.b.binary(BinOp::Div, abs_im, twice);
        let at_zero = self.b.compare(CmpOp::Eq, t, zero);
        let other = self.b.select(at_zero, zero, quotient);
        let left = self.b.compare(CmpOp::Lt, re, zero);
        let real = self.b.select(left, other, t);
        let imag = self.b.select(left, t, other);
        let imag = self.b.binary(BinOp::CopySign, imag, im);
        Ok(self.b.emit(num.scalar, Op::Complex(real, imag)))
    }
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
    Ok(Val::Tuple(vec![radius, angle]))
}

fn rect(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (radius, angle) = super::math::two_floats(l, call)?;
    let num = complex_num(radius.num().unwrap_or(Num::FLOAT));
    let radius = l.number_as(&radius, num.scalar.part(), call.span)?;
    let value = l.complex_of_polar(radius, &angle, num, call.span)?;
    Ok(Val::Num(value, num))
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

fn isfinite(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let (x, num) = argument(l, call)?;
    let nan = either_part(l, x, num, UnOp::IsNan);
    let inf = either_part(l, x, num, UnOp::IsInf);
    let bad = l.b.binary(BinOp::Or, nan, inf);
    Ok(Val::Num(l.not(bad), num.with(Scalar::Bool)))
}
