//! Atomic operations: the hardware's where it has them, else read, compute, compare and swap until nobody came between.

use weft_ir::{AtomicOp, BinOp, CmpOp, Index, Part, Scalar, Space, Value};
use weft_thread::{Code, Numbers, Views};

use super::func::Fx;
use super::values::{Address, Num, Res, View};
use super::writer::{Operand, Ty};

/// Bytes of the smallest piece that all GPUs compare and swap. What LLVM makes of smaller ones first reads the word plainly, which is a
/// race with other threads' writes.
const WORD: usize = 4;

/// One element that is changed.
struct Place {
    s: Scalar,
    ptr: Operand,
    align: usize,
    /// Who may change it too, as LLVM says it.
    scope: &'static str,
}

impl Fx<'_, '_> {
    /// Gives the old element.
    pub fn change(&mut self, op: AtomicOp, view: &View, indices: &[Index], value: Value, expected: Option<Value>) -> Res<Num> {
        let (s, Address { ptr, align }) = self.element(view, indices, Part::Whole)?;
        let place = Place {
            s,
            ptr,
            align,
            scope: match view.ty.space {
                Space::Shared => "syncscope(\"block\")",
                _ => "syncscope(\"device\")",
            },
        };
        let new = self.operand(value)?;
        let expected = expected.map(|v| self.operand(v)).transpose()?;
        let old = match view.ty.space {
            Space::Local => self.atomic_alone(op, &place, new, expected)?,
            _ if s.size() < WORD => self.atomic_in_word(op, &place, new, expected)?,
            _ => match self.native(op, s, new) {
                Some((name, operand)) => self.atomic_rmw(name, &place, operand),
                None => self.atomic_by_trial(op, &place, new, expected)?,
            },
        };
        Ok(Num::Reg(old))
    }

    /// The instruction that does it, and its operand.
    fn native(&mut self, op: AtomicOp, s: Scalar, new: Operand) -> Option<(&'static str, Operand)> {
        let name = match op {
            AtomicOp::Add if s.is_float() => "fadd",
            AtomicOp::Sub if s.is_float() => return Some(("fadd", self.w.inst(new.ty, format_args!("fneg {new}")))),
            AtomicOp::Exch => {
                let stored = self.stored_as(s, new);
                return Some(("xchg", self.w.bitcast(stored, stored.ty.int())));
            }
            AtomicOp::And => return Some(("and", self.stored_as(s, new))),
            AtomicOp::Or => return Some(("or", self.stored_as(s, new))),
            AtomicOp::Xor => return Some(("xor", self.stored_as(s, new))),
            _ if !s.is_int() => return None,
            AtomicOp::Add => "add",
            AtomicOp::Sub => return Some(("add", self.w.binary("sub", new.ty.int_const(0), new))),
            AtomicOp::Min if s.is_signed() => "min",
            AtomicOp::Max if s.is_signed() => "max",
            AtomicOp::Min => "umin",
            AtomicOp::Max => "umax",
            AtomicOp::Inc => "uinc_wrap",
            AtomicOp::Dec => "udec_wrap",
            AtomicOp::Cas | AtomicOp::NanMin | AtomicOp::NanMax => return None,
        };
        Some((name, new))
    }

    fn atomic_rmw(&mut self, name: &str, place: &Place, operand: Operand) -> Operand {
        let Place { s, ptr, align, scope } = place;
        let old = self.w.inst(
            operand.ty,
            format_args!("atomicrmw {name} {ptr}, {operand} {scope} monotonic, align {align}"),
        );
        self.bits_as(*s, old)
    }

    /// The element after the operation.
    fn applied(&mut self, op: AtomicOp, s: Scalar, old: Operand, new: Operand, expected: Option<Operand>) -> Res<Operand> {
        let binary = match op {
            AtomicOp::Add => BinOp::Add,
            AtomicOp::Sub => BinOp::Sub,
            AtomicOp::And => BinOp::And,
            AtomicOp::Or => BinOp::Or,
            AtomicOp::Xor => BinOp::Xor,
            AtomicOp::Exch => return Ok(new),
            AtomicOp::Min | AtomicOp::Max | AtomicOp::NanMin | AtomicOp::NanMax => return self.least_or_most(op, s, old, new),
            AtomicOp::Inc => {
                let over = self.w.compare("icmp uge", old, new);
                let more = self.w.binary("add", old, old.ty.int_const(1));
                return Ok(self.w.select(over, old.ty.int_const(0), more));
            }
            AtomicOp::Dec => {
                let (none, over) = (
                    self.w.compare("icmp eq", old, old.ty.int_const(0)),
                    self.w.compare("icmp ugt", old, new),
                );
                let wraps = self.w.binary("or", none, over);
                let less = self.w.binary("add", old, old.ty.int_const(-1));
                return Ok(self.w.select(wraps, new, less));
            }
            AtomicOp::Cas => {
                let Some(expected) = expected else {
                    return self.internal("a comparison with nothing");
                };
                let (a, b) = (self.w.bitcast(old, old.ty.int()), self.w.bitcast(expected, old.ty.int()));
                let same = self.compare_nums(CmpOp::Eq, Scalar::U64, Num::Reg(a), Num::Reg(b))?;
                return Ok(self.w.select(same, new, old));
            }
        };
        let result = self.binary(binary, s, Num::Reg(old), Num::Reg(new), s)?;
        Ok(self.take(result))
    }

