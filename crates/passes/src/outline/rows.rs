//! Loops inside of points that memory lies along: `for i in prange(n): for j in range(m): a[i, j] = …`.
//!
//! Lanes along the points would take an element of another row each, at a distance that often is the same place of the cache. Such points run
//! one by one on all threads; their loops become vectors by themselves. (A stencil of 1024² float32: 33 ns an element with lanes along the
//! rows, 0.13 with lanes in the row.)

use std::collections::HashSet;

use weft_ir::{BinOp, Block, Function, Index, Layout, Op, StmtKind, Value};

/// What an access costs, in vectors: all lanes the same element, neighbours, others.
const SAME: usize = 1;
const NEIGHBOURS: usize = 2;
const FAR: usize = 24;
/// Lanes along the points are no worse than scalar code while accesses cost so much on the average.
const TOO_FAR: usize = 9;

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
fn is_read(body: &Block, local: weft_ir::Local) -> bool {
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

/// What moves with an index.
struct Moved {
    at_all: HashSet<Value>,
    /// By one, as it does.
    alike: HashSet<Value>,
}

impl Moved {
    fn by(var: Value, block: &Block) -> Moved {
        let mut moved = Moved {
            at_all: HashSet::from([var]),
            alike: HashSet::from([var]),
        };
        block.walk(&mut |kind| {
            let mut is_moved = matches!(kind, StmtKind::Let(_, Op::Get(_)));
            kind.operands(&mut |value| is_moved |= moved.at_all.contains(&value));
            let StmtKind::Let(value, op) = kind else { return };
            if !is_moved {
                return;
            }
            let with = |one: &Value, other: &Value| moved.alike.contains(one) && !moved.at_all.contains(other);
            let is_alike = match op {
                Op::Binary(BinOp::Add, a, b) => with(a, b) || with(b, a),
                Op::Binary(BinOp::Sub, a, b) => with(a, b),
                Op::Cast(of) => moved.alike.contains(of),
                _ => false,
            };
            moved.at_all.insert(*value);
            if is_alike {
                moved.alike.insert(*value);
            }
        });
        moved
    }

    fn cost(&self, func: &Function, view: Value, indices: &[Index]) -> usize {
        let moves = |index: &Index| self.at_all.contains(&index.value);
        let moving = indices.iter().filter(|index| moves(index)).count();
        let near = match func.ty(view).view().map(|view| view.layout) {
            Some(Layout::F) => indices.first(),
            _ => indices.last(),
        };
        match near {
            _ if moving == 0 => SAME,
            Some(index) if moving == 1 && self.alike.contains(&index.value) => NEIGHBOURS,
            _ => FAR,
        }
    }
}
