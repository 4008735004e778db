//! Blocks: statements in order, each given to the file that writes it. The door through which statements write the blocks inside them.

use weft_ir::{FuncKind, StmtKind};
use weft_passes::alone::is_alone;
use weft_passes::numbering::{Node, Numbered};

use super::frames::FrameKind;
use super::func::Fx;
use super::values::Res;

impl<'m> Fx<'_, 'm> {
    pub fn block(&mut self, block: Numbered<'m>) -> Res<()> {
        let outside = self.heap.views.len();
        let nodes: Vec<_> = block.iter().collect();
        self.stmts(&nodes)?;
        self.heap.views.truncate(outside);
        Ok(())
    }

    pub fn stmts(&mut self, nodes: &[Node<'m>]) -> Res<()> {
        let mut rest = nodes;
        while let [node, after @ ..] = rest {
            rest = after;
            if matches!(node.stmt.kind, StmtKind::If { .. } | StmtKind::For { .. }) {
                self.stmt(*node)?;
                continue;
            }
            let mut both = false;
            self.each_member(&mut |fx, _| {
                both = match after {
                    [next, ..] if Self::stores_both(node.stmt, next.stmt) => fx.store_both(node.stmt, next.stmt)?,
                    _ => false,
                };
                if both { Ok(()) } else { fx.stmt(*node) }
            })?;
            if both {
                rest = &after[1..];
            }
        }
        Ok(())
    }

    fn stmt(&mut self, node: Node<'m>) -> Res<()> {
        self.span = node.stmt.span;
        match &node.stmt.kind {
            StmtKind::Let(value, op) => {
                self.known.defs[value.index()] = Some(op);
                self.known.exact = self.f.values[value.index()].exact;
                let val = self.op(*value, op)?;
                self.keep(*value, &val)?;
                self.note_view(&val);
                self.define(*value, val);
                Ok(())
            }
            StmtKind::Set(local, value) => {
                let val = self.val(*value)?;
                let blend = self.info.blends.contains(&node.id);
                self.set_local(*local, &val, blend)
            }
            StmtKind::If { cond, then, other } => self.emit_if(node, *cond, node.sides(then, other)),
            StmtKind::Loop(body) => self.emit_loop(node, node.body(body)),
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => self.emit_for(node, *var, [*start, *stop, *step], node.body(body)),
            StmtKind::Scope(label, body) => self.emit_scope(node, *label, node.body(body)),
            StmtKind::Leave(label) => self.jump(FrameKind::Scope(*label)),
            StmtKind::Break => self.jump(FrameKind::After),
            StmtKind::Continue => self.jump(FrameKind::Next),
            StmtKind::Return(value) => {
                match (value, &self.f.kind) {
                    (Some(value), FuncKind::Device) if !is_alone(self.f) => self.store_rare_results(*value)?,
                    (Some(value), _) => self.store_results(*value)?,
                    (None, _) => {}
                }
                self.jump(FrameKind::End)
            }
            StmtKind::Store {
                view,
                indices,
                value,
                part,
            } => {
                let (view, value) = (self.view(*view)?, self.num(*value)?);
                self.store_element(&view, indices, value, *part)
            }
            StmtKind::Raise { kind, message } => self.raise(*kind, message),
            StmtKind::Print(items) => self.print(items),
            StmtKind::Launch {
                func,
                extents,
                args,
                results,
                spread,
            } => self.launch(*func, extents, args, results, *spread),
            StmtKind::Barrier | StmtKind::GridBarrier => self.divergent_barrier(),
            // The lanes of a gang are in step.
            StmtKind::SyncWarp(_) => Ok(()),
            StmtKind::Mma { .. } => self.unsupported(weft_ir::mma::NOT_HERE),
            StmtKind::Fence(_) => {
                self.w.line(format_args!("fence seq_cst"));
                Ok(())
            }
            StmtKind::Sleep(_) => Ok(()),
            StmtKind::ParFor { .. } => self.internal("a parallel loop that was not outlined"),
        }
    }
}
