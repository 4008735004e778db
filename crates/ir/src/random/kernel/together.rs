//! What threads do together in random kernels: barriers that count, and operations of a warp in which all lanes that are named meet.

use super::Kernel;
use crate::module::{Block, StmtKind, Value};
use crate::op::{BarrierOp, BinOp, Const, Op, UnOp, WARP, WarpOp};
use crate::types::{Scalar, Type};

const VOTES: [WarpOp; 4] = [WarpOp::All, WarpOp::Any, WarpOp::Equal, WarpOp::Ballot];
/// Whose bits do not differ between devices, as those of a NaN may.
const MATCHED: [Scalar; 6] = [Scalar::I8, Scalar::U16, Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64];

impl Kernel {
    /// All threads of the block come here.
    pub(super) fn cooperate(&mut self) {
        let all = self.lanes(u32::MAX);
        match self.g.rng.below(6) {
            // Lanes that have ended give nothing.
            4..=5 if self.stray.is_some() => self.some_lanes(),
            0 => self.count(),
            1 => self.vote(all),
            2 => self.compare(all),
            3 => self.some_lanes(),
            _ => self.shuffle(all),
        }
    }

    /// The lanes of a mask in which something holds.
    pub(super) fn ballot(&mut self, mask: Value, value: Value) -> Value {
        let op = Op::Warp {
            op: WarpOp::Ballot,
            mask,
            value,
            lane: None,
        };
        self.g.b.emit(Scalar::U32, op)
    }

    /// The lanes that have not ended.
    pub(super) fn present(&mut self) -> Value {
        let all = self.lanes(u32::MAX);
        let yes = self.g.constant(Const::Bool(true));
        self.ballot(all, yes)
    }

    /// Something the lanes of a mask do, none of which has ended.
    pub(super) fn cooperate_in(&mut self, mask: Value) {
        match self.g.rng.below(4) {
            0 => self.vote(mask),
            1 => self.compare(mask),
            _ => self.read_leader(mask),
        }
    }

    pub(super) fn lanes(&mut self, mask: u32) -> Value {
        self.g.constant(Const::Int(Scalar::U32, mask.into()))
    }

    /// A result that later code may use.
    fn keep(&mut self, scalar: Scalar, op: Op) {
        let value = self.g.b.emit(scalar, op);
        self.g.pool.push((value, scalar));
        self.g.note(value);
    }

    fn warp(&mut self, scalar: Scalar, op: WarpOp, mask: Value, value: Value, lane: Option<Value>) {
        self.keep(scalar, Op::Warp { op, mask, value, lane });
    }

    fn count(&mut self) {
        let op = self.g.rng.pick(BarrierOp::ALL);
        let holds = self.g.condition();
        let scalar = if op == BarrierOp::Count { Scalar::I32 } else { Scalar::Bool };
        self.keep(scalar, Op::BarrierReduce(op, holds));
    }

    fn vote(&mut self, mask: Value) {
        let op = self.g.rng.pick(&VOTES);
        let holds = self.g.condition();
        let scalar = if op == WarpOp::Ballot { Scalar::U32 } else { Scalar::Bool };
        self.warp(scalar, op, mask, holds, None);
    }

    fn compare(&mut self, mask: Value) {
        let scalar = self.g.rng.pick(&MATCHED);
        let op = self.g.rng.pick(&[WarpOp::MatchAny, WarpOp::MatchAll]);
        let mut value = self.g.value(scalar);
        if self.g.rng.chance(60) {
            let three = self.g.constant(Const::Int(scalar, 3));
            value = self.g.b.binary(BinOp::And, value, three);
        }
        self.warp(Scalar::U32, op, mask, value, None);
    }

    /// A shuffle that reads only lanes the block has.
    fn shuffle(&mut self, mask: Value) {
        let last = (self.threads % u64::from(WARP)) as i64;
        let op = if last == 0 {
            self.g
                .rng
                .pick(&[WarpOp::ShuffleIdx, WarpOp::ShuffleUp, WarpOp::ShuffleDown, WarpOp::ShuffleXor])
        } else {
            self.g.rng.pick(&[WarpOp::ShuffleIdx, WarpOp::ShuffleUp])
        };
        let scalar = self.g.any_type();
        let scalar = if scalar == Scalar::Bool { Scalar::I32 } else { scalar };
        let value = self.g.value(scalar);
        let mut lane = if self.g.rng.chance(50) {
            let by = self.g.rng.below(u64::from(WARP)) as i64;
            self.g.constant(Const::Int(Scalar::I32, by))
        } else {
            self.g.value(Scalar::I32)
        };
        if op == WarpOp::ShuffleIdx && last != 0 {
            let lanes = self.g.constant(Const::Int(Scalar::I32, last));
            lane = self.g.b.binary(BinOp::Mod, lane, lanes);
        }
        self.warp(scalar, op, mask, value, Some(lane));
    }

    /// Some lanes go another way than others, and only those meet there.
    fn some_lanes(&mut self) {
        let all = self.lanes(u32::MAX);
        let cond = self.g.condition();
        let mask = self.ballot(all, cond);
        let here = self.stray.is_some().then(|| self.present());
        let then = self.nested(|k| match k.g.rng.below(3) {
            0 => k.vote(mask),
            1 => k.compare(mask),
            _ => k.read_leader(mask),
        });
        let other = if self.g.rng.chance(40) {
            let mut mask = self.g.b.unary(UnOp::Not, mask);
            if let Some(here) = here {
                mask = self.g.b.binary(BinOp::And, mask, here);
            }
            self.nested(|k| {
                k.g.b.push(StmtKind::SyncWarp(mask));
                k.read_leader(mask);
            })
        } else {
            Block::default()
        };
        self.g.b.push(StmtKind::If { cond, then, other });
    }

    /// The value of the lowest lane of the mask.
    fn read_leader(&mut self, mask: Value) {
        let first = self.g.b.unary(UnOp::Ctz, mask);
        let lane = self.g.b.cast(first, Type::Scalar(Scalar::I32));
        let scalar = self.g.any_type();
        let scalar = if scalar == Scalar::Bool { Scalar::I64 } else { scalar };
        let value = self.g.value(scalar);
        self.warp(scalar, WarpOp::ShuffleIdx, mask, value, Some(lane));
    }
}
