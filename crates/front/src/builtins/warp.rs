//! `weft.cuda`: collective operations of threads. Barriers of a block and of the grid, and shuffles, votes and matches of a warp.

use weft_ir::{BarrierOp, BinOp, Const, FenceScope, Geometry, Op, Scalar, StmtKind, Type, Value, WarpOp, mma};

use super::Entry;
use crate::lower::Lower;
use crate::lower::call::Call;
use crate::stop::{Res, Stop};
use crate::types::Num;
use crate::value::{Lit, Number, Val};

pub fn find(name: &str) -> Option<Entry> {
    Some(match name {
        "syncthreads" => Entry::of(syncthreads),
        "syncthreads_count" => Entry::of(|l, c| counting(l, c, BarrierOp::Count)),
        "syncthreads_and" => Entry::of(|l, c| counting(l, c, BarrierOp::And)),
        "syncthreads_or" => Entry::of(|l, c| counting(l, c, BarrierOp::Or)),
        "threadfence" => Entry::of(|l, c| fence(l, c, FenceScope::Device)),
        "threadfence_block" => Entry::of(|l, c| fence(l, c, FenceScope::Block)),
        "threadfence_system" => Entry::of(|l, c| fence(l, c, FenceScope::System)),
        "nanosleep" => Entry::of(nanosleep),
        "syncwarp" => Entry::of(syncwarp),
        "shfl_sync" => Entry::of(|l, c| shuffle(l, c, WarpOp::ShuffleIdx, "src_lane")),
        "shfl_up_sync" => Entry::of(|l, c| shuffle(l, c, WarpOp::ShuffleUp, "delta")),
        "shfl_down_sync" => Entry::of(|l, c| shuffle(l, c, WarpOp::ShuffleDown, "delta")),
        "shfl_xor_sync" => Entry::of(|l, c| shuffle(l, c, WarpOp::ShuffleXor, "lane_mask")),
        "all_sync" => Entry::of(|l, c| vote(l, c, WarpOp::All)),
        "any_sync" => Entry::of(|l, c| vote(l, c, WarpOp::Any)),
        "eq_sync" => Entry::of(|l, c| vote(l, c, WarpOp::Equal)),
        "ballot_sync" => Entry::of(ballot),
        "match_any_sync" => Entry::of(|l, c| matching(l, c, WarpOp::MatchAny)),
        "match_all_sync" => Entry::of(match_all),
        "mma" => Entry::of(mma),
        "activemask" => Entry::of(activemask),
        "lanemask_lt" => Entry::of(lanemask_lt),
        "cg" | "cg.GridGroup" => Entry::Module,
        "cg.this_grid" => Entry::of(this_grid),
        "cg.GridGroup.sync" => Entry::of(grid_sync),
        _ => return None,
    })
}

const I32: Num = Num::strong(Scalar::I32);
const U32: Num = Num::strong(Scalar::U32);

// ---- barriers ----

fn syncthreads(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [] = call.exactly()?;
    l.kernel_only("a barrier", call.span)?;
    l.b.push(StmtKind::Barrier);
    Ok(Val::None)
}

/// A barrier that counts the threads in which the argument is true, or says (as 0 or 1) whether it is in all or any.
fn counting(l: &mut Lower<'_>, call: &Call, op: BarrierOp) -> Res<Val> {
    let [predicate] = call.bind(["predicate"], 1)?;
    l.kernel_only("a barrier", call.span)?;
    let predicate = predicate_of(l, &predicate.unwrap_or(Val::None), call)?;
    let ty = if op == BarrierOp::Count { Scalar::I32 } else { Scalar::Bool };
    let result = l.b.emit(ty, Op::BarrierReduce(op, predicate));
    Ok(Val::Num(l.convert(result, ty, Scalar::I32), I32))
}

fn fence(l: &mut Lower<'_>, call: &Call, scope: FenceScope) -> Res<Val> {
    let [] = call.exactly()?;
    l.kernel_only("a fence", call.span)?;
    l.b.push(StmtKind::Fence(scope));
    Ok(Val::None)
}

fn nanosleep(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [ns] = call.bind(["ns"], 1)?;
    l.kernel_only("sleep", call.span)?;
    let ns = low_bits(l, &ns.unwrap_or(Val::None), "ns", Scalar::U32, call)?;
    l.b.push(StmtKind::Sleep(ns));
    Ok(Val::None)
}

