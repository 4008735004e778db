//! Numbers while they are written, and `i64` arithmetic in 32 bits where its results are known to fit.
//!
//! Indices are `i64` in the IR, and most of them are small: thread indices, lengths of arrays, what is computed of them. A GPU has 32-bit
//! integer units, so a number whose range is known is held in 32 bits together with the range.

use weft_ir::{Axis, BinOp, CmpOp, Geometry, Op, Scalar, Value};
use weft_llvm_text::compare_name;
use weft_passes::range::Range;

use super::func::Fx;
use super::writer::{Operand, Ty};

/// A scalar of the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Num {
    /// In a register of its own type.
    Reg(Operand),
    /// An `i64` held in 32 bits, and what it lies between.
    Short(Operand, Range),
}

/// What [`super::Facts::narrow`] promises of lengths and of threads along an axis.
pub const NARROW: i64 = weft_runtime::NARROW as i64;
/// Lengths in narrow code.
pub const LENGTH: Range = Range::new(0, NARROW - 1);

impl Num {
    pub fn int(v: i64) -> Num {
        match i32::try_from(v) {
            Ok(_) => Num::Short(Ty::I32.int_const(v), Range::new(v, v)),
            Err(_) => Num::Reg(Ty::I64.int_const(v)),
        }
    }

    pub fn const_int(self) -> Option<i64> {
        match self {
            Num::Reg(op) | Num::Short(op, _) => op.int(),
        }
    }

    pub fn range(self) -> Option<Range> {
        match self {
            Num::Short(_, range) => Some(range),
            Num::Reg(_) => None,
        }
    }
}

impl Fx<'_, '_> {
    /// The number in a register of its own type.
    pub fn take(&mut self, n: Num) -> Operand {
        match n {
            Num::Reg(op) => op,
            Num::Short(op, range) => match op.int() {
                Some(v) => Ty::I64.int_const(v),
                None if range.lo >= 0 => self.w.convert("zext nneg", op, Ty::I64),
                None => self.w.convert("sext", op, Ty::I64),
            },
        }
    }

    /// An `i64` in 32 bits, where the program's meaning says that it fits.
    pub fn take_short(&mut self, n: Num) -> Operand {
        match n {
            Num::Short(op, _) => op,
            Num::Reg(op) if op.ty == Ty::I64 => match op.int() {
                Some(v) => Ty::I32.int_const(i64::from(v as i32)),
                None => self.w.convert("trunc", op, Ty::I32),
            },
            Num::Reg(op) => op,
        }
    }

    /// Arithmetic of two `i64`s in 32 bits, where the result is known to fit.
    pub fn short_binary(&mut self, op: BinOp, a: Num, b: Num) -> Option<Num> {
        let (Num::Short(x, r), Num::Short(y, s)) = (a, b) else {
            return None;
        };
        let range = Range::binary(op, r, s)?;
        if let Some(v) = range.constant() {
            return Some(Num::int(v));
        }
        let same = |n: Num| n.const_int();
        match (op, same(a), same(b)) {
            (BinOp::Add | BinOp::Or | BinOp::Xor, Some(0), _) | (BinOp::Mul, Some(1), _) => return Some(Num::Short(y, range)),
            (BinOp::Add | BinOp::Or | BinOp::Xor | BinOp::Sub | BinOp::Shl | BinOp::Shr, _, Some(0))
            | (BinOp::Mul | BinOp::FloorDiv, _, Some(1)) => {
                return Some(Num::Short(x, range));
            }
            _ => {}
        }
        let inst = short_inst(op, r.lo >= 0 && s.lo >= 0)?;
        Some(Num::Short(self.short(inst, x, y), range))
    }

    fn short(&mut self, inst: Short, x: Operand, y: Operand) -> Operand {
        match inst {
            Short::Inst(name) => self.w.binary(name, x, y),
            Short::Call(name) => self.call(name, &[x, y]),
        }
    }

    /// Whole-grid thread numbers: along an axis they are few in narrow code, whatever their factors could be.
    pub fn grid_product(&mut self, a: Value, b: Value) -> Option<Num> {
        let (of_a, of_b) = (self.geometry_of(a)?, self.geometry_of(b)?);
        let axis = match (of_a, of_b) {
            (Geometry::BlockIdx(x) | Geometry::GridDim(x), Geometry::BlockDim(y)) => (x == y).then_some(x),
            (Geometry::BlockDim(x), Geometry::BlockIdx(y) | Geometry::GridDim(y)) => (x == y).then_some(x),
            _ => None,
        };
        axis.filter(|_| self.cx.facts.narrow)?;
        let (Ok(Num::Short(x, r)), Ok(Num::Short(y, s))) = (self.num(a), self.num(b)) else {
            return None;
        };
        let lo = r.lo * s.lo;
        Some(Num::Short(self.w.binary("mul nuw nsw", x, y), Range::new(lo, NARROW)))
    }

    fn geometry_of(&self, value: Value) -> Option<Geometry> {
        match self.defs[value.index()] {
            Some(Op::Geometry(g)) => Some(*g),
            _ => None,
        }
    }

    /// A small integer as an `i64`.
    pub fn widened(&mut self, from: Scalar, x: Operand) -> Option<Num> {
        let range = Range::of(from)?;
        if let Some(v) = x.int() {
            return Some(Num::int(v));
        }
        Some(Num::Short(self.w.resize(x, Ty::I32, from.is_signed()), range))
    }

