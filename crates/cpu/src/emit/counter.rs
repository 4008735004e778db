//! Counting loops of the emitter's own: over blocks, gangs, rows and parts.

use super::func::Fx;
use super::module::Unroll;
use super::writer::{Label, Operand, Ty};

/// A counting loop being written.
pub struct Counter {
    slot: Operand,
    head: Label,
    pub next: Label,
    done: Label,
    step: i64,
    pub at: Operand,
}

impl Fx<'_, '_> {
    /// Starts `for at in begin..end`.
    pub fn count(&mut self, begin: Operand, end: Operand, step: i64) -> Counter {
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, begin, slot);
        self.count_from(slot, end, step, 1)
    }

    /// The same from the number in `slot` on, and only as long as whole steps fit.
    pub fn count_whole(&mut self, slot: Operand, end: Operand, step: i64) -> Counter {
        self.count_from(slot, end, step, step)
    }

    fn count_from(&mut self, slot: Operand, end: Operand, step: i64, room: i64) -> Counter {
        let (head, start, next, done) = (self.w.label(), self.w.label(), self.w.label(), self.w.label());
        self.w.place(head);
        let at = self.w.load(Ty::I64, slot);
        let last = self.scalar_int("add nsw", at, Operand::Int(room - 1));
        let more = self.w.inst(format_args!("icmp slt {}, {}", last.typed(Ty::I64), end.of(Ty::I64)));
        self.w.cond_br(more, start, done);
        self.w.place(start);
        Counter {
            slot,
            head,
            next,
            done,
            step,
            at,
        }
    }

    pub fn end_count(&mut self, counter: &Counter) {
        self.step_count(counter);
        self.w.br(counter.head);
        self.w.place(counter.done);
    }

    /// The same for a loop of few turns, which LLVM must not unroll.
    pub fn end_short_count(&mut self, counter: &Counter) {
        self.step_count(counter);
        let (head, id) = (counter.head, self.cx.marked_loop(Unroll::Never));
        self.w.end(format_args!("br label %{head}, !llvm.loop !{id}"));
        self.w.place(counter.done);
    }

    fn step_count(&mut self, counter: &Counter) {
        self.w.place(counter.next);
        let next = self.scalar_int("add nsw", counter.at, Operand::Int(counter.step));
        self.w.store(Ty::I64, next, counter.slot);
    }
}
