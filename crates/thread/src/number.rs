//! Numbers while they are written, and `i64` arithmetic in 32 bits where its results are known to fit.
//!
//! Indices are `i64` in the IR, and most of them are small: thread indices, lengths of arrays, what is computed of them. A GPU has 32-bit
//! integer units, so a number whose range is known is held in 32 bits together with the range.

use std::fmt::Debug;

use weft_ir::{Axis, BinOp, CmpOp, Geometry, Op, Scalar, UnOp, Value};
use weft_passes::range::Range;

use super::code::Code;

/// What an instruction reads: a register or a constant.
pub trait Register: Copy + Debug + PartialEq {
    /// An integer constant; what does not fit keeps its low bits.
    fn constant(s: Scalar, v: i64) -> Self;
    fn truth(holds: bool) -> Self;
    /// A float constant by its bits.
    fn float_constant(s: Scalar, bits: u64) -> Self;
    /// The number that an integer constant is.
    fn known(self) -> Option<i64>;
    /// Is it 64 bits wide, and an integer?
    fn is_i64(self) -> bool;
}

/// A scalar of the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Num<O> {
    /// In a register of its own type.
    Reg(O),
    /// An `i64` held in 32 bits, and what it lies between.
    Short(O, Range),
}

impl<O: Register> Num<O> {
    pub fn int(v: i64) -> Num<O> {
        match i32::try_from(v) {
            Ok(_) => Num::Short(O::constant(Scalar::I32, v), Range::new(v, v)),
            Err(_) => Num::Reg(O::constant(Scalar::I64, v)),
        }
    }

    pub fn const_int(self) -> Option<i64> {
        match self {
            Num::Reg(op) | Num::Short(op, _) => op.known(),
        }
    }

    pub fn range(self) -> Option<Range> {
        match self {
            Num::Short(_, range) => Some(range),
            Num::Reg(_) => None,
        }
    }
}

/// What code may rely on of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Lengths of all arrays, and threads of the grid along an axis, are below the limit.
    pub narrow: bool,
    /// `int64`s among the scalar arguments lie between the limit and its negative.
    pub small: bool,
    pub limit: i64,
}

impl Sizes {
    /// Lengths that are below the limit.
    pub const fn lengths(self) -> Range {
        Range::new(0, self.limit - 1)
    }
}

/// Integer arithmetic that the walk itself asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    Add,
    Sub,
    Mul,
}

impl Basic {
    const fn op(self) -> BinOp {
        match self {
            Basic::Add => BinOp::Add,
            Basic::Sub => BinOp::Sub,
            Basic::Mul => BinOp::Mul,
        }
    }
}

/// What becomes of a result that its type does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    Wraps,
    /// There is no such result.
    Never,
}

/// Arithmetic.
pub trait Numbers<'m>: Code<'m> {
    /// An `i64` held in 32 bits, which is no constant, in 64.
    fn widened(&mut self, x: Self::Operand, range: Range) -> Self::Operand;

    /// The low half of an `i64` that is no constant.
    fn halved(&mut self, x: Self::Operand) -> Self::Operand;

    /// Of two signed integers of one width.
    fn basic(&mut self, op: Basic, overflow: Overflow, x: Self::Operand, y: Self::Operand) -> Self::Operand;

    /// `i64` arithmetic in 32 bits whose result is known to fit ([`Range::binary`]). `unsigned`: no operand is below 0. Nothing for operations
    /// of which no range is known.
    fn short(&mut self, op: BinOp, unsigned: bool, x: Self::Operand, y: Self::Operand) -> Option<Self::Operand>;

    fn select(&mut self, cond: Self::Operand, x: Self::Operand, y: Self::Operand) -> Self::Operand;

    fn compare(&mut self, op: CmpOp, s: Scalar, x: Self::Operand, y: Self::Operand) -> Result<Self::Operand, Self::Error>;

    fn compute_unary(&mut self, op: UnOp, s: Scalar, x: Self::Operand) -> Result<Self::Operand, Self::Error>;

    /// What [`Numbers::binary`] has no short way for.
    fn compute(
        &mut self,
        op: BinOp,
        s: Scalar,
        a: Num<Self::Operand>,
        b: Num<Self::Operand>,
        count: Scalar,
    ) -> Result<Num<Self::Operand>, Self::Error>;

    /// A comparison of `i64`s that what they lie between decides, for who does not leave such to the compiler behind.
    fn decided(&self, _op: CmpOp, _a: Num<Self::Operand>, _b: Num<Self::Operand>) -> Option<bool> {
        None
    }

    fn geometry(&mut self, query: Geometry) -> Num<Self::Operand>;

    /// The number in a register of its own type.
    fn take(&mut self, n: Num<Self::Operand>) -> Self::Operand {
        match n {
            Num::Reg(op) => op,
            Num::Short(op, range) => match op.known() {
                Some(v) => Self::Operand::constant(Scalar::I64, v),
                None => self.widened(op, range),
            },
        }
    }

