//! Operations of a warp in terms of shared memory and barriers: every thread of the block comes here, those that are elsewhere, too.
//!
//! Each lane takes part that is here and that the mask names, since lanes of one mask meet at one place. Values are handed over through a
//! slot a thread, in 32 bits or in 64; among the lanes of a [`Group`] they are handed over by the device.

use weft_ir::{BinOp, Builder, CmpOp, Const, Op, Scalar, StmtKind, Type, UnOp, Value, WARP, WarpOp};

use super::group::Group;
use super::together::{Together, i32, if_then, load, shared_array, store, u32};
use crate::statements::counted;

/// Where threads put values for others, one array for each type values travel as.
#[derive(Debug, Default)]
pub struct Slots(Vec<(Scalar, Value)>);

/// What an operation of a warp is asked with.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub op: WarpOp,
    pub mask: Value,
    pub value: Value,
    pub lane: Option<Value>,
    /// What `lane` is, where that is known.
    pub by: Option<i64>,
    /// Whether the thread is here; nothing where all are.
    pub here: Option<Value>,
}

impl Slots {
    /// The arrays are named where the kernel starts.
    pub fn new(b: &mut Builder, together: &Together) -> Slots {
        let of = |(elem, name)| (elem, shared_array(b, name, elem, together.max_threads));
        Slots(
            [(Scalar::I32, "lanes32"), (Scalar::I64, "lanes64"), (Scalar::F64, "lanes_f64")]
                .map(of)
                .into(),
        )
    }

    fn of(&self, elem: Scalar) -> Option<Value> {
        self.0.iter().find(|(e, _)| *e == elem).map(|(_, view)| *view)
    }
}

/// Writes the operation and gives the one whose value is the result.
pub fn lower(b: &mut Builder, together: &mut Together, slots: &Slots, asked: Asked) -> Op {
    match asked.op {
        WarpOp::ShuffleIdx | WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor => shuffle(b, together, slots, asked),
        WarpOp::MatchAny | WarpOp::MatchAll => match together.group {
            Some(group) if group.is_warp() => matched_in(b, together, group, asked),
            _ => matched(b, together, slots, asked),
        },
        WarpOp::All | WarpOp::Any | WarpOp::Equal | WarpOp::Ballot => vote(b, together, asked),
    }
}

/// The lanes of the warp that are here.
pub fn present(b: &mut Builder, together: &mut Together, here: Option<Value>) -> Value {
    if let Some(here) = here {
        return together.ballot(b, here);
    }
    let all = b.constant(u32(u32::MAX));
    let lanes = b.constant(i32(WARP.into()));
    let left = b.binary(BinOp::Sub, together.threads, together.first);
    let count = b.binary(BinOp::Min, left, lanes);
    let missing = b.binary(BinOp::Sub, lanes, count);
    b.binary(BinOp::Shr, all, missing)
}

fn vote(b: &mut Builder, together: &mut Together, asked: Asked) -> Op {
    let mut ballot = |b: &mut Builder, holds: Value| {
        let holds = match asked.here {
            Some(here) => b.binary(BinOp::And, here, holds),
            None => holds,
        };
        let lanes = together.ballot(b, holds);
        b.binary(BinOp::And, lanes, asked.mask)
    };
    let none = b.constant(u32(0));
    match asked.op {
        WarpOp::Any => {
            let lanes = ballot(b, asked.value);
            Op::Compare(CmpOp::Ne, lanes, none)
        }
        WarpOp::All => {
            let against = b.unary(UnOp::Not, asked.value);
            let lanes = ballot(b, against);
            Op::Compare(CmpOp::Eq, lanes, none)
        }
        WarpOp::Equal => {
            let lanes = ballot(b, asked.value);
            let against = b.unary(UnOp::Not, asked.value);
            let others = ballot(b, against);
            let (no, yes) = (b.compare(CmpOp::Eq, lanes, none), b.compare(CmpOp::Eq, others, none));
            Op::Binary(BinOp::Or, no, yes)
        }
        // `lower` brings no others here.
        WarpOp::Ballot
        | WarpOp::ShuffleIdx
        | WarpOp::ShuffleUp
        | WarpOp::ShuffleDown
        | WarpOp::ShuffleXor
        | WarpOp::MatchAny
        | WarpOp::MatchAll => {
            let lanes = match asked.here {
                Some(here) => {
                    let holds = b.binary(BinOp::And, here, asked.value);
                    together.ballot(b, holds)
                }
                None => together.ballot(b, asked.value),
            };
            Op::Binary(BinOp::And, lanes, asked.mask)
        }
    }
}

