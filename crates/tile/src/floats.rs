//! Loops of floats. 16-bit ones are computed in float32 and rounded, but for what is done on their bits.

use weft_ir::Scalar;

use crate::element::{BF16, F16, Real, Truth};
use crate::halves::{self, Narrow, Wide, one_of_bits, two_of_bits};
use crate::run::{Found, One, Two, one, two};

macro_rules! unary {
    ($($name:ident($x:ident) -> $r:ty = $body:expr;)*) => {$(
        struct $name;
        impl<T: Real> One<T> for $name {
            type R = $r;
            #[inline(always)]
            fn of($x: T) -> $r {
                $body
            }
        }
    )*};
}

macro_rules! binary {
    ($($name:ident($x:ident, $y:ident) -> $r:ty = $body:expr;)*) => {$(
        struct $name;
        impl<T: Real> Two<T> for $name {
            type R = $r;
            #[inline(always)]
            fn of($x: T, $y: T) -> $r {
                $body
            }
        }
    )*};
}

unary! {
    Negative(x) -> T = -x;
    Size(x) -> T = x.size();
    Sign(x) -> T = sign(x, T::ZERO);
    // The sign of zero is kept.
    SignOrZero(x) -> T = sign(x, x);
    Square(x) -> T = x * x;
    Reciprocal(x) -> T = T::ONE / x;
    Root(x) -> T = x.root();
    Floor(x) -> T = x.down();
    Ceil(x) -> T = x.up();
    Trunc(x) -> T = x.inwards();
    Rint(x) -> T = x.to_even();
    Radians(x) -> T = x * T::DEGREE;
    Degrees(x) -> T = x * T::RADIAN;
    Spacing(x) -> T = spacing(x);
    Fraction(x) -> T = (if x.endless() { T::ZERO } else { x - x.inwards() }).signed_as(x);
    Mantissa(x) -> T = x.split().0;
    Exponent(x) -> i32 = x.split().1;
    Zero(_x) -> T = T::ZERO;
    SignBit(x) -> Truth = Truth::of(x.is_negative());
    IsNan(x) -> Truth = Truth::of(x.missing());
    IsInf(x) -> Truth = Truth::of(x.endless());
    IsFinite(x) -> Truth = Truth::of(x.finite());
    Not(x) -> Truth = Truth::of(x == T::ZERO);
}

binary! {
    Add(x, y) -> T = x + y;
    Subtract(x, y) -> T = x - y;
    Multiply(x, y) -> T = x * y;
    Divide(x, y) -> T = x / y;
    FloorDivide(x, y) -> T = if y == T::ZERO { x / y } else { floor_div_mod(x, y).0 };
    Remainder(x, y) -> T = if y == T::ZERO { x % y } else { floor_div_mod(x, y).1 };
    Fmod(x, y) -> T = x % y;
    Maximum(x, y) -> T = if x > y || x.missing() { x } else { y };
    Minimum(x, y) -> T = if x < y || x.missing() { x } else { y };
    Fmax(x, y) -> T = number(x, y, Maximum::of(x, y));
    Fmin(x, y) -> T = number(x, y, Minimum::of(x, y));
    // Of equals, such as zeros of both signs, float16's extremes are the first.
    FirstMaximum(x, y) -> T = Maximum::of(y, x);
    FirstMinimum(x, y) -> T = Minimum::of(y, x);
    FirstFmax(x, y) -> T = number(x, y, Maximum::of(y, x));
    FirstFmin(x, y) -> T = number(x, y, Minimum::of(y, x));
    CopySign(x, y) -> T = x.signed_as(y);
    NextAfter(x, y) -> T = next_after(x, y);
    Heaviside(x, y) -> T = heaviside(x, y);
    Equal(x, y) -> Truth = Truth::of(x == y);
    NotEqual(x, y) -> Truth = Truth::of(x != y);
    Less(x, y) -> Truth = Truth::of(x < y);
    LessEqual(x, y) -> Truth = Truth::of(x <= y);
    Greater(x, y) -> Truth = Truth::of(x > y);
    GreaterEqual(x, y) -> Truth = Truth::of(x >= y);
    And(x, y) -> Truth = Truth::of((x != T::ZERO) & (y != T::ZERO));
    Or(x, y) -> Truth = Truth::of((x != T::ZERO) | (y != T::ZERO));
    Xor(x, y) -> Truth = Truth::of((x != T::ZERO) != (y != T::ZERO));
}

/// -1 or 1; of zeros `zero`. NaN stays NaN.
#[inline(always)]
fn sign<T: Real>(x: T, zero: T) -> T {
    let rest = if x.missing() { x } else { zero };
    let rest = if x > T::ZERO { T::ONE } else { rest };
    if x < T::ZERO { -T::ONE } else { rest }
}

/// The extreme of two numbers, where one of them is NaN the other.
#[inline(always)]
fn number<T: Real>(x: T, y: T, best: T) -> T {
    let best = if y.missing() { x } else { best };
    if x.missing() { y } else { best }
}

/// Floored quotient and its remainder, for a divisor that is not zero, in NumPy's order of operations.
#[inline(always)]
fn floor_div_mod<T: Real>(a: T, b: T) -> (T, T) {
    let rest = a % b;
    let quotient = (a - rest) / b;
    let off = (rest != T::ZERO) & ((b < T::ZERO) != (rest < T::ZERO));
    let quotient = if off { quotient - T::ONE } else { quotient };
    let whole = if off { rest + b } else { rest };
    let rest = if rest == T::ZERO { T::ZERO.signed_as(b) } else { whole };
    if quotient == T::ZERO {
        return (T::ZERO.signed_as(a / b), rest);
    }
    let floor = quotient.down();
    (if quotient - floor > T::HALF { floor + T::ONE } else { floor }, rest)
}

