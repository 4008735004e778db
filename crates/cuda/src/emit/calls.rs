//! Functions that call themselves, and their calls: each is a function of its own, which takes numbers and addresses and gives a structure.
//!
//! An overflow of a thread's stack would end the context. So a function compares where its frame lies with where the kernel's does, which is
//! handed on from call to call, and raises while there is room left: for what it keeps itself and for another frame as large as its caller's.
//! Launches make sure that stacks are as large as the code takes them to be.

use std::fmt::Write;
use std::mem;

use weft_ir::{FuncId, Function, Layout, Module, Scalar, Space, Type, Value};
use weft_passes::alone::is_alone;
use weft_thread::{Code, Entry as _, Numbers, Sizes};

use super::EmitError;
use super::entry::{Keep, declared, symbol};
use super::func::Fx;
use super::module::ModuleCx;
use super::number::NARROW;
use super::values::{Num, Res, Val};
use super::writer::{Memory, Operand, Ty};

/// Bytes of stack for frames without arrays. All threads that run at the same time have so many each.
const STACK: u64 = 16 << 10;
/// Of it, what no call may take: the kernel's own frame, one frame of a function, and what the GPU itself needs of them.
const RESERVE: u64 = 2 << 10;
/// For how many frames with arrays there is room besides.
const DEEP: u64 = 16;
/// What hardware gives a thread.
const MOST: u64 = 256 << 10;

/// How large stacks are, and what of that calls must leave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stack {
    pub bytes: u64,
    reserve: u64,
}

impl Stack {
    /// None where nothing calls itself.
    pub fn of(module: &Module) -> Stack {
        let arrays = |f: &Function| -> u64 {
            let own = f.arrays.iter().filter(|array| array.space == Space::Local);
            own.map(|array| array.shape.iter().product::<u64>().saturating_mul(array.elem.size() as u64))
                .fold(0, u64::saturating_add)
        };
        let Some(largest) = module.functions.iter().filter(|f| is_alone(f)).map(arrays).max() else {
            return Stack::default();
        };
        let kernel = arrays(module.entry_function());
        Stack {
            bytes: STACK
                .saturating_add(kernel)
                .saturating_add(largest.saturating_mul(DEEP))
                .next_multiple_of(1 << 10),
            reserve: RESERVE.saturating_add(kernel).saturating_add(largest),
        }
    }
}

/// Where this function's frame lies, and the kernel's.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    own: Operand,
    top: Operand,
}

