//! Neighbouring lanes that the device lets work together by itself: their votes and exchanges cost neither shared memory nor a barrier.
//!
//! All threads of the block come to what is written here, so that the lanes of every group are all there.

use weft_ir::{BinOp, Builder, CmpOp, Op, Scalar, StmtKind, Type, Value, WARP, WarpOp};

use super::together::{i32, u32};

#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Lanes, a power of two.
    pub width: u32,
    /// `u32`: the lanes of the own group.
    lanes: Value,
    /// Is the own lane the group's first?
    pub leads: Value,
}

impl Group {
    pub fn new(b: &mut Builder, lane: Value, width: u32) -> Group {
        let inside = b.constant(i32(i64::from(width) - 1));
        let place = b.binary(BinOp::And, lane, inside);
        let zero = b.constant(i32(0));
        let leads = b.compare(CmpOp::Eq, place, zero);
        let lanes = b.constant(u32(u32::MAX >> (WARP - width)));
        let first = b.binary(BinOp::Sub, lane, place);
        Group {
            width,
            lanes: b.binary(BinOp::Shl, lanes, first),
            leads,
        }
    }

    pub fn is_warp(&self) -> bool {
        self.width == WARP
    }

    /// `u32`: the lanes of the group in which the bool is true, as bits of the warp.
    pub fn ballot(&self, b: &mut Builder, holds: Value) -> Value {
        b.emit(
            Scalar::U32,
            Op::Warp {
                op: WarpOp::Ballot,
                mask: self.lanes,
                value: holds,
                lane: None,
            },
        )
    }

    /// Another lane's value, of 32 bits or 64. The lane is one of the group.
    pub fn take(&self, b: &mut Builder, word: Value, lane: Value) -> Value {
        let ty = b.ty(word);
        let Some(elem @ (Scalar::I64 | Scalar::F64)) = ty.scalar() else {
            return self.take_word(b, word, lane);
        };
        let bits = if elem == Scalar::F64 {
            b.emit(Scalar::I64, Op::Bitcast(word))
        } else {
            word
        };
        let half = b.constant(i32(32));
        let high = b.binary(BinOp::Shr, bits, half);
        let [low, high] = [bits, high].map(|part| {
            let part = b.cast(part, Scalar::U32);
            let part = self.take_word(b, part, lane);
            b.cast(part, Type::I64)
        });
        let high = b.binary(BinOp::Shl, high, half);
        let bits = b.binary(BinOp::Or, high, low);
        if elem == Scalar::F64 {
            b.emit(elem, Op::Bitcast(bits))
        } else {
            bits
        }
    }

    fn take_word(&self, b: &mut Builder, value: Value, lane: Value) -> Value {
        let ty = b.ty(value);
        b.emit(
            ty,
            Op::Warp {
                op: WarpOp::ShuffleIdx,
                mask: self.lanes,
                value,
                lane: Some(lane),
            },
        )
    }

    /// What the lanes of a warp that is a group did to memory before is seen by all of them.
    pub fn wait(&self, b: &mut Builder) {
        b.push(StmtKind::SyncWarp(self.lanes));
    }
}
