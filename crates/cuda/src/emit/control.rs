//! Control flow: branches, loops, scopes, as blocks and jumps between them.

use weft_ir::{Block, CmpOp, ErrorKind, FenceScope, FuncKind, Label as ScopeLabel, PrintItem, Scalar, Span, StmtKind, Value};
use weft_thread::{Code, Count, Numbers, Statements};

use super::func::Fx;
use super::values::{Num, Res, View};
use super::writer::{Label, Operand, Ty};

/// What a jump can end.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    Loop { next: Label, after: Label },
    Scope { label: ScopeLabel, after: Label },
}

impl<'m> Statements<'m> for Fx<'_, 'm> {
    fn begin_statement(&mut self, span: Span) {
        // What the lines belong to is the entry.
        self.w.location = if self.is_called { None } else { self.cx.location(span) };
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

    fn counting(&mut self, var: Value, start: Num, count: &Count<Operand>, body: &'m Block) -> Res<()> {
        let first = self.counter(count, start);
        let slot = self.w.alloca(first.ty);
        let (enter, next, after) = (self.w.label(), self.w.label(), self.w.label());
        self.w.store(first, slot);
        let more = self.is_before(count, first)?;
        self.w.cond_br(more, enter, after);
        self.w.place(enter);
        let at = self.w.load(first.ty, slot);
        self.define_index(var, count, at);
        self.frames.push(Frame::Loop { next, after });
        self.block(body)?;
        self.frames.pop();
        self.w.place(next);
        let (moved, more) = self.stepped(count, at)?;
        self.w.store(moved, slot);
        self.w.cond_br(more, enter, after);
        self.w.place(after);
        Ok(())
    }

    fn scope(&mut self, label: ScopeLabel, body: &'m Block) -> Res<()> {
        let after = self.w.label();
        self.frames.push(Frame::Scope { label, after });
        self.block(body)?;
        self.frames.pop();
        self.w.place(after);
        Ok(())
    }

    fn leave_scope(&mut self, label: ScopeLabel) -> Res<()> {
        self.jump(|frame| match frame {
            Frame::Scope { label: found, after } => (found == label).then_some(after),
            Frame::Loop { .. } => None,
        })
    }

    fn leave_loop(&mut self) -> Res<()> {
        self.jump(|frame| match frame {
            Frame::Loop { after, .. } => Some(after),
            Frame::Scope { .. } => None,
        })
    }

    fn next_turn(&mut self) -> Res<()> {
        self.jump(|frame| match frame {
            Frame::Loop { next, .. } => Some(next),
            Frame::Scope { .. } => None,
        })
    }

    fn give(&mut self, value: Value) -> Res<()> {
        if self.f.kind == FuncKind::Kernel {
            return self.internal("a kernel that returns a value");
        }
        let val = self.val(value)?;
        self.leave_results(&val)
    }

    fn end_thread(&mut self) -> Res<()> {
        self.w.br(self.end);
        Ok(())
    }

    fn barrier(&mut self) {
        self.effect("barrier.cta.sync.aligned.all", &[Ty::I32.int_const(0)]);
    }

    fn grid_barrier(&mut self) -> Res<()> {
        self.meet_grid()
    }

    fn sync_warp(&mut self, mask: Value) -> Res<()> {
        let mask = self.operand(mask)?;
        self.effect("bar.warp.sync", &[mask]);
        Ok(())
    }

    fn mma(&mut self, elem: Scalar, sums: &View, factors: [&View; 2], transposed: [bool; 2]) -> Res<()> {
        self.products_of_tiles(elem, sums, factors, transposed)
    }

    fn fence(&mut self, scope: FenceScope) -> Res<()> {
        let scope = match scope {
            FenceScope::Block => "syncscope(\"block\") ",
            FenceScope::Device => "syncscope(\"device\") ",
            FenceScope::System => "",
        };
        self.w.line(format_args!("fence {scope}seq_cst"));
        Ok(())
    }

    fn sleep(&mut self, nanoseconds: Value) -> Res<()> {
        let nanoseconds = self.operand(nanoseconds)?;
        self.effect("nanosleep", &[nanoseconds]);
        Ok(())
    }

    fn raise(&mut self, kind: ErrorKind, message: &str) -> Res<()> {
        self.record_error(kind, message)
    }

    fn print(&mut self, items: &[PrintItem]) -> Res<()> {
        self.print_line(items)
    }

    fn is_positive(&mut self, n: Num) -> Operand {
        let op = self.take(n);
        self.w.compare("icmp sgt", op, Ty::I64.int_const(0))
    }
}

impl Fx<'_, '_> {
    /// To where the innermost frame that `pick` takes says.
    fn jump(&mut self, pick: impl Fn(Frame) -> Option<Label>) -> Res<()> {
        match self.frames.iter().rev().find_map(|frame| pick(*frame)) {
            Some(label) => self.w.br(label),
            None => return self.internal("a jump out of nothing"),
        }
        Ok(())
    }

    /// The next index, and whether it is before the end.
    fn stepped(&mut self, count: &Count<Operand>, at: Operand) -> Res<(Operand, Operand)> {
        // Numbers of 32 bits stay far from the ends of 64.
        let is_short = count.stop.range().is_some() && count.step.range().is_some();
        if count.range.is_some() || is_short || matches!(count.step.const_int(), Some(1 | -1)) {
            let step = self.counter(count, count.step);
            let moved = self.w.binary("add nsw", at, step);
            return Ok((moved, self.is_before(count, moved)?));
        }
        let step = self.take(count.step);
        let (left, stride) = self.left(count, at, step);
        let more = self.compare(CmpOp::Gt, Scalar::U64, left, stride)?;
        Ok((self.w.binary("add", at, step), more))
    }
}

/// Is an error all that comes of a block?
fn ends_in_error(block: &Block) -> bool {
    matches!(block.0.last(), Some(stmt) if matches!(stmt.kind, StmtKind::Raise { .. }))
}
