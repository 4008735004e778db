//! What lanes lie along: the axis along which neighbours are neighbours in memory, as far as the layouts of the arrays say it.
//!
//! An index space whose arrays are Fortran-contiguous is turned round: its points come in no order. One whose points reduce index spaces of
//! their own (`sum(axis=…)`) has lanes along either: the outer points, each lane with sums of its own, or the inner ones, one outer point
//! after the other. Both give the same bits (`ordered`). Where memory lies along the inner ones, their number decides when the program runs.

use std::mem;

use weft_ir::{BinOp, Block, CmpOp, Const, FuncKind, Function, Op, Span, Spread, Stmt, StmtKind, Value};

use super::blocks::{self, Reduced};
use super::panels::Fold;
use super::rows::Rows;
use crate::duplicate;
use crate::error::PassError;
use crate::inline::label_count;
use crate::neighbours::{self, Along};
use crate::nest::{Nester, ordered};
use crate::statements::written;

/// Inner index spaces of so many points are worth lanes of their own.
const LONG: i64 = 16;
/// Outer points that all threads share; fewer share the threads one after the other.
const MANY: i64 = 8;

/// Gives the index spaces, by their last index, that are one block of the fixed order each.
pub fn run(func: &mut Function) -> Result<Vec<Value>, PassError> {
    if func.kind != FuncKind::Host {
        return Ok(Vec::new());
    }
    let mut body = mem::take(&mut func.body);
    let next_label = label_count(&body);
    let mut chooser = Chooser {
        func: &mut *func,
        next_label,
        one_block: Vec::new(),
    };
    let chosen = chooser.block(&mut body);
    let one_block = chooser.one_block;
    func.body = body;
    chosen.map(|()| one_block)
}

/// Statements beside the inner index spaces, at the most: these are written more than once.
const MOST_STATEMENTS: usize = 64;

/// Are the points inner index spaces, and little else? What runs long at a point of its own wants lanes along the points.
fn is_fold(points: &Block) -> bool {
    let mut count = 0;
    let mut loops = false;
    for stmt in &points.0 {
        if matches!(&stmt.kind, StmtKind::ParFor { .. }) {
            continue;
        }
        stmt.kind.walk(&mut |kind| {
            count += 1;
            loops |= matches!(
                kind,
                StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. } | StmtKind::Let(_, Op::Call(..))
            );
        });
    }
    !loops && count <= MOST_STATEMENTS
}

/// Does the order of the points show in what is printed, or in which error is raised?
fn has_effects(points: &Block) -> bool {
    points.any(&mut |kind| matches!(kind, StmtKind::Print(_) | StmtKind::Raise { .. } | StmtKind::Let(_, Op::Call(..))))
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
    one_block: Vec<Value>,
}

