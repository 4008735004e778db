//! What a fold is made of: straight code and inner index spaces by turns, and what follows the last of them.

use std::collections::HashSet;

use weft_ir::{Block, Effect, FuncKind, Function, Reduction, Space, Span, Stmt, StmtKind, Value};

use super::count::{Count, Counts};
use crate::neighbours::{self, Along};

/// A loop whose points reduce index spaces of their own.
#[derive(Clone, Debug)]
pub struct Shape {
    pub rank: usize,
    pub inner: Vec<Inner>,
    /// Done once at each point; what comes before it may be done by many threads, and again.
    pub epilogue: Vec<Stmt>,
}

/// An inner index space.
#[derive(Clone, Debug)]
pub struct Inner {
    /// What comes before it, from the one before on.
    pub before: Vec<Stmt>,
    pub vars: Vec<Value>,
    pub extents: Vec<Value>,
    pub reductions: Vec<Reduction>,
    pub body: Block,
    pub span: Span,
    pub counts: Vec<Count>,
    /// Do its points write memory?
    pub writes: bool,
}

impl Shape {
    /// Nothing if the loop is no fold that many threads can share a point of. What an inner point raises or prints is right only where no
    /// epilogue comes to harm when a part is missing, and no order of lines is expected: `may_stop`.
    pub fn find(func: &Function, may_stop: bool) -> Option<Shape> {
        let FuncKind::Loop { rank, reductions } = &func.kind else {
            return None;
        };
        if !reductions.is_empty() {
            return None;
        }
        let rank = usize::from(*rank);
        let counts = Counts::of(func, rank);
        let (mut inner, mut straight) = (Vec::new(), Vec::new());
        for stmt in statements(&func.body) {
            let StmtKind::ParFor {
                vars,
                extents,
                reductions,
                body,
                ..
            } = &stmt.kind
            else {
                straight.push(stmt.clone());
                continue;
            };
            let before = std::mem::take(&mut straight);
            if vars.is_empty() || !before.iter().all(is_straight) {
                return None;
            }
            inner.push(Inner {
                before,
                vars: vars.clone(),
                extents: extents.clone(),
                reductions: reductions.clone(),
                body: body.clone(),
                span: stmt.span,
                counts: extents.iter().map(|n| counts.count(*n)).collect::<Option<_>>()?,
                writes: do_points_write(func, body, may_stop)?,
            });
        }
        let reduces = inner.iter().any(|inner| !inner.reductions.is_empty());
        let shape = Shape {
            rank,
            inner,
            epilogue: straight,
        };
        (reduces && shape.epilogue.iter().all(ends_point)).then_some(shape)
    }

    /// Can each inner index space have a kernel of its own, which does the straight code before it again? It reads what it read before.
    pub fn repeats(&self) -> bool {
        let reads = |stmt: &Stmt| stmt.kind.any(&mut |kind| kind.effect() == Effect::Load);
        !self.inner.iter().any(|inner| inner.writes) || !self.straight().any(reads)
    }

    /// Are the inner points what a device should have side by side, rather than the loop's? They are where memory lies along them and there is
    /// little else to do, which one thread does while others wait.
    pub fn is_shared_well(&self, func: &Function) -> bool {
        let (inside, across) = self.neighbours(func);
        inside >= across && !self.straight().any(has_loops)
    }

    /// Are neighbouring points what a block should have beside their inner ones? They are where memory lies along the points, and there is
    /// little else to do, which all threads of a point do.
    pub fn is_in_columns_well(&self, func: &Function) -> bool {
        let (inside, across) = self.neighbours(func);
        inside < across && !self.straight().any(has_loops)
    }

    /// What lies in memory along the inner points, and along the loop's.
    fn neighbours(&self, func: &Function) -> (Along, Along) {
        let along = |inner: &Inner, var: Option<&Value>, other: Option<&Value>| match (var, other) {
            (Some(var), Some(other)) => neighbours::count(func, &inner.body, *var, *other),
            _ => Along::default(),
        };
        let outer = func.params[..self.rank].last();
        let inside: Along = self.inner.iter().map(|inner| along(inner, inner.vars.last(), outer)).sum();
        let across: Along = self.inner.iter().map(|inner| along(inner, outer, inner.vars.last())).sum();
        (inside, across)
    }

    /// May threads without a point do what those of another one do, up to the epilogue? Inner points neither write nor print, and come to their
    /// end; that all before them does, and ends no point, is what makes a fold.
    pub fn may_go_along(&self) -> bool {
        let shows = |kind: &StmtKind| kind.effect() == Effect::Output || matches!(kind, StmtKind::Raise { .. });
        let any_shows = |inner: &Inner| inner.body.0.iter().any(|stmt| stmt.kind.any(&mut |kind| shows(kind)));
        !self.inner.iter().any(|inner| inner.writes || any_shows(inner))
    }

    /// What stands outside of the inner index spaces.
    fn straight(&self) -> impl Iterator<Item = &Stmt> {
        self.inner.iter().flat_map(|inner| &inner.before).chain(&self.epilogue)
    }
}

fn has_loops(stmt: &Stmt) -> bool {
    stmt.kind.any(&mut |kind| matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. }))
}

/// A function's own end says nothing.
fn statements(body: &Block) -> &[Stmt] {
    match body.0.split_last() {
        Some((
            Stmt {
                kind: StmtKind::Return(None),
                ..
            },
            rest,
        )) => rest,
        _ => &body.0,
    }
}

/// May a statement be done by many threads, and again?
fn is_straight(stmt: &Stmt) -> bool {
    !stmt.kind.any(&mut |kind| match kind.effect() {
        Effect::Pure | Effect::Get | Effect::Set | Effect::Load => false,
        Effect::Flow => matches!(kind, StmtKind::Return(_) | StmtKind::Raise { .. }),
        _ => true,
    })
}

/// May one thread do it when all inner points are done?
fn ends_point(stmt: &Stmt) -> bool {
    !stmt.kind.any(&mut |kind| match kind.effect() {
        Effect::Pure | Effect::Get | Effect::Set | Effect::Load | Effect::Store | Effect::Atomic | Effect::Output => false,
        Effect::Flow => matches!(kind, StmtKind::Return(_)),
        _ => true,
    })
}

/// Nothing where many threads cannot share the points.
fn do_points_write(func: &Function, body: &Block, may_stop: bool) -> Option<bool> {
    let (mut writes, mut fine) = (false, true);
    // Threads have local arrays each; one that was made outside is to be the outer point's.
    let mut made = HashSet::new();
    body.walk(&mut |kind| {
        kind.operands(&mut |v| fine &= made.contains(&v) || func.ty(v).view().is_none_or(|view| view.space != Space::Local));
        kind.definitions(&mut |v| {
            made.insert(v);
        });
    });
    body.walk(&mut |kind| match kind.effect() {
        Effect::Pure | Effect::Get | Effect::Set | Effect::Load => {}
        Effect::Store | Effect::Atomic => writes = true,
        Effect::Output => fine &= may_stop,
        Effect::Flow => fine &= may_stop || !matches!(kind, StmtKind::Raise { .. }),
        Effect::Call => fine &= matches!(kind, StmtKind::ParFor { .. }),
        _ => fine = false,
    });
    fine.then_some(writes)
}
