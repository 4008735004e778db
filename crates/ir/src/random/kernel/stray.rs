//! Threads that go astray: they end before the others do, and warps and lanes meet where others never come.

use super::super::stmt::{Place, Return};
use super::{COUNTED, Kernel, Reach};
use crate::module::{Block, Label, Local, StmtKind, Value};
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

    /// The block's last barriers, some of which some threads do not come to: these go on to the end of the kernel.
    pub(super) fn part(&mut self) {
        self.part_in(0);
    }

    fn part_in(&mut self, depth: u32) {
        match self.g.rng.below(if depth > 3 { 4 } else { 9 }) {
            0 => self.come_or_stay(),
            1 => self.turns_of_barriers(),
            2 => self.leave_a_loop(),
            3 => self.leave_a_scope(),
            4 | 5 => self.part_in_a_loop(depth + 1),
            6 | 7 => self.part_in_a_scope(depth + 1),
            _ => self.part_of_a_side(depth + 1),
        }
    }

    /// Of one turn, whose end is a jump or a choice of two.
    fn part_in_a_loop(&mut self, depth: u32) {
        let body = self.nested(|k| {
            if k.g.rng.chance(40) {
                k.jump_if(50, StmtKind::Break);
            }
            k.part_in(depth);
            if k.g.rng.chance(40) {
                k.jump_if(50, StmtKind::Break);
            }
            k.region();
            k.g.b.push(StmtKind::Break);
        });
        self.g.b.push(StmtKind::Loop(body));
    }

    fn part_in_a_scope(&mut self, depth: u32) {
        let label = Label(self.g.next_label);
        self.g.next_label += 1;
        let body = self.nested(|k| {
            for _ in 0..2 {
                k.jump_if(30, StmtKind::Leave(label));
            }
            k.part_in(depth);
            k.jump_if(0, StmtKind::Leave(label));
            k.region();
        });
        self.g.b.push(StmtKind::Scope(label, body));
    }

    fn part_of_a_side(&mut self, depth: u32) {
        let cond = self.maybe_uniform(30);
        let come = self.nested(|k| {
            k.region();
            k.part_in(depth);
            k.region();
        });
        let stay = self.nested(Kernel::region);
        let (then, other) = if self.g.rng.chance(50) { (come, stay) } else { (stay, come) };
        self.g.b.push(StmtKind::If { cond, then, other });
    }

    /// A condition that is the same for all threads so often.
    fn maybe_uniform(&mut self, percent: u64) -> Value {
        if self.g.rng.chance(percent) {
            self.uniform_condition()
        } else {
            self.g.condition()
        }
    }

    /// Under a condition, and sometimes as well where it does not hold.
    fn jump_if(&mut self, percent: u64, jump: StmtKind) {
        let cond = self.maybe_uniform(percent);
        let then = self.ending(jump.clone());
        let other = if self.g.rng.chance(15) {
            self.ending(jump)
        } else {
            Block::default()
        };
        self.g.b.push(StmtKind::If { cond, then, other });
    }

    /// Code whose end is a jump.
    fn ending(&mut self, jump: StmtKind) -> Block {
        self.nested(|k| {
            k.region();
            k.g.b.push(jump);
        })
    }

    fn one_more(&mut self, count: Local, now: Value) {
        let one = self.g.constant(Const::i64(1));
        let next = self.g.b.binary(BinOp::Add, now, one);
        self.g.b.set(count, next);
    }

    fn come_or_stay(&mut self) {
        let cond = self.g.condition();
        let come = self.nested(Kernel::exchange);
        let stay = self.nested(Kernel::region);
        let (then, other) = if self.g.rng.chance(50) { (come, stay) } else { (stay, come) };
        self.g.b.push(StmtKind::If { cond, then, other });
    }

    /// A number of turns from 0 to 3 that differs between threads.
    fn some_turns(&mut self) -> Value {
        let (any, most) = (self.g.value(Scalar::I64), self.g.i64(4));
        self.g.b.binary(BinOp::Mod, any, most)
    }

    fn turns_of_barriers(&mut self) {
        let turns = self.some_turns();
        let (start, step) = if self.g.rng.chance(30) {
            (turns, self.g.i64(-1))
        } else {
            (self.g.i64(0), self.g.i64(1))
        };
        let stop = if start == turns { self.g.i64(0) } else { turns };
        let var = self.g.b.func.new_value(Scalar::I64.into());
        let body = self.nested(|k| {
            k.g.pool.push((var, Scalar::I64));
            k.exchange();
            if k.g.rng.chance(30) {
                k.end_some();
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

    fn leave_a_loop(&mut self) {
        let turns = self.some_turns();
        let count = self.g.b.func.new_local(Scalar::I64.into(), "turn");
        let zero = self.g.i64(0);
        self.g.b.set(count, zero);
        let body = self.nested(|k| {
            let now = k.g.b.get(count);
            let over = k.g.b.compare(CmpOp::Ge, now, turns);
            let then = k.ending(StmtKind::Break);
            k.g.b.push(StmtKind::If {
                cond: over,
                then,
                other: Block::default(),
            });
            k.one_more(count, now);
            k.exchange();
        });
        self.g.b.push(StmtKind::Loop(body));
    }

    fn leave_a_scope(&mut self) {
        let label = Label(self.g.next_label);
        self.g.next_label += 1;
        let body = self.nested(|k| {
            let cond = k.g.condition();
            let then = k.ending(StmtKind::Leave(label));
            k.g.b.push(StmtKind::If {
                cond,
                then,
                other: Block::default(),
            });
            k.exchange();
        });
        self.g.b.push(StmtKind::Scope(label, body));
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
            k.one_more(count, now);
            k.cooperate_in(mask);
            if k.g.rng.chance(40) {
                k.region();
            }
        });
        self.g.b.push(StmtKind::Loop(body));
    }
}
