//! Views made from views, and where their elements lie.

use std::sync::Arc;

use super::trap::Fault;
use super::value::View;
use crate::op::{Part, TOO_BIG};
use crate::types::Scalar;

/// One axis of a slice, with its values.
#[derive(Clone, Copy, Debug)]
pub(super) enum AxisValue {
    At { index: i64, wrap: bool },
    Range { start: i64, len: i64, step: i64 },
    Full,
    New,
}

/// An index as a position on an axis, or nothing if it is outside.
pub(super) fn position(index: i64, wrap: bool, len: i64) -> Option<i64> {
    let index = if wrap && index < 0 { index.checked_add(len)? } else { index };
    (0..len).contains(&index).then_some(index)
}

fn out_of_bounds(view: &View, index: &[i64]) -> Fault {
    Fault::OutOfBounds {
        array: view.name().to_owned(),
        index: index.to_vec(),
        shape: view.shape.clone(),
    }
}

fn bad_view(view: &View, message: impl Into<String>) -> Fault {
    Fault::BadView {
        array: view.name().to_owned(),
        message: message.into(),
    }
}

/// The byte offset of an element; `index` holds each axis's index and `wrap` says which may count from the end.
pub(super) fn locate(view: &View, index: &[i64], wrap: impl Fn(usize) -> bool) -> Result<i64, Fault> {
    let mut offset = view.offset;
    for (axis, (&i, (&len, &stride))) in index.iter().zip(view.shape.iter().zip(&view.strides)).enumerate() {
        let at = position(i, wrap(axis), len).ok_or_else(|| out_of_bounds(view, index))?;
        offset = offset.wrapping_add(at.wrapping_mul(stride));
    }
    Ok(offset)
}

/// Neither of two views, each with the size of its elements, has some between the first and the last of the other; or both are one.
pub fn are_apart((a, a_size): (&View, usize), (b, b_size): (&View, usize)) -> bool {
    let same = a_size == b_size && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
    let ((a_start, a_end), (b_start, b_end)) = (ends(a, a_size), ends(b, b_size));
    a.buffer != b.buffer || same || a_end <= b_start || b_end <= a_start
}

/// Where a view's elements start and end in their buffer.
fn ends(view: &View, size: usize) -> (i64, i64) {
    let reaches = view
        .shape
        .iter()
        .zip(&view.strides)
        .map(|(n, stride)| (n - 1).wrapping_mul(*stride));
    let (below, above) = reaches.fold((0, 0), |(low, high): (i64, i64), reach| (low + reach.min(0), high + reach.max(0)));
    (view.offset + below, view.offset + above + size as i64)
}

pub(super) fn slice(view: &View, axes: &[AxisValue]) -> Result<View, Fault> {
    let mut made = View {
        buffer: view.buffer,
        offset: view.offset,
        shape: Vec::new(),
        strides: Vec::new(),
        name: view.name.clone(),
    };
    let mut old = view.shape.iter().copied().zip(view.strides.iter().copied());
    for axis in axes {
        if let AxisValue::New = axis {
            made.shape.push(1);
            made.strides.push(0);
            continue;
        }
        let Some((len, stride)) = old.next() else {
            return Err(Fault::Malformed);
        };
        slice_axis(view, *axis, len, stride, &mut made)?;
    }
    Ok(made)
}

fn slice_axis(view: &View, axis: AxisValue, len: i64, stride: i64, made: &mut View) -> Result<(), Fault> {
    match axis {
        AxisValue::At { index, wrap } => {
            let at = position(index, wrap, len).ok_or_else(|| out_of_bounds(view, &[index]))?;
            made.offset = made.offset.wrapping_add(at.wrapping_mul(stride));
        }
        AxisValue::Range { start, len: count, step } => {
            let last = i128::from(start) + (i128::from(count) - 1) * i128::from(step);
            let inside = |i: i128| (0..i128::from(len)).contains(&i);
            if count < 0 || (count > 0 && !(inside(start.into()) && inside(last))) {
                return Err(bad_view(
                    view,
                    format!("{count} entries from {start}, {step} apart, of an axis of length {len}"),
                ));
            }
            if count > 0 {
                made.offset = made.offset.wrapping_add(start.wrapping_mul(stride));
            }
            made.shape.push(count);
            made.strides.push(stride.wrapping_mul(step));
        }
        AxisValue::Full | AxisValue::New => {
            made.shape.push(len);
            made.strides.push(stride);
        }
    }
    Ok(())
}

pub(super) fn transpose(view: &View, perm: &[u8]) -> View {
    let pick = |from: &[i64]| perm.iter().filter_map(|axis| from.get(*axis as usize).copied()).collect();
    View {
        shape: pick(&view.shape),
        strides: pick(&view.strides),
        ..view.clone()
    }
}

/// One part, of type `elem`, of every element.
pub(super) fn part(view: &View, elem: Scalar, part: Part) -> View {
    let skipped = if part == Part::Im { elem.size() as i64 } else { 0 };
    View {
        offset: view.offset.wrapping_add(skipped),
        ..view.clone()
    }
}

pub(super) fn reshape(view: &View, elem: Scalar, shape: &[i64]) -> Result<View, Fault> {
    let count = |shape: &[i64]| shape.iter().try_fold(1i64, |n, len| n.checked_mul(*len));
    if shape.iter().any(|len| *len < 0) || count(shape) != count(&view.shape) {
        return Err(bad_view(view, format!("cannot reshape {:?} into {shape:?}", view.shape)));
    }
    Ok(View {
        offset: view.offset,
        name: view.name.clone(),
        ..View::contiguous(view.buffer, elem, shape)
    })
}

/// How many bytes a fresh array takes. A shape is refused that would overflow them even with 1 in place of its zeros.
pub(super) fn bytes(elem: Scalar, shape: &[i64]) -> Result<u64, Fault> {
    let bad = |message: String| Fault::BadView {
        array: "a new array".into(),
        message,
    };
    if let Some(len) = shape.iter().find(|len| **len < 0) {
        return Err(bad(format!("negative dimensions are not allowed, {len} was asked for")));
    }
    let room = shape.iter().try_fold(elem.size() as i64, |n, len| n.checked_mul((*len).max(1)));
    match room {
        None => Err(bad(TOO_BIG.into())),
        Some(_) if shape.contains(&0) => Ok(0),
        Some(bytes) => Ok(bytes as u64),
    }
}

/// The byte offset of every element, in C order.
pub(super) fn offsets(view: &View) -> impl Iterator<Item = i64> {
    points(&view.shape).map(|index| {
        let steps = index.iter().zip(&view.strides).map(|(i, stride)| i.wrapping_mul(*stride));
        steps.fold(view.offset, i64::wrapping_add)
    })
}

/// Every point of an index space, last axis fastest. A negative extent is empty.
pub(super) fn points(extents: &[i64]) -> impl Iterator<Item = Arc<[i64]>> {
    let extents: Vec<i64> = extents.to_vec();
    let mut next = extents.iter().all(|len| *len > 0).then(|| vec![0; extents.len()]);
    std::iter::from_fn(move || {
        let point = next.take()?;
        let mut after = point.clone();
        for axis in (0..after.len()).rev() {
            after[axis] += 1;
            if after[axis] < extents[axis] {
                next = Some(after);
                break;
            }
            after[axis] = 0;
        }
        Some(point.into())
    })
}