/// The grid as a group of threads; only `sync` can be asked of it.
fn this_grid(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [] = call.exactly()?;
    l.kernel_only("a group of threads", call.span)?;
    Ok(Val::Path("weft.cuda.cg.GridGroup".into()))
}

fn grid_sync(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [] = call.exactly()?;
    l.kernel_only("a barrier", call.span)?;
    l.b.push(StmtKind::GridBarrier);
    Ok(Val::None)
}

// ---- warps ----

fn syncwarp(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [mask] = call.bind(["mask"], 0)?;
    l.kernel_only("a warp", call.span)?;
    let mask = mask_of(l, &mask.unwrap_or_else(|| Val::int(0xffff_ffff)), call)?;
    l.b.push(StmtKind::SyncWarp(mask));
    Ok(Val::None)
}

fn shuffle(l: &mut Lower<'_>, call: &Call, op: WarpOp, by: &'static str) -> Res<Val> {
    let [mask, value, lane] = call.bind(["mask", "value", by], 3)?.map(|val| val.unwrap_or(Val::None));
    l.kernel_only("a warp", call.span)?;
    let mask = mask_of(l, &mask, call)?;
    let num = number_of(l, &value, call)?;
    let lane = low_bits(l, &lane, by, Scalar::I32, call)?;
    // A bool travels as a byte.
    let travels = if num.scalar == Scalar::Bool { Scalar::U8 } else { num.scalar };
    let value = l.number_as(&value, travels, call.span)?;
    let op = Op::Warp {
        op,
        mask,
        value,
        lane: Some(lane),
    };
    let result = l.b.emit(travels, op);
    Ok(Val::Num(l.convert(result, travels, num.scalar), num))
}

fn vote(l: &mut Lower<'_>, call: &Call, op: WarpOp) -> Res<Val> {
    Ok(Val::Num(voted(l, call, op, Type::BOOL)?, Num::BOOL))
}

fn ballot(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let lanes = voted(l, call, WarpOp::Ballot, Scalar::U32.into())?;
    Ok(lanes_val(l, lanes))
}

fn voted(l: &mut Lower<'_>, call: &Call, op: WarpOp, ty: Type) -> Res<Value> {
    let [mask, predicate] = call.bind(["mask", "predicate"], 2)?.map(|val| val.unwrap_or(Val::None));
    l.kernel_only("a warp", call.span)?;
    let mask = mask_of(l, &mask, call)?;
    let value = predicate_of(l, &predicate, call)?;
    let lane = None;
    Ok(l.b.emit(ty, Op::Warp { op, mask, value, lane }))
}

fn matching(l: &mut Lower<'_>, call: &Call, op: WarpOp) -> Res<Val> {
    let lanes = matched(l, call, op)?;
    Ok(lanes_val(l, lanes))
}

/// The lanes, and whether there are any: then all have the same value.
fn match_all(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let lanes = matched(l, call, WarpOp::MatchAll)?;
    let same = l.convert(lanes, Scalar::U32, Scalar::Bool);
    Ok(Val::tuple(vec![lanes_val(l, lanes), Val::Num(same, Num::BOOL)]))
}

fn matched(l: &mut Lower<'_>, call: &Call, op: WarpOp) -> Res<Value> {
    let [mask, value] = call.bind(["mask", "value"], 2)?.map(|val| val.unwrap_or(Val::None));
    l.kernel_only("a warp", call.span)?;
    let mask = mask_of(l, &mask, call)?;
    let num = number_of(l, &value, call)?;
    if num.scalar.is_complex() {
        return Err(l.typing(call.span, format!("{} compares integers and floats, and this is {num}", call.name)));
    }
    let travels = if num.scalar == Scalar::Bool { Scalar::U8 } else { num.scalar };
    let value = l.number_as(&value, travels, call.span)?;
    let lane = None;
    Ok(l.b.emit(Scalar::U32, Op::Warp { op, mask, value, lane }))
}

fn activemask(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [] = call.exactly()?;
    l.kernel_only("a warp", call.span)?;
    Ok(Val::Num(l.b.emit(Scalar::U32, Op::ActiveMask), U32))
}

