//! What threads do together: barriers, operations of a warp, fences, dynamic shared memory.

use weft_ir::{BarrierOp, FenceScope, Layout, Scalar, Space, ViewType, WarpOp};
use weft_passes::range::Range;

use super::func::Fx;
use super::number::Num;
use super::values::{Res, View};
use super::writer::{Operand, Ty};

/// More dynamic shared memory than any block can have.
const MOST_SHARED: i64 = 1 << 20;

impl Fx<'_, '_> {
    pub fn barrier(&mut self) {
        self.effect("barrier.cta.sync.aligned.all", &[Ty::I32.int_const(0)]);
    }

    /// A barrier that tells every thread about a bool of each.
    pub fn barrier_reduce(&mut self, op: BarrierOp, value: Operand) -> Num {
        let (name, ty) = match op {
            BarrierOp::Count => ("popc", Ty::I32),
            BarrierOp::And => ("and", Ty::I1),
            BarrierOp::Or => ("or", Ty::I1),
        };
        let name = format!("barrier.cta.red.{name}.aligned.all");
        Num::Reg(self.nvvm(&name, ty, &[Ty::I32.int_const(0), value]))
    }

    pub fn sync_warp(&mut self, mask: Operand) {
        self.effect("bar.warp.sync", &[mask]);
    }

    pub fn sleep(&mut self, nanoseconds: Operand) {
        self.effect("nanosleep", &[nanoseconds]);
    }

    pub fn fence(&mut self, scope: FenceScope) {
        let scope = match scope {
            FenceScope::Block => "syncscope(\"block\") ",
            FenceScope::Device => "syncscope(\"device\") ",
            FenceScope::System => "",
        };
        self.w.line(format_args!("fence {scope}seq_cst"));
    }

    pub fn active_mask(&mut self) -> Num {
        Num::Reg(self.nvvm("activemask", Ty::I32, &[]))
    }

    pub fn warp(&mut self, op: WarpOp, mask: Operand, value: Operand, lane: Option<Operand>) -> Res<Num> {
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
            WarpOp::ShuffleIdx | WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor => {
                let Some(lane) = lane else {
                    return self.internal("a shuffle from no lane");
                };
                self.shuffle(op, mask, value, lane)
            }
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

    fn shuffle(&mut self, op: WarpOp, mask: Operand, value: Operand, lane: Operand) -> Operand {
        let (name, clamp) = match op {
            WarpOp::ShuffleUp => ("up", 0),
            WarpOp::ShuffleDown => ("down", 31),
            WarpOp::ShuffleXor => ("bfly", 31),
            _ => ("idx", 31),
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
        self.w.bitcast(moved, value.ty)
    }

    /// As many whole elements as the launch has bytes for.
    pub fn dynamic_shared(&mut self, elem: Scalar) -> View {
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
            base: Operand::DYNAMIC_SHARED,
            shape: vec![Num::Short(length, Range::new(0, MOST_SHARED / size))],
            strides: Vec::new(),
            short: true,
            align: elem.size(),
        }
    }

    fn effect(&mut self, name: &str, args: &[Operand]) {
        let call = self.nvvm_call(name, "void", args);
        self.w.line(format_args!("{call}"));
    }
}