/// A value as it travels.
fn packed(b: &mut Builder, value: Value) -> Value {
    match b.ty(value).scalar() {
        Some(Scalar::F32) => b.emit(Scalar::I32, Op::Bitcast(value)),
        Some(Scalar::U64) => b.cast(value, Scalar::I64),
        Some(half) if half.is_half() => {
            let wide = b.cast(value, Scalar::F32);
            b.emit(Scalar::I32, Op::Bitcast(wide))
        }
        Some(Scalar::F64 | Scalar::I64) | None => value,
        Some(_) => b.cast(value, Scalar::I32),
    }
}

/// The operation that makes of what has travelled the value that it was.
fn unpacked(b: &mut Builder, value: Value, to: Scalar) -> Op {
    match to {
        Scalar::F32 => Op::Bitcast(value),
        half if half.is_half() => Op::Cast(b.emit(Scalar::F32, Op::Bitcast(value))),
        // A conversion from a type to itself changes nothing.
        _ => Op::Cast(value),
    }
}

/// Where a thread's slot is, and all slots of its values' type.
fn give(b: &mut Builder, together: &Together, slots: &Slots, word: Value) -> Option<(Scalar, Value)> {
    let elem = b.ty(word).scalar()?;
    let view = slots.of(elem)?;
    let at = b.cast(together.thread, Type::I64);
    store(b, view, at, word);
    Some((elem, view))
}

fn shuffle(b: &mut Builder, together: &Together, slots: &Slots, asked: Asked) -> Op {
    let word = packed(b, asked.value);
    let (Some(to), Some(by)) = (b.ty(asked.value).scalar(), asked.lane) else {
        return Op::Cast(asked.value);
    };
    if let Some(group) = together.group.filter(|group| stays_in(group, asked)) {
        let from = source(b, together, asked.op, by);
        let lane = existing(b, together, from);
        let word = group.take(b, word, lane);
        return unpacked(b, word, to);
    }
    let Some((elem, view)) = give(b, together, slots, word) else {
        return Op::Cast(asked.value);
    };
    b.push(StmtKind::Barrier);
    let from = source(b, together, asked.op, by);
    let lane = existing(b, together, from);
    let thread = b.binary(BinOp::Add, together.first, lane);
    let at = b.cast(thread, Type::I64);
    let word = load(b, elem, view, at);
    b.push(StmtKind::Barrier);
    unpacked(b, word, to)
}

/// Does every lane get a value of its own group?
fn stays_in(group: &Group, asked: Asked) -> bool {
    let is_near = |by: i64| 0 <= by && by < i64::from(group.width);
    group.is_warp() || asked.op == WarpOp::ShuffleXor && asked.by.is_some_and(is_near)
}

/// The lane that a shuffle reads.
fn source(b: &mut Builder, together: &Together, op: WarpOp, by: Value) -> Value {
    let last = b.constant(i32(i64::from(WARP) - 1));
    let by = b.binary(BinOp::And, by, last);
    let own = together.lane;
    match op {
        WarpOp::ShuffleUp => {
            let below = b.binary(BinOp::Sub, own, by);
            let there = b.compare(CmpOp::Ge, own, by);
            b.select(there, below, own)
        }
        WarpOp::ShuffleDown => {
            let above = b.binary(BinOp::Add, own, by);
            let there = b.compare(CmpOp::Le, above, last);
            b.select(there, above, own)
        }
        WarpOp::ShuffleXor => b.binary(BinOp::Xor, own, by),
        // Votes and matches read no lane.
        WarpOp::ShuffleIdx | WarpOp::All | WarpOp::Any | WarpOp::Equal | WarpOp::Ballot | WarpOp::MatchAny | WarpOp::MatchAll => by,
    }
}

