//! Elements as folds take them in and results as they leave: gathered from strided memory, converted on the way.

use std::marker::PhantomData;

use weft_ir::Scalar;

use super::wide::{Body, widest};

/// Loads elements at a stride in bytes, one behind the other.
pub type Load = unsafe fn(Loads);

#[derive(Clone, Copy, Debug)]
pub struct Loads {
    pub from: *const u8,
    pub stride: i64,
    pub count: usize,
    pub to: *mut u8,
}

/// Stores so many elements at a stride in bytes.
pub type Store = unsafe fn(from: *const u8, count: usize, to: *mut u8, stride: i64);

/// A conversion that a fold does while it loads.
trait Convert<T> {
    fn convert(self) -> T;
}

/// A bool's byte.
#[derive(Clone, Copy)]
struct Flag(u8);
/// A float16's bits.
#[derive(Clone, Copy)]
struct Half(u16);
/// A bfloat16's bits.
#[derive(Clone, Copy)]
struct Brain(u16);

macro_rules! convert {
    ($($from:ident => $($to:ident)*;)*) => {$($(
        impl Convert<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                self as $to
            }
        }
    )*)*};
}

convert! {
    i8 => u16 u32 u64 f32 f64;
    i16 => u8 u32 u64 f32 f64;
    i32 => u8 u16 u64 f32 f64;
    i64 => u8 u16 u32 f32 f64;
    u8 => u16 u32 u64 f32 f64;
    u16 => u8 u32 u64 f32 f64;
    u32 => u8 u16 u64 f32 f64;
    u64 => u8 u16 u32 f32 f64;
    f32 => f64;
    f64 => f32;
}

macro_rules! convert_by {
    ($from:ident, $($to:ident)*, |$x:ident| $value:expr) => {$(
        impl Convert<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                let $x = self;
                $value as $to
            }
        }
    )*};
}

// Memory of others, and bytes seen as bools, may have more than 0 and 1.
convert_by!(Flag, u8 u16 u32 u64 f32 f64, |x| u8::from(x.0 != 0));
convert_by!(Half, f32 f64, |x| widen(x.0));
convert_by!(Brain, f32 f64, |x| f32::from_bits(u32::from(x.0) << 16));

macro_rules! truth {
    ($($from:ident)*) => {$(
        impl Convert<Flag> for $from {
            #[inline(always)]
            fn convert(self) -> Flag {
                Flag(u8::from(self != 0 as $from))
            }
        }
    )*};
}

truth!(u8 u16 u32 u64 f32 f64);

impl Convert<Flag> for Half {
    #[inline(always)]
    fn convert(self) -> Flag {
        Flag(u8::from(self.0 & 0x7fff != 0))
    }
}

impl<T: Convert<Flag>> Convert<Flag> for [T; 2] {
    #[inline(always)]
    fn convert(self) -> Flag {
        let [re, im] = self;
        Flag(re.convert().0 | im.convert().0)
    }
}

impl Convert<[f64; 2]> for [f32; 2] {
    #[inline(always)]
    fn convert(self) -> [f64; 2] {
        self.map(f64::from)
    }
}

macro_rules! same {
    ($($ty:ident)*) => {$(
        impl Convert<$ty> for $ty {
            #[inline(always)]
            fn convert(self) -> $ty {
                self
            }
        }
    )*};
}

same!(u8 u16 u32 u64 u128);

/// The float32 of a float16's bits: they, moved to where a float32 has them, are the number times 2^-112, subnormal or not; infinities and
/// NaNs get the largest exponent back.
#[inline(always)]
fn widen(bits: u16) -> f32 {
    let moved = u32::from(bits & 0x7fff) << 13;
    let finite = (f32::from_bits(moved) * f32::from_bits(0x7780_0000)).to_bits();
    let magnitude = if moved >= 0x0f80_0000 { moved | 0x7f80_0000 } else { finite };
    f32::from_bits(magnitude | u32::from(bits & 0x8000) << 16)
}

