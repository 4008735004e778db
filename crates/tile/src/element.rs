//! The elements of tiles as Rust's types, and what floats of both widths have in common.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use weft_ir::Scalar;

/// An element as it lies in memory.
pub trait Elem: Copy + Debug + 'static {
    const SCALAR: Scalar;
}

/// A bool. What is not 0 is true, as an array that is viewed as bools may have it.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Truth(pub u8);

impl Truth {
    #[inline(always)]
    pub fn of(truth: bool) -> Truth {
        Truth(truth.into())
    }

    #[inline(always)]
    pub fn holds(self) -> bool {
        self.0 != 0
    }
}

#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct F16(pub u16);

#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct BF16(pub u16);

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct C<T> {
    pub re: T,
    pub im: T,
}

macro_rules! elements {
    ($($ty:ty, $scalar:ident;)*) => {$(
        impl Elem for $ty {
            const SCALAR: Scalar = Scalar::$scalar;
        }
    )*};
}

elements! {
    Truth, Bool;
    i8, I8; i16, I16; i32, I32; i64, I64;
    u8, U8; u16, U16; u32, U32; u64, U64;
    F16, F16; BF16, BF16; f32, F32; f64, F64;
    C<f32>, C64; C<f64>, C128;
}

/// The unsigned integer as wide as this one.
pub fn unsigned(int: Scalar) -> Scalar {
    match int.size() {
        1 => Scalar::U8,
        2 => Scalar::U16,
        4 => Scalar::U32,
        _ => Scalar::U64,
    }
}

/// A float that is computed in.
pub trait Real:
    Elem
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
{
    const ZERO: Self;
    const HALF: Self;
    const ONE: Self;
    const INFINITY: Self;
    const NAN: Self;
    /// Of a degree in radians, and the other way round: quotients in this width.
    const DEGREE: Self;
    const RADIAN: Self;
    fn size(self) -> Self;
    fn root(self) -> Self;
    fn down(self) -> Self;
    fn up(self) -> Self;
    fn inwards(self) -> Self;
    fn to_even(self) -> Self;
    fn signed_as(self, sign: Self) -> Self;
    fn is_negative(self) -> bool;
    fn missing(self) -> bool;
    fn endless(self) -> bool;
    fn finite(self) -> bool;
    /// The float whose bits are so many more as an integer.
    fn moved(self, by: i32) -> Self;
    /// m and n of m 2^n where 1/2 <= |m| < 1. Zeros, infinities and NaN give themselves and 0.
    fn split(self) -> (Self, i32);
}

macro_rules! real {
    ($ty:ident, $pi:expr, $int:ident) => {
        impl Real for $ty {
            const ZERO: Self = 0.0;
            const HALF: Self = 0.5;
            const ONE: Self = 1.0;
            const INFINITY: Self = $ty::INFINITY;
            const NAN: Self = $ty::NAN;
            const DEGREE: Self = $pi / 180.0;
            const RADIAN: Self = 180.0 / $pi;
            #[inline(always)]
            fn size(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn down(self) -> Self {
                self.floor()
            }
            #[inline(always)]
            fn up(self) -> Self {
                self.ceil()
            }
            #[inline(always)]
            fn inwards(self) -> Self {
                self.trunc()
            }
            #[inline(always)]
            fn to_even(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            fn signed_as(self, sign: Self) -> Self {
                self.copysign(sign)
            }
            #[inline(always)]
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
            #[inline(always)]
            fn missing(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn endless(self) -> bool {
                self.is_infinite()
            }
            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn moved(self, by: i32) -> Self {
                $ty::from_bits(self.to_bits().wrapping_add_signed(by.into()))
            }
            #[inline(always)]
            fn split(self) -> (Self, i32) {
                const FRACTION: u32 = $ty::MANTISSA_DIGITS - 1;
                const EXPONENT: $int = $ty::INFINITY.to_bits();
                const SCALE: $ty = (1u64 << $ty::MANTISSA_DIGITS) as $ty;
                let small = self.abs() < $ty::MIN_POSITIVE;
                let bits = (if small { self * SCALE } else { self }).to_bits();
                let exponent = ((bits & EXPONENT) >> FRACTION) as i32 + ($ty::MIN_EXP - 1);
                let exponent = if small {
                    exponent - $ty::MANTISSA_DIGITS as i32
                } else {
                    exponent
                };
                let mantissa = $ty::from_bits(bits & !EXPONENT | (0.5 as $ty).to_bits());
                if self.is_finite() & (self != 0.0) {
                    (mantissa, exponent)
                } else {
                    (self, 0)
                }
            }
        }
    };
}

real!(f32, std::f32::consts::PI, u32);
real!(f64, std::f64::consts::PI, u64);
