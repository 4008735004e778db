//! What has a derivative: what depends on a parameter that is differentiated, and reaches something whose cotangent is given.

use std::collections::HashSet;

use weft_ir::{AtomicOp, Local, Op, Scalar, StmtKind, Value};

use super::roots::{Root, Roots};
use super::rules::{Book, Factor, edges};
use super::tree::{NodeId, NodeKind, Tree};
use crate::error::PassError;

/// Values, locals and memory of which something holds.
#[derive(Debug, Default)]
struct Marks {
    values: HashSet<Value>,
    locals: HashSet<Local>,
    roots: HashSet<Root>,
}

impl Marks {
    fn size(&self) -> usize {
        self.values.len() + self.locals.len() + self.roots.len()
    }

    fn any_root(&self, roots: &Roots, view: Value) -> bool {
        roots.of(view).iter().any(|root| self.roots.contains(root))
    }
}

/// What is asked to be differentiated.
#[derive(Debug, Default)]
pub struct Asked {
    /// Scalar parameters, and arrays with a shadow.
    pub params: HashSet<Value>,
    /// Results that have a cotangent.
    pub results: HashSet<Value>,
}

#[derive(Debug)]
pub struct Activity {
    varied: Marks,
    useful: Marks,
    /// Memory with a shadow.
    pub shadowed: HashSet<Root>,
}

impl Activity {
    pub fn find(tree: &Tree, roots: &Roots, book: &Book, asked: &Asked) -> Result<Activity, PassError> {
        let order = tree.in_order();
        let mut activity = Activity {
            varied: Marks::default(),
            useful: Marks::default(),
            shadowed: HashSet::new(),
        };
        for param in &asked.params {
            match tree.ty(*param).view() {
                Some(_) => {
                    activity.varied.roots.insert(Root::Param(*param));
                    activity.useful.roots.insert(Root::Param(*param));
                }
                None => drop(activity.varied.values.insert(*param)),
            }
        }
        for result in &asked.results {
            match tree.ty(*result).view() {
                Some(_) => activity.useful.roots.extend(roots.of(*result)),
                None => drop(activity.useful.values.insert(*result)),
            }
        }
        loop {
            let before = activity.varied.size();
            order.iter().for_each(|id| activity.forward(tree, roots, book, *id));
            if activity.varied.size() == before {
                break;
            }
        }
        loop {
            let before = activity.useful.size();
            order.iter().rev().for_each(|id| activity.backward(tree, roots, book, *id));
            if activity.useful.size() == before {
                break;
            }
        }
        activity.shadows(tree, roots, asked)?;
        Ok(activity)
    }

    pub fn is_active(&self, tree: &Tree, value: Value) -> bool {
        self.varied.values.contains(&value) && self.useful.values.contains(&value) && is_float(tree.ty(value).scalar())
    }

    pub fn is_active_local(&self, tree: &Tree, local: Local) -> bool {
        self.varied.locals.contains(&local) && self.useful.locals.contains(&local) && is_float(tree.func.local_ty(local).scalar())
    }

    /// Has some of the memory that a view is part of a shadow?
    pub fn has_shadow(&self, roots: &Roots, view: Value) -> bool {
        roots.of(view).iter().any(|root| self.shadowed.contains(root))
    }

    fn forward(&mut self, tree: &Tree, roots: &Roots, book: &Book, id: NodeId) {
        let varied = &mut self.varied;
        match &tree.node(id).kind {
            NodeKind::Let(value, op) => {
                let is_varied = match op {
                    Op::Get(local) => varied.locals.contains(local),
                    Op::Load { view, .. } => is_float(tree.ty(*value).scalar()) && varied.any_root(roots, *view),
                    Op::Atomic { view, value: given, .. } => {
                        if varied.values.contains(given) {
                            varied.roots.extend(roots.of(*view));
                        }
                        is_float(tree.ty(*value).scalar()) && varied.any_root(roots, *view)
                    }
                    Op::Routine { routine, operands, .. } => {
                        let (reads, writes) = operands.split_at(routine.arity().0.min(operands.len()));
                        if reads.iter().any(|view| varied.any_root(roots, *view)) {
                            writes.iter().for_each(|view| varied.roots.extend(roots.of(*view)));
                        }
                        false
                    }
                    op => edges(tree, book, *value, op)
                        .iter()
                        .any(|(operand, _)| varied.values.contains(operand)),
                };
                if is_varied {
                    varied.values.insert(*value);
                }
            }
            NodeKind::Set(local, value) if varied.values.contains(value) => {
                varied.locals.insert(*local);
            }
            NodeKind::Plain(StmtKind::Store { view, value, .. }) if varied.values.contains(value) => {
                varied.roots.extend(roots.of(*view));
            }
            _ => {}
        }
    }

