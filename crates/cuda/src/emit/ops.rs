//! Which part of the emitter writes which operation.

use std::rc::Rc;

use weft_ir::{Const, Op, Value};

use super::func::Fx;
use super::number::Num;
use super::values::{Res, Val, View};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    pub fn op(&mut self, value: Value, op: &Op) -> Res<Val> {
        let view = |made: View| Ok(Val::View(Rc::new(made)));
        match op {
            Op::Get(local) => Ok(self.get_local(*local)),
            Op::Slice { view: of, axes } => {
                let (ty, of) = (self.view_type(value)?, self.view(*of)?);
                view(self.slice(ty, &of, axes)?)
            }
            Op::Transpose(of, perm) => {
                let (ty, of) = (self.view_type(value)?, self.view(*of)?);
                view(self.transpose(ty, &of, perm)?)
            }
            Op::PartView(of, part) => {
                let (ty, of) = (self.view_type(value)?, self.view(*of)?);
                view(self.part_view(ty, &of, *part))
            }
            Op::Reshape(of, shape) => {
                let (ty, of) = (self.view_type(value)?, self.view(*of)?);
                view(self.reshape(ty, &of, shape)?)
            }
            Op::Array(id) => {
                let ty = self.view_type(value)?;
                view(self.array(*id, ty))
            }
            Op::ConstArray(id) => {
                let ty = self.view_type(value)?;
                view(self.const_array(*id, ty))
            }
            Op::DynamicShared => {
                let ty = self.view_type(value)?;
                view(self.dynamic_shared(ty.elem))
            }
            Op::Select(cond, a, b) if self.f.ty(value).view().is_some() => {
                let (cond, a, b) = (self.operand(*cond)?, self.view(*a)?, self.view(*b)?);
                view(self.select_view(cond, &a, &b))
            }
            Op::Alloc { .. } => self.unsupported("an array made inside a kernel"),
            Op::Tuple(items) => Ok(Val::Tuple(items.iter().map(|item| self.val(*item)).collect::<Res<_>>()?)),
            Op::Item(tuple, i) => match self.val(*tuple)? {
                Val::Tuple(items) if (*i as usize) < items.len() => Ok(items[*i as usize].clone()),
                _ => self.internal("an item of what is no tuple"),
            },
            _ => Ok(Val::Num(self.number(value, op)?)),
        }
    }

    fn number(&mut self, result: Value, op: &Op) -> Res<Num> {
        Ok(match op {
            Op::Const(c) => self.constant(*c)?,
            Op::Unary(op, a) => {
                let (s, a) = (self.scalar(*a)?, self.num(*a)?);
                self.unary(*op, s, a)?
            }
            Op::Binary(op, a, b) => {
                if let (weft_ir::BinOp::Mul, Some(product)) = (op, self.grid_product(*a, *b)) {
                    return Ok(product);
                }
                let (s, count) = (self.scalar(*a)?, self.scalar(*b)?);
                let (a, b) = (self.num(*a)?, self.num(*b)?);
                self.binary(*op, s, a, b, count)?
            }
            Op::Compare(op, a, b) => {
                let (s, a, b) = (self.scalar(*a)?, self.num(*a)?, self.num(*b)?);
                Num::Reg(self.compare_nums(*op, s, a, b))
            }
            Op::Select(cond, a, b) => {
                let (cond, a, b) = (self.operand(*cond)?, self.num(*a)?, self.num(*b)?);
                self.select_num(cond, a, b)
            }
            Op::Fma(a, b, c) => {
                let (a, b, c) = (self.num(*a)?, self.num(*b)?, self.num(*c)?);
                self.fma(a, b, c)
            }
            Op::Cast(a) => {
                let (from, to, a) = (self.scalar(*a)?, self.scalar(result)?, self.num(*a)?);
                self.cast(from, to, a)
            }
            Op::Bitcast(a) => {
                let (to, a) = (self.scalar(result)?, self.num(*a)?);
                self.bitcast(to, a)
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
                self.atomic(*op, &view, indices, *value, *expected)?
            }
            Op::Geometry(query) => self.geometry(*query),
            Op::Warp { op, mask, value, lane } => {
                let (mask, value) = (self.operand(*mask)?, self.operand(*value)?);
                let lane = lane.map(|v| self.operand(v)).transpose()?;
                self.warp(*op, mask, value, lane)?
            }
            Op::ActiveMask => self.active_mask(),
            Op::BarrierReduce(op, value) => {
                let value = self.operand(*value)?;
                self.barrier_reduce(*op, value)
            }
            _ => return self.internal(format!("an operation the passes should have removed: {op:?}")),
        })
    }

    fn constant(&self, c: Const) -> Res<Num> {
        Ok(match c {
            Const::Bool(b) => Num::Reg(Operand::bool(b)),
            Const::Int(weft_ir::Scalar::I64, v) => Num::int(v),
            Const::Int(s, v) => Num::Reg(Ty::of(s).int_const(v)),
            Const::F16(bits) => Num::Reg(Operand::half(Ty::F16, bits)),
            Const::BF16(bits) => Num::Reg(Operand::half(Ty::BF16, bits)),
            Const::F32(bits) => Num::Reg(Operand::f32(bits)),
            Const::F64(bits) => Num::Reg(Operand::f64(bits)),
            Const::C64(..) | Const::C128(..) => return self.internal("a complex constant"),
        })
    }
}
