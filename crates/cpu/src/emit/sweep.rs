//! Garbage collection of loops of scalar code: what their iterations allocate is freed as they go.
//!
//! What an iteration allocates ends with it, unless a variable still holds it. Arrays hold numbers and no addresses, so the views a
//! function has in hand are all that can refer to an allocation: at the start of each iteration of a loop that allocates, the runtime
//! frees what none of them points into.

use weft_ir::{Block, Type};

use super::func::Fx;
use super::values::{Slot, Val};
use super::writer::{Operand, Ty};

/// The slots of a value of the type that hold addresses.
fn view_slots(ty: &Type, at: usize, slots: &mut Vec<usize>) {
    match ty {
        Type::View(_) => slots.push(at),
        Type::Tuple(items) => {
            items.iter().fold(at, |at, item| {
                view_slots(item, at, slots);
                at + item.slots()
            });
        }
        Type::Scalar(_) => {}
    }
}

impl Fx<'_, '_> {
    /// At the start of an iteration: frees what the ones before allocated and no variable holds.
    pub fn sweep(&mut self, body: &Block) {
        if self.gang.lanes > 0 || !self.cx.allocates(body) {
            return;
        }
        let mut used = self.heap.views.clone();
        for i in 0..self.slots.len() {
            if let Slot::View { base, .. } = self.slots[i] {
                used.push(self.w.load(Ty::PTR, base));
            }
        }
        self.free_unless(&used);
    }

    pub fn free_unless(&mut self, used: &[Operand]) {
        let block = self.w.entry_inst(format_args!("alloca [{} x ptr]", used.len().max(1)));
        for (i, address) in used.iter().enumerate() {
            let at = self.w.offset(block, Operand::Int(8 * i as i64));
            self.w.store(Ty::PTR, *address, at);
        }
        self.cx.symbol("weft_sweep");
        self.cx.declare("declare void @weft_sweep(ptr, ptr, i64, i64)".to_owned());
        let (block, count) = (block.typed(Ty::PTR), used.len());
        let first = self.heap.mark.unwrap_or(Operand::Int(0)).typed(Ty::I64);
        self.w
            .line(format_args!("call void @weft_sweep(ptr %ctx, {block}, i64 {count}, {first})"));
    }

    /// At the start of a function that others call: what is allocated by now is theirs.
    pub fn mark_memory(&mut self) {
        if !self.cx.allocates(&self.f.body) {
            return;
        }
        self.cx.symbol("weft_mark");
        self.cx.declare("declare i64 @weft_mark(ptr)".to_owned());
        self.heap.mark = Some(self.w.inst(format_args!("call i64 @weft_mark(ptr %ctx)")));
    }

    /// At its end: frees what it allocated but for what its results refer to.
    pub fn free_but_results(&mut self, status: Operand) {
        if self.heap.mark.is_none() {
            return;
        }
        let failed = self.w.inst(format_args!("icmp ne {}, 0", status.typed(Ty::I32)));
        let (free, end) = (self.w.label(), self.w.label());
        self.w.cond_br(failed, end, free);
        self.w.place(free);
        let mut slots = Vec::new();
        view_slots(&self.f.result, 0, &mut slots);
        let used: Vec<Operand> = slots
            .into_iter()
            .map(|at| self.load_from(Operand::Arg("extra"), at, Ty::PTR))
            .collect();
        self.free_unless(&used);
        self.w.br(end);
        self.w.place(end);
    }

    /// Remembers that a value in scope refers to memory.
    pub fn note_view(&mut self, val: &Val) {
        if let Val::View(view) = val
            && self.gang.lanes == 0
            && !self.heap.views.contains(&view.base)
        {
            self.heap.views.push(view.base);
        }
    }
}
