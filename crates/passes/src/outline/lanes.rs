//! What lanes lie along: the axis along which neighbours are neighbours in memory, as far as the layouts of the arrays say it.
//!
//! An index space whose arrays are Fortran-contiguous is turned round: its points come in no order. One whose points reduce index spaces of
//! their own (`sum(axis=…)`) has lanes along either: the outer points, each lane with sums of its own, or the inner ones, one outer point
//! after the other. Both give the same bits (`ordered`). Where memory lies along the inner ones, their number decides when the program runs.

use std::mem;

use weft_ir::{BinOp, Block, Builder, CmpOp, Const, FuncKind, Function, Index, Layout, Op, Span, Spread, Stmt, StmtKind, Value};

use super::blocks::{self, Points};
use super::nest::Nester;
use super::ordered;
use crate::again;
use crate::inline::label_count;

/// Inner index spaces of so many points are worth lanes of their own.
const LONG: i64 = 16;
/// Outer points that all threads share; fewer share the threads one after the other.
const MANY: i64 = 8;

pub fn run(func: &mut Function) {
    if func.kind != FuncKind::Host {
        return;
    }
    let mut body = mem::take(&mut func.body);
    let next_label = label_count(&body);
    Chooser { func, next_label }.block(&mut body);
    func.body = body;
}

/// How many points an inner index space has along its last axis.
enum Length {
    Constant(i64),
    Value(Value),
}

/// A length as it is known outside the points; one that each point makes anew is not.
fn length_outside(points: &Block, length: Value) -> Option<Length> {
    let made = points.0.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Let(value, op) if *value == length => Some(op),
        _ => None,
    });
    match made {
        None => Some(Length::Value(length)),
        Some(Op::Const(Const::Int(_, n))) => Some(Length::Constant(*n)),
        Some(_) => None,
    }
}

struct Chooser<'a> {
    func: &'a mut Function,
    next_label: u32,
}

