//! Constant and copy propagation: a walk in program order that knows constants, items of tuples, and what locals hold where control is
//! straight.

use std::collections::HashMap;
use std::mem;

use weft_ir::eval;
use weft_ir::{BinOp, Block, Const, Function, Local, Op, StmtKind, Value};

use crate::fold;
use crate::operands::ends;

/// Folds constants and replaces gets, items and other operations that give back a value as it is.
pub fn simplify(func: &mut Function) {
    let mut simplifier = Simplifier {
        holds: vec![None; func.locals.len()],
        log: Vec::new(),
        renamed: HashMap::new(),
        constants: HashMap::new(),
        tuples: HashMap::new(),
        func,
    };
    let mut body = mem::take(&mut simplifier.func.body);
    simplifier.block(&mut body);
    func.body = body;
}

struct Simplifier<'a> {
    func: &'a mut Function,
    /// The value each local holds here, if one in sight is known to be it.
    holds: Vec<Option<Value>>,
    /// What `holds` held before, to go back to behind a nested block, whose values are out of sight there.
    log: Vec<(Local, Option<Value>)>,
    renamed: HashMap<Value, Value>,
    constants: HashMap<Value, Const>,
    tuples: HashMap<Value, Vec<Value>>,
}

impl Simplifier<'_> {
    fn block(&mut self, block: &mut Block) {
        for mut stmt in mem::take(&mut block.0) {
            stmt.kind.operands_mut(&mut |v| {
                if let Some(new) = self.renamed.get(v) {
                    *v = *new;
                }
            });
            match &mut stmt.kind {
                StmtKind::Let(value, op) => {
                    if let Some(same) = self.same_as(op) {
                        self.renamed.insert(*value, same);
                        continue;
                    }
                    self.learn(*value, op);
                }
                StmtKind::Set(local, value) => self.hold(*local, Some(*value)),
                StmtKind::Launch { results, .. } => results.iter().for_each(|local| self.hold(*local, None)),
                StmtKind::If { cond, then, other } => {
                    if let Some(Const::Bool(cond)) = self.constants.get(cond) {
                        let taken = if *cond { then } else { other };
                        self.block(taken);
                        block.0.append(&mut taken.0);
                        if ends(block) {
                            break;
                        }
                        continue;
                    }
                    self.nested(&mut stmt.kind);
                }
                kind => self.nested(kind),
            }
            block.0.push(stmt);
        }
    }

    /// The blocks of an `if`, loop or scope.
    fn nested(&mut self, kind: &mut StmtKind) {
        let again = !matches!(kind, StmtKind::If { .. } | StmtKind::Scope(..));
        let set = set_inside(kind);
        if again {
            set.iter().for_each(|local| self.hold(*local, None));
        }
        for inner in kind.blocks_mut() {
            let mark = self.log.len();
            self.block(inner);
            for (local, before) in self.log.drain(mark..).rev() {
                self.holds[local.index()] = before;
            }
        }
        set.iter().for_each(|local| self.hold(*local, None));
    }

    fn hold(&mut self, local: Local, value: Option<Value>) {
        let before = mem::replace(&mut self.holds[local.index()], value);
        self.log.push((local, before));
    }

    fn learn(&mut self, value: Value, op: &mut Op) {
        if let Some(constant) = self.constant(value, op) {
            self.constants.insert(value, constant);
            *op = Op::Const(constant);
        }
        match op {
            Op::Tuple(items) => {
                self.tuples.insert(value, items.clone());
            }
            Op::Get(local) => self.hold(*local, Some(value)),
            _ => {}
        }
    }

    /// The value that an operation gives back as it is.
    fn same_as(&self, op: &Op) -> Option<Value> {
        match op {
            Op::Get(local) => self.holds[local.index()],
            Op::Item(tuple, i) => self.tuples.get(tuple)?.get(*i as usize).copied(),
            Op::Select(cond, a, b) => match self.constants.get(cond)? {
                Const::Bool(true) => Some(*a),
                _ => Some(*b),
            },
            Op::Binary(op, a, b) if fold::is_identity(*op, *self.constants.get(b)?) => Some(*a),
            _ => None,
        }
    }

    fn constant(&self, value: Value, op: &Op) -> Option<Const> {
        let known = |v: &Value| self.constants.get(v).copied();
        match op {
            Op::Const(c) => Some(*c),
            Op::Unary(op, a) => eval::unary(*op, known(a)?),
            // A power of floats is the math library's business.
            Op::Binary(BinOp::IntPow, a, _) if !known(a)?.scalar().is_int() => None,
            Op::Binary(op, a, b) => eval::binary(*op, known(a)?, known(b)?),
            Op::Compare(op, a, b) => eval::compare(*op, known(a)?, known(b)?).map(Const::Bool),
            Op::Cast(a) => eval::cast(known(a)?, self.func.ty(value).scalar()?),
            _ => None,
        }
    }
}

/// The locals that may change while a statement's blocks run. The reductions of a parallel loop do, whatever its body says.
fn set_inside(kind: &StmtKind) -> Vec<Local> {
    let mut set = Vec::new();
    let mut visit = |kind: &StmtKind| kind.sets(&mut |local| set.push(local));
    visit(kind);
    for inner in kind.blocks() {
        inner.walk(&mut visit);
    }
    set
}