    /// The new value where it is less or greater than the element, or where the element is a missing value.
    fn least_or_most(&mut self, op: AtomicOp, s: Scalar, old: Operand, new: Operand) -> Res<Operand> {
        let least = matches!(op, AtomicOp::Min | AtomicOp::NanMin);
        let how = if least { CmpOp::Gt } else { CmpOp::Lt };
        let better = self.compare_nums(how, s, Num::Reg(old), Num::Reg(new))?;
        let kept = self.w.select(better, new, old);
        if !matches!(op, AtomicOp::NanMin | AtomicOp::NanMax) {
            return Ok(kept);
        }
        let missing = self.compare_nums(CmpOp::Ne, s, Num::Reg(old), Num::Reg(old))?;
        Ok(self.w.select(missing, new, kept))
    }

    /// On memory of one thread.
    fn atomic_alone(&mut self, op: AtomicOp, place: &Place, new: Operand, expected: Option<Operand>) -> Res<Operand> {
        let (s, memory) = (place.s, Ty::in_memory(place.s));
        let found = self
            .w
            .inst(memory, format_args!("load {memory}, {}, align {}", place.ptr, place.align));
        let old = self.loaded_as(s, found);
        let result = self.applied(op, s, old, new, expected)?;
        let stored = self.stored_as(s, result);
        self.w.line(format_args!("store {stored}, {}, align {}", place.ptr, place.align));
        Ok(old)
    }

    fn atomic_by_trial(&mut self, op: AtomicOp, place: &Place, new: Operand, expected: Option<Operand>) -> Res<Operand> {
        let Place { s, ptr, align, scope } = *place;
        let bits = Ty::in_memory(s).int();
        if let (AtomicOp::Cas, Some(expected)) = (op, expected) {
            let (expected, new) = (self.stored_as(s, expected), self.stored_as(s, new));
            let (expected, new) = (self.w.bitcast(expected, bits), self.w.bitcast(new, bits));
            let (old, _) = self.compare_and_swap(place, expected, new);
            return Ok(self.bits_as(s, old));
        }
        let slot = self.w.alloca(bits);
        let first = self
            .w
            .inst(bits, format_args!("load atomic {bits}, {ptr} {scope} monotonic, align {align}"));
        self.w.store(first, slot);
        let (head, done) = (self.w.label(), self.w.label());
        self.w.place(head);
        let seen = self.w.load(bits, slot);
        let old = self.bits_as(s, seen);
        let result = self.applied(op, s, old, new, expected)?;
        let result = self.stored_as(s, result);
        let result = self.w.bitcast(result, bits);
        let (now, swapped) = self.compare_and_swap(place, seen, result);
        self.w.store(now, slot);
        self.w.cond_br(swapped, done, head);
        self.w.place(done);
        Ok(old)
    }

    /// An element smaller than a word: the word it is in is read, changed there, compared and swapped.
    fn atomic_in_word(&mut self, op: AtomicOp, place: &Place, new: Operand, expected: Option<Operand>) -> Res<Operand> {
        let (s, scope) = (place.s, place.scope);
        let bits = Ty::in_memory(s).int();
        let address = self.w.convert("ptrtoint", place.ptr, Ty::I64);
        let start = self.w.binary("and", address, Ty::I64.int_const(-(WORD as i64)));
        let word = Place {
            s: Scalar::U32,
            ptr: self.w.convert("inttoptr", start, place.ptr.ty),
            align: WORD,
            scope,
        };
        let byte = self.w.binary("and", address, Ty::I64.int_const(WORD as i64 - 1));
        let shift = self.w.binary("shl", byte, Ty::I64.int_const(3));
        let shift = self.w.resize(shift, Ty::I32, false);
        let own = self.w.binary("shl", Ty::I32.int_const((1 << s.bits()) - 1), shift);
        let others = self.w.binary("xor", own, Ty::I32.int_const(-1));

        let slot = self.w.alloca(Ty::I32);
        let first = self.w.inst(
            Ty::I32,
            format_args!("load atomic i32, {} {scope} monotonic, align {WORD}", word.ptr),
        );
        self.w.store(first, slot);
        let (head, done) = (self.w.label(), self.w.label());
        self.w.place(head);
        let seen = self.w.load(Ty::I32, slot);
        let moved = self.w.binary("lshr", seen, shift);
        let found = self.w.resize(moved, bits, false);
        let old = self.bits_as(s, found);
        let result = self.applied(op, s, old, new, expected)?;
        let result = self.stored_as(s, result);
        let result = self.w.bitcast(result, bits);
        let wide = self.w.resize(result, Ty::I32, false);
        let placed = self.w.binary("shl", wide, shift);
        let kept = self.w.binary("and", seen, others);
        let merged = self.w.binary("or", kept, placed);
        let (now, swapped) = self.compare_and_swap(&word, seen, merged);
        self.w.store(now, slot);
        self.w.cond_br(swapped, done, head);
        self.w.place(done);
        Ok(old)
    }

    /// What the element was, and whether it has been replaced.
    fn compare_and_swap(&mut self, place: &Place, expected: Operand, new: Operand) -> (Operand, Operand) {
        let Place { ptr, align, scope, .. } = place;
        let bits = new.ty;
        let pair = self.w.inst(
            bits,
            format_args!("cmpxchg {ptr}, {expected}, {new} {scope} monotonic monotonic, align {align}"),
        );
        let part = |fx: &mut Self, ty: Ty, i: u32| fx.w.inst(ty, format_args!("extractvalue {{ {bits}, i1 }} {}, {i}", pair.bare()));
        (part(self, bits, 0), part(self, Ty::I1, 1))
    }

    fn bits_as(&mut self, s: Scalar, bits: Operand) -> Operand {
        let memory = self.w.bitcast(bits, Ty::in_memory(s));
        self.loaded_as(s, memory)
    }
}
