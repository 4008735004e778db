//! Spilling around guards: values that are read outside the block that defines them, a guard closed in between. Numbers go through locals;
//! views, which are only descriptions of memory, are described again.

use std::collections::{HashMap, HashSet};
use std::mem;

use weft_ir::{Block, Function, Local, Op, Span, Stmt, StmtKind, Type, Value};

pub fn run(func: &mut Function) {
    let mut search = Search {
        in_sight: vec![false; func.values.len()],
        lost: HashSet::new(),
    };
    func.params.iter().for_each(|param| search.in_sight[param.index()] = true);
    search.block(&func.body);
    if search.lost.is_empty() {
        return;
    }
    let mut rescue = Rescue::new(func, search.lost);
    let mut body = mem::take(&mut rescue.func.body);
    rescue.block(&mut body);
    func.body = body;
}

/// Finds the values that are read where they are not in sight.
struct Search {
    in_sight: Vec<bool>,
    lost: HashSet<Value>,
}

impl Search {
    fn block(&mut self, block: &Block) {
        let mut defined = Vec::new();
        for stmt in &block.0 {
            stmt.kind.operands(&mut |v| {
                if !self.in_sight[v.index()] {
                    self.lost.insert(v);
                }
            });
            stmt.kind.definitions(&mut |v| {
                self.in_sight[v.index()] = true;
                defined.push(v);
            });
            stmt.kind.blocks().for_each(|inner| self.block(inner));
        }
        defined.iter().for_each(|v| self.in_sight[v.index()] = false);
    }
}

struct Rescue<'a> {
    func: &'a mut Function,
    /// Views to be described again, and how.
    again: HashMap<Value, Op>,
    locals: HashMap<Value, Local>,
    in_sight: Vec<bool>,
}

impl<'a> Rescue<'a> {
    fn new(func: &'a mut Function, lost: HashSet<Value>) -> Rescue<'a> {
        let mut ops: HashMap<Value, Op> = HashMap::new();
        func.body.walk(&mut |kind| {
            if let StmtKind::Let(value, op) = kind
                && matches!(func.ty(*value), Type::View(_))
                && !matches!(op, Op::Get(_))
            {
                ops.insert(*value, op.clone());
            }
        });
        let (mut again, mut locals, mut left): (HashMap<_, _>, HashMap<_, _>, Vec<Value>) = (HashMap::new(), HashMap::new(), Vec::new());
        left.extend(lost);
        left.sort();
        while let Some(value) = left.pop() {
            if again.contains_key(&value) || locals.contains_key(&value) {
                continue;
            }
            match ops.get(&value) {
                Some(op) => {
                    // Where the view is out of sight, what it is made of may be, too.
                    op.operands(&mut |v| {
                        if !func.params.contains(&v) {
                            left.push(v);
                        }
                    });
                    again.insert(value, op.clone());
                }
                None => {
                    let local = func.new_local(func.ty(value).clone(), format!("v{}", value.0));
                    locals.insert(value, local);
                }
            }
        }
        let mut in_sight = vec![false; func.values.len()];
        func.params.iter().for_each(|param| in_sight[param.index()] = true);
        Rescue {
            func,
            again,
            locals,
            in_sight,
        }
    }

    fn block(&mut self, block: &mut Block) {
        let mut defined = Vec::new();
        // What was brought back is in sight for the rest of the block.
        let mut renamed: HashMap<Value, Value> = HashMap::new();
        for mut stmt in mem::take(&mut block.0) {
            let span = stmt.span;
            stmt.kind.operands_mut(&mut |v| {
                *v = self.bring_back(*v, span, &mut block.0, &mut renamed);
            });
            let mut made = Vec::new();
            stmt.kind.definitions(&mut |v| made.push(v));
            made.iter().for_each(|v| self.in_sight[v.index()] = true);
            stmt.kind.blocks_mut().for_each(|inner| self.block(inner));
            let is_let = matches!(stmt.kind, StmtKind::Let(..));
            block.0.push(stmt);
            for value in made {
                if let (Some(local), true) = (self.locals.get(&value), is_let) {
                    block.0.push(Stmt {
                        kind: StmtKind::Set(*local, value),
                        span,
                    });
                }
                // A value that is made anew each turn of a loop makes what was brought back old.
                renamed.remove(&value);
                defined.push(value);
            }
        }
        defined.iter().for_each(|v| self.in_sight[v.index()] = false);
    }

    fn bring_back(&mut self, value: Value, span: Span, out: &mut Vec<Stmt>, renamed: &mut HashMap<Value, Value>) -> Value {
        if self.in_sight.get(value.index()).copied().unwrap_or(true) {
            return value;
        }
        if let Some(known) = renamed.get(&value) {
            return *known;
        }
        let op = match (self.locals.get(&value), self.again.get(&value)) {
            (Some(local), _) => Op::Get(*local),
            (_, Some(op)) => {
                let mut op = op.clone();
                op.operands_mut(&mut |v| *v = self.bring_back(*v, span, out, renamed));
                op
            }
            _ => return value,
        };
        let copy = self.func.new_value(self.func.ty(value).clone());
        out.push(Stmt {
            kind: StmtKind::Let(copy, op),
            span,
        });
        renamed.insert(value, copy);
        copy
    }
}
