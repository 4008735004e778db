//! Control around barriers: what all threads of a block go through alike, written once for the block.

use weft_ir::{BarrierOp, Span, Stmt, StmtKind, Value};
use weft_passes::numbering::{Node, Numbered};
use weft_passes::uniformity::{Class, DIVERGENT_BARRIER};

use super::barriers::Store;
use super::frames::FrameKind;
use super::func::Fx;
use super::guard::Range;
use super::plan::{Piece, Plan, barrier_span, pieces};
use super::values::{Num, Res, Slot, Val};
use super::writer::{Elem, Label, Operand, Ty};

impl<'m> Fx<'_, 'm> {
    /// Runs the regions of a kernel with barriers, one after the other for all gangs of a block.
    pub fn run_regions(&mut self, lane_axis: Option<usize>, full: bool, block_end: Label) -> Res<()> {
        let plan = self.start_regions(lane_axis, full, block_end)?;
        self.skeleton(&plan, self.body)?;
        self.w.br(block_end);
        self.barriers.regions = None;
        Ok(())
    }

    fn skeleton(&mut self, plan: &Plan<'m>, block: Numbered<'m>) -> Res<()> {
        for piece in pieces(block) {
            match piece {
                Piece::Barrier => {}
                Piece::GridBarrier => self.grid_barrier(),
                Piece::Reduce(result, op, value) => self.reduce(plan, result, op, value)?,
                Piece::Run(nodes) => self.region(plan, &nodes, &mut |_| Ok(()))?,
                Piece::Control(node) => self.skeleton_control(plan, node)?,
            }
        }
        Ok(())
    }

    /// Other blocks catch up; the runtime says when.
    fn grid_barrier(&mut self) {
        self.cx.symbol("weft_grid_barrier");
        self.cx.declare("declare void @weft_grid_barrier(ptr)".into());
        self.w.line(format_args!("call void @weft_grid_barrier(ptr %ctx)"));
    }

    /// Every gang adds its lanes in which the value is true (for `And`: false).
    fn reduce(&mut self, plan: &Plan<'m>, result: Value, op: BarrierOp, value: Value) -> Res<()> {
        let total = self.w.alloca(Ty::I32);
        self.w.store(Ty::I32, Operand::Int(0), total);
        self.region(plan, &[], &mut |fx| {
            let bits = fx.gang.bits_ty();
            let n = fx.num(value)?;
            let mut holds = fx.take(n, bits);
            if op == BarrierOp::And {
                holds = fx.plain("xor", bits, holds, Operand::Bool(true));
            }
            let (count, before) = (fx.count_lanes(holds), fx.w.load(Ty::I32, total));
            let after = fx.plain("add", Ty::I32, before, count);
            fx.w.store(Ty::I32, after, total);
            Ok(())
        })?;
        let total = self.w.load(Ty::I32, total);
        let answer = match op {
            BarrierOp::Count => total,
            BarrierOp::And => self.plain("icmp eq", Ty::I32, total, Operand::Int(0)),
            BarrierOp::Or => self.plain("icmp ne", Ty::I32, total, Operand::Int(0)),
        };
        let answer = Val::Num(Num::Uniform(answer));
        self.define(result, answer.clone());
        self.state()?.common[result.index()] = Some(answer);
        Ok(())
    }

    /// A number of the whole block, for the skeleton.
    fn common_number(&mut self, plan: &Plan<'m>, value: Value) -> Res<Num> {
        if self.known.vals[value.index()].is_none() {
            match self.state()?.values.get(&value).cloned() {
                Some(Store::Block(pairs)) => {
                    let slot = self.kept_slot(value)?;
                    let (ptr, ty) = (pairs[0].0, self.slot_memory(&slot)[0].1);
                    return Ok(Num::Uniform(self.w.load(ty, ptr)));
                }
                Some(_) => return self.internal("a skeleton that differs between gangs"),
                None => self.repeat(plan, value)?,
            }
        }
        let n = self.num(value)?;
        let common = self.state()?.common.clone();
        self.known.vals = common;
        Ok(n)
    }

    /// Refuses control around a barrier that threads may take differently.
    fn demand_common(&mut self, stmt: &Stmt, values: &[Value]) -> Res<()> {
        if values
            .iter()
            .all(|v| matches!(self.info.values[v.index()], Class::Block | Class::Unset))
        {
            return Ok(());
        }
        self.span = barrier_span(stmt).filter(|span| *span != Span::NONE).unwrap_or(stmt.span);
        self.unsupported(DIVERGENT_BARRIER)
    }

    fn skeleton_control(&mut self, plan: &Plan<'m>, node: Node<'m>) -> Res<()> {
        let stmt = node.stmt;
        self.span = stmt.span;
        match &stmt.kind {
            StmtKind::If { cond, then, other } => {
                self.demand_common(stmt, &[*cond])?;
                let cond = self.common_number(plan, *cond)?;
                let cond = self.take(cond, Ty::BOOL);
                let [then, other] = node.sides(then, other);
                let (yes, no, join) = (self.w.label(), self.w.label(), self.w.label());
                self.w.cond_br(cond, yes, no);
                self.w.place(yes);
                self.skeleton(plan, then)?;
                self.w.br(join);
                self.w.place(no);
                self.skeleton(plan, other)?;
                self.w.place(join);
                Ok(())
            }
            StmtKind::Loop(body) => {
                let (head, after) = (self.w.label(), self.w.label());
                self.w.place(head);
                self.skeleton_body(plan, node.body(body), &[(FrameKind::After, after), (FrameKind::Next, head)])?;
                self.w.br(head);
                self.w.place(after);
                Ok(())
            }
            StmtKind::Scope(label, body) => {
                let after = self.w.label();
                self.skeleton_body(plan, node.body(body), &[(FrameKind::Scope(*label), after)])?;
                self.w.place(after);
                Ok(())
            }
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => self.skeleton_for(plan, stmt, *var, [*start, *stop, *step], node.body(body)),
            StmtKind::Break => self.skeleton_jump(FrameKind::After),
            StmtKind::Continue => self.skeleton_jump(FrameKind::Next),
            StmtKind::Leave(label) => self.skeleton_jump(FrameKind::Scope(*label)),
            StmtKind::Let(..)
            | StmtKind::Set(..)
            | StmtKind::ParFor { .. }
            | StmtKind::Launch { .. }
            | StmtKind::Return(_)
            | StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Raise { .. }
            | StmtKind::Print(_) => self.internal("a statement around a barrier that is no control"),
        }
    }

    fn skeleton_body(&mut self, plan: &Plan<'m>, body: Numbered<'m>, targets: &[(FrameKind, Label)]) -> Res<()> {
        let depth = self.state()?.targets.len();
        self.state()?.targets.extend_from_slice(targets);
        self.skeleton(plan, body)?;
        self.state()?.targets.truncate(depth);
        Ok(())
    }

    fn skeleton_jump(&mut self, kind: FrameKind) -> Res<()> {
        match self.state()?.targets.iter().rfind(|t| t.0 == kind) {
            Some((_, label)) => {
                let label = *label;
                self.w.br(label);
                Ok(())
            }
            None => self.internal("a jump that leads nowhere"),
        }
    }

    fn skeleton_for(&mut self, plan: &Plan<'m>, stmt: &Stmt, var: Value, values: [Value; 3], body: Numbered<'m>) -> Res<()> {
        self.demand_common(stmt, &values)?;
        let [start, stop, step] = values;
        let by = self.common_number(plan, step)?;
        let range = Range {
            start: self.common_number(plan, start)?,
            stop: self.common_number(plan, stop)?,
            step: by,
            up: self.counts_up(step, by),
        };
        let slot = Slot::Shared {
            ptr: self.w.alloca(Ty::I64),
            elem: Elem::I64,
            step: 0,
        };
        self.write_number(&slot, range.start, false)?;
        let (head, inside, next, after) = (self.w.label(), self.w.label(), self.w.label(), self.w.label());
        self.w.place(head);
        let at = self.read_number(&slot);
        let more = self.in_range(at, &range);
        let more = self.take(more, Ty::BOOL);
        self.w.cond_br(more, inside, after);
        self.w.place(inside);
        self.define(var, Val::Num(at));
        self.state()?.common[var.index()] = Some(Val::Num(at));
        self.skeleton_body(plan, body, &[(FrameKind::After, after), (FrameKind::Next, next)])?;
        self.w.place(next);
        let moved = self.add(at, range.step);
        self.write_number(&slot, moved, false)?;
        let wrapped = self.wrapped(at, moved, &range);
        let wrapped = self.take(wrapped, Ty::BOOL);
        self.w.cond_br(wrapped, after, head);
        self.w.place(after);
        Ok(())
    }
}