    /// An `i64` in 32 bits, where the program's meaning says that it fits, or what comes of it is cut anyway.
    fn take_short(&mut self, n: Num<Self::Operand>) -> Self::Operand {
        match n {
            Num::Reg(op) if op.is_i64() => match op.known() {
                Some(v) => Self::Operand::constant(Scalar::I32, v),
                None => self.halved(op),
            },
            Num::Reg(op) | Num::Short(op, _) => op,
        }
    }

    /// A value in a register of its own type.
    fn operand(&mut self, value: Value) -> Result<Self::Operand, Self::Error> {
        let n = self.num(value)?;
        Ok(self.take(n))
    }

    fn unary(&mut self, op: UnOp, s: Scalar, a: Num<Self::Operand>) -> Result<Num<Self::Operand>, Self::Error> {
        if op == UnOp::Neg && s == Scalar::I64 {
            return Ok(self.difference(Num::int(0), a));
        }
        let x = self.take(a);
        Ok(Num::Reg(self.compute_unary(op, s, x)?))
    }

    /// `count` is the type of the second operand, which differs for shifts and powers.
    fn binary(
        &mut self,
        op: BinOp,
        s: Scalar,
        a: Num<Self::Operand>,
        b: Num<Self::Operand>,
        count: Scalar,
    ) -> Result<Num<Self::Operand>, Self::Error> {
        if s != Scalar::I64 {
            return self.compute(op, s, a, b, count);
        }
        if let Some(short) = self.short_binary(op, a, b) {
            return Ok(short);
        }
        if let Some(short) = self.short_division(op, a, b)? {
            return Ok(short);
        }
        if op == BinOp::Sub {
            return Ok(self.difference(a, b));
        }
        let same = [(BinOp::Add, 0), (BinOp::Mul, 1)];
        if b.const_int().is_some_and(|n| same.contains(&(op, n))) {
            return Ok(a);
        }
        self.compute(op, s, a, b, count)
    }

    fn difference(&mut self, a: Num<Self::Operand>, b: Num<Self::Operand>) -> Num<Self::Operand> {
        if let Some(short) = self.short_binary(BinOp::Sub, a, b) {
            return short;
        }
        let (x, y) = (self.take(a), self.take(b));
        Num::Reg(self.basic(Basic::Sub, Overflow::Wraps, x, y))
    }

    /// A sum, difference or product of lengths and offsets, which does not wrap.
    fn whole(&mut self, op: Basic, a: Num<Self::Operand>, b: Num<Self::Operand>) -> Num<Self::Operand> {
        if let Some(short) = self.short_binary(op.op(), a, b) {
            return short;
        }
        let (x, y) = (self.take(a), self.take(b));
        Num::Reg(self.basic(op, Overflow::Never, x, y))
    }

    /// Arithmetic of two `i64`s in 32 bits, where the result is known to fit.
    fn short_binary(&mut self, op: BinOp, a: Num<Self::Operand>, b: Num<Self::Operand>) -> Option<Num<Self::Operand>> {
        let (Num::Short(x, r), Num::Short(y, s)) = (a, b) else {
            return None;
        };
        let range = Range::binary(op, r, s)?;
        if let Some(v) = range.constant() {
            return Some(Num::int(v));
        }
        let (left, right) = neutral(op);
        if left.is_some() && x.known() == left {
            return Some(Num::Short(y, range));
        }
        if right.is_some() && y.known() == right {
            return Some(Num::Short(x, range));
        }
        Some(Num::Short(self.short(op, r.lo >= 0 && s.lo >= 0, x, y)?, range))
    }

    /// Division of two `i64`s in 32 bits, where the result is known to fit.
    fn short_division(
        &mut self,
        op: BinOp,
        a: Num<Self::Operand>,
        b: Num<Self::Operand>,
    ) -> Result<Option<Num<Self::Operand>>, Self::Error> {
        let (Num::Short(x, r), Num::Short(y, s)) = (a, b) else {
            return Ok(None);
        };
        let Some(range) = quotient_range(op, r, s) else {
            return Ok(None);
        };
        let result = self.compute(op, Scalar::I32, Num::Reg(x), Num::Reg(y), Scalar::I32)?;
        Ok(Some(Num::Short(self.take_short(result), range)))
    }

    fn compare_nums(&mut self, op: CmpOp, s: Scalar, a: Num<Self::Operand>, b: Num<Self::Operand>) -> Result<Self::Operand, Self::Error> {
        if s == Scalar::I64
            && let Some(known) = self.decided(op, a, b)
        {
            return Ok(Self::Operand::truth(known));
        }
        if let (Num::Short(x, _), Num::Short(y, _)) = (a, b) {
            return self.compare(op, Scalar::I32, x, y);
        }
        let (x, y) = (self.take(a), self.take(b));
        self.compare(op, s, x, y)
    }

