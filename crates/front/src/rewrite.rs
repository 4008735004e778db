//! Small changes to a finished body: flags that say whether a variable was assigned, and reads that raise where it was not.

use std::collections::{BTreeMap, HashMap};

use weft_ir::{Block, Const, ErrorKind, Function, Local, Op, Span, Stmt, StmtKind, Type, UnOp, Value};

/// Replaces the first statement that fits; says whether there was one.
pub fn first_of(block: &mut Block, fits: &impl Fn(&Stmt) -> bool, replace: &mut impl FnMut(Stmt) -> Vec<Stmt>) -> bool {
    if let Some(at) = block.0.iter().position(fits) {
        let stmt = block.0.remove(at);
        block.0.splice(at..at, replace(stmt));
        return true;
    }
    let mut nested = block.0.iter_mut().flat_map(|stmt| stmt.kind.blocks_mut());
    nested.any(|inner| first_of(inner, fits, replace))
}

/// A variable's name as the source has it: that of a tuple's item is the tuple's.
pub fn variable(func: &Function, local: Local) -> &str {
    let name = &func.locals[local.index()].name;
    name.split('.').next().unwrap_or(name)
}

/// Statements about flags, at one place of the source.
pub struct Guards<'f> {
    func: &'f mut Function,
    span: Span,
    stmts: Vec<Stmt>,
}

impl<'f> Guards<'f> {
    pub fn new(func: &'f mut Function, span: Span) -> Guards<'f> {
        Guards {
            func,
            span,
            stmts: Vec::new(),
        }
    }

    pub fn take(&mut self) -> Vec<Stmt> {
        std::mem::take(&mut self.stmts)
    }

    fn push(&mut self, kind: StmtKind) {
        self.stmts.push(Stmt { kind, span: self.span });
    }

    fn emit(&mut self, ty: Type, op: Op) -> Value {
        let value = self.func.new_value(ty);
        self.push(StmtKind::Let(value, op));
        value
    }

    pub fn set(&mut self, local: Local, constant: Const) {
        let value = self.emit(constant.scalar().into(), Op::Const(constant));
        self.push(StmtKind::Set(local, value));
    }

    pub fn set_flag(&mut self, flag: Local, on: bool) {
        self.set(flag, Const::Bool(on));
    }

    pub fn flag(&mut self, flag: Local) -> Value {
        self.emit(Type::BOOL, Op::Get(flag))
    }

    /// Raises where the flag is off.
    pub fn demand(&mut self, flag: Local, kind: ErrorKind, message: String) {
        let on = self.flag(flag);
        let off = self.emit(Type::BOOL, Op::Unary(UnOp::Not, on));
        let span = self.span;
        let kind = StmtKind::Raise { kind, message };
        self.push(StmtKind::If {
            cond: off,
            then: Block(vec![Stmt { kind, span }]),
            other: Block::default(),
        });
    }
}

/// Makes the reads raise where the flags of what they read are off, which assignments put on and the function's start off.
pub fn guard_reads(
    func: &mut Function,
    reads: &[(Value, Local)],
    flags: &BTreeMap<Local, Local>,
    error: &dyn Fn(Local) -> (ErrorKind, String),
) {
    let reads: HashMap<Value, Local> = reads.iter().copied().collect();
    let mut body = std::mem::take(&mut func.body);
    guard_block(func, &mut body, &reads, flags, error);
    let start = body.0.first().map_or(Span::NONE, |stmt| stmt.span);
    let mut guards = Guards::new(func, start);
    for flag in flags.values() {
        guards.set_flag(*flag, false);
    }
    body.0.splice(0..0, guards.take());
    func.body = body;
}

fn guard_block(
    func: &mut Function,
    block: &mut Block,
    reads: &HashMap<Value, Local>,
    flags: &BTreeMap<Local, Local>,
    error: &dyn Fn(Local) -> (ErrorKind, String),
) {
    let mut guarded = Vec::with_capacity(block.0.len());
    for mut stmt in std::mem::take(&mut block.0) {
        for inner in stmt.kind.blocks_mut() {
            guard_block(func, inner, reads, flags, error);
        }
        let mut guards = Guards::new(func, stmt.span);
        match &stmt.kind {
            StmtKind::Let(value, Op::Get(_)) if reads.contains_key(value) => {
                let local = reads[value];
                let (kind, message) = error(local);
                guards.demand(flags[&local], kind, message);
                guarded.extend(guards.take());
                guarded.push(stmt);
            }
            StmtKind::Set(local, _) if flags.contains_key(local) => {
                guards.set_flag(flags[local], true);
                guarded.push(stmt);
                guarded.extend(guards.take());
            }
            _ => guarded.push(stmt),
        }
    }
    block.0 = guarded;
}
