//! Calls of functions that are called alone (`passes::alone`), from lanes: each lane that is on calls their scalar code, one after the other.
//!
//! They take and give argument blocks as functions of the host do. Whether they raised, the last item of what they give, is what the call
//! itself returns.

use weft_ir::{FuncId, Op, Scalar, StmtKind, Type, Value};
use weft_passes::alone::is_alone;

use super::func::Fx;
use super::lanes::Spilled;
use super::values::{Num, Res, Val, elem, memory_elem};
use super::writer::{Operand, Ty};

/// Part of an argument, of which a call takes one lane.
enum Given {
    Number(Spilled, Scalar),
    /// What an offset is added to.
    Address(Operand, Spilled),
}

/// Memory for one item of what the calls give: one of it a lane.
struct Found {
    memory: Operand,
    scalar: Scalar,
}

impl Fx<'_, '_> {
    /// Do threads call a function with a local array, which then must lie in one piece?
    pub fn hands_on_arrays(&self) -> bool {
        let is_local = |v: &Value| self.f.ty(*v).view().is_some_and(|view| view.space == weft_ir::Space::Local);
        self.f.body.any(&mut |kind| match kind {
            StmtKind::Let(_, Op::Call(callee, args)) => is_alone(self.cx.module.function(*callee)) && args.iter().any(is_local),
            _ => false,
        })
    }

    pub fn call_alone(&mut self, func: FuncId, args: &[Value]) -> Res<Val> {
        let vals = args.iter().map(|arg| self.val(*arg)).collect::<Res<Vec<_>>>()?;
        if self.gang.lanes == 0 || !self.cx.calls.differ(func) && vals.iter().all(is_uniform) {
            return self.call_once(func, args);
        }
        let callee = self.cx.module.function(func);
        let Type::Tuple(types) = &callee.result else {
            return self.internal("a function that is called alone and does not say whether it raised");
        };
        let symbol = self.cx.host_symbol(func);
        let mut given = Vec::new();
        for (val, param) in vals.iter().zip(&callee.params) {
            self.take_apart(val, callee.ty(*param), &mut given)?;
        }
        let mut found = Vec::new();
        for ty in types {
            let Type::Scalar(scalar) = ty else {
                return self.unsupported("an array that differs between threads");
            };
            let memory = self.result_slot(memory_elem(*scalar));
            found.push(Found { memory, scalar: *scalar });
        }
        let block = self.w.entry_inst(format_args!("alloca [{} x i64]", given.len().max(1)));
        let results = self.w.entry_inst(format_args!("alloca [{} x i64]", callee.result.slots()));
        self.each_lane(&mut |fx, lane| {
            fx.fill_block(&given, lane, block)?;
            let failed = fx.call_symbol(&symbol, block, results);
            fx.keep_results(&found, lane, results, failed);
            Ok(())
        })?;
        let vals = found.iter().map(|found| Val::Num(self.found(found))).collect();
        Ok(Val::Tuple(vals))
    }

    /// One call for all lanes, or for the only one.
    fn call_once(&mut self, func: FuncId, args: &[Value]) -> Res<Val> {
        let result = &self.cx.module.function(func).result;
        let symbol = self.cx.host_symbol(func);
        let given = self.argument_block(&[], args)?;
        let results = self.w.entry_inst(format_args!("alloca [{} x i64]", result.slots()));
        let failed = self.call_symbol(&symbol, given, results);
        let Val::Tuple(mut vals) = self.load_val(result, results, 0)? else {
            return self.internal("a function that is called alone and does not say whether it raised");
        };
        if let Some(last) = vals.last_mut() {
            *last = Val::Num(Num::Uniform(failed));
        }
        Ok(Val::Tuple(vals))
    }

    fn call_symbol(&mut self, symbol: &str, given: Operand, results: Operand) -> Operand {
        let status = self.w.inst(format_args!(
            "call i32 @{symbol}(ptr %ctx, {}, {}, i64 0, i64 0)",
            given.typed(Ty::PTR),
            results.typed(Ty::PTR)
        ));
        self.w.inst(format_args!("icmp ne {}, 0", status.typed(Ty::I32)))
    }

    /// An argument in the order of its slots.
    fn take_apart(&mut self, val: &Val, ty: &Type, into: &mut Vec<Given>) -> Res<()> {
        match (val, ty) {
            (Val::Num(n), Type::Scalar(s)) => into.push(Given::Number(self.spill(*n, elem(*s)), *s)),
            (Val::View(view), _) => {
                let offset = self.spill(view.offset, elem(Scalar::I64));
                into.push(Given::Address(view.base, offset));
                for n in view.shape.iter().chain(&view.strides) {
                    into.push(Given::Number(self.spill(*n, elem(Scalar::I64)), Scalar::I64));
                }
            }
            (Val::Tuple(vals), Type::Tuple(types)) => {
                for (val, ty) in vals.iter().zip(types) {
                    self.take_apart(val, ty, into)?;
                }
            }
            _ => return self.internal("an argument that does not have its type"),
        }
        Ok(())
    }

    fn fill_block(&mut self, given: &[Given], lane: Operand, block: Operand) -> Res<()> {
        for (at, part) in given.iter().enumerate() {
            match part {
                Given::Number(spilled, s) => {
                    let n = self.lane_of(*spilled, lane);
                    self.store_slot(Num::Uniform(n), *s, block, at)?;
                }
                Given::Address(base, offset) => {
                    let offset = self.lane_of(*offset, lane);
                    let address = self.w.offset(*base, offset);
                    self.store_address(address, block, at);
                }
            }
        }
        Ok(())
    }

    /// Puts what a lane's call gave where that lane's is; the last item is whether it raised.
    fn keep_results(&mut self, found: &[Found], lane: Operand, results: Operand, failed: Operand) {
        for (at, Found { memory, scalar }) in found.iter().enumerate() {
            let ty = Ty::scalar(memory_elem(*scalar));
            let value = match at + 1 == found.len() {
                true => self.convert("zext", failed, Ty::BOOL, ty),
                false => self.load_from(results, at, ty),
            };
            let to = self.lane_slot(*memory, ty.elem, lane);
            self.w.store(ty, value, to);
        }
    }

    /// The item that all lanes have now.
    fn found(&mut self, found: &Found) -> Num {
        let ty = self.gang.vector_ty(memory_elem(found.scalar));
        let value = self.w.load(ty, found.memory);
        match found.scalar {
            Scalar::Bool => Num::Varying(self.w.inst(format_args!("icmp ne {}, zeroinitializer", value.typed(ty)))),
            _ => Num::Varying(value),
        }
    }
}

fn is_uniform(val: &Val) -> bool {
    match val {
        Val::Num(n) => n.is_uniform(),
        Val::View(view) => view.offset.is_uniform() && view.shape.iter().chain(&view.strides).all(|n| n.is_uniform()),
        Val::Tuple(vals) => vals.iter().all(is_uniform),
    }
}
