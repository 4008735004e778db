//! Nodes again for many values at once, which lie along a new first axis.

use smallvec::SmallVec;

use crate::dims::{self, Axis, AxisMap, Dims, Strides};
use crate::error::{Error, Result};
use crate::record;
use crate::value::{Args, Kind, Node, Region, Value};

use super::Made;

impl Made {
    /// The node of operands that have `count` values each along a first axis; of those that are none, as they were.
    pub fn batched(&self, operands: &[Option<Value>], count: u64) -> Result<Value> {
        let Made::Node(node, kind) = self else {
            return Err(Error::Internal("a call is no node".into()));
        };
        let given = |at: usize| operands.get(at).cloned().flatten();
        let all = |at: usize, before: &Value| given(at).map_or_else(|| repeated(before, count), Ok);
        let shape = with_first(count, &node.shape)?;
        let made = |kind: Kind| Ok(Node::pending_on(node.device, node.elem, dims::copy(&shape), kind));
        match kind {
            Kind::Map { operation, args } => {
                let aligned = |(at, arg): (usize, &Value)| match given(at) {
                    Some(value) => aligned(&value, node.shape.len()),
                    None => arg.clone(),
                };
                record::apply(operation, args.iter().enumerate().map(aligned).collect::<Args>())
            }
            Kind::View { of, map } => {
                let further = map.iter().map(|axis| Axis {
                    along: axis.along.map(|along| along + 1),
                    ..*axis
                });
                let map: AxisMap = std::iter::once(FIRST).chain(further).collect();
                made(Kind::View {
                    of: all(0, of)?,
                    map: Box::new(map),
                })
            }
            Kind::Reshape(of) => Ok(record::reshaped(&all(0, of)?, &shape)),
            Kind::Strided { of, offset, strides } => made(Kind::Strided {
                of: all(0, of)?,
                offset: *offset,
                strides: Box::new(strides_with_first(of, strides)?),
            }),
            Kind::Update { base, region, value } => made(Kind::Update {
                base: all(0, base)?,
                region: Box::new(Region {
                    shape: with_first(count, &region.shape)?,
                    offset: region.offset,
                    strides: strides_with_first(base, &region.strides)?,
                }),
                value: all(1, value)?,
            }),
            Kind::Fold { fold, of } => {
                let axes: Vec<usize> = (0..of.shape.len())
                    .filter(|axis| fold.axes & (1 << axis) != 0)
                    .map(|axis| axis + 1)
                    .collect();
                record::fold(fold.what, &all(0, of)?, &axes)
            }
            Kind::Moved(of) => Ok(record::moved(&all(0, of)?, node.device)),
            Kind::Fill(_) | Kind::Iota(_) | Kind::Unfinished(_) | Kind::StandIn => {
                Err(Error::Internal("a node of nothing that is followed".into()))
            }
        }
    }
}

const FIRST: Axis = Axis {
    start: 0,
    step: 1,
    along: Some(0),
};

fn with_first(count: u64, shape: &[u64]) -> Result<Dims> {
    let shape: Dims = std::iter::once(count).chain(shape.iter().copied()).collect();
    record::check_size(&shape, 1)?;
    Ok(shape)
}

fn strides_with_first(of: &Value, strides: &[i64]) -> Result<Strides> {
    let bytes = dims::bytes(&of.shape, of.elem.size()).ok_or_else(|| Error::Value("array is too big".into()))?;
    Ok(std::iter::once(bytes as i64).chain(strides.iter().copied()).collect())
}

/// The same value so many times.
fn repeated(value: &Value, count: u64) -> Result<Value> {
    record::broadcast_into(value, &with_first(count, &value.shape)?)
}

/// With axes of length 1 behind the first one, until it has `rank` axes besides.
fn aligned(value: &Value, rank: usize) -> Value {
    let missing = (rank + 1).saturating_sub(value.shape.len());
    if missing == 0 {
        return value.clone();
    }
    let mut shape: Dims = SmallVec::from_slice(&value.shape[..1]);
    shape.extend(std::iter::repeat_n(1, missing));
    shape.extend_from_slice(&value.shape[1..]);
    let further = (1..value.shape.len()).map(|axis| Axis {
        start: 0,
        step: 1,
        along: Some((axis + missing) as u8),
    });
    let map: AxisMap = std::iter::once(FIRST).chain(further).collect();
    let kind = Kind::View {
        of: value.clone(),
        map: Box::new(map),
    };
    Node::pending(value.elem, shape, kind)
}