/// `cuda.mma(sums, left, right, left_transposed=False, right_transposed=False, dtype=None)`: a product of matrices in shared memory, on
/// tensor cores. `dtype` says what arrays of int64 hold.
fn mma(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let names = ["sums", "left", "right", "left_transposed", "right_transposed", "dtype"];
    let [sums, left, right, left_transposed, right_transposed, dtype] = call.bind(names, 3)?.map(|val| val.unwrap_or(Val::None));
    l.kernel_only("a warp", call.span)?;
    let sums = match &sums {
        Val::View(value, ty) if mma::are_sums(*ty) => *value,
        other => {
            let message = format!(
                "the sums of {} are a whole cuda.local.array of shape (p, q, 4) of float32, no part of one, and this is {}",
                call.name,
                other.ty()
            );
            return Err(l.typing(call.span, message));
        }
    };
    let elem = match (&dtype, &left) {
        (Val::None, Val::View(_, ty)) => ty.elem,
        (Val::None, other) => return Err(no_factor(l, other, call)),
        (dtype, _) => super::cuda::dtype_of(l, dtype, call)?,
    };
    if mma::depth(elem).is_none() {
        let message = format!("{} multiplies float16, bfloat16 and float32, not {}", call.name, elem.numpy_name());
        return Err(l.typing(call.span, message));
    }
    let factor = |l: &Lower<'_>, val: &Val| match val {
        Val::View(value, ty) if mma::is_factor(elem, *ty) => Ok(*value),
        other => Err(no_factor(l, other, call)),
    };
    let (left, right) = (factor(l, &left)?, factor(l, &right)?);
    let left_transposed = constant_flag(l, &left_transposed, names[3], call)?;
    let right_transposed = constant_flag(l, &right_transposed, names[4], call)?;
    l.b.push(StmtKind::Mma {
        elem,
        sums,
        left,
        right,
        left_transposed,
        right_transposed,
    });
    Ok(Val::None)
}

fn no_factor(l: &Lower<'_>, val: &Val, call: &Call) -> Stop {
    let message = format!(
        "{} multiplies matrices in shared memory, of one type, whose last axis lies together, and this is {}",
        call.name,
        val.ty()
    );
    l.typing(call.span, message)
}

fn constant_flag(l: &Lower<'_>, val: &Val, name: &str, call: &Call) -> Res<bool> {
    match val {
        Val::None => Ok(false),
        val => match val.const_int() {
            Some(n @ 0..=1) => Ok(n == 1),
            _ => Err(l.typing(
                call.span,
                format!("{name} of {} is True or False, known when it is compiled", call.name),
            )),
        },
    }
}

/// The lanes below the own one.
fn lanemask_lt(l: &mut Lower<'_>, call: &Call) -> Res<Val> {
    let [] = call.exactly()?;
    l.kernel_only("a warp", call.span)?;
    let lane = l.b.emit(Type::I64, Op::Geometry(Geometry::LaneId));
    let lane = l.b.cast(lane, Scalar::U32);
    let one = l.b.constant(Const::Int(Scalar::U32, 1));
    let bit = l.b.binary(BinOp::Shl, one, lane);
    Ok(Val::Num(l.b.binary(BinOp::Sub, bit, one), U32))
}

// ---- operands ----

/// Numba gives masks as int32.
fn lanes_val(l: &mut Lower<'_>, lanes: Value) -> Val {
    Val::Num(l.convert(lanes, Scalar::U32, Scalar::I32), I32)
}

fn mask_of(l: &mut Lower<'_>, mask: &Val, call: &Call) -> Res<Value> {
    low_bits(l, mask, "mask", Scalar::U32, call)
}

/// The low bits of an integer, whatever its sign: -1 is all lanes.
fn low_bits(l: &mut Lower<'_>, val: &Val, what: &str, to: Scalar, call: &Call) -> Res<Value> {
    if !val.num().is_some_and(|num| num.scalar.is_int()) {
        let message = format!("{what} of {} must be an integer, not {}", call.name, val.ty());
        return Err(l.typing(call.span, message));
    }
    match val {
        Val::Lit(Lit { value: Number::Int(v), .. }) if i64::try_from(*v).is_ok() => Ok(l.b.constant(Const::Int(to, to.wrap(*v as i64)))),
        _ => l.number_as(val, to, call.span),
    }
}

fn number_of(l: &Lower<'_>, val: &Val, call: &Call) -> Res<Num> {
    let message = || format!("{} takes a number, and this is {}", call.name, val.ty());
    val.num().ok_or_else(|| l.typing(call.span, message()))
}

fn predicate_of(l: &mut Lower<'_>, val: &Val, call: &Call) -> Res<Value> {
    match val.num() {
        Some(num) if !num.scalar.is_complex() => l.truth_value(val, call.span),
        _ => {
            let message = format!("the predicate of {} must be a bool or a real number, not {}", call.name, val.ty());
            Err(l.typing(call.span, message))
        }
    }
}
