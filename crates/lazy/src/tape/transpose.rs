//! What a cotangent needs to know of views: which elements of what they look at are shown, and how often.

use smallvec::SmallVec;

use crate::array::Array;
use crate::dims::{self, Axis, AxisMap, Dims};
use crate::error::{Error, Result};
use crate::value::{Kind, Region};

use super::Made;

impl Made {
    /// The axes of a view along which it shows the same elements again and again.
    pub fn repeated(&self) -> Vec<usize> {
        match self {
            Made::Node(node, Kind::View { map, .. }) => (0..node.shape.len()).filter(|&axis| !moves(map, axis)).collect(),
            Made::Node(node, Kind::Strided { strides, .. }) => {
                let stays = |axis: &usize| strides[*axis] == 0;
                (0..node.shape.len()).filter(stays).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Do some of its points, beside those of the axes that repeat, show the same element?
    pub fn overlaps(&self) -> bool {
        match self {
            Made::Node(node, Kind::Strided { strides, .. }) => overlap(&node.shape, strides, node.elem.size() as u64),
            Made::Node(_, Kind::Update { region, value, .. }) => {
                let stays = region.shape.iter().zip(&region.strides).any(|(&n, &stride)| n > 1 && stride == 0);
                stays || overlap(&region.shape, &region.strides, value.elem.size() as u64)
            }
            _ => false,
        }
    }

    /// What a view shows of an array that lies as what it looks at, without axes that repeat; of an update, where it writes.
    pub fn shown(&self, of: &Array) -> Result<Array> {
        match self {
            Made::Node(node, Kind::View { map, .. }) => {
                let kept: Vec<usize> = (0..node.shape.len()).filter(|&axis| moves(map, axis)).collect();
                let shape: Dims = kept.iter().map(|&axis| node.shape[axis]).collect();
                let renumbered = |axis: &Axis| {
                    let along = axis
                        .along
                        .filter(|_| axis.step != 0)
                        .and_then(|along| kept.iter().position(|&k| k == usize::from(along)));
                    Axis {
                        along: along.map(|along| along as u8),
                        ..*axis
                    }
                };
                Ok(of.through(&map.iter().map(renumbered).collect::<AxisMap>(), shape))
            }
            Made::Node(node, Kind::Strided { offset, strides, .. }) => {
                let kept = strides.iter().zip(&node.shape).filter(|(stride, _)| **stride != 0);
                let (strides, shape): (Vec<i64>, Vec<u64>) = kept.map(|(&stride, &n)| (stride, n)).unzip();
                dense(of).strided(node.elem, &shape, &strides, *offset)
            }
            Made::Node(_, Kind::Update { region, value, .. }) => {
                let Region { shape, offset, strides } = &**region;
                dense(of).strided(value.elem, shape, strides, *offset)
            }
            _ => Err(Error::Internal("what is no view shows nothing".into())),
        }
    }

    /// A cotangent of a view that shows every element once, in the order of what it looks at; none of other views.
    pub fn turned_back(&self, cotangent: &Array) -> Option<Array> {
        let Made::Node(node, Kind::View { of, map }) = self else {
            return None;
        };
        let stays = Axis {
            start: 0,
            step: 0,
            along: None,
        };
        let mut back: AxisMap = SmallVec::from_elem(stays, node.shape.len());
        let mut seen = 0u128;
        for (to, (axis, &n)) in map.iter().zip(&of.shape).enumerate() {
            match axis.along {
                None if n == 1 => {}
                Some(along) => {
                    let from = usize::from(along);
                    let is_all = node.shape[from] == n
                        && (n == 1 || axis.step == 1 && axis.start == 0 || axis.step == -1 && axis.start == n as i64 - 1);
                    if !is_all || seen & (1 << from) != 0 {
                        return None;
                    }
                    seen |= 1 << from;
                    back[from] = Axis {
                        start: if axis.step < 0 { n as i64 - 1 } else { 0 },
                        step: if axis.step < 0 { -1 } else { 1 },
                        along: Some(to as u8),
                    };
                }
                None => return None,
            }
        }
        let is_left = |axis: usize| seen & (1 << axis) == 0 && node.shape[axis] != 1;
        match (0..node.shape.len()).any(is_left) {
            true => None,
            false => Some(cotangent.through(&back, dims::copy(&of.shape))),
        }
    }
}

/// Itself if its elements are all of a storage in order, else a copy that is.
fn dense(array: &Array) -> Array {
    match array.is_whole() {
        true => array.clone(),
        false => Array::of(array.read()),
    }
}

/// Does anything that is looked at move along an axis?
fn moves(map: &[Axis], axis: usize) -> bool {
    map.iter().any(|each| each.step != 0 && each.along == Some(axis as u8))
}

/// May elements at these strides, of those that are not 0, lie upon each other? Strides that nest do not.
fn overlap(shape: &[u64], strides: &[i64], item: u64) -> bool {
    let mut axes: Vec<(u64, u64)> = shape
        .iter()
        .zip(strides)
        .filter(|(n, stride)| **n > 1 && **stride != 0)
        .map(|(&n, stride)| (stride.unsigned_abs(), n))
        .collect();
    axes.sort_unstable();
    let mut reach = u128::from(item);
    for (stride, n) in axes {
        if u128::from(stride) < reach {
            return true;
        }
        reach += u128::from(stride) * u128::from(n - 1);
    }
    false
}
