//! Loops of complex numbers, in NumPy's order of operations.

use weft_ir::Scalar;

use crate::element::{C, Elem, Real, Truth};
use crate::run::{Found, One, Two, one, two};

macro_rules! unary {
    ($($name:ident($x:ident) -> $r:ty = $body:expr;)*) => {$(
        struct $name;
        impl<T: Real> One<C<T>> for $name where C<T>: Elem {
            type R = $r;
            #[inline(always)]
            fn of($x: C<T>) -> $r {
                $body
            }
        }
    )*};
}

macro_rules! binary {
    ($($name:ident($x:ident, $y:ident) -> $r:ty = $body:expr;)*) => {$(
        struct $name;
        impl<T: Real> Two<C<T>> for $name where C<T>: Elem {
            type R = $r;
            #[inline(always)]
            fn of($x: C<T>, $y: C<T>) -> $r {
                $body
            }
        }
    )*};
}

unary! {
    Negative(x) -> C<T> = C { re: -x.re, im: -x.im };
    Conjugate(x) -> C<T> = C { re: x.re, im: -x.im };
    Square(x) -> C<T> = product(x, x);
    Reciprocal(x) -> C<T> = reciprocal(x);
    Rint(x) -> C<T> = C { re: x.re.to_even(), im: x.im.to_even() };
    RealPart(x) -> T = x.re;
    ImaginaryPart(x) -> T = x.im;
    IsNan(x) -> Truth = Truth::of(missing(x));
    IsInf(x) -> Truth = Truth::of(x.re.endless() | x.im.endless());
    IsFinite(x) -> Truth = Truth::of(x.re.finite() & x.im.finite());
    Not(x) -> Truth = Truth::of(!truth(x));
}

binary! {
    Add(x, y) -> C<T> = C { re: x.re + y.re, im: x.im + y.im };
    Subtract(x, y) -> C<T> = C { re: x.re - y.re, im: x.im - y.im };
    Multiply(x, y) -> C<T> = product(x, y);
    Divide(x, y) -> C<T> = quotient(x, y);
    Maximum(x, y) -> C<T> = missing_wins(x, y, if at_least(x, y) { x } else { y });
    Minimum(x, y) -> C<T> = missing_wins(x, y, if at_most(x, y) { x } else { y });
    Fmax(x, y) -> C<T> = missing_loses(x, y, if at_least(x, y) { x } else { y });
    Fmin(x, y) -> C<T> = missing_loses(x, y, if at_most(x, y) { x } else { y });
    Equal(x, y) -> Truth = Truth::of((x.re == y.re) & (x.im == y.im));
    NotEqual(x, y) -> Truth = Truth::of((x.re != y.re) | (x.im != y.im));
    Less(x, y) -> Truth = Truth::of(ordered(x, y, x.re < y.re, x.im < y.im));
    LessEqual(x, y) -> Truth = Truth::of(at_most(x, y));
    Greater(x, y) -> Truth = Truth::of(ordered(x, y, x.re > y.re, x.im > y.im));
    GreaterEqual(x, y) -> Truth = Truth::of(at_least(x, y));
    And(x, y) -> Truth = Truth::of(truth(x) & truth(y));
    Or(x, y) -> Truth = Truth::of(truth(x) | truth(y));
    Xor(x, y) -> Truth = Truth::of(truth(x) != truth(y));
}

#[inline(always)]
fn truth<T: Real>(x: C<T>) -> bool {
    (x.re != T::ZERO) | (x.im != T::ZERO)
}

#[inline(always)]
fn missing<T: Real>(x: C<T>) -> bool {
    x.re.missing() | x.im.missing()
}

#[inline(always)]
fn product<T: Real>(x: C<T>, y: C<T>) -> C<T> {
    C {
        re: x.re * y.re - x.im * y.im,
        im: x.re * y.im + x.im * y.re,
    }
}

