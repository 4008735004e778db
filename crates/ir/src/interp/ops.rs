//! Operations on run-time values; arithmetic itself is in `crate::eval`.

use std::sync::Arc;

use super::Machine;
use super::check::Access;
use super::exec::Frame;
use super::memory::Purpose;
use super::trap::Fault;
use super::value::{RtValue, View};
use super::views::{self, AxisValue};
use crate::eval;
use crate::module::{ArrayId, Function, Local, Value};
use crate::op::{AtomicOp, AxisSlice, Const, Geometry, Index, Op, Outcome, Part};
use crate::types::{Scalar, Space, Type};

/// The values of an index list, without an allocation for the usual ranks.
pub(super) struct IndexValues {
    few: [i64; 4],
    many: Vec<i64>,
    len: usize,
}

impl std::ops::Deref for IndexValues {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        if self.many.is_empty() { &self.few[..self.len] } else { &self.many }
    }
}

pub(super) fn index(frame: &Frame, indices: &[Index]) -> Result<IndexValues, Fault> {
    let mut values = IndexValues {
        few: [0; 4],
        many: Vec::new(),
        len: indices.len(),
    };
    if indices.len() > values.few.len() {
        values.many = indices.iter().map(|i| frame.int(i.value)).collect::<Result<_, _>>()?;
        return Ok(values);
    }
    for (slot, i) in values.few.iter_mut().zip(indices) {
        *slot = frame.int(i.value)?;
    }
    Ok(values)
}

fn scalar(result: Option<Const>) -> Result<RtValue, Fault> {
    result.map(RtValue::Scalar).ok_or(Fault::Malformed)
}

fn elem(function: &Function, view: Value) -> Result<Scalar, Fault> {
    function.ty(view).view().map(|ty| ty.elem).ok_or(Fault::Malformed)
}

