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
    of_steps(&steps, rank)
}

/// The order of a result of operands that make such steps along its axes, 0 where they have but one element.
pub fn of_steps(steps: &[Strides], rank: usize) -> Option<Order> {
    // Innermost first, as the iterator has them.
    let mut inner: Order = SmallVec::new();
    for axis in (0..rank as u8).rev() {
        let mut place = inner.len();
        for at in (0..inner.len()).rev() {
            match is_inside(steps, axis, inner[at]) {
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

/// How an array's axes are turned to be folded along some: those that are left in the order of its memory, then those that are folded, in C's
/// order, on which sums depend; and the order of the result. None where that is C's.
pub fn of_fold(array: &Array, folded: &[usize]) -> Option<(Order, Order)> {
    if array.rank() < folded.len() + 2 {
        return None;
    }
    let is_left = |axis: &u8| !folded.contains(&usize::from(*axis));
    let mut all = of_operands(std::iter::once(array))?;
    all.retain(|axis| is_left(axis));
    let left: Order = (0..array.rank() as u8).filter(is_left).collect();
    let numbers: Option<Order> = all.iter().map(|axis| Some(left.binary_search(axis).ok()? as u8)).collect();
    let result = unless_c(numbers?)?;
    all.extend((0..array.rank() as u8).filter(|axis| !is_left(axis)));
    Some((all, result))
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
