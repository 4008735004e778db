//! Iteration plans: how operands of different shapes are walked together by broadcasting, ordered axes, collapsed axes.
//!
//! NumPy's rules for shapes. The walk visits the output's memory in order where it can: axes are sorted by the output's strides, axes of
//! length 1 dropped, neighbours merged where every operand steps through them as through one. So a ufunc over contiguous arrays of any
//! rank is a loop of rank 1, and the same compiled loop serves every shape.

use std::fmt;

use weft_ir::Layout;

/// An array as the caller holds it. Strides are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand<'a> {
    pub shape: &'a [u64],
    pub strides: &'a [i64],
    pub item: u64,
}

/// One operand on the planned axes: only the axes it moves along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandPlan {
    /// Bit `i`: the operand moves along loop axis `i`. The others it is broadcast over.
    pub axes: u32,
    pub layout: Layout,
    /// Shape and strides of the view handed to the loop, one entry per axis it moves along.
    pub shape: Vec<u64>,
    pub strides: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Lengths of the loop's axes, outermost first; never empty.
    pub extents: Vec<u64>,
    /// In the order the operands were given.
    pub operands: Vec<OperandPlan>,
}

/// Shapes that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastError {
    pub shapes: Vec<Vec<u64>>,
}

impl fmt::Display for BroadcastError {
    /// NumPy's words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operands could not be broadcast together with shapes")?;
        for shape in &self.shapes {
            let items: Vec<String> = shape.iter().map(u64::to_string).collect();
            let comma = if items.len() == 1 { "," } else { "" };
            write!(f, " ({}{comma})", items.join(","))?;
        }
        Ok(())
    }
}

impl std::error::Error for BroadcastError {}

/// The common shape of operands, by NumPy's rule: aligned at the last axis, lengths equal or 1.
pub fn broadcast_shapes(shapes: &[&[u64]]) -> Result<Vec<u64>, BroadcastError> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for shape in shapes {
        for (have, &want) in common[rank - shape.len()..].iter_mut().zip(*shape) {
            match (*have, want) {
                (_, 1) => {}
                (1, n) => *have = n,
                (m, n) if m == n => {}
                _ => {
                    return Err(BroadcastError {
                        shapes: shapes.iter().map(|s| s.to_vec()).collect(),
                    });
                }
            }
        }
    }
    Ok(common)
}

