//! Argument and result blocks: values in slots of 8 bytes, as the runtime and other functions hand them over.

use std::rc::Rc;

use weft_ir::{Scalar, Type, Value};

use super::func::Fx;
use super::values::{Num, Res, Val, ViewVal, elem, memory_elem};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    /// Reads slot `at` of the argument block.
    pub fn load_slot(&mut self, at: usize, ty: Ty) -> Operand {
        self.load_from(Operand::Arg("args"), at, ty)
    }

    pub fn load_from(&mut self, block: Operand, at: usize, ty: Ty) -> Operand {
        let ptr = self.w.offset(block, Operand::Int(8 * at as i64));
        self.w.load(ty, ptr)
    }

    /// A value from the slots of a block.
    pub fn load_val(&mut self, ty: &Type, block: Operand, at: usize) -> Res<Val> {
        match ty {
            Type::Scalar(s) if s.is_complex() => self.internal("a complex parameter"),
            Type::Scalar(s) => {
                let memory = Ty::scalar(memory_elem(*s));
                let mut value = self.load_from(block, at, memory);
                if *s == Scalar::Bool {
                    value = self.w.inst(format_args!("icmp ne {}, 0", value.typed(memory)));
                }
                Ok(Val::Num(Num::Uniform(value)))
            }
            Type::View(v) => {
                let rank = v.rank as usize;
                let base = self.load_from(block, at, Ty::PTR);
                let mut entries =
                    |first: usize| -> Vec<Num> { (0..rank).map(|i| Num::Uniform(self.load_from(block, first + i, Ty::I64))).collect() };
                let (shape, given) = (entries(at + 1), entries(at + 1 + rank));
                let strides = self.layout_strides(*v, &shape, &given);
                let pitch = v.elem.size() as i64;
                Ok(Val::View(Rc::new(ViewVal {
                    ty: *v,
                    base,
                    offset: Num::int(0),
                    shape,
                    strides,
                    pitch,
                })))
            }
            Type::Tuple(items) => {
                let (mut vals, mut next) = (Vec::new(), at);
                for item in items {
                    vals.push(self.load_val(item, block, next)?);
                    next += item.slots();
                }
                Ok(Val::Tuple(vals))
            }
        }
    }

    /// Writes what a host function returns into the result slots.
    pub fn store_results(&mut self, value: Value) -> Res<()> {
        let (val, ty) = (self.val(value)?, self.f.ty(value).clone());
        self.store_result(&val, &ty, Operand::Arg("extra"), 0)
    }

    pub fn store_result(&mut self, val: &Val, ty: &Type, block: Operand, at: usize) -> Res<()> {
        match (val, ty) {
            (Val::Num(n), Type::Scalar(s)) => self.store_slot(*n, *s, block, at),
            (Val::View(view), _) => {
                let base = self.view_address(view)?;
                self.store_address(base, block, at);
                for (i, n) in view.shape.iter().chain(&view.strides).enumerate() {
                    self.store_slot(*n, Scalar::I64, block, at + 1 + i)?;
                }
                Ok(())
            }
            (Val::Tuple(vals), Type::Tuple(items)) => {
                let mut next = at;
                for (val, ty) in vals.iter().zip(items) {
                    self.store_result(val, ty, block, next)?;
                    next += ty.slots();
                }
                Ok(())
            }
            _ => self.internal("a result that does not have its type"),
        }
    }

    fn view_address(&mut self, view: &ViewVal) -> Res<Operand> {
        match view.offset {
            Num::Uniform(at) => Ok(self.w.offset(view.base, at)),
            _ => self.unsupported("an array that differs between lanes cannot leave them"),
        }
    }

    pub fn store_address(&mut self, base: Operand, block: Operand, at: usize) {
        let ptr = self.w.offset(block, Operand::Int(8 * at as i64));
        self.w.store(Ty::PTR, base, ptr);
    }

    /// Writes a uniform number into an 8-byte slot, small integers extended.
    pub fn store_slot(&mut self, n: Num, s: Scalar, block: Operand, at: usize) -> Res<()> {
        let Num::Uniform(op) = n else {
            return self.internal("lanes where one number is needed");
        };
        let ptr = self.w.offset(block, Operand::Int(8 * at as i64));
        let ty = Ty::scalar(elem(s));
        if ty.elem.is_float() {
            self.w.store(ty, op, ptr);
            return Ok(());
        }
        let wide = match op {
            Operand::Bool(b) => Operand::Int(i64::from(b)),
            _ if op.is_const() => op,
            _ => self.resize_int(op, ty, Ty::I64, s.is_signed()),
        };
        self.w.store(Ty::I64, wide, ptr);
        Ok(())
    }

    pub fn argument_block(&mut self, extents: &[Value], args: &[Value]) -> Res<Operand> {
        let slots: usize = extents.len() + args.iter().map(|a| self.f.ty(*a).slots()).sum::<usize>();
        let block = self.w.entry_inst(format_args!("alloca [{} x i64]", slots.max(1)));
        let mut at = 0;
        for value in extents.iter().chain(args) {
            let (val, ty) = (self.val(*value)?, self.f.ty(*value).clone());
            self.store_result(&val, &ty, block, at)?;
            at += ty.slots();
        }
        Ok(block)
    }

    /// A scalar as it lies in slot `at` of a block.
    pub fn read_slot_number(&mut self, block: Operand, at: usize, s: Scalar) -> Num {
        let ptr = self.w.offset(block, Operand::Int(8 * at as i64));
        let memory = Ty::scalar(memory_elem(s));
        let value = self.w.load(memory, ptr);
        Num::Uniform(match s {
            Scalar::Bool => self.w.inst(format_args!("icmp ne {}, 0", value.typed(memory))),
            _ => value,
        })
    }
}
