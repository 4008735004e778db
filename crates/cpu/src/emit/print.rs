//! `raise` and `print`: calls of the runtime, once per gang or once per lane.

use weft_ir::{ErrorKind, PrintItem, Scalar};

use super::control::FrameKind;
use super::func::Fx;
use super::mask::Mask;
use super::values::{Num, Res, elem};
use super::writer::{Elem, Operand, Ty};
use super::{ErrorSite, PrintPart, PrintSite};

impl Fx<'_, '_> {
    /// Records the error and ends the function for the lanes that are on.
    pub fn raise(&mut self, kind: ErrorKind, message: &str) -> Res<()> {
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
        self.w.line(format_args!("store i32 1, {}", self.status.typed(Ty::PTR)));
        self.jump(FrameKind::End)
    }

    /// Thread and block of the first lane that is on; null outside kernels.
    fn raising_thread(&mut self) -> Res<Operand> {
        let Some(g) = self.geometry else {
            return Ok(Operand::Null);
        };
        let lane = self.first_lane();
        let place = self.w.entry_inst(format_args!("alloca [6 x i64]"));
        for (i, n) in g.thread.into_iter().chain(g.block.map(Num::Uniform)).enumerate() {
            let at = self.lane_number(n, lane);
            self.store_slot(Num::Uniform(at), Scalar::I64, place, i)?;
        }
        Ok(place)
    }

    fn first_lane(&mut self) -> Operand {
        let bits = self.mask_bits();
        self.trailing_zeros(bits)
    }

    fn trailing_zeros(&mut self, bits: Operand) -> Operand {
        self.cx.declare("declare i64 @llvm.cttz.i64(i64, i1)".to_owned());
        self.w
            .inst(format_args!("call i64 @llvm.cttz.i64({}, i1 true)", bits.typed(Ty::I64)))
    }

    /// The mask as an `i64` of one bit a lane.
    fn mask_bits(&mut self) -> Operand {
        let lanes = self.lanes;
        if self.mask == Mask::Full {
            return Operand::Int(if lanes == 64 { -1 } else { (1 << lanes) - 1 });
        }
        let (mask, ty) = (self.bits_now(), self.bits_ty());
        let bits = self.w.inst(format_args!("bitcast {} to i{lanes}", mask.typed(ty)));
        if lanes == 64 {
            return bits;
        }
        self.w.inst(format_args!("zext i{lanes} {} to i64", bits.of(Ty::I64)))
    }

    /// What a uniform or affine number is in one lane.
    fn lane_number(&mut self, n: Num, lane: Operand) -> Operand {
        match n {
            Num::Affine(base, step) => {
                let over = self.mul_scalar(lane, Operand::Int(step));
                self.add_scalar(base, over)
            }
            Num::Uniform(op) | Num::Varying(op) => op,
        }
    }

