//! Where extremes are: `argmax` and `argmin` along one axis, of the first greatest or least element, or of the first NaN.

#![allow(unsafe_code)] // Operands are places in memory that programs keep alive.

use weft_ir::{Const, Scalar, eval};
use weft_tile::fold::{Axis, Outer};

use crate::error::{Error, Result};
use crate::folds::Source;
use crate::number;
use crate::tiles::Target;

pub fn run(source: &Source, greatest: bool, outer: &[Outer], axis: Axis, target: &Target) -> Result<()> {
    let points: u64 = outer.iter().map(|axis| axis.extent).product();
    for point in 0..points {
        let (mut from, mut to, mut rest) = (source.address, target.address, point);
        for axis in outer.iter().rev() {
            let at = (rest % axis.extent) as i64;
            from = from.wrapping_add_signed(at * axis.input);
            to = to.wrapping_add_signed(at * axis.output);
            rest /= axis.extent;
        }
        let found = position(source.elem, from, axis, greatest)?;
        // SAFETY: the target reaches over all points of the result.
        unsafe { (to as *mut i64).write_unaligned(found) };
    }
    Ok(())
}

fn position(elem: Scalar, from: u64, axis: Axis, greatest: bool) -> Result<i64> {
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    fn is_nan<T: Copy + PartialEq>(x: T) -> bool {
        x != x
    }
    macro_rules! of {
        ($ty:ty) => {
            Ok(search::<$ty>(from, axis, |best, x| if greatest { x > best } else { x < best }, is_nan))
        };
    }
    match elem {
        Scalar::Bool | Scalar::U8 => of!(u8),
        Scalar::I8 => of!(i8),
        Scalar::I16 => of!(i16),
        Scalar::U16 => of!(u16),
        Scalar::I32 => of!(i32),
        Scalar::U32 => of!(u32),
        Scalar::I64 => of!(i64),
        Scalar::U64 => of!(u64),
        Scalar::F32 => of!(f32),
        Scalar::F64 => of!(f64),
        _ => by_constants(elem, from, axis, greatest),
    }
}

/// The place of the first element that none is better than; the first NaN is best.
fn search<T: Copy>(from: u64, axis: Axis, better: impl Fn(T, T) -> bool, is_nan: impl Fn(T) -> bool) -> i64 {
    // SAFETY: the source reaches over all points.
    let at = |i: u64| unsafe { (from.wrapping_add_signed(axis.stride * i as i64) as *const T).read_unaligned() };
    let (mut best, mut found) = (at(0), 0);
    if is_nan(best) {
        return 0;
    }
    for i in 1..axis.extent {
        let x = at(i);
        if is_nan(x) {
            return i as i64;
        }
        if better(best, x) {
            (best, found) = (x, i as i64);
        }
    }
    found
}

/// Of half floats and complex numbers, which are ordered by their real parts first.
fn by_constants(elem: Scalar, from: u64, axis: Axis, greatest: bool) -> Result<i64> {
    let read = |i: u64| {
        let mut bits = [0u64; 2];
        let place = from.wrapping_add_signed(axis.stride * i as i64);
        // SAFETY: the source reaches over all points; 16 bytes hold any element.
        unsafe { std::ptr::copy_nonoverlapping(place as *const u8, bits.as_mut_ptr().cast(), elem.size()) };
        parts(number::constant(elem, bits)).ok_or_else(|| Error::Internal("elements that have no order".into()))
    };
    let is_nan = |x: (f64, f64)| x.0.is_nan() || x.1.is_nan();
    let mut best = (read(0)?, 0);
    for i in 0..axis.extent {
        let x = read(i)?;
        if is_nan(x) {
            return Ok(i as i64);
        }
        if if greatest { x > best.0 } else { x < best.0 } {
            best = (x, i as i64);
        }
    }
    Ok(best.1)
}

fn parts(value: Const) -> Option<(f64, f64)> {
    match eval::cast(value, Scalar::C128)? {
        Const::C128(re, im) => Some((f64::from_bits(re), f64::from_bits(im))),
        _ => None,
    }
}
