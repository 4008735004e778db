//! Statements: blocks in order, branches, loops, scopes.

use weft_ir::{Block, CmpOp, ErrorKind, FenceScope, Label, PrintItem, Scalar, Span, Stmt, StmtKind, Value};

use super::count::{Count, Direction, counter_range};
use super::number::{Basic, Num, Overflow, Register};
use super::operations::Operations;
use super::values::{Val, View};

/// Control flow, and what has an effect.
pub trait Statements<'m>: Operations<'m> {
    /// What is written next comes from here.
    fn begin_statement(&mut self, _span: Span) {}

    fn end_statement(&mut self, _kind: &StmtKind) {}

    fn block(&mut self, block: &'m Block) -> Result<(), Self::Error> {
        self.all_of(block)
    }

    fn branch(&mut self, cond: Value, then: &'m Block, other: &'m Block) -> Result<(), Self::Error>;

    /// A loop that only jumps end.
    fn endless(&mut self, body: &'m Block) -> Result<(), Self::Error>;

    fn counting(&mut self, var: Value, start: Num<Self::Operand>, count: &Count<Self::Operand>, body: &'m Block)
    -> Result<(), Self::Error>;

    fn scope(&mut self, label: Label, body: &'m Block) -> Result<(), Self::Error>;

    fn leave_scope(&mut self, label: Label) -> Result<(), Self::Error>;

    fn leave_loop(&mut self) -> Result<(), Self::Error>;

    fn next_turn(&mut self) -> Result<(), Self::Error>;

    /// What a `Return` gives besides ending the thread.
    fn give(&mut self, value: Value) -> Result<(), Self::Error>;

    /// The end of the thread, or of a loop's point.
    fn end_thread(&mut self) -> Result<(), Self::Error>;

    fn barrier(&mut self);

    fn grid_barrier(&mut self) -> Result<(), Self::Error>;

    fn sync_warp(&mut self, mask: Value) -> Result<(), Self::Error>;

    /// Lanes of a warp add a product of matrices to their sums: see [`StmtKind::Mma`].
    fn mma(
        &mut self,
        elem: Scalar,
        sums: &View<Self::Machine>,
        factors: [&View<Self::Machine>; 2],
        transposed: [bool; 2],
    ) -> Result<(), Self::Error>;

    fn fence(&mut self, scope: FenceScope) -> Result<(), Self::Error>;

    fn sleep(&mut self, nanoseconds: Value) -> Result<(), Self::Error>;

    /// Records the error if it is the first, and ends the thread.
    fn raise(&mut self, kind: ErrorKind, message: &str) -> Result<(), Self::Error>;

    /// One line of output, if the mailbox has room for it.
    fn print(&mut self, items: &[PrintItem]) -> Result<(), Self::Error>;

    /// Is a number over 0 that is no constant?
    fn is_positive(&mut self, n: Num<Self::Operand>) -> Self::Operand;

    fn all_of(&mut self, block: &'m Block) -> Result<(), Self::Error> {
        block.0.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'m Stmt) -> Result<(), Self::Error> {
        self.span = stmt.span;
        self.begin_statement(stmt.span);
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
            StmtKind::Scope(label, body) => self.scope(*label, body)?,
            StmtKind::Leave(label) => self.leave_scope(*label)?,
            StmtKind::Break => self.leave_loop()?,
            StmtKind::Continue => self.next_turn()?,
            StmtKind::Return(value) => {
                if let Some(value) = value.filter(|_| !self.f.result.is_unit()) {
                    self.give(value)?;
                }
                self.end_thread()?;
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
            StmtKind::SyncWarp(mask) => self.sync_warp(*mask)?,
            StmtKind::Mma {
                elem,
                sums,
                left,
                right,
                left_transposed,
                right_transposed,
            } => {
                let (sums, left, right) = (self.view(*sums)?, self.view(*left)?, self.view(*right)?);
                self.mma(*elem, &sums, [&left, &right], [*left_transposed, *right_transposed])?;
            }
            StmtKind::Fence(scope) => self.fence(*scope)?,
            StmtKind::Sleep(time) => self.sleep(*time)?,
            StmtKind::Raise { kind, message } => self.raise(*kind, message)?,
            StmtKind::Print(items) => self.print(items)?,
            StmtKind::ParFor { .. } | StmtKind::Launch { .. } => return self.unsupported("a parallel loop inside a kernel"),
        }
        self.end_statement(&stmt.kind);
        Ok(())
    }

    fn counted(&mut self, var: Value, [start, stop, step]: [Value; 3], body: &'m Block) -> Result<(), Self::Error> {
        let (start, stop, step) = (self.num(start)?, self.num(stop)?, self.num(step)?);
        let direction = self.direction(step);
        let range = |is_up| counter_range(start.range(), stop.range(), step.range(), is_up);
        let range = match direction {
            Direction::Up => range(true),
            Direction::Down => range(false),
            Direction::Either(_) => None,
        };
        let count = Count {
            stop,
            step,
            direction,
            range,
        };
        self.counting(var, start, &count, body)
    }

    fn direction(&mut self, step: Num<Self::Operand>) -> Direction<Self::Operand> {
        match (step.range(), step.const_int()) {
            (Some(range), _) if range.lo > 0 => Direction::Up,
            (Some(range), _) if range.hi < 0 => Direction::Down,
            (_, Some(n)) if n > 0 => Direction::Up,
            (_, Some(_)) => Direction::Down,
            (_, None) => Direction::Either(self.is_positive(step)),
        }
    }

    /// The index of a counting loop at its start.
    fn define_index(&mut self, var: Value, count: &Count<Self::Operand>, at: Self::Operand) {
        self.define(var, Val::Num(count.index(at)));
    }

    /// A number of the loop's in as many bits as its index has.
    fn counter(&mut self, count: &Count<Self::Operand>, n: Num<Self::Operand>) -> Self::Operand {
        if count.range.is_some() { self.take_short(n) } else { self.take(n) }
    }

    /// Is an index before the end?
    fn is_before(&mut self, count: &Count<Self::Operand>, at: Self::Operand) -> Result<Self::Operand, Self::Error> {
        let stop = self.counter(count, count.stop);
        let s = if count.range.is_some() { Scalar::I32 } else { Scalar::I64 };
        match count.direction {
            Direction::Up => self.compare(CmpOp::Lt, s, at, stop),
            Direction::Down => self.compare(CmpOp::Gt, s, at, stop),
            Direction::Either(up) => {
                let below = self.compare(CmpOp::Lt, s, at, stop)?;
                let above = self.compare(CmpOp::Gt, s, at, stop)?;
                Ok(self.select(up, below, above))
            }
        }
    }

    /// What is left from an index to the end, and how much of that a turn takes, both without a sign. There is a next turn if more is left
    /// than one takes: the index behind the last could pass the end of `i64`.
    fn left(&mut self, count: &Count<Self::Operand>, at: Self::Operand, step: Self::Operand) -> (Self::Operand, Self::Operand) {
        let stop = self.take(count.stop);
        let mut minus = |x, y| self.basic(Basic::Sub, Overflow::Wraps, x, y);
        let zero = Self::Operand::constant(Scalar::I64, 0);
        match count.direction {
            Direction::Up => (minus(stop, at), step),
            Direction::Down => {
                let back = minus(zero, step);
                (minus(at, stop), back)
            }
            Direction::Either(up) => {
                let (ahead, behind) = (minus(stop, at), minus(at, stop));
                let back = minus(zero, step);
                (self.select(up, ahead, behind), self.select(up, step, back))
            }
        }
    }
}
