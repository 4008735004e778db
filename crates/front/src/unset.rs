//! Definite assignment: locals that may be read before anything was stored into them, found by walking a function's finished body.
//!
//! Python raises `UnboundLocalError` there, and so does compiled code: a flag says whether the variable was assigned. Where it surely was,
//! there is none.

use std::collections::{BTreeMap, HashMap};

use weft_ir::{
    AxisSlice, Block, Const, ErrorKind, FuncKind, Function, Layout, Local, Op, Space, Span, Stmt, StmtKind, Type, Value, ViewType,
};

use crate::paths::{self, Fact, Paths, join};
use crate::rewrite::{guard_reads, variable};

/// Which locals are surely set.
type State = paths::State<bool>;

impl Fact for bool {
    fn or(&self, other: &bool) -> bool {
        *self && *other
    }
}

/// Makes reads of locals that may be unset raise, and gives these a value at the start, which nobody sees. Names the first that can have
/// none, and where it is read: an array where no array can be made. Of a function of the library, `error` is none: it knows what it does.
pub fn check_reads(func: &mut Function, host: bool, error: Option<ErrorKind>) -> Result<(), (Local, Span)> {
    if func.locals.is_empty() {
        return Ok(());
    }
    let mut walk = Walk {
        reads: Vec::new(),
        constants: HashMap::new(),
        paths: Paths::new(),
    };
    walk.block(&func.body, Some(vec![false; func.locals.len()]));
    let reads = walk.reads;
    let first: BTreeMap<Local, Span> = reads.iter().rev().map(|(_, local, span)| (*local, *span)).collect();
    let guarded: Vec<(Value, Local)> = reads.iter().map(|(value, local, _)| (*value, *local)).collect();
    if let (Some(error), false) = (error, guarded.is_empty()) {
        let named = |local: &Local| !func.locals[local.index()].name.is_empty();
        let guarded: Vec<_> = guarded.into_iter().filter(|(_, local)| named(local)).collect();
        let messages: HashMap<Local, String> = guarded.iter().map(|(_, local)| (*local, message(func, *local))).collect();
        let mut flags = BTreeMap::new();
        for (_, local) in &guarded {
            flags.entry(*local).or_insert_with(|| func.new_local(Type::BOOL, ""));
        }
        guard_reads(func, &guarded, &flags, &|local| (error, messages[&local].clone()));
    }
    let mut start = Start { func, stmts: Vec::new() };
    for (local, span) in first {
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

/// Python's own words.
fn message(func: &Function, local: Local) -> String {
    let name = variable(func, local);
    format!("cannot access local variable '{name}' where it is not associated with a value")
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
    /// Reads of locals that may be unset.
    reads: Vec<(Value, Local, Span)>,
    constants: HashMap<Value, i64>,
    paths: Paths<bool>,
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
            StmtKind::Let(value, Op::Get(local)) => {
                if let Some(set) = &mut state
                    && !set[local.index()]
                {
                    self.reads.push((*value, *local, stmt.span));
                    // Control comes no further where it is not.
                    set[local.index()] = true;
                }
                state
            }
            StmtKind::Let(value, Op::Const(Const::Int(_, n))) => {
                self.constants.insert(*value, *n);
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
                join(a, b)
            }
            StmtKind::Loop(body) => self.repeated(body, state).1,
            StmtKind::For {
                start, stop, step, body, ..
            } => {
                let runs = self.surely_runs([start, stop, step]);
                let (back, broken) = self.repeated(body, state.clone());
                if runs { join(back, broken) } else { state }
            }
            StmtKind::ParFor { body, .. } => {
                self.repeated(body, state.clone());
                state
            }
            StmtKind::Scope(label, body) => {
                let end = self.block(body, state);
                self.paths.behind_scope(*label, end)
            }
            kind => self.paths.behind(kind, state),
        }
    }

    /// The states behind an iteration and at its `break`s.
    fn repeated(&mut self, body: &Block, state: State) -> (State, State) {
        self.paths.open_loop();
        let end = self.block(body, state);
        self.paths.close_loop(end)
    }

    /// Does a loop with these bounds run at least once, as far as constants say?
    fn surely_runs(&self, bounds: [&Value; 3]) -> bool {
        let [Some(start), Some(stop), Some(step)] = bounds.map(|v| self.constants.get(v)) else {
            return false;
        };
        if *step > 0 { start < stop } else { start > stop }
    }
}
