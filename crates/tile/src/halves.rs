//! float16 and bfloat16: an operation is computed in float32 and rounded once. What needs no rounding is done on their bits.

use std::marker::PhantomData;

use weft_ir::Scalar;

use crate::element::{BF16, Elem, F16, Truth};
use crate::run::{Found, One, Two, one, two};

/// A 16-bit float.
pub trait Half: Elem {
    fn from_bits(bits: u16) -> Self;
    fn bits(self) -> u16;
    fn wide(self) -> f32;
    /// To the nearest, half to even; a NaN stays one.
    fn round(x: f32) -> Self;
}

impl Half for F16 {
    #[inline(always)]
    fn from_bits(bits: u16) -> F16 {
        F16(bits)
    }

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn wide(self) -> f32 {
        let magnitude = i32::from(self.0 & 0x7fff);
        let subnormal = (magnitude as f32 * f32::from_bits(103 << 23)).to_bits();
        let shifted = (magnitude as u32) << 13;
        let finite = if magnitude < 0x400 { subnormal } else { shifted + (112 << 23) };
        let all = if magnitude >= 0x7c00 { shifted | 0x7f80_0000 } else { finite };
        f32::from_bits(all | u32::from(self.0 & 0x8000) << 16)
    }

    #[inline(always)]
    fn round(x: f32) -> F16 {
        let sign = x.to_bits() >> 16 & 0x8000;
        let size = x.to_bits() & 0x7fff_ffff;
        let normal = size.wrapping_sub((112 << 23) - 0xfff).wrapping_add(size >> 13 & 1) >> 13;
        // The last place of 0.5 is the least float16.
        let subnormal = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
        let finite = if size < 0x3880_0000 { subnormal } else { normal };
        let all = if size >= 0x4780_0000 { 0x7c00 } else { finite };
        let all = if size > 0x7f80_0000 { 0x7e00 } else { all };
        F16((sign | all) as u16)
    }
}

impl F16 {
    /// The same of a double, rounded once.
    #[inline(always)]
    pub fn round_double(x: f64) -> F16 {
        /// Its last place is the least float16.
        const LEVEL: f64 = 268_435_456.0;
        let sign = x.to_bits() >> 48 & 0x8000;
        let size = x.to_bits() & 0x7fff_ffff_ffff_ffff;
        let normal = size.wrapping_sub((1008 << 52) - 0x1ff_ffff_ffff).wrapping_add(size >> 42 & 1) >> 42;
        let subnormal = (f64::from_bits(size) + LEVEL).to_bits().wrapping_sub(LEVEL.to_bits());
        let finite = if size < 1009 << 52 { subnormal } else { normal };
        let all = if size >= 1039 << 52 { 0x7c00 } else { finite };
        let all = if size > 2047 << 52 { 0x7e00 } else { all };
        F16((sign | all) as u16)
    }
}

