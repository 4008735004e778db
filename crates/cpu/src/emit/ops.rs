//! Operations: which part of the emitter writes which.

use weft_ir::{Const, Op, Value};
use weft_passes::alone::is_alone;

use super::func::Fx;
use super::values::{Num, Res, Val};
use super::writer::Operand;

impl Fx<'_, '_> {
    pub fn op(&mut self, value: Value, op: &Op) -> Res<Val> {
        Ok(match op {
            Op::Get(local) => return self.get_local(*local),
            Op::Slice { view, axes } => {
                let (ty, view) = (self.view_type(value)?, self.view(*view)?);
                self.view_val(|fx| fx.slice(ty, &view, axes))?
            }
            Op::Transpose(view, perm) => {
                let (ty, view) = (self.view_type(value)?, self.view(*view)?);
                self.view_val(|fx| fx.transpose(ty, &view, perm))?
            }
            Op::PartView(view, part) => {
                let (ty, view) = (self.view_type(value)?, self.view(*view)?);
                self.view_val(|fx| Ok(fx.part_view(ty, &view, *part)))?
            }
            Op::Reshape(view, shape) => {
                let (ty, view) = (self.view_type(value)?, self.view(*view)?);
                self.view_val(|fx| fx.reshape(ty, &view, shape))?
            }
            Op::Alloc { shape, zeroed } => {
                let ty = self.view_type(value)?;
                self.view_val(|fx| fx.alloc(ty, shape, *zeroed))?
            }
            Op::Array(id) => {
                let ty = self.view_type(value)?;
                self.view_val(|fx| fx.array(*id, ty))?
            }
            Op::DynamicShared => {
                let ty = self.view_type(value)?;
                self.view_val(|fx| fx.dynamic_shared(ty))?
            }
            Op::ConstArray(id) => {
                let ty = self.view_type(value)?;
                self.view_val(|fx| Ok(fx.const_array(*id, ty)))?
            }
            Op::ThreadState(state) => {
                let ty = self.view_type(value)?;
                self.view_val(|fx| fx.thread_state(ty, *state))?
            }
            Op::Call(func, args) if self.cx.module.function(*func).kind == weft_ir::FuncKind::Host => self.call_host(*func, args)?,
            Op::Call(func, args) if is_alone(self.cx.module.function(*func)) => self.call_alone(*func, args)?,
            Op::Call(func, args) => self.call_rare(*func, args)?,
            Op::Tuple(items) => {
                let mut vals = Vec::new();
                for item in items {
                    vals.push(self.val(*item)?);
                }
                Val::Tuple(vals)
            }
            Op::Item(tuple, i) => match self.val(*tuple)? {
                Val::Tuple(items) if (*i as usize) < items.len() => items[*i as usize].clone(),
                _ => return self.internal("an item of what is no tuple"),
            },
            Op::Select(cond, a, b) if self.f.ty(value).view().is_some() => self.select_view(*cond, *a, *b)?,
            Op::Cast(a) if self.f.ty(*a).view().is_some() => self.retyped(value, *a)?,
            Op::Const(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Fma(..)
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Dim(..)
            | Op::Load { .. }
            | Op::Atomic { .. }
            | Op::Geometry(_)
            | Op::Warp { .. }
            | Op::ActiveMask
            | Op::BarrierReduce(..)
            | Op::Apart(..)
            | Op::Routine { .. }
            | Op::Libm { .. }
            | Op::OutOfStack => Val::Num(self.number(value, op)?),
            Op::Complex(..) | Op::Re(_) | Op::Im(_) => {
                return self.internal(format!("an operation the passes should have removed: {op:?}"));
            }
        })
    }

    fn view_val(&mut self, make: impl FnOnce(&mut Self) -> Res<super::values::ViewVal>) -> Res<Val> {
        Ok(Val::View(std::rc::Rc::new(make(self)?)))
    }

    fn retyped(&mut self, value: Value, view: Value) -> Res<Val> {
        let (ty, view) = (self.view_type(value)?, self.view(view)?);
        self.view_val(|_| Ok(super::values::ViewVal { ty, ..(*view).clone() }))
    }

    fn number(&mut self, result: Value, op: &Op) -> Res<Num> {
        Ok(match op {
            Op::Const(c) => self.constant(*c)?,
            Op::Unary(op, a) => {
                let (s, a) = (self.scalar(*a)?, self.num(*a)?);
                self.unary(*op, s, a)?
            }
            Op::Binary(op, a, b) => {
                let (s, count) = (self.scalar(*a)?, self.scalar(*b)?);
                let (a, b) = (self.num(*a)?, self.num(*b)?);
                self.binary(*op, s, a, b, count)?
            }
            Op::Compare(op, a, b) => {
                let (s, a, b) = (self.scalar(*a)?, self.num(*a)?, self.num(*b)?);
                self.compare(*op, s, a, b)
            }
            Op::Select(cond, a, b) => {
                let (s, cond) = (self.scalar(*a)?, self.num(*cond)?);
                let (a, b) = (self.num(*a)?, self.num(*b)?);
                self.select(s, cond, a, b)
            }
            Op::Fma(a, b, c) => {
                let s = self.scalar(*a)?;
                let (a, b, c) = (self.num(*a)?, self.num(*b)?, self.num(*c)?);
                self.fma(s, a, b, c)
            }
            Op::Cast(a) => {
                let (from, to, n) = (self.scalar(*a)?, self.scalar(result)?, self.num(*a)?);
                match n {
                    Num::Affine(base, step) if to.is_float() && self.magnitude(*a) <= 52 => self.affine_to_float(to, base, step),
                    _ => self.cast(from, to, n),
                }
            }
            Op::Bitcast(a) => {
                let (from, to, a) = (self.scalar(*a)?, self.scalar(result)?, self.num(*a)?);
                self.bitcast(from, to, a)
            }
            Op::Dim(view, axis) => match self.view(*view)?.shape.get(*axis as usize) {
                Some(n) => *n,
                None => return self.internal("the length of an axis the view has not"),
            },
            Op::Load { view, indices, part } => {
                let view = self.view(*view)?;
                self.load_element(&view, indices, *part)?
            }
            Op::Atomic {
                op,
                view,
                indices,
                value,
                expected,
            } => {
                let view = self.view(*view)?;
                let used = self.known.uses[result.index()] > 0;
                if !used && expected.is_none() && self.together(*op, &view, indices, *value)? {
                    return Ok(Num::int(0));
                }
                self.atomic(*op, &view, indices, *value, *expected, used)?
            }
            Op::Geometry(g) => self.geometry(*g)?,
            Op::Warp { op, mask, value, lane } => self.warp(*op, *mask, *value, *lane)?,
            Op::ActiveMask => Num::Uniform(self.active_mask()),
            Op::Apart(a, b) => {
                let (a, b) = (self.view(*a)?, self.view(*b)?);
                self.apart(&a, &b)?
            }
            Op::Routine {
                routine,
                threads,
                operands,
            } => Num::Uniform(self.routine(*routine, *threads, operands)?),
            Op::Libm { function, args } => Num::Uniform(self.libm(*function, args)?),
            Op::OutOfStack => Num::Uniform(self.out_of_stack()),
            Op::BarrierReduce(..) => return self.divergent_barrier(),
            // `op` writes these itself.
            Op::Get(_)
            | Op::ThreadState(_)
            | Op::Complex(..)
            | Op::Re(_)
            | Op::Im(_)
            | Op::Tuple(_)
            | Op::Item(..)
            | Op::Call(..)
            | Op::Slice { .. }
            | Op::Transpose(..)
            | Op::PartView(..)
            | Op::Reshape(..)
            | Op::Alloc { .. }
            | Op::Array(_)
            | Op::ConstArray(_)
            | Op::DynamicShared => return self.internal(format!("an operation that gives no number: {op:?}")),
        })
    }

    fn constant(&self, c: Const) -> Res<Num> {
        Ok(Num::Uniform(match c {
            Const::Bool(b) => Operand::Bool(b),
            Const::Int(_, v) => Operand::Int(v),
            Const::F16(bits) | Const::BF16(bits) => Operand::Int(bits.into()),
            Const::F32(bits) => Operand::F32(bits),
            Const::F64(bits) => Operand::F64(bits),
            Const::C64(..) | Const::C128(..) => return self.internal("a complex constant"),
        }))
    }

    pub fn divergent_barrier<T>(&self) -> Res<T> {
        self.unsupported("a barrier where threads of a block may go different ways")
    }
}
