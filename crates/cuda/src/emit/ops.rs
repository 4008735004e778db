//! Operations: what threads do together and with memory, and conversions: which part of the emitter writes which operation.

use weft_ir::{ArrayId, AtomicOp, BarrierOp, ConstId, FuncId, Index, Scalar, Value, ViewType, WarpOp};
use weft_thread::{Code, Numbers, Operations};

use super::func::Fx;
use super::values::{Num, Place, Res, Val, View};
use super::writer::{Operand, Ty};

impl<'m> Operations<'m> for Fx<'_, 'm> {
    fn fma(&mut self, _s: Scalar, args: [Num; 3]) -> Res<Num> {
        let args = args.map(|n| self.take(n));
        Ok(Num::Reg(self.fma_inst(args)))
    }

    fn cast(&mut self, a: Value, to: Scalar) -> Res<Num> {
        let (from, a) = (self.scalar(a)?, self.num(a)?);
        Ok(self.cast_num(from, to, a))
    }

    fn bitcast(&mut self, _from: Scalar, to: Scalar, a: Num) -> Res<Num> {
        let x = self.take(a);
        Ok(Num::Reg(self.w.bitcast(x, Ty::of(to))))
    }

    fn array(&mut self, id: ArrayId, ty: ViewType) -> Res<Place> {
        Ok(place(self.arrays[id.index()], ty))
    }

    fn const_array(&mut self, id: ConstId, ty: ViewType) -> Res<Place> {
        Ok(place(self.cx.constant(id), ty))
    }

    fn dynamic_shared(&mut self, ty: ViewType) -> Res<View> {
        Ok(self.dynamic_memory(ty.elem))
    }

    fn atomic(&mut self, op: AtomicOp, view: &View, indices: &[Index], value: Value, expected: Option<Value>) -> Res<Num> {
        self.change(op, view, indices, value, expected)
    }

    fn warp(&mut self, op: WarpOp, mask: Value, value: Value, lane: Option<Value>) -> Res<Num> {
        let (mask, value) = (self.operand(mask)?, self.operand(value)?);
        let lane = lane.map(|v| self.operand(v)).transpose()?;
        self.warp_inst(op, mask, value, lane)
    }

    fn call(&mut self, func: FuncId, args: &[Value]) -> Res<Val> {
        self.call_alone(func, args)
    }

    fn out_of_stack(&mut self) -> Res<Num> {
        self.is_out_of_stack()
    }

    fn active_mask(&mut self) -> Res<Num> {
        Ok(Num::Reg(self.nvvm("activemask", Ty::I32, &[])))
    }

    /// A barrier that tells every thread about a bool of each.
    fn barrier_reduce(&mut self, op: BarrierOp, value: Value) -> Res<Num> {
        let value = self.operand(value)?;
        let (name, ty) = match op {
            BarrierOp::Count => ("popc", Ty::I32),
            BarrierOp::And => ("and", Ty::I1),
            BarrierOp::Or => ("or", Ty::I1),
        };
        let name = format!("barrier.cta.red.{name}.aligned.all");
        Ok(Num::Reg(self.nvvm(&name, ty, &[Ty::I32.int_const(0), value])))
    }
}

/// Of an array of the program's own.
fn place(base: Operand, ty: ViewType) -> Place {
    Place {
        base,
        short: true,
        align: ty.elem.size(),
    }
}
