//! The order that results lie in memory in: that of their operands, as NumPy's `order="K"`. A result in another order than C's is computed in
//! that order, of operands whose axes were exchanged, and looked at through a view that exchanges them back.

use smallvec::{SmallVec, smallvec};

use crate::array::Array;
use crate::dims::Strides;

/// Which axis each one in memory is, outermost first.
pub type Order = SmallVec<[u8; 4]>;

/// The order of a result of elementwise operations; none where it is C's. As NumPy's iterator finds it: axes by the lengths of their steps,
/// which operands have to agree in, or C's order wins.
pub fn of_operands<'a>(operands: impl Iterator<Item = &'a Array> + Clone) -> Option<Order> {
    let rank = operands.clone().map(Array::rank).max().unwrap_or(0);
    if rank < 2 || operands.clone().all(Array::is_whole) {
        return None;
    }
    let steps: SmallVec<[Strides; 3]> = operands.map(|operand| steps(operand, rank)).collect();
    // Innermost first, as the iterator has them.
    let mut inner: Order = SmallVec::new();
    for axis in (0..rank as u8).rev() {
        let mut place = inner.len();
        for at in (0..inner.len()).rev() {
            match is_inside(&steps, axis, inner[at]) {
                Some(true) => place = at,
                Some(false) => break,
                None => {}
            }
        }
        inner.insert(place, axis);
    }
    inner.reverse();
    unless_c(inner)
}

/// Are steps along one axis shorter than along another? None where no operand moves along both.
fn is_inside(steps: &[Strides], axis: u8, other: u8) -> Option<bool> {
    let mut found = None;
    for steps in steps {
        let (a, b) = (steps[axis as usize].unsigned_abs(), steps[other as usize].unsigned_abs());
        if a != 0 && b != 0 {
            found = Some(a < b && found != Some(false));
        }
    }
    found
}

/// The order of a copy; none where it is C's.
pub fn of_copy(array: &Array) -> Option<Order> {
    if array.rank() < 2 || array.is_whole() {
        return None;
    }
    of_strides(&array.strides().1)
}

/// The order of a copy of what lies at such strides; none where it is C's.
pub fn of_strides(strides: &[i64]) -> Option<Order> {
    let mut order: Order = (0..strides.len() as u8).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(strides[axis as usize].unsigned_abs()));
    unless_c(order)
}

/// The order of what is left when some axes are folded; none where it is C's.
pub fn of_fold(array: &Array, folded: &[usize]) -> Option<Order> {
    if array.rank() < folded.len() + 2 {
        return None;
    }
    let mut order = of_operands(std::iter::once(array))?;
    order.retain(|axis| !folded.contains(&usize::from(*axis)));
    let left: Order = (0..array.rank() as u8)
        .filter(|axis| !folded.contains(&usize::from(*axis)))
        .collect();
    let numbers: Order = order
        .iter()
        .map(|axis| left.iter().position(|of| of == axis).unwrap_or(0) as u8)
        .collect();
    unless_c(numbers)
}

/// All axes of what is folded: those that are left, in their order, before those that are folded, in C's.
pub fn before(order: &[u8], folded: &[usize], rank: usize) -> Order {
    let is_folded = |axis: &u8| folded.contains(&usize::from(*axis));
    let left: Order = (0..rank as u8).filter(|axis| !is_folded(axis)).collect();
    let first = order.iter().map(|&at| left[usize::from(at)]);
    first.chain((0..rank as u8).filter(is_folded)).collect()
}

fn unless_c(order: Order) -> Option<Order> {
    (!order.is_sorted()).then_some(order)
}

/// Steps along the axes of a result, 0 where an operand has but one element.
fn steps(array: &Array, rank: usize) -> Strides {
    let mut all: Strides = smallvec![0; rank - array.rank()];
    let (_, strides) = array.strides();
    all.extend(
        strides
            .iter()
            .zip(&array.shape)
            .map(|(&stride, &n)| if n == 1 { 0 } else { stride }),
    );
    all
}

/// The axes that put those of an order back to where they were.
pub fn back(order: &[u8]) -> SmallVec<[usize; 4]> {
    let mut back: SmallVec<[usize; 4]> = smallvec![0; order.len()];
    for (at, &axis) in order.iter().enumerate() {
        back[axis as usize] = at;
    }
    back
}
