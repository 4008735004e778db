//! Control flow: branches, loops, scopes, as blocks in blocks.
//!
//! naga leaves loops and switches by `Break`, one level at a time. A scope is a switch with one case. What jumps out of several levels sets
//! a flag, by which each level it passes is left, too.

use naga::{Barrier, BinaryOperator, Statement};
use weft_ir::{Block, ErrorKind, FenceScope, Label, PrintItem, Scalar, StmtKind, Value};
use weft_passes::operands::ends;
use weft_thread::{Code, Count, Numbers, Statements};

use super::Word;
use super::func::Fx;
use super::operand::{Operand, Ty, Variable};
use super::values::{Num, Res, View};
use crate::features::Platform;

/// What `Break` can end.
#[derive(Clone, Debug)]
pub struct Frame {
    kind: FrameKind,
    /// Set by jumps from further in.
    flag: Option<Variable>,
    /// Frames further out to which jumps pass through this one.
    passing: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Loop,
    Scope(Label),
    /// The body of a loop over points.
    Point,
}

impl<'m> Statements<'m> for Fx<'m> {
    fn end_statement(&mut self, kind: &StmtKind) {
        self.check_width(kind);
    }

    fn block(&mut self, block: &'m Block) -> Res<()> {
        let mark = self.known.mark();
        let done = self.all_of(block);
        self.forget(mark);
        done
    }

    fn branch(&mut self, cond: Value, then: &'m Block, other: &'m Block) -> Res<()> {
        let test = self.operand(cond)?;
        let sides = (self.side(then, cond, true)?, self.side(other, cond, false)?);
        self.w.branch(test, sides.0, sides.1);
        if ends(then) || ends(other) {
            self.suppose(cond, ends(other));
        }
        Ok(())
    }

    fn endless(&mut self, body: &'m Block) -> Res<()> {
        self.known.enter_loop(body);
        self.enter(FrameKind::Loop);
        let never = self.never();
        self.w.begin();
        if let Some(never) = never {
            self.w.begin();
            self.w.push(Statement::Break);
            let exit = self.w.end();
            self.w.branch(never, exit, naga::Block::new());
        }
        let done = self.block(body);
        let body = self.w.end();
        done?;
        self.ready();
        self.w.endless(body);
        self.leave();
        Ok(())
    }

    fn counting(&mut self, var: Value, start: Num, count: &Count<Operand>, body: &'m Block) -> Res<()> {
        self.known.enter_loop(body);
        let first = self.counter(count, start);
        let at = self.w.variable(first.ty);
        self.w.set(at, first);
        self.enter(FrameKind::Loop);
        if count.range.is_some() || matches!(count.step.const_int(), Some(1 | -1)) {
            return self.stepping(var, count, at, body);
        }
        self.w.begin();
        let index = self.w.get(at);
        self.define_index(var, count, index);
        let done = self.block(body);
        let body = self.w.end();
        done?;
        self.w.begin();
        let now = self.w.get(at);
        let (moved, more) = self.stepped(count, now);
        self.w.set(at, moved);
        let ends = self.w.not(more);
        let ends = self.w.expr(ends);
        let continuing = self.w.end();
        self.ready();
        let more = self.is_before(count, first)?;
        self.w.begin();
        self.w.push(Statement::Loop {
            body,
            continuing,
            break_if: Some(ends),
        });
        let inner = self.w.end();
        self.w.branch(more, inner, naga::Block::new());
        self.leave();
        Ok(())
    }

    fn scope(&mut self, label: Label, body: &'m Block) -> Res<()> {
        self.framed(FrameKind::Scope(label), |fx| fx.block(body))
    }

    fn leave_scope(&mut self, label: Label) -> Res<()> {
        self.jump(|kind| kind == FrameKind::Scope(label))
    }

    fn leave_loop(&mut self) -> Res<()> {
        self.jump(|kind| kind == FrameKind::Loop)
    }

    fn next_turn(&mut self) -> Res<()> {
        self.w.push(Statement::Continue);
        Ok(())
    }

    fn give(&mut self, _value: Value) -> Res<()> {
        self.internal("a kernel that returns a value")
    }

    fn end_thread(&mut self) -> Res<()> {
        if self.frames.first().is_some_and(|frame| frame.kind == FrameKind::Point) {
            return self.jump(|kind| kind == FrameKind::Point);
        }
        self.w.push(Statement::Return { value: None });
        Ok(())
    }

    fn barrier(&mut self) {
        self.w.push(Statement::ControlBarrier(Barrier::STORAGE | Barrier::WORK_GROUP));
    }

    fn grid_barrier(&mut self) -> Res<()> {
        self.unsupported("this device has no barriers of the whole grid: launch a kernel for each part, or device='cpu'")
    }

    fn sync_warp(&mut self, _mask: Value) -> Res<()> {
        self.sync_lanes();
        Ok(())
    }

    fn mma(&mut self, _elem: Scalar, _sums: &View, _factors: [&View; 2], _transposed: [bool; 2]) -> Res<()> {
        self.unsupported(weft_ir::mma::NOT_HERE)
    }

    fn fence(&mut self, scope: FenceScope) -> Res<()> {
        let features = self.cx.request.features;
        if features.platform == Platform::Metal {
            // naga makes a barrier of it, at which all threads of the block must arrive.
            return self.unsupported("Metal has no fences yet: use cuda.syncthreads(), or device='cpu'");
        }
        if !features.fences {
            self.atomic_fence();
            return Ok(());
        }
        let what = match scope {
            FenceScope::Block => Barrier::WORK_GROUP | Barrier::STORAGE,
            FenceScope::Device | FenceScope::System => Barrier::STORAGE,
        };
        self.w.push(Statement::MemoryBarrier(what));
        Ok(())
    }

    /// There is no such thing: the thread goes on at once.
    fn sleep(&mut self, _nanoseconds: Value) -> Res<()> {
        Ok(())
    }

    fn raise(&mut self, kind: ErrorKind, message: &str) -> Res<()> {
        self.record_error(kind, message)?;
        self.w.push(Statement::Return { value: None });
        Ok(())
    }

    fn print(&mut self, items: &[PrintItem]) -> Res<()> {
        self.print_line(items)
    }

    fn is_positive(&mut self, n: Num) -> Operand {
        let (Num::Short(op, _) | Num::Reg(op)) = n;
        self.w.compare(BinaryOperator::Greater, op, op.ty.int(0))
    }
}

