//! The entry function: its parameters, and for a loop the points each thread takes.

use std::fmt::Write;
use std::rc::Rc;

use weft_ir::{Axis, FuncKind, Function, Geometry, Layout, Module, Scalar, Type, Value, ViewType};
use weft_passes::range::Range;
use weft_passes::written;

use super::func::Fx;
use super::module::{Entry, ModuleCx};
use super::number::{LENGTH, NARROW, Num};
use super::values::{Res, Val, View};
use super::views::Slot;
use super::writer::{Memory, Operand, Ty};
use super::{EmitError, Emitted, Facts, Param};
use crate::target::Target;

/// A parameter the entry could have.
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
    let f = module.entry_function();
    let mut fx = Fx::new(&mut cx, f);
    let candidates = match &f.kind {
        FuncKind::Kernel => fx.kernel()?,
        FuncKind::Loop { rank, reductions } if reductions.is_empty() => fx.points(*rank as usize)?,
        FuncKind::Loop { .. } => return fx.unsupported("a reduction over a loop on a GPU"),
        kind => return Err(EmitError::Internal(format!("an entry of kind {kind:?} for a GPU"))),
    };
    let entry = fx.finish(symbol(f), &candidates, Keep::Read);
    Ok(cx.finish(entry))
}

/// A name that is legal in PTX, where instructions' names are not, and says which function it is. No name of our own, which have a `$`.
pub fn symbol(function: &Function) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("weft_{}", function.name.chars().map(legal).collect::<String>())
}

impl Fx<'_, '_> {
    pub fn kernel(&mut self) -> Res<Vec<Candidate>> {
        let candidates = self.params(&self.f.params, 0)?;
        self.make_slots()?;
        self.make_arrays()?;
        self.expect_grid_barriers()?;
        self.block(&self.f.body)?;
        Ok(candidates)
    }

    /// A loop: every thread takes each point as far as there are threads from the last.
    fn points(&mut self, rank: usize) -> Res<Vec<Candidate>> {
        let mut candidates = Vec::new();
        let extents: Vec<Num> = (0..rank as u32).map(|slot| self.extent(slot, &mut candidates)).collect();
        let (indices, rest) = self.f.params.split_at(rank);
        candidates.extend(self.params(rest, rank as u32)?);
        self.make_slots()?;
        self.make_arrays()?;
        let total = extents.iter().copied().fold(Num::int(1), |total, n| self.count(total, n));
        let first = self.grid_thread(Axis::X);
        let (blocks, threads) = (
            self.geometry(Geometry::GridDim(Axis::X)),
            self.geometry(Geometry::BlockDim(Axis::X)),
        );
        let stride = self.grid_count(blocks, threads);
        let [first, total, stride] = [first, total, stride].map(|n| self.linear(n));
        let slot = self.w.alloca(first.ty);
        let (head, body, after) = (self.w.label(), self.w.label(), self.w.label());
        self.w.store(first, slot);
        self.w.place(head);
        let at = self.w.load(first.ty, slot);
        let more = self.w.compare("icmp slt", at, total);
        self.w.cond_br(more, body, after);
        self.w.place(body);
        self.forget_locals();
        self.point(indices, &extents, at);
        self.block(&self.f.body)?;
        self.w.place(self.end);
        let next = self.w.binary("add nsw", at, stride);
        self.w.store(next, slot);
        self.w.br(head);
        self.end = after;
        Ok(candidates)
    }

    /// Numbers of points are 32-bit in narrow code.
    fn linear(&mut self, n: Num) -> Operand {
        if self.cx.facts.narrow { self.take_short(n) } else { self.take(n) }
    }

    fn count(&mut self, a: Num, b: Num) -> Num {
        if a.const_int() == Some(1) {
            return b;
        }
        let (x, y) = (self.linear(a), self.linear(b));
        let product = self.w.binary("mul nsw", x, y);
        self.numbered(product)
    }

    fn numbered(&self, op: Operand) -> Num {
        if op.ty == Ty::I32 { Num::Short(op, LENGTH) } else { Num::Reg(op) }
    }

    /// The indices of a point from its number, the last axis fastest.
    fn point(&mut self, indices: &[Value], extents: &[Num], number: Operand) {
        let mut rest = number;
        for (axis, index) in indices.iter().enumerate().rev() {
            let at = if axis == 0 {
                rest
            } else {
                let extent = self.linear(extents[axis]);
                let (quotient, at) = (self.w.binary("udiv", rest, extent), self.w.binary("urem", rest, extent));
                rest = quotient;
                at
            };
            let at = self.numbered(at);
            self.define(*index, Val::Num(at));
        }
    }

