//! Limits of inlining: how large and how deep functions become. Calls of calls of calls can multiply without end.

use weft_ir::{Block, FuncId, Module, Op, StmtKind};

use super::references;
use crate::error::PassError;

/// Statements a function may grow to: calls of calls of calls can multiply without end.
const MAX_STATEMENTS: usize = 1 << 18;

/// Blocks that may stand in each other: whoever walks them does so by recursion.
const MAX_DEPTH: usize = 300;

/// Loops that may stand in each other: LLVM looks at all of a nest for each of them.
const MAX_LOOPS: usize = 64;

/// Statements the function will have, from those its callees have.
pub fn inlined_size(module: &Module, id: FuncId, sizes: &[usize]) -> Result<usize, PassError> {
    let body = &module.function(id).body;
    let mut size = 0;
    body.walk(&mut |_| size += 1);
    for (callee, span) in references(body) {
        size += sizes[callee.index()];
        if size > MAX_STATEMENTS {
            let name = &module.function(callee).name;
            return Err(PassError::new(
                span,
                format!("the code is too large once `{name}` and what it calls are inlined"),
            ));
        }
    }
    Ok(size)
}

/// How deep a function is nested: blocks in blocks, and loops in loops.
#[derive(Clone, Copy, Default)]
pub struct Depth {
    pub blocks: usize,
    pub loops: usize,
}

impl Depth {
    fn max(self, other: Depth) -> Depth {
        Depth {
            blocks: self.blocks.max(other.blocks),
            loops: self.loops.max(other.loops),
        }
    }
}

/// How deep the code of a block will be nested that stands so deep, from how deep its callees are; a callee's body may stand in a scope.
pub fn inlined_depth(block: &Block, at: Depth, depths: &[Depth]) -> Result<Depth, PassError> {
    let mut deepest = at;
    for stmt in &block.0 {
        let mut here = at;
        if let StmtKind::Let(_, Op::Call(func, _)) = &stmt.kind {
            here.blocks += depths[func.index()].blocks;
            here.loops += depths[func.index()].loops;
        }
        let inside = Depth {
            blocks: at.blocks + 1,
            loops: at.loops
                + usize::from(matches!(
                    stmt.kind,
                    StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. }
                )),
        };
        for inner in stmt.kind.blocks() {
            here = here.max(inlined_depth(inner, inside, depths)?);
        }
        let refuse = |what: &str, most: usize| {
            let message = format!("{what} are nested more than {most} deep here, those of called functions included");
            Err(PassError::new(stmt.span, message))
        };
        if here.loops > MAX_LOOPS {
            return refuse("loops", MAX_LOOPS);
        }
        if here.blocks > MAX_DEPTH {
            return refuse("loops and branches", MAX_DEPTH);
        }
        deepest = deepest.max(here);
    }
    Ok(deepest)
}
