//! Operations: what each of them means for a thread.

use std::rc::Rc;

use weft_ir::{ArrayId, AtomicOp, BarrierOp, BinOp, Const, ConstId, FuncId, Index, Local, Op, Scalar, Value, ViewType, WarpOp};

use super::code::PlaceOf;
use super::number::{Num, Register};
use super::values::{Val, View};
use super::views::Views;

/// What is more than arithmetic and views.
pub trait Operations<'m>: Views<'m> {
    /// A local is read for a value.
    fn note_read(&mut self, _value: Value, _local: Local) {}

    fn fma(&mut self, s: Scalar, args: [Num<Self::Operand>; 3]) -> Result<Num<Self::Operand>, Self::Error>;

    fn cast(&mut self, a: Value, to: Scalar) -> Result<Num<Self::Operand>, Self::Error>;

    fn bitcast(&mut self, from: Scalar, to: Scalar, a: Num<Self::Operand>) -> Result<Num<Self::Operand>, Self::Error>;

    /// Where an array of the function, or of the module, lies.
    fn array(&mut self, id: ArrayId, ty: ViewType) -> Result<PlaceOf<'m, Self>, Self::Error>;

    fn const_array(&mut self, id: ConstId, ty: ViewType) -> Result<PlaceOf<'m, Self>, Self::Error>;

    fn dynamic_shared(&mut self, ty: ViewType) -> Result<View<Self::Machine>, Self::Error>;

    /// Gives the old element.
    fn atomic(
        &mut self,
        op: AtomicOp,
        view: &View<Self::Machine>,
        indices: &[Index],
        value: Value,
        expected: Option<Value>,
    ) -> Result<Num<Self::Operand>, Self::Error>;

    fn warp(&mut self, op: WarpOp, mask: Value, value: Value, lane: Option<Value>) -> Result<Num<Self::Operand>, Self::Error>;

    fn active_mask(&mut self) -> Result<Num<Self::Operand>, Self::Error>;

    fn barrier_reduce(&mut self, op: BarrierOp, value: Value) -> Result<Num<Self::Operand>, Self::Error>;

    /// Calls a function that was not inlined, since it calls itself.
    fn call(&mut self, func: FuncId, args: &[Value]) -> Result<Val<Self::Machine>, Self::Error>;

    /// Is too little stack left to call this function again?
    fn out_of_stack(&mut self) -> Result<Num<Self::Operand>, Self::Error>;

    fn op(&mut self, result: Value, op: &Op) -> Result<Val<Self::Machine>, Self::Error> {
        let n = match op {
            Op::Get(local) => {
                self.note_read(result, *local);
                return Ok(self.get_local(*local));
            }
            Op::Tuple(items) => return Ok(Val::Tuple(items.iter().map(|item| self.val(*item)).collect::<Result<_, _>>()?)),
            Op::Item(tuple, i) => return self.item(*tuple, *i),
            Op::Select(cond, a, b) => return self.select_val(*cond, *a, *b),
            Op::Slice { view, axes } => return self.made(result, *view, |code, ty, view| code.slice(ty, view, axes)),
            Op::Transpose(view, perm) => return self.made(result, *view, |code, ty, view| code.transpose(ty, view, perm)),
            Op::PartView(view, part) => return self.made(result, *view, |code, ty, view| code.part_view(ty, view, *part)),
            Op::Reshape(view, shape) => return self.made(result, *view, |code, ty, view| code.reshape(ty, view, shape)),
            Op::Array(id) => return self.array_of(result, *id),
            Op::ConstArray(id) => return self.const_array_of(result, *id),
            Op::DynamicShared => {
                let ty = self.view_type(result)?;
                return Ok(Val::View(Rc::new(self.dynamic_shared(ty)?)));
            }
            Op::Alloc { .. } => return self.unsupported("an array made inside a kernel"),
            Op::Routine { .. } => return self.unsupported("linear algebra inside a kernel"),
            Op::ThreadState(_) | Op::Libm { .. } => return self.unsupported("the state of a host's thread inside a kernel"),
            Op::Const(c) => self.constant(*c)?,
            Op::Unary(op, a) => {
                let (s, a) = (self.scalar(*a)?, self.num(*a)?);
                self.unary(*op, s, a)?
            }
            Op::Binary(op, a, b) => self.binary_of(*op, *a, *b)?,
            Op::Compare(op, a, b) => {
                let (s, a, b) = (self.scalar(*a)?, self.num(*a)?, self.num(*b)?);
                Num::Reg(self.compare_nums(*op, s, a, b)?)
            }
            Op::Fma(a, b, c) => {
                let args = [self.num(*a)?, self.num(*b)?, self.num(*c)?];
                self.fma(self.scalar(*a)?, args)?
            }
            Op::Cast(a) => self.cast(*a, self.scalar(result)?)?,
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
            Op::Geometry(query) => self.geometry(*query),
            Op::Warp { op, mask, value, lane } => self.warp(*op, *mask, *value, *lane)?,
            Op::ActiveMask => self.active_mask()?,
            Op::BarrierReduce(op, value) => self.barrier_reduce(*op, *value)?,
            Op::Call(func, args) => return self.call(*func, args),
            Op::OutOfStack => self.out_of_stack()?,
            Op::Complex(..) | Op::Re(_) | Op::Im(_) | Op::Apart(..) => {
                return self.internal(format!("an operation the passes should have removed: {op:?}"));
            }
        };
        Ok(Val::Num(n))
    }

