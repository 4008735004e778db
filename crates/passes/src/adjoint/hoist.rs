//! Loads that read the same element in every turn of a counted loop are done once, before it: their cotangents then meet in a local, and are
//! added to memory once as well.

use std::collections::{HashMap, HashSet};

use weft_ir::{BinOp, Block, CmpOp, Const, Function, Op, Scalar, Stmt, StmtKind, Type, Value, eval};

/// Moves what does not change out of the loops of a function.
pub fn run(func: &mut Function) {
    let body = std::mem::take(&mut func.body);
    let (mut views, mut ints) = (HashMap::new(), HashMap::new());
    body.walk(&mut |kind| match kind {
        StmtKind::Let(value, Op::Slice { view, .. } | Op::Transpose(view, _) | Op::PartView(view, _) | Op::Reshape(view, _)) => {
            views.insert(*value, *view);
        }
        StmtKind::Let(value, Op::Const(Const::Int(_, number))) => drop(ints.insert(*value, *number)),
        _ => {}
    });
    let mut hoist = Hoist { func, views, ints };
    let body = hoist.block(body);
    func.body = body;
}

struct Hoist<'a> {
    func: &'a mut Function,
    /// What views are parts of.
    views: HashMap<Value, Value>,
    /// Integers that are known.
    ints: HashMap<Value, i64>,
}

impl Hoist<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::new();
        for mut stmt in block.0 {
            for inner in stmt.kind.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            self.statement(&mut stmt, &mut out);
            out.push(stmt);
        }
        Block(out)
    }

    /// Moves statements of a counted loop to `out`.
    fn statement(&mut self, stmt: &mut Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        } = &mut stmt.kind
        else {
            return;
        };
        let Some(up) = self.ints.get(step).filter(|by| **by != 0).map(|by| *by > 0) else {
            return;
        };
        let Some(written) = self.written(body) else { return };
        let mut inside = HashSet::from([*var]);
        body.walk(&mut |kind| {
            kind.definitions(&mut |value| {
                inside.insert(value);
            })
        });
        let (mut kept, mut loads) = (Vec::new(), Vec::new());
        let mut is_sure = true;
        for own in std::mem::take(&mut body.0) {
            is_sure &= !leaves(&own.kind);
            let StmtKind::Let(value, op) = &own.kind else {
                kept.push(own);
                continue;
            };
            let mut is_same = is_sure;
            op.operands(&mut |operand| is_same &= !inside.contains(&operand));
            match op {
                Op::Load { view, .. } if is_same && self.reads_what_stays(*view, &written) => {
                    let ty = self.func.ty(*value).clone();
                    let local = self.func.new_local(ty.clone(), "hoisted");
                    let read = self.func.new_value(ty);
                    loads.push((local, read, op.clone()));
                    let kind = StmtKind::Let(*value, Op::Get(local));
                    kept.push(Stmt { kind, ..own });
                }
                _ if is_same && is_index(op, self.func.ty(*value)) => {
                    inside.remove(value);
                    out.push(own);
                }
                _ => kept.push(own),
            }
        }
        body.0 = kept;
        if loads.is_empty() {
            return;
        }
        let (compare, any) = (if up { CmpOp::Lt } else { CmpOp::Gt }, self.func.new_value(Type::BOOL));
        let at = |kind| Stmt { kind, span };
        out.push(at(StmtKind::Let(any, Op::Compare(compare, *start, *stop))));
        let mut then = Vec::new();
        for (local, read, op) in loads {
            let ty = self.func.local_ty(local).clone();
            let zero = self.func.new_value(ty.clone());
            let nothing = ty.scalar().map_or(Const::i64(0), eval::zero);
            out.extend([at(StmtKind::Let(zero, Op::Const(nothing))), at(StmtKind::Set(local, zero))]);
            then.extend([at(StmtKind::Let(read, op)), at(StmtKind::Set(local, read))]);
        }
        out.push(at(StmtKind::If {
            cond: any,
            then: Block(then),
            other: Block::default(),
        }));
    }

    /// The arrays that statements write to, if they are known.
    fn written(&self, body: &Block) -> Option<HashSet<Value>> {
        let (mut found, mut is_known) = (HashSet::new(), true);
        body.walk(&mut |kind| match kind {
            StmtKind::Store { view, .. } | StmtKind::Let(_, Op::Atomic { view, .. }) => drop(found.insert(self.root(*view))),
            StmtKind::Let(_, Op::Call(_, args)) => is_known &= args.iter().all(|arg| self.func.ty(*arg).view().is_none()),
            StmtKind::Let(_, Op::Routine { .. }) | StmtKind::Launch { .. } | StmtKind::Mma { .. } | StmtKind::Barrier => is_known = false,
            _ => {}
        });
        (is_known && found.iter().all(|root| self.func.params.contains(root))).then_some(found)
    }

    fn root(&self, view: Value) -> Value {
        let mut at = view;
        while let Some(of) = self.views.get(&at) {
            at = *of;
        }
        at
    }

    /// Arguments are apart.
    fn reads_what_stays(&self, view: Value, written: &HashSet<Value>) -> bool {
        let root = self.root(view);
        self.func.params.contains(&root) && !written.contains(&root)
    }
}

/// May what stands behind a statement not be reached?
fn leaves(kind: &StmtKind) -> bool {
    let ends = |kind: &StmtKind| {
        matches!(
            kind,
            StmtKind::Break | StmtKind::Continue | StmtKind::Leave(_) | StmtKind::Return(_) | StmtKind::Raise { .. } | StmtKind::Loop(_)
        )
    };
    ends(kind) || kind.blocks().any(|block| block.any(&mut |kind| ends(kind)))
}

/// What indices are made of, and cannot fail.
fn is_index(op: &Op, ty: &Type) -> bool {
    let is_int = ty.scalar().is_some_and(Scalar::is_int);
    match op {
        Op::Const(_) | Op::Dim(..) => true,
        Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) | Op::Cast(_) => is_int,
        _ => false,
    }
}