    fn select_num(&mut self, cond: Self::Operand, a: Num<Self::Operand>, b: Num<Self::Operand>) -> Num<Self::Operand> {
        if let (Num::Short(x, r), Num::Short(y, s)) = (a, b) {
            return Num::Short(self.select(cond, x, y), r.join(s));
        }
        let (x, y) = (self.take(a), self.take(b));
        Num::Reg(self.select(cond, x, y))
    }

    /// Whole-grid thread numbers: along an axis they are few in narrow code, whatever their factors could be.
    fn grid_product(&mut self, a: Value, b: Value) -> Option<Num<Self::Operand>> {
        let (of_a, of_b) = (self.geometry_of(a)?, self.geometry_of(b)?);
        if !self.sizes.narrow || !is_grid_product(of_a, of_b) {
            return None;
        }
        let (Ok(a), Ok(b)) = (self.num(a), self.num(b)) else {
            return None;
        };
        Some(self.grid_count(a, b))
    }

    fn geometry_of(&self, value: Value) -> Option<Geometry> {
        let Some(Op::Geometry(query)) = self.defs[value.index()] else {
            return None;
        };
        Some(*query)
    }

    /// This thread's number along an axis of the whole grid.
    fn grid_thread(&mut self, axis: Axis) -> Num<Self::Operand> {
        let (block, dim) = (self.geometry(Geometry::BlockIdx(axis)), self.geometry(Geometry::BlockDim(axis)));
        let start = self.grid_count(block, dim);
        let thread = self.geometry(Geometry::ThreadIdx(axis));
        self.whole(Basic::Add, start, thread)
    }

    /// Blocks times threads of a block.
    fn grid_count(&mut self, blocks: Num<Self::Operand>, threads: Num<Self::Operand>) -> Num<Self::Operand> {
        let Sizes { narrow, limit, .. } = self.sizes;
        if let (Num::Short(x, r), Num::Short(y, s), true) = (blocks, threads, narrow)
            && let Some(product) = self.short_product(x, y)
        {
            return Num::Short(product, Range::new(r.lo * s.lo, limit));
        }
        self.whole(Basic::Mul, blocks, threads)
    }

    /// Of two numbers that are not negative.
    fn short_product(&mut self, x: Self::Operand, y: Self::Operand) -> Option<Self::Operand> {
        match (x.known(), y.known()) {
            (Some(a), Some(b)) => Some(Self::Operand::constant(Scalar::I32, a * b)),
            (_, Some(1)) => Some(x),
            (Some(1), _) => Some(y),
            _ => self.short(BinOp::Mul, true, x, y),
        }
    }
}

/// The constants that leave the other operand as it is: on the left, on the right.
const fn neutral(op: BinOp) -> (Option<i64>, Option<i64>) {
    match op {
        BinOp::Add | BinOp::Or | BinOp::Xor => (Some(0), Some(0)),
        BinOp::Mul => (Some(1), Some(1)),
        BinOp::Sub | BinOp::Shl | BinOp::Shr => (None, Some(0)),
        BinOp::FloorDiv => (None, Some(1)),
        BinOp::Div | BinOp::Mod | BinOp::Rem | BinOp::IntPow => (None, None),
        BinOp::And | BinOp::Min | BinOp::Max | BinOp::CopySign => (None, None),
    }
}

/// What a quotient or remainder of numbers in these ranges lies between, where 32 bits hold it.
fn quotient_range(op: BinOp, a: Range, b: Range) -> Option<Range> {
    let most = a.hi.max(-a.lo);
    match op {
        BinOp::FloorDiv => (a.lo > Range::I32.lo).then(|| Range::new(-most, most)),
        BinOp::Mod => Some(Range::new((b.lo + 1).min(0), (b.hi - 1).max(0))),
        BinOp::Rem => {
            let most = most.min(b.hi.max(-b.lo) - 1).max(0);
            Some(Range::new(if a.lo < 0 { -most } else { 0 }, if a.hi > 0 { most } else { 0 }))
        }
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::IntPow | BinOp::And | BinOp::Or | BinOp::Xor => None,
        BinOp::Shl | BinOp::Shr | BinOp::Min | BinOp::Max | BinOp::CopySign => None,
    }
}

/// Blocks, or the number of one, and the threads of a block along the same axis.
fn is_grid_product(a: Geometry, b: Geometry) -> bool {
    let blocks = |query| match query {
        Geometry::BlockIdx(axis) | Geometry::GridDim(axis) => Some(axis),
        Geometry::ThreadIdx(_) | Geometry::BlockDim(_) | Geometry::LaneId => None,
    };
    let threads = |query| match query {
        Geometry::BlockDim(axis) => Some(axis),
        Geometry::ThreadIdx(_) | Geometry::BlockIdx(_) | Geometry::GridDim(_) | Geometry::LaneId => None,
    };
    let meets = |a, b| blocks(a).is_some() && blocks(a) == threads(b);
    meets(a, b) || meets(b, a)
}
