//! Captures: what a parallel loop's body takes from the function around it.

use std::collections::{HashMap, HashSet};

use weft_ir::{Block, Function, Op, StmtKind, Value};

/// The values a body uses and does not define.
pub struct Captures {
    /// Those that have to be passed, in the order they are first needed.
    pub values: Vec<Value>,
    /// Those the loop makes itself, each after what it needs.
    pub remade: Vec<(Value, Op)>,
}

/// The values of a block that cost nothing to make again: constants and lengths of views.
pub fn remakable(block: &Block) -> HashMap<Value, Op> {
    let mut found = HashMap::new();
    block.walk(&mut |kind| {
        if let StmtKind::Let(value, op @ (Op::Const(_) | Op::ConstArray(_) | Op::Dim(..))) = kind {
            found.insert(*value, op.clone());
        }
    });
    found
}

pub fn captures(vars: &[Value], body: &Block, remakable: &HashMap<Value, Op>) -> Captures {
    let mut known: HashSet<Value> = vars.iter().copied().collect();
    body.walk(&mut |kind| {
        kind.definitions(&mut |value| {
            known.insert(value);
        })
    });
    let mut captures = Captures {
        values: Vec::new(),
        remade: Vec::new(),
    };
    body.walk(&mut |kind| {
        kind.operands(&mut |value| captures.take(value, &mut known, remakable));
    });
    captures
}

impl Captures {
    fn take(&mut self, value: Value, known: &mut HashSet<Value>, remakable: &HashMap<Value, Op>) {
        if !known.insert(value) {
            return;
        }
        let Some(op) = remakable.get(&value) else {
            return self.values.push(value);
        };
        op.operands(&mut |operand| self.take(operand, known, remakable));
        self.remade.push((value, op.clone()));
    }
}

/// How often each local of `func` is set in a block, directly or by a loop's reduction.
pub fn set_counts(func: &Function, block: &Block) -> Vec<u32> {
    let mut counts = vec![0; func.locals.len()];
    block.walk(&mut |kind| kind.sets(&mut |local| counts[local.index()] += 1));
    counts
}
