//! The functions of a module as LLVM sees them: signature, arguments, results.

use std::rc::Rc;

use weft_ir::{Axis, FuncId, FuncKind, Function, Value};
use weft_passes::uniformity::{Lanes, analyze};

use super::call::{PARAMS, RESULTS, scalars};
use super::control::end_frame;
use super::func::Fx;
use super::module::ModuleCx;
use super::target::EmitError;
use super::values::{Res, Val, elem};
use super::writer::{Elem, Operand, Ty};
use super::{fixed, width};

/// A function that runs once each time the host calls it, or (with the linkage `internal`) another function.
pub fn host(cx: &mut ModuleCx<'_>, id: FuncId, symbol: &str, linkage: &str) -> Res<()> {
    let f = cx.module.function(id);
    let info = Rc::new(analyze(f, Lanes::Single, &cx.calls));
    let mut fx = Fx::new(cx, id, info, 0);
    fx.prepare()?;
    if !linkage.is_empty() {
        fx.mark_memory();
    }
    fx.load_params(&f.params, 0)?;
    let exit = fx.control.exit;
    fx.control.frames.push(end_frame(exit));
    fx.block(fx.body)?;
    fx.finish(symbol, linkage)
}

/// A function of the points of an index space, neighbours as lanes.
pub fn looping(cx: &mut ModuleCx<'_>, id: FuncId, symbol: &str, linkage: &str) -> Res<()> {
    let lanes = width::choose(cx.module.function(id), cx.target);
    index_space(cx, id, symbol, linkage, (Lanes::Points, lanes))
}

/// A function of the points of an index space, one after the other.
pub fn points(cx: &mut ModuleCx<'_>, id: FuncId, symbol: &str, linkage: &str) -> Res<()> {
    index_space(cx, id, symbol, linkage, (Lanes::Single, 0))
}

fn index_space(cx: &mut ModuleCx<'_>, id: FuncId, symbol: &str, linkage: &str, (kind, lanes): (Lanes, u32)) -> Res<()> {
    let f = cx.module.function(id);
    let FuncKind::Loop { rank, reductions } = &f.kind else {
        return Err(EmitError::Internal(format!("{} is launched and no loop", f.name)));
    };
    let info = Rc::new(analyze(f, kind, &cx.calls));
    let mut fx = Fx::new(cx, id, info, fixed::lanes(f, reductions, lanes));
    fx.prepare()?;
    let rank = *rank as usize;
    let extents: Vec<Operand> = (0..rank).map(|axis| fx.load_slot(axis, Ty::I64)).collect();
    fx.load_params(&f.params[rank..], rank)?;
    fx.start_reductions(reductions)?;
    fx.start_fixed(reductions, extents.last().filter(|_| rank > 1).copied())?;
    fx.points(&f.params[..rank], &extents)?;
    fx.end_last_block()?;
    fx.end_reductions(reductions, !linkage.is_empty())?;
    fx.finish(symbol, linkage)
}

/// A kernel: blocks of threads.
pub fn kernel(cx: &mut ModuleCx<'_>, id: FuncId, symbol: &str, axis: Option<Axis>, lanes: u32, full: bool) -> Res<()> {
    let f = cx.module.function(id);
    let of_gang = kernel_lanes(f, axis);
    let info = Rc::new(analyze(f, of_gang, &cx.calls));
    let mut fx = Fx::new(cx, id, info, lanes);
    fx.gang.is_warp = matches!(of_gang, Lanes::Warp(_));
    fx.prepare()?;
    fx.load_params(&f.params, 0)?;
    fx.blocks(axis, full)?;
    fx.finish(symbol, "")
}

/// Writes a rare function for so many lanes at once (0: for one).
pub fn rare(cx: &mut ModuleCx<'_>, id: FuncId, symbol: &str, lanes: u32) -> Res<()> {
    let f = cx.module.function(id);
    let kind = if lanes == 0 { Lanes::Single } else { Lanes::Callers };
    let info = Rc::new(analyze(f, kind, &cx.calls));
    let mut fx = Fx::new(cx, id, info, lanes);
    fx.prepare()?;
    for (param, name) in f.params.iter().zip(PARAMS) {
        let ty = fx.gang.vector_ty(elem(fx.scalar(*param)?));
        let value = fx.w.load(ty, Operand::Arg(name));
        let value = fx.wrap(value, ty);
        fx.define(*param, Val::Num(value));
    }
    let exit = fx.control.exit;
    fx.control.frames.push(end_frame(exit));
    fx.block(fx.body)?;
    let pointers = PARAMS[..f.params.len()].iter().chain(&RESULTS[..scalars(&f.result)?.len()]);
    let signature: Vec<String> = pointers.map(|name| format!("ptr noalias %{name}")).collect();
    fx.finish_rare(symbol, &signature.join(", "))
}

fn kernel_lanes(f: &Function, axis: Option<Axis>) -> Lanes {
    match axis {
        Some(axis) if !weft_passes::operands::uses_warps(f) => Lanes::Threads(axis),
        _ => Lanes::Warp(axis),
    }
}

impl Fx<'_, '_> {
    pub fn prepare(&mut self) -> Res<()> {
        self.gang.mask_elem = self.choose_mask_elem();
        self.w.line(format_args!("store i32 0, {}", self.control.status.typed(Ty::PTR)));
        self.arrays.in_pieces = self.hands_on_arrays();
        self.make_slots()?;
        self.make_arrays()
    }

    /// Without mask registers a mask is compared, blended and kept as lanes as wide as the data.
    fn choose_mask_elem(&self) -> Elem {
        if self.cx.target.mask_registers || self.gang.lanes == 0 {
            return Elem::I1;
        }
        match width::widest(self.f) {
            64 => Elem::I64,
            _ => Elem::I32,
        }
    }

    fn load_params(&mut self, params: &[Value], first: usize) -> Res<()> {
        let mut at = first;
        for param in params {
            let ty = self.f.ty(*param).clone();
            let val = self.load_val(&ty, Operand::Arg("args"), at)?;
            self.define(*param, val);
            at += ty.slots();
        }
        Ok(())
    }

    /// Hands the finished text to the module.
    fn finish(mut self, symbol: &str, linkage: &str) -> Res<()> {
        self.w.place(self.control.exit);
        let status = self.w.load(Ty::I32, self.control.status);
        self.free_but_results(status);
        self.w.end(format_args!("ret {}", status.typed(Ty::I32)));
        let seldom = if self.f.flags.rare { "noinline cold " } else { "" };
        let text = format!(
            "define {linkage}i32 @{symbol}(ptr %ctx, ptr noalias %args, ptr %extra, i64 %begin, i64 %end) {seldom}#0 {{\nentry:\n{}  br label %start\nstart:\n{}}}\n",
            self.w.entry, self.w.body
        );
        self.cx.push_function(&text);
        Ok(())
    }

    fn finish_rare(mut self, symbol: &str, signature: &str) -> Res<()> {
        self.w.place(self.control.exit);
        self.w.end(format_args!("ret void"));
        let text = format!(
            "define internal void @{symbol}({signature}) noinline cold #0 {{\nentry:\n{}  br label %start\nstart:\n{}}}\n",
            self.w.entry, self.w.body
        );
        self.cx.push_function(&text);
        self.cx.calls_rare = true;
        Ok(())
    }
}
