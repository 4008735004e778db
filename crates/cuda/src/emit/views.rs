//! Making views: arrays, slices, transposes, reshapes; and the memory of locals.

use std::rc::Rc;

use weft_ir::{ArrayId, AxisSlice, BinOp, ConstId, Layout, Local, Part, Scalar, Space, Type, Value, ViewType};

use super::func::Fx;
use super::number::{LENGTH, NARROW, Num};
use super::values::{Res, Val, View, is_contiguous};
use super::writer::{Memory, Operand, Ty};

/// Where a local lives; LLVM makes registers of it.
#[derive(Clone, Debug)]
pub enum Slot {
    Number {
        ptr: Operand,
        ty: Ty,
    },
    /// A view: base address, shape and strides, each in memory of its own.
    View {
        ty: ViewType,
        base: Operand,
        shape: Vec<Operand>,
        strides: Vec<Operand>,
        short: bool,
        align: usize,
    },
}

impl Fx<'_, '_> {
    pub fn make_slots(&mut self) -> Res<()> {
        for local in &self.f.locals {
            let slot = match &local.ty {
                Type::Scalar(s) => {
                    let ty = Ty::of(*s);
                    Slot::Number {
                        ptr: self.w.alloca(ty),
                        ty,
                    }
                }
                Type::View(v) => self.view_slot(*v),
                Type::Tuple(_) => return self.internal("a local that is a tuple"),
            };
            self.slots.push(slot);
        }
        Ok(())
    }

    fn view_slot(&mut self, ty: ViewType) -> Slot {
        let rank = ty.rank.into();
        let strides = if is_contiguous(ty.layout) { 0 } else { rank };
        let short = self.cx.facts.narrow || ty.space != Space::Global;
        Slot::View {
            ty,
            base: self.w.alloca(Ty::Ptr(Memory::of(ty.space))),
            shape: (0..rank).map(|_| self.w.alloca(if short { Ty::I32 } else { Ty::I64 })).collect(),
            strides: (0..strides).map(|_| self.w.alloca(Ty::I64)).collect(),
            short,
            align: self.assumed_align(ty),
        }
    }

    /// What the elements of a view that may be a parameter's are aligned to.
    pub fn assumed_align(&self, ty: ViewType) -> usize {
        if self.cx.facts.aligned || ty.space != Space::Global {
            ty.elem.size()
        } else {
            ty.elem.part().size()
        }
    }

    pub fn get_local(&mut self, local: Local) -> Val {
        match self.slots[local.index()].clone() {
            Slot::Number { ptr, ty } => Val::Num(Num::Reg(self.w.load(ty, ptr))),
            Slot::View {
                ty,
                base,
                shape,
                strides,
                short,
                align,
            } => {
                let shape = shape.iter().map(|ptr| match short {
                    true => Num::Short(self.w.load(Ty::I32, *ptr), LENGTH),
                    false => Num::Reg(self.w.load(Ty::I64, *ptr)),
                });
                let shape = shape.collect();
                let mut strides: Vec<Num> = strides.iter().map(|ptr| Num::Reg(self.w.load(Ty::I64, *ptr))).collect();
                if let (Layout::Row, Some(last)) = (ty.layout, strides.last_mut()) {
                    *last = Num::int(ty.elem.size() as i64);
                }
                let base = self.w.load(Ty::Ptr(Memory::of(ty.space)), base);
                Val::View(Rc::new(View {
                    ty,
                    base,
                    shape,
                    strides,
                    short,
                    align,
                }))
            }
        }
    }

    pub fn set_local(&mut self, local: Local, val: &Val) -> Res<()> {
        match (self.slots[local.index()].clone(), val) {
            (Slot::Number { ptr, .. }, Val::Num(n)) => {
                let op = self.take(*n);
                self.w.store(op, ptr);
            }
            (
                Slot::View {
                    base,
                    shape,
                    strides,
                    short,
                    ..
                },
                Val::View(view),
            ) => {
                self.w.store(view.base, base);
                for (ptr, n) in shape.iter().zip(&view.shape) {
                    let op = if short { self.take_short(*n) } else { self.take(*n) };
                    self.w.store(op, *ptr);
                }
                for (ptr, n) in strides.iter().zip(&view.strides) {
                    let op = self.take(*n);
                    self.w.store(op, *ptr);
                }
            }
            _ => return self.internal("a local set to a value of another type"),
        }
        Ok(())
    }

    /// Memory for the function's arrays.
    pub fn make_arrays(&mut self) -> Res<()> {
        for decl in &self.f.arrays {
            let count = decl.shape.iter().try_fold(1u64, |n, axis| n.checked_mul(*axis));
            let bytes = count.and_then(|n| n.checked_mul(decl.elem.size() as u64));
            let Some(bytes) = bytes.filter(|b| *b < NARROW as u64) else {
                return self.unsupported(format!("the array {} is too large", decl.name));
            };
            let base = match decl.space {
                Space::Shared => self.cx.shared_array(bytes.max(1)),
                _ => self
                    .w
                    .entry_inst(Ty::Ptr(Memory::Generic), format_args!("alloca [{} x i8], align 16", bytes.max(1))),
            };
            self.arrays.push(base);
        }
        Ok(())
    }

