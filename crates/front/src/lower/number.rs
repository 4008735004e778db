//! Numbers: constants, conversions, truth.

use weft_ir::{BinOp, CmpOp, Const, ErrorKind, Kind, Op, Scalar, Span, Value, eval};

use super::Lower;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::fold;
use crate::stop::Res;
use crate::types::Num;
use crate::value::{Lit, Number, Val, int_range};

impl Lower<'_> {
    /// A number as an IR value of a scalar type. Complex to real is refused; everything else converts.
    pub fn number_as(&mut self, val: &Val, to: Scalar, span: Span) -> Res<Value> {
        match val {
            Val::Lit(lit) => self.constant(*lit, to, span),
            Val::Num(value, num) => {
                if num.scalar.is_complex() && !to.is_complex() {
                    let message = format!("{num} cannot be converted to {}", to.numpy_name());
                    let diag = Diagnostic::new(DiagnosticKind::Typing, span, message);
                    return Err(diag.help("take its .real or .imag").into());
                }
                Ok(self.convert(*value, num.scalar, to))
            }
            Val::View(..) | Val::Lazy(_) => {
                let diag = Diagnostic::new(
                    DiagnosticKind::Typing,
                    span,
                    format!("a number is needed here, and this is a {}", val.ty()),
                );
                Err(diag.help("index the array").into())
            }
            _ => Err(self.typing(span, format!("a number is needed here, and this is {}", val.ty()))),
        }
    }

    /// A type as the device has it: weak floats are float32 where there is no float64.
    pub fn sized(&self, num: Num) -> Num {
        if self.unit.options.narrow() { num.narrowed() } else { num }
    }

    /// A value of such a type.
    pub fn sized_value(&mut self, val: Val) -> Val {
        if !self.unit.options.narrow() {
            return val;
        }
        match val {
            Val::Lit(lit) => Val::Lit(Lit {
                num: lit.num.narrowed(),
                ..lit
            }),
            Val::Num(value, num) if num != num.narrowed() => {
                let to = num.narrowed();
                Val::Num(self.convert(value, num.scalar, to.scalar), to)
            }
            Val::Tuple(items) => Val::Tuple(items.with(items.iter().map(|item| self.sized_value(item.clone())).collect())),
            other => other,
        }
    }

    /// A number as an `i64`, for indices, lengths and ranges.
    pub fn index_value(&mut self, val: &Val, span: Span) -> Res<Value> {
        match val.num().map(|n| n.scalar.kind()) {
            Some(Kind::Float | Kind::Complex) => {
                let diag = Diagnostic::new(
                    DiagnosticKind::Typing,
                    span,
                    format!("an integer is needed here, and this is {}", val.ty()),
                );
                Err(diag.help("convert it with int(...)").into())
            }
            _ => self.number_as(val, Scalar::I64, span),
        }
    }

    /// A bound or step of a slice as an `i64`: what is larger than any length counts as the largest one.
    pub fn bound_value(&mut self, val: &Val, span: Span) -> Res<Value> {
        if let Some(i) = val.const_int() {
            let i = i.clamp(i64::MIN.into(), i64::MAX.into());
            return self.index_value(&Val::int(i), span);
        }
        match val {
            Val::Num(value, num) if num.scalar == Scalar::U64 => {
                let most = self.b.constant(Const::Int(Scalar::U64, i64::MAX));
                let value = self.b.binary(BinOp::Min, *value, most);
                let value = self.b.cast(value, Scalar::I64);
                self.facts.mark_nonneg(value);
                Ok(value)
            }
            _ => self.index_value(val, span),
        }
    }

    /// A start, stop or step of a range as an `i64`; raises for a number that is none.
    pub fn range_value(&mut self, val: &Val, span: Span) -> Res<Value> {
        let value = match val.const_int() {
            Some(i) => return self.index_value(&Val::int(i), span),
            None => self.index_value(val, span)?,
        };
        if val.num().is_some_and(|num| num.scalar == Scalar::U64) {
            let zero = self.b.i64(0);
            let large = self.b.compare(CmpOp::Lt, value, zero);
            self.raise_if(large, ErrorKind::Overflow, "Python int too large to convert to C ssize_t")?;
            self.facts.mark_nonneg(value);
        }
        Ok(value)
    }

    /// A Python number with the type it has by itself: to Numba, integers beyond int64 are uint64.
    pub fn typed(&self, lit: Lit) -> Lit {
        match lit.value {
            Number::Int(v) if self.numba() && lit.num == Num::INT && v > i128::from(i64::MAX) => Lit {
                num: Num::strong(Scalar::U64),
                ..lit
            },
            _ => lit,
        }
    }

    fn constant(&mut self, lit: Lit, to: Scalar, span: Span) -> Res<Value> {
        if lit.num.scalar.is_complex() && !to.is_complex() {
            return Err(self.typing(span, format!("complex cannot be converted to {}", to.numpy_name())));
        }
        let misfit = |v: i128, s: Scalar| {
            let message = format!("the Python integer {v} does not fit {}", s.numpy_name());
            Diagnostic::new(DiagnosticKind::Value, span, message)
        };
        // A strong number converts as a cast does; a Python one must fit.
        let wraps = !lit.num.weak || self.numba();
        let lit = match lit.value {
            Number::Int(v) if !fits(v, lit.num.scalar) && lit.num.scalar.is_int() && wraps => return Err(misfit(v, lit.num.scalar).into()),
            Number::Int(v) if to.is_int() && wraps => Lit::int(wrap_int(v, to)),
            Number::Float(v) if to.is_int() => match fold::whole(v).map_err(|why| self.no_number(why, span))? {
                whole if wraps && fits(whole, Scalar::I64) => Lit::int(wrap_int(whole, to)),
                whole => Lit::int(whole),
            },
            _ => lit,
        };
        let Some(constant) = lit.constant(to) else {
            return Err(misfit(lit.value.int().unwrap_or_default(), to).into());
        };
        let value = self.b.constant(constant);
        if matches!(constant, Const::Int(_, v) if v >= 0) {
            self.facts.mark_nonneg(value);
        }
        if matches!(constant, Const::Int(_, 1)) {
            self.facts.mark_one(value);
        }
        Ok(value)
    }

    /// Converts between scalar types, never from complex to real.
    pub fn convert(&mut self, value: Value, from: Scalar, to: Scalar) -> Value {
        if from == to {
            return value;
        }
        if to == Scalar::Bool {
            return self.nonzero(value, from);
        }
        if !to.is_complex() {
            let cast = self.b.cast(value, to);
            let kept = match from.kind() {
                Kind::Signed => self.facts.is_nonneg(value) && to.is_int() && to.size() >= from.size(),
                Kind::Unsigned => to.is_int() && to.size() > from.size(),
                _ => from == Scalar::Bool,
            };
            if kept {
                self.facts.mark_nonneg(cast);
            }
            return cast;
        }
        let part = to.part();
        let (re, im) = if from.is_complex() {
            let re = self.b.emit(from.part(), Op::Re(value));
            let im = self.b.emit(from.part(), Op::Im(value));
            (self.b.cast(re, part), self.b.cast(im, part))
        } else {
            (self.b.cast(value, part), self.zero(part))
        };
        self.b.emit(to, Op::Complex(re, im))
    }

    pub fn zero(&mut self, s: Scalar) -> Value {
        self.small(s, 0)
    }

    /// A small integer as a constant of any numeric type.
    pub fn small(&mut self, s: Scalar, v: i8) -> Value {
        let constant = match s {
            Scalar::Bool => Const::Bool(v != 0),
            Scalar::F16 | Scalar::BF16 => eval::cast(Const::f64(v.into()), s).unwrap_or(eval::zero(s)),
            Scalar::F32 => Const::f32(v.into()),
            Scalar::F64 => Const::f64(v.into()),
            Scalar::C64 => Const::C64(f32::from(v).to_bits(), 0),
            Scalar::C128 => Const::C128(f64::from(v).to_bits(), 0),
            int => Const::Int(int, v.into()),
        };
        self.b.constant(constant)
    }

    fn nonzero(&mut self, value: Value, s: Scalar) -> Value {
        if s == Scalar::Bool {
            return value;
        }
        let zero = self.zero(s);
        self.b.compare(CmpOp::Ne, value, zero)
    }

    /// What a condition knows: its constant truth, or a bool value.
    pub fn truth(&mut self, val: &Val, span: Span) -> Res<Truth> {
        match val {
            Val::Lit(lit) => Ok(Truth::Known(lit.value.truth())),
            Val::Num(value, num) => Ok(Truth::Value(self.nonzero(*value, num.scalar))),
            Val::None => Ok(Truth::Known(false)),
            Val::Tuple(items) => Ok(Truth::Known(!items.is_empty())),
            Val::Str(s) => Ok(Truth::Known(!s.is_empty())),
            Val::View(..) | Val::Lazy(_) => {
                let message = format!("the truth of a {} is not one value", val.ty());
                let diag = Diagnostic::new(DiagnosticKind::Typing, span, message);
                Err(diag.help("use .any() or .all(), or test one element").into())
            }
            _ => Ok(Truth::Known(true)),
        }
    }

    /// A condition as a bool value.
    pub fn truth_value(&mut self, val: &Val, span: Span) -> Res<Value> {
        Ok(match self.truth(val, span)? {
            Truth::Known(b) => self.b.constant(Const::Bool(b)),
            Truth::Value(v) => v,
        })
    }

    pub fn not(&mut self, value: Value) -> Value {
        self.b.unary(weft_ir::UnOp::Not, value)
    }

    /// Numbers of two types brought to the one they share.
    pub fn unified(&mut self, a: &Val, b: &Val, num: Num, span: Span) -> Res<(Value, Value)> {
        Ok((self.number_as(a, num.scalar, span)?, self.number_as(b, num.scalar, span)?))
    }
}

/// A condition: known while compiling, or a bool value.
#[derive(Clone, Copy, Debug)]
pub enum Truth {
    Known(bool),
    Value(Value),
}

fn fits(v: i128, s: Scalar) -> bool {
    let (low, high) = int_range(s);
    low <= v && v <= high
}

/// An integer reduced to a type's width.
fn wrap_int(v: i128, to: Scalar) -> i128 {
    let (low, high) = int_range(to);
    let span = high - low + 1;
    (v - low).rem_euclid(span) + low
}
