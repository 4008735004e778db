//! Graphs that hold for arrays of any size: nobody looked at a size, and they were recorded alike for two.

use smallvec::SmallVec;

use super::{Graph, Of, Source, Step};
use crate::dims::{self, Axis, Dims};
use crate::record;
use crate::value::{Kind, Value};

impl Graph {
    /// Is it the same as another one, which was captured for other sizes, and depends on none of them?
    pub fn is_general(&self, other: &Graph) -> bool {
        let same_leaves = self.leaves.len() == other.leaves.len() && self.leaves.iter().zip(&other.leaves).all(same_source);
        let same_constants = self.constants.len() == other.constants.len() && self.constants.iter().zip(&other.constants).all(same_number);
        let same_steps = self.steps.len() == other.steps.len() && self.steps.iter().zip(&other.steps).all(same_step);
        let new = |graph: &Graph| graph.new.iter().map(|(_, place)| *place).collect::<Vec<_>>();
        let same_results = self.results.len() == other.results.len()
            && (self.results.iter().zip(&other.results)).all(|((a, of), (b, other))| {
                let same_storage = match (of, other) {
                    (Of::Leaf(a), Of::Leaf(b)) | (Of::New(a), Of::New(b)) => a == b,
                    _ => false,
                };
                same_storage && a.turn().is_some() && a.turn() == b.turn() && a.elem == b.elem && a.read_only == b.read_only
            });
        !self.sized
            && !other.sized
            && same_leaves
            && same_constants
            && same_steps
            && self.written == other.written
            && new(self) == new(other)
            && same_results
    }
}

fn same_source((a, b): (&Source, &Source)) -> bool {
    matches!((a, b), (Source::Argument(a), Source::Argument(b)) if a == b)
}

/// Are both the same number?
fn same_number((a, b): (&Value, &Value)) -> bool {
    let alone = a.shape.is_empty() && b.shape.is_empty() && a.elem == b.elem;
    alone && record::fill_of(a).is_some() && record::fill_of(a) == record::fill_of(b)
}

fn same_step(steps: (&Step, &Step)) -> bool {
    let (
        Step::Node {
            device,
            elem,
            shape,
            kind,
            operands,
        },
        Step::Node {
            device: other_device,
            elem: other_elem,
            shape: other_shape,
            kind: other_kind,
            operands: other_operands,
        },
    ) = steps
    else {
        return false;
    };
    let same_kind = match (kind, other_kind) {
        (Kind::Map { operation, .. }, Kind::Map { operation: other, .. }) => operation.number == other.number,
        (Kind::Fold { fold, .. }, Kind::Fold { fold: other, .. }) => fold == other,
        (Kind::View { map, .. }, Kind::View { map: other, .. }) => map == other && is_turn(map, shape) && is_turn(other, other_shape),
        _ => false,
    };
    device == other_device && elem == other_elem && shape.len() == other_shape.len() && operands == other_operands && same_kind
}

/// Are all axes there in full, in another order, with none but axes of length 1 between them?
fn is_turn(map: &[Axis], shape: &[u64]) -> bool {
    let is_there = |turn: &[u8], axis: usize| turn.iter().any(|&along| usize::from(along) == axis);
    dims::turn(map).is_some_and(|turn| shape.iter().enumerate().all(|(axis, &n)| n == 1 || is_there(&turn, axis)))
}

/// The shape of a node that was made again of other operands; none where it might be another node then.
pub fn shape_of(kind: &Kind, rank: usize) -> Option<Dims> {
    match kind {
        Kind::Map { args, .. } => {
            let shapes: SmallVec<[&[u64]; 4]> = args.iter().map(|arg| arg.shape.as_slice()).collect();
            record::common_shape(&shapes).ok().filter(|shape| shape.len() == rank)
        }
        Kind::Fold { fold, of } => {
            let is_kept = |(axis, _): &(usize, &u64)| fold.axes & (1 << axis) == 0;
            let any_empty = of.shape.contains(&0);
            (!any_empty).then(|| of.shape.iter().enumerate().filter(is_kept).map(|(_, n)| *n).collect())
        }
        Kind::View { of, map } => {
            let mut shape: Dims = SmallVec::from_elem(1, rank);
            for (axis, &n) in map.iter().zip(&of.shape) {
                *shape.get_mut(usize::from(axis.along?))? = n;
            }
            Some(shape)
        }
        _ => None,
    }
}
