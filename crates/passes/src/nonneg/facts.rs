//! What is known where control stands: ranges of values, narrowed by the conditions that hold there, and which value is at most which.
//!
//! Facts about values hold for the rest of the block in which they were learnt; [`Facts::mark`] and [`Facts::forget`] bracket it.

use std::collections::HashMap;

use weft_ir::{BinOp, CmpOp, Const, Function, Op, Scalar, Value};

use super::range::Range;

/// A local after an `if` whose sides left different values in it.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub cond: Value,
    pub then: Value,
    pub other: Value,
}

/// `less <= more + slack`, for values as they are without constants added.
#[derive(Clone, Copy, Debug)]
struct AtMost {
    less: Value,
    more: Value,
    slack: i128,
}

pub struct Facts<'f> {
    func: &'f Function,
    ops: Vec<Option<&'f Op>>,
    /// `None`: nothing has reached the value yet.
    ranges: Vec<Option<Range>>,
    /// The value that a value is equal to and that facts are kept under.
    same: Vec<Value>,
    lengths: HashMap<(Value, u8), Value>,
    pub choices: HashMap<Value, Choice>,
    narrowed: Vec<(Value, Option<Range>)>,
    orders: Vec<AtMost>,
}

impl<'f> Facts<'f> {
    pub fn new(func: &'f Function) -> Facts<'f> {
        Facts {
            func,
            ops: vec![None; func.values.len()],
            ranges: vec![None; func.values.len()],
            same: (0..func.values.len() as u32).map(Value).collect(),
            lengths: HashMap::new(),
            choices: HashMap::new(),
            narrowed: Vec::new(),
            orders: Vec::new(),
        }
    }

    pub fn mark(&self) -> (usize, usize) {
        (self.narrowed.len(), self.orders.len())
    }

    pub fn forget(&mut self, (narrowed, orders): (usize, usize)) {
        for (value, range) in self.narrowed.drain(narrowed..).rev() {
            self.ranges[value.index()] = range;
        }
        self.orders.truncate(orders);
    }

    pub fn canonical(&self, value: Value) -> Value {
        self.same[value.index()]
    }

    pub fn range(&self, value: Value) -> Option<Range> {
        self.ranges[self.canonical(value).index()]
    }

    pub fn scalar(&self, value: Value) -> Scalar {
        self.func.ty(value).scalar().unwrap_or(Scalar::F64)
    }

    pub fn define(&mut self, value: Value, op: Option<&'f Op>, range: Option<Range>) {
        self.ops[value.index()] = op;
        self.same[value.index()] = value;
        self.ranges[value.index()] = range;
    }

    pub fn define_same(&mut self, value: Value, as_value: Value) {
        self.same[value.index()] = self.canonical(as_value);
    }

    /// A length is the same wherever it is asked for.
    pub fn define_length(&mut self, value: Value, op: &'f Op, view: Value, axis: u8) {
        let key = (self.canonical(view), axis);
        let known = *self.lengths.entry(key).or_insert(value);
        if known == value {
            self.define(value, Some(op), Some(Range::LENGTH));
        } else {
            self.define_same(value, known);
        }
    }

    /// Takes in that `cond` is `truth`.
    pub fn assume(&mut self, cond: Value, truth: bool) {
        let cond = self.canonical(cond);
        if let Some(Choice { cond: first, then, other }) = self.choices.get(&cond).copied() {
            self.assume_choice(first, then, other, truth);
            return;
        }
        match self.ops[cond.index()] {
            Some(Op::Compare(op, a, b)) if self.scalar(*a).is_int() => {
                let op = if truth { *op } else { op.opposite() };
                self.compare(op, *a, *b);
            }
            Some(Op::Binary(BinOp::And, a, b)) if truth => {
                self.assume(*a, true);
                self.assume(*b, true);
            }
            Some(Op::Binary(BinOp::Or, a, b)) if !truth => {
                self.assume(*a, false);
                self.assume(*b, false);
            }
            Some(Op::Unary(weft_ir::UnOp::Not, a)) => self.assume(*a, !truth),
            Some(Op::Select(first, then, other)) => self.assume_choice(*first, *then, *other, truth),
            _ => {}
        }
    }

    /// `cond ? then : other` is `truth`. If one of the sides cannot be, the other one was taken.
    fn assume_choice(&mut self, cond: Value, then: Value, other: Value, truth: bool) {
        if self.is_bool(other, !truth) || (self.canonical(other) == self.canonical(cond) && truth) {
            self.assume(cond, true);
            self.assume(then, truth);
        } else if self.is_bool(then, !truth) || (self.canonical(then) == self.canonical(cond) && !truth) {
            self.assume(cond, false);
            self.assume(other, truth);
        }
    }

    /// The truth of a condition, where ranges tell it.
    pub fn decided(&self, cond: Value) -> Option<bool> {
        match self.ops[self.canonical(cond).index()]? {
            Op::Compare(op, a, b) if self.scalar(*a).is_int() => self.range(*a)?.compared(*op, self.range(*b)?),
            Op::Unary(weft_ir::UnOp::Not, a) => self.decided(*a).map(|truth| !truth),
            _ => None,
        }
    }

    fn is_bool(&self, value: Value, constant: bool) -> bool {
        matches!(self.ops[self.canonical(value).index()], Some(Op::Const(Const::Bool(b))) if *b == constant)
    }

    fn compare(&mut self, op: CmpOp, a: Value, b: Value) {
        match op {
            CmpOp::Lt => self.at_most(a, b, -1),
            CmpOp::Le => self.at_most(a, b, 0),
            CmpOp::Gt => self.at_most(b, a, -1),
            CmpOp::Ge => self.at_most(b, a, 0),
            CmpOp::Eq => {
                self.at_most(a, b, 0);
                self.at_most(b, a, 0);
            }
            CmpOp::Ne => {
                self.differ(a, b);
                self.differ(b, a);
            }
        }
    }

    /// Takes in that `a <= b + slack`.
    pub fn at_most(&mut self, a: Value, b: Value, slack: i128) {
        let (Some(x), Some(y)) = (self.range(a), self.range(b)) else {
            return;
        };
        self.narrow(a, i128::MIN, y.hi + slack);
        self.narrow(b, x.lo - slack, i128::MAX);
        let ((less, plus), (more, minus)) = (self.without_constant(a), self.without_constant(b));
        let slack = slack + minus - plus;
        self.orders.push(AtMost { less, more, slack });
    }

    fn differ(&mut self, a: Value, b: Value) {
        let (Some(x), Some(y)) = (self.range(a), self.range(b).and_then(Range::single)) else {
            return;
        };
        if x.lo == y {
            self.narrow(a, y + 1, i128::MAX);
        }
        if x.hi == y {
            self.narrow(a, i128::MIN, y - 1);
        }
    }

    /// Takes in that `value` is in `lo..=hi`, and what follows for the value it was computed from.
    fn narrow(&mut self, value: Value, lo: i128, hi: i128) {
        let value = self.canonical(value);
        let Some(old) = self.ranges[value.index()] else {
            return;
        };
        let Some(new) = old.meet(lo, hi) else {
            return;
        };
        if new == old {
            return;
        }
        self.narrowed.push((value, Some(old)));
        self.ranges[value.index()] = Some(new);
        match self.ops[value.index()] {
            // An integer conversion that keeps every value.
            Some(Op::Cast(a)) if self.scalar(*a).is_int() && self.range(*a).is_some_and(|r| r.lo >= old.lo && r.hi <= old.hi) => {
                self.narrow(*a, new.lo, new.hi);
            }
            Some(Op::Binary(BinOp::Add, a, b)) => {
                if let Some(c) = self.range(*b).and_then(Range::single) {
                    self.narrow_term(*a, new, c);
                } else if let Some(c) = self.range(*a).and_then(Range::single) {
                    self.narrow_term(*b, new, c);
                }
            }
            Some(Op::Binary(BinOp::Sub, a, b)) => {
                if let Some(c) = self.range(*b).and_then(Range::single) {
                    self.narrow_term(*a, new, -c);
                }
            }
            _ => {}
        }
    }

    /// `term + constant` is in `sum`. Where the sum may have wrapped, its range is the whole type and says nothing about the term.
    fn narrow_term(&mut self, term: Value, sum: Range, constant: i128) {
        let full = Range::full(self.scalar(term));
        let lo = if sum.lo == full.lo { i128::MIN } else { sum.lo - constant };
        let hi = if sum.hi == full.hi { i128::MAX } else { sum.hi - constant };
        if self
            .range(term)
            .is_some_and(|r| full.lo <= r.lo + constant && r.hi + constant <= full.hi)
        {
            self.narrow(term, lo, hi);
        }
    }

    /// The least that `a - b` can be by the orders known.
    pub fn least_difference(&self, a: Value, b: Value) -> Option<i128> {
        let ((a, plus), (b, minus)) = (self.without_constant(a), self.without_constant(b));
        let same = (a == b).then_some(0);
        let known = self.orders.iter().filter(|order| order.less == b && order.more == a);
        known.map(|order| -order.slack).chain(same).max().map(|least| least + plus - minus)
    }

    /// The value and the constant that add up to `value`.
    fn without_constant(&self, value: Value) -> (Value, i128) {
        let mut value = self.canonical(value);
        let mut constant = 0;
        loop {
            let (term, c) = match self.ops[value.index()] {
                Some(Op::Binary(BinOp::Add, a, b)) => match (self.constant(*a), self.constant(*b)) {
                    (_, Some(c)) => (*a, c),
                    (Some(c), _) => (*b, c),
                    _ => return (value, constant),
                },
                Some(Op::Binary(BinOp::Sub, a, b)) => match self.constant(*b) {
                    Some(c) => (*a, -c),
                    None => return (value, constant),
                },
                _ => return (value, constant),
            };
            if self.scalar(value) != Scalar::I64 {
                return (value, constant);
            }
            value = self.canonical(term);
            constant += c;
        }
    }

    /// A small literal.
    fn constant(&self, value: Value) -> Option<i128> {
        match self.ops[self.canonical(value).index()] {
            Some(Op::Const(Const::Int(_, c))) if c.unsigned_abs() <= 1 << 16 => Some((*c).into()),
            _ => None,
        }
    }
}
