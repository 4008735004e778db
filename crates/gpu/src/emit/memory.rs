//! Loads and stores of parts of elements in storages, whatever their cells are.

use naga::{
    AddressSpace, ArraySize, BinaryOperator, Expression, GlobalVariable, Handle, MemoryDecorations, ResourceBinding, Span, Statement,
    StorageAccess, SwitchCase, SwitchValue, TypeInner,
};
use weft_ir::{Scalar, Space};
use weft_thread::Code;

use super::func::Fx;
use super::operand::{Operand, Ty};
use super::storage::{Cell, Home, StorageId};
use super::values::{Base, Res};

/// Where in a storage a part lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub pointer: Handle<Expression>,
    pub cell: Cell,
    /// Bits of the cell below it, if it is smaller than the cell.
    pub shift: Option<Operand>,
}

/// A storage's variable.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    pub pointer: Handle<Expression>,
    pub length: Option<u32>,
}

impl Fx<'_> {
    pub fn load_part(&mut self, base: &Base, s: Scalar, part: Operand) -> Res<Operand> {
        match base {
            Base::One(id) => self.load_from(*id, s, part),
            Base::Any(ids, which) => {
                let result = self.w.variable(Ty::of(s));
                self.for_each_base(ids, *which, |fx, id| {
                    let loaded = fx.load_from(id, s, part)?;
                    fx.w.set(result, loaded);
                    Ok(())
                })?;
                Ok(self.w.get(result))
            }
        }
    }

    pub fn store_part(&mut self, base: &Base, s: Scalar, part: Operand, value: Operand) -> Res<()> {
        match base {
            Base::One(id) => self.store_to(*id, s, part, value),
            Base::Any(ids, which) => self.for_each_base(ids, *which, |fx, id| fx.store_to(id, s, part, value)),
        }
    }

    /// Code for each storage it may be, of which the right one runs.
    pub fn for_each_base(&mut self, ids: &[StorageId], which: Operand, mut code: impl FnMut(&mut Self, StorageId) -> Res<()>) -> Res<()> {
        let mut cases = Vec::new();
        for (i, id) in ids.iter().enumerate() {
            self.w.begin();
            let done = code(self, *id);
            let body = self.w.end();
            done?;
            let last = i + 1 == ids.len();
            cases.push(SwitchCase {
                value: if last { SwitchValue::Default } else { SwitchValue::U32(id.0) },
                body,
                fall_through: false,
            });
        }
        let selector = self.w.expr(which);
        self.w.push(Statement::Switch { selector, cases });
        Ok(())
    }

    fn load_from(&mut self, id: StorageId, s: Scalar, part: Operand) -> Res<Operand> {
        let cell = self.memory.storages.list[id.index()].cell;
        if !cell.widened && cell.ty.bytes() < s.size() as u32 {
            let first = self.w.binary(BinaryOperator::ShiftLeft, part, Ty::U32.int(1));
            let second = self.w.binary(BinaryOperator::InclusiveOr, first, Ty::I32.int(1));
            let low = self.load_cell(id, first);
            let high = self.load_cell(id, second);
            return Ok(self.of_halves(Ty::of(s), low, high));
        }
        let place = self.place(id, s, part);
        let word = self.w.load(place.cell.ty, place.pointer);
        Ok(self.part_of(&place, s, word))
    }

    fn load_cell(&mut self, id: StorageId, index: Operand) -> Operand {
        let (pointer, cell) = (self.cell_at(id, index), self.memory.storages.list[id.index()].cell);
        let word = self.w.load(cell.ty, pointer);
        self.w.bitcast(word, Ty::U32)
    }

    fn store_to(&mut self, id: StorageId, s: Scalar, part: Operand, value: Operand) -> Res<()> {
        let cell = self.memory.storages.list[id.index()].cell;
        if !cell.widened && cell.ty.bytes() < s.size() as u32 {
            let first = self.w.binary(BinaryOperator::ShiftLeft, part, Ty::U32.int(1));
            let second = self.w.binary(BinaryOperator::InclusiveOr, first, Ty::I32.int(1));
            let (low, high) = self.halves_of(value);
            for (index, word) in [(first, low), (second, high)] {
                let pointer = self.cell_at(id, index);
                let word = self.w.bitcast(word, cell.ty);
                self.w.store(pointer, word);
            }
            return Ok(());
        }
        let place = self.place(id, s, part);
        if place.shift.is_none() {
            let word = self.as_cell(&place, s, value);
            self.w.store(place.pointer, word);
            return Ok(());
        }
        if !place.cell.atomic {
            return self.internal("a small store into cells that are not atomic");
        }
        // Neighbours in the cell may be written at the same time.
        self.by_trial(&place, |fx, word| Ok(fx.with_part(&place, s, word, value)))?;
        Ok(())
    }

    /// The cell in which a part lies, which is no larger than the cell.
    pub fn place(&mut self, id: StorageId, s: Scalar, part: Operand) -> Place {
        let cell = self.memory.storages.list[id.index()].cell;
        let (size, bytes) = (s.size() as u32, cell.ty.bytes());
        if cell.widened || size >= bytes {
            return Place {
                pointer: self.cell_at(id, part),
                cell,
                shift: None,
            };
        }
        let per_cell = bytes / size;
        let part = self.w.bitcast(part, Ty::U32);
        let (index, within) = match part.known() {
            Some(n) => (Ty::U32.int(n / i64::from(per_cell)), Ty::U32.int(n % i64::from(per_cell))),
            None => {
                let log = Ty::U32.int(per_cell.trailing_zeros().into());
                let index = self.w.binary(BinaryOperator::ShiftRight, part, log);
                (
                    index,
                    self.w.binary(BinaryOperator::And, part, Ty::U32.int(i64::from(per_cell) - 1)),
                )
            }
        };
        let shift = match within.known() {
            Some(n) => Ty::U32.int(n * i64::from(s.bits())),
            None => self
                .w
                .binary(BinaryOperator::ShiftLeft, within, Ty::U32.int(s.bits().trailing_zeros().into())),
        };
        Place {
            pointer: self.cell_at(id, index),
            cell,
            shift: Some(shift),
        }
    }

    fn cell_at(&mut self, id: StorageId, index: Operand) -> Handle<Expression> {
        let Array { pointer, length } = self.variable_of(id);
        // An access beyond the end is undefined; naga refuses those that it can see.
        let beyond = index
            .known()
            .is_some_and(|n| n < 0 || length.is_some_and(|length| n >= length.into()));
        self.w.element(pointer, if beyond { Ty::I32.int(0) } else { index })
    }

    /// What a part is, given its cell.
    pub fn part_of(&mut self, place: &Place, s: Scalar, word: Operand) -> Operand {
        let Some(shift) = place.shift else {
            return self.as_value(s, word);
        };
        let bits = self.w.bitcast(word, place.cell.ty.unsigned());
        let moved = match shift.known() {
            Some(0) => bits,
            _ => self.w.binary(BinaryOperator::ShiftRight, bits, shift),
        };
        let low = self.w.convert(moved, Ty::U32);
        let held = match s.bits() {
            32 => low,
            bits if s.is_signed() => {
                let spare = Ty::U32.int((32 - bits).into());
                let low = self.w.bitcast(low, Ty::I32);
                let high = self.w.binary(BinaryOperator::ShiftLeft, low, spare);
                self.w.binary(BinaryOperator::ShiftRight, high, spare)
            }
            bits => self.w.binary(BinaryOperator::And, low, Ty::U32.int((1 << bits) - 1)),
        };
        self.as_value(s, held)
    }

    /// A cell with a part changed.
    pub fn with_part(&mut self, place: &Place, s: Scalar, word: Operand, value: Operand) -> Operand {
        let Some(shift) = place.shift else {
            return self.as_cell(place, s, value);
        };
        let ty = place.cell.ty.unsigned();
        let mask = u64::MAX >> (64 - s.bits());
        let bits = match s {
            Scalar::Bool => self.w.convert(value, Ty::U32),
            _ => self.w.bitcast(value, Ty::U32),
        };
        let bits = match s.bits() {
            32 => bits,
            _ => self.w.binary(BinaryOperator::And, bits, Ty::U32.int(mask as i64)),
        };
        let bits = self.w.convert(bits, ty);
        let own = match shift.known() {
            Some(n) => ty.int((mask << n) as i64),
            None => self.w.binary(BinaryOperator::ShiftLeft, ty.int(mask as i64), shift),
        };
        let others = match own.known() {
            Some(own) => ty.int(!own),
            None => self.w.unary(naga::UnaryOperator::BitwiseNot, own),
        };
        let word = self.w.bitcast(word, ty);
        let kept = self.w.binary(BinaryOperator::And, word, others);
        let placed = self.w.binary(BinaryOperator::ShiftLeft, bits, shift);
        let merged = self.w.binary(BinaryOperator::InclusiveOr, kept, placed);
        self.w.bitcast(merged, place.cell.ty)
    }

    /// A value from a cell, or what is left of it, that holds nothing else.
    fn as_value(&mut self, s: Scalar, word: Operand) -> Operand {
        match s {
            Scalar::Bool => self.w.compare(BinaryOperator::NotEqual, word, word.ty.int(0)),
            _ => self.w.bitcast(word, Ty::of(s)),
        }
    }

    fn as_cell(&mut self, place: &Place, s: Scalar, value: Operand) -> Operand {
        let held = match s {
            Scalar::Bool => self.w.convert(value, Ty::U32),
            _ => value,
        };
        self.w.bitcast(held, place.cell.ty)
    }

    // Array.

    fn variable_of(&mut self, id: StorageId) -> Array {
        if let Some(known) = self.memory.homes[id.index()] {
            return known;
        }
        let storage = self.memory.storages.list[id.index()].clone();
        let Cell { ty, atomic, .. } = storage.cell;
        let scalar = ty.naga();
        self.w.note(ty);
        let base = self.w.ty(if atomic {
            TypeInner::Atomic(scalar)
        } else {
            TypeInner::Scalar(scalar)
        });
        let cells = match storage.home {
            Home::Dynamic => u64::from(self.cx.request.shared_bytes / ty.bytes()).max(1),
            _ => storage.cells,
        };
        let length = std::num::NonZeroU32::new(cells as u32).filter(|_| !matches!(storage.home, Home::Class(_) | Home::Constants));
        let array = self.w.ty(TypeInner::Array {
            base,
            size: length.map_or(ArraySize::Dynamic, ArraySize::Constant),
            stride: ty.bytes(),
        });
        let pointer = match storage.home {
            Home::Class(class) => {
                let mut access = StorageAccess::LOAD;
                if storage.uses.written || atomic {
                    access |= StorageAccess::STORE;
                }
                let decorations = if self.memory.coherent {
                    MemoryDecorations::COHERENT
                } else {
                    MemoryDecorations::empty()
                };
                self.binding(array, access, 1, class, decorations)
            }
            Home::Constants => self.binding(array, StorageAccess::LOAD, 0, 2, MemoryDecorations::empty()),
            Home::Arrays(Space::Local) => self.w.local(array),
            Home::Arrays(_) | Home::Dynamic => {
                if storage.home != Home::Dynamic {
                    self.cx.shared_bytes += cells * u64::from(ty.bytes());
                }
                self.global(array, AddressSpace::WorkGroup, None, MemoryDecorations::empty())
            }
        };
        let home = Array {
            pointer,
            length: length.map(std::num::NonZeroU32::get),
        };
        self.memory.homes[id.index()] = Some(home);
        home
    }

    pub fn binding(
        &mut self,
        ty: Handle<naga::Type>,
        access: StorageAccess,
        group: u32,
        binding: u32,
        decorations: MemoryDecorations,
    ) -> Handle<Expression> {
        let binding = ResourceBinding { group, binding };
        self.global(ty, AddressSpace::Storage { access }, Some(binding), decorations)
    }

    fn global(
        &mut self,
        ty: Handle<naga::Type>,
        space: AddressSpace,
        binding: Option<ResourceBinding>,
        memory_decorations: MemoryDecorations,
    ) -> Handle<Expression> {
        let variable = GlobalVariable {
            name: None,
            space,
            binding,
            ty,
            init: None,
            memory_decorations,
        };
        let variable = self.w.module.global_variables.append(variable, Span::UNDEFINED);
        self.w.global(variable)
    }
}
