//! Conditional ranges: what conditions say of `i64`s where control has passed them: behind `i < n` an index is below every length, so that
//! what is computed of it fits 32 bits, too.

use std::collections::HashMap;

use weft_ir::{BinOp, Block, CmpOp, Local, Op, Scalar, StmtKind, UnOp, Value};
use weft_passes::range::Range;
use weft_thread::Code;

use super::func::Fx;
use super::values::{Num, Val};

#[derive(Debug, Default)]
pub struct Known {
    /// Locals, and how often they had been set when this was found: it holds until they are set again.
    locals: HashMap<Local, (Range, u32)>,
    /// How often each local has been set. A loop that sets one counts for one at its start.
    sets: HashMap<Local, u32>,
    /// The local that a value was read from, and how often that had been set.
    read: HashMap<Value, (Local, u32)>,
    /// Values that are known better, as they were before.
    before: Vec<(Value, Val)>,
}

/// How much was known at the start of a block.
#[derive(Debug)]
pub struct Mark {
    locals: HashMap<Local, (Range, u32)>,
    values: usize,
}

impl Known {
    fn count(&self, local: Local) -> u32 {
        self.sets.get(&local).copied().unwrap_or(0)
    }

    pub fn set(&mut self, local: Local) {
        *self.sets.entry(local).or_default() += 1;
    }

    pub fn read(&mut self, value: Value, local: Local) {
        let count = self.count(local);
        self.read.insert(value, (local, count));
    }

    /// What a local lies between now, if more is known than of all it is ever set to.
    pub fn range(&self, local: Local) -> Option<Range> {
        let (range, count) = self.locals.get(&local)?;
        (*count == self.count(local)).then_some(*range)
    }

    /// A body that may run again: what it sets may have been set when it starts.
    pub fn enter_loop(&mut self, body: &Block) {
        body.walk(&mut |kind| {
            if let StmtKind::Set(local, _) = kind {
                self.set(*local);
            }
        });
    }

    pub fn mark(&self) -> Mark {
        Mark {
            locals: self.locals.clone(),
            values: self.before.len(),
        }
    }
}

impl Fx<'_> {
    /// The end of a block: what was known in it holds no more.
    pub fn forget(&mut self, mark: Mark) {
        for (value, val) in self.known.before.split_off(mark.values).into_iter().rev() {
            self.define(value, val);
        }
        self.known.locals = mark.locals;
    }

    /// From here on a condition holds, or does not.
    pub fn suppose(&mut self, cond: Value, holds: bool) {
        let Some(condition) = self.defs[cond.index()] else {
            return;
        };
        if let Op::Compare(op, a, b) = condition
            && self.f.ty(*a).scalar() == Some(Scalar::I64)
        {
            let op = if holds { *op } else { op.opposite() };
            let range = |value: Value| self.num(value).ok().and_then(Num::range);
            let (of_a, of_b) = (range(*a), range(*b));
            if let Some(other) = of_b {
                self.limit(*a, op, other);
            }
            if let Some(other) = of_a {
                self.limit(*b, op.mirrored(), other);
            }
        }
        if let Op::Binary(op, a, b) = condition
            && *op == (if holds { BinOp::And } else { BinOp::Or })
        {
            self.suppose(*a, holds);
            self.suppose(*b, holds);
        }
        if let Op::Unary(UnOp::Not, a) = condition {
            self.suppose(*a, !holds);
        }
    }

    /// `value op other` holds.
    fn limit(&mut self, value: Value, op: CmpOp, other: Range) {
        let Ok(before @ Num::Short(operand, range)) = self.num(value) else {
            return;
        };
        let (lo, hi) = match op {
            CmpOp::Lt => (range.lo, range.hi.min(other.hi - 1)),
            CmpOp::Le => (range.lo, range.hi.min(other.hi)),
            CmpOp::Gt => (range.lo.max(other.lo + 1), range.hi),
            CmpOp::Ge => (range.lo.max(other.lo), range.hi),
            CmpOp::Eq => (range.lo.max(other.lo), range.hi.min(other.hi)),
            CmpOp::Ne => return,
        };
        // No thread comes here if there is no such number.
        if lo > hi || operand.known().is_some() || Range::new(lo, hi) == range {
            return;
        }
        let range = Range::new(lo, hi);
        self.known.before.push((value, Val::Num(before)));
        self.define(value, Val::Num(Num::Short(operand, range)));
        if let Some((local, count)) = self.known.read.get(&value).copied()
            && count == self.known.count(local)
        {
            self.known.locals.insert(local, (range, count));
        }
    }
}
