//! Atomic operations, lane after lane. A block runs on one thread, so that only global memory needs the hardware's atomics.

use weft_ir::{AtomicOp, BinOp, CmpOp, Index, Scalar, Space, Value};

use super::func::Fx;
use super::half::moved_as;
use super::values::{Num, Res, ViewVal, elem, memory_elem};
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    pub fn atomic(
        &mut self,
        op: AtomicOp,
        view: &ViewVal,
        indices: &[Index],
        value: Value,
        expected: Option<Value>,
        used: bool,
    ) -> Res<Num> {
        let s = moved_as(op, self.scalar(value)?);
        let given = self.num(value)?;
        let awaited = match expected {
            Some(v) => self.num(v)?,
            None => Num::int(0),
        };
        let (register, memory) = (elem(s), memory_elem(s));
        let results = used.then(|| self.result_slot(memory));
        let offset = self.spread_offset(view, indices)?;
        let (given, awaited) = (self.spread(given, register), self.spread(awaited, register));
        let own = self.is_own_memory(view);
        let base = view.base;
        self.each_lane(&mut |fx, lane| {
            let at = fx.offset_of(offset, lane);
            let (new, old) = (fx.lane_of(given, lane), fx.lane_of(awaited, lane));
            let ptr = fx.w.offset(base, at);
            let found = fx.atomic_at(own, op, s, ptr, new, old)?;
            let Some(results) = results else {
                return Ok(());
            };
            let stored = fx.stored_as(Num::Uniform(found), Ty::scalar(memory), s);
            let to = if fx.gang.lanes == 0 {
                results
            } else {
                fx.lane_slot(results, memory, lane)
            };
            fx.w.store(Ty::scalar(memory), stored, to);
            Ok(())
        })?;
        let Some(results) = results else {
            return Ok(Num::int(0));
        };
        let ty = Ty {
            elem: memory,
            lanes: self.gang.lanes,
        };
        let found = self.w.load(ty, results);
        let found = match s {
            Scalar::Bool => self.w.inst(format_args!("icmp ne {}, {}", found.typed(ty), Operand::Int(0).of(ty))),
            _ => found,
        };
        Ok(self.wrap(found, ty))
    }

    pub fn result_slot(&mut self, memory: Elem) -> Operand {
        let ty = Ty {
            elem: memory,
            lanes: self.gang.lanes,
        };
        let slot = self.w.alloca(ty);
        let zero = if memory.is_float() { Operand::F64(0) } else { Operand::Int(0) };
        self.w.store(ty, zero, slot);
        slot
    }

    /// The element after the operation; of 16-bit floats by way of float32.
    fn applied(&mut self, op: AtomicOp, s: Scalar, found: Operand, new: Operand, expected: Operand) -> Res<Operand> {
        if s.is_half() {
            let [found, new] = [found, new].map(|x| self.widen_half(s, x, Ty::scalar(Elem::I16)));
            let wide = self.applied(op, Scalar::F32, found, new, expected)?;
            return Ok(self.narrow_half(s, wide, Ty::scalar(Elem::F32)));
        }
        let (f, n) = (Num::Uniform(found), Num::Uniform(new));
        let result = match op {
            AtomicOp::Add => self.binary(BinOp::Add, s, f, n, s)?,
            AtomicOp::Sub => self.binary(BinOp::Sub, s, f, n, s)?,
            AtomicOp::And => self.binary(BinOp::And, s, f, n, s)?,
            AtomicOp::Or => self.binary(BinOp::Or, s, f, n, s)?,
            AtomicOp::Xor => self.binary(BinOp::Xor, s, f, n, s)?,
            AtomicOp::Exch => n,
            AtomicOp::Min => self.better(CmpOp::Gt, s, f, n),
            AtomicOp::Max => self.better(CmpOp::Lt, s, f, n),
            AtomicOp::NanMin => self.better_or_missing(CmpOp::Gt, s, f, n),
            AtomicOp::NanMax => self.better_or_missing(CmpOp::Lt, s, f, n),
            AtomicOp::Inc => {
                let more = self.binary(BinOp::Add, s, f, Num::int(1), s)?;
                let over = self.compare(CmpOp::Ge, s, f, n);
                self.select(s, over, Num::int(0), more)
            }
            AtomicOp::Dec => {
                let less = self.binary(BinOp::Sub, s, f, Num::int(1), s)?;
                let (zero, over) = (self.compare(CmpOp::Eq, s, f, Num::int(0)), self.compare(CmpOp::Gt, s, f, n));
                let least = self.select(s, over, n, less);
                self.select(s, zero, n, least)
            }
            AtomicOp::Cas => {
                let same = self.compare(CmpOp::Eq, s, f, Num::Uniform(expected));
                self.select(s, same, n, f)
            }
        };
        Ok(self.take(result, Ty::scalar(elem(s))))
    }

    /// The new one where what was found compares so to it.
    fn better(&mut self, worse: CmpOp, s: Scalar, found: Num, new: Num) -> Num {
        let better = self.compare(worse, s, found, new);
        self.select(s, better, new, found)
    }

    /// The same where a NaN that was found is a missing value.
    fn better_or_missing(&mut self, worse: CmpOp, s: Scalar, found: Num, new: Num) -> Num {
        let kept = self.better(worse, s, found, new);
        let missing = self.compare(CmpOp::Ne, s, found, found);
        self.select(s, missing, new, kept)
    }

    /// Does no other thread write to memory of this kind while this one runs?
    pub fn is_own_memory(&self, view: &ViewVal) -> bool {
        view.ty.space != Space::Global || self.f.flags.one_thread
    }

    /// One element's operation: what was there before.
    pub fn atomic_at(&mut self, own: bool, op: AtomicOp, s: Scalar, ptr: Operand, new: Operand, expected: Operand) -> Res<Operand> {
        match own {
            true => self.atomic_alone(op, s, ptr, new, expected),
            false => self.atomic_global(op, s, ptr, new, expected),
        }
    }

    fn atomic_alone(&mut self, op: AtomicOp, s: Scalar, ptr: Operand, new: Operand, expected: Operand) -> Res<Operand> {
        let found = self.read(s, ptr);
        let result = self.applied(op, s, found, new, expected)?;
        let memory = Ty::scalar(memory_elem(s));
        let stored = self.stored_as(Num::Uniform(result), memory, s);
        self.w.store(memory, stored, ptr);
        Ok(found)
    }

    fn read(&mut self, s: Scalar, ptr: Operand) -> Operand {
        let memory = Ty::scalar(memory_elem(s));
        let found = self.w.load(memory, ptr);
        if s == Scalar::Bool {
            self.w.inst(format_args!("icmp ne {}, 0", found.typed(memory)))
        } else {
            found
        }
    }

    fn atomic_global(&mut self, op: AtomicOp, s: Scalar, ptr: Operand, new: Operand, expected: Operand) -> Res<Operand> {
        let register = elem(s);
        let name = match op {
            AtomicOp::Add if register.is_float() => "fadd",
            AtomicOp::Sub if register.is_float() => "fsub",
            AtomicOp::Add if s.is_int() => "add",
            AtomicOp::Sub if s.is_int() => "sub",
            AtomicOp::Min if s.is_signed() => "min",
            AtomicOp::Max if s.is_signed() => "max",
            AtomicOp::Min if s.is_int() => "umin",
            AtomicOp::Max if s.is_int() => "umax",
            AtomicOp::And if s.is_int() => "and",
            AtomicOp::Or if s.is_int() => "or",
            AtomicOp::Xor if s.is_int() => "xor",
            AtomicOp::Exch if s != Scalar::Bool => "xchg",
            AtomicOp::Add
            | AtomicOp::Sub
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Exch => {
                return self.atomic_by_trial(op, s, ptr, new, expected);
            }
            AtomicOp::NanMin | AtomicOp::NanMax | AtomicOp::Inc | AtomicOp::Dec | AtomicOp::Cas => {
                return self.atomic_by_trial(op, s, ptr, new, expected);
            }
        };
        let (ty, align) = (Ty::scalar(elem(s)), s.size());
        Ok(self.w.inst(format_args!(
            "atomicrmw {name} {}, {} monotonic, align {align}",
            ptr.typed(Ty::PTR),
            new.typed(ty)
        )))
    }

    /// Reads, computes, and writes if nobody wrote in between; else tries again.
    fn atomic_by_trial(&mut self, op: AtomicOp, s: Scalar, ptr: Operand, new: Operand, expected: Operand) -> Res<Operand> {
        let (register, memory) = (Ty::scalar(elem(s)), Ty::scalar(memory_elem(s)));
        let bits = Ty::scalar(match s.size() {
            1 => Elem::I8,
            2 => Elem::I16,
            4 => Elem::I32,
            _ => Elem::I64,
        });
        let slot = self.w.alloca(bits);
        let first = self.w.inst(format_args!(
            "load atomic {bits}, {} monotonic, align {}",
            ptr.typed(Ty::PTR),
            s.size()
        ));
        self.w.store(bits, first, slot);
        let (head, done) = (self.w.label(), self.w.label());
        self.w.place(head);
        let seen = self.w.load(bits, slot);
        let found = match s {
            Scalar::Bool => self.w.inst(format_args!("icmp ne {}, 0", seen.typed(bits))),
            _ if bits == register => seen,
            _ => self.convert("bitcast", seen, bits, register),
        };
        let result = self.applied(op, s, found, new, expected)?;
        let result = self.stored_as(Num::Uniform(result), memory, s);
        let result = if memory == bits {
            result
        } else {
            self.convert("bitcast", result, memory, bits)
        };
        let pair = self.w.inst(format_args!(
            "cmpxchg {}, {}, {} monotonic monotonic, align {}",
            ptr.typed(Ty::PTR),
            seen.typed(bits),
            result.typed(bits),
            s.size()
        ));
        let now = self.w.inst(format_args!("extractvalue {{ {bits}, i1 }} {}, 0", pair.of(bits)));
        let swapped = self.w.inst(format_args!("extractvalue {{ {bits}, i1 }} {}, 1", pair.of(bits)));
        self.w.store(bits, now, slot);
        self.w.cond_br(swapped, done, head);
        self.w.place(done);
        Ok(found)
    }
}