/// A float32 rounded to a float16, half to even. Adding half a unit (less one bit where the last digit is even) rounds a normal number; adding
/// a float32 whose last digit is float16's smallest makes the hardware round a subnormal one.
#[inline(always)]
fn narrow(x: f32) -> u16 {
    const HALF: u32 = 126 << 23;
    let (sign, bits) = (x.to_bits() >> 16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    let magnitude = match bits {
        0x7f80_0001.. => 0x7e00,
        0x4780_0000.. => 0x7c00,
        0x3880_0000.. => bits.wrapping_add(0xfff_u32.wrapping_sub(112 << 23)).wrapping_add(bits >> 13 & 1) >> 13,
        _ => (f32::from_bits(bits) + f32::from_bits(HALF)).to_bits() - HALF,
    };
    (sign | magnitude) as u16
}

/// The upper 16 bits of a float32, rounded; a NaN's are made quiet.
#[inline(always)]
fn upper(x: f32) -> u16 {
    let bits = x.to_bits();
    match x.is_nan() {
        true => (bits >> 16 | 0x40) as u16,
        false => ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16,
    }
}

struct Loading<A, T>(PhantomData<(A, T)>);

impl<A: Copy + Convert<T>, T: Copy> Body<Loads> for Loading<A, T> {
    #[inline(always)]
    unsafe fn run(Loads { from, stride, count, to }: Loads) {
        let to = to.cast::<T>();
        let item = size_of::<A>() as i64;
        // Steps that the compiler knows become vectors, and what they leave out is shuffled away.
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match stride {
                _ if stride == item => apart::<A, T, 1>(from.cast(), count, to),
                // Conversions are left out: there are many, each in copies.
                _ if stride == 2 * item && size_of::<A>() == size_of::<T>() => apart::<A, T, 2>(from.cast(), count, to),
                _ => {
                    for i in 0..count {
                        let each = from.offset(i as isize * stride as isize).cast::<A>();
                        to.add(i).write(each.read_unaligned().convert());
                    }
                }
            }
        }
    }
}

/// Every so manieth element.
#[inline(always)]
unsafe fn apart<A: Copy + Convert<T>, T: Copy, const STEP: usize>(from: *const A, count: usize, to: *mut T) {
    for i in 0..count {
        // SAFETY: by contract there are so many elements; arrays need not be aligned.
        unsafe { to.add(i).write(from.add(i * STEP).read_unaligned().convert()) };
    }
}

fn loads<A: Copy + Convert<T>, T: Copy>() -> Load {
    widest::<Loading<A, T>, Loads>()
}

/// How elements of a type are loaded to be computed with in another. There is none for what loses fractions or imaginary parts: those are
/// cast before.
pub fn find(elem: Scalar, compute: Scalar) -> Option<Load> {
    if elem == compute {
        return Some(copies(elem));
    }
    match compute {
        Scalar::Bool => Some(truths(elem)),
        Scalar::F32 | Scalar::F64 => floats(elem, compute == Scalar::F32),
        Scalar::C128 if elem == Scalar::C64 => Some(loads::<[f32; 2], [f64; 2]>()),
        int if int.is_int() => integers(elem, int),
        _ => None,
    }
}

fn copies(elem: Scalar) -> Load {
    match elem.size() {
        1 => loads::<u8, u8>(),
        2 => loads::<u16, u16>(),
        4 => loads::<u32, u32>(),
        8 => loads::<u64, u64>(),
        _ => loads::<u128, u128>(),
    }
}

fn truths(elem: Scalar) -> Load {
    match elem {
        Scalar::Bool | Scalar::I8 | Scalar::U8 => loads::<u8, Flag>(),
        Scalar::I16 | Scalar::U16 => loads::<u16, Flag>(),
        Scalar::I32 | Scalar::U32 => loads::<u32, Flag>(),
        Scalar::I64 | Scalar::U64 => loads::<u64, Flag>(),
        Scalar::F16 | Scalar::BF16 => loads::<Half, Flag>(),
        Scalar::F32 => loads::<f32, Flag>(),
        Scalar::F64 => loads::<f64, Flag>(),
        Scalar::C64 => loads::<[f32; 2], Flag>(),
        Scalar::C128 => loads::<[f64; 2], Flag>(),
    }
}

fn floats(elem: Scalar, single: bool) -> Option<Load> {
    macro_rules! either {
        ($from:ident) => {
            if single {
                loads::<$from, f32>()
            } else {
                loads::<$from, f64>()
            }
        };
    }
    Some(match elem {
        Scalar::Bool => either!(Flag),
        Scalar::I8 => either!(i8),
        Scalar::I16 => either!(i16),
        Scalar::I32 => either!(i32),
        Scalar::I64 => either!(i64),
        Scalar::U8 => either!(u8),
        Scalar::U16 => either!(u16),
        Scalar::U32 => either!(u32),
        Scalar::U64 => either!(u64),
        Scalar::F16 => either!(Half),
        Scalar::BF16 => either!(Brain),
        Scalar::F32 => loads::<f32, f64>(),
        Scalar::F64 => loads::<f64, f32>(),
        Scalar::C64 | Scalar::C128 => return None,
    })
}

