//! Statements: blocks in order, branches, loops, scopes.

use weft_ir::{Block, FuncKind, Label as ScopeLabel, Stmt, StmtKind, Value};
use weft_passes::range::Range;

use super::func::Fx;
use super::number::Num;
use super::values::{Res, Val};
use super::writer::{Label, Operand, Ty};

/// What a jump can end.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    Loop { next: Label, after: Label },
    Scope { label: ScopeLabel, after: Label },
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

impl<'m> Fx<'_, 'm> {
    pub fn block(&mut self, block: &'m Block) -> Res<()> {
        block.0.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'m Stmt) -> Res<()> {
        self.span = stmt.span;
        self.w.location = self.cx.location(stmt.span);
        match &stmt.kind {
            StmtKind::Let(value, op) => {
                self.defs[value.index()] = Some(op);
                self.exact = self.f.values[value.index()].exact;
                let val = self.op(*value, op)?;
                self.define(*value, val);
            }
            StmtKind::Set(local, value) => {
                let val = self.val(*value)?;
                self.set_local(*local, &val)?;
            }
            StmtKind::If { cond, then, other } => self.branch(*cond, then, other)?,
            StmtKind::Loop(body) => self.endless(body)?,
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => self.counted(*var, [*start, *stop, *step], body)?,
            StmtKind::Scope(label, body) => {
                let after = self.w.label();
                self.frames.push(Frame::Scope { label: *label, after });
                self.block(body)?;
                self.frames.pop();
                self.w.place(after);
            }
            StmtKind::Leave(label) => {
                let to = self.frame(|frame| match frame {
                    Frame::Scope { label: found, after } if found == *label => Some(after),
                    _ => None,
                })?;
                self.w.br(to);
            }
            StmtKind::Break => {
                let to = self.frame(|frame| match frame {
                    Frame::Loop { after, .. } => Some(after),
                    Frame::Scope { .. } => None,
                })?;
                self.w.br(to);
            }
            StmtKind::Continue => {
                let to = self.frame(|frame| match frame {
                    Frame::Loop { next, .. } => Some(next),
                    Frame::Scope { .. } => None,
                })?;
                self.w.br(to);
            }
            StmtKind::Return(None) => self.w.br(self.end),
            StmtKind::Return(Some(_)) if self.f.result.is_unit() => self.w.br(self.end),
            StmtKind::Return(Some(_)) if self.f.kind == FuncKind::Kernel => return self.internal("a kernel that returns a value"),
            StmtKind::Return(Some(value)) => {
                let val = self.val(*value)?;
                self.leave_results(&val)?;
                self.w.br(self.end);
            }
            StmtKind::Store {
                view,
                indices,
                value,
                part,
            } => {
                let (view, value) = (self.view(*view)?, self.num(*value)?);
                self.store_element(&view, indices, value, *part)?;
            }
            StmtKind::Barrier => self.barrier(),
            StmtKind::GridBarrier => self.grid_barrier()?,
            StmtKind::SyncWarp(mask) => {
                let mask = self.operand(*mask)?;
                self.sync_warp(mask);
            }
            StmtKind::Fence(scope) => self.fence(*scope),
            StmtKind::Sleep(time) => {
                let time = self.operand(*time)?;
                self.sleep(time);
            }
            StmtKind::Raise { kind, message } => self.raise(*kind, message)?,
            StmtKind::Print(items) => self.print(items)?,
            StmtKind::ParFor { .. } | StmtKind::Launch { .. } => return self.unsupported("a parallel loop inside a kernel"),
        }
        Ok(())
    }

    /// The innermost frame that `pick` takes.
    fn frame(&self, pick: impl Fn(Frame) -> Option<Label>) -> Res<Label> {
        match self.frames.iter().rev().find_map(|frame| pick(*frame)) {
            Some(label) => Ok(label),
            None => self.internal("a jump out of nothing"),
        }
    }

    fn branch(&mut self, cond: Value, then: &'m Block, other: &'m Block) -> Res<()> {
        let cond = self.operand(cond)?;
        let (yes, no, after) = (self.w.label(), self.w.label(), self.w.label());
        if ends_in_error(then) {
            self.w.rare_br(cond, yes, no);
        } else {
            self.w.cond_br(cond, yes, no);
        }
        for (label, side) in [(yes, then), (no, other)] {
            self.w.place(label);
            self.block(side)?;
            self.w.br(after);
        }
        self.w.place(after);
        Ok(())
    }

    fn endless(&mut self, body: &'m Block) -> Res<()> {
        let (head, after) = (self.w.label(), self.w.label());
        self.w.place(head);
        self.frames.push(Frame::Loop { next: head, after });
        self.block(body)?;
        self.frames.pop();
        self.w.br(head);
        self.w.place(after);
        Ok(())
    }

    fn counted(&mut self, var: Value, [start, stop, step]: [Value; 3], body: &'m Block) -> Res<()> {
        let (start, stop, step) = (self.num(start)?, self.num(stop)?, self.num(step)?);
        let up = match step.range() {
            Some(range) if range.lo > 0 => Direction::Up,
            Some(range) if range.hi < 0 => Direction::Down,
            _ => match step.const_int() {
                Some(v) if v > 0 => Direction::Up,
                Some(_) => Direction::Down,
                None => {
                    let op = self.take(step);
                    Direction::Either(self.w.compare("icmp sgt", op, Ty::I64.int_const(0)))
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
        let first = if count.short { self.take_short(start) } else { self.take(start) };
        let slot = self.w.alloca(first.ty);
        let (enter, next, after) = (self.w.label(), self.w.label(), self.w.label());
        self.w.store(first, slot);
        let more = self.is_before(&count, first);
        self.w.cond_br(more, enter, after);
        self.w.place(enter);
        let at = self.w.load(first.ty, slot);
        let index = range.map_or(Num::Reg(at), |range| Num::Short(at, range));
        self.define(var, Val::Num(index));
        self.frames.push(Frame::Loop { next, after });
        self.block(body)?;
        self.frames.pop();
        self.w.place(next);
        let (moved, more) = self.stepped(&count, at);
        self.w.store(moved, slot);
        self.w.cond_br(more, enter, after);
        self.w.place(after);
        Ok(())
    }

    /// Is an index before the end?
    fn is_before(&mut self, count: &Count, at: Operand) -> Operand {
        let stop = if count.short {
            self.take_short(count.stop)
        } else {
            self.take(count.stop)
        };
        match count.up {
            Direction::Up => self.w.compare("icmp slt", at, stop),
            Direction::Down => self.w.compare("icmp sgt", at, stop),
            Direction::Either(up) => {
                let (below, above) = (self.w.compare("icmp slt", at, stop), self.w.compare("icmp sgt", at, stop));
                self.w.select(up, below, above)
            }
        }
    }

    /// The next index, and whether it is before the end. Steps over one could pass the end of `i64`: what is left is compared instead.
    fn stepped(&mut self, count: &Count, at: Operand) -> (Operand, Operand) {
        let unit = matches!(count.step.const_int(), Some(1 | -1));
        let step = if count.short {
            self.take_short(count.step)
        } else {
            self.take(count.step)
        };
        if count.short || unit {
            let moved = self.w.binary("add nsw", at, step);
            let more = self.is_before(count, moved);
            return (moved, more);
        }
        let stop = self.take(count.stop);
        let (left, stride) = match count.up {
            Direction::Up => (self.w.binary("sub", stop, at), step),
            Direction::Down => {
                let back = self.w.binary("sub", Ty::I64.int_const(0), step);
                (self.w.binary("sub", at, stop), back)
            }
            Direction::Either(up) => {
                let (ahead, behind) = (self.w.binary("sub", stop, at), self.w.binary("sub", at, stop));
                let back = self.w.binary("sub", Ty::I64.int_const(0), step);
                (self.w.select(up, ahead, behind), self.w.select(up, step, back))
            }
        };
        let more = self.w.compare("icmp ugt", left, stride);
        (self.w.binary("add", at, step), more)
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

/// Is an error all that comes of a block?
fn ends_in_error(block: &Block) -> bool {
    matches!(block.0.last(), Some(stmt) if matches!(stmt.kind, StmtKind::Raise { .. }))
}
