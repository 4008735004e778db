//! How many lanes a gang has.
//!
//! A gang of several hardware vectors hides the latency of its arithmetic: while one vector's result is on its way the next one starts.
//! Too many, and values no longer fit the registers.

use weft_ir::{FuncKind, Function, Op, Scalar, StmtKind, Type};
use weft_passes::operands::walk;

use super::Target;

/// Hardware vectors of the widest common type that a gang spans.
const VECTORS: u32 = 4;

/// Lanes for a function on a target.
pub fn choose(func: &Function, target: &Target) -> u32 {
    if func.kind == FuncKind::Host {
        return 1;
    }
    if let Some(lanes) = target.gang {
        return lanes;
    }
    let lanes = VECTORS * target.vector_bits / widest(func);
    lanes.clamp(8, 64)
}

/// Bits of the widest type the function computes with; indices and addresses do not count.
pub fn widest(func: &Function) -> u32 {
    let mut bits = 32;
    walk(&func.body, &mut |kind| {
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