/// Integers by their bits: signs are extended from what is loaded, and do not count where it is stored.
fn integers(elem: Scalar, to: Scalar) -> Option<Load> {
    if elem.size() == to.size() && elem.is_int() {
        return Some(copies(to));
    }
    macro_rules! to {
        ($from:ident, $($size:literal $to:ident)*) => {
            match to.size() {
                $($size => loads::<$from, $to>(),)*
                _ => return None,
            }
        };
    }
    Some(match elem {
        Scalar::Bool => to!(Flag, 1 u8 2 u16 4 u32 8 u64),
        Scalar::I8 => to!(i8, 2 u16 4 u32 8 u64),
        Scalar::I16 => to!(i16, 1 u8 4 u32 8 u64),
        Scalar::I32 => to!(i32, 1 u8 2 u16 8 u64),
        Scalar::I64 => to!(i64, 1 u8 2 u16 4 u32),
        Scalar::U8 => to!(u8, 2 u16 4 u32 8 u64),
        Scalar::U16 => to!(u16, 1 u8 4 u32 8 u64),
        Scalar::U32 => to!(u32, 1 u8 2 u16 8 u64),
        Scalar::U64 => to!(u64, 1 u8 2 u16 4 u32),
        Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 | Scalar::C64 | Scalar::C128 => return None,
    })
}

unsafe fn store<A: Copy, T: Copy>(from: *const u8, count: usize, to: *mut u8, stride: i64, convert: impl Fn(A) -> T) {
    for i in 0..count {
        // SAFETY: by contract there are so many elements on both sides.
        unsafe {
            let value = convert(from.cast::<A>().add(i).read());
            to.offset(i as isize * stride as isize).cast::<T>().write_unaligned(value);
        }
    }
}

/// How results that were computed in a type are stored in another: the same, or a 16-bit float that was computed in float32.
pub fn storing(compute: Scalar, result: Scalar) -> Option<Store> {
    macro_rules! stores {
        ($from:ty, $to:ty, $convert:expr) => {
            // SAFETY: the caller's promise is handed on.
            |from, count, to, stride| unsafe { store::<$from, $to>(from, count, to, stride, $convert) }
        };
    }
    Some(match (compute, result) {
        (Scalar::F32, Scalar::F16) => stores!(f32, u16, narrow),
        (Scalar::F32, Scalar::BF16) => stores!(f32, u16, upper),
        _ if compute != result => return None,
        _ => match compute.size() {
            1 => stores!(u8, u8, |x| x),
            2 => stores!(u16, u16, |x| x),
            4 => stores!(u32, u32, |x| x),
            8 => stores!(u64, u64, |x| x),
            _ => stores!(u128, u128, |x| x),
        },
    })
}

#[cfg(test)]
mod tests {
    use weft_ir::{Const, eval};

    use super::*;

    #[test]
    fn halves_are_what_the_ir_says() {
        for bits in 0..=u16::MAX {
            for (half, wide) in [(Const::F16(bits), widen(bits)), (Const::BF16(bits), Brain(bits).convert())] {
                let Some(Const::F32(expected)) = eval::cast(half, Scalar::F32) else {
                    panic!()
                };
                let expected = f32::from_bits(expected);
                assert!(
                    wide.to_bits() == expected.to_bits() || wide.is_nan() && expected.is_nan(),
                    "{half:?}"
                );
            }
        }
    }

    #[test]
    fn singles_round_as_the_ir_says() {
        for step in 0..1 << 22 {
            let x = f32::from_bits((step as u32) << 10 | (step as u32).wrapping_mul(0x9e37_79b9) >> 22);
            for (to, ours) in [(Scalar::F16, Const::F16(narrow(x))), (Scalar::BF16, Const::BF16(upper(x)))] {
                let expected = eval::cast(Const::f32(x), to).unwrap();
                let nan = |c| eval::unary(weft_ir::UnOp::IsNan, c) == Some(Const::Bool(true));
                assert!(ours == expected || nan(ours) && nan(expected), "{x:e}: {ours:?} {expected:?}");
            }
        }
    }
}
