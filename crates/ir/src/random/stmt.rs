//! Random statements without barriers: the code between two barriers, of device functions and of hosts.

use super::{Gen, Reach};
use crate::module::{Block, Label, StmtKind, Value};
use crate::op::{BinOp, CmpOp, Index, Op, Part};
use crate::types::Scalar;

/// What the place of a statement allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Blocks that may still be nested.
    pub depth: u32,
    /// Is there a loop to break or to continue?
    pub in_loop: bool,
    pub may_return: Return,
    /// A scope that may be left.
    pub scope: Option<Label>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Return {
    Never,
    Nothing,
    Value(Scalar),
}

impl Place {
    pub fn new(may_return: Return) -> Place {
        Place {
            depth: 4,
            in_loop: false,
            may_return,
            scope: None,
        }
    }

    fn inner(self) -> Place {
        Place {
            depth: self.depth - 1,
            ..self
        }
    }

    fn in_loop(self) -> Place {
        Place {
            in_loop: true,
            ..self.inner()
        }
    }
}

impl Gen {
    /// A few statements in the open block.
    pub fn stmts(&mut self, place: Place) {
        for _ in 0..1 + self.rng.below(5) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.stmt(place);
        }
    }

    /// Runs `fill` on a fresh block; what it defines goes out of scope.
    pub fn block(&mut self, fill: impl FnOnce(&mut Gen)) -> Block {
        let (pool, arrays) = (self.pool.len(), self.arrays.len());
        self.b.open();
        fill(self);
        self.pool.truncate(pool);
        self.arrays.truncate(arrays);
        self.b.close()
    }

    fn stmt(&mut self, place: Place) {
        match self.rng.below(23) {
            20 => self.derive_view(),
            21 => self.set_tuple(),
            22 => self.read_tuple(),
            0..=5 => {
                self.compute();
            }
            6..=9 => self.set_some(),
            10 => self.store_own(),
            11 => self.store_private(),
            12 => self.count(),
            13 => self.guarded_load(),
            14..=16 if place.depth > 0 => self.branch(place),
            17 if place.depth > 0 => self.for_loop(place),
            18 if place.depth > 0 => self.while_loop(place),
            19 if place.depth > 0 => self.scope(place),
            _ => self.set_some(),
        }
    }

    fn set_some(&mut self) {
        if self.locals.is_empty() {
            self.compute();
            return;
        }
        let (local, scalar) = self.rng.pick(&self.locals.clone());
        let value = self.expr(scalar);
        self.b.set(local, value);
        if self.rng.chance(70) {
            self.note(value);
        }
    }

    fn branch(&mut self, place: Place) {
        let cond = self.condition();
        let then = self.block(|g| {
            g.stmts(place.inner());
            g.exit(place);
        });
        let other = if self.rng.chance(50) {
            self.block(|g| g.stmts(place.inner()))
        } else {
            Block::default()
        };
        self.b.push(StmtKind::If { cond, then, other });
    }

    /// Sometimes ends the block early.
    fn exit(&mut self, place: Place) {
        match (self.rng.below(10), place.may_return, place.scope) {
            (0..=1, _, _) if place.in_loop => self.b.push(StmtKind::Break),
            (2, _, _) if place.in_loop => self.b.push(StmtKind::Continue),
            (3..=4, _, Some(label)) => self.b.push(StmtKind::Leave(label)),
            (5, Return::Nothing, _) => self.b.push(StmtKind::Return(None)),
            (5..=6, Return::Value(scalar), _) => {
                let value = self.value(scalar);
                self.b.push(StmtKind::Return(Some(value)));
            }
            _ => {}
        }
    }

    /// A small number of turns: the same for all threads, or not.
    fn turns(&mut self) -> Value {
        let most = 1 + self.rng.below(5) as i64;
        let most = self.i64(most);
        if self.rng.chance(50) {
            return most;
        }
        let any = match self.lane {
            Some(lane) if self.rng.chance(50) => lane,
            _ => self.value(Scalar::I64),
        };
        self.b.binary(BinOp::Mod, any, most)
    }

    fn for_loop(&mut self, place: Place) {
        let stop = self.turns();
        let (from, step) = self.rng.pick(&[(0, 1), (0, 1), (0, 1), (-3, 2), (1, 1)]);
        let (mut start, mut step) = (self.i64(from), self.i64(step));
        let mut end = stop;
        if self.rng.chance(20) {
            (start, end) = (stop, start);
            step = self.i64(-1);
        }
        let var = self.b.func.new_value(Scalar::I64.into());
        let body = self.block(|g| {
            g.pool.push((var, Scalar::I64));
            g.stmts(place.in_loop());
        });
        self.b.push(StmtKind::For {
            var,
            start,
            stop: end,
            step,
            body,
        });
    }

    /// Counts in a local, so that `continue` cannot make it endless.
    fn while_loop(&mut self, place: Place) {
        let turns = self.turns();
        let count = self.b.func.new_local(Scalar::I64.into(), "turn");
        let zero = self.i64(0);
        self.b.set(count, zero);
        let body = self.block(|g| {
            let now = g.b.get(count);
            let done = g.b.compare(CmpOp::Ge, now, turns);
            let exit = g.block(|g| g.b.push(StmtKind::Break));
            g.b.push(StmtKind::If {
                cond: done,
                then: exit,
                other: Block::default(),
            });
            let one = g.i64(1);
            let next = g.b.binary(BinOp::Add, now, one);
            g.b.set(count, next);
            g.pool.push((now, Scalar::I64));
            g.stmts(place.in_loop());
        });
        self.b.push(StmtKind::Loop(body));
    }

    fn scope(&mut self, place: Place) {
        let label = Label(self.next_label);
        self.next_label += 1;
        let inner = Place {
            scope: Some(label),
            ..place.inner()
        };
        let body = self.block(|g| g.stmts(inner));
        self.b.push(StmtKind::Scope(label, body));
    }

    /// Writes the thread's own element of an array, or reads it back.
    fn store_own(&mut self) {
        let (Some(at), false) = (self.own_index, self.own.is_empty()) else {
            return self.set_some();
        };
        let array = self.rng.pick(&self.own.clone());
        let mut indices = vec![Index { value: at, wrap: false }];
        for len in &array.shape[1..] {
            indices.push(self.index(*len));
        }
        self.access_own(&array, indices);
    }

    /// Writes or reads an array that belongs to the thread alone.
    fn store_private(&mut self) {
        let private: Vec<Reach> = self.arrays.iter().filter(|a| a.private).cloned().collect();
        if private.is_empty() {
            return self.set_some();
        }
        let array = self.rng.pick(&private);
        let indices = self.indices(&array);
        self.access_own(&array, indices);
    }

    fn access_own(&mut self, array: &Reach, indices: Vec<Index>) {
        let view = array.view;
        if self.rng.chance(25) {
            let value = self.b.emit(
                array.elem,
                Op::Load {
                    view,
                    indices,
                    part: Part::Whole,
                },
            );
            self.pool.push((value, array.elem));
            return;
        }
        let value = self.value(array.elem);
        self.b.push(StmtKind::Store {
            view,
            indices,
            value,
            part: Part::Whole,
        });
    }

    /// Changes an element that many threads change by operations that commute.
    fn count(&mut self) {
        if self.counters.is_empty() {
            return self.set_some();
        }
        let (array, op) = self.rng.pick(&self.counters.clone());
        let indices = self.indices(&array);
        let value = self.value(array.elem);
        let op = Op::Atomic {
            op,
            view: array.view,
            indices,
            value,
            expected: None,
        };
        self.b.emit(array.elem, op);
    }

    /// `if lane + c < len { local = x[lane + c] }`: what most kernels do.
    fn guarded_load(&mut self) {
        let flat: Vec<Reach> = self.arrays.iter().filter(|a| a.shape.len() == 1).cloned().collect();
        let (Some(lane), false, false) = (self.lane, flat.is_empty(), self.locals.is_empty()) else {
            return self.set_some();
        };
        let array = self.rng.pick(&flat);
        let (local, scalar) = self.rng.pick(&self.locals.clone());
        let step = self.rng.below(3) as i64;
        let step = self.i64(step);
        let at = self.b.binary(BinOp::Add, lane, step);
        let len = self.b.emit(Scalar::I64, Op::Dim(array.view, 0));
        let cond = self.b.compare(CmpOp::Lt, at, len);
        let then = self.block(|g| {
            let indices = vec![Index { value: at, wrap: false }];
            let value = g.b.emit(
                array.elem,
                Op::Load {
                    view: array.view,
                    indices,
                    part: Part::Whole,
                },
            );
            let value = g.b.cast(value, scalar);
            g.b.set(local, value);
        });
        self.b.push(StmtKind::If {
            cond,
            then,
            other: Block::default(),
        });
    }
}
