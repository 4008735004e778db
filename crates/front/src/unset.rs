//! Locals that may be read before anything was stored into them, found by walking a function's finished body.
//!
//! Python raises `UnboundLocalError` there. Compiled code starts such numbers at zero; arrays are refused, for there is no array to start with.

use std::collections::HashMap;

use weft_ir::{Block, Function, Label, Local, Op, Span, Stmt, StmtKind, Type};

/// Which locals are surely set; `None` where control never is.
type State = Option<Vec<bool>>;

/// Sets numbers that may be read unset to zero at the start. Gives the first view that may be, and where.
pub fn start_at_zero(func: &mut Function) -> Result<(), (Local, Span)> {
    if func.locals.is_empty() {
        return Ok(());
    }
    let mut walk = Walk {
        reads: vec![None; func.locals.len()],
        breaks: Vec::new(),
        leaves: HashMap::new(),
    };
    walk.block(&func.body, Some(vec![false; func.locals.len()]));
    let mut start = Vec::new();
    for (i, read) in walk.reads.iter().enumerate() {
        let Some(span) = read else { continue };
        let local = Local(i as u32);
        let Type::Scalar(scalar) = *func.local_ty(local) else {
            return Err((local, *span));
        };
        let zero = func.new_value(scalar.into());
        let kind = StmtKind::Let(zero, Op::Const(weft_ir::eval::zero(scalar)));
        start.push(Stmt { kind, span: *span });
        start.push(Stmt {
            kind: StmtKind::Set(local, zero),
            span: *span,
        });
    }
    func.body.0.splice(0..0, start);
    Ok(())
}

struct Walk {
    /// Where each local is read while it may be unset.
    reads: Vec<Option<Span>>,
    /// The state at the breaks of each open loop.
    breaks: Vec<State>,
    leaves: HashMap<Label, State>,
}

impl Walk {
    fn block(&mut self, block: &Block, mut state: State) -> State {
        for stmt in &block.0 {
            state = self.stmt(stmt, state);
        }
        state
    }

    fn stmt(&mut self, stmt: &Stmt, mut state: State) -> State {
        match &stmt.kind {
            StmtKind::Let(_, Op::Get(local)) => {
                let unset = state.as_ref().is_some_and(|set| !set[local.index()]);
                if unset && self.reads[local.index()].is_none() {
                    self.reads[local.index()] = Some(stmt.span);
                }
                state
            }
            StmtKind::Set(local, _) => {
                if let Some(set) = &mut state {
                    set[local.index()] = true;
                }
                state
            }
            StmtKind::If { then, other, .. } => {
                let a = self.block(then, state.clone());
                let b = self.block(other, state);
                both(a, b)
            }
            StmtKind::Loop(body) => {
                self.breaks.push(None);
                self.block(body, state);
                self.breaks.pop().flatten()
            }
            StmtKind::For { body, .. } | StmtKind::ParFor { body, .. } => {
                self.breaks.push(None);
                self.block(body, state.clone());
                self.breaks.pop();
                state
            }
            StmtKind::Scope(label, body) => {
                let end = self.block(body, state);
                both(end, self.leaves.remove(label).flatten())
            }
            StmtKind::Break => {
                if let Some(at) = self.breaks.last_mut() {
                    *at = both(at.take(), state);
                }
                None
            }
            StmtKind::Leave(label) => {
                let at = self.leaves.entry(*label).or_default();
                *at = both(at.take(), state);
                None
            }
            StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise { .. } => None,
            _ => state,
        }
    }
}

/// What is set whichever way control came.
fn both(a: State, b: State) -> State {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.iter().zip(&b).map(|(x, y)| *x && *y).collect()),
        (one, None) | (None, one) => one,
    }
}
