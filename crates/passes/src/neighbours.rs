//! Which accesses are to neighbours in memory where an index is a neighbour, as far as the layouts of the arrays say it.

use std::collections::HashSet;
use std::iter::Sum;
use std::ops::Add;

use weft_ir::{Block, Function, Index, Layout, Op, StmtKind, Value};

/// How many accesses of a block run through memory along an index. Those count first that another index moves, too: the rest come to the same
/// elements again for each of its values, and find them in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Along {
    of_both: usize,
    of_one: usize,
}

impl Add for Along {
    type Output = Along;

    fn add(self, other: Along) -> Along {
        Along {
            of_both: self.of_both + other.of_both,
            of_one: self.of_one + other.of_one,
        }
    }
}

impl Sum for Along {
    fn sum<I: Iterator<Item = Along>>(counts: I) -> Along {
        counts.fold(Along::default(), Add::add)
    }
}

/// Those along `var`, where `other` is the other index.
pub fn count(func: &Function, block: &Block, var: Value, other: Value) -> Along {
    let mut along = Along::default();
    let mut moved = HashSet::from([other]);
    block.walk(&mut |kind| {
        let mut is_moved = false;
        kind.operands(&mut |value| is_moved |= moved.contains(&value));
        if is_moved {
            kind.definitions(&mut |value| {
                moved.insert(value);
            });
        }
        let (StmtKind::Let(_, Op::Load { view, indices, .. }) | StmtKind::Store { view, indices, .. }) = kind else {
            return;
        };
        if runs_along(func, *view, indices, var) {
            match indices.iter().any(|index| moved.contains(&index.value)) {
                true => along.of_both += 1,
                false => along.of_one += 1,
            }
        }
    });
    along
}

fn runs_along(func: &Function, view: Value, indices: &[Index], var: Value) -> bool {
    let index = match func.ty(view).view().map(|view| view.layout) {
        Some(Layout::C | Layout::Row) => indices.last(),
        Some(Layout::F) => indices.first(),
        Some(Layout::Any) | None => None,
    };
    index.is_some_and(|index| index.value == var)
}
