//! Making views: arrays, slices, transposes, reshapes; and the variables of locals.

use std::rc::Rc;

use weft_ir::{ArrayId, AxisSlice, ConstId, Layout, Local, Part, Scalar, Space, Type, Value, ViewType};
use weft_passes::range::Range;

use super::func::Fx;
use super::number::Num;
use super::storage::StorageId;
use super::values::{Base, Res, Val, View, is_contiguous, parts};
use super::writer::{Operand, Ty, Variable};

/// Where a local lives.
#[derive(Clone, Debug)]
pub enum Slot {
    /// A number. Is it an `i64` that is held in 32 bits?
    Number(Variable, bool),
    /// A view: which storage it lies in, if there are several, its offset, shape and strides.
    View {
        ty: ViewType,
        storages: Rc<[StorageId]>,
        which: Option<Variable>,
        offset: Variable,
        shape: Vec<Variable>,
        strides: Vec<Variable>,
    },
}

/// Rounds after which what a local lies between is taken to be all of 32 bits, and none that is known, if it still grows.
const PATIENT: usize = 3;
const TIRED: usize = 6;

/// What the numbers that a local is set to lie between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    #[default]
    Unset,
    Short(Range),
    /// Some are not known to fit 32 bits.
    Wide,
}

impl Reach {
    /// Takes in what was found in a round that supposed this. Was it more?
    pub fn grow(&mut self, found: Reach, round: usize) -> bool {
        let before = *self;
        match found {
            Reach::Unset => {}
            Reach::Wide => *self = Reach::Wide,
            Reach::Short(range) => self.join(Some(range)),
        }
        if *self == before {
            return false;
        }
        if let (Reach::Short(old), Reach::Short(new)) = (before, *self)
            && round >= PATIENT
        {
            *self = match round {
                TIRED.. => Reach::Wide,
                _ => Reach::Short(Range::new(
                    if new.lo < old.lo { Range::I32.lo } else { old.lo },
                    if new.hi > old.hi { Range::I32.hi } else { old.hi },
                )),
            };
        }
        true
    }

    fn join(&mut self, range: Option<Range>) {
        *self = match (*self, range) {
            (Reach::Unset, Some(range)) => Reach::Short(range),
            (Reach::Short(known), Some(range)) => Reach::Short(known.join(range)),
            _ => Reach::Wide,
        }
    }

    const fn range(self) -> Option<Range> {
        match self {
            Reach::Short(range) => Some(range),
            Reach::Unset | Reach::Wide => None,
        }
    }
}

