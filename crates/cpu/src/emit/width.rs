//! The vectorization factor: how many lanes a gang has.
//!
//! A gang of several hardware vectors hides the latency of its arithmetic: while one vector's result is on its way the next one starts.
//! Too many, and the values a loop carries no longer fit the registers. Measured on Zen 3 (AVX2, Mandelbrot in float64, time over the
//! best by hand): 8 lanes 1.21, 16 lanes 1.02, 32 lanes 1.12. On Sapphire Rapids (AVX-512): 16 lanes 1.20, 32 lanes 0.99, 64 lanes 1.03.

use std::collections::{BTreeSet, HashSet};

use weft_ir::{Axis, Block, FuncKind, Function, Local, Op, Scalar, Stmt, StmtKind, Type, Value};
use weft_passes::operands;
use weft_passes::uniformity::{Calls, Class, Lanes, Uniformity, analyze};

use super::target::Target;

/// Hardware vectors of the widest common type that a gang spans where they fit.
const VECTORS: usize = 4;

/// Lanes for a function on a target.
pub fn choose(func: &Function, target: &Target) -> u32 {
    if func.kind == FuncKind::Host {
        return 1;
    }
    if operands::uses_warps(func) {
        return weft_ir::WARP;
    }
    if let Some(lanes) = target.gang {
        return lanes;
    }
    let lanes = vectors(func, target) * target.vector_bits / widest(func);
    lanes.max(lanes_of_a_line(func)).clamp(8, 64)
}

/// Where a loop brings narrow integers to atomics, registers are not what is scarce: lanes are taken one after another anyway. A gang that
/// fetches a whole cache line each time does not come back to the lines for the rest. (Histogram of bytes, 64-bit bins, AVX2: 16 lanes 1.3,
/// 64 lanes 1.)
fn lanes_of_a_line(func: &Function) -> u32 {
    const LINE: u32 = 64;
    let mut lanes = 0;
    each_innermost_loop(&func.body.0, &mut |_, body| {
        let (mut atomic, mut float, mut least) = (false, false, LINE);
        body.walk(&mut |kind| {
            if let StmtKind::Let(value, op) = kind {
                atomic |= matches!(op, Op::Atomic { .. });
                float |= func.ty(*value).scalar().is_some_and(Scalar::is_float);
                if let (Op::Load { .. }, Some(s)) = (op, func.ty(*value).scalar()) {
                    least = least.min(s.size() as u32);
                }
            }
        });
        if atomic && !float {
            lanes = lanes.max(LINE / least);
        }
    });
    lanes
}

/// The loops that hold no loop.
pub fn each_innermost_loop<'a>(stmts: impl IntoIterator<Item = &'a Stmt>, visit: &mut dyn FnMut(&StmtKind, &Block)) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Loop(body) | StmtKind::For { body, .. } if !has_loop(body) => visit(&stmt.kind, body),
            kind => kind.blocks().for_each(|block| each_innermost_loop(&block.0, visit)),
        }
    }
}

/// As many vectors as leave a loop's own values in registers.
fn vectors(func: &Function, target: &Target) -> u32 {
    let registers = if target.vector_bits >= 512 { 32 } else { 16 };
    let mut most = 0;
    let mut info = None;
    each_innermost_loop(&func.body.0, &mut |looping, body| {
        let info = info.get_or_insert_with(|| analyze(func, lanes_of(func), &Calls::default()));
        most = most.max(held(func, info, looping, body));
    });
    if most * VECTORS <= registers {
        VECTORS as u32
    } else {
        VECTORS as u32 / 2
    }
}

fn has_loop(body: &Block) -> bool {
    body.any(&mut |kind| matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. }))
}

fn lanes_of(func: &Function) -> Lanes {
    match func.kind {
        FuncKind::Loop { .. } => Lanes::Points,
        _ => Lanes::Threads(Axis::X),
    }
}

/// How many vectors of floats a loop holds in every iteration: the locals it carries, what it reads from outside, and what it loads from
/// the same places each time.
pub fn held(func: &Function, info: &Uniformity, looping: &StmtKind, body: &Block) -> usize {
    let (mut set, mut got) = (BTreeSet::<Local>::new(), BTreeSet::<Local>::new());
    let (mut made, mut read) = (BTreeSet::<Value>::new(), BTreeSet::<Value>::new());
    looping.definitions(&mut |v| {
        made.insert(v);
    });
    body.walk(&mut |kind| {
        kind.definitions(&mut |v| {
            made.insert(v);
        });
        kind.operands(&mut |v| {
            read.insert(v);
        });
        match kind {
            StmtKind::Set(local, _) => {
                set.insert(*local);
            }
            StmtKind::Let(_, Op::Get(local)) => {
                got.insert(*local);
            }
            _ => {}
        }
    });
    let float = |ty: &Type| ty.scalar().is_some_and(Scalar::is_float);
    let varies = |v: Value| info.values[v.index()] == Class::Varying && float(func.ty(v));
    let carried = set
        .intersection(&got)
        .filter(|l| info.locals[l.index()] == Class::Varying && float(func.local_ty(**l)))
        .count();
    let outside = read.difference(&made).filter(|v| varies(**v)).count();
    let mut same = HashSet::new();
    body.walk(&mut |kind| {
        if let StmtKind::Let(v, op @ Op::Load { view, indices, .. }) = kind
            && varies(*v)
            && !made.contains(view)
            && indices.iter().all(|i| !made.contains(&i.value))
        {
            same.insert(op.clone());
        }
    });
    carried + outside + same.len()
}

/// Bits of the widest type the function computes with; indices and addresses do not count.
pub fn widest(func: &Function) -> u32 {
    let mut bits = 32;
    func.body.walk(&mut |kind| {
        if let StmtKind::Let(value, op) = kind
            && let Type::Scalar(s) = func.ty(*value)
            && counts(*s, op)
        {
            bits = bits.max(s.bits());
        }
    });
    bits
}

fn counts(s: Scalar, op: &Op) -> bool {
    s.is_float() || matches!(op, Op::Load { .. } | Op::Atomic { .. })
}