    pub fn array(&self, id: ArrayId, ty: ViewType) -> View {
        let decl = &self.f.arrays[id.index()];
        fixed(ty, self.arrays[id.index()], &decl.shape)
    }

    pub fn const_array(&mut self, id: ConstId, ty: ViewType) -> View {
        let base = self.cx.constant(id);
        fixed(ty, base, &self.cx.module.constants[id.index()].shape)
    }

    pub fn slice(&mut self, ty: ViewType, view: &View, axes: &[AxisSlice]) -> Res<View> {
        let old = self.strides(view);
        let (mut base, mut shape, mut strides) = (view.base, Vec::new(), Vec::new());
        let mut axis = 0;
        for part in axes {
            if matches!(part, AxisSlice::New) {
                shape.push(Num::int(1));
                strides.push(Num::int(view.ty.elem.size() as i64));
                continue;
            }
            let (Some(&length), Some(&stride)) = (view.shape.get(axis), old.get(axis)) else {
                return self.internal("a slice of more axes than the view has");
            };
            axis += 1;
            match part {
                AxisSlice::At(index) => {
                    let at = self.index(*index, length)?;
                    base = self.moved(base, at, stride);
                }
                AxisSlice::Range { start, len, step } => {
                    let (start, len, step) = (self.num(*start)?, self.num(*len)?, self.num(*step)?);
                    base = self.moved(base, start, stride);
                    shape.push(self.length(view, len));
                    // A step may be anything where the length is at most one.
                    let stride = self.binary(BinOp::Mul, Scalar::I64, stride, step, Scalar::I64)?;
                    strides.push(stride);
                }
                AxisSlice::Full | AxisSlice::New => {
                    shape.push(length);
                    strides.push(stride);
                }
            }
        }
        shape.extend_from_slice(&view.shape[axis..]);
        strides.extend_from_slice(&old[axis..]);
        Ok(self.viewed(ty, base, shape, strides, view))
    }

    /// `base + at * stride` bytes. Not `inbounds`: an empty slice may start anywhere.
    fn moved(&mut self, base: Operand, at: Num, stride: Num) -> Operand {
        if at.const_int() == Some(0) {
            return base;
        }
        let (at, stride) = (self.take(at), self.take(stride));
        let bytes = self.w.binary("mul", at, stride);
        self.w.inst(base.ty, format_args!("getelementptr i8, {base}, {bytes}"))
    }

    /// A length computed in the program, held in 32 bits where the array it is a part of is small.
    fn length(&mut self, view: &View, len: Num) -> Num {
        match len {
            Num::Reg(op) if view.short && op.ty == Ty::I64 => {
                let short = self.take_short(len);
                Num::Short(short, LENGTH)
            }
            _ => len,
        }
    }

    pub fn transpose(&mut self, ty: ViewType, view: &View, perm: &[u8]) -> Res<View> {
        if perm.iter().any(|p| *p as usize >= view.shape.len()) {
            return self.internal("a transpose of an axis the view has not");
        }
        let strides = self.strides(view);
        let permuted = |nums: &[Num]| perm.iter().map(|p| nums[*p as usize]).collect();
        Ok(self.viewed(ty, view.base, permuted(&view.shape), permuted(&strides), view))
    }

    /// One part of every element: both lie next to each other.
    pub fn part_view(&mut self, ty: ViewType, view: &View, part: Part) -> View {
        let (size, strides) = (ty.elem.size(), self.strides(view));
        let base = if part == Part::Im {
            self.moved(view.base, Num::int(size as i64), Num::int(1))
        } else {
            view.base
        };
        View {
            align: size,
            ..self.viewed(ty, base, view.shape.clone(), strides, view)
        }
    }

    pub fn reshape(&mut self, ty: ViewType, view: &View, shape: &[Value]) -> Res<View> {
        let mut lengths = Vec::new();
        for n in shape {
            let n = self.num(*n)?;
            lengths.push(self.length(view, n));
        }
        let mut made = View {
            ty,
            base: view.base,
            shape: lengths,
            strides: Vec::new(),
            short: view.short,
            align: view.align,
        };
        if !is_contiguous(ty.layout) {
            let contiguous = View {
                ty: ViewType { layout: Layout::C, ..ty },
                ..made.clone()
            };
            made.strides = self.strides(&contiguous);
        }
        Ok(made)
    }

    pub fn select_view(&mut self, cond: Operand, a: &View, b: &View) -> View {
        let mut pick = |a: &[Num], b: &[Num]| a.iter().zip(b).map(|(x, y)| self.select_num(cond, *x, *y)).collect();
        let (shape, strides) = (pick(&a.shape, &b.shape), pick(&a.strides, &b.strides));
        View {
            base: self.w.select(cond, a.base, b.base),
            shape,
            strides,
            short: a.short && b.short,
            align: a.align.min(b.align),
            ..*a
        }
    }

    pub fn view_type(&self, value: Value) -> Res<ViewType> {
        match self.f.ty(value).view() {
            Some(v) => Ok(v),
            None => self.internal("a view operation that gives no view"),
        }
    }
}

/// A view of an array whose shape is known when it is compiled.
fn fixed(ty: ViewType, base: Operand, shape: &[u64]) -> View {
    View {
        ty,
        base,
        shape: shape.iter().map(|n| Num::int(*n as i64)).collect(),
        strides: Vec::new(),
        short: true,
        align: ty.elem.size(),
    }
}
