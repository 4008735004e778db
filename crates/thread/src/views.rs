//! Views: arrays, slices, transposes, reshapes; the variables of locals; and where an element lies.

use std::rc::Rc;

use weft_ir::{AxisSlice, Index, Layout, Local, Part, Scalar, Space, Type, Value, ViewType};
use weft_passes::range::Range;

use super::code::{AddressOf, PlaceOf, PlaceSlotOf, VariableOf};
use super::number::{Num, Numbers, Overflow};
use super::values::{Machine, Slot, Val, View, is_contiguous};

/// Where arrays and elements lie.
///
/// A stride is a number in the machine's unit: bytes, or parts of elements.
pub trait Views<'m>: Numbers<'m> {
    fn variable(&mut self, s: Scalar) -> VariableOf<'m, Self>;

    fn get(&mut self, variable: VariableOf<'m, Self>) -> Self::Operand;

    fn set(&mut self, variable: VariableOf<'m, Self>, value: Self::Operand);

    /// What an `i64` local lies between that is to be held in 32 bits.
    fn range_of(&self, _local: Local) -> Option<Range> {
        None
    }

    /// A number local is set.
    fn note_set(&mut self, _local: Local, _n: Num<Self::Operand>) {}

    /// The variables for places of a local that is a view.
    fn place_slot(&mut self, local: Local, ty: ViewType) -> PlaceSlotOf<'m, Self>;

    fn get_place(&mut self, ty: ViewType, slot: &PlaceSlotOf<'m, Self>) -> PlaceOf<'m, Self>;

    fn set_place(&mut self, slot: &PlaceSlotOf<'m, Self>, place: &PlaceOf<'m, Self>);

    /// The stride between elements that are neighbours in memory.
    fn element_stride(&self, ty: ViewType) -> i64;

    /// `n` strides. They wrap where the program's own numbers are in them.
    fn steps(&mut self, stride: Num<Self::Operand>, n: Num<Self::Operand>, overflow: Overflow) -> Result<Num<Self::Operand>, Self::Error>;

    /// A place `at` strides on. It may be outside its array: an empty slice may start anywhere.
    fn moved(&mut self, place: PlaceOf<'m, Self>, at: Num<Self::Operand>, stride: Num<Self::Operand>) -> PlaceOf<'m, Self>;

    /// The place of a part of a complex element; `ty` is the type of a view of such parts.
    fn part_place(&mut self, ty: ViewType, place: &PlaceOf<'m, Self>, part: Part) -> PlaceOf<'m, Self>;

    fn select_place(&mut self, cond: Self::Operand, a: &PlaceOf<'m, Self>, b: &PlaceOf<'m, Self>) -> PlaceOf<'m, Self>;

    /// Do lengths computed in the program fit 32 bits, along an axis that is a part of this one, or of all axes where they are reshaped?
    fn is_short(&self, view: &View<Self::Machine>, axis: Option<Num<Self::Operand>>) -> bool;

    /// An index from the front: negative ones that may wrap get the axis's length added.
    fn index(&mut self, index: Index, length: Num<Self::Operand>) -> Result<Num<Self::Operand>, Self::Error>;

    /// The address of the first part of an element of a contiguous array: index and length of each axis, from the slowest to the fastest.
    fn contiguous(
        &mut self,
        view: &View<Self::Machine>,
        axes: impl Iterator<Item = (Num<Self::Operand>, Num<Self::Operand>)>,
    ) -> AddressOf<'m, Self>;

    /// The same for an array with strides.
    fn strided(&mut self, view: &View<Self::Machine>, at: &[Num<Self::Operand>]) -> AddressOf<'m, Self>;

    /// The address of the imaginary part, of a type, behind a real one.
    fn imaginary(&mut self, s: Scalar, address: AddressOf<'m, Self>) -> AddressOf<'m, Self>;

    fn load(&mut self, view: &View<Self::Machine>, s: Scalar, address: AddressOf<'m, Self>) -> Result<Self::Operand, Self::Error>;

    fn store(
        &mut self,
        view: &View<Self::Machine>,
        s: Scalar,
        address: AddressOf<'m, Self>,
        value: Self::Operand,
    ) -> Result<(), Self::Error>;

    /// Do lengths of all arrays of a type fit 32 bits?
    fn has_short_lengths(&self, ty: ViewType) -> bool {
        self.sizes.narrow || ty.space != Space::Global
    }

    fn make_slots(&mut self) -> Result<(), Self::Error> {
        let f = self.f;
        for (local, decl) in (0..).map(Local).zip(&f.locals) {
            let slot = match &decl.ty {
                Type::Scalar(s) => self.number_slot(local, *s),
                Type::View(v) => self.view_slot(local, *v),
                Type::Tuple(_) => return self.internal("a local that is a tuple"),
            };
            self.slots.push(slot);
        }
        Ok(())
    }

    fn number_slot(&mut self, local: Local, s: Scalar) -> Slot<Self::Machine> {
        let short = s == Scalar::I64 && self.range_of(local).is_some();
        let variable = self.variable(if short { Scalar::I32 } else { s });
        Slot::Number { variable, short }
    }

    fn view_slot(&mut self, local: Local, ty: ViewType) -> Slot<Self::Machine> {
        let rank: usize = ty.rank.into();
        let strides = if is_contiguous(ty.layout) { 0 } else { rank };
        let short = self.has_short_lengths(ty);
        let length = if short { Scalar::I32 } else { Scalar::I64 };
        Slot::View {
            ty,
            place: self.place_slot(local, ty),
            shape: (0..rank).map(|_| self.variable(length)).collect(),
            strides: (0..strides).map(|_| self.variable(Self::Machine::STRIDE)).collect(),
            short,
        }
    }

    fn get_local(&mut self, local: Local) -> Val<Self::Machine> {
        match self.slots[local.index()].clone() {
            Slot::Number { variable, short } => {
                let range = self.range_of(local).filter(|_| short);
                Val::Num(self.held(variable, range))
            }
            Slot::View {
                ty,
                place,
                shape,
                strides,
                short,
            } => {
                let lengths = short.then_some(self.sizes.lengths());
                let shape = shape.into_iter().map(|variable| self.held(variable, lengths)).collect();
                let wraps = (Self::Machine::STRIDE == Scalar::I32).then_some(Range::I32);
                let mut strides: Vec<_> = strides.into_iter().map(|variable| self.held(variable, wraps)).collect();
                if let (Layout::Row, Some(last)) = (ty.layout, strides.last_mut()) {
                    *last = Num::int(self.element_stride(ty));
                }
                let place = self.get_place(ty, &place);
                Val::View(Rc::new(View { ty, place, shape, strides }))
            }
        }
    }

    /// The number in a variable; with a range it is held in 32 bits.
    fn held(&mut self, variable: VariableOf<'m, Self>, range: Option<Range>) -> Num<Self::Operand> {
        let op = self.get(variable);
        range.map_or(Num::Reg(op), |range| Num::Short(op, range))
    }

    fn hold(&mut self, variable: VariableOf<'m, Self>, n: Num<Self::Operand>, short: bool) {
        let op = if short { self.take_short(n) } else { self.take(n) };
        self.set(variable, op);
    }

    fn set_local(&mut self, local: Local, val: &Val<Self::Machine>) -> Result<(), Self::Error> {
        match (self.slots[local.index()].clone(), val) {
            (Slot::Number { variable, short }, Val::Num(n)) => {
                self.note_set(local, *n);
                self.hold(variable, *n, short);
                Ok(())
            }
            (
                Slot::View {
                    place,
                    shape,
                    strides,
                    short,
                    ..
                },
                Val::View(view),
            ) => {
                self.set_place(&place, &view.place);
                for (variable, n) in shape.into_iter().zip(&view.shape) {
                    self.hold(variable, *n, short);
                }
                for (variable, n) in strides.into_iter().zip(&view.strides) {
                    self.hold(variable, *n, Self::Machine::STRIDE == Scalar::I32);
                }
                Ok(())
            }
            (Slot::Number { .. } | Slot::View { .. }, _) => self.internal("a local set to a value of another type"),
        }
    }

    /// A view's strides, as far as its layout leaves them open also computed from the shape.
    fn strides(&mut self, view: &View<Self::Machine>) -> Result<Vec<Num<Self::Operand>>, Self::Error> {
        let rank = view.shape.len();
        let mut strides = vec![Num::int(self.element_stride(view.ty)); rank];
        match view.ty.layout {
            Layout::C => {
                for axis in (1..rank).rev() {
                    strides[axis - 1] = self.steps(strides[axis], view.shape[axis], Overflow::Never)?;
                }
            }
            Layout::F => {
                for axis in 1..rank {
                    strides[axis] = self.steps(strides[axis - 1], view.shape[axis - 1], Overflow::Never)?;
                }
            }
            Layout::Row | Layout::Any => strides.clone_from(&view.strides),
        }
        Ok(strides)
    }

    fn slice(&mut self, ty: ViewType, view: &View<Self::Machine>, axes: &[AxisSlice]) -> Result<View<Self::Machine>, Self::Error> {
        let old = self.strides(view)?;
        let (mut place, mut shape, mut strides) = (view.place.clone(), Vec::new(), Vec::new());
        let mut axis = 0;
        for part in axes {
            if matches!(part, AxisSlice::New) {
                shape.push(Num::int(1));
                strides.push(Num::int(self.element_stride(view.ty)));
                continue;
            }
            let (Some(&length), Some(&stride)) = (view.shape.get(axis), old.get(axis)) else {
                return self.internal("a slice of more axes than the view has");
            };
            axis += 1;
            match part {
                AxisSlice::At(index) => {
                    let at = self.index(*index, length)?;
                    place = self.moved(place, at, stride);
                }
                AxisSlice::Range { start, len, step } => {
                    let (start, len, step) = (self.num(*start)?, self.num(*len)?, self.num(*step)?);
                    place = self.moved(place, start, stride);
                    let short = self.is_short(view, Some(length));
                    shape.push(self.length(len, short));
                    // A step may be anything where the length is at most one.
                    strides.push(self.steps(stride, step, Overflow::Wraps)?);
                }
                AxisSlice::Full | AxisSlice::New => {
                    shape.push(length);
                    strides.push(stride);
                }
            }
        }
        shape.extend_from_slice(&view.shape[axis..]);
        strides.extend_from_slice(&old[axis..]);
        Ok(View::of(ty, place, shape, strides))
    }

    /// A length computed in the program, held in 32 bits where the array it is a part of is small.
    fn length(&mut self, len: Num<Self::Operand>, short: bool) -> Num<Self::Operand> {
        if len.range().is_some() || !short {
            return len;
        }
        Num::Short(self.take_short(len), self.sizes.lengths())
    }

    fn transpose(&mut self, ty: ViewType, view: &View<Self::Machine>, perm: &[u8]) -> Result<View<Self::Machine>, Self::Error> {
        if perm.iter().any(|p| *p as usize >= view.shape.len()) {
            return self.internal("a transpose of an axis the view has not");
        }
        let strides = self.strides(view)?;
        let permuted = |nums: &[Num<_>]| perm.iter().map(|p| nums[*p as usize]).collect();
        Ok(View::of(ty, view.place.clone(), permuted(&view.shape), permuted(&strides)))
    }

    /// One part of every element: both lie next to each other.
    fn part_view(&mut self, ty: ViewType, view: &View<Self::Machine>, part: Part) -> Result<View<Self::Machine>, Self::Error> {
        let strides = self.strides(view)?;
        let place = self.part_place(ty, &view.place, part);
        Ok(View::of(ty, place, view.shape.clone(), strides))
    }

    fn reshape(&mut self, ty: ViewType, view: &View<Self::Machine>, shape: &[Value]) -> Result<View<Self::Machine>, Self::Error> {
        let short = self.is_short(view, None);
        let mut lengths = Vec::new();
        for n in shape {
            let n = self.num(*n)?;
            lengths.push(self.length(n, short));
        }
        let contiguous = ViewType { layout: Layout::C, ..ty };
        let mut made = View::of(contiguous, view.place.clone(), lengths, Vec::new());
        if !is_contiguous(ty.layout) {
            made.strides = self.strides(&made)?;
        }
        Ok(View { ty, ..made })
    }

    fn select_view(&mut self, cond: Self::Operand, a: &View<Self::Machine>, b: &View<Self::Machine>) -> View<Self::Machine> {
        let mut pick = |a: &[Num<_>], b: &[Num<_>]| a.iter().zip(b).map(|(x, y)| self.select_num(cond, *x, *y)).collect();
        let (shape, strides) = (pick(&a.shape, &b.shape), pick(&a.strides, &b.strides));
        let place = self.select_place(cond, &a.place, &b.place);
        View {
            ty: a.ty,
            place,
            shape,
            strides,
        }
    }

    /// The type and the address of the part that an access means.
    fn element(&mut self, view: &View<Self::Machine>, indices: &[Index], part: Part) -> Result<(Scalar, AddressOf<'m, Self>), Self::Error> {
        if indices.len() != view.shape.len() {
            return self.internal("an access with the wrong number of indices");
        }
        if part == Part::Whole && view.ty.elem.is_complex() {
            return self.internal("an access to a whole complex element");
        }
        let mut at = Vec::new();
        for (index, length) in indices.iter().zip(&view.shape) {
            at.push(self.index(*index, *length)?);
        }
        let axes = at.iter().copied().zip(view.shape.iter().copied());
        let address = match view.ty.layout {
            Layout::C => self.contiguous(view, axes),
            Layout::F => self.contiguous(view, axes.rev()),
            Layout::Row | Layout::Any => self.strided(view, &at),
        };
        let s = view.ty.elem.part();
        match part {
            Part::Im => Ok((s, self.imaginary(s, address))),
            Part::Whole | Part::Re => Ok((s, address)),
        }
    }

    fn load_element(&mut self, view: &View<Self::Machine>, indices: &[Index], part: Part) -> Result<Num<Self::Operand>, Self::Error> {
        let (s, address) = self.element(view, indices, part)?;
        Ok(Num::Reg(self.load(view, s, address)?))
    }

    fn store_element(
        &mut self,
        view: &View<Self::Machine>,
        indices: &[Index],
        value: Num<Self::Operand>,
        part: Part,
    ) -> Result<(), Self::Error> {
        let (s, address) = self.element(view, indices, part)?;
        let value = self.take(value);
        self.store(view, s, address, value)
    }
}