impl Half for BF16 {
    #[inline(always)]
    fn from_bits(bits: u16) -> BF16 {
        BF16(bits)
    }

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn wide(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    #[inline(always)]
    fn round(x: f32) -> BF16 {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        let all = if x.is_nan() { bits >> 16 | 0x7fc0 } else { rounded };
        BF16(all as u16)
    }
}

/// A result of float32 as that of a 16-bit float: rounded if it is a number.
pub trait Narrow: Elem {
    type To<H: Half>: Elem;
    fn narrow<H: Half>(self) -> Self::To<H>;
}

impl Narrow for f32 {
    type To<H: Half> = H;
    #[inline(always)]
    fn narrow<H: Half>(self) -> H {
        H::round(self)
    }
}

impl Narrow for i32 {
    type To<H: Half> = i32;
    #[inline(always)]
    fn narrow<H: Half>(self) -> i32 {
        self
    }
}

impl Narrow for Truth {
    type To<H: Half> = Truth;
    #[inline(always)]
    fn narrow<H: Half>(self) -> Truth {
        self
    }
}

/// An operation of float32 on 16-bit floats.
pub struct Wide<O>(PhantomData<O>);

impl<O: One<f32, R: Narrow>, H: Half> One<H> for Wide<O> {
    type R = <O::R as Narrow>::To<H>;
    #[inline(always)]
    fn of(a: H) -> Self::R {
        O::of(a.wide()).narrow()
    }
}

impl<O: Two<f32, R: Narrow>, H: Half> Two<H> for Wide<O> {
    type R = <O::R as Narrow>::To<H>;
    #[inline(always)]
    fn of(a: H, b: H) -> Self::R {
        O::of(a.wide(), b.wide()).narrow()
    }
}

macro_rules! of_bits {
    ($($name:ident($($x:ident),*): $trait:ident -> $r:ty = $body:expr;)*) => {$(
        pub struct $name;
        impl<H: Half> $trait<H> for $name {
            type R = $r;
            #[inline(always)]
            fn of($($x: H),*) -> $r {
                $(let $x = $x.bits();)*
                $body
            }
        }
    )*};
}

of_bits! {
    Negative(a): One -> H = H::from_bits(a ^ 0x8000);
    Size(a): One -> H = H::from_bits(a & 0x7fff);
    SignBit(a): One -> Truth = Truth::of(a >> 15 == 1);
    CopySign(a, b): Two -> H = H::from_bits(a & 0x7fff | b & 0x8000);
}

/// The neighbour of a number towards another: one more or one less as an integer, by whether its magnitude grows. Beside zero lies the
/// smallest number of the other's sign.
#[inline(always)]
fn next<H: Half>(from: H, to: H, equal: H) -> H {
    let (x, y) = (from.wide(), to.wide());
    let inwards = (x > 0.0) != (x < y);
    let moved = from.bits().wrapping_add(if inwards { u16::MAX } else { 1 });
    let least = to.bits() & 0x8000 | 1;
    let next = if x == 0.0 { least } else { moved };
    let next = if x == y { equal.bits() } else { next };
    let next = if y.is_nan() { to.bits() } else { next };
    H::from_bits(if x.is_nan() { from.bits() } else { next })
}

pub struct NextAfter;

/// Of two zeros it gives the first.
impl Two<F16> for NextAfter {
    type R = F16;
    #[inline(always)]
    fn of(a: F16, b: F16) -> F16 {
        next(a, b, a)
    }
}

/// Of two zeros it gives the second.
impl Two<BF16> for NextAfter {
    type R = BF16;
    #[inline(always)]
    fn of(a: BF16, b: BF16) -> BF16 {
        next(a, b, b)
    }
}

pub struct Spacing;

/// The distance to the next greater number.
impl One<F16> for Spacing {
    type R = F16;
    #[inline(always)]
    fn of(a: F16) -> F16 {
        let infinity = F16(0x7c00);
        let distance = F16::round(next(a, infinity, a).wide() - a.wide());
        if a.wide().is_infinite() { F16(0x7e00) } else { distance }
    }
}

/// The distance to the next number away from zero.
impl One<BF16> for Spacing {
    type R = BF16;
    #[inline(always)]
    fn of(a: BF16) -> BF16 {
        let away = BF16(a.0 & 0x8000 | 0x7f80);
        BF16::round(next(a, away, away).wide() - a.wide())
    }
}

/// A loop of one operand that is the same for both types.
pub fn one_of_bits<O>(s: Scalar) -> Option<Found>
where
    O: One<F16> + One<BF16> + 'static,
{
    match s {
        Scalar::F16 => Some(one::<O, F16>()),
        Scalar::BF16 => Some(one::<O, BF16>()),
        _ => None,
    }
}

/// A loop of two operands likewise.
pub fn two_of_bits<O>(s: Scalar) -> Option<Found>
where
    O: Two<F16> + Two<BF16> + 'static,
{
    match s {
        Scalar::F16 => Some(two::<O, F16, F16>()),
        Scalar::BF16 => Some(two::<O, BF16, BF16>()),
        _ => None,
    }
}