    pub fn select_num(&mut self, cond: Operand, a: Num, b: Num) -> Num {
        match (a, b) {
            (Num::Short(x, r), Num::Short(y, s)) => Num::Short(self.w.select(cond, x, y), r.join(s)),
            _ => {
                let (x, y) = (self.take(a), self.take(b));
                Num::Reg(self.w.select(cond, x, y))
            }
        }
    }

    pub fn compare_nums(&mut self, op: CmpOp, s: Scalar, a: Num, b: Num) -> Operand {
        match (a, b) {
            (Num::Short(x, _), Num::Short(y, _)) => self.w.compare(compare_name(op, Scalar::I32), x, y),
            _ => {
                let (x, y) = (self.take(a), self.take(b));
                self.w.compare(compare_name(op, s), x, y)
            }
        }
    }

    /// A sum, difference or product of lengths and offsets, which does not wrap.
    pub fn whole(&mut self, op: BinOp, a: Num, b: Num) -> Num {
        if let Some(short) = self.short_binary(op, a, b) {
            return short;
        }
        let (x, y) = (self.take(a), self.take(b));
        let name = match op {
            BinOp::Add => "add nsw",
            BinOp::Sub => "sub nsw",
            _ => "mul nsw",
        };
        Num::Reg(self.w.binary(name, x, y))
    }

    pub fn geometry(&mut self, query: Geometry) -> Num {
        const AXES: [&str; 3] = ["x", "y", "z"];
        // The hardware's limits, by axis.
        let (threads, blocks) = ([1024, 1024, 64], [i64::from(i32::MAX), 65535, 65535]);
        let bound = match self.f.flags.max_threads {
            0 => i64::MAX,
            n => n.into(),
        };
        let threads = threads.map(|n: i64| n.min(bound));
        let (name, range) = match query {
            Geometry::ThreadIdx(axis) => ("tid", Range::new(0, threads[axis as usize] - 1)),
            Geometry::BlockDim(axis) => ("ntid", Range::new(1, threads[axis as usize])),
            Geometry::BlockIdx(axis) => ("ctaid", Range::new(0, blocks[axis as usize] - 1)),
            Geometry::GridDim(axis) => ("nctaid", Range::new(1, blocks[axis as usize])),
            Geometry::LaneId => ("laneid", Range::new(0, 31)),
        };
        let register = match query {
            Geometry::ThreadIdx(axis) | Geometry::BlockDim(axis) | Geometry::BlockIdx(axis) | Geometry::GridDim(axis) => {
                format!("{name}.{}", AXES[axis as usize])
            }
            Geometry::LaneId => name.to_owned(),
        };
        Num::Short(self.special_register(&register, range), range)
    }

    pub fn special_register(&mut self, name: &str, range: Range) -> Operand {
        if let Some(op) = self.registers.get(name) {
            return *op;
        }
        let (lo, hi) = (range.lo, range.hi + 1);
        // A range of i32 written as LLVM has it: its end may be 2^31, which is the least number.
        let hi = i64::from(hi as u32 as i32);
        self.cx.declare(format!("declare i32 @llvm.nvvm.read.ptx.sreg.{name}()"));
        let op = self.w.entry_inst(
            Ty::I32,
            format_args!("call range(i32 {lo}, {hi}) i32 @llvm.nvvm.read.ptx.sreg.{name}()"),
        );
        self.registers.insert(name.to_owned(), op);
        op
    }

    /// This thread's number along an axis of the whole grid.
    pub fn grid_thread(&mut self, axis: Axis) -> Num {
        let (block, dim) = (self.geometry(Geometry::BlockIdx(axis)), self.geometry(Geometry::BlockDim(axis)));
        let start = self.grid_count(block, dim);
        let thread = self.geometry(Geometry::ThreadIdx(axis));
        self.whole(BinOp::Add, start, thread)
    }

    /// Blocks times threads of a block.
    pub fn grid_count(&mut self, blocks: Num, threads: Num) -> Num {
        match (blocks, threads) {
            (Num::Short(x, r), Num::Short(y, s)) if self.cx.facts.narrow => {
                Num::Short(self.w.binary("mul nuw nsw", x, y), Range::new(r.lo * s.lo, NARROW))
            }
            _ => self.whole(BinOp::Mul, blocks, threads),
        }
    }
}

/// How LLVM computes it.
enum Short {
    Inst(&'static str),
    Call(&'static str),
}

/// The instruction for `i64` arithmetic in 32 bits whose results fit ([`Range::binary`]). `unsigned`: no operand is below 0.
fn short_inst(op: BinOp, unsigned: bool) -> Option<Short> {
    Some(Short::Inst(match op {
        BinOp::Add if unsigned => "add nuw nsw",
        BinOp::Add => "add nsw",
        BinOp::Sub => "sub nsw",
        BinOp::Mul if unsigned => "mul nuw nsw",
        BinOp::Mul => "mul nsw",
        // They have a range only where no operand is below 0.
        BinOp::FloorDiv => "udiv",
        BinOp::Mod | BinOp::Rem => "urem",
        BinOp::And => "and",
        BinOp::Or => "or",
        BinOp::Xor => "xor",
        BinOp::Shl => "shl nsw",
        BinOp::Shr => "ashr",
        BinOp::Min => return Some(Short::Call("smin")),
        BinOp::Max => return Some(Short::Call("smax")),
        _ => return None,
    }))
}
