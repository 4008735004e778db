//! What only the host has: memory of its threads, and its C library.

use weft_ir::{Libm, ThreadState, Value, ViewType};

use super::func::Fx;
use super::values::{Num, Res, ViewVal};
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    /// The thread's memory. Its address is the same wherever the function asks: LLVM may ask once, before a loop.
    pub fn thread_state(&mut self, ty: ViewType, state: ThreadState) -> Res<ViewVal> {
        if self.gang.lanes > 0 {
            return self.internal("the state of a thread in lanes");
        }
        self.cx.symbol("weft_thread_state");
        self.cx
            .declare("declare nonnull ptr @weft_thread_state(i32) nounwind willreturn memory(none)".to_owned());
        let number = state as i32;
        let base = self
            .w
            .inst(format_args!("call nonnull align 8 ptr @weft_thread_state(i32 {number})"));
        Ok(self.contiguous(ty, base, Num::int(0), vec![Num::int(state.len() as i64)]))
    }

    pub fn libm(&mut self, function: Libm, args: &[Value]) -> Res<Operand> {
        if self.gang.lanes > 0 {
            return self.internal("the C library in lanes");
        }
        let symbol = match function {
            Libm::Log => "weft_libm_log",
            Libm::Exp => "weft_libm_exp",
            Libm::Pow => "weft_libm_pow",
            Libm::Cos => "weft_libm_cos",
            Libm::Acos => "weft_libm_acos",
        };
        let mut given = Vec::new();
        for arg in args {
            let Num::Uniform(arg) = self.num(*arg)? else {
                return self.internal("the C library in lanes");
            };
            given.push(format!("{}", arg.typed(Ty::scalar(Elem::F64))));
        }
        let types = vec!["double"; args.len()].join(", ");
        self.cx.symbol(symbol);
        self.cx
            .declare(format!("declare double @{symbol}({types}) nounwind willreturn memory(none)"));
        Ok(self.w.inst(format_args!("call double @{symbol}({})", given.join(", "))))
    }
}