impl Fx<'_> {
    pub fn make_slots(&mut self) -> Res<()> {
        let f = self.f;
        for (i, local) in f.locals.iter().enumerate() {
            let slot = match &local.ty {
                Type::Scalar(s) => {
                    let short = *s == Scalar::I64 && self.locals[i] != Reach::Wide;
                    let ty = if short { Ty::I32 } else { Ty::of(*s) };
                    Slot::Number(self.w.variable(ty), short)
                }
                Type::View(v) => self.view_slot(Local(i as u32), *v),
                Type::Tuple(_) => return self.internal("a local that is a tuple"),
            };
            self.slots.push(slot);
        }
        Ok(())
    }

    fn view_slot(&mut self, local: Local, ty: ViewType) -> Slot {
        let rank = ty.rank.into();
        let strides = if is_contiguous(ty.layout) { 0 } else { rank };
        let length = if self.is_short(ty) { Ty::I32 } else { Ty::I64 };
        let storages = self.storages.locals.get(&local).cloned().unwrap_or_default();
        Slot::View {
            ty,
            which: (storages.len() > 1).then(|| self.w.variable(Ty::U32)),
            storages: storages.into(),
            offset: self.w.variable(Ty::I32),
            shape: (0..rank).map(|_| self.w.variable(length)).collect(),
            strides: (0..strides).map(|_| self.w.variable(Ty::I32)).collect(),
        }
    }

    /// Do extents of such views fit 32 bits?
    fn is_short(&self, ty: ViewType) -> bool {
        self.cx.request.facts.narrow || ty.space != Space::Global
    }

    /// What a local lies between: all it is set to, as far as is supposed or has been seen, and what conditions say. A round that finds
    /// more than it supposed is not the last.
    fn range_of(&self, local: Local) -> Range {
        let mut all = self.locals[local.index()];
        match self.found[local.index()] {
            Reach::Unset => {}
            found => all.join(found.range()),
        }
        let all = match all {
            Reach::Unset => Range::new(0, 0),
            Reach::Short(range) => range,
            Reach::Wide => Range::I32,
        };
        match self.known.range(local) {
            Some(known) if known.lo.max(all.lo) <= known.hi.min(all.hi) => Range::new(known.lo.max(all.lo), known.hi.min(all.hi)),
            _ => all,
        }
    }

    pub fn get_local(&mut self, local: Local) -> Val {
        match self.slots[local.index()].clone() {
            Slot::Number(variable, false) => Val::Num(Num::Reg(self.w.get(variable))),
            Slot::Number(variable, true) => {
                let range = self.range_of(local);
                Val::Num(Num::Short(self.w.get(variable), range))
            }
            Slot::View {
                ty,
                storages,
                which,
                offset,
                shape,
                strides,
            } => {
                let length = self.lengths();
                let shape = shape.iter().map(|variable| match variable.ty {
                    Ty::I32 => Num::Short(self.w.get(*variable), length),
                    _ => Num::Reg(self.w.get(*variable)),
                });
                let shape = shape.collect();
                let mut strides: Vec<Operand> = strides.iter().map(|variable| self.w.get(*variable)).collect();
                if let (Layout::Row, Some(last)) = (ty.layout, strides.last_mut()) {
                    *last = Ty::I32.int(parts(ty));
                }
                let base = match which {
                    Some(which) => Base::Any(storages, self.w.get(which)),
                    None => Base::One(storages.first().copied().unwrap_or(StorageId(0))),
                };
                let offset = self.w.get(offset);
                Val::View(Rc::new(View {
                    ty,
                    base,
                    offset,
                    shape,
                    strides,
                }))
            }
        }
    }

    pub fn set_local(&mut self, local: Local, val: &Val) -> Res<()> {
        match (self.slots[local.index()].clone(), val) {
            (Slot::Number(variable, short), Val::Num(n)) => {
                if self.f.locals[local.index()].ty == Type::Scalar(Scalar::I64) {
                    self.found[local.index()].join(n.range());
                    self.known.set(local);
                }
                let op = if short { self.take_short(*n) } else { self.take(*n) };
                self.w.set(variable, op);
            }
            (
                Slot::View {
                    which,
                    offset,
                    shape,
                    strides,
                    ..
                },
                Val::View(view),
            ) => {
                if let Some(which) = which {
                    let number = number_of(&view.base);
                    self.w.set(which, number);
                }
                self.w.set(offset, view.offset);
                for (variable, n) in shape.iter().zip(&view.shape) {
                    let op = if variable.ty == Ty::I32 {
                        self.take_short(*n)
                    } else {
                        self.take(*n)
                    };
                    self.w.set(*variable, op);
                }
                for (variable, stride) in strides.iter().zip(&view.strides) {
                    self.w.set(*variable, *stride);
                }
            }
            _ => return self.internal("a local set to a value of another type"),
        }
        Ok(())
    }

    pub fn array(&self, id: ArrayId, ty: ViewType) -> View {
        let (storage, start) = self.storages.arrays[id.index()];
        fixed(ty, storage, start, &self.f.arrays[id.index()].shape)
    }

    pub fn const_array(&mut self, id: ConstId, ty: ViewType) -> Res<View> {
        let Some(storage) = self.storages.constants else {
            return self.internal("constants without a storage");
        };
        let start = self.cx.constants[id.index()] / ty.elem.part().size() as u64;
        Ok(fixed(ty, storage, start, &self.cx.module.constants[id.index()].shape))
    }

    pub fn dynamic_shared(&mut self, ty: ViewType) -> Res<View> {
        let Some(storage) = self.storages.dynamic else {
            return self.internal("dynamic shared memory without a storage");
        };
        let count = u64::from(self.cx.request.shared_bytes) / ty.elem.size() as u64;
        Ok(fixed(ty, storage, 0, &[count]))
    }

    pub fn slice(&mut self, ty: ViewType, view: &View, axes: &[AxisSlice]) -> Res<View> {
        let old = self.strides(view);
        let (mut offset, mut shape, mut strides) = (view.offset, Vec::new(), Vec::new());
        let mut axis = 0;
        for part in axes {
            if matches!(part, AxisSlice::New) {
                shape.push(Num::int(1));
                strides.push(Ty::I32.int(parts(view.ty)));
                continue;
            }
            let (Some(&length), Some(&stride)) = (view.shape.get(axis), old.get(axis)) else {
                return self.internal("a slice of more axes than the view has");
            };
            axis += 1;
            match part {
                AxisSlice::At(index) => {
                    let at = self.index(*index, length)?;
                    let distance = self.mul32(at, stride);
                    offset = self.add32(offset, distance);
                }
                AxisSlice::Range { start, len, step } => {
                    let (start, len, step) = (self.num(*start)?, self.num(*len)?, self.num(*step)?);
                    let distance = self.steps(stride, start);
                    offset = self.add32(offset, distance);
                    shape.push(self.length(length, len));
                    strides.push(self.steps(stride, step));
                }
                AxisSlice::Full | AxisSlice::New => {
                    shape.push(length);
                    strides.push(stride);
                }
            }
        }
        shape.extend_from_slice(&view.shape[axis..]);
        strides.extend_from_slice(&old[axis..]);
        Ok(viewed(ty, offset, shape, strides, view))
    }

    /// A length computed in the program, held in 32 bits where the axis it is a part of is short.
    fn length(&mut self, of: Num, len: Num) -> Num {
        match (of, len) {
            (Num::Short(..), Num::Reg(op)) if op.ty == Ty::I64 => Num::Short(self.take_short(len), self.lengths()),
            _ => len,
        }
    }

    pub fn transpose(&mut self, ty: ViewType, view: &View, perm: &[u8]) -> Res<View> {
        if perm.iter().any(|p| *p as usize >= view.shape.len()) {
            return self.internal("a transpose of an axis the view has not");
        }
        let strides = self.strides(view);
        let shape = perm.iter().map(|p| view.shape[*p as usize]).collect();
        let strides = perm.iter().map(|p| strides[*p as usize]).collect();
        Ok(viewed(ty, view.offset, shape, strides, view))
    }

    /// One part of every element: the first or the second of the pair.
    pub fn part_view(&mut self, ty: ViewType, view: &View, part: Part) -> View {
        let strides = self.strides(view);
        let offset = if part == Part::Im {
            self.add32(view.offset, Ty::I32.int(1))
        } else {
            view.offset
        };
        viewed(ty, offset, view.shape.clone(), strides, view)
    }

    pub fn reshape(&mut self, ty: ViewType, view: &View, shape: &[Value]) -> Res<View> {
        let short = self.is_short(ty) || view.shape.iter().all(|n| n.range().is_some());
        let mut lengths = Vec::new();
        for n in shape {
            let n = self.num(*n)?;
            lengths.push(if short { self.length(Num::int(0), n) } else { n });
        }
        let contiguous = View {
            ty: ViewType { layout: Layout::C, ..ty },
            base: view.base.clone(),
            offset: view.offset,
            shape: lengths,
            strides: Vec::new(),
        };
        let strides = if is_contiguous(ty.layout) {
            Vec::new()
        } else {
            self.strides(&contiguous)
        };
        Ok(View { ty, strides, ..contiguous })
    }

    pub fn select_view(&mut self, cond: Operand, a: &View, b: &View) -> View {
        let shape = a.shape.iter().zip(&b.shape).map(|(x, y)| self.select_num(cond, *x, *y)).collect();
        let strides = a.strides.iter().zip(&b.strides).map(|(x, y)| self.w.select(cond, *x, *y)).collect();
        View {
            ty: a.ty,
            base: self.select_base(cond, &a.base, &b.base),
            offset: self.w.select(cond, a.offset, b.offset),
            shape,
            strides,
        }
    }

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

    pub fn view_type(&self, value: Value) -> Res<ViewType> {
        match self.f.ty(value).view() {
            Some(v) => Ok(v),
            None => self.internal("a view operation that gives no view"),
        }
    }

    /// A view among the parameters: the `index`th of them, its data address in `slot`.
    pub fn view_param(&mut self, ty: ViewType, index: u32, slot: u32) -> Res<View> {
        let class = self.cx.request.classes.get(index as usize);
        let Some(base) = class.and_then(|class| self.storages.classes.get(*class as usize)) else {
            return self.internal("a view without a class");
        };
        let (base, rank, unit) = (Base::One(*base), u32::from(ty.rank), ty.elem.part().size() as u32);
        let offset = self.signed_word(super::Word::Offset { view: index, unit });
        let shape = (0..rank).map(|axis| self.extent(slot + 1 + axis)).collect();
        let open = match ty.layout {
            Layout::C | Layout::F => 0,
            Layout::Row => rank.saturating_sub(1),
            Layout::Any => rank,
        };
        let stride = |axis| super::Word::Stride {
            slot: slot + 1 + rank + axis,
            unit,
        };
        let mut strides: Vec<Operand> = (0..open).map(|axis| self.signed_word(stride(axis))).collect();
        if ty.layout == Layout::Row && rank > 0 {
            strides.push(Ty::I32.int(parts(ty)));
        }
        Ok(View {
            ty,
            base,
            offset,
            shape,
            strides,
        })
    }

    pub fn signed_word(&mut self, word: super::Word) -> Operand {
        let op = self.word(word);
        self.w.begin_early();
        let signed = self.w.bitcast(op, Ty::I32);
        self.w.end_early();
        signed
    }

    /// The length in a slot.
    pub fn extent(&mut self, slot: u32) -> Num {
        if self.cx.request.facts.narrow {
            return Num::Short(self.slot(slot, Scalar::I32), self.lengths());
        }
        Num::Reg(self.slot(slot, Scalar::I64))
    }
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

/// A view of a type, with the strides only if the type needs them.
fn viewed(ty: ViewType, offset: Operand, shape: Vec<Num>, strides: Vec<Operand>, of: &View) -> View {
    View {
        ty,
        base: of.base.clone(),
        offset,
        shape,
        strides: if is_contiguous(ty.layout) { Vec::new() } else { strides },
    }
}

/// A view of an array whose shape is known when it is compiled.
fn fixed(ty: ViewType, storage: StorageId, start: u64, shape: &[u64]) -> View {
    View {
        ty,
        base: Base::One(storage),
        offset: Ty::I32.int(start as i64),
        shape: shape.iter().map(|n| Num::int(*n as i64)).collect(),
        strides: Vec::new(),
    }
}
