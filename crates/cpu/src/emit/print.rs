//! Reports of errors and `print`: calls of the runtime, once per gang or once per lane.

use weft_ir::{ErrorKind, PrintItem, Scalar, Value};

use weft_runtime::mailbox::{ErrorSite, PrintSite};

use super::func::Fx;
use super::values::{Num, Res, elem};
use super::writer::{Operand, Ty};

impl Fx<'_, '_> {
    /// Records the error.
    pub fn report(&mut self, kind: ErrorKind, message: &str) -> Res<()> {
        let site = self.cx.error_sites.len();
        self.cx.error_sites.push(ErrorSite {
            kind,
            message: message.to_owned(),
            span: self.span,
        });
        self.cx.symbol("weft_raise");
        self.cx.declare("declare void @weft_raise(ptr, i32, ptr)".to_owned());
        let place = self.raising_thread()?;
        self.w.line(format_args!(
            "call void @weft_raise(ptr %ctx, i32 {site}, {})",
            place.typed(Ty::PTR)
        ));
        Ok(())
    }

    /// Thread and block of the first lane that is on; null outside kernels.
    fn raising_thread(&mut self) -> Res<Operand> {
        let Some(g) = self.gang.geometry else {
            return Ok(Operand::Null);
        };
        let lane = self.first_lane();
        let place = self.w.entry_inst(format_args!("alloca [6 x i64]"));
        for (i, n) in g.thread.into_iter().chain(g.block.map(Num::Uniform)).enumerate() {
            // In a warp that goes through a block of several axes each lane has indices of its own.
            let spilled = self.spill(n, elem(Scalar::I64));
            let at = self.lane_of(spilled, lane);
            self.store_slot(Num::Uniform(at), Scalar::I64, place, i)?;
        }
        Ok(place)
    }

    fn first_lane(&mut self) -> Operand {
        let bits = self.mask_bits();
        self.trailing_zeros(bits)
    }

    /// One line of output per lane.
    pub fn print(&mut self, items: &[PrintItem]) -> Res<()> {
        let Some((said, numbers)) = PrintSite::of(self.f, items) else {
            return self.internal("a print of what is no real scalar");
        };
        let site = self.cx.print_sites.len();
        self.cx.print_sites.push(said);
        self.cx.symbol("weft_print");
        self.cx.declare("declare void @weft_print(ptr, i32, ptr)".to_owned());
        let slots = self.w.entry_inst(format_args!("alloca [{} x i64]", numbers.len().max(1)));
        let spill = |&(v, s): &(Value, Scalar)| Ok((self.num(v).map(|n| self.spill(n, elem(s)))?, s));
        let spilled = numbers.iter().map(spill).collect::<Res<Vec<_>>>()?;
        self.each_lane(&mut |fx, lane| {
            for (i, (value, s)) in spilled.iter().enumerate() {
                let one = fx.lane_of(*value, lane);
                fx.store_slot(Num::Uniform(one), *s, slots, i)?;
            }
            fx.w.line(format_args!(
                "call void @weft_print(ptr %ctx, i32 {site}, {})",
                slots.typed(Ty::PTR)
            ));
            Ok(())
        })
    }
}