impl Chooser<'_> {
    /// Statements that no lanes run.
    fn block(&mut self, block: &mut Block) -> Result<(), PassError> {
        for mut stmt in mem::take(&mut block.0) {
            if let StmtKind::ParFor { spread, .. } = &stmt.kind
                && *spread != Spread::Threads
            {
                if let Some(stmt) = self.leave_to_loops(stmt, &mut block.0)? {
                    self.in_lanes(stmt, &mut block.0)?;
                }
                continue;
            }
            stmt.kind.blocks_mut().try_for_each(|inner| self.block(inner))?;
            block.0.push(stmt);
        }
        Ok(())
    }

    /// An index space that lanes go through.
    fn in_lanes(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) -> Result<(), PassError> {
        if self.is_along_first(&stmt.kind) {
            return self.by_blocks(stmt, out);
        }
        self.interchange(&mut stmt.kind);
        self.fold(stmt, out)
    }

    /// Has points run one by one where lanes are better along their loops, and in lanes only if these are short. Gives back other points.
    fn leave_to_loops(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) -> Result<Option<Stmt>, PassError> {
        let span = stmt.span;
        if !matches!(stmt.kind, StmtKind::ParFor { spread: Spread::Gangs, .. }) {
            return Ok(Some(stmt));
        }
        let Some(rows) = Rows::of(self.func, &stmt.kind) else {
            return Ok(Some(stmt));
        };
        let cond = written(self.func, span, out, |b| rows.are_long(b));
        let lanes = cond.map(|cond| (cond, self.duplicate(&stmt)));
        if let StmtKind::ParFor { spread, .. } = &mut stmt.kind {
            *spread = Spread::Threads;
        }
        stmt.kind.blocks_mut().try_for_each(|inner| self.block(inner))?;
        let Some((cond, lanes)) = lanes else {
            out.push(stmt);
            return Ok(None);
        };
        let (then, mut other) = (Block(vec![stmt]), Block::default());
        for stmt in lanes.0 {
            self.in_lanes(stmt, &mut other.0)?;
        }
        let kind = StmtKind::If { cond, then, other };
        out.push(Stmt { kind, span });
        Ok(None)
    }

    /// Is it a sum over two axes of which memory lies along the first?
    fn is_along_first(&self, kind: &StmtKind) -> bool {
        match kind {
            StmtKind::ParFor {
                vars, reductions, body, ..
            } if let &[first, last] = vars.as_slice() => {
                self.is_along(body, first, last) && ordered::shows(self.func, reductions) && !has_effects(body)
            }
            _ => false,
        }
    }

    /// With lanes along the rows, where these are blocks of the fixed order.
    fn by_blocks(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) -> Result<(), PassError> {
        let span = stmt.span;
        let copied = self.duplicate(&stmt).0.pop().map(|copy| copy.kind);
        let Some(StmtKind::ParFor {
            vars,
            extents,
            reductions,
            spread,
            body,
        }) = copied
        else {
            return Err(PassError::defect(span, "a copy of an index space that is none"));
        };
        let (Ok(vars), Ok(extents)) = (<[Value; 2]>::try_from(vars), <[Value; 2]>::try_from(extents)) else {
            return Err(PassError::defect(span, "a copy of an index space of two axes that has others"));
        };
        let space = Reduced {
            vars,
            extents,
            reductions: &reductions,
            spread,
            body,
        };
        let (cond, column, lanes) = written(self.func, span, out, |b| -> Result<_, PassError> {
            let cond = blocks::are_worth_lanes(b, extents);
            b.open();
            let column = blocks::write(b, space)?;
            Ok((cond, column, b.close()))
        })?;
        self.one_block.push(column);
        let mut then = Block::default();
        for stmt in lanes.0 {
            self.by_panels(stmt, true, &mut then.0)?;
        }
        let other = Block(vec![stmt]);
        let kind = StmtKind::If { cond, then, other };
        out.push(Stmt { kind, span });
        Ok(())
    }

    fn interchange(&self, kind: &mut StmtKind) {
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
            && !has_effects(body)
            && self.is_along(body, first, last)
        {
            vars.reverse();
            extents.reverse();
        }
    }

    /// Writes the index space, in both forms if its points reduce index spaces that memory lies along.
    fn fold(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) -> Result<(), PassError> {
        let length = self.inner_length(&stmt.kind);
        let Some(length) = length.filter(|length| !matches!(length, Length::Constant(n) if *n < LONG)) else {
            return self.by_panels(stmt, false, out);
        };
        let span = stmt.span;
        let cond = match length {
            Length::Constant(_) => None,
            Length::Value(length) => Some(self.at_least(&[length], LONG, span, out)),
        };
        let then = match &stmt.kind {
            StmtKind::ParFor {
                spread: Spread::Gangs,
                extents,
                ..
            } => self.on_threads(&stmt, extents)?,
            _ => self.one_by_one(&stmt, Spread::Lanes)?,
        };
        let Some(cond) = cond else {
            out.extend(then.0);
            return Ok(());
        };
        self.mark_short(&stmt.kind);
        let other = Block(vec![stmt]);
        let kind = StmtKind::If { cond, then, other };
        out.push(Stmt { kind, span });
        Ok(())
    }

    /// With lanes along the points; panel by panel where that is worth it.
    fn by_panels(&mut self, stmt: Stmt, one_block: bool, out: &mut Vec<Stmt>) -> Result<(), PassError> {
        let copied = match &stmt.kind {
            StmtKind::ParFor { vars, body, .. } if !has_effects(body) => {
                let lies_along = vars.last().is_some_and(|last| self.lies_along_points(body, *last));
                lies_along.then(|| self.duplicate(&stmt)).and_then(|mut copy| copy.0.pop())
            }
            _ => None,
        };
        let fold = copied.and_then(|copy| Fold::of(copy.kind, one_block));
        let Some(fold) = fold.filter(|fold| fold.combines(self.func, stmt.span)) else {
            out.push(stmt);
            return Ok(());
        };
        let span = stmt.span;
        let (cond, then) = written(self.func, span, out, |b| -> Result<_, PassError> {
            let cond = fold.is_worth_it(b)?;
            b.open();
            fold.write(b)?;
            Ok((cond, b.close()))
        })?;
        let other = Block(vec![stmt]);
        let kind = StmtKind::If { cond, then, other };
        out.push(Stmt { kind, span });
        Ok(())
    }

    /// The inner index spaces of the length that was found to be short.
    fn mark_short(&mut self, kind: &StmtKind) {
        let StmtKind::ParFor { body, .. } = kind else { return };
        let mut short = None;
        for stmt in &body.0 {
            if let StmtKind::ParFor { vars, extents, .. } = &stmt.kind
                && let (&[var], &[extent]) = (vars.as_slice(), extents.as_slice())
                && *short.get_or_insert(extent) == extent
            {
                self.one_block.push(var);
            }
        }
    }

    /// With lanes along the inner points. Threads share the outer ones, or where those are few, the inner ones of each.
    fn on_threads(&mut self, stmt: &Stmt, extents: &[Value]) -> Result<Block, PassError> {
        let span = stmt.span;
        let mut out = Vec::new();
        let cond = self.at_least(extents, MANY, span, &mut out);
        let mut then = self.duplicate(stmt);
        for shared in &mut then.0 {
            if let StmtKind::ParFor { spread, .. } = &mut shared.kind {
                *spread = Spread::Threads;
            }
        }
        let other = self.one_by_one(stmt, Spread::Gangs)?;
        let kind = StmtKind::If { cond, then, other };
        out.push(Stmt { kind, span });
        Ok(Block(out))
    }

    /// The length of the index spaces that the points reduce, if memory lies along them rather than along the points.
    fn inner_length(&self, kind: &StmtKind) -> Option<Length> {
        let StmtKind::ParFor { vars, body, .. } = kind else {
            return None;
        };
        if !is_fold(body) {
            return None;
        }
        let (mut rows, mut length) = (Vec::new(), None);
        for stmt in &body.0 {
            if let StmtKind::ParFor {
                vars,
                extents,
                reductions,
                body,
                ..
            } = &stmt.kind
                && !reductions.is_empty()
            {
                let (&[var], &[extent]) = (vars.as_slice(), extents.as_slice()) else {
                    return None;
                };
                if *length.get_or_insert(extent) != extent {
                    return None;
                }
                rows.push((body, var));
            }
        }
        let last = *vars.last()?;
        let along: Along = rows.iter().map(|(body, row)| neighbours::count(self.func, body, *row, last)).sum();
        let across: Along = rows.iter().map(|(body, row)| neighbours::count(self.func, body, last, *row)).sum();
        let length = length.filter(|length| along > across && !vars.contains(length));
        length.and_then(|length| length_outside(body, length))
    }

    /// Do the index spaces inside read memory along an outer axis?
    fn lies_along_points(&self, points: &Block, last: Value) -> bool {
        points.0.iter().any(|stmt| match &stmt.kind {
            StmtKind::ParFor { vars, body, .. } if let &[row] = vars.as_slice() => self.is_along(body, last, row),
            _ => false,
        })
    }

    /// Does memory lie along one index of a block rather than along another?
    fn is_along(&self, block: &Block, one: Value, other: Value) -> bool {
        neighbours::count(self.func, block, one, other) > neighbours::count(self.func, block, other, one)
    }

    fn at_least(&mut self, extents: &[Value], least: i64, span: Span, out: &mut Vec<Stmt>) -> Value {
        written(self.func, span, out, |b| {
            let count = extents.iter().copied().reduce(|count, n| b.binary(BinOp::Mul, count, n));
            let (count, least) = (count.unwrap_or_else(|| b.i64(1)), b.i64(least));
            b.compare(CmpOp::Ge, count, least)
        })
    }

    /// The outer points one after the other, with the inner ones spread.
    fn one_by_one(&mut self, stmt: &Stmt, inner: Spread) -> Result<Block, PassError> {
        let mut out = Vec::new();
        let copied = self.duplicate(stmt).0.pop().map(|copy| copy.kind);
        let Some(StmtKind::ParFor {
            vars,
            extents,
            reductions,
            mut body,
            ..
        }) = copied
        else {
            return Err(PassError::defect(stmt.span, "a copy of an index space that is none"));
        };
        for stmt in &mut body.0 {
            if let StmtKind::ParFor { spread, .. } = &mut stmt.kind {
                *spread = inner;
            }
        }
        let mut nester = Nester {
            func: &mut *self.func,
            next_label: self.next_label,
            blocks: Vec::new(),
        };
        nester.one_by_one((&vars, &extents, &reductions), body, stmt.span, &mut out)?;
        self.next_label = nester.next_label;
        Ok(Block(out))
    }

    /// A copy, with values and labels of its own.
    fn duplicate(&mut self, stmt: &Stmt) -> Block {
        let mut copy = Block(vec![stmt.clone()]);
        duplicate::rename(self.func, &mut copy, &mut self.next_label);
        copy
    }
}
