//! Views by storages and numbers of parts in them: variables of locals, and where elements lie.

use weft_ir::{Index, Local, Part, Scalar, Type, ViewType};
use weft_passes::range::Range;
use weft_thread::{Code, Numbers, Overflow, Views};

use super::func::Fx;
use super::operand::{Operand, Ty, Variable};
use super::storage::StorageId;
use super::values::{Base, Num, Place, PlaceSlot, Res, View, parts};

impl<'m> Views<'m> for Fx<'m> {
    fn variable(&mut self, s: Scalar) -> Variable {
        self.w.variable(Ty::of(s))
    }

    fn get(&mut self, variable: Variable) -> Operand {
        self.w.get(variable)
    }

    fn set(&mut self, variable: Variable, value: Operand) {
        self.w.set(variable, value);
    }

    fn range_of(&self, local: Local) -> Option<Range> {
        self.reach_of(local)
    }

    fn note_set(&mut self, local: Local, n: Num) {
        if self.f.locals[local.index()].ty == Type::Scalar(Scalar::I64) {
            self.locals.found[local.index()].join(n.range());
            self.known.set(local);
        }
    }

    fn place_slot(&mut self, local: Local, _ty: ViewType) -> PlaceSlot {
        let storages = self.memory.storages.locals.get(&local).cloned().unwrap_or_default();
        PlaceSlot {
            which: (storages.len() > 1).then(|| self.w.variable(Ty::U32)),
            storages: storages.into(),
            offset: self.w.variable(Ty::I32),
        }
    }

    fn get_place(&mut self, _ty: ViewType, slot: &PlaceSlot) -> Place {
        let base = match slot.which {
            Some(which) => Base::Any(slot.storages.clone(), self.w.get(which)),
            None => Base::One(slot.storages.first().copied().unwrap_or(StorageId(0))),
        };
        let offset = self.w.get(slot.offset);
        Place { base, offset }
    }

    fn set_place(&mut self, slot: &PlaceSlot, place: &Place) {
        if let Some(which) = slot.which {
            self.w.set(which, number_of(&place.base));
        }
        self.w.set(slot.offset, place.offset);
    }

    fn element_stride(&self, ty: ViewType) -> i64 {
        parts(ty)
    }

    fn steps(&mut self, stride: Num, n: Num, _overflow: Overflow) -> Res<Num> {
        let (n, stride) = (self.take_short(n), self.take_short(stride));
        Ok(wrapping(self.mul32(n, stride)))
    }

    fn moved(&mut self, place: Place, at: Num, stride: Num) -> Place {
        let (at, stride) = (self.take_short(at), self.take_short(stride));
        let distance = self.mul32(at, stride);
        let offset = self.add32(place.offset, distance);
        Place { offset, ..place }
    }

    fn part_place(&mut self, _ty: ViewType, place: &Place, part: Part) -> Place {
        let offset = match part {
            Part::Im => self.add32(place.offset, Ty::I32.int(1)),
            Part::Whole | Part::Re => place.offset,
        };
        Place {
            base: place.base.clone(),
            offset,
        }
    }

    fn select_place(&mut self, cond: Operand, a: &Place, b: &Place) -> Place {
        Place {
            base: self.select_base(cond, &a.base, &b.base),
            offset: self.w.select(cond, a.offset, b.offset),
        }
    }

    fn is_short(&self, view: &View, axis: Option<Num>) -> bool {
        let is_short = |n: &Num| n.range().is_some();
        match axis {
            Some(length) => is_short(&length),
            None => self.has_short_lengths(view.ty) || view.shape.iter().all(is_short),
        }
    }

    /// In 32 bits, whatever the index.
    fn index(&mut self, index: Index, length: Num) -> Res<Num> {
        let at = self.num(index.value)?;
        let x = self.take_short(at);
        if !index.wrap || at.range().is_some_and(|r| r.lo >= 0) {
            return Ok(wrapping(x));
        }
        let n = self.take_short(length);
        let moved = self.add32(x, n);
        if at.range().is_some_and(|r| r.hi < 0) {
            return Ok(wrapping(moved));
        }
        // Of a short axis every index fits 32 bits.
        let short = at.range().is_some() || length.range().is_some();
        let tested = if short { x } else { self.take(at) };
        let negative = self.w.compare(naga::BinaryOperator::Less, tested, tested.ty.int(0));
        Ok(wrapping(self.w.select(negative, moved, x)))
    }

    fn contiguous(&mut self, view: &View, axes: impl Iterator<Item = (Num, Num)>) -> Operand {
        let mut number = Ty::I32.int(0);
        for (index, length) in axes {
            let (index, length) = (self.take_short(index), self.take_short(length));
            let rows = self.mul32(length, number);
            number = self.add32(rows, index);
        }
        let part = self.mul32(number, Ty::I32.int(parts(view.ty)));
        self.add32(view.place.offset, part)
    }

    fn strided(&mut self, view: &View, at: &[Num]) -> Operand {
        let mut number = Ty::I32.int(0);
        for (index, stride) in at.iter().zip(&view.strides) {
            let (index, stride) = (self.take_short(*index), self.take_short(*stride));
            let distance = self.mul32(index, stride);
            number = self.add32(number, distance);
        }
        self.add32(view.place.offset, number)
    }

    fn imaginary(&mut self, _s: Scalar, address: Operand) -> Operand {
        self.add32(address, Ty::I32.int(1))
    }

    fn load(&mut self, view: &View, s: Scalar, address: Operand) -> Res<Operand> {
        self.load_part(&view.place.base, s, address)
    }

    fn store(&mut self, view: &View, s: Scalar, address: Operand, value: Operand) -> Res<()> {
        self.store_part(&view.place.base, s, address, value)
    }
}

impl Fx<'_> {
    fn select_base(&mut self, cond: Operand, a: &Base, b: &Base) -> Base {
        if let (Base::One(x), Base::One(y)) = (a, b)
            && x == y
        {
            return a.clone();
        }
        let mut ids: Vec<StorageId> = storages_of(a).into_iter().chain(storages_of(b)).collect();
        ids.sort_unstable();
        ids.dedup();
        let which = self.w.select(cond, number_of(a), number_of(b));
        Base::Any(ids.into(), which)
    }

    pub fn signed_word(&mut self, word: super::Word) -> Operand {
        let op = self.word(word);
        self.w.begin_early();
        let signed = self.w.bitcast(op, Ty::I32);
        self.w.end_early();
        signed
    }
}

/// Of numbers that wrap in 32 bits and are right where they are of an element that exists.
pub fn wrapping(op: Operand) -> Num {
    Num::Short(op, Range::I32)
}

/// The number of a base's storage.
fn number_of(base: &Base) -> Operand {
    match base {
        Base::One(id) => Ty::U32.int(id.0.into()),
        Base::Any(_, which) => *which,
    }
}

fn storages_of(base: &Base) -> Vec<StorageId> {
    match base {
        Base::One(id) => vec![*id],
        Base::Any(ids, _) => ids.to_vec(),
    }
}
