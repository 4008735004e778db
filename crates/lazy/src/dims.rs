//! Shapes and strides: sizes checked before they are multiplied, dense strides, axis maps.

use smallvec::{SmallVec, smallvec};

/// Lengths of axes, outermost first.
pub type Dims = SmallVec<[u64; 4]>;
/// Steps along axes, in bytes.
pub type Strides = SmallVec<[i64; 4]>;

/// The same shape again: faster than `clone`, which goes element by element.
pub fn copy(shape: &[u64]) -> Dims {
    Dims::from_slice(shape)
}

/// How many elements a shape has; none where that passes what memory can be addressed.
pub fn size(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    let size = shape.iter().try_fold(1u64, |size, &n| size.checked_mul(n))?;
    (size <= i64::MAX as u64).then_some(size)
}

/// How many bytes a shape of elements has.
pub fn bytes(shape: &[u64], item: usize) -> Option<u64> {
    size(shape)?.checked_mul(item as u64).filter(|&bytes| bytes <= i64::MAX as u64)
}

/// The strides of elements that lie one behind the other in C order.
pub fn dense(shape: &[u64], item: usize) -> Strides {
    let mut strides: Strides = smallvec![0; shape.len()];
    let mut step = item as i64;
    for (stride, &n) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.wrapping_mul(n.max(1) as i64);
    }
    strides
}

/// Do all elements of these strides, the first of which is at an offset, lie in so many bytes?
pub fn lie_within(offset: i64, shape: &[u64], strides: &[i64], item: usize, bytes: u64) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let (mut low, mut high) = (i128::from(offset), i128::from(offset));
    for (&n, &stride) in shape.iter().zip(strides) {
        let far = i128::from(n - 1) * i128::from(stride);
        (low, high) = (low + far.min(0), high + far.max(0));
    }
    low >= 0 && high + item as i128 <= i128::from(bytes)
}

/// Do elements of these strides lie one behind the other in C order? Axes of length 1 may have any stride.
pub fn is_dense(shape: &[u64], strides: &[i64], item: usize) -> bool {
    let mut step = item as i64;
    for (&n, &stride) in shape.iter().zip(strides).rev() {
        if n == 0 {
            return true;
        }
        if n != 1 && stride != step {
            return false;
        }
        step = step.wrapping_mul(n as i64);
    }
    true
}

/// How one axis of what is read follows from the point where it is read: `start + step * point[along]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    pub start: i64,
    pub step: i64,
    /// Which axis of the point it moves along; none where it stays.
    pub along: Option<u8>,
}

/// Where the elements of something are found from points of another index space: one entry for each of its axes.
pub type AxisMap = SmallVec<[Axis; 4]>;

/// Every axis is itself.
pub fn identity(rank: usize) -> AxisMap {
    (0..rank)
        .map(|axis| Axis {
            start: 0,
            step: 1,
            along: Some(axis as u8),
        })
        .collect()
}

/// The axis that each one is, where all are there in full and none of them twice.
pub fn turn(map: &[Axis]) -> Option<SmallVec<[u8; 4]>> {
    let mut seen = 0u128;
    let along = |axis: &Axis| {
        let along = axis.along.filter(|_| axis.start == 0 && axis.step == 1)?;
        let bit = 1u128.checked_shl(along.into())?;
        let is_new = seen & bit == 0;
        seen |= bit;
        is_new.then_some(along)
    };
    map.iter().map(along).collect()
}

/// Of what lies behind `inner`, from the points that `outer` starts from.
pub fn compose(outer: &[Axis], inner: &[Axis]) -> AxisMap {
    let through = |axis: &Axis| match axis.along {
        None => *axis,
        Some(along) => {
            let before = outer[along as usize];
            Axis {
                start: axis.start + axis.step * before.start,
                step: axis.step * before.step,
                along: before.along,
            }
        }
    };
    inner.iter().map(through).collect()
}

/// Where an operand of shape `from` is read at points of `to`, to which it broadcasts by NumPy's rule.
pub fn broadcast(from: &[u64], to: &[u64]) -> AxisMap {
    let missing = to.len() - from.len();
    (from.iter().enumerate())
        .map(|(axis, &n)| match n == 1 && to[missing + axis] != 1 {
            true => Axis {
                start: 0,
                step: 0,
                along: None,
            },
            false => Axis {
                start: 0,
                step: 1,
                along: Some((missing + axis) as u8),
            },
        })
        .collect()
}