/// Smith's method without branches: the divisor's larger part is taken out, and the dividend's parts are named by their places beside it.
#[inline(always)]
fn quotient<T: Real>(x: C<T>, y: C<T>) -> C<T> {
    let flat = y.re.size() >= y.im.size();
    let (large, small) = if flat { (y.re, y.im) } else { (y.im, y.re) };
    let (first, second) = if flat { (x.re, x.im) } else { (x.im, x.re) };
    let ratio = small / large;
    let scale = T::ONE / (large + small * ratio);
    let re = (first + second * ratio) * scale;
    let (one, other) = (second, first * ratio);
    let im = (if flat { one - other } else { other - one }) * scale;
    let by_zero = flat & (y.re == T::ZERO) & (y.im == T::ZERO);
    // Divided by zero is multiplied by infinity.
    C {
        re: if by_zero { x.re * T::INFINITY } else { re },
        im: if by_zero { x.im * T::INFINITY } else { im },
    }
}

/// NumPy's: divided by the larger part, with no care for zero.
#[inline(always)]
fn reciprocal<T: Real>(x: C<T>) -> C<T> {
    let flat = x.im.size() <= x.re.size();
    let (large, small) = if flat { (x.re, x.im) } else { (x.im, x.re) };
    let ratio = small / large;
    let divisor = large + small * ratio;
    let (unit, rest) = (T::ONE / divisor, ratio / divisor);
    let (re, im) = if flat { (unit, rest) } else { (rest, unit) };
    C { re, im: -im }
}

/// By real parts, then by imaginary ones; false where a part is NaN.
#[inline(always)]
fn ordered<T: Real>(x: C<T>, y: C<T>, by_re: bool, by_im: bool) -> bool {
    by_re & !x.im.missing() & !y.im.missing() | (x.re == y.re) & by_im
}

#[inline(always)]
fn at_least<T: Real>(x: C<T>, y: C<T>) -> bool {
    ordered(x, y, x.re > y.re, x.im >= y.im)
}

#[inline(always)]
fn at_most<T: Real>(x: C<T>, y: C<T>) -> bool {
    ordered(x, y, x.re < y.re, x.im <= y.im)
}

#[inline(always)]
fn missing_wins<T: Real>(x: C<T>, y: C<T>, best: C<T>) -> C<T> {
    let best = if missing(y) { y } else { best };
    if missing(x) { x } else { best }
}

#[inline(always)]
fn missing_loses<T: Real>(x: C<T>, y: C<T>, best: C<T>) -> C<T> {
    let best = if missing(x) { y } else { best };
    if missing(y) { x } else { best }
}

pub fn find_one(name: &str, s: Scalar) -> Option<Found> {
    match name {
        "negative" => unary::<Negative>(s),
        "conjugate" => unary::<Conjugate>(s),
        "square" => unary::<Square>(s),
        "reciprocal" => unary::<Reciprocal>(s),
        "rint" => unary::<Rint>(s),
        "real" => unary::<RealPart>(s),
        "imag" => unary::<ImaginaryPart>(s),
        "isnan" => unary::<IsNan>(s),
        "isinf" => unary::<IsInf>(s),
        "isfinite" => unary::<IsFinite>(s),
        "logical_not" => unary::<Not>(s),
        _ => None,
    }
}

pub fn find_two(name: &str, s: Scalar) -> Option<Found> {
    match name {
        "add" => binary::<Add>(s),
        "subtract" => binary::<Subtract>(s),
        "multiply" => binary::<Multiply>(s),
        "divide" => binary::<Divide>(s),
        "maximum" => binary::<Maximum>(s),
        "minimum" => binary::<Minimum>(s),
        "fmax" => binary::<Fmax>(s),
        "fmin" => binary::<Fmin>(s),
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

fn unary<O>(s: Scalar) -> Option<Found>
where
    O: One<C<f32>> + One<C<f64>> + 'static,
{
    match s {
        Scalar::C64 => Some(one::<O, C<f32>>()),
        Scalar::C128 => Some(one::<O, C<f64>>()),
        _ => None,
    }
}

fn binary<O>(s: Scalar) -> Option<Found>
where
    O: Two<C<f32>> + Two<C<f64>> + 'static,
{
    match s {
        Scalar::C64 => Some(two::<O, C<f32>, C<f32>>()),
        Scalar::C128 => Some(two::<O, C<f64>, C<f64>>()),
        _ => None,
    }
}
