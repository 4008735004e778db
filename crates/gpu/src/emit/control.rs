//! Statements: blocks in order, branches, loops, scopes.
//!
//! naga leaves loops and switches by `Break`, one level at a time. A scope is a switch with one case. What jumps out of several levels sets
//! a flag, by which each level it passes is left, too.

use naga::{Barrier, BinaryOperator, Statement};
use weft_ir::{Block, FenceScope, Label, Stmt, StmtKind, Value};
use weft_passes::operands::ends;
use weft_passes::range::Range;

use super::func::Fx;
use super::number::Num;
use super::values::{Res, Val};
use super::writer::{Operand, Ty, Variable};
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

/// Where a counting loop's index goes.
#[derive(Clone, Copy)]
struct Count {
    stop: Num,
    step: Num,
    up: Direction,
    /// Neither the index nor the one behind the last leaves 32 bits.
    short: bool,
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
    /// Known at run time: is the step positive?
    Either(Operand),
}

impl<'m> Fx<'m> {
    pub fn block(&mut self, block: &'m Block) -> Res<()> {
        let mark = self.known.mark();
        let done = block.0.iter().try_for_each(|stmt| self.stmt(stmt));
        self.forget(mark);
        done
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

    fn stmt(&mut self, stmt: &'m Stmt) -> Res<()> {
        self.span = stmt.span;
        match &stmt.kind {
            StmtKind::Let(value, op) => {
                self.defs[value.index()] = Some(op);
                let val = self.op(*value, op)?;
                self.define(*value, val);
            }
            StmtKind::Set(local, value) => {
                let val = self.val(*value)?;
                self.set_local(*local, &val)?;
            }
            StmtKind::If { cond, then, other } => {
                let test = self.operand(*cond)?;
                let sides = (self.side(then, *cond, true)?, self.side(other, *cond, false)?);
                self.w.branch(test, sides.0, sides.1);
                if ends(then) || ends(other) {
                    self.suppose(*cond, ends(other));
                }
            }
            StmtKind::Loop(body) => {
                self.known.enter_loop(body);
                self.enter(FrameKind::Loop);
                let body = self.nested(body)?;
                self.ready();
                self.w.endless(body);
                self.leave();
            }
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => self.counted(*var, [*start, *stop, *step], body)?,
            StmtKind::Scope(label, body) => self.scope(FrameKind::Scope(*label), |fx| fx.block(body))?,
            StmtKind::Leave(label) => self.jump(|kind| kind == FrameKind::Scope(*label))?,
            StmtKind::Break => self.jump(|kind| kind == FrameKind::Loop)?,
            StmtKind::Continue => self.w.push(Statement::Continue),
            StmtKind::Return(Some(_)) if !self.f.result.is_unit() => return self.internal("a kernel that returns a value"),
            StmtKind::Return(_) => self.end_thread()?,
            StmtKind::Store {
                view,
                indices,
                value,
                part,
            } => {
                let (view, value) = (self.view(*view)?, self.num(*value)?);
                self.store_element(&view, indices, value, *part)?;
            }
            StmtKind::Barrier => self.w.push(Statement::ControlBarrier(Barrier::STORAGE | Barrier::WORK_GROUP)),
            StmtKind::GridBarrier => {
                return self.unsupported("this device has no barriers of the whole grid: launch a kernel for each part, or device='cpu'");
            }
            StmtKind::SyncWarp(_) => self.sync_warp(),
            StmtKind::Fence(scope) => self.fence(*scope)?,
            StmtKind::Sleep(_) => {}
            StmtKind::Raise { kind, message } => {
                self.raise(*kind, message)?;
                self.w.push(Statement::Return { value: None });
            }
            StmtKind::Print(items) => self.print(items)?,
            StmtKind::ParFor { .. } | StmtKind::Launch { .. } => return self.unsupported("a parallel loop inside a kernel"),
        }
        self.check_width(&stmt.kind);
        Ok(())
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

    /// `Return`: the end of the thread, or of the point.
    fn end_thread(&mut self) -> Res<()> {
        if self.frames.first().is_some_and(|frame| frame.kind == FrameKind::Point) {
            return self.jump(|kind| kind == FrameKind::Point);
        }
        self.w.push(Statement::Return { value: None });
        Ok(())
    }

    // Frames.

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

    pub fn scope(&mut self, kind: FrameKind, code: impl FnOnce(&mut Self) -> Res<()>) -> Res<()> {
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

    // Counting loops.

    fn counted(&mut self, var: Value, [start, stop, step]: [Value; 3], body: &'m Block) -> Res<()> {
        let (start, stop, step) = (self.num(start)?, self.num(stop)?, self.num(step)?);
        self.known.enter_loop(body);
        let up = match step.range() {
            Some(range) if range.lo > 0 => Direction::Up,
            Some(range) if range.hi < 0 => Direction::Down,
            _ => match step.const_int() {
                Some(v) if v > 0 => Direction::Up,
                Some(_) => Direction::Down,
                None => {
                    let (Num::Short(op, _) | Num::Reg(op)) = step;
                    Direction::Either(self.w.compare(BinaryOperator::Greater, op, op.ty.int(0)))
                }
            },
        };
        let range = counter_range(start, stop, step, up);
        let count = Count {
            stop,
            step,
            up,
            short: range.is_some(),
        };
        let first = self.counter(&count, start);
        let at = self.w.variable(first.ty);
        self.w.set(at, first);
        self.enter(FrameKind::Loop);
        if count.short || matches!(step.const_int(), Some(1 | -1)) {
            return self.stepping(var, &count, at, range, body);
        }
        self.w.begin();
        let index = self.w.get(at);
        self.define(var, Val::Num(range.map_or(Num::Reg(index), |range| Num::Short(index, range))));
        let done = self.block(body);
        let body = self.w.end();
        done?;
        self.w.begin();
        let now = self.w.get(at);
        let (moved, more) = self.stepped(&count, now);
        self.w.set(at, moved);
        let ends = self.w.not(more);
        let ends = self.w.expr(ends);
        let continuing = self.w.end();
        self.ready();
        let more = self.is_before(&count, first);
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

    /// A loop whose index is compared before each turn: it cannot pass the end of its type.
    fn stepping(&mut self, var: Value, count: &Count, at: Variable, range: Option<Range>, body: &'m Block) -> Res<()> {
        self.w.begin();
        let index = self.w.get(at);
        let more = self.is_before(count, index);
        let ends = self.w.not(more);
        self.w.when(ends, Statement::Break);
        self.define(var, Val::Num(range.map_or(Num::Reg(index), |range| Num::Short(index, range))));
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

    fn counter(&mut self, count: &Count, n: Num) -> Operand {
        if count.short { self.take_short(n) } else { self.take(n) }
    }

    /// Is an index before the end?
    fn is_before(&mut self, count: &Count, at: Operand) -> Operand {
        let stop = self.counter(count, count.stop);
        match count.up {
            Direction::Up => self.w.compare(BinaryOperator::Less, at, stop),
            Direction::Down => self.w.compare(BinaryOperator::Greater, at, stop),
            Direction::Either(up) => {
                let below = self.w.compare(BinaryOperator::Less, at, stop);
                let above = self.w.compare(BinaryOperator::Greater, at, stop);
                self.w.select(up, below, above)
            }
        }
    }

    /// The next index, and whether it is before the end. Steps over one could pass the end of `i64`: what is left is compared instead.
    fn stepped(&mut self, count: &Count, at: Operand) -> (Operand, Operand) {
        let (stop, step) = (self.take(count.stop), self.take(count.step));
        let back = self.w.binary(BinaryOperator::Subtract, Ty::I64.int(0), step);
        let ahead = self.w.binary(BinaryOperator::Subtract, stop, at);
        let behind = self.w.binary(BinaryOperator::Subtract, at, stop);
        let (left, stride) = match count.up {
            Direction::Up => (ahead, step),
            Direction::Down => (behind, back),
            Direction::Either(up) => (self.w.select(up, ahead, behind), self.w.select(up, step, back)),
        };
        let (left, stride) = (self.w.bitcast(left, Ty::U64), self.w.bitcast(stride, Ty::U64));
        let more = self.w.compare(BinaryOperator::Greater, left, stride);
        (self.w.binary(BinaryOperator::Add, at, step), more)
    }
}

/// What the index of a counting loop lies between, if it and the number behind its last are known to fit 32 bits.
fn counter_range(start: Num, stop: Num, step: Num, up: Direction) -> Option<Range> {
    let up = match up {
        Direction::Up => true,
        Direction::Down => false,
        Direction::Either(_) => return None,
    };
    Range::counter(start.range()?, stop.range()?, step.range()?, up)
}
