//! Arithmetic of numbers: unary and binary operators, powers, division by zero.

use ruff_python_ast::{Operator, UnaryOp};
use weft_ir::{BinOp, CmpOp, ErrorKind, Kind, Op, Scalar, Span, UnOp, Value};

use super::Lower;
use crate::Role;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::fold;
use crate::stop::Res;
use crate::types::Num;
use crate::value::{Lit, Number, Val};

/// Integer exponents up to this become products.
const UNROLLED_POWER: u64 = 16;

/// Tuples are written out in the code that uses them.
const LONGEST_TUPLE: usize = 1024;

/// Bytes of a text that is put together while compiling.
const LONGEST_TEXT: usize = 1 << 20;

/// As Python words it.
const ZERO_TO_NEGATIVE: &str = "0.0 cannot be raised to a negative power";

impl Lower<'_> {
    pub fn binary(&mut self, op: Operator, a: &Val, b: &Val, span: Span) -> Res<Val> {
        if a.is_array() || b.is_array() {
            return self.array_binary(op, a, b, span);
        }
        match (op, a, b) {
            (Operator::Add, Val::Tuple(a), Val::Tuple(b)) if a.is_list() && b.is_list() => {
                return Ok(Val::Tuple(a.with([&**a, &**b].concat())));
            }
            (Operator::Add, Val::Tuple(a), Val::Tuple(b)) if a.is_tuple() && b.is_tuple() => return Ok(Val::tuple([&**a, &**b].concat())),
            (Operator::Add, Val::Str(a), Val::Str(b)) if a.len() + b.len() > LONGEST_TEXT => {
                return Err(self.unsupported(span, "this text is too long"));
            }
            (Operator::Add, Val::Str(a), Val::Str(b)) => return Ok(Val::Str(format!("{a}{b}"))),
            (Operator::Mult, Val::Tuple(items), n) | (Operator::Mult, n, Val::Tuple(items)) if !items.is_passing() => {
                if let Some(n) = n.const_int() {
                    let times = usize::try_from(n.max(0)).unwrap_or(usize::MAX);
                    if i64::try_from(n).is_err() || items.len().saturating_mul(times) > LONGEST_TUPLE {
                        return Err(self.unsupported(span, "this tuple is too long; use an array"));
                    }
                    let repeated: Vec<Val> = std::iter::repeat_n(items.to_vec(), times).flatten().collect();
                    return Ok(Val::Tuple(if items.is_list() { items.with(repeated) } else { repeated.into() }));
                }
            }
            _ => {}
        }
        let (Some(x), Some(y)) = (a.num(), b.num()) else {
            return Err(self.operand_error(op, a, b, span));
        };
        if let (Val::Lit(x), Val::Lit(y)) = (a, b)
            && x.num.weak
            && y.num.weak
            && let Some(folded) = fold::binary(op, *x, *y).map_err(|why| self.no_number(why, span))?
        {
            return Ok(Val::Lit(self.typed(folded)));
        }
        match op {
            Operator::Add | Operator::Sub | Operator::Mult => self.ring(op, a, b, self.unify(x, y), span),
            Operator::Div => self.true_division(a, b, span),
            Operator::FloorDiv => self.floor_division(BinOp::FloorDiv, a, b, span),
            Operator::Mod => self.floor_division(BinOp::Mod, a, b, span),
            Operator::Pow => self.power(a, b, span),
            Operator::BitAnd => self.bitwise(BinOp::And, op, a, b, span),
            Operator::BitOr => self.bitwise(BinOp::Or, op, a, b, span),
            Operator::BitXor => self.bitwise(BinOp::Xor, op, a, b, span),
            Operator::LShift => self.bitwise(BinOp::Shl, op, a, b, span),
            Operator::RShift => self.bitwise(BinOp::Shr, op, a, b, span),
            Operator::MatMult => Err(self.operand_error(op, a, b, span)),
        }
    }

    pub fn operand_error(&self, op: Operator, a: &Val, b: &Val, span: Span) -> crate::stop::Stop {
        let message = format!("'{op}' does not go with {} and {}", a.ty(), b.ty());
        self.typing(span, message)
    }

    /// Why an operation on constants gives no number.
    pub fn no_number(&self, why: fold::Refused, span: Span) -> crate::stop::Stop {
        Diagnostic::new(DiagnosticKind::Value, span, why).into()
    }

    /// `+`, `-`, `*`.
    fn ring(&mut self, op: Operator, a: &Val, b: &Val, mut num: Num, span: Span) -> Res<Val> {
        let bin = match op {
            Operator::Add => BinOp::Add,
            Operator::Sub => BinOp::Sub,
            _ => BinOp::Mul,
        };
        let mut bin = bin;
        if num.scalar == Scalar::Bool {
            if num.weak {
                num = Num::INT;
            } else {
                bin = match bin {
                    BinOp::Add => BinOp::Or,
                    BinOp::Mul => BinOp::And,
                    _ => {
                        let diag = Diagnostic::new(DiagnosticKind::Typing, span, "NumPy bools cannot be subtracted");
                        return Err(diag.help("use ^ or `!=`, or convert one with int(...)").into());
                    }
                };
            }
        }
        let (x, y) = self.unified(a, b, num, span)?;
        let value = self.b.binary(bin, x, y);
        // Narrow integers wrap; 64 bits do not, for any index that can be.
        let wide = num.scalar == Scalar::I64;
        if wide && matches!(bin, BinOp::Add | BinOp::Mul) && self.facts.is_nonneg(x) && self.facts.is_nonneg(y) {
            self.facts.mark_nonneg(value);
        }
        Ok(Val::Num(value, num))
    }

    fn true_division(&mut self, a: &Val, b: &Val, span: Span) -> Res<Val> {
        let (Some(x), Some(y)) = (a.num(), b.num()) else {
            return Err(self.operand_error(Operator::Div, a, b, span));
        };
        let mut num = self.unify(x, y);
        if !num.scalar.is_float() && !num.scalar.is_complex() {
            num = self.quotient_of_integers(x, y, num);
        }
        self.check_divisor(b, num, span)?;
        let (x, y) = self.unified(a, b, num, span)?;
        Ok(Val::Num(self.b.binary(BinOp::Div, x, y), num))
    }

    /// `//` and `%`.
    pub fn floor_division(&mut self, op: BinOp, a: &Val, b: &Val, span: Span) -> Res<Val> {
        let python = if op == BinOp::Mod { Operator::Mod } else { Operator::FloorDiv };
        let (Some(x), Some(y)) = (a.num(), b.num()) else {
            return Err(self.operand_error(python, a, b, span));
        };
        let mut num = self.unify(x, y);
        match num.scalar.kind() {
            Kind::Complex => return Err(self.operand_error(python, a, b, span)),
            Kind::Bool => num = num.with(if num.weak { Scalar::I64 } else { Scalar::I8 }),
            _ => {}
        }
        self.check_divisor(b, num, span)?;
        let (x, y) = self.unified(a, b, num, span)?;
        let value = self.b.binary(op, x, y);
        let positive = b.const_int().is_some_and(|d| d > 0);
        if positive && (op == BinOp::Mod || self.facts.is_nonneg(x)) {
            self.facts.mark_nonneg(value);
        }
        Ok(Val::Num(value, num))
    }

    /// Does a division by zero whose result is `num` raise? Python numbers' does, where the error model says so; NumPy's gives infinity, NaN or 0,
    /// unless a kernel is debugged, which any division by zero ends. To Numba all scalars are Python's.
    fn zero_raises(&self, num: Num) -> bool {
        self.python_errors() && (num.weak || self.numba_scalars() || self.cx.role() == Role::Kernel)
    }

    /// Before a division whose result is `num`: refuses a divisor that is written as zero, raises for another zero, where zero divisors raise.
    fn check_divisor(&mut self, b: &Val, num: Num, span: Span) -> Res<()> {
        if !self.zero_raises(num) {
            return Ok(());
        }
        match b {
            Val::Lit(lit) if lit.value.truth() => Ok(()),
            Val::Lit(_) => Err(Diagnostic::new(DiagnosticKind::ZeroDivision, span, "division by zero").into()),
            Val::Num(value, num) => self.raise_if_zero(*value, *num, "division by zero"),
            _ => Ok(()),
        }
    }

    fn raise_if_zero(&mut self, value: Value, num: Num, message: &str) -> Res<()> {
        let zero = self.zero(num.scalar);
        let is_zero = self.b.compare(CmpOp::Eq, value, zero);
        self.raise_if(is_zero, ErrorKind::ZeroDivision, message)
    }

    fn bitwise(&mut self, bin: BinOp, op: Operator, a: &Val, b: &Val, span: Span) -> Res<Val> {
        let (Some(x), Some(y)) = (a.num(), b.num()) else {
            return Err(self.operand_error(op, a, b, span));
        };
        let shift = matches!(bin, BinOp::Shl | BinOp::Shr);
        if shift && x.weak && !self.numba() && weak_int(b).is_some_and(|count| count < 0) {
            return Err(self.no_number(fold::NEGATIVE_SHIFT, span));
        }
        let bools = x.scalar == Scalar::Bool && y.scalar == Scalar::Bool;
        let mut num = match shift {
            true => self.unify_shift(x, y),
            false if bools && self.numba() => Num::strong(Scalar::Bool),
            false => self.unify(x, y),
        };
        match num.scalar.kind() {
            Kind::Float | Kind::Complex => return Err(self.operand_error(op, a, b, span)),
            Kind::Bool if shift => num = num.with(if num.weak { Scalar::I64 } else { Scalar::I8 }),
            _ => {}
        }
        let (x, y) = self.unified(a, b, num, span)?;
        let value = self.b.binary(bin, x, y);
        let nonneg = match bin {
            BinOp::And => self.facts.is_nonneg(x) || self.facts.is_nonneg(y),
            BinOp::Shr => self.facts.is_nonneg(x),
            _ => false,
        };
        if nonneg {
            self.facts.mark_nonneg(value);
        }
        Ok(Val::Num(value, num))
    }

    // ---- powers ----

    pub fn power(&mut self, a: &Val, b: &Val, span: Span) -> Res<Val> {
        let (Some(x), Some(y)) = (a.num(), b.num()) else {
            return Err(self.operand_error(Operator::Pow, a, b, span));
        };
        if let Some(n) = weak_int(b)
            && n.unsigned_abs() <= UNROLLED_POWER.into()
        {
            return self.literal_power(a, self.unify_power(x, y), n as i64, span);
        }
        if b.lit().is_some_and(|l| l.value == Number::Float(0.5)) && !x.scalar.is_complex() {
            let num = self.unify_power(x, y);
            let value = self.number_as(a, num.scalar, span)?;
            return Ok(Val::Num(self.half_power(value, num.scalar), num));
        }
        let mut num = self.unify_power(x, y);
        let whole = num.scalar.is_int() || num.scalar == Scalar::Bool;
        if whole && num.weak && !self.numba() && weak_int(b).is_some_and(|n| n < 0) {
            // Python's integers to a negative power are floats.
            num = self.sized(Num::FLOAT);
        }
        match num.scalar.kind() {
            Kind::Complex => self.complex_power(a, b, num, span),
            Kind::Float => {
                let (x, y) = self.unified(a, b, num, span)?;
                self.check_zero_power(x, y, num)?;
                self.library_call("pow", &[Val::Num(x, num), Val::Num(y, num)], span)
            }
            _ => {
                let num = match (num.scalar, num.weak) {
                    (Scalar::Bool, true) => Num::INT,
                    (Scalar::Bool, false) => num.with(Scalar::I8),
                    _ => num,
                };
                self.integer_power(a, b, num, span)
            }
        }
    }

    /// The square root, but for -0.0, whose power is 0.0, and negative infinity, whose power is positive.
    fn half_power(&mut self, value: Value, s: Scalar) -> Value {
        let zero = self.zero(s);
        let unsigned = self.b.binary(BinOp::Add, value, zero);
        let root = self.b.unary(UnOp::Sqrt, unsigned);
        let infinite = self.b.unary(UnOp::IsInf, value);
        let size = self.b.unary(UnOp::Abs, value);
        self.b.select(infinite, size, root)
    }

    /// Zero to a negative power is a division by zero, but to Numba, whose floats give infinity.
    fn check_zero_power(&mut self, base: Value, exponent: Value, num: Num) -> Res<()> {
        if !self.zero_raises(num) || self.numba() {
            return Ok(());
        }
        let zero = self.zero(num.scalar);
        let is_zero = self.b.compare(CmpOp::Eq, base, zero);
        let negative = self.b.compare(CmpOp::Lt, exponent, zero);
        let divides = self.b.binary(BinOp::And, is_zero, negative);
        self.raise_if(divides, ErrorKind::ZeroDivision, ZERO_TO_NEGATIVE)
    }

    /// Complex zero to a power with a negative real part or an imaginary part, likewise.
    fn check_zero_complex_power(&mut self, base: Value, num: Num, re: &Val, im: &Val, span: Span) -> Res<()> {
        if !self.zero_raises(num) || self.numba() {
            return Ok(());
        }
        let part = num.scalar.part();
        let (re, im) = (self.number_as(re, part, span)?, self.number_as(im, part, span)?);
        let (zero, nought) = (self.zero(num.scalar), self.zero(part));
        let is_zero = self.b.compare(CmpOp::Eq, base, zero);
        let negative = self.b.compare(CmpOp::Lt, re, nought);
        let imaginary = self.b.compare(CmpOp::Ne, im, nought);
        let either = self.b.binary(BinOp::Or, negative, imaginary);
        let divides = self.b.binary(BinOp::And, is_zero, either);
        self.raise_if(divides, ErrorKind::ZeroDivision, ZERO_TO_NEGATIVE)
    }

    fn integer_power(&mut self, a: &Val, b: &Val, num: Num, span: Span) -> Res<Val> {
        let (x, y) = self.unified(a, b, num, span)?;
        self.check_exponent(x, y, num)?;
        Ok(Val::Num(self.b.binary(BinOp::IntPow, x, y), num))
    }

    /// A negative exponent would make a fraction, which integers are not. To Numba it is 0 but for the powers of 0, where it raises.
    fn check_exponent(&mut self, base: Value, exponent: Value, num: Num) -> Res<()> {
        if !num.scalar.is_signed() || !self.python_errors() || self.facts.is_nonneg(exponent) {
            return Ok(());
        }
        let zero = self.zero(num.scalar);
        let negative = self.b.compare(CmpOp::Lt, exponent, zero);
        if self.numba() {
            if self.of_elements {
                return Ok(());
            }
            let nothing = self.b.compare(CmpOp::Eq, base, zero);
            let both = self.b.binary(BinOp::And, negative, nothing);
            return self.raise_if(both, ErrorKind::ZeroDivision, "0 cannot be raised to a negative power");
        }
        self.raise_if(negative, ErrorKind::Value, "Integers to negative integer powers are not allowed.")
    }

    /// A power with an exponent written out: squarings and products.
    fn literal_power(&mut self, a: &Val, mut num: Num, n: i64, span: Span) -> Res<Val> {
        if num.scalar == Scalar::Bool {
            num = if num.weak { Num::INT } else { num.with(Scalar::I8) };
        }
        if n < 0 && num.scalar.is_int() {
            if self.numba() {
                // The power of integers is one: of most numbers to a negative power it is 0.
                let exponent = Val::Lit(Lit {
                    num: Num::strong(num.scalar),
                    value: Number::Int(n.into()),
                });
                return self.integer_power(a, &exponent, num, span);
            }
            if !num.weak {
                let message = format!("an integer of type {num} cannot be raised to a negative power");
                let diag = Diagnostic::new(DiagnosticKind::Value, span, message);
                return Err(diag.help("convert it with float(...)").into());
            }
            num = self.sized(Num::FLOAT);
        }
        let base = self.number_as(a, num.scalar, span)?;
        let mut power = self.product_power(base, num.scalar, n.unsigned_abs());
        if num.scalar.is_complex() && !(0..=3).contains(&n) {
            // NumPy's products start from 1, which shows in zeros and infinities.
            let one = self.small(num.scalar, 1);
            power = self.b.binary(BinOp::Mul, one, power);
        }
        if n >= 0 {
            return Ok(Val::Num(power, num));
        }
        if self.zero_raises(num) && !self.numba() {
            self.raise_if_zero(base, num, ZERO_TO_NEGATIVE)?;
        }
        let one = self.small(num.scalar, 1);
        Ok(Val::Num(self.b.binary(BinOp::Div, one, power), num))
    }

    fn product_power(&mut self, base: Value, s: Scalar, mut n: u64) -> Value {
        let mut square = base;
        let mut product = None;
        while n > 0 {
            if n & 1 == 1 {
                product = Some(match product {
                    None => square,
                    Some(p) => self.b.binary(BinOp::Mul, p, square),
                });
            }
            n >>= 1;
            if n > 0 {
                square = self.b.binary(BinOp::Mul, square, square);
            }
        }
        product.unwrap_or_else(|| self.small(s, 1))
    }

    fn complex_power(&mut self, a: &Val, b: &Val, num: Num, span: Span) -> Res<Val> {
        let (x, y) = self.unified(a, b, num, span)?;
        let ((xr, xi), (yr, yi)) = (self.parts(x, num), self.parts(y, num));
        self.check_zero_complex_power(x, num, &yr, &yi, span)?;
        Ok(Val::Num(self.complex_call("pow", &[xr, xi, yr, yi], num, span)?, num))
    }

    // ---- unary ----

    pub fn unary(&mut self, op: UnaryOp, a: &Val, span: Span) -> Res<Val> {
        if op == UnaryOp::Not {
            return Ok(match self.truth(a, span)? {
                super::number::Truth::Known(b) => Val::Lit(Lit::bool(!b)),
                super::number::Truth::Value(v) => Val::Num(self.not(v), Num::BOOL),
            });
        }
        if a.is_array() {
            return self.array_map(std::slice::from_ref(a), span, move |l, vals| l.unary(op, &vals[0], span));
        }
        if let Val::Lit(lit) = a
            && (lit.num.weak || !self.numba())
            && let Some(folded) = fold::unary(op, *lit).map_err(|why| self.no_number(why, span))?
        {
            return Ok(Val::Lit(self.typed(folded)));
        }
        let Some(mut num) = a.num() else {
            return Err(self.typing(span, format!("'{}' does not go with {}", op.as_str(), a.ty())));
        };
        if num.scalar == Scalar::Bool && num.weak && !self.numba() {
            num = Num::INT;
        }
        // Numba turns an integer round at its own width, and then makes it wide.
        let wide = if num.scalar == Scalar::Bool && op == UnaryOp::Invert {
            num
        } else {
            self.operand(num)
        };
        if num.scalar == Scalar::Bool {
            num = wide;
        }
        let value = self.number_as(a, num.scalar, span)?;
        let kind = num.scalar.kind();
        let result = match op {
            UnaryOp::UAdd if kind != Kind::Bool => value,
            UnaryOp::USub if kind != Kind::Bool => self.b.unary(UnOp::Neg, value),
            UnaryOp::Invert if kind != Kind::Float && kind != Kind::Complex => self.b.unary(UnOp::Not, value),
            _ => return Err(self.typing(span, format!("'{}' does not go with {num}", op.as_str()))),
        };
        Ok(Val::Num(self.convert(result, num.scalar, wide.scalar), wide))
    }

    /// A complex number's parts.
    pub fn parts(&mut self, value: Value, num: Num) -> (Val, Val) {
        let part = num.with(num.scalar.part());
        let re = self.b.emit(part.scalar, Op::Re(value));
        let im = self.b.emit(part.scalar, Op::Im(value));
        (Val::Num(re, part), Val::Num(im, part))
    }
}

fn weak_int(v: &Val) -> Option<i128> {
    v.lit().filter(|l| l.num.weak).and(v.const_int())
}