/// A lane, or the own one where the block has no such thread.
fn existing(b: &mut Builder, together: &Together, lane: Value) -> Value {
    let thread = b.binary(BinOp::Add, together.first, lane);
    let there = b.compare(CmpOp::Lt, thread, together.threads);
    b.select(there, lane, together.lane)
}

fn matched(b: &mut Builder, together: &mut Together, slots: &Slots, asked: Asked) -> Op {
    let mut word = packed(b, asked.value);
    if *b.func.ty(word) == Type::F64 {
        word = b.emit(Scalar::I64, Op::Bitcast(word));
    }
    let lanes = present(b, together, asked.here);
    let lanes = b.binary(BinOp::And, lanes, asked.mask);
    let same = b.func.new_local(Scalar::U32.into(), "same");
    let none = b.constant(u32(0));
    b.set(same, none);
    if let Some((elem, view)) = give(b, together, slots, word) {
        b.push(StmtKind::Barrier);
        compare_each(b, together, (elem, view), word, lanes, same);
        b.push(StmtKind::Barrier);
    }
    let found = b.get(same);
    if asked.op == WarpOp::MatchAny {
        return Op::Binary(BinOp::And, found, lanes);
    }
    let all = b.compare(CmpOp::Eq, found, lanes);
    Op::Select(all, lanes, none)
}

/// Where the lanes of a warp hand values over by themselves.
fn matched_in(b: &mut Builder, together: &mut Together, group: Group, asked: Asked) -> Op {
    let mut word = packed(b, asked.value);
    if *b.func.ty(word) == Type::F64 {
        word = b.emit(Scalar::I64, Op::Bitcast(word));
    }
    let lanes = present(b, together, asked.here);
    let lanes = b.binary(BinOp::And, lanes, asked.mask);
    let none = b.constant(u32(0));
    if asked.op == WarpOp::MatchAll {
        let first = b.unary(UnOp::Ctz, lanes);
        let last = b.constant(u32(WARP - 1));
        let first = b.binary(BinOp::And, first, last);
        let first = b.cast(first, Scalar::I32);
        let lane = existing(b, together, first);
        let other = group.take(b, word, lane);
        let differs = b.compare(CmpOp::Ne, other, word);
        let against = group.ballot(b, differs);
        let against = b.binary(BinOp::And, against, lanes);
        let all = b.compare(CmpOp::Eq, against, none);
        return Op::Select(all, lanes, none);
    }
    let same = b.func.new_local(Scalar::U32.into(), "same");
    b.set(same, none);
    let range = [b.i64(0), b.i64(WARP.into()), b.i64(1)];
    let var = b.func.new_value(Type::I64);
    counted(b, var, range, |b| {
        let lane = b.cast(var, Scalar::I32);
        let lane = existing(b, together, lane);
        let other = group.take(b, word, lane);
        let equal = b.compare(CmpOp::Eq, other, word);
        let one = b.constant(u32(1));
        let bit = b.binary(BinOp::Shl, one, var);
        let bit = b.select(equal, bit, none);
        let before = b.get(same);
        let after = b.binary(BinOp::Or, before, bit);
        b.set(same, after);
    });
    let found = b.get(same);
    Op::Binary(BinOp::And, found, lanes)
}

/// Sets the bits of those lanes that have given the same.
fn compare_each(b: &mut Builder, together: &Together, (elem, view): (Scalar, Value), word: Value, lanes: Value, same: weft_ir::Local) {
    let range = [b.i64(0), b.i64(WARP.into()), b.i64(1)];
    let first = b.cast(together.first, Type::I64);
    let var = b.func.new_value(Type::I64);
    counted(b, var, range, |b| {
        let one = b.constant(Const::Int(Scalar::U32, 1));
        let none = b.constant(u32(0));
        let bit = b.binary(BinOp::Shl, one, var);
        let takes_part = b.binary(BinOp::And, lanes, bit);
        let takes_part = b.compare(CmpOp::Ne, takes_part, none);
        b.open();
        let at = b.binary(BinOp::Add, first, var);
        let other = load(b, elem, view, at);
        let equal = b.compare(CmpOp::Eq, other, word);
        let bit = b.select(equal, bit, none);
        let before = b.get(same);
        let after = b.binary(BinOp::Or, before, bit);
        b.set(same, after);
        let then = b.close();
        b.push(if_then(takes_part, then));
    });
}
