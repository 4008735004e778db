//! The entry function: how its parameters are declared, and for a loop how each thread goes through its points.

use std::fmt::Write;

use weft_ir::{Function, Module, Scalar, Value, ViewType};
use weft_passes::range::Range;
use weft_passes::written;
use weft_thread::{Entry as _, Slot, Statements};

use super::func::Fx;
use super::group::Group;
use super::module::{Entry, ModuleCx};
use super::values::{Num, Place, Res};
use super::writer::{Operand, Ty};
use super::{Emitted, Facts, Param};
use crate::target::Target;

/// A parameter the entry could have.
#[derive(Debug)]
pub struct Candidate {
    slot: u32,
    ty: Ty,
    /// What LLVM is told of it.
    attributes: String,
}

/// Which of them it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those the code reads.
    Read,
    All,
}

pub fn emit(module: &Module, target: Target, facts: Facts, lines: bool) -> Res<Emitted> {
    let mut cx = ModuleCx::new(module, target, facts, lines);
    let mut fx = Fx::new(&mut cx);
    fx.entry()?;
    let entry = fx.finish(symbol(module.entry_function()), Keep::Read);
    Ok(cx.finish(entry))
}

/// A name that is legal in PTX, where instructions' names are not, and says which function it is. No name of our own, which have a `$`.
pub fn symbol(function: &Function) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("weft_{}", function.name.chars().map(legal).collect::<String>())
}

impl<'m> weft_thread::Entry<'m> for Fx<'_, 'm> {
    fn slot(&mut self, slot: u32, s: Scalar) -> Operand {
        let op = self.param(slot, Ty::in_memory(s), String::new());
        self.loaded_as(s, op)
    }

    fn param_place(&mut self, param: &weft_thread::Param) -> Res<Place> {
        let attributes = match self.is_called {
            true => String::new(),
            false => self.pointer_attributes(param.ty, written::parameters(self.f).contains(&param.value)),
        };
        Ok(Place {
            base: self.param(param.slot, Ty::Ptr(self.cx.memory(param.ty.space)), attributes),
            short: self.sizes.narrow,
            align: self.assumed_align(param.ty),
        })
    }

    fn param_stride(&mut self, _ty: ViewType, slot: u32) -> Num {
        match self.sizes.narrow {
            true => Num::Short(self.slot(slot, Scalar::I32), Range::I32),
            false => Num::Reg(self.slot(slot, Scalar::I64)),
        }
    }

    fn make_arrays(&mut self) -> Res<()> {
        self.memory_of_arrays()
    }

    fn make_ready(&mut self) -> Res<()> {
        self.expect_grid_barriers()
    }

    fn each_point(&mut self, [first, total, stride]: [Operand; 3], indices: &'m [Value], extents: &[Num]) -> Res<()> {
        let f = self.f;
        if let Some(group) = Group::of(f, indices).filter(|_| self.cx.facts.aligned) {
            self.cx.points = group.points as u32;
            return self.each_group(group, [first, total, stride], indices, extents);
        }
        let slot = self.w.alloca(first.ty);
        let (head, body, after) = (self.w.label(), self.w.label(), self.w.label());
        self.w.store(first, slot);
        self.w.place(head);
        let at = self.w.load(first.ty, slot);
        let more = self.w.compare("icmp slt", at, total);
        self.w.cond_br(more, body, after);
        self.w.place(body);
        self.forget_locals();
        self.point(indices, extents, at);
        self.block(&f.body)?;
        self.w.place(self.end);
        let next = self.w.binary("add nsw", at, stride);
        self.w.store(next, slot);
        self.w.br(head);
        self.end = after;
        Ok(())
    }

    fn divided(&mut self, x: Operand, by: Operand) -> (Operand, Operand) {
        (self.w.binary("udiv", x, by), self.w.binary("urem", x, by))
    }
}

impl Fx<'_, '_> {
    fn param(&mut self, slot: u32, ty: Ty, attributes: String) -> Operand {
        self.candidates.push(Candidate { slot, ty, attributes });
        Operand::param(slot, ty)
    }

    /// A point's locals hold nothing at first; without saying so the last point's would be carried along.
    pub fn forget_locals(&mut self) {
        for slot in &self.thread.slots {
            if let Slot::Number { variable, .. } = slot {
                self.w.line(format_args!("store {} poison, {}", variable.ty, variable.ptr));
            }
        }
    }

    fn pointer_attributes(&self, ty: ViewType, written: bool) -> String {
        let Facts { aligned, disjoint, .. } = self.cx.facts;
        let align = if aligned { 16 } else { ty.elem.part().size() };
        // LLVM's `noalias` is about one thread: what another wrote before a barrier would go unseen.
        let alone = if disjoint && !(written && self.threads_meet) {
            " noalias"
        } else {
            ""
        };
        let read = if written { "" } else { " readonly" };
        format!("{alone}{read} align {align}")
    }

    fn launch_bounds(&self) -> String {
        let flags = self.f.flags;
        let bounds = [
            ("maxntid", flags.max_threads),
            ("minctasm", flags.min_blocks),
            ("maxnreg", flags.max_registers),
        ];
        let given = bounds.into_iter().filter(|(_, n)| *n > 0);
        given.map(|(name, n)| format!(" \"nvvm.{name}\"=\"{n}\"")).collect()
    }

    pub fn finish(mut self, name: String, keep: Keep) -> Entry {
        self.w.place(self.end);
        self.leave_grid();
        self.w.end(format_args!("ret void"));
        self.write_raising();
        let body = self.body();
        let (params, mut signature) = declared(&self.candidates, &body, keep);
        for (used, hidden) in [(self.cx.mailbox, Operand::MAILBOX), (self.cx.grid_sync, Operand::COUNTER)] {
            let comma = if signature.is_empty() { "" } else { ", " };
            if used {
                let _ = write!(signature, "{comma}{} noundef noalias align 8 {}", hidden.ty, hidden.bare());
            }
        }
        let (bounds, lines) = (self.launch_bounds(), self.cx.entry_location());
        let text = format!("define ptx_kernel void @{name}({signature}) convergent nounwind{bounds}{lines} {{\n{body}}}\n");
        self.ended(name, text, params)
    }

    pub fn ended(self, name: String, text: String, params: Vec<Param>) -> Entry {
        Entry {
            name,
            text,
            params,
            error_sites: self.thread.error_sites,
            print_sites: self.thread.print_sites,
        }
    }

    /// The blocks written so far, from the first on.
    pub fn body(&self) -> String {
        format!("entry:\n{}  br label %start\nstart:\n{}", self.w.entry, self.w.body)
    }
}

/// The parameters of a body, and how they are written.
pub fn declared(candidates: &[Candidate], body: &str, keep: Keep) -> (Vec<Param>, String) {
    let read = params_read(body);
    let (mut params, mut signature) = (Vec::new(), String::new());
    for Candidate { slot, ty, attributes } in candidates.iter().filter(|c| keep == Keep::All || read.contains(&c.slot)) {
        let comma = if params.is_empty() { "" } else { ", " };
        let _ = write!(signature, "{comma}{ty} noundef{attributes} %p{slot}");
        params.push(Param {
            slot: *slot,
            bytes: ty.bits() / 8,
        });
    }
    (params, signature)
}

/// The slots whose parameters a text mentions.
fn params_read(text: &str) -> Vec<u32> {
    let mut read: Vec<u32> = text
        .split("%p")
        .skip(1)
        .filter_map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest[..end].parse().ok()
        })
        .collect();
    read.sort_unstable();
    read.dedup();
    read
}
