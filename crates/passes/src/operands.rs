//! Walking what operations and statements mention: operands, definitions, barriers.

use weft_ir::{AxisSlice, Block, Function, Index, Label, Op, PrintItem, Stmt, StmtKind, Value};

/// Applies `$f` to every operand of an operation, by shared or mutable reference as `$op` is one.
macro_rules! each_op_operand {
    ($op:expr, $f:expr) => {
        match $op {
            Op::Const(_)
            | Op::Get(_)
            | Op::Array(_)
            | Op::ConstArray(_)
            | Op::Geometry(_)
            | Op::ActiveMask
            | Op::DynamicShared
            | Op::OutOfStack => {}
            Op::Unary(_, a) | Op::Cast(a) | Op::Bitcast(a) | Op::Re(a) | Op::Im(a) | Op::BarrierReduce(_, a) => $f(a),
            Op::Item(a, _) | Op::Dim(a, _) | Op::Transpose(a, _) | Op::PartView(a, _) => $f(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Complex(a, b) | Op::Apart(a, b) => {
                $f(a);
                $f(b);
            }
            Op::Select(a, b, c) | Op::Fma(a, b, c) => {
                $f(a);
                $f(b);
                $f(c);
            }
            Op::Tuple(items) | Op::Call(_, items) | Op::Alloc { shape: items, .. } => each!(items, $f),
            Op::Reshape(view, items) => {
                $f(view);
                each!(items, $f);
            }
            Op::Load { view, indices, .. } => {
                $f(view);
                each_index!(indices, $f);
            }
            Op::Slice { view, axes } => {
                $f(view);
                for axis in axes {
                    match axis {
                        AxisSlice::At(Index { value, .. }) => $f(value),
                        AxisSlice::Range { start, len, step } => {
                            $f(start);
                            $f(len);
                            $f(step);
                        }
                        AxisSlice::Full | AxisSlice::New => {}
                    }
                }
            }
            Op::Atomic {
                view,
                indices,
                value,
                expected,
                ..
            } => {
                $f(view);
                each_index!(indices, $f);
                $f(value);
                if let Some(expected) = expected {
                    $f(expected);
                }
            }
            Op::Warp { mask, value, lane, .. } => {
                $f(mask);
                $f(value);
                if let Some(lane) = lane {
                    $f(lane);
                }
            }
        }
    };
}

/// Applies `$f` to every value a statement reads itself, nested blocks left out.
macro_rules! each_stmt_operand {
    ($kind:expr, $f:expr, $on_op:ident) => {
        match $kind {
            StmtKind::Let(_, op) => $on_op(op, $f),
            StmtKind::Set(_, value) | StmtKind::If { cond: value, .. } | StmtKind::Return(Some(value)) => $f(value),
            StmtKind::SyncWarp(value) | StmtKind::Sleep(value) => $f(value),
            StmtKind::For { start, stop, step, .. } => {
                $f(start);
                $f(stop);
                $f(step);
            }
            StmtKind::ParFor { extents, .. } => each!(extents, $f),
            StmtKind::Launch { extents, args, .. } => {
                each!(extents, $f);
                each!(args, $f);
            }
            StmtKind::Store { view, indices, value, .. } => {
                $f(view);
                each_index!(indices, $f);
                $f(value);
            }
            StmtKind::Print(items) => {
                for item in items {
                    match item {
                        PrintItem::Text(_) => {}
                        PrintItem::Value(value) => $f(value),
                        PrintItem::Complex(re, im) => {
                            $f(re);
                            $f(im);
                        }
                    }
                }
            }
            StmtKind::Loop(_)
            | StmtKind::Scope(..)
            | StmtKind::Leave(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::Fence(_)
            | StmtKind::Raise { .. } => {}
        }
    };
}

macro_rules! each {
    ($items:expr, $f:expr) => {
        for item in $items {
            $f(item);
        }
    };
}

macro_rules! each_index {
    ($indices:expr, $f:expr) => {
        for Index { value, .. } in $indices {
            $f(value);
        }
    };
}

/// Calls `f` with every operand of `op`, in order.
pub fn op_operands(op: &Op, f: &mut dyn FnMut(Value)) {
    let mut f = |v: &Value| f(*v);
    each_op_operand!(op, f);
}

/// Calls `f` with a mutable reference to every operand of `op`, in order.
pub fn op_operands_mut(op: &mut Op, f: &mut dyn FnMut(&mut Value)) {
    each_op_operand!(op, f);
}

/// Calls `f` with every value the statement itself reads; what its nested blocks read is left out.
pub fn stmt_operands(kind: &StmtKind, f: &mut dyn FnMut(Value)) {
    each_stmt_operand!(kind, &mut |v: &Value| f(*v), shared_op);
}

/// Calls `f` with a mutable reference to every value the statement itself reads.
pub fn stmt_operands_mut(kind: &mut StmtKind, f: &mut dyn FnMut(&mut Value)) {
    each_stmt_operand!(kind, f, op_operands_mut);
}

fn shared_op(op: &Op, f: &mut dyn FnMut(&Value)) {
    op_operands(op, &mut |v| f(&v));
}

/// The values a statement defines itself.
pub fn defs(kind: &StmtKind, f: &mut dyn FnMut(Value)) {
    match kind {
        StmtKind::Let(value, _) => f(*value),
        StmtKind::For { var, .. } => f(*var),
        StmtKind::ParFor { vars, .. } => vars.iter().for_each(|v| f(*v)),
        _ => {}
    }
}

/// How often each value of a function is read, by value.
pub fn use_counts(func: &Function) -> Vec<u32> {
    let mut counts = vec![0; func.values.len()];
    func.body.walk(&mut |kind| stmt_operands(kind, &mut |v| counts[v.index()] += 1));
    counts
}

/// Do all threads of a block or of the grid meet at the statement?
pub fn is_barrier(kind: &StmtKind) -> bool {
    matches!(
        kind,
        StmtKind::Barrier | StmtKind::GridBarrier | StmtKind::Let(_, Op::BarrierReduce(..))
    )
}

/// Do the statements hold a barrier, or what is inside them?
pub fn has_barrier(stmts: &[Stmt]) -> bool {
    let mut found = false;
    for stmt in stmts {
        found |= is_barrier(&stmt.kind);
        for inner in stmt.kind.blocks() {
            inner.walk(&mut |kind| found |= is_barrier(kind));
        }
    }
    found
}

/// Does the statement hold a barrier, or jump to where control around barriers goes on?
pub fn is_around_barrier(stmt: &Stmt) -> bool {
    fn outward(stmt: &Stmt, in_loop: bool, labels: &mut Vec<Label>) -> bool {
        match &stmt.kind {
            kind if is_barrier(kind) => true,
            StmtKind::Break | StmtKind::Continue => !in_loop,
            StmtKind::Leave(label) => !labels.contains(label),
            StmtKind::Scope(label, body) => {
                labels.push(*label);
                body.0.iter().any(|s| outward(s, in_loop, labels))
            }
            kind => {
                let in_loop = in_loop || matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. });
                kind.blocks().any(|block| block.0.iter().any(|s| outward(s, in_loop, labels)))
            }
        }
    }
    outward(stmt, false, &mut Vec::new())
}

/// Do the lanes of a warp meet at the statement, or ask which of them do?
pub fn is_of_warp(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::SyncWarp(_) | StmtKind::Let(_, Op::Warp { .. } | Op::ActiveMask))
}

/// Do lanes of a warp meet anywhere in a function?
pub fn uses_warps(func: &Function) -> bool {
    let mut found = false;
    func.body.walk(&mut |kind| found |= is_of_warp(kind));
    found
}

/// Does control never reach what follows the statement in its block?
pub fn is_terminator(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Leave(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise { .. } => true,
        StmtKind::If { then, other, .. } => ends(then) && ends(other),
        _ => false,
    }
}

/// Does control never reach a block's end?
pub fn ends(block: &Block) -> bool {
    block.0.last().is_some_and(|stmt| is_terminator(&stmt.kind))
}
