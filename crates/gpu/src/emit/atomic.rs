//! Atomic operations: naga's where the cell's type has them, else read, compute, compare and swap until nobody came between.

use naga::{AtomicFunction, BinaryOperator, Statement};
use weft_ir::{AtomicOp, Index, Part, Scalar, Space, Value};
use weft_thread::{Code, Numbers, Views};

use super::func::Fx;
use super::memory::Place;
use super::numbers::Number;
use super::operand::{Operand, Ty};
use super::storage::StorageId;
use super::values::{Base, Num, Res, View};
use crate::features::Platform;

/// What is done to an element.
#[derive(Clone, Copy)]
struct Change {
    op: AtomicOp,
    s: Scalar,
    new: Operand,
    expected: Option<Operand>,
}

impl Fx<'_> {
    /// Gives the old element.
    pub fn change(&mut self, op: AtomicOp, view: &View, indices: &[Index], value: Value, expected: Option<Value>) -> Res<Num> {
        let (s, part) = self.element(view, indices, Part::Whole)?;
        let change = Change {
            op,
            s,
            new: self.operand(value)?,
            expected: expected.map(|v| self.operand(v)).transpose()?,
        };
        self.check_atomic(s, view.ty.space)?;
        let old = match &view.place.base {
            Base::One(id) => self.atomic_in(*id, change, part, view.ty.space)?,
            Base::Any(ids, which) => {
                let result = self.w.variable(Ty::of(s));
                self.for_each_base(ids, *which, |fx, id| {
                    let old = fx.atomic_in(id, change, part, view.ty.space)?;
                    fx.w.set(result, old);
                    Ok(())
                })?;
                self.w.get(result)
            }
        };
        Ok(Num::Reg(old))
    }

    fn check_atomic(&self, s: Scalar, space: Space) -> Res<()> {
        let features = self.cx.request.features;
        let has = match space {
            _ if s.size() < 8 => true,
            Space::Local => true,
            Space::Shared => features.shared_atomic64,
            _ => features.atomic64,
        };
        if has {
            return Ok(());
        }
        let whose = if space == Space::Shared { " in shared memory" } else { "" };
        let narrower = if s.is_float() { "float32" } else { "int32" };
        self.unsupported(format!(
            "this GPU has no atomic operations on 64-bit elements{whose}, and these are {}: use {narrower}, or device='cpu'",
            s.numpy_name()
        ))
    }

    fn atomic_in(&mut self, id: StorageId, change: Change, part: Operand, space: Space) -> Res<Operand> {
        let place = self.place(id, change.s, part);
        if space == Space::Local {
            let word = self.w.load(place.cell.ty, place.pointer);
            let old = self.part_of(&place, change.s, word);
            let result = self.becomes(change, old)?;
            let word = self.with_part(&place, change.s, word, result);
            self.w.store(place.pointer, word);
            return Ok(old);
        }
        if !place.cell.atomic {
            return self.internal("an atomic operation on cells that are not atomic");
        }
        if let Some(old) = self.native(&place, change) {
            return Ok(old);
        }
        let word = self.by_trial(&place, |fx, word| {
            let old = fx.part_of(&place, change.s, word);
            let result = fx.becomes(change, old)?;
            Ok(fx.with_part(&place, change.s, word, result))
        })?;
        Ok(self.part_of(&place, change.s, word))
    }

    /// By one statement of naga's, if there is one.
    fn native(&mut self, place: &Place, change: Change) -> Option<Operand> {
        let Change { op, s, new, expected } = change;
        let ty = place.cell.ty;
        if place.shift.is_some() || s.is_float() != ty.is_float() && !matches!(op, AtomicOp::Exch | AtomicOp::Cas) {
            return None;
        }
        let fills = s.size() >= 4;
        let value = self.with_part(place, s, new, new);
        let fun = match op {
            AtomicOp::Add if fills => AtomicFunction::Add,
            AtomicOp::Sub if fills => AtomicFunction::Subtract,
            AtomicOp::And => AtomicFunction::And,
            AtomicOp::Or => AtomicFunction::InclusiveOr,
            AtomicOp::Xor => AtomicFunction::ExclusiveOr,
            AtomicOp::Min if ty.is_signed() == s.is_signed() && !s.is_float() => AtomicFunction::Min,
            AtomicOp::Max if ty.is_signed() == s.is_signed() && !s.is_float() => AtomicFunction::Max,
            AtomicOp::Exch => AtomicFunction::Exchange { compare: None },
            AtomicOp::Cas => {
                let expected = self.with_part(place, s, new, expected?);
                return Some(self.native_swap(place, s, expected, value));
            }
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => return None,
            AtomicOp::NanMin | AtomicOp::NanMax | AtomicOp::Inc | AtomicOp::Dec => return None,
        };
        let old = self.w.atomic(place.pointer, fun, value);
        Some(self.part_of(place, s, old))
    }

    fn native_swap(&mut self, place: &Place, s: Scalar, expected: Operand, value: Operand) -> Operand {
        if self.cx.request.features.platform != Platform::Metal {
            let (old, _) = self.w.compare_and_swap(place.pointer, expected, value);
            return self.part_of(place, s, old);
        }
        // Metal's may fail for no reason.
        let result = self.w.variable(place.cell.ty);
        self.w.begin();
        let (old, swapped) = self.w.compare_and_swap(place.pointer, expected, value);
        self.w.set(result, old);
        let differs = self.w.compare(BinaryOperator::NotEqual, old, expected);
        let done = self.w.or(swapped, differs);
        self.w.when(done, Statement::Break);
        let body = self.w.end();
        self.w.endless(body);
        let old = self.w.get(result);
        self.part_of(place, s, old)
    }

    /// The element after the operation.
    fn becomes(&mut self, change: Change, old: Operand) -> Res<Operand> {
        let Change { op, s, new, expected } = change;
        if op == AtomicOp::Exch {
            return Ok(new);
        }
        let mut args = vec![old];
        args.extend(expected);
        args.push(new);
        if !s.is_half() {
            return self.calc(Number::Atomic(op, s), &args);
        }
        let cast = |from, to| Number::Cast { from, to };
        for arg in &mut args {
            *arg = self.calc(cast(s, Scalar::F32), &[*arg])?;
        }
        let result = self.calc(Number::Atomic(op, Scalar::F32), &args)?;
        self.calc(cast(Scalar::F32, s), &[result])
    }

    /// Changes a cell until nobody has changed it in between. Gives what the cell was.
    pub fn by_trial(&mut self, place: &Place, change: impl Fn(&mut Self, Operand) -> Res<Operand>) -> Res<Operand> {
        let seen = self.w.variable(place.cell.ty);
        let first = self.w.load(place.cell.ty, place.pointer);
        self.w.set(seen, first);
        self.w.begin();
        let word = self.w.get(seen);
        let new = change(self, word);
        let body = match new {
            Ok(new) => {
                let (now, swapped) = self.w.compare_and_swap(place.pointer, word, new);
                self.w.set(seen, now);
                self.w.when(swapped, Statement::Break);
                self.w.end()
            }
            Err(error) => {
                self.w.end();
                return Err(error);
            }
        };
        self.w.endless(body);
        Ok(self.w.get(seen))
    }
}