    fn item(&self, tuple: Value, i: u32) -> Result<Val<Self::Machine>, Self::Error> {
        match self.val(tuple)? {
            Val::Tuple(items) if (i as usize) < items.len() => Ok(items[i as usize].clone()),
            Val::Tuple(_) | Val::Num(_) | Val::View(_) => self.internal("an item of what is no tuple"),
        }
    }

    fn select_val(&mut self, cond: Value, a: Value, b: Value) -> Result<Val<Self::Machine>, Self::Error> {
        let cond = self.operand(cond)?;
        if self.f.ty(a).view().is_some() {
            let (a, b) = (self.view(a)?, self.view(b)?);
            return Ok(Val::View(Rc::new(self.select_view(cond, &a, &b))));
        }
        let (a, b) = (self.num(a)?, self.num(b)?);
        Ok(Val::Num(self.select_num(cond, a, b)))
    }

    /// A view made of another one.
    fn made(
        &mut self,
        result: Value,
        of: Value,
        make: impl FnOnce(&mut Self, ViewType, &View<Self::Machine>) -> Result<View<Self::Machine>, Self::Error>,
    ) -> Result<Val<Self::Machine>, Self::Error> {
        let (ty, of) = (self.view_type(result)?, self.view(of)?);
        Ok(Val::View(Rc::new(make(self, ty, &of)?)))
    }

    fn binary_of(&mut self, op: BinOp, a: Value, b: Value) -> Result<Num<Self::Operand>, Self::Error> {
        if op == BinOp::Mul
            && let Some(product) = self.grid_product(a, b)
        {
            return Ok(product);
        }
        let (s, count) = (self.scalar(a)?, self.scalar(b)?);
        let (a, b) = (self.num(a)?, self.num(b)?);
        self.binary(op, s, a, b, count)
    }

    fn constant(&self, c: Const) -> Result<Num<Self::Operand>, Self::Error> {
        let float = |s, bits| Ok(Num::Reg(Self::Operand::float_constant(s, bits)));
        match c {
            Const::Bool(b) => Ok(Num::Reg(Self::Operand::truth(b))),
            Const::Int(Scalar::I64, v) => Ok(Num::int(v)),
            Const::Int(s, v) => Ok(Num::Reg(Self::Operand::constant(s, v))),
            Const::F16(bits) => float(Scalar::F16, bits.into()),
            Const::BF16(bits) => float(Scalar::BF16, bits.into()),
            Const::F32(bits) => float(Scalar::F32, bits.into()),
            Const::F64(bits) => float(Scalar::F64, bits),
            Const::C64(..) | Const::C128(..) => self.internal("a complex constant"),
        }
    }

    fn array_of(&mut self, result: Value, id: ArrayId) -> Result<Val<Self::Machine>, Self::Error> {
        let (f, ty) = (self.f, self.view_type(result)?);
        let place = self.array(id, ty)?;
        Ok(Val::View(Rc::new(View::fixed(ty, place, &f.arrays[id.index()].shape))))
    }

    fn const_array_of(&mut self, result: Value, id: ConstId) -> Result<Val<Self::Machine>, Self::Error> {
        let (module, ty) = (self.module, self.view_type(result)?);
        let place = self.const_array(id, ty)?;
        Ok(Val::View(Rc::new(View::fixed(ty, place, &module.constants[id.index()].shape))))
    }
}