impl Machine<'_> {
    /// The value of `result = op`, for every operation but calls.
    pub(super) fn op(&mut self, function: &Function, frame: &mut Frame, result: Value, op: &Op) -> Result<RtValue, Fault> {
        match op {
            Op::Const(c) => Ok(RtValue::Scalar(*c)),
            Op::Get(local) => get(function, frame, *local),
            Op::Unary(op, a) => scalar(eval::unary(*op, frame.scalar(*a)?)),
            Op::Binary(op, a, b) => scalar(eval::binary(*op, frame.scalar(*a)?, frame.scalar(*b)?)),
            Op::Compare(op, a, b) => scalar(eval::compare(*op, frame.scalar(*a)?, frame.scalar(*b)?).map(Const::Bool)),
            Op::Select(cond, a, b) => {
                let chosen = if frame.bool(*cond)? { a } else { b };
                Ok(frame.values[chosen.index()].clone())
            }
            Op::Fma(a, b, c) => scalar(eval::fma(frame.scalar(*a)?, frame.scalar(*b)?, frame.scalar(*c)?)),
            Op::Cast(a) | Op::Bitcast(a) => {
                let to = function.ty(result).scalar().ok_or(Fault::Malformed)?;
                let convert = if matches!(op, Op::Cast(_)) { eval::cast } else { eval::bitcast };
                scalar(convert(frame.scalar(*a)?, to))
            }
            Op::Complex(re, im) => scalar(eval::complex(frame.scalar(*re)?, frame.scalar(*im)?)),
            Op::Re(a) => scalar(eval::parts(frame.scalar(*a)?).map(|(re, _)| re)),
            Op::Im(a) => scalar(eval::parts(frame.scalar(*a)?).map(|(_, im)| im)),
            Op::Tuple(items) => Ok(RtValue::Tuple(frame.list(items).into())),
            Op::Item(a, i) => match &frame.values[a.index()] {
                RtValue::Tuple(items) => items.get(*i as usize).cloned().ok_or(Fault::Malformed),
                _ => Err(Fault::Malformed),
            },
            Op::Load { view, indices, part } => self.load(function, frame, *view, indices, *part),
            Op::Atomic {
                op,
                view,
                indices,
                value,
                expected,
            } => {
                let expected = expected.map(|e| frame.scalar(e)).transpose()?;
                self.atomic(function, frame, *op, *view, indices, *value, expected)
            }
            Op::Libm { function, args } => {
                let float = |place: usize| match args.get(place).map(|arg| frame.scalar(*arg)).transpose()? {
                    Some(Const::F64(bits)) => Ok(f64::from_bits(bits)),
                    None if place >= function.arity() => Ok(0.0),
                    _ => Err(Fault::Malformed),
                };
                Ok(RtValue::Scalar(Const::F64(function.of(float(0)?, float(1)?).to_bits())))
            }
            Op::Routine { .. } => Ok(RtValue::i64(Outcome::Absent as i64)),
            Op::Geometry(geometry) => Ok(RtValue::i64(self.geometry(*geometry))),
            Op::Call(..) | Op::OutOfStack | Op::Warp { .. } | Op::ActiveMask | Op::BarrierReduce(..) => Err(Fault::Malformed),
            Op::Dim(..)
            | Op::Apart(..)
            | Op::Slice { .. }
            | Op::Transpose(..)
            | Op::PartView(..)
            | Op::Reshape(..)
            | Op::Alloc { .. }
            | Op::Array(_)
            | Op::DynamicShared
            | Op::ThreadState(_)
            | Op::ConstArray(_) => {
                let made = self.view_op(function, frame, result, op)?;
                self.check_layout(&made, function.ty(result))?;
                Ok(made)
            }
        }
    }

    fn view_op(&mut self, function: &Function, frame: &mut Frame, result: Value, op: &Op) -> Result<RtValue, Fault> {
        let view = match op {
            Op::Dim(a, axis) => {
                let len = frame.view(*a)?.shape.get(*axis as usize).copied();
                return len.map(RtValue::i64).ok_or(Fault::Malformed);
            }
            Op::Apart(a, b) => {
                let sizes = (elem(function, *a)?.size(), elem(function, *b)?.size());
                let apart = views::are_apart((frame.view(*a)?, sizes.0), (frame.view(*b)?, sizes.1));
                return Ok(RtValue::Scalar(Const::Bool(apart)));
            }
            Op::Slice { view, axes } => {
                let axes = axes.iter().map(|axis| axis_value(frame, *axis)).collect::<Result<Vec<_>, _>>()?;
                views::slice(frame.view(*view)?, &axes)?
            }
            Op::Transpose(a, perm) => views::transpose(frame.view(*a)?, perm),
            Op::PartView(a, part) => views::part(frame.view(*a)?, elem(function, result)?, *part),
            Op::Reshape(a, shape) => views::reshape(frame.view(*a)?, elem(function, *a)?, &frame.ints(shape)?)?,
            Op::Alloc { shape, zeroed } => {
                let shape = frame.ints(shape)?;
                let elem = elem(function, result)?;
                let purpose = if *zeroed { Purpose::Zeroed } else { Purpose::Blank };
                let buffer = self.memory.allocate(views::bytes(elem, &shape)?, purpose)?;
                let view = View::contiguous(buffer, elem, &shape);
                match &function.values[result.index()].name {
                    Some(name) => view.named(name),
                    None => view,
                }
            }
            Op::Array(id) => self.array(function, frame, *id)?,
            Op::DynamicShared => self.dynamic_shared(elem(function, result)?)?,
            Op::ThreadState(state) => {
                let buffer = self.thread_states.entry(*state).or_insert_with(|| {
                    let zeros = vec![0; state.len() * state.elem().size()];
                    self.memory.add_private(zeros)
                });
                View::contiguous(*buffer, state.elem(), &[state.len() as i64]).named("the thread's random numbers")
            }
            Op::ConstArray(id) => {
                let array = self.program.module.constants.get(id.index()).ok_or(Fault::Malformed)?;
                let shape: Vec<i64> = array.shape.iter().map(|len| *len as i64).collect();
                View::contiguous(self.memory.constant(*id), array.elem, &shape)
            }
            _ => return Err(Fault::Malformed),
        };
        Ok(RtValue::View(Arc::new(view)))
    }

    /// A shared array of the block or a local array of the frame; the first use makes it.
    fn array(&mut self, function: &Function, frame: &mut Frame, id: ArrayId) -> Result<View, Fault> {
        let decl = function.arrays.get(id.index()).ok_or(Fault::Malformed)?;
        let shape: Vec<i64> = decl.shape.iter().map(|len| *len as i64).collect();
        let shared = decl.space == Space::Shared;
        let known = if shared {
            self.shared.arrays.get(&(frame.func, id)).copied()
        } else {
            frame.arrays[id.index()]
        };
        let buffer = match known {
            Some(buffer) => buffer,
            None => {
                let purpose = if shared { Purpose::Blank } else { Purpose::Private };
                let buffer = self.memory.allocate(views::bytes(decl.elem, &shape)?, purpose)?;
                if shared {
                    self.shared.arrays.insert((frame.func, id), buffer);
                } else {
                    frame.arrays[id.index()] = Some(buffer);
                }
                buffer
            }
        };
        Ok(View::contiguous(buffer, decl.elem, &shape).named(&decl.name))
    }

    fn dynamic_shared(&mut self, elem: Scalar) -> Result<View, Fault> {
        let buffer = match self.shared.dynamic {
            Some(buffer) => buffer,
            None => self.memory.allocate(self.dynamic.into(), Purpose::Blank)?,
        };
        self.shared.dynamic = Some(buffer);
        let len = i64::from(self.dynamic) / elem.size() as i64;
        Ok(View::contiguous(buffer, elem, &[len]).named("dynamic shared memory"))
    }

    /// Frees the shared memory of a block that has ended.
    pub(super) fn free_shared(&mut self) {
        let shared = std::mem::take(&mut self.shared);
        for buffer in shared.arrays.into_values().chain(shared.dynamic) {
            self.memory.free(buffer);
        }
    }

    fn load(&mut self, function: &Function, frame: &Frame, view: Value, indices: &[Index], part: Part) -> Result<RtValue, Fault> {
        let mut scalar = elem(function, view)?;
        let view = frame.view(view)?;
        let index = index(frame, indices)?;
        let mut offset = views::locate(view, &index, |axis| indices[axis].wrap)?;
        if part != Part::Whole {
            scalar = scalar.part();
        }
        if part == Part::Im {
            offset += scalar.size() as i64;
        }
        self.memory.load(view, offset, scalar, &index, Access::Read).map(RtValue::Scalar)
    }

    #[allow(clippy::too_many_arguments)] // the operands of one operation
    fn atomic(
        &mut self,
        function: &Function,
        frame: &Frame,
        op: AtomicOp,
        view: Value,
        indices: &[Index],
        value: Value,
        expected: Option<Const>,
    ) -> Result<RtValue, Fault> {
        let scalar = elem(function, view)?;
        let value = frame.scalar(value)?;
        let view = frame.view(view)?;
        let index = index(frame, indices)?;
        let offset = views::locate(view, &index, |axis| indices[axis].wrap)?;
        let old = self.memory.load(view, offset, scalar, &index, Access::Atomic)?;
        let new = eval::atomic(op, old, value, expected).ok_or(Fault::Malformed)?;
        self.memory.store(view, offset, new, &index, Access::Atomic)?;
        Ok(RtValue::Scalar(old))
    }

    fn geometry(&self, geometry: Geometry) -> i64 {
        let place = &self.place;
        match geometry {
            Geometry::ThreadIdx(axis) => place.thread[axis.index()],
            Geometry::BlockIdx(axis) => place.block[axis.index()],
            Geometry::BlockDim(axis) => place.block_dim[axis.index()],
            Geometry::GridDim(axis) => place.grid_dim[axis.index()],
            Geometry::LaneId => {
                let ([x, y, z], [w, h, _]) = (place.thread, place.block_dim);
                (x + w * (y + h * z)) % 32
            }
        }
    }
}

fn get(function: &Function, frame: &Frame, local: Local) -> Result<RtValue, Fault> {
    match &frame.locals[local.index()] {
        RtValue::Undefined if *function.local_ty(local) != Type::unit() => Err(Fault::UnsetLocal {
            name: function.locals[local.index()].name.clone(),
        }),
        RtValue::Undefined => Ok(RtValue::unit()),
        value => Ok(value.clone()),
    }
}

fn axis_value(frame: &Frame, axis: AxisSlice) -> Result<AxisValue, Fault> {
    Ok(match axis {
        AxisSlice::At(i) => AxisValue::At {
            index: frame.int(i.value)?,
            wrap: i.wrap,
        },
        AxisSlice::Range { start, len, step } => AxisValue::Range {
            start: frame.int(start)?,
            len: frame.int(len)?,
            step: frame.int(step)?,
        },
        AxisSlice::Full => AxisValue::Full,
        AxisSlice::New => AxisValue::New,
    })
}
