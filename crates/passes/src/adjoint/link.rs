//! Functions of one module brought into another.

use weft_ir::{Block, ConstId, FuncId, FuncKind, Module, Op, SourceId, Span, StmtKind};

/// Adds all functions of a module to another one and gives the number that its entry has there. All of them are functions that others call.
pub fn bring(into: &mut Module, from: Module) -> FuncId {
    let shift = Shift {
        functions: into.functions.len() as u32,
        constants: into.constants.len() as u32,
        sources: into.sources.len() as u32,
    };
    into.constants.extend(from.constants);
    into.sources.extend(from.sources);
    for mut func in from.functions {
        func.kind = FuncKind::Device;
        shift.block(&mut func.body);
        into.functions.push(func);
    }
    FuncId(from.entry.0 + shift.functions)
}

struct Shift {
    functions: u32,
    constants: u32,
    sources: u32,
}

impl Shift {
    fn block(&self, block: &mut Block) {
        for stmt in &mut block.0 {
            if stmt.span != Span::NONE {
                stmt.span.source = SourceId(stmt.span.source.0.wrapping_add(self.sources));
            }
            match &mut stmt.kind {
                StmtKind::Let(_, Op::Call(func, _)) | StmtKind::Launch { func, .. } => func.0 += self.functions,
                StmtKind::Let(_, Op::ConstArray(ConstId(id))) => *id += self.constants,
                _ => {}
            }
            stmt.kind.blocks_mut().for_each(|inner| self.block(inner));
        }
    }
}
