//! Operations: what threads do together and with memory, and conversions: which part of the emitter writes which operation.

use weft_ir::{ArrayId, AtomicOp, BarrierOp, ConstId, FuncId, Index, Local, Scalar, Value, ViewType, WarpOp};
use weft_thread::{Code, Numbers, Operations};

use super::Word;
use super::func::Fx;
use super::numbers::Number;
use super::operand::Ty;
use super::storage::StorageId;
use super::values::{Base, Num, Place, Res, Val, View};

impl<'m> Operations<'m> for Fx<'m> {
    fn note_read(&mut self, value: Value, local: Local) {
        self.known.read(value, local);
    }

    fn fma(&mut self, s: Scalar, args: [Num; 3]) -> Res<Num> {
        let args = args.map(|n| self.take(n));
        Ok(Num::Reg(self.calc(Number::Fma(s), &args)?))
    }

    fn cast(&mut self, a: Value, to: Scalar) -> Res<Num> {
        if let (Some(slot), Scalar::F32) = (self.arguments.doubles.get(&a), to) {
            let bits = self.word(Word::Single(*slot));
            return Ok(Num::Reg(self.w.bitcast(bits, Ty::F32)));
        }
        let (from, a) = (self.scalar(a)?, self.num(a)?);
        self.cast_num(from, to, a)
    }

    fn bitcast(&mut self, from: Scalar, to: Scalar, a: Num) -> Res<Num> {
        let x = self.take(a);
        let x = if from.is_int() && to.is_float() { self.veiled(x) } else { x };
        Ok(Num::Reg(self.calc(Number::Bitcast { from, to }, &[x])?))
    }

    fn array(&mut self, id: ArrayId, _ty: ViewType) -> Res<Place> {
        self.check_local_arrays()?;
        let (storage, start) = self.memory.storages.arrays[id.index()];
        Ok(place(storage, start))
    }

    fn const_array(&mut self, id: ConstId, ty: ViewType) -> Res<Place> {
        let Some(storage) = self.memory.storages.constants else {
            return self.internal("constants without a storage");
        };
        Ok(place(storage, self.cx.constants[id.index()] / ty.elem.part().size() as u64))
    }

    fn dynamic_shared(&mut self, ty: ViewType) -> Res<View> {
        let Some(storage) = self.memory.storages.dynamic else {
            return self.internal("dynamic shared memory without a storage");
        };
        let count = u64::from(self.cx.request.shared_bytes) / ty.elem.size() as u64;
        Ok(View::fixed(ty, place(storage, 0), &[count]))
    }

    fn atomic(&mut self, op: AtomicOp, view: &View, indices: &[Index], value: Value, expected: Option<Value>) -> Res<Num> {
        self.change(op, view, indices, value, expected)
    }

    fn warp(&mut self, op: WarpOp, _mask: Value, value: Value, lane: Option<Value>) -> Res<Num> {
        self.of_group(op, value, lane)
    }

    fn call(&mut self, _func: FuncId, _args: &[Value]) -> Res<Val> {
        self.internal("a call of a function that calls itself, which passes refuse")
    }

    fn out_of_stack(&mut self) -> Res<Num> {
        self.internal("a question for the stack, which shaders have not")
    }

    fn active_mask(&mut self) -> Res<Num> {
        self.internal("a mask of lanes, which passes lower")
    }

    fn barrier_reduce(&mut self, op: BarrierOp, _value: Value) -> Res<Num> {
        self.internal(format!("{op:?} at a barrier, which passes lower"))
    }
}

/// In a storage, from a part on.
fn place(storage: StorageId, start: u64) -> Place {
    Place {
        base: Base::One(storage),
        offset: Ty::I32.int(start as i64),
    }
}
