//! Where threads meet: every thread of the block comes here, and those that are elsewhere keep out of what the others do together.

use weft_ir::{BarrierOp, BinOp, CmpOp, Op, StmtKind, Type, UnOp, Value};

use super::together::i32;
use super::walk::Walk;
use super::warps::{self, Asked};
use crate::uniformity::Class;

impl Walk<'_> {
    pub fn meet(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let(result, Op::BarrierReduce(op, value)) => self.reduce(*result, *op, *value),
            StmtKind::Let(result, Op::Warp { op, mask, value, lane }) => {
                let asked = Asked {
                    op: *op,
                    mask: *mask,
                    value: *value,
                    lane: *lane,
                    here: self.here(),
                    by: lane.and_then(|lane| self.numbers.get(&lane).copied()),
                };
                let op = warps::lower(&mut self.b, &mut self.together, &self.slots, asked);
                self.give(*result, op);
            }
            StmtKind::Let(result, Op::ActiveMask) => {
                let here = self.here();
                let lanes = warps::present(&mut self.b, &mut self.together, here);
                // Nobody reads it in a thread that is elsewhere.
                let own = self.together.bit;
                self.give(*result, Op::Binary(BinOp::Or, lanes, own));
            }
            StmtKind::SyncWarp(_) => match self.together.group {
                Some(group) if group.is_warp() => group.wait(&mut self.b),
                _ => self.b.push(StmtKind::Barrier),
            },
            StmtKind::Barrier | StmtKind::GridBarrier => self.b.push(StmtKind::Barrier),
            // Nobody meets at these.
            StmtKind::Let(..)
            | StmtKind::Set(..)
            | StmtKind::If { .. }
            | StmtKind::Loop(_)
            | StmtKind::For { .. }
            | StmtKind::ParFor { .. }
            | StmtKind::Launch { .. }
            | StmtKind::Scope(..)
            | StmtKind::Leave(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Store { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Raise { .. }
            | StmtKind::Mma { .. }
            | StmtKind::Print(_) => self.b.push(kind.clone()),
        }
    }

    fn give(&mut self, result: Value, op: Op) {
        let all_know = matches!(self.info.values[result.index()], Class::Block) && self.waiting.is_empty();
        self.b.push(StmtKind::Let(result, op));
        self.note(result, false, all_know);
    }

    fn reduce(&mut self, result: Value, op: BarrierOp, value: Value) {
        let counted = if op == BarrierOp::And {
            self.b.unary(UnOp::Not, value)
        } else {
            value
        };
        let holds = match self.here() {
            Some(here) => self.b.binary(BinOp::And, here, counted),
            None => counted,
        };
        let count = self.together.count(&mut self.b, holds);
        let zero = self.b.constant(i32(0));
        self.give(
            result,
            match op {
                BarrierOp::Count => Op::Cast(count),
                BarrierOp::And => Op::Compare(CmpOp::Eq, count, zero),
                BarrierOp::Or => Op::Compare(CmpOp::Ne, count, zero),
            },
        );
        self.note(result, false, true);
    }

    /// Is any thread of the block here?
    pub fn any_here(&mut self) -> Value {
        let here = match self.here() {
            Some(here) => here,
            None => self.b.emit(Type::BOOL, Op::Const(weft_ir::Const::Bool(true))),
        };
        let count = self.together.count(&mut self.b, here);
        let zero = self.b.constant(i32(0));
        self.b.compare(CmpOp::Ne, count, zero)
    }
}
