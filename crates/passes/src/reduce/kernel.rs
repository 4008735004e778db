//! Kernels made of a fold: what those of every form have in common.

use weft_ir::{Axis, BinOp, Block, Builder, CmpOp, FuncKind, Function, Geometry, Label, Op, Reduction, Stmt, StmtKind, Type, Value};

use super::THREADS;
use super::shape::{Inner, Shape};
use super::shared::Shared;
use crate::cut::index_of;
use crate::error::PassError;
use crate::inline::label_count;
use crate::join::Join;
use crate::nest;
use crate::statements::{append, when};

/// A kernel on its way. Its parameters: those of the loop behind the indices, and the extents (`i64`), behind which others may come.
pub struct Kernel<'a> {
    pub b: Builder,
    pub shape: &'a Shape,
    pub shared: Shared,
    indices: &'a [Value],
    extents: Vec<Value>,
    next_label: u32,
}

/// An inner index space as code: its points, and what is done at each.
pub struct Space {
    pub vars: Vec<Value>,
    pub extents: Vec<Value>,
    pub body: StmtKind,
    /// In the order that all devices have, or in any.
    pub ordered: bool,
}

/// Where a thread stands in its block.
#[derive(Clone, Copy)]
pub struct Place {
    pub thread: Value,
    /// Threads of the block.
    pub threads: Value,
}

impl<'a> Kernel<'a> {
    pub fn new(func: &'a Function, shape: &'a Shape, name: &str) -> Kernel<'a> {
        let (indices, params) = func.params.split_at(shape.rank);
        let mut made = Function {
            name: format!("{}.{name}", func.name),
            kind: FuncKind::Kernel,
            params: params.to_vec(),
            body: Block::default(),
            ..func.clone()
        };
        made.flags.max_threads = THREADS;
        // What may be fused was fused before the loop was taken apart.
        made.flags.contract = false;
        let extents = (0..shape.rank).map(|axis| made.new_param(Type::I64, format!("outer{axis}")));
        Kernel {
            extents: extents.collect(),
            b: Builder::new(made),
            shape,
            shared: Shared::default(),
            indices,
            next_label: label_count(&func.body),
        }
    }

    /// How many points the loop has.
    pub fn points(&mut self) -> Value {
        let b = &mut self.b;
        let all = self.extents.iter().copied().reduce(|points, n| b.binary(BinOp::Mul, points, n));
        all.unwrap_or_else(|| b.i64(1))
    }

    /// The value that is to be a point's number.
    pub fn number(&mut self) -> Value {
        match self.indices {
            [only] => *only,
            _ => self.b.func.new_value(Type::I64),
        }
    }

    /// The indices of the point of a number.
    pub fn at(&mut self, number: Value) {
        index_of(&mut self.b, self.indices, &self.extents, number);
    }

    pub fn straight(&mut self, stmts: &[Stmt]) {
        append(&mut self.b, Block(stmts.to_vec()));
    }

    pub fn space(&mut self, inner: &Inner) -> Space {
        let mut body = inner.body.clone();
        nest::privatize(&mut self.b.func, &mut body, &inner.reductions, inner.span);
        let label = Label(self.next_label);
        self.next_label += 1;
        nest::leave_instead_of_continue(&mut body, label);
        self.b.span = inner.span;
        Space {
            vars: inner.vars.clone(),
            extents: inner.extents.clone(),
            body: StmtKind::Scope(label, body),
            ordered: self.is_ordered(inner),
        }
    }

    pub fn is_ordered(&self, inner: &Inner) -> bool {
        nest::ordered::shows(&self.b.func, &inner.reductions)
    }

    pub fn joins(&self, reductions: &[Reduction]) -> Result<Vec<Join>, PassError> {
        Join::all(&self.b.func, reductions, self.b.span)
    }

    pub fn finish(self) -> Function {
        self.b.finish()
    }
}

pub fn geometry(b: &mut Builder, what: fn(Axis) -> Geometry) -> Value {
    b.emit(Type::I64, Op::Geometry(what(Axis::X)))
}

/// In blocks of any number of threads, or of as many as there are at the most.
pub fn place(b: &mut Builder, any: bool) -> Place {
    Place {
        thread: geometry(b, Geometry::ThreadIdx),
        threads: match any {
            true => geometry(b, Geometry::BlockDim),
            false => b.i64(i64::from(THREADS)),
        },
    }
}

pub fn when_below(b: &mut Builder, number: Value, count: i64, then: impl FnOnce(&mut Builder)) {
    let count = b.i64(count);
    let cond = b.compare(CmpOp::Lt, number, count);
    when(b, cond, then);
}

/// Starts locals from the identities.
pub fn clear(b: &mut Builder, joins: &[Join]) {
    joins.iter().for_each(|join| join.clear(b, join.local));
}
