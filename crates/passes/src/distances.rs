//! How far apart in memory lanes are, along one index or another: what decides along which of them lanes lie.

use std::collections::HashSet;

use weft_ir::{Axis, BinOp, Block, Function, Geometry, Index, Layout, Op, StmtKind, Value};

/// What an access costs, in vectors: all lanes the same element, neighbours, others.
pub const SAME: usize = 1;
pub const NEIGHBOURS: usize = 2;
pub const FAR: usize = 24;
/// Where accesses cost more on the average, lanes are no better than scalar code.
pub const TOO_FAR: usize = 9;
/// So much more weighs what stands in a loop.
const TURNS: usize = 16;
/// And no more than in so many.
const DEEPEST: u32 = 3;

/// The axis of a block along which its threads are lanes: the first, but where threads along it meet elements far from each other, and threads
/// along another do not. (A stencil of 1024² float32 whose rows are along x: 6.7 ms, and 0.25 with lanes along y.)
pub fn lane_axis(kernel: &Function) -> Axis {
    let of = |axis| {
        let mut total = (0, 0);
        add(kernel, &kernel.body, &Moved::by_threads(axis, &kernel.body), 0, &mut total);
        total
    };
    let (count, by_first) = of(Axis::X);
    let better = |axis: &Axis| of(*axis).1 * 2 < by_first;
    match by_first > TOO_FAR * count {
        true => [Axis::Y, Axis::Z].into_iter().find(better).unwrap_or(Axis::X),
        false => Axis::X,
    }
}

/// Adds up accesses and their costs, in loops so many times.
fn add(func: &Function, block: &Block, moved: &Moved, depth: u32, total: &mut (usize, usize)) {
    let weight = TURNS.pow(depth.min(DEEPEST));
    for stmt in &block.0 {
        if let StmtKind::Let(_, Op::Load { view, indices, .. }) | StmtKind::Store { view, indices, .. } = &stmt.kind {
            total.0 += weight;
            total.1 += weight * moved.cost(func, *view, indices);
        }
        let deeper = u32::from(matches!(stmt.kind, StmtKind::For { .. } | StmtKind::Loop(_)));
        stmt.kind.blocks().for_each(|inner| add(func, inner, moved, depth + deeper, total));
    }
}

/// What moves with an index.
#[derive(Debug)]
pub struct Moved {
    at_all: HashSet<Value>,
    /// By one, as it does.
    alike: HashSet<Value>,
}

impl Moved {
    pub fn by(var: Value, block: &Block) -> Moved {
        Moved::by_all(HashSet::from([var]), block)
    }

    /// By the threads of a block along an axis.
    fn by_threads(axis: Axis, block: &Block) -> Moved {
        let mut own = HashSet::new();
        block.walk(&mut |kind| {
            if let StmtKind::Let(value, Op::Geometry(Geometry::ThreadIdx(of))) = kind
                && *of == axis
            {
                own.insert(*value);
            }
        });
        Moved::by_all(own, block)
    }

    fn by_all(vars: HashSet<Value>, block: &Block) -> Moved {
        let mut moved = Moved {
            at_all: vars.clone(),
            alike: vars,
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

    /// What an access costs, if lanes lie along the index.
    pub fn cost(&self, func: &Function, view: Value, indices: &[Index]) -> usize {
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
