//! Conversions between all types: what `Op::Cast` means.

use std::marker::PhantomData;

use weft_ir::{Kind, Scalar};

use crate::element::{BF16, C, Elem, F16, Real, Truth, unsigned};
use crate::find::copy;
use crate::halves::Half;
use crate::run::{Found, One, TileLoop, one};
use crate::whole::{long_of_f32, long_of_f64, word_of_f32, word_of_f64};

/// What can be converted.
pub trait Source: Elem {
    fn truth(self) -> bool;
    fn single(self) -> f32;
    fn double(self) -> f64;
    /// Rounded once.
    fn half(self) -> F16;
    /// As an integer of 32 bits, whose lower bits are a narrower one's. What is out of range gives the least one.
    fn word(self) -> i32;
    /// As an integer of 64 bits, whose lower bits are an unsigned 32-bit one's, likewise.
    fn long(self) -> i64;
    /// As an unsigned integer of 64 bits. What is out of range gives 0, but negative numbers wrap.
    fn unsigned_long(self) -> u64;
    /// The imaginary part.
    fn beside(self) -> f64 {
        0.0
    }
}

macro_rules! integers {
    ($($ty:ty, $x:ident => $near:expr;)*) => {$(
        impl Source for $ty {
            #[inline(always)]
            fn truth(self) -> bool {
                self != 0
            }
            #[inline(always)]
            fn single(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn double(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn half(self) -> F16 {
                let $x = self;
                F16::round($near)
            }
            #[inline(always)]
            fn word(self) -> i32 {
                self as i32
            }
            #[inline(always)]
            fn long(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn unsigned_long(self) -> u64 {
                self as u64
            }
        }
    )*};
}

// Narrow ones are exact in float32; of others, what is not is infinite as a float16.
integers! {
    u8, x => x as f32;
    u16, x => x as f32;
    u32, x => x.min(1 << 20) as i32 as f32;
    u64, x => x.min(1 << 20) as i32 as f32;
    i8, x => x as f32;
    i16, x => x as f32;
    i32, x => x.clamp(-1 << 20, 1 << 20) as f32;
    i64, x => x.clamp(-1 << 20, 1 << 20) as i32 as f32;
}

impl Source for Truth {
    #[inline(always)]
    fn truth(self) -> bool {
        self.holds()
    }
    #[inline(always)]
    fn single(self) -> f32 {
        u8::from(self.holds()).into()
    }
    #[inline(always)]
    fn double(self) -> f64 {
        u8::from(self.holds()).into()
    }
    #[inline(always)]
    fn half(self) -> F16 {
        F16(if self.holds() { 0x3c00 } else { 0 })
    }
    #[inline(always)]
    fn word(self) -> i32 {
        self.holds().into()
    }
    #[inline(always)]
    fn long(self) -> i64 {
        self.holds().into()
    }
    #[inline(always)]
    fn unsigned_long(self) -> u64 {
        self.holds().into()
    }
}

macro_rules! floats {
    ($($ty:ty, $word:ident, $long:ident, $x:ident => $half:expr;)*) => {$(
        impl Source for $ty {
            #[inline(always)]
            fn truth(self) -> bool {
                self != 0.0
            }
            #[inline(always)]
            fn single(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn double(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn half(self) -> F16 {
                let $x = self;
                $half
            }
            #[inline(always)]
            fn word(self) -> i32 {
                $word(self)
            }
            #[inline(always)]
            fn long(self) -> i64 {
                $long(self)
            }
            #[inline(always)]
            fn unsigned_long(self) -> u64 {
                let is_high = self >= TWO_63 as $ty;
                let low = if is_high { self - TWO_63 as $ty } else { self };
                let whole = $long(low) as u64 ^ u64::from(is_high) << 63;
                let fits = (self >= -TWO_63 as $ty) & (self < 2.0 * TWO_63 as $ty);
                if fits { whole } else { 0 }
            }
        }
    )*};
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

floats! {
    f32, word_of_f32, long_of_f32, x => F16::round(x);
    f64, word_of_f64, long_of_f64, x => F16::round_double(x);
}

macro_rules! through {
    ($([$($generics:tt)*] $ty:ty, $x:ident => $part:expr, $truth:expr, $beside:expr;)*) => {$(
        impl<$($generics)*> Source for $ty where $ty: Elem {
            #[inline(always)]
            fn truth(self) -> bool {
                let $x = self;
                $truth
            }
            #[inline(always)]
            fn single(self) -> f32 {
                let $x = self;
                $part.single()
            }
            #[inline(always)]
            fn double(self) -> f64 {
                let $x = self;
                $part.double()
            }
            #[inline(always)]
            fn half(self) -> F16 {
                let $x = self;
                $part.half()
            }
            #[inline(always)]
            fn word(self) -> i32 {
                let $x = self;
                $part.word()
            }
            #[inline(always)]
            fn long(self) -> i64 {
                let $x = self;
                $part.long()
            }
            #[inline(always)]
            fn unsigned_long(self) -> u64 {
                let $x = self;
                $part.unsigned_long()
            }
            #[inline(always)]
            fn beside(self) -> f64 {
                let $x = self;
                $beside
            }
        }
    )*};
}

through! {
    [] F16, x => x.wide(), x.0 & 0x7fff != 0, x.wide().beside();
    [] BF16, x => x.wide(), x.0 & 0x7fff != 0, x.wide().beside();
    [T: Real + Source] C<T>, x => x.re, x.re.truth() | x.im.truth(), x.im.double();
}

/// What can be converted to.
pub trait Target: Elem {
    fn converted<S: Source>(x: S) -> Self;
}

macro_rules! targets {
    ($($ty:ty, $x:ident => $value:expr;)*) => {$(
        impl Target for $ty {
            #[inline(always)]
            fn converted<S: Source>($x: S) -> $ty {
                $value
            }
        }
    )*};
}

targets! {
    Truth, x => Truth::of(x.truth());
    i8, x => x.word() as i8;
    i16, x => x.word() as i16;
    i32, x => x.word();
    i64, x => x.long();
    u8, x => x.word() as u8;
    u16, x => x.word() as u16;
    u32, x => x.long() as u32;
    u64, x => x.unsigned_long();
    F16, x => x.half();
    BF16, x => BF16::round(x.single());
    f32, x => x.single();
    f64, x => x.double();
    C<f32>, x => C { re: x.single(), im: x.beside() as f32 };
    C<f64>, x => C { re: x.double(), im: x.beside() };
}

struct To<R>(PhantomData<R>);

impl<S: Source, R: Target + 'static> One<S> for To<R> {
    type R = R;
    #[inline(always)]
    fn of(x: S) -> R {
        R::converted(x)
    }
}

/// The conversion of a type to another: `astype` with unsafe casting.
pub fn cast(from: Scalar, to: Scalar) -> TileLoop {
    let (from, to) = (alike_from(from, to), alike_to(from, to));
    if from == to {
        return copy(to);
    }
    let found: Found = match from {
        Scalar::Bool => to_any::<Truth>(to),
        Scalar::I8 => to_any::<i8>(to),
        Scalar::I16 => to_any::<i16>(to),
        Scalar::I32 => to_any::<i32>(to),
        Scalar::I64 => to_any::<i64>(to),
        Scalar::U8 => to_any::<u8>(to),
        Scalar::U16 => to_any::<u16>(to),
        Scalar::U32 => to_any::<u32>(to),
        Scalar::U64 => to_any::<u64>(to),
        Scalar::F16 => to_any::<F16>(to),
        Scalar::BF16 => to_any::<BF16>(to),
        Scalar::F32 => to_any::<f32>(to),
        Scalar::F64 => to_any::<f64>(to),
        Scalar::C64 => to_any::<C<f32>>(to),
        Scalar::C128 => to_any::<C<f64>>(to),
    };
    found.0
}

/// Of integers that are not made wider the sign makes no difference.
fn alike_from(from: Scalar, to: Scalar) -> Scalar {
    let narrows = to == Scalar::Bool || to.is_int() && to.size() <= from.size();
    if from.is_int() && narrows { unsigned(from) } else { from }
}

/// Nor does it of what an integer becomes, and of integers that are a wider one's lower bits.
fn alike_to(from: Scalar, to: Scalar) -> Scalar {
    let of_whole = matches!(from.kind(), Kind::Bool | Kind::Signed | Kind::Unsigned);
    if to.is_int() && (of_whole || to.size() < 4) {
        unsigned(to)
    } else {
        to
    }
}

fn to_any<S: Source>(to: Scalar) -> Found {
    match to {
        Scalar::Bool => one::<To<Truth>, S>(),
        Scalar::I8 => one::<To<i8>, S>(),
        Scalar::I16 => one::<To<i16>, S>(),
        Scalar::I32 => one::<To<i32>, S>(),
        Scalar::I64 => one::<To<i64>, S>(),
        Scalar::U8 => one::<To<u8>, S>(),
        Scalar::U16 => one::<To<u16>, S>(),
        Scalar::U32 => one::<To<u32>, S>(),
        Scalar::U64 => one::<To<u64>, S>(),
        Scalar::F16 => one::<To<F16>, S>(),
        Scalar::BF16 => one::<To<BF16>, S>(),
        Scalar::F32 => one::<To<f32>, S>(),
        Scalar::F64 => one::<To<f64>, S>(),
        Scalar::C64 => one::<To<C<f32>>, S>(),
        Scalar::C128 => one::<To<C<f64>>, S>(),
    }
}
