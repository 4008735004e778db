//! Making views: constant and fresh arrays, slices, transposes, reshapes; and the memory of locals.

use std::rc::Rc;

use weft_ir::{AxisSlice, ConstId, ErrorKind, Local, Part, Scalar, Space, TOO_BIG, Type, Value, ViewType};
use weft_passes::uniformity::Class;

use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res, Slot, Val, ViewVal, elem};
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    /// Allocas for all locals; LLVM makes registers of them.
    pub fn make_slots(&mut self) -> Res<()> {
        for i in 0..self.f.locals.len() {
            let (class, ty) = (self.info.locals[i], self.f.locals[i].ty.clone());
            let slot = self.make_slot(class, &ty)?;
            if let (Slot::View { base, .. }, true) = (&slot, self.heap.frees) {
                self.w.store(Ty::PTR, Operand::Null, *base);
            }
            self.slots.push(slot);
        }
        Ok(())
    }

    pub fn make_slot(&mut self, class: Class, ty: &Type) -> Res<Slot> {
        match ty {
            Type::Scalar(s) => Ok(self.number_slot(class, elem(*s))),
            Type::View(v) => Ok(self.view_slot(class, *v)),
            Type::Tuple(_) => self.internal("a local that is a tuple"),
        }
    }

    fn number_slot(&mut self, class: Class, elem: Elem) -> Slot {
        let scalar = Ty::scalar(elem);
        match class {
            Class::Varying if self.gang.lanes > 0 => {
                let ty = self.gang.vector_ty(self.slot_elem(elem));
                Slot::Lanes {
                    ptr: self.w.alloca(ty),
                    elem,
                }
            }
            Class::Affine(step) if self.gang.lanes > 0 => Slot::Shared {
                ptr: self.w.alloca(scalar),
                elem,
                step,
            },
            _ => Slot::Shared {
                ptr: self.w.alloca(scalar),
                elem,
                step: 0,
            },
        }
    }

    /// Bools of lanes are kept as masks are.
    pub fn slot_elem(&self, elem: Elem) -> Elem {
        if elem == Elem::I1 { self.gang.mask_elem } else { elem }
    }

    fn view_slot(&mut self, class: Class, ty: ViewType) -> Slot {
        let base = self.w.alloca(Ty::PTR);
        let class = if class == Class::Varying { Class::Varying } else { Class::Gang };
        // Each lane has elements of its own in a local array: the offset, which comes first, steps by an element from lane to lane.
        let interleaved = ty.space == Space::Local && self.gang.lanes > 0 && class != Class::Varying;
        let offset = match interleaved {
            true if self.arrays.in_pieces => Class::Varying,
            true => Class::Affine(ty.elem.size() as i64),
            false => class,
        };
        let classes = std::iter::once(offset).chain(std::iter::repeat_n(class, 2 * ty.rank as usize));
        let parts = classes.map(|class| self.number_slot(class, Elem::I64)).collect();
        let pitch = self.pitch(ty);
        Slot::View { ty, pitch, base, parts }
    }

    /// As a gang starts its locals hold nothing: without saying so they would carry the last gang's lanes along.
    pub fn forget_locals(&mut self, kept: impl Fn(Local) -> bool) {
        for i in 0..self.slots.len() {
            if let Slot::Lanes { ptr, elem } = self.slots[i]
                && !kept(Local(i as u32))
            {
                let ty = self.gang.vector_ty(self.slot_elem(elem));
                self.w.store(ty, Operand::Undef, ptr);
            }
        }
    }

    pub fn get_local(&mut self, local: Local) -> Res<Val> {
        let slot = self.slots[local.index()].clone();
        self.read_slot(&slot)
    }

    pub fn read_slot(&mut self, slot: &Slot) -> Res<Val> {
        Ok(match slot {
            Slot::Shared { .. } | Slot::Lanes { .. } => Val::Num(self.read_number(slot)),
            Slot::View { ty, pitch, base, parts } => {
                let base = self.w.load(Ty::PTR, *base);
                let numbers: Vec<Num> = parts.iter().map(|p| self.read_number(p)).collect();
                let rank = ty.rank as usize;
                Val::View(Rc::new(ViewVal {
                    ty: *ty,
                    base,
                    offset: numbers[0],
                    shape: numbers[1..=rank].to_vec(),
                    strides: numbers[rank + 1..].to_vec(),
                    pitch: *pitch,
                }))
            }
        })
    }

    pub fn read_number(&mut self, slot: &Slot) -> Num {
        match slot {
            Slot::Shared { ptr, elem, step } => {
                let value = self.w.load(Ty::scalar(*elem), *ptr);
                if *step == 0 {
                    Num::Uniform(value)
                } else {
                    Num::Affine(value, *step)
                }
            }
            Slot::Lanes { ptr, elem: Elem::I1 } => {
                let mask = self.load_mask(*ptr);
                Num::Varying(self.bits_of(mask))
            }
            Slot::Lanes { ptr, elem } => {
                let ty = self.gang.vector_ty(*elem);
                Num::Varying(self.w.load(ty, *ptr))
            }
            Slot::View { .. } => Num::int(0),
        }
    }

    /// Writes a local; `blend` keeps what lanes that are off hold.
    pub fn set_local(&mut self, local: Local, val: &Val, blend: bool) -> Res<()> {
        let slot = self.slots[local.index()].clone();
        let differs = matches!(slot, Slot::View { .. }) && self.info.locals[local.index()] == Class::Varying;
        if differs && blend && self.gang.mask != Mask::Full {
            return self.unsupported("an array variable that differs between threads");
        }
        self.write_slot(&slot, val, blend)
    }

    pub fn write_slot(&mut self, slot: &Slot, val: &Val, blend: bool) -> Res<()> {
        match (slot, val) {
            (Slot::Shared { .. } | Slot::Lanes { .. }, Val::Num(n)) => self.write_number(slot, *n, blend),
            (Slot::View { base, parts, .. }, Val::View(view)) => {
                self.w.store(Ty::PTR, view.base, *base);
                let numbers = [view.offset]
                    .into_iter()
                    .chain(view.shape.iter().copied())
                    .chain(view.strides.iter().copied());
                for (part, n) in parts.iter().zip(numbers) {
                    self.write_number(part, n, blend)?;
                }
                Ok(())
            }
            _ => self.internal("a slot set to a value of another type"),
        }
    }

    /// The pieces of memory a slot is made of.
    pub fn slot_memory(&self, slot: &Slot) -> Vec<(Operand, Ty)> {
        match slot {
            Slot::Shared { ptr, elem, .. } => vec![(*ptr, Ty::scalar(*elem))],
            Slot::Lanes { ptr, elem } => vec![(*ptr, self.gang.vector_ty(self.slot_elem(*elem)))],
            Slot::View { base, parts, .. } => {
                let parts = parts.iter().flat_map(|part| self.slot_memory(part));
                [(*base, Ty::PTR)].into_iter().chain(parts).collect()
            }
        }
    }

    pub fn write_number(&mut self, slot: &Slot, n: Num, blend: bool) -> Res<()> {
        match (slot, n) {
            (Slot::Shared { ptr, elem, step: 0 }, Num::Uniform(op)) => self.w.store(Ty::scalar(*elem), op, *ptr),
            (Slot::Shared { ptr, elem, step }, Num::Affine(op, s)) if s == *step => {
                self.w.store(Ty::scalar(*elem), op, *ptr);
            }
            (Slot::Lanes { ptr, elem }, _) => self.write_lanes(*ptr, *elem, n, blend),
            _ => return self.internal("a local's lanes differ where they should not"),
        }
        Ok(())
    }

    fn write_lanes(&mut self, ptr: Operand, elem: Elem, n: Num, blend: bool) {
        let ty = self.gang.vector_ty(elem);
        let mut value = self.take(n, ty);
        if let (Mask::Lanes(mask), true) = (self.gang.mask, blend) {
            let old = match self.read_number(&Slot::Lanes { ptr, elem }) {
                Num::Varying(old) | Num::Uniform(old) | Num::Affine(old, _) | Num::Strided(old, _) => old,
            };
            let on = self.bits_of(mask);
            value = self.select_op(ty, on, value, old);
        }
        if elem == Elem::I1 {
            let mask = self.mask_of(value);
            self.save_mask(ptr, mask);
        } else {
            self.w.store(ty, value, ptr);
        }
    }

    pub fn const_array(&mut self, id: ConstId, ty: ViewType) -> ViewVal {
        let shape = self.cx.module.constants[id.index()]
            .shape
            .iter()
            .map(|n| Num::int(*n as i64))
            .collect();
        self.cx.constant(id);
        self.contiguous(ty, Operand::Global(id.0), Num::int(0), shape)
    }

    pub fn slice(&mut self, result: ViewType, view: &ViewVal, axes: &[AxisSlice]) -> Res<ViewVal> {
        let (mut offset, mut shape, mut strides) = (view.offset, Vec::new(), Vec::new());
        let mut axis = 0;
        for part in axes {
            if matches!(part, AxisSlice::New) {
                shape.push(Num::int(1));
                strides.push(Num::int(view.pitch));
                continue;
            }
            let (Some(&length), Some(&stride)) = (view.shape.get(axis), view.strides.get(axis)) else {
                return self.internal("a slice of more axes than the view has");
            };
            axis += 1;
            match part {
                AxisSlice::At(index) => {
                    let at = self.index(*index, length)?;
                    let bytes = self.mul(at, stride);
                    offset = self.add(offset, bytes);
                }
                AxisSlice::Range { start, len, step } => {
                    let (start, len, step) = (self.num(*start)?, self.num(*len)?, self.num(*step)?);
                    let bytes = self.mul(start, stride);
                    offset = self.add(offset, bytes);
                    shape.push(len);
                    let stride = self.mul(stride, step);
                    strides.push(stride);
                }
                AxisSlice::Full | AxisSlice::New => {
                    shape.push(length);
                    strides.push(stride);
                }
            }
        }
        shape.extend_from_slice(&view.shape[axis..]);
        strides.extend_from_slice(&view.strides[axis..]);
        Ok(self.rebased(ViewVal {
            ty: result,
            base: view.base,
            offset,
            shape,
            strides,
            pitch: view.pitch,
        }))
    }

    /// Moves a uniform offset into the base.
    fn rebased(&mut self, mut view: ViewVal) -> ViewVal {
        if let Num::Uniform(at) = view.offset {
            view.base = self.w.offset(view.base, at);
            view.offset = Num::int(0);
        }
        view
    }

    pub fn transpose(&self, result: ViewType, view: &ViewVal, perm: &[u8]) -> Res<ViewVal> {
        if perm.iter().any(|p| *p as usize >= view.shape.len()) {
            return self.internal("a transpose of an axis the view has not");
        }
        let shape = perm.iter().map(|p| view.shape[*p as usize]).collect();
        let strides = perm.iter().map(|p| view.strides[*p as usize]).collect();
        Ok(ViewVal {
            ty: result,
            shape,
            strides,
            ..view.clone()
        })
    }

    /// One part of every element: both lie next to each other.
    pub fn part_view(&mut self, result: ViewType, view: &ViewVal, part: Part) -> ViewVal {
        let skipped = if part == Part::Im { result.elem.size() as i64 } else { 0 };
        let offset = self.add(view.offset, Num::int(skipped));
        self.rebased(ViewVal {
            ty: result,
            offset,
            ..view.clone()
        })
    }

    pub fn reshape(&mut self, result: ViewType, view: &ViewVal, shape: &[Value]) -> Res<ViewVal> {
        let mut lengths = Vec::new();
        for n in shape {
            lengths.push(self.num(*n)?);
        }
        let strides = self.c_strides(&lengths, view.pitch);
        Ok(ViewVal {
            ty: result,
            shape: lengths,
            strides,
            ..view.clone()
        })
    }

    /// A fresh array from the runtime; leaves the function when it would be too big, or when there is no memory.
    pub fn alloc(&mut self, ty: ViewType, shape: &[Value], zeroed: bool) -> Res<ViewVal> {
        if self.gang.lanes > 0 {
            return self.internal("lanes that make arrays");
        }
        let mut lengths = Vec::new();
        for n in shape {
            lengths.push(self.num(*n)?);
        }
        let bytes = self.bytes_of(ty.elem, &lengths)?;
        self.cx.symbol("weft_alloc");
        self.cx.declare("declare ptr @weft_alloc(ptr, i64, i32)".to_owned());
        let flag = i32::from(zeroed);
        let alone = if self.heap.frees { "" } else { "noalias " };
        let base = self.w.inst(format_args!(
            "call {alone}ptr @weft_alloc(ptr %ctx, {}, i32 {flag})",
            bytes.typed(Ty::I64)
        ));
        let failed = self.w.inst(format_args!("icmp eq {}, null", base.typed(Ty::PTR)));
        self.leave_if(failed, |_| Ok(()))?;
        Ok(self.contiguous(ty, base, Num::int(0), lengths))
    }

    /// The bytes of a fresh array. A shape is refused that would overflow them even with 1 in place of its zeros, so that products of some of
    /// an array's lengths never overflow. Lengths are looked at as unsigned: a negative one is far too much.
    fn bytes_of(&mut self, elem: Scalar, lengths: &[Num]) -> Res<Operand> {
        let item = elem.size() as i64;
        let (mut bytes, mut room) = (Operand::Int(item), Operand::Int(item));
        let mut too_big = None;
        for length in lengths {
            let Num::Uniform(n) = *length else {
                return self.unsupported("an array made inside a kernel");
            };
            bytes = self.mul_scalar(bytes, n);
            let empty = self.w.inst(format_args!("icmp eq {}, 0", n.typed(Ty::I64)));
            let n = self.select_op(Ty::I64, empty, Operand::Int(1), n);
            let (product, over) = self.mul_checked(room, n);
            room = product;
            too_big = Some(match too_big {
                None => over,
                Some(so_far) => self.plain("or", Ty::BOOL, so_far, over),
            });
        }
        if let Some(over) = too_big {
            let huge = self.w.inst(format_args!("icmp slt {}, 0", room.typed(Ty::I64)));
            let too_big = self.plain("or", Ty::BOOL, over, huge);
            self.leave_if(too_big, |fx| fx.report(ErrorKind::Value, TOO_BIG))?;
        }
        Ok(bytes)
    }

    /// The product of unsigned integers, and whether 64 bits are too few for it.
    fn mul_checked(&mut self, a: Operand, b: Operand) -> (Operand, Operand) {
        self.cx
            .declare("declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)".to_owned());
        let both = self.w.inst(format_args!(
            "call {{ i64, i1 }} @llvm.umul.with.overflow.i64({}, {})",
            a.typed(Ty::I64),
            b.typed(Ty::I64)
        ));
        let product = self.w.inst(format_args!("extractvalue {{ i64, i1 }} {}, 0", both.of(Ty::I64)));
        let over = self.w.inst(format_args!("extractvalue {{ i64, i1 }} {}, 1", both.of(Ty::I64)));
        (product, over)
    }

    /// Ends the function with an error, which `report` records, if a condition of scalar code holds.
    fn leave_if(&mut self, cond: Operand, report: impl FnOnce(&mut Self) -> Res<()>) -> Res<()> {
        let (leave, stay) = (self.w.label(), self.w.label());
        self.w.cond_br(cond, leave, stay);
        self.w.place(leave);
        report(self)?;
        self.w.line(format_args!("store i32 1, {}", self.control.status.typed(Ty::PTR)));
        self.w.br(self.control.exit);
        self.w.place(stay);
        Ok(())
    }

    pub fn view_type(&self, value: Value) -> Res<ViewType> {
        match self.f.ty(value).view() {
            Some(v) => Ok(v),
            None => self.internal("a view operation that gives no view"),
        }
    }
}

impl Fx<'_, '_> {
    /// One of two views. They may lie in different memory, so that in lanes the address goes into the offset.
    pub fn select_view(&mut self, cond: Value, a: Value, b: Value) -> Res<Val> {
        let (cond, a, b) = (self.num(cond)?, self.view(a)?, self.view(b)?);
        let pick = |fx: &mut Self, x: Num, y: Num| fx.select(Scalar::I64, cond, x, y);
        let (base, offset) = match cond {
            Num::Uniform(c) => (self.select_op(Ty::PTR, c, a.base, b.base), pick(self, a.offset, b.offset)),
            _ if a.base == b.base => (a.base, pick(self, a.offset, b.offset)),
            _ => return self.unsupported("an array that differs between threads"),
        };
        let shape = a.shape.iter().zip(&b.shape).map(|(x, y)| pick(self, *x, *y)).collect();
        let strides = a.strides.iter().zip(&b.strides).map(|(x, y)| pick(self, *x, *y)).collect();
        Ok(Val::View(Rc::new(ViewVal {
            base,
            offset,
            shape,
            strides,
            ..(*a).clone()
        })))
    }
}
