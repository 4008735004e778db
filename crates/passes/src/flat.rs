//! Flattening: kernels whose threads know nothing of themselves but their number in the grid are loops over those numbers.
//!
//! Blocks mean nothing to such a kernel. As a loop its gangs need not end where blocks do and may start where memory is aligned.

use std::collections::BTreeSet;

use weft_ir::{Axis, BinOp, Block, Effect, FuncKind, Function, Geometry, Module, Op, Stmt, StmtKind, Type, Value, verify};

/// The module with its entry, a kernel, as a loop over the threads of a grid along x; nothing if the kernel has to be one.
pub fn as_loop(module: &Module) -> Option<Module> {
    let entry = module.entry_function();
    if entry.kind != FuncKind::Kernel || !entry.arrays.is_empty() || !is_plain(&entry.body) {
        return None;
    }
    let numbers = Numbers::of(entry)?;
    let mut flat = entry.clone();
    flat.kind = FuncKind::Loop {
        rank: 1,
        reductions: Vec::new(),
    };
    let index = flat.new_value(Type::I64);
    flat.params.insert(0, index);
    rewrite(&mut flat.body, &numbers, index);
    let mut module = module.clone();
    let at = module.entry.index();
    module.functions[at] = flat;
    verify::verify(&module).is_ok().then_some(module)
}

/// Nothing that shows which thread or block does it, or that is done with other threads.
fn is_plain(body: &Block) -> bool {
    let mut plain = true;
    body.walk(&mut |kind| {
        plain &= match kind {
            StmtKind::Let(_, op) => matches!(op.effect(), Effect::Pure | Effect::Get | Effect::Load),
            StmtKind::Set(..)
            | StmtKind::If { .. }
            | StmtKind::Scope(..)
            | StmtKind::Leave(_)
            | StmtKind::Return(_)
            | StmtKind::Store { .. } => true,
            _ => false,
        };
    });
    plain
}

/// The values that are a thread's number, `block_idx.x * block_dim.x + thread_idx.x`, and what they are made of.
struct Numbers {
    whole: BTreeSet<Value>,
    pieces: BTreeSet<Value>,
}

impl Numbers {
    /// Nothing if there are none, or if pieces are used for anything else.
    fn of(function: &Function) -> Option<Numbers> {
        let [mut thread, mut block, mut dim, mut before, mut whole] = [(); 5].map(|()| BTreeSet::new());
        let mut other = false;
        function.body.walk(&mut |kind| {
            let StmtKind::Let(value, op) = kind else { return };
            match op {
                Op::Geometry(Geometry::ThreadIdx(Axis::X)) => _ = thread.insert(*value),
                Op::Geometry(Geometry::BlockIdx(Axis::X)) => _ = block.insert(*value),
                Op::Geometry(Geometry::BlockDim(Axis::X)) => _ = dim.insert(*value),
                Op::Geometry(_) => other = true,
                Op::Binary(BinOp::Mul, a, b) if is_pair((a, b), &block, &dim) => _ = before.insert(*value),
                Op::Binary(BinOp::Add, a, b) if is_pair((a, b), &before, &thread) => _ = whole.insert(*value),
                _ => {}
            }
        });
        let pieces: BTreeSet<Value> = [thread, block, dim, before].into_iter().flatten().collect();
        let numbers = Numbers { whole, pieces };
        function.body.walk(&mut |kind| {
            if !numbers.makes(kind) {
                kind.operands(&mut |v| other |= numbers.pieces.contains(&v));
            }
        });
        (!other && !numbers.whole.is_empty()).then_some(numbers)
    }

    /// Does the statement make a number or a piece of one?
    fn makes(&self, kind: &StmtKind) -> bool {
        matches!(kind, StmtKind::Let(value, _) if self.whole.contains(value) || self.pieces.contains(value))
    }
}

fn is_pair((a, b): (&Value, &Value), x: &BTreeSet<Value>, y: &BTreeSet<Value>) -> bool {
    x.contains(a) && y.contains(b) || x.contains(b) && y.contains(a)
}

fn rewrite(block: &mut Block, numbers: &Numbers, index: Value) {
    block.0.retain(|stmt: &Stmt| !numbers.makes(&stmt.kind));
    for stmt in &mut block.0 {
        stmt.kind.operands_mut(&mut |v| {
            if numbers.whole.contains(v) {
                *v = index;
            }
        });
        stmt.kind.blocks_mut().for_each(|inner| rewrite(inner, numbers, index));
    }
}