/// Plans the walk of `operands` over `shape`; each operand must broadcast to it. The last operand is the output, whose strides order the axes.
pub fn plan(shape: &[u64], operands: &[Operand<'_>]) -> Plan {
    let strides: Vec<Vec<i64>> = operands.iter().map(|operand| broadcast_strides(shape, operand)).collect();
    let order = axis_order(shape, strides.last().map_or(&[][..], Vec::as_slice));
    let (extents, groups) = collapse(shape, &order, &strides);
    let operands = operands
        .iter()
        .zip(&strides)
        .map(|(operand, strides)| place(operand.item, &extents, &groups, strides))
        .collect();
    Plan { extents, operands }
}

/// The operand's strides on every axis of `shape`: 0 where it is broadcast.
fn broadcast_strides(shape: &[u64], operand: &Operand<'_>) -> Vec<i64> {
    let missing = shape.len() - operand.shape.len();
    let mut strides = vec![0; shape.len()];
    for (axis, stride) in strides.iter_mut().enumerate().skip(missing) {
        if operand.shape[axis - missing] != 1 {
            *stride = operand.strides[axis - missing];
        }
    }
    strides
}

/// Axes longer than 1, largest output stride first.
fn axis_order(shape: &[u64], output: &[i64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(output[axis].unsigned_abs()));
    order
}

/// Merges neighbouring axes; gives each merged axis its length and the innermost old axis, whose strides it has.
fn collapse(shape: &[u64], order: &[usize], strides: &[Vec<i64>]) -> (Vec<u64>, Vec<usize>) {
    let mut extents: Vec<u64> = Vec::new();
    let mut inner: Vec<usize> = Vec::new();
    for &axis in order {
        let joins = inner
            .last()
            .is_some_and(|&outer| strides.iter().all(|s| s[outer] as i128 == s[axis] as i128 * shape[axis] as i128));
        match (joins, extents.last_mut(), inner.last_mut()) {
            (true, Some(extent), Some(last)) => {
                *extent *= shape[axis];
                *last = axis;
            }
            _ => {
                extents.push(shape[axis]);
                inner.push(axis);
            }
        }
    }
    if extents.is_empty() {
        return (vec![1], vec![]);
    }
    (extents, inner)
}

fn place(item: u64, extents: &[u64], groups: &[usize], strides: &[i64]) -> OperandPlan {
    let mut placed = OperandPlan {
        axes: 0,
        layout: Layout::C,
        shape: Vec::new(),
        strides: Vec::new(),
    };
    for (axis, (&group, &extent)) in groups.iter().zip(extents).enumerate() {
        if strides[group] != 0 {
            placed.axes |= 1 << axis;
            placed.shape.push(extent);
            placed.strides.push(strides[group]);
        }
    }
    placed.layout = layout(item, &placed.shape, &placed.strides);
    placed
}

/// The strongest layout that shape and byte strides have, with no axes of length 1.
pub fn layout(item: u64, shape: &[u64], strides: &[i64]) -> Layout {
    if strides.last().is_some_and(|&s| s != item as i64) {
        return Layout::Any;
    }
    let mut expected = item as i64;
    for (&extent, &stride) in shape.iter().zip(strides).rev() {
        if stride != expected {
            return Layout::Row;
        }
        expected = expected.wrapping_mul(extent as i64);
    }
    Layout::C
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operand<'a>(shape: &'a [u64], strides: &'a [i64]) -> Operand<'a> {
        Operand { shape, strides, item: 8 }
    }

    #[test]
    fn shapes_align_at_the_last_axis() {
        assert_eq!(broadcast_shapes(&[&[3, 1], &[4], &[]]), Ok(vec![3, 4]));
        assert_eq!(broadcast_shapes(&[&[0], &[1]]), Ok(vec![0]));
        let error = broadcast_shapes(&[&[3], &[2, 4]]).unwrap_err();
        assert_eq!(error.to_string(), "operands could not be broadcast together with shapes (3,) (2,4)");
    }

    #[test]
    fn contiguous_operands_collapse_to_one_axis() {
        let a = operand(&[2, 3, 4], &[96, 32, 8]);
        let plan = plan(&[2, 3, 4], &[a.clone(), a]);
        assert_eq!(plan.extents, [24]);
        assert!(
            plan.operands
                .iter()
                .all(|o| o.layout == Layout::C && o.axes == 1 && o.shape == [24])
        );
    }

    #[test]
    fn fortran_order_is_walked_along_memory() {
        let a = operand(&[3, 4], &[8, 24]);
        assert_eq!(plan(&[3, 4], &[a.clone(), a]).extents, [12]);
    }

    #[test]
    fn broadcast_operands_lose_the_axis() {
        let row = operand(&[4], &[8]);
        let column = operand(&[3, 1], &[8, 8]);
        let out = operand(&[3, 4], &[32, 8]);
        let plan = plan(&[3, 4], &[row, column, out]);
        assert_eq!(plan.extents, [3, 4]);
        assert_eq!(plan.operands.iter().map(|o| o.axes).collect::<Vec<_>>(), [0b10, 0b01, 0b11]);
        assert!(plan.operands.iter().all(|o| o.layout == Layout::C));
    }

    #[test]
    fn strided_operands_keep_their_strides() {
        let every_other = operand(&[5], &[16]);
        let reversed = operand(&[5], &[-8]);
        let out = operand(&[5], &[8]);
        let plan = plan(&[5], &[every_other, reversed, out]);
        assert_eq!(plan.operands[0].strides, [16]);
        assert_eq!(plan.operands[1].layout, Layout::Any);
        assert_eq!(plan.operands[2].layout, Layout::C);
    }

    #[test]
    fn scalars_and_single_elements_have_one_point() {
        let zero_d = operand(&[], &[]);
        let one = operand(&[1, 1], &[8, 8]);
        let planned = plan(&[1, 1], &[zero_d, one]);
        assert_eq!(planned.extents, [1]);
        assert!(planned.operands.iter().all(|o| o.axes == 0 && o.shape.is_empty()));
        assert_eq!(plan(&[0, 3], &[operand(&[0, 3], &[24, 8])]).extents, [0]);
    }
}
