//! Fission at barriers: which statements of a kernel are the skeleton that all threads of a block walk together, which runs of statements
//! between are regions, and what regions hand to each other.

use std::collections::{BTreeSet, HashMap};
use std::mem;

use weft_ir::{BarrierOp, BinOp, Block, Function, Local, Op, Space, Stmt, StmtKind, Value};
use weft_passes::numbering::{Node, Numbered};
use weft_passes::operands;

/// A piece of a block that holds barriers.
#[derive(Clone, Debug)]
pub enum Piece<'m> {
    /// Statements each gang runs from end to end.
    Run(Vec<Node<'m>>),
    Barrier,
    GridBarrier,
    /// A barrier that combines a bool of every thread into a value.
    Reduce(Value, BarrierOp, Value),
    /// Control that all threads of the block go through alike.
    Control(Node<'m>),
}

/// Cuts a block of the skeleton.
pub fn pieces(block: Numbered<'_>) -> Vec<Piece<'_>> {
    let (mut found, mut run) = (Vec::new(), Vec::new());
    for node in block.iter() {
        if !operands::is_around_barrier(node.stmt) {
            run.push(node);
            continue;
        }
        if !run.is_empty() {
            found.push(Piece::Run(mem::take(&mut run)));
        }
        found.push(match &node.stmt.kind {
            StmtKind::Barrier => Piece::Barrier,
            StmtKind::GridBarrier => Piece::GridBarrier,
            StmtKind::Let(result, Op::BarrierReduce(op, value)) => Piece::Reduce(*result, *op, *value),
            _ => Piece::Control(node),
        });
    }
    if !run.is_empty() {
        found.push(Piece::Run(run));
    }
    found
}

/// What regions hand to each other.
#[derive(Debug, Default)]
pub struct Plan<'m> {
    /// The region that defines a value; none for parameters and the skeleton's own.
    home: HashMap<Value, usize>,
    ops: HashMap<Value, &'m Op>,
    /// By region: values from other regions that it reads.
    pub reads: Vec<BTreeSet<Value>>,
    /// By region: locals it reads or writes.
    pub locals: Vec<BTreeSet<Local>>,
    /// Values that must be kept from the region that defines them.
    pub kept: BTreeSet<Value>,
    /// Locals that must be kept between regions.
    pub kept_locals: BTreeSet<Local>,
    /// Threads may end before the kernel does.
    pub returns: bool,
}

impl<'m> Plan<'m> {
    pub fn new(f: &Function, body: Numbered<'m>) -> Plan<'m> {
        let mut plan = Plan::default();
        let mut skeleton = Vec::new();
        plan.block(body, false, &mut skeleton);
        for region in 0..plan.reads.len() {
            let foreign: BTreeSet<Value> = plan.reads[region]
                .iter()
                .copied()
                .filter(|v| plan.home.get(v).is_some_and(|h| *h != region))
                .collect();
            plan.reads[region] = foreign;
        }
        let wanted: Vec<Value> = plan.reads.iter().flatten().chain(&skeleton).copied().collect();
        for value in wanted {
            if plan.home.contains_key(&value) && !plan.can_repeat(f, value) {
                plan.kept.insert(value);
            }
        }
        plan
    }

    fn block(&mut self, block: Numbered<'m>, in_loop: bool, skeleton: &mut Vec<Value>) {
        for piece in pieces(block) {
            match piece {
                Piece::Barrier | Piece::GridBarrier => {}
                Piece::Reduce(_, _, value) => {
                    self.reads.push(BTreeSet::from([value]));
                    self.locals.push(BTreeSet::new());
                }
                Piece::Run(nodes) => {
                    let region = self.reads.len();
                    self.reads.push(BTreeSet::new());
                    self.locals.push(BTreeSet::new());
                    nodes.iter().for_each(|node| self.stmt(node.stmt, region));
                    for local in self.locals[region].clone() {
                        if in_loop || self.locals[..region].iter().any(|l| l.contains(&local)) {
                            self.kept_locals.insert(local);
                        }
                    }
                }
                Piece::Control(node) => {
                    let stmt = node.stmt;
                    stmt.kind.operands(&mut |v| skeleton.push(v));
                    let in_loop = in_loop || matches!(stmt.kind, StmtKind::Loop(_) | StmtKind::For { .. });
                    node.blocks().for_each(|inner| self.block(inner, in_loop, skeleton));
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &'m Stmt, region: usize) {
        stmt.kind.operands(&mut |v| {
            self.reads[region].insert(v);
        });
        stmt.kind.definitions(&mut |v| {
            self.home.insert(v, region);
        });
        match &stmt.kind {
            StmtKind::Let(value, op) => {
                self.ops.insert(*value, op);
                if let Op::Get(local) = op {
                    self.locals[region].insert(*local);
                }
            }
            StmtKind::Set(local, _) => {
                self.locals[region].insert(*local);
            }
            StmtKind::Return(_) | StmtKind::Raise { .. } => self.returns = true,
            _ => {}
        }
        stmt.kind
            .blocks()
            .for_each(|block| block.0.iter().for_each(|s| self.stmt(s, region)));
    }

    /// The operation that gives a value, if it is cheap and may be done again wherever the value is wanted.
    pub fn repeatable(&self, f: &Function, value: Value) -> Option<&'m Op> {
        let op = *self.ops.get(&value)?;
        let cheap = match op {
            Op::Const(_)
            | Op::Geometry(_)
            | Op::Array(_)
            | Op::ConstArray(_)
            | Op::DynamicShared
            | Op::Dim(..)
            | Op::Unary(..)
            | Op::Compare(..) => true,
            Op::Binary(op, ..) => matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or),
            Op::Cast(a) => f.ty(*a).scalar().is_some_and(|s| s.is_int()),
            _ => false,
        };
        cheap.then_some(op)
    }

    fn can_repeat(&self, f: &Function, value: Value) -> bool {
        if !self.home.contains_key(&value) {
            return f.params.contains(&value);
        }
        let Some(op) = self.repeatable(f, value) else {
            return false;
        };
        let mut all = true;
        op.operands(&mut |v| all &= self.can_repeat(f, v));
        all
    }
}

/// The first barrier inside a statement.
pub fn barrier_span(stmt: &Stmt) -> Option<weft_ir::Span> {
    match &stmt.kind {
        kind if operands::is_barrier(kind) => Some(stmt.span),
        _ => stmt.kind.blocks().flat_map(|block| &block.0).find_map(barrier_span),
    }
}

/// Has every thread its own copy of the array?
pub fn is_local(f: &Function, array: usize) -> bool {
    f.arrays[array].space == Space::Local
}

pub fn has_barrier(block: &Block) -> bool {
    block.0.iter().any(|stmt| barrier_span(stmt).is_some())
}
