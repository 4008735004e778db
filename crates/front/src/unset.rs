//! Locals that may be read before anything was stored into them, found by walking a function's finished body.
//!
//! Python raises `UnboundLocalError` there. Compiled code starts such numbers at zero and, on the host, such arrays empty.

use std::collections::HashMap;

use weft_ir::{AxisSlice, Block, Const, FuncKind, Function, Label, Layout, Local, Op, Space, Span, Stmt, StmtKind, Type, Value, ViewType};

/// Which locals are surely set; `None` where control never is.
type State = Option<Vec<bool>>;

/// Gives locals that may be read unset a value at the start. Names the first that can have none, and where it is read: an array where
/// no array can be made.
pub fn give_values(func: &mut Function, host: bool) -> Result<(), (Local, Span)> {
    if func.locals.is_empty() {
        return Ok(());
    }
    let mut walk = Walk {
        reads: vec![None; func.locals.len()],
        breaks: Vec::new(),
        leaves: HashMap::new(),
    };
    walk.block(&func.body, Some(vec![false; func.locals.len()]));
    let mut start = Start { func, stmts: Vec::new() };
    for (i, read) in walk.reads.iter().enumerate() {
        let Some(span) = *read else { continue };
        let local = Local(i as u32);
        let value = match start.func.local_ty(local).clone() {
            Type::Scalar(scalar) => start.emit(scalar.into(), Op::Const(weft_ir::eval::zero(scalar)), span),
            Type::View(view) if host && view.space == Space::Global => start.empty(view, span),
            _ => return Err((local, span)),
        };
        start.stmts.push(Stmt {
            kind: StmtKind::Set(local, value),
            span,
        });
    }
    let stmts = start.stmts;
    func.body.0.splice(0..0, stmts);
    Ok(())
}

/// Statements that go before a function's body.
struct Start<'f> {
    func: &'f mut Function,
    stmts: Vec<Stmt>,
}

impl Start<'_> {
    fn emit(&mut self, ty: Type, op: Op, span: Span) -> Value {
        let value = self.func.new_value(ty);
        let kind = StmtKind::Let(value, op);
        self.stmts.push(Stmt { kind, span });
        value
    }

    /// An array without elements, as a view of a type. Only host functions allocate, so the function is one from now on.
    fn empty(&mut self, ty: ViewType, span: Span) -> Value {
        if self.func.kind == FuncKind::Device {
            self.func.kind = FuncKind::Host;
        }
        let zero = self.emit(Type::I64, Op::Const(Const::i64(0)), span);
        let made = ViewType {
            layout: Layout::C,
            writable: true,
            ..ty
        };
        let op = Op::Alloc {
            shape: vec![zero; ty.rank as usize],
            zeroed: false,
        };
        let view = self.emit(made.into(), op, span);
        if made == ty {
            return view;
        }
        let axes = vec![AxisSlice::Full; ty.rank as usize];
        self.emit(ty.into(), Op::Slice { view, axes }, span)
    }
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
