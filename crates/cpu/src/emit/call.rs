//! Calls: rare functions are functions of their own, for one lane or for a hardware vector of them; host functions that call themselves are
//! called as the host calls the entry. Arguments and results go through memory.

use weft_ir::{FuncId, Scalar, Type, Value};

use super::func::Fx;
use super::target::EmitError;
use super::values::{Res, Val, elem};
use super::width;
use super::writer::{Operand, Ty};

/// What a result's memory is called inside the function.
pub const RESULTS: [&str; 8] = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"];
pub const PARAMS: [&str; 8] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];

/// The scalars a result consists of.
pub fn scalars(result: &Type) -> Res<Vec<Scalar>> {
    let items = match result {
        Type::Tuple(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let scalars: Option<Vec<Scalar>> = items.iter().map(Type::scalar).collect();
    scalars
        .filter(|s| s.len() <= RESULTS.len())
        .ok_or_else(|| EmitError::Internal("a call that does not give a few scalars".into()))
}

impl Fx<'_, '_> {
    /// Lanes that are off are computed too: there is nothing a rare function could do wrong. It takes one hardware vector at a time, which
    /// keeps it short; a value that lanes share goes through it as such a vector.
    pub fn call_rare(&mut self, func: FuncId, args: &[Value]) -> Res<Val> {
        let callee = self.cx.module.function(func);
        let results = scalars(&callee.result)?;
        if args.len() > PARAMS.len() {
            return self.internal("a call with many arguments");
        }
        let mut nums = Vec::new();
        for arg in args {
            nums.push((self.num(*arg)?, elem(self.scalar(*arg)?)));
        }
        let at_once = self.gang.lanes.min(self.cx.target.vector_bits / width::widest(callee));
        let uniform = nums.iter().all(|(n, _)| n.is_uniform());
        let lanes = if uniform { at_once } else { self.gang.lanes };
        let mut memory = Vec::new();
        for (num, elem) in nums {
            let ty = Ty { elem, lanes };
            let value = self.take(num, ty);
            let ptr = self.w.alloca(ty);
            self.w.store(ty, value, ptr);
            memory.push((ty, ptr));
        }
        for s in results {
            let ty = Ty { elem: elem(s), lanes };
            memory.push((ty, self.w.alloca(ty)));
        }
        let symbol = self.cx.rare_symbol(func, at_once);
        for first in (0..lanes.max(1)).step_by(at_once.max(1) as usize) {
            let passed: Vec<String> = memory.iter().map(|(ty, ptr)| self.lane_address(*ty, *ptr, first)).collect();
            self.w.line(format_args!("call void @{symbol}({}) #1", passed.join(", ")));
        }
        let mut vals = Vec::new();
        for (ty, ptr) in &memory[args.len()..] {
            let one = if uniform { Ty::scalar(ty.elem) } else { *ty };
            let value = self.w.load(one, *ptr);
            vals.push(Val::Num(self.wrap(value, one)));
        }
        Ok(match (&callee.result, vals.as_slice()) {
            (Type::Scalar(_), [one]) => one.clone(),
            _ => Val::Tuple(vals),
        })
    }

    /// The address of a lane of a vector in memory.
    fn lane_address(&mut self, ty: Ty, ptr: Operand, lane: u32) -> String {
        let bytes = i64::from(lane * ty.elem.bits() / 8);
        self.w.offset(ptr, Operand::Int(bytes)).typed(Ty::PTR).to_string()
    }

    /// What a rare function gives its caller.
    pub fn store_rare_results(&mut self, value: Value) -> Res<()> {
        let vals = match self.val(value)? {
            Val::Tuple(vals) => vals,
            one => vec![one],
        };
        let types = scalars(&self.f.result)?;
        for ((val, s), name) in vals.iter().zip(types).zip(RESULTS) {
            let Val::Num(num) = val else {
                return self.internal("a result that is no number");
            };
            let ty = self.gang.vector_ty(elem(s));
            let value = self.take(*num, ty);
            self.w.store(ty, value, Operand::Arg(name));
        }
        Ok(())
    }

    /// Calls a host function with an argument block and takes its results; what it raised ends this function, too.
    pub fn call_host(&mut self, func: FuncId, args: &[Value]) -> Res<Val> {
        if self.gang.lanes > 0 {
            return self.internal("lanes that call a function of the host");
        }
        let callee = self.cx.module.function(func);
        let symbol = self.cx.host_symbol(func);
        let given = self.argument_block(&[], args)?;
        let results = self.w.entry_inst(format_args!("alloca [{} x i64]", callee.result.slots().max(1)));
        let failed = self.w.inst(format_args!(
            "call i32 @{symbol}(ptr %ctx, {}, {}, i64 0, i64 0)",
            given.typed(Ty::PTR),
            results.typed(Ty::PTR)
        ));
        if callee.origin.is_library() && !self.f.origin.is_library() {
            self.shown_here(failed);
        }
        self.leave_if_failed(failed);
        self.load_val(&callee.result, results, 0)
    }

    /// What a function of the library raises is shown where it is called.
    fn shown_here(&mut self, failed: Operand) {
        let call = self.cx.call_sites.len();
        self.cx.call_sites.push(self.span);
        self.cx.symbol("weft_called");
        self.cx.declare("declare void @weft_called(ptr, i32)".to_owned());
        let failed = self.w.inst(format_args!("icmp ne {}, 0", failed.typed(Ty::I32)));
        let (bad, good) = (self.w.label(), self.w.label());
        self.w.cond_br(failed, bad, good);
        self.w.place(bad);
        self.w.line(format_args!("call void @weft_called(ptr %ctx, i32 {call})"));
        self.w.br(good);
        self.w.place(good);
    }

    /// Is what lies under this function's frame below what the context says is left of the stack?
    pub fn out_of_stack(&mut self) -> Operand {
        self.cx.recursive = true;
        self.cx.declare("declare ptr @llvm.frameaddress.p0(i32 immarg)".to_owned());
        let lowest = self.w.load(Ty::I64, Operand::Arg("ctx"));
        let frame = self.w.inst(format_args!("call ptr @llvm.frameaddress.p0(i32 0)"));
        let here = self.w.inst(format_args!("ptrtoint {} to i64", frame.typed(Ty::PTR)));
        self.w
            .inst(format_args!("icmp ult {}, {}", here.typed(Ty::I64), lowest.of(Ty::I64)))
    }

    pub fn leave_if_failed(&mut self, code: Operand) {
        let failed = self.w.inst(format_args!("icmp ne {}, 0", code.typed(Ty::I32)));
        let (bad, good) = (self.w.label(), self.w.label());
        self.w.cond_br(failed, bad, good);
        self.w.place(bad);
        self.w.store(Ty::I32, code, self.control.status);
        self.w.br(self.control.exit);
        self.w.place(good);
    }
}
