//! Where extremes are: `argmax` and `argmin` along one axis, of the first greatest or least element, or of the first NaN; and the extremes of
//! complex numbers, which are ordered by their real parts first.

#![allow(unsafe_code)] // Operands are places in memory that programs keep alive.

use weft_ir::{Const, Scalar, eval};
use weft_tile::fold::{ArgFold, Axis, Outer};

use crate::error::{Error, Result};
use crate::folds::Source;
use crate::number;
use crate::threads;
use crate::tiles::Target;

pub fn run(source: &Source, greatest: bool, outer: &[Outer], axis: Axis, target: &Target) -> Result<()> {
    let points: u64 = outer.iter().map(|axis| axis.extent).product();
    if let Some(fold) = ArgFold::new(greatest, source.elem, outer, axis) {
        let bytes = points.saturating_mul(axis.extent).saturating_mul(source.elem.size() as u64);
        return threads::share(fold.units(), bytes, &|units| {
            // SAFETY: the source's memory is kept by the program that names it, the target's by its piece; both reach over the extents. Units
            // have different results.
            unsafe { fold.run(source.address as *const u8, target.address as *mut u8, units) };
            Ok(())
        });
    }
    for point in 0..points {
        let (from, to) = places(source, target, outer, point);
        let found = position(source.elem, from, axis, greatest)?;
        // SAFETY: the target reaches over all points of the result.
        unsafe { (to as *mut i64).write_unaligned(found) };
    }
    Ok(())
}

/// The extremes of complex numbers by a ufunc's name: a NaN wins, or any other wins over NaN.
pub fn extremes(source: &Source, name: &str, outer: &[Outer], inner: &[Axis], target: &Target) -> Result<()> {
    let greatest = matches!(name, "maximum" | "fmax");
    let nan_wins = matches!(name, "maximum" | "minimum");
    let points: u64 = outer.iter().map(|axis| axis.extent).product();
    let count: u64 = inner.iter().map(|axis| axis.extent).product();
    let item = source.elem.size();
    for point in 0..points {
        let (from, to) = places(source, target, outer, point);
        let mut best: Option<((f64, f64), u64)> = None;
        for i in 0..count {
            let place = inside(from, inner, i);
            let x = number_at(source.elem, place)?;
            let wins = match best {
                None => true,
                Some((b, _)) if is_nan(b) => !nan_wins && !is_nan(x),
                Some(_) if is_nan(x) => nan_wins,
                Some((b, _)) if greatest => x > b,
                Some((b, _)) => x < b,
            };
            if wins {
                best = Some((x, place));
            }
        }
        if let Some((_, place)) = best {
            // SAFETY: source and target reach over all points.
            unsafe { std::ptr::copy_nonoverlapping(place as *const u8, to as *mut u8, item) };
        }
    }
    Ok(())
}

/// Where a point of the result starts in the source, and lies in the target.
fn places(source: &Source, target: &Target, outer: &[Outer], point: u64) -> (u64, u64) {
    let (mut from, mut to, mut rest) = (source.address, target.address, point);
    for axis in outer.iter().rev() {
        let at = (rest % axis.extent) as i64;
        from = from.wrapping_add_signed(at * axis.input);
        to = to.wrapping_add_signed(at * axis.output);
        rest /= axis.extent;
    }
    (from, to)
}

fn inside(from: u64, inner: &[Axis], point: u64) -> u64 {
    let (mut place, mut rest) = (from, point);
    for axis in inner.iter().rev() {
        place = place.wrapping_add_signed((rest % axis.extent) as i64 * axis.stride);
        rest /= axis.extent;
    }
    place
}

fn is_nan(x: (f64, f64)) -> bool {
    x.0.is_nan() || x.1.is_nan()
}

/// A number, of whatever type, as a complex one.
fn number_at(elem: Scalar, place: u64) -> Result<(f64, f64)> {
    let mut bits = [0u64; 2];
    // SAFETY: the source reaches over all points; 16 bytes hold any element.
    unsafe { std::ptr::copy_nonoverlapping(place as *const u8, bits.as_mut_ptr().cast(), elem.size()) };
    parts(number::constant(elem, bits)).ok_or_else(|| Error::Internal("elements that have no order".into()))
}

/// The place of the first complex number that none is better than; the first NaN is best.
fn position(elem: Scalar, from: u64, axis: Axis, greatest: bool) -> Result<i64> {
    let read = |i: u64| number_at(elem, from.wrapping_add_signed(axis.stride * i as i64));
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
