//! Threads that go astray: they end before the others do, and warps and lanes meet where others never come.

use super::super::stmt::{Place, Return};
use super::{COUNTED, Kernel, Reach};
use crate::module::{Block, StmtKind, Value};
use crate::op::{BinOp, CmpOp, Const, WARP};
use crate::types::{Scalar, Space};

impl Kernel {
    /// Shared arrays in which every thread has set its element before any thread ends: one of any type, one to count in.
    pub(super) fn set_shared(&mut self) {
        let elems = [self.g.any_type(), self.g.rng.pick(&COUNTED)];
        let arrays = elems.map(|elem| {
            let array = self.declare(elem, self.threads, Space::Shared);
            let value = self.g.value(elem);
            self.store(&array, self.thread, value);
            array
        });
        self.g.b.push(StmtKind::Barrier);
        self.stray = Some(arrays.into());
    }

    pub(super) fn set_already(&self, which: usize) -> Option<Reach> {
        self.stray.as_ref()?.get(which).cloned()
    }

    pub(super) fn go_astray(&mut self) {
        match self.g.rng.below(6) {
            0..=1 => self.end_some(),
            2 => self.g.stmts(Place::new(Return::Nothing)),
            3 => self.one_warp(),
            4 => self.turns_by_warp(),
            _ => self.turns_by_lane(),
        }
    }

    /// Some threads end.
    fn end_some(&mut self) {
        let cond = if self.g.rng.chance(20) {
            self.uniform_condition()
        } else {
            self.g.condition()
        };
        let then = self.nested(|k| {
            if k.g.rng.chance(30) {
                k.region();
            }
            k.g.b.push(StmtKind::Return(None));
        });
        let other = if self.g.rng.chance(20) {
            self.nested(Kernel::region)
        } else {
            Block::default()
        };
        self.g.b.push(StmtKind::If { cond, then, other });
    }

    fn warp_number(&mut self) -> Value {
        let lanes = self.g.i64(WARP.into());
        self.g.b.binary(BinOp::FloorDiv, self.thread, lanes)
    }

    /// One of the block's warps does something of its own, as the last step of a reduction.
    fn one_warp(&mut self) {
        let (warp, which) = (self.warp_number(), self.g.rng.below(2) as i64);
        let which = self.g.i64(which);
        let cond = self.g.b.compare(CmpOp::Eq, warp, which);
        let then = self.nested(|k| {
            for _ in 0..1 + k.g.rng.below(3) {
                let lanes = k.present();
                k.cooperate_in(lanes);
            }
            if k.g.rng.chance(30) {
                k.region();
            }
        });
        let other = if self.g.rng.chance(25) {
            self.nested(|k| {
                let lanes = k.present();
                k.cooperate_in(lanes);
            })
        } else {
            Block::default()
        };
        self.g.b.push(StmtKind::If { cond, then, other });
    }

    /// Each warp has another number of turns.
    fn turns_by_warp(&mut self) {
        let warp = self.warp_number();
        let (start, step) = (self.g.i64(0), self.g.i64(1));
        let stop = self.g.b.binary(BinOp::Add, warp, step);
        let var = self.g.b.func.new_value(Scalar::I64.into());
        let body = self.nested(|k| {
            k.g.pool.push((var, Scalar::I64));
            let lanes = k.present();
            k.cooperate_in(lanes);
            if k.g.rng.chance(30) {
                k.g.stmts(Place::new(Return::Nothing));
            }
        });
        self.g.b.push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
    }

    /// Each lane has another number of turns; those that are left know of each other.
    fn turns_by_lane(&mut self) {
        let any = self.g.value(Scalar::I64);
        let most = self.g.i64(4);
        let turns = self.g.b.binary(BinOp::Mod, any, most);
        let count = self.g.b.func.new_local(Scalar::I64.into(), "turn");
        let left = self.g.b.func.new_local(Scalar::U32.into(), "left");
        let zero = self.g.i64(0);
        self.g.b.set(count, zero);
        let here = self.present();
        self.g.b.set(left, here);
        let body = self.nested(|k| {
            let now = k.g.b.get(count);
            let more = k.g.b.compare(CmpOp::Lt, now, turns);
            let mask = k.g.b.get(left);
            let mask = k.ballot(mask, more);
            let other = k.nested(|k| k.g.b.push(StmtKind::Break));
            k.g.b.push(StmtKind::If {
                cond: more,
                then: Block::default(),
                other,
            });
            k.g.b.set(left, mask);
            let one = k.g.constant(Const::i64(1));
            let next = k.g.b.binary(BinOp::Add, now, one);
            k.g.b.set(count, next);
            k.cooperate_in(mask);
            if k.g.rng.chance(40) {
                k.region();
            }
        });
        self.g.b.push(StmtKind::Loop(body));
    }
}
