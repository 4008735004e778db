//! Which part of the emitter writes which operation.

use std::rc::Rc;

use weft_ir::{BinOp, Const, Op, Scalar, Value};

use super::Word;
use super::func::Fx;
use super::number::Num;
use super::values::{Res, Val, View};
use super::writer::{Operand, Ty};

impl Fx<'_> {
    pub fn op(&mut self, value: Value, op: &Op) -> Res<Val> {
        let view = |made: View| Ok(Val::View(Rc::new(made)));
        match op {
            Op::Get(local) => {
                self.known.read(value, *local);
                Ok(self.get_local(*local))
            }
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
                self.check_local_arrays()?;
                view(self.array(*id, ty))
            }
            Op::ConstArray(id) => {
                let ty = self.view_type(value)?;
                view(self.const_array(*id, ty)?)
            }
            Op::DynamicShared => {
                let ty = self.view_type(value)?;
                view(self.dynamic_shared(ty)?)
            }
            Op::Select(cond, a, b) if self.f.ty(value).view().is_some() => {
                let (cond, a, b) = (self.operand(*cond)?, self.view(*a)?, self.view(*b)?);
                view(self.select_view(cond, &a, &b))
            }
            Op::Alloc { .. } => self.unsupported("an array made inside a kernel"),
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
                if let (BinOp::Mul, Some(product)) = (op, self.grid_product(*a, *b)) {
                    return Ok(product);
                }
                let (s, count) = (self.scalar(*a)?, self.scalar(*b)?);
                let (a, b) = (self.num(*a)?, self.num(*b)?);
                self.binary(*op, s, a, b, count)?
            }
            Op::Compare(op, a, b) => {
                let (s, a, b) = (self.scalar(*a)?, self.num(*a)?, self.num(*b)?);
                Num::Reg(self.compare_nums(*op, s, a, b)?)
            }
            Op::Select(cond, a, b) => {
                let (cond, a, b) = (self.operand(*cond)?, self.num(*a)?, self.num(*b)?);
                self.select_num(cond, a, b)
            }
            Op::Fma(a, b, c) => {
                let args = [self.num(*a)?, self.num(*b)?, self.num(*c)?];
                self.fma(self.scalar(*a)?, args)?
            }
            Op::Cast(a) if self.doubles.contains_key(a) && self.scalar(result)? == Scalar::F32 => {
                let bits = self.word(Word::Single(self.doubles[a]));
                Num::Reg(self.w.bitcast(bits, Ty::F32))
            }
            Op::Cast(a) => {
                let (from, to, a) = (self.scalar(*a)?, self.scalar(result)?, self.num(*a)?);
                self.cast(from, to, a)?
            }
            Op::Bitcast(a) => {
                let (from, to, a) = (self.scalar(*a)?, self.scalar(result)?, self.num(*a)?);
                self.bitcast(from, to, a)?
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
            Op::Warp { op, value, lane, .. } => self.warp(*op, *value, *lane)?,
            Op::Geometry(query) => self.geometry(*query),
            _ => return self.internal(format!("an operation the passes should have removed: {op:?}")),
        })
    }

    fn constant(&self, c: Const) -> Res<Num> {
        Ok(match c {
            Const::Bool(b) => Num::Reg(Operand::bool(b)),
            Const::Int(Scalar::I64, v) => Num::int(v),
            Const::Int(s, v) => Num::Reg(Ty::of(s).int(v)),
            Const::F16(bits) | Const::BF16(bits) => Num::Reg(Ty::U32.int(bits.into())),
            Const::F32(bits) => Num::Reg(Operand::bits(Ty::F32, bits.into())),
            Const::F64(bits) => Num::Reg(Operand::bits(Ty::F64, bits)),
            Const::C64(..) | Const::C128(..) => return self.internal("a complex constant"),
        })
    }
}
