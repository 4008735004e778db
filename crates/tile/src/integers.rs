//! Loops of integers. They wrap at their width, and what is divided by zero gives 0. Where signs make no difference, signed and unsigned
//! integers of one width share a loop.

use std::marker::PhantomData;

use weft_ir::Scalar;

use crate::casts::Target;
use crate::element::{Elem, Truth, unsigned};
use crate::run::{Found, One, Two, one, two};

/// An integer that is computed in.
pub trait Int: Elem + Ord {
    const BITS: u32;
    const SIGNED: bool;
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Towards zero; `other` is not 0.
    fn over(self, other: Self) -> Self;
    fn opposite(self) -> Self;
    fn size(self) -> Self;
    fn not(self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn left(self, count: u32) -> Self;
    fn right(self, count: u32) -> Self;
    fn ones(self) -> u8;
    fn zeros_behind(self) -> u32;
    /// The number as an unsigned count; one that is negative is too large.
    fn count(self) -> u64;
}

macro_rules! int {
    ($($ty:ident, $size:ident, $a:ident / $b:ident => $quotient:expr;)*) => {$(
        impl Int for $ty {
            const BITS: u32 = $ty::BITS;
            const SIGNED: bool = $ty::MIN != 0;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $quotient
            }
            #[inline(always)]
            fn opposite(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn size(self) -> Self {
                self.$size()
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn left(self, count: u32) -> Self {
                self.wrapping_shl(count)
            }
            #[inline(always)]
            fn right(self, count: u32) -> Self {
                self.wrapping_shr(count)
            }
            #[inline(always)]
            fn ones(self) -> u8 {
                self.count_ones() as u8
            }
            #[inline(always)]
            fn zeros_behind(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline(always)]
            fn count(self) -> u64 {
                self as u64
            }
        }
    )*};
}

// Vector units divide floats only: where these are wide enough for the quotient's whole part to be exact, they do it.
int! {
    i8, wrapping_abs, a / b => low_bits(f32::from(a) / f32::from(b)) as i8;
    i16, wrapping_abs, a / b => low_bits(f32::from(a) / f32::from(b)) as i16;
    i32, wrapping_abs, a / b => low_bits_of_double(f64::from(a) / f64::from(b)) as i32;
    i64, wrapping_abs, a / b => a.wrapping_div(b);
    u8, same, a / b => low_bits(f32::from(a) / f32::from(b)) as u8;
    u16, same, a / b => low_bits(f32::from(a) / f32::from(b)) as u16;
    u32, same, a / b => low_bits_of_double(f64::from(a) / f64::from(b)) as u32;
    u64, same, a / b => a / b;
}

/// The lower bits of a float's whole part, which is less than 2^22: of a sum that has no place behind the point they are the last ones.
#[inline(always)]
fn low_bits(x: f32) -> u32 {
    (x.trunc() + 12_582_912.0).to_bits()
}

/// The same of one that is less than 2^51.
#[inline(always)]
fn low_bits_of_double(x: f64) -> u64 {
    (x.trunc() + 6_755_399_441_055_744.0).to_bits()
}

/// What has no sign is its own size.
trait Same: Sized {
    #[inline(always)]
    fn same(self) -> Self {
        self
    }
}

impl Same for u8 {}
impl Same for u16 {}
impl Same for u32 {}
impl Same for u64 {}

macro_rules! unary {
    ($($name:ident($x:ident) -> $r:ty = $body:expr;)*) => {$(
        pub struct $name;
        impl<T: Int> One<T> for $name {
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
        pub struct $name;
        impl<T: Int> Two<T> for $name {
            type R = $r;
            #[inline(always)]
            fn of($x: T, $y: T) -> $r {
                $body
            }
        }
    )*};
}

unary! {
    Negative(x) -> T = x.opposite();
    Invert(x) -> T = x.not();
    Square(x) -> T = x.times(x);
    Size(x) -> T = x.size();
    Sign(x) -> T = sign(x);
    Zero(_x) -> T = T::ZERO;
    Ones(x) -> u8 = x.size().ones();
    Not(x) -> Truth = Truth::of(x == T::ZERO);
    Never(_x) -> Truth = Truth::of(false);
    Always(_x) -> Truth = Truth::of(true);
}

binary! {
    Add(x, y) -> T = x.plus(y);
    Subtract(x, y) -> T = x.minus(y);
    Multiply(x, y) -> T = x.times(y);
    FloorDivide(x, y) -> T = floor_divide(x, y);
    Remainder(x, y) -> T = remainder(x, y);
    Fmod(x, y) -> T = rest(x, y);
    Power(x, y) -> T = power(x, y);
    Maximum(x, y) -> T = x.max(y);
    Minimum(x, y) -> T = x.min(y);
    BitAnd(x, y) -> T = x.and(y);
    BitOr(x, y) -> T = x.or(y);
    BitXor(x, y) -> T = x.xor(y);
    LeftShift(x, y) -> T = if y.count() < T::BITS.into() { x.left(y.count() as u32) } else { T::ZERO };
    RightShift(x, y) -> T = right_shift(x, y);
    Gcd(x, y) -> T = gcd(x, y);
    Lcm(x, y) -> T = lcm(x, y);
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

#[inline(always)]
fn sign<T: Int>(x: T) -> T {
    let rest = if x > T::ZERO { T::ONE } else { T::ZERO };
    if x < T::ZERO { T::ONE.opposite() } else { rest }
}

struct Reciprocal;

/// The whole part. Zero gives what infinity becomes as this integer.
impl<T: Int + Target> One<T> for Reciprocal {
    type R = T;
    #[inline(always)]
    fn of(x: T) -> T {
        let whole = if x.size() == T::ONE { x } else { T::ZERO };
        if x == T::ZERO { T::converted(f64::INFINITY) } else { whole }
    }
}

/// Towards zero; 0 of a division by zero.
#[inline(always)]
fn quotient<T: Int>(x: T, y: T) -> T {
    let zero = y == T::ZERO;
    let quotient = x.over(if zero { T::ONE } else { y });
    if zero { T::ZERO } else { quotient }
}

#[inline(always)]
fn floor_divide<T: Int>(x: T, y: T) -> T {
    let quotient = quotient(x, y);
    if !T::SIGNED {
        return quotient;
    }
    let inexact = x != quotient.times(y);
    let down = inexact & ((x < T::ZERO) != (y < T::ZERO)) & (y != T::ZERO);
    if down { quotient.minus(T::ONE) } else { quotient }
}

/// With the sign of x; 0 of a division by zero.
#[inline(always)]
fn rest<T: Int>(x: T, y: T) -> T {
    let rest = x.minus(quotient(x, y).times(y));
    if y == T::ZERO { T::ZERO } else { rest }
}

#[inline(always)]
fn remainder<T: Int>(x: T, y: T) -> T {
    let rest = rest(x, y);
    if !T::SIGNED {
        return rest;
    }
    let off = (rest != T::ZERO) & ((rest < T::ZERO) != (y < T::ZERO));
    if off { rest.plus(y) } else { rest }
}

#[inline(always)]
fn right_shift<T: Int>(x: T, y: T) -> T {
    if y.count() < T::BITS.into() {
        return x.right(y.count() as u32);
    }
    if T::SIGNED { x.right(T::BITS - 1) } else { T::ZERO }
}

/// A negative exponent, which NumPy refuses, gives 0 but for 1 and -1.
#[inline(always)]
fn power<T: Int>(base: T, exponent: T) -> T {
    let odd = exponent.and(T::ONE) == T::ONE;
    if exponent < T::ZERO {
        let sign = if odd { base } else { T::ONE };
        return if base.size() == T::ONE { sign } else { T::ZERO };
    }
    let (mut result, mut square, mut rest) = (T::ONE, base, exponent);
    while rest != T::ZERO {
        if rest.and(T::ONE) == T::ONE {
            result = result.times(square);
        }
        square = square.times(square);
        rest = rest.right(1);
    }
    result
}

/// Of unsigned numbers. After J. Stein (J. Comput. Phys. 1, 1967).
#[inline(always)]
fn gcd<T: Int>(a: T, b: T) -> T {
    let twos = a.or(b).zeros_behind();
    if a == T::ZERO || b == T::ZERO {
        return a.or(b);
    }
    let (mut a, mut b) = (a.right(a.zeros_behind()), b);
    while b != T::ZERO {
        b = b.right(b.zeros_behind());
        (a, b) = (a.min(b), a.max(b).minus(a.min(b)));
    }
    a.left(twos)
}

/// Of unsigned numbers; 0 if either is 0.
#[inline(always)]
fn lcm<T: Int>(a: T, b: T) -> T {
    let divisor = gcd(a, b);
    if divisor == T::ZERO {
        divisor
    } else {
        quotient(a, divisor).times(b)
    }
}

/// A function of magnitudes, which as unsigned numbers the least signed number has, too.
struct OfSizes<O>(PhantomData<O>);

macro_rules! of_sizes {
    ($($signed:ty, $unsigned:ty;)*) => {$(
        impl<O: Two<$unsigned, R = $unsigned>> Two<$signed> for OfSizes<O> {
            type R = $signed;
            #[inline(always)]
            fn of(a: $signed, b: $signed) -> $signed {
                O::of(a.unsigned_abs(), b.unsigned_abs()) as $signed
            }
        }
    )*};
}

of_sizes! {
    i8, u8;
    i16, u16;
    i32, u32;
    i64, u64;
}

/// An `int64` beside a `uint64`, or the other way round: they compare by value.
struct Mixed<O>(PhantomData<O>);

impl<O: Two<u64, R = Truth>> Two<i64, u64> for Mixed<O> {
    type R = Truth;
    #[inline(always)]
    fn of(a: i64, b: u64) -> Truth {
        let (a, b) = if a < 0 { (0, 1) } else { (a as u64, b) };
        O::of(a, b)
    }
}

impl<O: Two<u64, R = Truth>> Two<u64, i64> for Mixed<O> {
    type R = Truth;
    #[inline(always)]
    fn of(a: u64, b: i64) -> Truth {
        let (a, b) = if b < 0 { (1, 0) } else { (a, b as u64) };
        O::of(a, b)
    }
}

pub fn find_one(name: &str, s: Scalar) -> Option<Found> {
    match name {
        "negative" => alike::<Negative>(s),
        "invert" => alike::<Invert>(s),
        "square" => alike::<Square>(s),
        "absolute" => unary::<Size>(s),
        "sign" => unary::<Sign>(s),
        "reciprocal" => unary::<Reciprocal>(s),
        "imag" => alike::<Zero>(s),
        "bitwise_count" => unary::<Ones>(s),
        "isnan" | "isinf" => alike::<Never>(s),
        "isfinite" => alike::<Always>(s),
        "logical_not" => alike::<Not>(s),
        _ => None,
    }
}

pub fn find_two(name: &str, s: Scalar) -> Option<Found> {
    match name {
        "add" => both::<Add>(s),
        "subtract" => both::<Subtract>(s),
        "multiply" => both::<Multiply>(s),
        "floor_divide" => binary::<FloorDivide>(s),
        "remainder" => binary::<Remainder>(s),
        "fmod" => binary::<Fmod>(s),
        "power" => binary::<Power>(s),
        "maximum" | "fmax" => binary::<Maximum>(s),
        "minimum" | "fmin" => binary::<Minimum>(s),
        "bitwise_and" => both::<BitAnd>(s),
        "bitwise_or" => both::<BitOr>(s),
        "bitwise_xor" => both::<BitXor>(s),
        // A count that is negative is one that is too large.
        "left_shift" => both::<LeftShift>(s),
        "right_shift" => binary::<RightShift>(s),
        "gcd" => of_sizes::<Gcd>(s),
        "lcm" => of_sizes::<Lcm>(s),
        "equal" => both::<Equal>(s),
        "not_equal" => both::<NotEqual>(s),
        "less" => binary::<Less>(s),
        "less_equal" => binary::<LessEqual>(s),
        "greater" => binary::<Greater>(s),
        "greater_equal" => binary::<GreaterEqual>(s),
        "logical_and" => both::<And>(s),
        "logical_or" => both::<Or>(s),
        "logical_xor" => both::<Xor>(s),
        _ => None,
    }
}

/// A comparison of an `int64` with a `uint64`.
pub fn find_mixed(name: &str, a: Scalar, b: Scalar) -> Option<Found> {
    match name {
        "equal" => mixed::<Equal>(a, b),
        "not_equal" => mixed::<NotEqual>(a, b),
        "less" => mixed::<Less>(a, b),
        "less_equal" => mixed::<LessEqual>(a, b),
        "greater" => mixed::<Greater>(a, b),
        "greater_equal" => mixed::<GreaterEqual>(a, b),
        _ => None,
    }
}

fn mixed<O: Two<u64, R = Truth> + 'static>(a: Scalar, b: Scalar) -> Option<Found> {
    match (a, b) {
        (Scalar::I64, Scalar::U64) => Some(two::<Mixed<O>, i64, u64>()),
        (Scalar::U64, Scalar::I64) => Some(two::<Mixed<O>, u64, i64>()),
        _ => None,
    }
}

fn unary<O>(s: Scalar) -> Option<Found>
where
    O: One<i8> + One<i16> + One<i32> + One<i64> + One<u8> + One<u16> + One<u32> + One<u64> + 'static,
{
    Some(match s {
        Scalar::I8 => one::<O, i8>(),
        Scalar::I16 => one::<O, i16>(),
        Scalar::I32 => one::<O, i32>(),
        Scalar::I64 => one::<O, i64>(),
        _ => return alike::<O>(s),
    })
}

fn binary<O>(s: Scalar) -> Option<Found>
where
    O: Two<i8> + Two<i16> + Two<i32> + Two<i64> + Two<u8> + Two<u16> + Two<u32> + Two<u64> + 'static,
{
    Some(match s {
        Scalar::I8 => two::<O, i8, i8>(),
        Scalar::I16 => two::<O, i16, i16>(),
        Scalar::I32 => two::<O, i32, i32>(),
        Scalar::I64 => two::<O, i64, i64>(),
        _ => return both::<O>(s),
    })
}

/// The loop of the unsigned integers of this width, whose signs make no difference.
fn alike<O>(s: Scalar) -> Option<Found>
where
    O: One<u8> + One<u16> + One<u32> + One<u64> + 'static,
{
    of_width(s, [one::<O, u8>, one::<O, u16>, one::<O, u32>, one::<O, u64>])
}

/// The same of two operands.
fn both<O>(s: Scalar) -> Option<Found>
where
    O: Two<u8> + Two<u16> + Two<u32> + Two<u64> + 'static,
{
    of_width(s, [two::<O, u8, u8>, two::<O, u16, u16>, two::<O, u32, u32>, two::<O, u64, u64>])
}

fn of_width(s: Scalar, loops: [fn() -> Found; 4]) -> Option<Found> {
    if !s.is_int() {
        return None;
    }
    let (found, result) = loops[s.size().trailing_zeros() as usize]();
    Some((found, if result == unsigned(s) { s } else { result }))
}

fn of_sizes<O>(s: Scalar) -> Option<Found>
where
    O: Two<u8, R = u8> + Two<u16, R = u16> + Two<u32, R = u32> + Two<u64, R = u64> + 'static,
{
    Some(match s {
        Scalar::I8 => two::<OfSizes<O>, i8, i8>(),
        Scalar::I16 => two::<OfSizes<O>, i16, i16>(),
        Scalar::I32 => two::<OfSizes<O>, i32, i32>(),
        Scalar::I64 => two::<OfSizes<O>, i64, i64>(),
        _ => return both::<O>(s),
    })
}
