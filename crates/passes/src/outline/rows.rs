//! Loops inside of points that memory lies along: `for i in prange(n): for j in range(m): a[i, j] = …`.
//!
//! Lanes along the points would take an element of another row each, at a distance that often is the same place of the cache. Such points run
//! one by one on all threads; their loops become vectors by themselves. (A stencil of 1024² float32: 33 ns an element with lanes along the
//! rows, 0.13 with lanes in the row.)

use weft_ir::{Block, Function, Local, Op, StmtKind, Value};

use crate::distances::{Moved, TOO_FAR};

/// Do the loops of these points go through memory better than the points do?
pub fn lie_along_loops(func: &Function, points: &StmtKind) -> bool {
    let StmtKind::ParFor {
        vars, reductions, body, ..
    } = points
    else {
        return false;
    };
    let (&[point], true) = (vars.as_slice(), reductions.is_empty()) else {
        return false;
    };
    let mut loops = Vec::new();
    if !innermost(func, body, &mut loops) || loops.is_empty() {
        return false;
    }
    let (mut count, mut by_points, mut by_loops) = (0, 0, 0);
    let moved = Moved::by(point, body);
    for (var, inner) in loops {
        let own = Moved::by(var, inner);
        inner.walk(&mut |kind| {
            if let StmtKind::Let(_, Op::Load { view, indices, .. }) | StmtKind::Store { view, indices, .. } = kind {
                count += 1;
                by_points += moved.cost(func, *view, indices);
                by_loops += own.cost(func, *view, indices);
            }
        });
    }
    by_points > TOO_FAR * count && by_loops < by_points
}

/// The loops that hold no loop; false if one of them is better off in lanes, or is none that vectors are made of.
fn innermost<'a>(func: &Function, block: &'a Block, found: &mut Vec<(Value, &'a Block)>) -> bool {
    block.0.iter().all(|stmt| match &stmt.kind {
        StmtKind::For { body, .. } if holds_loop(body) => innermost(func, body, found),
        StmtKind::For { var, body, .. } => {
            found.push((*var, body));
            becomes_vectors(func, body)
        }
        StmtKind::ParFor { reductions, .. } if !reductions.is_empty() => false,
        StmtKind::ParFor { vars, body, .. } if !holds_loop(body) => {
            found.extend(vars.last().map(|var| (*var, body)));
            true
        }
        StmtKind::Loop(_) | StmtKind::ParFor { .. } => false,
        kind => kind.blocks().all(|inner| innermost(func, inner, found)),
    })
}

fn holds_loop(block: &Block) -> bool {
    block.any(&mut |kind| matches!(kind, StmtKind::For { .. } | StmtKind::Loop(_) | StmtKind::ParFor { .. }))
}

/// Plain arithmetic whose turns hand on no floats, but sums in any order.
fn becomes_vectors(func: &Function, body: &Block) -> bool {
    let hands_on = |kind: &StmtKind| match kind {
        StmtKind::Set(local, _) => {
            !func.flags.fastmath && func.local_ty(*local).scalar().is_none_or(|s| !s.is_int()) && is_read(body, *local)
        }
        _ => false,
    };
    !body.any(&mut |kind| {
        let ends = matches!(
            kind,
            StmtKind::Break | StmtKind::Return(_) | StmtKind::Leave(_) | StmtKind::Raise { .. } | StmtKind::Print(_)
        );
        ends || hands_on(kind)
            || matches!(
                kind,
                StmtKind::Let(_, Op::Call(..) | Op::Atomic { .. } | Op::Libm { .. } | Op::Routine { .. })
            )
    })
}

/// Is a local read before a turn has set it?
fn is_read(body: &Block, local: Local) -> bool {
    let mut is_set = false;
    body.any(&mut |kind| match kind {
        StmtKind::Set(to, _) => {
            is_set |= *to == local;
            false
        }
        StmtKind::Let(_, Op::Get(from)) => *from == local && !is_set,
        _ => false,
    })
}
