//! Numbers that follow each other: `start + i * step`.

use weft_ir::Scalar;

use crate::casts::{Source, Target};
use crate::element::{BF16, C, F16, Real};
use crate::halves::Half;
use crate::integers::Int;
use crate::run::{Count, TileLoop, count};

struct OfIntegers;

impl<T: Int + Target> Count<T> for OfIntegers {
    type R = T;
    #[inline(always)]
    fn of(start: T, step: T, i: i64) -> T {
        start.plus(T::converted(i).times(step))
    }
}

struct OfFloats;

impl<T: Real + Target> Count<T> for OfFloats {
    type R = T;
    #[inline(always)]
    fn of(start: T, step: T, i: i64) -> T {
        start + T::converted(i) * step
    }
}

struct OfHalves<H>(std::marker::PhantomData<H>);

impl<H: Half> Count<f32> for OfHalves<H> {
    type R = H;
    #[inline(always)]
    fn of(start: f32, step: f32, i: i64) -> H {
        H::round(start + i.single() * step)
    }
}

struct OfComplex;

impl<T: Real + Target> Count<C<T>> for OfComplex
where
    C<T>: crate::element::Elem,
{
    type R = C<T>;
    #[inline(always)]
    fn of(start: C<T>, step: C<T>, i: i64) -> C<T> {
        let i = T::converted(i);
        C {
            re: start.re + i * step.re,
            im: start.im + i * step.im,
        }
    }
}

/// The loop that gives `start + i * step`: its operands are start, step and, an int64, the first i, one element each. Integers wrap. Start and step
/// of 16-bit floats are float32, in which these are computed. There is none of bools.
pub fn iota(elem: Scalar) -> Option<TileLoop> {
    Some(match elem {
        Scalar::Bool => return None,
        Scalar::I8 | Scalar::U8 => count::<OfIntegers, u8>(),
        Scalar::I16 | Scalar::U16 => count::<OfIntegers, u16>(),
        Scalar::I32 | Scalar::U32 => count::<OfIntegers, u32>(),
        Scalar::I64 | Scalar::U64 => count::<OfIntegers, u64>(),
        Scalar::F16 => count::<OfHalves<F16>, f32>(),
        Scalar::BF16 => count::<OfHalves<BF16>, f32>(),
        Scalar::F32 => count::<OfFloats, f32>(),
        Scalar::F64 => count::<OfFloats, f64>(),
        Scalar::C64 => count::<OfComplex, C<f32>>(),
        Scalar::C128 => count::<OfComplex, C<f64>>(),
    })
}
