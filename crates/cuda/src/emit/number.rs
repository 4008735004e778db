//! Numbers in LLVM's IR: the instructions for `i64` arithmetic in 32 bits, and the special registers.

use weft_ir::{BinOp, CmpOp, Geometry, Scalar, UnOp};
use weft_llvm_text::compare_name;
use weft_passes::range::Range;
use weft_thread::{Basic, Numbers, Overflow};

use super::func::Fx;
use super::values::{Num, Res};
use super::writer::{Operand, Ty};

/// What [`super::Facts::narrow`] promises of lengths and of threads along an axis.
pub const NARROW: i64 = weft_runtime::NARROW as i64;

impl<'m> Numbers<'m> for Fx<'_, 'm> {
    fn widened(&mut self, x: Operand, range: Range) -> Operand {
        let name = if range.lo >= 0 { "zext nneg" } else { "sext" };
        self.w.convert(name, x, Ty::I64)
    }

    fn halved(&mut self, x: Operand) -> Operand {
        self.w.convert("trunc", x, Ty::I32)
    }

    fn basic(&mut self, op: Basic, overflow: Overflow, x: Operand, y: Operand) -> Operand {
        let name = match (op, overflow) {
            (Basic::Add, Overflow::Wraps) => "add",
            (Basic::Add, Overflow::Never) => "add nsw",
            (Basic::Sub, Overflow::Wraps) => "sub",
            (Basic::Sub, Overflow::Never) => "sub nsw",
            (Basic::Mul, Overflow::Wraps) => "mul",
            (Basic::Mul, Overflow::Never) => "mul nsw",
        };
        self.w.binary(name, x, y)
    }

    fn short(&mut self, op: BinOp, unsigned: bool, x: Operand, y: Operand) -> Option<Operand> {
        let name = match op {
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
            BinOp::Min => return Some(self.call("smin", &[x, y])),
            BinOp::Max => return Some(self.call("smax", &[x, y])),
            BinOp::Div | BinOp::IntPow | BinOp::CopySign => return None,
        };
        Some(self.w.binary(name, x, y))
    }

    fn select(&mut self, cond: Operand, x: Operand, y: Operand) -> Operand {
        self.w.select(cond, x, y)
    }

    fn compare(&mut self, op: CmpOp, s: Scalar, x: Operand, y: Operand) -> Res<Operand> {
        Ok(self.w.compare(compare_name(op, s), x, y))
    }

    fn compute_unary(&mut self, op: UnOp, s: Scalar, x: Operand) -> Res<Operand> {
        Ok(self.unary_inst(op, s, x))
    }

    fn compute(&mut self, op: BinOp, s: Scalar, a: Num, b: Num, count: Scalar) -> Res<Num> {
        self.binary_inst(op, s, a, b, count)
    }

    fn geometry(&mut self, query: Geometry) -> Num {
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
}

impl Fx<'_, '_> {
    /// A small integer as an `i64`.
    pub fn extended(&mut self, from: Scalar, x: Operand) -> Option<Num> {
        let range = Range::of(from)?;
        if let Some(v) = x.int() {
            return Some(Num::int(v));
        }
        Some(Num::Short(self.w.resize(x, Ty::I32, from.is_signed()), range))
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
}
