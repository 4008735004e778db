//! Routines of linear algebra: the runtime is given their operands as views in memory.

use weft_ir::{Routine, Value};

use super::func::Fx;
use super::values::Res;
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    /// Calls a routine; gives its outcome.
    pub fn routine(&mut self, routine: Routine, threads: bool, operands: &[Value]) -> Res<Operand> {
        if self.gang.lanes > 0 {
            return self.internal("linear algebra in lanes");
        }
        let Some(first) = operands.first() else {
            return self.internal("a routine of nothing");
        };
        let elem = self.view_type(*first)?.elem;
        // A byte for each operand.
        let mut ranks = 0_i64;
        for operand in operands.iter().rev() {
            ranks = ranks << 8 | i64::from(self.view_type(*operand)?.rank);
        }
        let block = self.argument_block(&[], operands)?;
        self.cx.symbol("weft_routine");
        self.cx
            .declare("declare i64 @weft_routine(ptr, i32, i32, i32, i64, ptr)".to_owned());
        let (number, elem, threads) = (routine as i32, elem as i32, i32::from(threads));
        Ok(self.w.inst(format_args!(
            "call i64 @weft_routine(ptr %ctx, i32 {number}, i32 {elem}, i32 {threads}, i64 {ranks}, {})",
            block.typed(Ty::PTR)
        )))
    }
}