/// Where axes of a shape are among those of another that differs from it in axes of length 1 only; none where more differs.
pub fn with_other_units(from: &[u64], to: &[u64]) -> Option<AxisMap> {
    let mut long = to.iter().enumerate().filter(|(_, n)| **n != 1);
    let map: Option<AxisMap> = (from.iter())
        .map(|&n| match n {
            1 => Some(Axis {
                start: 0,
                step: 0,
                along: None,
            }),
            n => long.next().filter(|(_, m)| **m == n).map(|(axis, _)| Axis {
                start: 0,
                step: 1,
                along: Some(axis as u8),
            }),
        })
        .collect();
    map.filter(|_| long.next().is_none())
}

/// The strides along the axes of the points, and the offset, of elements with `strides` that are read through a map.
pub fn through(map: &[Axis], strides: &[i64], rank: usize) -> (i64, Strides) {
    let mut offset = 0i64;
    let mut along: Strides = smallvec![0; rank];
    for (axis, &stride) in map.iter().zip(strides) {
        offset += axis.start * stride;
        if let Some(to) = axis.along {
            along[to as usize] += axis.step * stride;
        }
    }
    (offset, along)
}

/// The strides that elements have in another shape of the same size, where no element has to move: NumPy's rule for reshapes.
pub fn reshaped(shape: &[u64], strides: &[i64], to: &[u64]) -> Option<Strides> {
    let kept: Vec<(u64, i64)> = shape.iter().zip(strides).filter(|(n, _)| **n != 1).map(|(n, s)| (*n, *s)).collect();
    let mut made: Strides = smallvec![0; to.len()];
    let (mut from, mut at) = (0, 0);
    while from < kept.len() && at < to.len() {
        let (mut old, mut new) = (kept[from].0, to[at]);
        let (first_old, first_new) = (from, at);
        while old != new {
            if new < old {
                at += 1;
                new = new.checked_mul(*to.get(at)?)?;
            } else {
                from += 1;
                old = old.checked_mul(kept.get(from)?.0)?;
            }
        }
        // The old axes of the group have to be as one.
        for axis in first_old..from {
            if kept[axis].1 != kept[axis + 1].1.checked_mul(kept[axis + 1].0 as i64)? {
                return None;
            }
        }
        let mut step = kept[from].1;
        for axis in (first_new..=at).rev() {
            made[axis] = step;
            step = step.checked_mul(to[axis] as i64)?;
        }
        from += 1;
        at += 1;
    }
    // What is left are axes of length 1.
    let last = kept.last().map_or(1, |(_, s)| *s);
    made[at..].fill(last);
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert_eq!(size(&[]), Some(1));
        assert_eq!(size(&[u64::MAX, 0]), Some(0));
        assert_eq!(size(&[1 << 40, 1 << 40]), None);
        assert_eq!(bytes(&[1 << 62], 8), None);
    }

    #[test]
    fn reshapes_keep_elements_in_place_where_they_can() {
        assert_eq!(reshaped(&[4, 6], &[48, 8], &[24]).as_deref(), Some(&[8i64][..]));
        assert_eq!(
            reshaped(&[4, 6], &[96, 16], &[2, 2, 3, 2]).as_deref(),
            Some(&[192i64, 96, 32, 16][..])
        );
        assert_eq!(reshaped(&[4, 3], &[48, 8], &[12]), None);
        assert_eq!(reshaped(&[3, 1, 2], &[16, 0, 8], &[6, 1]).as_deref(), Some(&[8i64, 8][..]));
        assert_eq!(reshaped(&[1, 1], &[8, 8], &[1]).map(|s| s.len()), Some(1));
    }

    #[test]
    fn maps_compose() {
        // a[5::2][::-1] of ten elements
        let outer = [Axis {
            start: 2,
            step: -1,
            along: Some(0),
        }];
        let inner = [Axis {
            start: 5,
            step: 2,
            along: Some(0),
        }];
        let both = compose(&outer, &inner);
        assert_eq!((both[0].start, both[0].step), (9, -2));
        assert_eq!(through(&both, &[8], 1), (72, SmallVec::from_slice(&[-16])));
    }
}