    /// Writes `body` in a loop over the lanes that are on, first to last; in scalar code once.
    pub fn each_lane(&mut self, body: &mut dyn FnMut(&mut Self, Operand) -> Res<()>) -> Res<()> {
        if self.lanes == 0 {
            return body(self, Operand::Int(0));
        }
        if self.mask == Mask::Full {
            return self.every_lane(body);
        }
        let bits = self.mask_bits();
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, bits, slot);
        let (head, done) = (self.w.label(), self.w.label());
        self.w.place(head);
        let left = self.w.load(Ty::I64, slot);
        let lane = self.trailing_zeros(left);
        body(self, lane)?;
        let less = self.add_scalar(left, Operand::Int(-1));
        let rest = self.scalar_int("and", left, less);
        self.w.store(Ty::I64, rest, slot);
        let more = self.w.inst(format_args!("icmp ne {}, 0", rest.typed(Ty::I64)));
        self.w.cond_br(more, head, done);
        self.w.place(done);
        Ok(())
    }

    /// The loop where all lanes are on: unrolled if it does not call anything.
    fn every_lane(&mut self, body: &mut dyn FnMut(&mut Self, Operand) -> Res<()>) -> Res<()> {
        let slot = self.w.alloca(Ty::I64);
        self.w.store(Ty::I64, Operand::Int(0), slot);
        let (head, done) = (self.w.label(), self.w.label());
        self.w.place(head);
        let lane = self.w.load(Ty::I64, slot);
        let start = self.w.body.len();
        body(self, lane)?;
        let calls = self.w.body[start..].contains("call ");
        let next = self.w.inst(format_args!("add nsw i64 {}, 1", lane.of(Ty::I64)));
        self.w.store(Ty::I64, next, slot);
        let more = self.w.inst(format_args!("icmp ne i64 {}, {}", next.of(Ty::I64), self.lanes));
        if calls {
            self.w.cond_br(more, head, done);
        } else {
            let id = self.cx.unrolled_loop();
            self.w.end(format_args!(
                "br i1 {}, label %{head}, label %{done}, !llvm.loop !{id}",
                more.of(Ty::BOOL)
            ));
        }
        self.w.place(done);
        Ok(())
    }

    /// Puts a number where single lanes of it can be read.
    pub fn spill(&mut self, n: Num, e: Elem) -> Spilled {
        let Num::Varying(op) = n else {
            return Spilled::Computed(n);
        };
        let (memory, ty) = if e == Elem::I1 {
            let wide = self.vector_ty(Elem::I8);
            (self.convert("zext", op, self.vector_ty(e), wide), wide)
        } else {
            (op, self.vector_ty(e))
        };
        let slot = self.w.alloca(ty);
        self.w.store(ty, memory, slot);
        Spilled::Memory(slot, ty.elem, e)
    }

    pub fn lane_of(&mut self, spilled: Spilled, lane: Operand) -> Operand {
        match spilled {
            Spilled::Computed(n) => self.lane_number(n, lane),
            Spilled::Memory(slot, memory, register) => {
                let ptr = self.lane_slot(slot, memory, lane);
                let value = self.w.load(Ty::scalar(memory), ptr);
                if memory == register {
                    return value;
                }
                self.w.inst(format_args!("icmp ne {}, 0", value.typed(Ty::scalar(memory))))
            }
        }
    }

    pub fn lane_slot(&mut self, slot: Operand, memory: Elem, lane: Operand) -> Operand {
        self.w.inst(format_args!(
            "getelementptr {}, {}, {}",
            memory.name(),
            slot.typed(Ty::PTR),
            lane.typed(Ty::I64)
        ))
    }

    /// One line of output per lane.
    pub fn print(&mut self, items: &[PrintItem]) -> Res<()> {
        let (mut parts, mut values) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                PrintItem::Text(text) => parts.push(PrintPart::Text(text.clone())),
                PrintItem::Value(v) => {
                    let s = self.scalar(*v)?;
                    parts.push(PrintPart::Value(s));
                    values.push((self.num(*v)?, s));
                }
                PrintItem::Complex(re, im) => {
                    let s = self.scalar(*re)?;
                    parts.push(PrintPart::Value(if s == Scalar::F32 { Scalar::C64 } else { Scalar::C128 }));
                    values.push((self.num(*re)?, s));
                    values.push((self.num(*im)?, s));
                }
            }
        }
        let site = self.cx.print_sites.len();
        self.cx.print_sites.push(PrintSite { items: parts });
        self.cx.symbol("weft_print");
        self.cx.declare("declare void @weft_print(ptr, i32, ptr)".to_owned());
        let slots = self.w.entry_inst(format_args!("alloca [{} x i64]", values.len().max(1)));
        let spilled: Vec<_> = values.iter().map(|(n, s)| (self.spill(*n, elem(*s)), *s)).collect();
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

/// A number whose lanes can be read one at a time.
#[derive(Clone, Copy, Debug)]
pub enum Spilled {
    /// From a scalar.
    Computed(Num),
    /// From memory: the address, how a lane lies there, how it sits in a register.
    Memory(Operand, Elem, Elem),
}
