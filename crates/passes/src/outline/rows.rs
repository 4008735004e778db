//! Loops inside of points that memory lies along: `for i in prange(n): for j in range(m): a[i, j] = …`.
//!
//! Lanes along the points would take an element of another row each, at a distance that often is the same place of the cache. Such points run
//! one by one on all threads; their loops become vectors by themselves. (A stencil of 1024² float32: 33 ns an element with lanes along the
//! rows, 0.13 with lanes in the row.)

use std::collections::{HashMap, HashSet};

use weft_ir::{BinOp, Block, Builder, CmpOp, Const, Effect, Function, Local, Op, Scalar, StmtKind, Type, Value};

use crate::distances::{Moved, TOO_FAR};

/// Fewer turns are not worth vectors of their own.
const LONG: i64 = 16;

/// Points whose loops lanes are better along.
pub struct Rows<'a> {
    points: &'a Block,
    loops: Vec<Inner<'a>>,
    defs: HashMap<Value, &'a Op>,
    inside: HashSet<Value>,
}

/// A loop that holds no loop, or short ones only.
struct Inner<'a> {
    var: Value,
    /// From where to where it goes.
    ends: (Option<Value>, Value),
    body: &'a Block,
}

impl<'a> Rows<'a> {
    /// Such points, if these are.
    pub fn of(func: &Function, points: &'a StmtKind) -> Option<Rows<'a>> {
        let StmtKind::ParFor {
            vars, reductions, body, ..
        } = points
        else {
            return None;
        };
        let (&[point], true) = (vars.as_slice(), reductions.is_empty()) else {
            return None;
        };
        let mut rows = Rows {
            points: body,
            loops: Vec::new(),
            defs: HashMap::new(),
            inside: HashSet::from([point]),
        };
        body.walk(&mut |kind| {
            kind.definitions(&mut |value| {
                rows.inside.insert(value);
            });
        });
        rows.define(body);
        let fits = rows.innermost(func, body) && !rows.loops.is_empty() && rows.are_better(func, point);
        fits.then_some(rows)
    }

    fn define(&mut self, block: &'a Block) {
        for stmt in &block.0 {
            if let StmtKind::Let(value, op) = &stmt.kind {
                self.defs.insert(*value, op);
            }
            stmt.kind.blocks().for_each(|inner| self.define(inner));
        }
    }

    /// Do the loops go through memory better than the points do?
    fn are_better(&self, func: &Function, point: Value) -> bool {
        let (mut count, mut by_points, mut by_loops) = (0, 0, 0);
        let moved = Moved::by(point, self.points);
        for inner in &self.loops {
            let own = Moved::by(inner.var, inner.body);
            inner.body.walk(&mut |kind| {
                if let StmtKind::Let(_, Op::Load { view, indices, .. }) | StmtKind::Store { view, indices, .. } = kind {
                    count += 1;
                    by_points += moved.cost(func, *view, indices);
                    by_loops += own.cost(func, *view, indices);
                }
            });
        }
        by_points > TOO_FAR * count && by_loops < by_points
    }

    /// Finds the innermost loops; false if one of them is better off in lanes, or is none that vectors are made of.
    fn innermost(&mut self, func: &Function, block: &'a Block) -> bool {
        block.0.iter().all(|stmt| match &stmt.kind {
            StmtKind::For { start, stop, .. } if self.is_short(*start, *stop) => true,
            StmtKind::For { body, .. } if self.holds_loop(body) => self.innermost(func, body),
            StmtKind::For {
                var, start, stop, body, ..
            } => {
                let ends = (Some(*start), *stop);
                self.loops.push(Inner { var: *var, ends, body });
                becomes_vectors(func, body)
            }
            StmtKind::ParFor { reductions, .. } if !reductions.is_empty() => false,
            StmtKind::ParFor { vars, extents, body, .. } if !self.holds_loop(body) => {
                let last = vars.last().zip(extents.last());
                let inner = last.map(|(var, extent)| Inner {
                    var: *var,
                    ends: (None, *extent),
                    body,
                });
                self.loops.extend(inner);
                true
            }
            StmtKind::Loop(_) | StmtKind::ParFor { .. } => false,
            kind => kind.blocks().all(|inner| self.innermost(func, inner)),
        })
    }

    fn holds_loop(&self, block: &Block) -> bool {
        block.any(&mut |kind| match kind {
            StmtKind::For { start, stop, .. } => !self.is_short(*start, *stop),
            kind => matches!(kind, StmtKind::Loop(_) | StmtKind::ParFor { .. }),
        })
    }

    /// Is a loop known to have few turns? It is unrolled.
    fn is_short(&self, start: Value, stop: Value) -> bool {
        let known = |value: Value| match self.defs.get(&value) {
            Some(Op::Const(Const::Int(_, n))) => Some(*n),
            _ => None,
        };
        known(start)
            .zip(known(stop))
            .is_some_and(|(start, stop)| stop.saturating_sub(start) < LONG)
    }

    /// Are the loops long? Nothing where that is not known before them.
    pub fn are_long(&self, b: &mut Builder) -> Option<Value> {
        let mut all = None;
        for inner in &self.loops {
            let (start, stop) = inner.ends;
            let start = start.map_or(Some(None), |start| self.outside(b, start).map(Some));
            let (Some(start), Some(stop)) = (start, self.outside(b, stop)) else {
                continue;
            };
            let turns = start.map_or(stop, |start| b.binary(BinOp::Sub, stop, start));
            let least = b.i64(LONG);
            let long = b.compare(CmpOp::Ge, turns, least);
            all = Some(all.map_or(long, |all| b.binary(BinOp::And, all, long)));
        }
        all
    }

    /// A number of the points as it is known outside of them.
    fn outside(&self, b: &mut Builder, value: Value) -> Option<Value> {
        if !self.inside.contains(&value) {
            return Some(value);
        }
        let op = *self.defs.get(&value)?;
        let is_int = b.ty(value).scalar().is_some_and(Scalar::is_int);
        if op.effect() != Effect::Pure || !is_int || !matches!(op, Op::Const(_) | Op::Dim(..) | Op::Binary(BinOp::Add | BinOp::Sub, ..)) {
            return None;
        }
        let mut given = Vec::new();
        op.operands(&mut |operand| given.push(operand));
        let mut made = given
            .into_iter()
            .map(|operand| self.outside(b, operand))
            .collect::<Option<Vec<Value>>>()?;
        made.reverse();
        let mut op = op.clone();
        op.operands_mut(&mut |operand| *operand = made.pop().unwrap_or(*operand));
        let ty: Type = b.ty(value);
        Some(b.emit(ty, op))
    }
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
