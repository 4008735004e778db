//! Scalarization and spilling of lanes: the loop over the lanes that are on, and how single lanes of a vector are read in it.

use weft_ir::{Index, Op, Scalar};

use super::func::Fx;
use super::gang::Mask;
use super::module::Unroll;
use super::values::{Num, Res, Val, ViewVal, elem};
use super::writer::{Elem, Operand, Ty};

/// A number whose lanes can be read one at a time.
#[derive(Clone, Copy, Debug)]
pub enum Spilled {
    /// From a scalar.
    Computed(Num),
    /// From memory: the address, how a lane lies there, how it sits in a register.
    Memory(Operand, Elem, Elem),
    /// From a vector of words, each of one lane or of several: the vector, its type, how a lane lies in it, how it sits in a register.
    Words(Operand, Ty, Elem, Elem),
}

/// A byte offset whose lanes can be read one at a time.
#[derive(Clone, Copy, Debug)]
pub struct SpilledOffset {
    all: Spilled,
    /// A further part: an index of a narrow type, how it is made wide, and the stride.
    narrow: Option<(Spilled, Scalar, Operand)>,
}

impl Fx<'_, '_> {
    /// Writes `body` in a loop over the lanes that are on, first to last; in scalar code once.
    pub fn each_lane(&mut self, body: &mut dyn FnMut(&mut Self, Operand) -> Res<()>) -> Res<()> {
        if self.gang.lanes == 0 {
            return body(self, Operand::Int(0));
        }
        if self.gang.mask == Mask::Full {
            return self.every_lane(body);
        }
        let bits = self.mask_bits();
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, bits, slot);
        let (head, done) = (self.w.label(), self.w.label());
        self.w.place(head);
        let left = self.w.load(Ty::I64, slot);
        let lane = self.trailing_zeros(left);
        body(self, lane)?;
        let less = self.add_scalar(left, Operand::Int(-1));
        let rest = self.scalar_int("and", left, less);
        self.w.store(Ty::I64, rest, slot);
        let more = self.w.inst(format_args!("icmp ne {}, 0", rest.typed(Ty::I64)));
        self.w.cond_br(more, head, done);
        self.w.place(done);
        Ok(())
    }

    /// The loop where all lanes are on: unrolled if it does not call anything.
    fn every_lane(&mut self, body: &mut dyn FnMut(&mut Self, Operand) -> Res<()>) -> Res<()> {
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, Operand::Int(0), slot);
        let (head, done) = (self.w.label(), self.w.label());
        self.w.place(head);
        let lane = self.w.load(Ty::I64, slot);
        let start = self.w.body.len();
        body(self, lane)?;
        let calls = ["call void", "(ptr %ctx"].iter().any(|call| self.w.body[start..].contains(call));
        let next = self.w.inst(format_args!("add nsw i64 {}, 1", lane.of(Ty::I64)));
        self.w.store(Ty::I64, next, slot);
        let more = self.w.inst(format_args!("icmp ne i64 {}, {}", next.of(Ty::I64), self.gang.lanes));
        if calls {
            self.w.cond_br(more, head, done);
        } else {
            let id = self.cx.marked_loop(Unroll::Whole);
            self.w.end(format_args!(
                "br i1 {}, label %{head}, label %{done}, !llvm.loop !{id}",
                more.of(Ty::BOOL)
            ));
        }
        self.w.place(done);
        Ok(())
    }

    /// Puts a number where single lanes of it can be read.
    pub fn spill(&mut self, n: Num, e: Elem) -> Spilled {
        let Num::Varying(op) = n else {
            return Spilled::Computed(n);
        };
        let (memory, ty) = self.in_memory(op, e);
        let slot = self.w.alloca(ty);
        self.w.store(ty, memory, slot);
        Spilled::Memory(slot, ty.elem, e)
    }

    /// The same for what is read in a loop that calls nothing: where all lanes are on that is unrolled, and lanes are taken from registers.
    pub fn spread(&mut self, n: Num, e: Elem) -> Spilled {
        match n {
            Num::Varying(op) if self.gang.mask == Mask::Full && self.gang.lanes > 0 => self.words(op, e),
            _ => self.spill(n, e),
        }
    }

    /// A bool of a lane takes a byte.
    pub fn in_memory(&mut self, op: Operand, e: Elem) -> (Operand, Ty) {
        if e != Elem::I1 {
            return (op, self.gang.vector_ty(e));
        }
        let wide = self.gang.vector_ty(Elem::I8);
        (self.convert("zext", op, self.gang.vector_ty(e), wide), wide)
    }

    /// Small integers go to scalar registers in words of 64 bits: that is one instruction for all lanes of a word.
    fn words(&mut self, op: Operand, e: Elem) -> Spilled {
        let (lanes, ty) = self.in_memory(op, e);
        let per_word = (64 / ty.elem.bits()).min(ty.lanes);
        if ty.elem.is_float() || per_word == 1 {
            return Spilled::Words(lanes, ty, ty.elem, e);
        }
        let words = Ty {
            elem: match per_word * ty.elem.bits() {
                16 => Elem::I16,
                32 => Elem::I32,
                64 => Elem::I64,
                _ => return Spilled::Words(lanes, ty, ty.elem, e),
            },
            lanes: ty.lanes / per_word,
        };
        Spilled::Words(self.convert("bitcast", lanes, ty, words), words, ty.elem, e)
    }

    pub fn lane_of(&mut self, spilled: Spilled, lane: Operand) -> Operand {
        let (value, memory, register) = match spilled {
            Spilled::Computed(n) => return self.lane_number(n, lane),
            Spilled::Memory(slot, memory, register) => {
                let ptr = self.lane_slot(slot, memory, lane);
                (self.w.load(Ty::scalar(memory), ptr), memory, register)
            }
            Spilled::Words(words, ty, memory, register) => (self.lane_of_words(words, ty, memory, lane), memory, register),
        };
        if memory == register {
            return value;
        }
        self.w.inst(format_args!("icmp ne {}, 0", value.typed(Ty::scalar(memory))))
    }

    fn lane_of_words(&mut self, words: Operand, ty: Ty, memory: Elem, lane: Operand) -> Operand {
        let word = Ty::scalar(ty.elem);
        let shift = (ty.elem.bits() / memory.bits()).ilog2();
        let at = match shift {
            0 => lane,
            _ => self.scalar_int("lshr", lane, Operand::Int(shift.into())),
        };
        let found = self
            .w
            .inst(format_args!("extractelement {}, {}", words.typed(ty), at.typed(Ty::I64)));
        if shift == 0 {
            return found;
        }
        let place = self.scalar_int("and", lane, Operand::Int((1 << shift) - 1));
        let bits = self.scalar_int("mul", place, Operand::Int(memory.bits().into()));
        let bits = self.resize_int(bits, Ty::I64, word, false);
        let moved = self.plain("lshr", word, found, bits);
        self.resize_int(moved, word, Ty::scalar(memory), false)
    }

    /// The offset of an element. An index that is a narrow number made wide is made wide after its lanes are taken apart.
    pub fn spread_offset(&mut self, view: &ViewVal, indices: &[Index]) -> Res<SpilledOffset> {
        if indices.len() != view.shape.len() {
            return self.internal("an access with the wrong number of indices");
        }
        let (mut offset, mut narrow) = (view.offset, None);
        for (axis, index) in indices.iter().enumerate() {
            if let (None, Num::Uniform(stride), Some((n, s))) = (narrow, view.strides[axis], self.narrow_index(*index)) {
                narrow = Some((self.spread(n, elem(s)), s, stride));
                continue;
            }
            let at = self.index(*index, view.shape[axis])?;
            let bytes = self.mul(at, view.strides[axis]);
            offset = self.add(offset, bytes);
        }
        let all = self.spread(offset, Elem::I64);
        Ok(SpilledOffset { all, narrow })
    }

    /// The small integer that an index is made of.
    fn narrow_index(&self, index: Index) -> Option<(Num, Scalar)> {
        let Some(Op::Cast(from)) = self.known.defs[index.value.index()] else {
            return None;
        };
        let s = self.f.ty(*from).scalar().filter(|s| s.is_int() && s.bits() < 64)?;
        match &self.known.vals[from.index()] {
            Some(Val::Num(n @ Num::Varying(_))) if !index.wrap => Some((*n, s)),
            _ => None,
        }
    }

    pub fn offset_of(&mut self, offset: SpilledOffset, lane: Operand) -> Operand {
        let at = self.lane_of(offset.all, lane);
        let Some((index, s, stride)) = offset.narrow else {
            return at;
        };
        let index = self.lane_of(index, lane);
        let wide = self.resize_int(index, Ty::scalar(elem(s)), Ty::I64, s.is_signed());
        let bytes = self.mul_scalar(wide, stride);
        self.add_scalar(at, bytes)
    }

    pub fn lane_slot(&mut self, slot: Operand, memory: Elem, lane: Operand) -> Operand {
        self.w.inst(format_args!(
            "getelementptr {}, {}, {}",
            memory.name(),
            slot.typed(Ty::PTR),
            lane.typed(Ty::I64)
        ))
    }

    /// The lanes from `first` on, as many as a gang has now: fewer than when the number was spilled.
    pub fn part_of(&mut self, spilled: Spilled, first: Operand) -> Res<Num> {
        let (slot, memory, register) = match spilled {
            Spilled::Computed(n @ Num::Affine(_, step)) => return Ok(Num::Affine(self.lane_number(n, first), step)),
            Spilled::Computed(n @ Num::Strided(_, step)) => return Ok(Num::Strided(self.lane_number(n, first), step)),
            Spilled::Computed(n) => return Ok(n),
            Spilled::Memory(slot, memory, register) => (slot, memory, register),
            Spilled::Words(..) => return self.internal("a part of what is not in memory"),
        };
        let (ptr, ty) = (self.lane_slot(slot, memory, first), self.gang.vector_ty(memory));
        let value = self.w.load(ty, ptr);
        if memory == register {
            return Ok(Num::Varying(value));
        }
        let bits = self.w.inst(format_args!("icmp ne {}, zeroinitializer", value.typed(ty)));
        Ok(Num::Varying(bits))
    }

    /// What a number that is no vector is in one lane.
    fn lane_number(&mut self, n: Num, lane: Operand) -> Operand {
        match n {
            Num::Affine(base, step) => {
                let over = self.mul_scalar(lane, Operand::Int(step));
                self.add_scalar(base, over)
            }
            Num::Strided(base, step) => {
                let over = self.mul_scalar(lane, step);
                self.add_scalar(base, over)
            }
            Num::Uniform(op) | Num::Varying(op) => op,
        }
    }
}