impl<'m> Fx<'_, 'm> {
    pub fn call_alone(&mut self, id: FuncId, args: &[Value]) -> Res<Val> {
        self.write_called(id)?;
        let callee = self.cx.module.function(id);
        let mut given = Vec::new();
        for (arg, param) in args.iter().zip(&callee.params) {
            self.hand_over(*arg, callee.ty(*param), &mut given)?;
        }
        let Frames { own, top } = self.frames_of_stack()?;
        self.cx.mailbox = true;
        given.extend([Operand::MAILBOX, top, own]);
        let given: Vec<String> = given.iter().map(Operand::to_string).collect();
        let (results, name) = (results(callee)?, called(callee, id));
        let all = structure(&results);
        let whole = self.w.aggregate(format_args!("call {all} @{name}({})", given.join(", ")));
        let mut vals = Vec::new();
        for (i, s) in results.into_iter().enumerate() {
            let op = self.w.inst(Ty::in_memory(s), format_args!("extractvalue {all} {whole}, {i}"));
            vals.push(Val::Num(Num::Reg(self.loaded_as(s, op))));
        }
        Ok(Val::Tuple(vals))
    }

    /// Is too little left of the stack to call this function again?
    pub fn is_out_of_stack(&mut self) -> Res<Num> {
        let Frames { own, top } = self.frames_of_stack()?;
        let (used, last) = (self.distance(top, own), self.distance(Operand::ABOVE, own));
        let next = self.w.binary("add", used, last);
        let Stack { bytes, reserve } = self.cx.stack;
        let most = Ty::I64.int_const(bytes.saturating_sub(reserve) as i64);
        Ok(Num::Reg(self.w.compare("icmp ugt", next, most)))
    }

    /// Whichever way the stack grows.
    fn distance(&mut self, a: Operand, b: Operand) -> Operand {
        let (down, up) = (self.w.binary("sub", a, b), self.w.binary("sub", b, a));
        let is_down = self.w.compare("icmp sgt", down, Ty::I64.int_const(0));
        self.w.select(is_down, down, up)
    }

    fn frames_of_stack(&mut self) -> Res<Frames> {
        if let Some(frames) = self.stack_frames {
            return Ok(frames);
        }
        if self.cx.stack.bytes > MOST {
            return self.unsupported(format!(
                "local arrays of functions that call themselves, which take {} bytes of stack on CUDA: a thread has {MOST}; make them smaller",
                self.cx.stack.bytes
            ));
        }
        let mark = self.w.entry_inst(Ty::Ptr(Memory::Generic), format_args!("alloca i64, align 8"));
        let own = self.w.entry_inst(Ty::I64, format_args!("ptrtoint {mark} to i64"));
        let top = if self.is_called { Operand::TOP } else { own };
        let frames = Frames { own, top };
        self.stack_frames = Some(frames);
        Ok(frames)
    }

    /// An argument in the order in which [`weft_thread::Entry`] takes parameters.
    fn hand_over(&mut self, arg: Value, ty: &Type, into: &mut Vec<Operand>) -> Res<()> {
        match (self.val(arg)?, ty) {
            (Val::Num(n), Type::Scalar(s)) => {
                let op = self.take(n);
                into.push(self.stored_as(*s, op));
            }
            (Val::View(view), Type::View(ty)) => {
                into.push(view.place.base);
                let open = match ty.layout {
                    Layout::C | Layout::F => 0,
                    Layout::Row => view.strides.len().saturating_sub(1),
                    Layout::Any => view.strides.len(),
                };
                for n in view.shape.iter().chain(&view.strides[..open]) {
                    into.push(self.take(*n));
                }
            }
            _ => return self.internal("an argument that does not have its type"),
        }
        Ok(())
    }

    /// Writes a function when it is first called.
    fn write_called(&mut self, id: FuncId) -> Res<()> {
        if self.cx.called.contains_key(&id.0) {
            return Ok(());
        }
        // It may call itself.
        self.cx.called.insert(id.0, String::new());
        let sites = (mem::take(&mut self.thread.error_sites), mem::take(&mut self.thread.print_sites));
        let mut fx = Fx::of_called(self.cx, id);
        (fx.thread.error_sites, fx.thread.print_sites) = sites;
        let text = fx.called(id)?;
        (self.thread.error_sites, self.thread.print_sites) = (mem::take(&mut fx.thread.error_sites), mem::take(&mut fx.thread.print_sites));
        self.cx.called.insert(id.0, text);
        Ok(())
    }

    fn called(&mut self, id: FuncId) -> Res<String> {
        for scalar in results(self.f)? {
            let slot = self.w.alloca(Ty::in_memory(scalar));
            self.results.push((scalar, slot));
        }
        self.kernel()?;
        self.w.place(self.end);
        self.give_all();
        self.write_raising();
        let body = self.body();
        let (_, mut signature) = declared(&self.candidates, &body, Keep::All);
        for hidden in [Operand::MAILBOX, Operand::TOP, Operand::ABOVE] {
            let comma = if signature.is_empty() { "" } else { ", " };
            let _ = write!(signature, "{comma}{hidden}");
        }
        let (all, name) = (structure(&results(self.f)?), called(self.f, id));
        Ok(format!(
            "define internal {all} @{name}({signature}) noinline nounwind {{\n{body}}}\n"
        ))
    }

    fn give_all(&mut self) {
        let results = self.results.clone();
        let scalars: Vec<Scalar> = results.iter().map(|(s, _)| *s).collect();
        let all = structure(&scalars);
        let mut whole = "poison".to_owned();
        for (i, (s, slot)) in results.into_iter().enumerate() {
            let one = self.w.load(Ty::in_memory(s), slot);
            whole = self.w.aggregate(format_args!("insertvalue {all} {whole}, {one}, {i}"));
        }
        self.w.end(format_args!("ret {all} {whole}"));
    }
}

impl<'a, 'm> Fx<'a, 'm> {
    /// Of a function that is called: nothing is known of its arguments but their types.
    fn of_called(cx: &'a mut ModuleCx<'m>, id: FuncId) -> Fx<'a, 'm> {
        let sizes = Sizes {
            narrow: false,
            small: false,
            limit: NARROW,
        };
        let f = cx.module.function(id);
        Fx {
            is_called: true,
            ..Fx::of(cx, f, sizes)
        }
    }
}

fn called(function: &Function, id: FuncId) -> String {
    format!("{}${}", symbol(function), id.0)
}

/// What a function gives; the last item says whether it raised.
fn results(function: &Function) -> Res<Vec<Scalar>> {
    let items = match &function.result {
        Type::Tuple(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let scalars: Option<Vec<Scalar>> = items.iter().map(Type::scalar).collect();
    scalars.ok_or_else(|| EmitError::Internal(format!("{} gives an array", function.name)))
}

fn structure(results: &[Scalar]) -> String {
    let types: Vec<String> = results.iter().map(|s| Ty::in_memory(*s).to_string()).collect();
    format!("{{ {} }}", types.join(", "))
}
