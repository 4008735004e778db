//! Which accesses are to neighbours in memory where an index is a neighbour, as far as the layouts of the arrays say it.

use weft_ir::{Block, Function, Index, Layout, Op, StmtKind, Value};

/// How many accesses of a block run through memory along an index.
pub fn count(func: &Function, block: &Block, var: Value) -> usize {
    let mut count = 0;
    block.walk(&mut |kind| {
        let access = match kind {
            StmtKind::Let(_, Op::Load { view, indices, .. }) | StmtKind::Store { view, indices, .. } => Some((view, indices)),
            _ => None,
        };
        count += usize::from(access.is_some_and(|(view, indices)| runs_along(func, *view, indices, var)));
    });
    count
}

fn runs_along(func: &Function, view: Value, indices: &[Index], var: Value) -> bool {
    let index = match func.ty(view).view().map(|view| view.layout) {
        Some(Layout::C | Layout::Row) => indices.last(),
        Some(Layout::F) => indices.first(),
        Some(Layout::Any) | None => None,
    };
    index.is_some_and(|index| index.value == var)
}