    fn backward(&mut self, tree: &Tree, roots: &Roots, book: &Book, id: NodeId) {
        let useful = &mut self.useful;
        match &tree.node(id).kind {
            NodeKind::Let(value, op) => {
                if let Op::Atomic { view, value: given, .. } = op
                    && useful.any_root(roots, *view)
                {
                    useful.values.insert(*given);
                }
                if let Op::Routine { routine, operands, .. } = op {
                    let (reads, writes) = operands.split_at(routine.arity().0.min(operands.len()));
                    if writes.iter().any(|view| useful.any_root(roots, *view)) {
                        reads.iter().for_each(|view| useful.roots.extend(roots.of(*view)));
                    }
                }
                if !useful.values.contains(value) {
                    return;
                }
                match op {
                    Op::Get(local) => drop(useful.locals.insert(*local)),
                    Op::Load { view, .. } => useful.roots.extend(roots.of(*view)),
                    op => useful
                        .values
                        .extend(edges(tree, book, *value, op).into_iter().map(|(operand, _)| operand)),
                }
            }
            NodeKind::Set(local, value) if useful.locals.contains(local) => {
                useful.values.insert(*value);
            }
            NodeKind::Plain(StmtKind::Store { view, value, .. }) if useful.any_root(roots, *view) => {
                useful.values.insert(*value);
            }
            _ => {}
        }
    }

    fn shadows(&mut self, tree: &Tree, roots: &Roots, asked: &Asked) -> Result<(), PassError> {
        for param in &asked.params {
            if tree.ty(*param).view().is_some() {
                self.shadowed.insert(Root::Param(*param));
            }
        }
        let both: Vec<Root> = self
            .varied
            .roots
            .iter()
            .copied()
            .filter(|root| self.useful.roots.contains(root))
            .collect();
        for root in both {
            match root {
                Root::Param(param) if !asked.params.contains(&param) => {
                    let writer = roots.writers.get(&root).and_then(|nodes| nodes.first());
                    let span = writer.map_or(weft_ir::Span::NONE, |node| tree.node(*node).span);
                    let name = tree.func.values[param.index()].name.clone().unwrap_or_default();
                    return Err(PassError::new(
                        span,
                        format!(
                            "derivatives pass through `{name}`, which is written here and read again: give it an array among the adjoints"
                        ),
                    ));
                }
                Root::Fixed => {}
                Root::Unknown => {
                    let writer = roots.writers.get(&root).and_then(|nodes| nodes.first());
                    let span = writer.map_or(weft_ir::Span::NONE, |node| tree.node(*node).span);
                    return Err(PassError::new(
                        span,
                        "derivatives pass through memory that nothing is known of; give the function a rule with defvjp",
                    ));
                }
                root => drop(self.shadowed.insert(root)),
            }
        }
        Ok(())
    }

    /// Refuses operations without a derivative that one would have to pass through.
    pub fn check(&self, tree: &Tree, roots: &Roots, book: &Book) -> Result<(), PassError> {
        if !self.shadowed.is_empty() {
            self.check_meetings(tree)?;
        }
        for node in &tree.nodes {
            match &node.kind {
                NodeKind::Let(value, op) => {
                    for (operand, factor) in edges(tree, book, *value, op) {
                        let through = self.varied.values.contains(&operand) && self.useful.values.contains(value);
                        if let (Factor::Refused(why), true) = (&factor, through) {
                            return Err(refused(node.span, why));
                        }
                    }
                    match op {
                        Op::Atomic { op, view, .. } if self.has_shadow(roots, *view) => {
                            if !matches!(op, AtomicOp::Add | AtomicOp::Sub) {
                                return Err(refused(node.span, &format!("`atomic.{}`", op.name())));
                            }
                            if self.is_active(tree, *value) {
                                return Err(refused(node.span, "what an atomic operation gives back"));
                            }
                        }
                        Op::Routine { routine, operands, .. } if operands.iter().any(|view| self.has_shadow(roots, *view)) => {
                            return Err(refused(node.span, &format!("a routine of the host (`{}`)", routine.name())));
                        }
                        Op::ThreadState(_) => return Err(refused(node.span, "random numbers, which would not come again")),
                        _ => {}
                    }
                }
                NodeKind::Plain(StmtKind::Mma { .. }) => return Err(refused(node.span, "a product by tensor cores")),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Activity {
    /// Threads may meet at barriers of their block, and in no other way.
    fn check_meetings(&self, tree: &Tree) -> Result<(), PassError> {
        for node in &tree.nodes {
            let what = match &node.kind {
                NodeKind::Plain(StmtKind::GridBarrier) => "a barrier of the whole grid",
                NodeKind::Plain(StmtKind::SyncWarp(_)) => "a barrier of a warp",
                NodeKind::Plain(StmtKind::Fence(_)) => "a fence, by which threads wait for each other in memory",
                NodeKind::Let(_, Op::BarrierReduce(..)) => "a barrier that counts threads",
                _ => continue,
            };
            return Err(refused(node.span, what));
        }
        Ok(())
    }
}

pub fn refused(span: weft_ir::Span, what: &str) -> PassError {
    PassError::new(
        span,
        format!("{what}: no derivative is known; give the function a rule with defvjp, or pass None for the arrays that it concerns"),
    )
}

fn is_float(scalar: Option<Scalar>) -> bool {
    scalar.is_some_and(Scalar::is_float)
}
