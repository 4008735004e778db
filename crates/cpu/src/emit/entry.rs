//! The functions of a module as LLVM sees them: signature, arguments, results.

use std::rc::Rc;

use weft_ir::{Axis, FuncId, FuncKind, Function, Scalar, Type, Value};
use weft_passes::uniformity::{Lanes, analyze};

use super::control::{Frame, FrameKind};
use super::fixed;
use super::func::Fx;
use super::module::ModuleCx;
use super::values::{Num, Res, Val, ViewVal, elem, memory_elem};
use super::width;
use super::writer::{Elem, Label, Operand, Ty};

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
    let exit = fx.exit;
    fx.frames.push(end_frame(exit));
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
        return Err(super::EmitError::Internal(format!("{} is launched and no loop", f.name)));
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
    fx.is_warp = matches!(of_gang, Lanes::Warp(_));
    fx.prepare()?;
    fx.load_params(&f.params, 0)?;
    fx.blocks(axis, full)?;
    fx.finish(symbol, "")
}

fn kernel_lanes(f: &Function, axis: Option<Axis>) -> Lanes {
    match axis {
        Some(axis) if !weft_passes::operands::uses_warps(f) => Lanes::Threads(axis),
        _ => Lanes::Warp(axis),
    }
}

/// The frame of a function's end, or of the end of what is run once per gang.
pub fn end_frame(join: Label) -> Frame {
    Frame {
        kind: FrameKind::End,
        slot: None,
        waits: true,
        join,
        check: join,
    }
}

impl Fx<'_, '_> {
    pub fn prepare(&mut self) -> Res<()> {
        self.mask_elem = self.choose_mask_elem();
        self.w.line(format_args!("store i32 0, {}", self.status.typed(Ty::PTR)));
        self.make_slots()?;
        self.make_arrays()
    }

    /// Without mask registers a mask is compared, blended and kept as lanes as wide as the data.
    fn choose_mask_elem(&self) -> Elem {
        if self.cx.target.mask_registers || self.lanes == 0 {
            return Elem::I1;
        }
        match width::widest(self.f) {
            64 => Elem::I64,
            _ => Elem::I32,
        }
    }

    /// Reads slot `at` of the argument block.
    pub fn load_slot(&mut self, at: usize, ty: Ty) -> Operand {
        self.load_from(Operand::Arg("args"), at, ty)
    }

    pub fn load_from(&mut self, block: Operand, at: usize, ty: Ty) -> Operand {
        let ptr = self.w.offset(block, Operand::Int(8 * at as i64));
        self.w.load(ty, ptr)
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

    /// Hands the finished text to the module.
    fn finish(mut self, symbol: &str, linkage: &str) -> Res<()> {
        self.w.place(self.exit);
        let status = self.w.load(Ty::I32, self.status);
        self.free_but_results(status);
        self.w.end(format_args!("ret {}", status.typed(Ty::I32)));
        let text = format!(
            "define {linkage}i32 @{symbol}(ptr %ctx, ptr noalias %args, ptr %extra, i64 %begin, i64 %end) #0 {{\nentry:\n{}  br label %start\nstart:\n{}}}\n",
            self.w.entry, self.w.body
        );
        self.cx.push_function(&text);
        Ok(())
    }
}