/// The float after x on the way to y.
#[inline(always)]
fn next_after<T: Real>(x: T, y: T) -> T {
    let away = (y > x) == (x > T::ZERO);
    let next = x.moved(if away { 1 } else { -1 });
    let next = if x == T::ZERO { T::ZERO.moved(1).signed_as(y) } else { next };
    let next = if x == y { y } else { next };
    if x.missing() | y.missing() { T::NAN } else { next }
}

/// The distance from x to the next float away from zero, with the sign of x.
#[inline(always)]
fn spacing<T: Real>(x: T) -> T {
    let x = if x == T::ZERO { T::ZERO } else { x };
    x.moved(1) - x
}

/// 0 below zero, 1 above, `middle` at zero.
#[inline(always)]
fn heaviside<T: Real>(x: T, middle: T) -> T {
    let above = if x > T::ZERO { T::ONE } else { x };
    let y = if x < T::ZERO { T::ZERO } else { above };
    if x == T::ZERO { middle } else { y }
}

pub fn find_one(name: &str, s: Scalar) -> Option<Found> {
    match name {
        "negative" => one_of_bits::<halves::Negative>(s).or_else(|| unary::<Negative>(s)),
        "absolute" | "fabs" => one_of_bits::<halves::Size>(s).or_else(|| unary::<Size>(s)),
        "signbit" => one_of_bits::<halves::SignBit>(s).or_else(|| unary::<SignBit>(s)),
        "spacing" => one_of_bits::<halves::Spacing>(s).or_else(|| unary::<Spacing>(s)),
        "sign" if s == Scalar::BF16 => unary::<SignOrZero>(s),
        "sign" => unary::<Sign>(s),
        "square" => unary::<Square>(s),
        "reciprocal" => unary::<Reciprocal>(s),
        "sqrt" => unary::<Root>(s),
        "floor" => unary::<Floor>(s),
        "ceil" => unary::<Ceil>(s),
        "trunc" => unary::<Trunc>(s),
        "rint" => unary::<Rint>(s),
        "deg2rad" => unary::<Radians>(s),
        "rad2deg" => unary::<Degrees>(s),
        "imag" => unary::<Zero>(s),
        "isnan" => unary::<IsNan>(s),
        "isinf" => unary::<IsInf>(s),
        "isfinite" => unary::<IsFinite>(s),
        "logical_not" => unary::<Not>(s),
        _ => None,
    }
}

pub fn find_two(name: &str, s: Scalar) -> Option<Found> {
    let of_float16 = s == Scalar::F16;
    match name {
        "add" => binary::<Add>(s),
        "subtract" => binary::<Subtract>(s),
        "multiply" => binary::<Multiply>(s),
        "divide" => binary::<Divide>(s),
        "floor_divide" => binary::<FloorDivide>(s),
        "remainder" => binary::<Remainder>(s),
        "fmod" => binary::<Fmod>(s),
        "maximum" if of_float16 => binary::<FirstMaximum>(s),
        "minimum" if of_float16 => binary::<FirstMinimum>(s),
        "fmax" if of_float16 => binary::<FirstFmax>(s),
        "fmin" if of_float16 => binary::<FirstFmin>(s),
        "maximum" => binary::<Maximum>(s),
        "minimum" => binary::<Minimum>(s),
        "fmax" => binary::<Fmax>(s),
        "fmin" => binary::<Fmin>(s),
        "copysign" => two_of_bits::<halves::CopySign>(s).or_else(|| binary::<CopySign>(s)),
        "nextafter" => two_of_bits::<halves::NextAfter>(s).or_else(|| binary::<NextAfter>(s)),
        "heaviside" => binary::<Heaviside>(s),
        "equal" => binary::<Equal>(s),
        "not_equal" => binary::<NotEqual>(s),
        "less" => binary::<Less>(s),
        "less_equal" => binary::<LessEqual>(s),
        "greater" => binary::<Greater>(s),
        "greater_equal" => binary::<GreaterEqual>(s),
        "logical_and" => binary::<And>(s),
        "logical_or" => binary::<Or>(s),
        "logical_xor" => binary::<Xor>(s),
        _ => None,
    }
}

pub fn find_pair(name: &str, s: Scalar) -> Option<[Found; 2]> {
    match name {
        "modf" => Some([unary::<Fraction>(s)?, unary::<Trunc>(s)?]),
        "frexp" => Some([unary::<Mantissa>(s)?, unary::<Exponent>(s)?]),
        _ => None,
    }
}

fn unary<O>(s: Scalar) -> Option<Found>
where
    O: One<f32, R: Narrow> + One<f64> + 'static,
{
    Some(match s {
        Scalar::F16 => one::<Wide<O>, F16>(),
        Scalar::BF16 => one::<Wide<O>, BF16>(),
        Scalar::F32 => one::<O, f32>(),
        Scalar::F64 => one::<O, f64>(),
        _ => return None,
    })
}

fn binary<O>(s: Scalar) -> Option<Found>
where
    O: Two<f32, R: Narrow> + Two<f64> + 'static,
{
    Some(match s {
        Scalar::F16 => two::<Wide<O>, F16, F16>(),
        Scalar::BF16 => two::<Wide<O>, BF16, BF16>(),
        Scalar::F32 => two::<O, f32, f32>(),
        Scalar::F64 => two::<O, f64, f64>(),
        _ => return None,
    })
}
