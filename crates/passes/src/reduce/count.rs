//! How many points an inner index space has, as the host finds it in the arguments of a launch.

use std::collections::HashMap;

use weft_ir::{BinOp, Const, Function, Op, Scalar, StmtKind, Type, Value, eval};

/// Operations that one number is made of, at the most.
const MOST: usize = 64;

/// A number that is the same at all points of a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Count {
    Constant(i64),
    /// What the argument block has there.
    Slot(usize),
    Binary(BinOp, Box<[Count; 2]>),
}

impl Count {
    /// Nothing where the arithmetic has no result.
    pub fn value(&self, args: &[u64]) -> Option<i64> {
        match self {
            Count::Constant(value) => Some(*value),
            Count::Slot(slot) => args.get(*slot).map(|&value| value as i64),
            Count::Binary(op, operands) => {
                let [x, y] = [operands[0].value(args)?, operands[1].value(args)?].map(Const::i64);
                match eval::binary(*op, x, y)? {
                    Const::Int(Scalar::I64, value) => Some(value),
                    _ => None,
                }
            }
        }
    }
}

/// What the numbers of a loop are made of.
pub struct Counts<'f> {
    func: &'f Function,
    /// The parameters behind the indices, and where the argument block has them.
    slots: HashMap<Value, usize>,
    made: HashMap<Value, &'f Op>,
}

impl<'f> Counts<'f> {
    pub fn of(func: &'f Function, rank: usize) -> Counts<'f> {
        let mut next = 0;
        let mut slot = |param: &Value| {
            let own = next;
            next += func.ty(*param).slots();
            (*param, own)
        };
        let slots = func.params[rank..].iter().map(&mut slot).collect();
        let made = func.body.0.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Let(value, op) => Some((*value, op)),
            _ => None,
        });
        Counts {
            func,
            slots,
            made: made.collect(),
        }
    }

    /// Nothing where only the points know.
    pub fn count(&self, value: Value) -> Option<Count> {
        self.within(value, &mut MOST.clone())
    }

    fn within(&self, value: Value, left: &mut usize) -> Option<Count> {
        *left = left.checked_sub(1)?;
        if *self.func.ty(value) != Type::I64 {
            return None;
        }
        if let Some(slot) = self.slots.get(&value) {
            return Some(Count::Slot(*slot));
        }
        match self.made.get(&value)? {
            Op::Const(Const::Int(_, value)) => Some(Count::Constant(*value)),
            Op::Dim(view, axis) => self.length(*view, usize::from(*axis), left),
            Op::Binary(op, x, y) => {
                let operands = [self.within(*x, left)?, self.within(*y, left)?];
                Some(Count::Binary(*op, Box::new(operands)))
            }
            _ => None,
        }
    }

    fn length(&self, view: Value, axis: usize, left: &mut usize) -> Option<Count> {
        *left = left.checked_sub(1)?;
        if let Some(slot) = self.slots.get(&view) {
            return Some(Count::Slot(slot + 1 + axis));
        }
        match self.made.get(&view)? {
            Op::Transpose(view, perm) => self.length(*view, usize::from(*perm.get(axis)?), left),
            _ => None,
        }
    }
}
