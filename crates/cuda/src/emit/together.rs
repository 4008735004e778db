//! Warp operations, and dynamic shared memory.

use weft_ir::{Layout, Scalar, Space, ViewType, WarpOp};
use weft_passes::range::Range;
use weft_thread::Code;

use super::func::Fx;
use super::values::{Num, Place, Res, View};
use super::writer::{Operand, Ty};

/// More dynamic shared memory than any block can have.
const MOST_SHARED: i64 = 1 << 20;

impl Fx<'_, '_> {
    pub fn warp_inst(&mut self, op: WarpOp, mask: Operand, value: Operand, lane: Option<Operand>) -> Res<Num> {
        let vote = |fx: &mut Self, name: &str, ty| fx.nvvm(&format!("vote.{name}.sync"), ty, &[mask, value]);
        Ok(Num::Reg(match op {
            WarpOp::All => vote(self, "all", Ty::I1),
            WarpOp::Any => vote(self, "any", Ty::I1),
            WarpOp::Equal => vote(self, "uni", Ty::I1),
            WarpOp::Ballot => vote(self, "ballot", Ty::I32),
            WarpOp::MatchAny => {
                let bits = self.at_least_word(value);
                self.nvvm(&format!("match.any.sync.{}", bits.ty), Ty::I32, &[mask, bits])
            }
            WarpOp::MatchAll => self.match_all(mask, value),
            WarpOp::ShuffleIdx => self.shuffle("idx", 31, mask, value, lane)?,
            WarpOp::ShuffleUp => self.shuffle("up", 0, mask, value, lane)?,
            WarpOp::ShuffleDown => self.shuffle("down", 31, mask, value, lane)?,
            WarpOp::ShuffleXor => self.shuffle("bfly", 31, mask, value, lane)?,
        }))
    }

    /// The bits as an integer of 32 or 64 bits.
    fn at_least_word(&mut self, value: Operand) -> Operand {
        let bits = self.w.bitcast(value, value.ty.int());
        match bits.ty {
            Ty::I64 => bits,
            _ => self.w.resize(bits, Ty::I32, false),
        }
    }

    fn match_all(&mut self, mask: Operand, value: Operand) -> Operand {
        let bits = self.at_least_word(value);
        let name = format!("llvm.nvvm.match.all.sync.{}p", bits.ty);
        let pair = "{ i32, i1 }";
        self.cx.declare(format!("declare {pair} @{name}(i32, {})", bits.ty));
        let both = self.w.inst(Ty::I32, format_args!("call {pair} @{name}({mask}, {bits})"));
        self.w.inst(Ty::I32, format_args!("extractvalue {pair} {}, 0", both.bare()))
    }

    fn shuffle(&mut self, name: &str, clamp: i64, mask: Operand, value: Operand, lane: Option<Operand>) -> Res<Operand> {
        let Some(lane) = lane else {
            return self.internal("a shuffle from no lane");
        };
        let name = format!("shfl.sync.{name}.i32");
        let word = |fx: &mut Self, bits| fx.nvvm(&name, Ty::I32, &[mask, bits, lane, Ty::I32.int_const(clamp)]);
        let bits = self.w.bitcast(value, value.ty.int());
        let moved = if bits.ty == Ty::I64 {
            let (low, high) = (
                self.w.resize(bits, Ty::I32, false),
                self.w.binary("lshr", bits, Ty::I64.int_const(32)),
            );
            let high = self.w.resize(high, Ty::I32, false);
            let (low, high) = (word(self, low), word(self, high));
            let (low, high) = (self.w.resize(low, Ty::I64, false), self.w.resize(high, Ty::I64, false));
            let high = self.w.binary("shl", high, Ty::I64.int_const(32));
            self.w.binary("or disjoint", high, low)
        } else {
            let wide = self.w.resize(bits, Ty::I32, false);
            let moved = word(self, wide);
            self.w.resize(moved, bits.ty, false)
        };
        Ok(self.w.bitcast(moved, value.ty))
    }

    /// As many whole elements as the launch has bytes for.
    pub fn dynamic_memory(&mut self, elem: Scalar) -> View {
        self.cx.dynamic_shared = true;
        let bytes = self.special_register("dynamic_smem_size", Range::new(0, MOST_SHARED));
        let size = elem.size() as i64;
        let length = self.w.binary("udiv", bytes, Ty::I32.int_const(size));
        let ty = ViewType {
            elem,
            rank: 1,
            layout: Layout::C,
            space: Space::Shared,
            writable: true,
        };
        View {
            ty,
            place: Place {
                base: Operand::DYNAMIC_SHARED,
                short: true,
                align: elem.size(),
            },
            shape: vec![Num::Short(length, Range::new(0, MOST_SHARED / size))],
            strides: Vec::new(),
        }
    }

    /// An intrinsic of NVPTX that gives nothing.
    pub fn effect(&mut self, name: &str, args: &[Operand]) {
        let call = self.nvvm_call(name, "void", args);
        self.w.line(format_args!("{call}"));
    }
}