    /// A point's locals hold nothing at first; without saying so the last point's would be carried along.
    fn forget_locals(&mut self) {
        for slot in &self.slots {
            if let Slot::Number { ptr, ty } = slot {
                self.w.line(format_args!("store {ty} poison, {ptr}"));
            }
        }
    }

    fn extent(&mut self, slot: u32, candidates: &mut Vec<Candidate>) -> Num {
        if self.cx.facts.narrow {
            return Num::Short(param(slot, Ty::I32, candidates), LENGTH);
        }
        Num::Reg(param(slot, Ty::I64, candidates))
    }

    fn params(&mut self, params: &[Value], first: u32) -> Res<Vec<Candidate>> {
        let (mut candidates, mut slot) = (Vec::new(), first);
        let written = written::parameters(self.f);
        for value in params {
            let ty = self.f.ty(*value);
            let val = match ty {
                Type::Scalar(s) if !s.is_complex() => Val::Num(self.scalar_param(*s, slot, &mut candidates)),
                Type::View(v) => self.view_param(*v, slot, written.contains(value), &mut candidates),
                _ => return self.internal(format!("a parameter of type {ty}")),
            };
            self.define(*value, val);
            slot += ty.slots() as u32;
        }
        Ok(candidates)
    }

    fn scalar_param(&mut self, s: Scalar, slot: u32, candidates: &mut Vec<Candidate>) -> Num {
        if s == Scalar::I64 && self.cx.facts.small {
            return Num::Short(param(slot, Ty::I32, candidates), Range::new(-NARROW, NARROW));
        }
        let op = param(slot, Ty::in_memory(s), candidates);
        Num::Reg(self.loaded_as(s, op))
    }

    fn view_param(&mut self, ty: ViewType, slot: u32, written: bool, candidates: &mut Vec<Candidate>) -> Val {
        let rank = u32::from(ty.rank);
        let pointer = Ty::Ptr(Memory::Global);
        candidates.push(Candidate {
            slot,
            ty: pointer,
            attributes: self.pointer_attributes(ty, written),
        });
        let shape = (0..rank).map(|axis| self.extent(slot + 1 + axis, candidates)).collect();
        let strides = match ty.layout {
            Layout::C | Layout::F => 0..0,
            Layout::Row => 0..rank.saturating_sub(1),
            Layout::Any => 0..rank,
        };
        let narrow = self.cx.facts.narrow;
        let mut strides: Vec<Num> = strides
            .map(|axis| {
                let stride = slot + 1 + rank + axis;
                match narrow {
                    true => Num::Short(param(stride, Ty::I32, candidates), Range::I32),
                    false => Num::Reg(param(stride, Ty::I64, candidates)),
                }
            })
            .collect();
        if ty.layout == Layout::Row && rank > 0 {
            strides.push(Num::int(ty.elem.size() as i64));
        }
        Val::View(Rc::new(View {
            ty,
            base: Operand::param(slot, pointer),
            shape,
            strides,
            short: narrow,
            align: self.assumed_align(ty),
        }))
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

    pub fn finish(mut self, name: String, candidates: &[Candidate], keep: Keep) -> Entry {
        self.w.place(self.end);
        self.leave_grid();
        self.w.end(format_args!("ret void"));
        self.write_raising();
        let body = self.body();
        let (params, mut signature) = declared(candidates, &body, keep);
        for (used, hidden) in [(self.cx.mailbox, Operand::MAILBOX), (self.cx.grid_sync, Operand::COUNTER)] {
            let comma = if signature.is_empty() { "" } else { ", " };
            if used {
                let _ = write!(signature, "{comma}{} noundef noalias align 8 {}", hidden.ty, hidden.bare());
            }
        }
        let (bounds, lines) = (self.launch_bounds(), self.cx.entry_location());
        let text = format!("define ptx_kernel void @{name}({signature}) convergent nounwind{bounds}{lines} {{\n{body}}}\n");
        Entry { name, text, params }
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

fn param(slot: u32, ty: Ty, candidates: &mut Vec<Candidate>) -> Operand {
    candidates.push(Candidate {
        slot,
        ty,
        attributes: String::new(),
    });
    Operand::param(slot, ty)
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