impl Chooser<'_> {
    /// Statements that no lanes run.
    fn block(&mut self, block: &mut Block) {
        for mut stmt in mem::take(&mut block.0) {
            if let StmtKind::ParFor { spread, .. } = &stmt.kind
                && *spread != Spread::Threads
            {
                match self.along_first(&stmt.kind) {
                    Some(points) => self.by_blocks(points, stmt.span, &mut block.0),
                    None => {
                        self.turn_round(&mut stmt.kind);
                        self.fold(stmt, &mut block.0);
                    }
                }
                continue;
            }
            stmt.kind.blocks_mut().for_each(|inner| self.block(inner));
            block.0.push(stmt);
        }
    }

    /// A sum over two axes of which memory lies along the first.
    fn along_first<'b>(&self, kind: &'b StmtKind) -> Option<Points<'b>> {
        let StmtKind::ParFor {
            vars,
            extents,
            reductions,
            spread,
            body,
        } = kind
        else {
            return None;
        };
        let (&[first, last], &[rows, columns]) = (vars.as_slice(), extents.as_slice()) else {
            return None;
        };
        let along = ordered::shows(self.func, reductions) && self.neighbours(body, first) > self.neighbours(body, last);
        along.then(|| Points {
            vars: [first, last],
            extents: [rows, columns],
            reductions,
            spread: *spread,
            body: body.clone(),
        })
    }

    fn by_blocks(&mut self, points: Points<'_>, span: Span, out: &mut Vec<Stmt>) {
        let mut b = Builder::new(mem::replace(self.func, Function::new("", FuncKind::Device)));
        b.span = span;
        blocks::write(&mut b, points);
        let written = b.close();
        *self.func = b.func;
        for mut stmt in written.0 {
            self.blocks_in_lanes(&mut stmt.kind);
            out.push(stmt);
        }
    }

    fn turn_round(&self, kind: &mut StmtKind) {
        let StmtKind::ParFor {
            vars,
            extents,
            reductions,
            body,
            ..
        } = kind
        else {
            return;
        };
        if let [first, .., last] = vars[..]
            && !ordered::shows(self.func, reductions)
            && self.neighbours(body, first) > self.neighbours(body, last)
        {
            vars.reverse();
            extents.reverse();
        }
    }

    /// How many accesses of a block are to neighbours in memory where the index is a neighbour.
    fn neighbours(&self, block: &Block, var: Value) -> usize {
        let mut count = 0;
        block.walk(&mut |kind| {
            let access = match kind {
                StmtKind::Let(_, Op::Load { view, indices, .. }) | StmtKind::Store { view, indices, .. } => Some((view, indices)),
                _ => None,
            };
            count += usize::from(access.is_some_and(|(view, indices)| self.runs_along(*view, indices, var)));
        });
        count
    }

    fn runs_along(&self, view: Value, indices: &[Index], var: Value) -> bool {
        let index = match self.func.ty(view).view().map(|view| view.layout) {
            Some(Layout::C | Layout::Row) => indices.last(),
            Some(Layout::F) => indices.first(),
            Some(Layout::Any) | None => None,
        };
        index.is_some_and(|index| index.value == var)
    }

    /// Writes the index space, in both forms if its points reduce index spaces that memory lies along.
    fn fold(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        let Some(length) = self.inner_length(&stmt.kind) else {
            return out.push(stmt);
        };
        let span = stmt.span;
        let cond = match length {
            Length::Constant(n) if n < LONG => return out.push(stmt),
            Length::Constant(_) => None,
            Length::Value(length) => Some(self.at_least(&[length], LONG, span, out)),
        };
        let then = match &stmt.kind {
            StmtKind::ParFor {
                spread: Spread::Gangs,
                extents,
                ..
            } => self.on_threads(&stmt, extents),
            _ => self.one_by_one(&stmt, Spread::Lanes),
        };
        let Some(cond) = cond else {
            return out.extend(then.0);
        };
        let other = self.across_short(stmt);
        let kind = StmtKind::If { cond, then, other };
        out.push(Stmt { kind, span });
    }

    /// With lanes along the outer points, of which each goes through few inner ones.
    fn across_short(&mut self, mut stmt: Stmt) -> Block {
        self.blocks_in_lanes(&mut stmt.kind);
        Block(vec![stmt])
    }

    /// Writes out the index spaces inside of points, each one block of the fixed order.
    fn blocks_in_lanes(&mut self, kind: &mut StmtKind) {
        if let StmtKind::ParFor { body, .. } = kind {
            let mut nester = Nester {
                func: &mut *self.func,
                next_label: self.next_label,
                one_block: true,
            };
            nester.block(body, true);
            self.next_label = nester.next_label;
        }
    }

    /// With lanes along the inner points. Threads share the outer ones, or where those are few, the inner ones of each.
    fn on_threads(&mut self, stmt: &Stmt, extents: &[Value]) -> Block {
        let span = stmt.span;
        let mut out = Vec::new();
        let cond = self.at_least(extents, MANY, span, &mut out);
        let mut then = self.again(stmt);
        for shared in &mut then.0 {
            if let StmtKind::ParFor { spread, .. } = &mut shared.kind {
                *spread = Spread::Threads;
            }
        }
        let other = self.one_by_one(stmt, Spread::Gangs);
        let kind = StmtKind::If { cond, then, other };
        out.push(Stmt { kind, span });
        Block(out)
    }

    /// The length of the index spaces that the points reduce, if memory lies along them rather than along the points.
    fn inner_length(&self, kind: &StmtKind) -> Option<Length> {
        let StmtKind::ParFor { vars, body, .. } = kind else {
            return None;
        };
        let (mut along, mut length) = (0, None);
        for stmt in &body.0 {
            if let StmtKind::ParFor {
                vars,
                extents,
                reductions,
                body,
                ..
            } = &stmt.kind
                && !reductions.is_empty()
                && let (Some(last), Some(extent)) = (vars.last(), extents.last())
            {
                along += self.neighbours(body, *last);
                length = length.or(Some(*extent));
            }
        }
        let across = vars.last().map_or(0, |last| self.neighbours_inside(body, *last));
        let length = length.filter(|length| along > across && !vars.contains(length));
        length.and_then(|length| length_outside(body, length))
    }

    /// Accesses of the inner index spaces along an outer axis.
    fn neighbours_inside(&self, body: &Block, var: Value) -> usize {
        let inner = body.0.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::ParFor { body, .. } => Some(self.neighbours(body, var)),
            _ => None,
        });
        inner.sum()
    }

    fn at_least(&mut self, extents: &[Value], least: i64, span: Span, out: &mut Vec<Stmt>) -> Value {
        let mut b = Builder::new(mem::replace(self.func, Function::new("", FuncKind::Device)));
        b.span = span;
        let count = extents.iter().copied().reduce(|count, n| b.binary(BinOp::Mul, count, n));
        let (count, least) = (count.unwrap_or_else(|| b.i64(1)), b.i64(least));
        let enough = b.compare(CmpOp::Ge, count, least);
        out.extend(b.close().0);
        *self.func = b.func;
        enough
    }

    /// The outer points one after the other, with the inner ones spread.
    fn one_by_one(&mut self, stmt: &Stmt, inner: Spread) -> Block {
        let mut out = Vec::new();
        let copied = self.again(stmt).0.pop().map(|copy| copy.kind);
        let Some(StmtKind::ParFor {
            vars,
            extents,
            reductions,
            mut body,
            ..
        }) = copied
        else {
            return Block(vec![stmt.clone()]);
        };
        for stmt in &mut body.0 {
            if let StmtKind::ParFor { spread, .. } = &mut stmt.kind {
                *spread = inner;
            }
        }
        let mut nester = Nester {
            func: &mut *self.func,
            next_label: self.next_label,
            one_block: false,
        };
        nester.one_by_one((&vars, &extents, &reductions), body, stmt.span, &mut out);
        self.next_label = nester.next_label;
        Block(out)
    }

    /// A copy, with values and labels of its own.
    fn again(&mut self, stmt: &Stmt) -> Block {
        let mut copy = Block(vec![stmt.clone()]);
        again::rename(self.func, &mut copy, &mut self.next_label);
        copy
    }
}