impl<'m> Fx<'m> {
    /// False, which the driver does not know, for devices without [`crate::features::Features::exact_zeros`]: Mesa's driver for the CPU
    /// overwrites what a lane had when it left a loop, in turns that others still take, if the loop has one exit only.
    fn never(&mut self) -> Option<Operand> {
        if self.cx.request.features.exact_zeros {
            return None;
        }
        let zero = self.word(Word::Zero);
        Some(self.w.compare(BinaryOperator::NotEqual, zero, Ty::U32.int(0)))
    }

    /// A side of a branch.
    fn side(&mut self, block: &'m Block, cond: Value, holds: bool) -> Res<naga::Block> {
        let mark = self.known.mark();
        self.suppose(cond, holds);
        let made = self.nested(block);
        self.forget(mark);
        made
    }

    /// A block of naga's.
    fn nested(&mut self, block: &'m Block) -> Res<naga::Block> {
        self.w.begin();
        let done = self.block(block);
        let made = self.w.end();
        done.map(|()| made)
    }

    fn enter(&mut self, kind: FrameKind) {
        self.frames.push(Frame {
            kind,
            flag: None,
            passing: Vec::new(),
        });
    }

    /// The innermost frame's code is written and comes next.
    fn ready(&mut self) {
        if let Some(flag) = self.frames.last().and_then(|frame| frame.flag) {
            self.w.set(flag, Operand::bool(false));
        }
    }

    /// Behind the innermost frame's code.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for target in frame.passing {
            if let Some(flag) = self.frames.get(target).and_then(|frame| frame.flag) {
                let leaves = self.w.get(flag);
                self.w.when(leaves, Statement::Break);
            }
        }
    }

    pub fn framed(&mut self, kind: FrameKind, code: impl FnOnce(&mut Self) -> Res<()>) -> Res<()> {
        self.enter(kind);
        self.w.begin();
        let done = code(self);
        let body = self.w.end();
        done?;
        self.ready();
        self.w.scope(body);
        self.leave();
        Ok(())
    }

    /// Leaves the innermost frame that `is_target` takes.
    fn jump(&mut self, is_target: impl Fn(FrameKind) -> bool) -> Res<()> {
        let Some(target) = self.frames.iter().rposition(|frame| is_target(frame.kind)) else {
            return self.internal("a jump out of nothing");
        };
        if target + 1 < self.frames.len() {
            let flag = match self.frames[target].flag {
                Some(flag) => flag,
                None => self.w.variable(Ty::Bool),
            };
            self.frames[target].flag = Some(flag);
            self.w.set(flag, Operand::bool(true));
            for frame in &mut self.frames[target + 1..] {
                if !frame.passing.contains(&target) {
                    frame.passing.push(target);
                }
            }
        }
        self.w.push(Statement::Break);
        Ok(())
    }

    /// A loop whose index is compared before each turn: it cannot pass the end of its type.
    fn stepping(&mut self, var: Value, count: &Count<Operand>, at: Variable, body: &'m Block) -> Res<()> {
        self.w.begin();
        let index = self.w.get(at);
        let more = self.is_before(count, index)?;
        let ends = self.w.not(more);
        self.w.when(ends, Statement::Break);
        self.define_index(var, count, index);
        let done = self.block(body);
        let body = self.w.end();
        done?;
        self.w.begin();
        let (now, step) = (self.w.get(at), self.counter(count, count.step));
        let moved = self.w.binary(BinaryOperator::Add, now, step);
        self.w.set(at, moved);
        let continuing = self.w.end();
        self.ready();
        self.w.push(Statement::Loop {
            body,
            continuing,
            break_if: None,
        });
        self.leave();
        Ok(())
    }

    /// The next index, and whether it is before the end.
    fn stepped(&mut self, count: &Count<Operand>, at: Operand) -> (Operand, Operand) {
        let step = self.take(count.step);
        let (left, stride) = self.left(count, at, step);
        let (left, stride) = (self.w.bitcast(left, Ty::U64), self.w.bitcast(stride, Ty::U64));
        let more = self.w.compare(BinaryOperator::Greater, left, stride);
        (self.w.binary(BinaryOperator::Add, at, step), more)
    }
}
