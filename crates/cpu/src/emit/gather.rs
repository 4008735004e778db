//! Gathers and scatters: accesses of lanes whose elements do not lie side by side.
//!
//! Lanes that follow each other at some stride (a column, every third element, a row backwards where only the run knows that it is) take an
//! access each, whose address costs an addition at most: a vector's gather is no less work for the hardware, and on some much more. There all
//! other lanes do so, too. (10⁶ float64 on Zen 4, read at a stride of -1, 2 and 3: 0.9, 2.6 and 3.3 ms by vector gathers, 0.2, 0.5 and 0.9 by
//! loads; scattered: 0.7, 1.6 and 2.4 against 0.3, 0.6 and 0.9.) Where the stride is known while compiling, and small, lanes are picked out of
//! vectors of all that lies between them.

use std::ops::RangeInclusive;

use weft_ir::Scalar;

use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res};
use super::writer::{Elem, Operand, Ty};

/// So many lanes are addressed from one base; more of them would take more registers than there are.
const PER_BASE: u32 = 4;

/// Where the lanes' elements are.
enum Places {
    /// From lane to lane at a distance: that of the first lane, and 1 to [`PER_BASE`] times the distance.
    Strided(Operand, [Operand; PER_BASE as usize]),
    /// A vector of pointers.
    Any(Operand),
}

/// Elements so far apart are picked out of vectors of all that lie between them.
const CLOSE: RangeInclusive<i64> = 2..=4;

impl Fx<'_, '_> {
    /// Do lanes that follow each other at a step have elements close together?
    pub fn is_close(&self, step: i64, s: Scalar) -> bool {
        let size = s.size() as i64;
        self.gang.mask == Mask::Full && step % size == 0 && CLOSE.contains(&(step / size))
    }

    /// Every second, third or fourth element, one a lane, from vectors that end where the last lane's element does: nothing behind it is read.
    pub fn load_every(&mut self, base: Operand, at: Operand, ty: Ty, step: u32) -> Operand {
        let (lanes, size) = (ty.lanes, ty.elem.bits() / 8);
        // The last vector lies on the end of the one before it.
        let start = |vector: u32| vector * lanes - if vector + 1 == step { step - 1 } else { 0 };
        let mut all = Operand::Undef;
        for vector in 0..step {
            let from = self.add_scalar(at, Operand::Int(i64::from(start(vector) * size)));
            let ptr = self.element_ptr(base, from);
            let next = self.w.inst(format_args!("load {ty}, {}, align {size}", ptr.typed(Ty::PTR)));
            if vector == 0 {
                all = next;
                continue;
            }
            let pick = |lane: u32| match (lane * step, vector) {
                (place, _) if place / lanes == vector => format!("i32 {}", lanes + place - start(vector)),
                (place, _) if place / lanes > vector => "i32 poison".to_owned(),
                (place, 1) => format!("i32 {place}"),
                _ => format!("i32 {lane}"),
            };
            let picks: Vec<String> = (0..lanes).map(pick).collect();
            all = self.w.inst(format_args!(
                "shufflevector {}, {}, <{lanes} x i32> <{}>",
                all.typed(ty),
                next.typed(ty),
                picks.join(", ")
            ));
        }
        all
    }

    /// Lanes that are off hold 0.
    pub fn gather(&mut self, base: Operand, offset: Num, ty: Ty, align: usize) -> Res<Operand> {
        if let Some(places) = self.places_one_by_one(base, offset, ty) {
            return Ok(self.load_one_by_one(&places, ty, align));
        }
        if !self.cx.target.gathers {
            return self.gather_by_lane(base, offset, ty, align);
        }
        let ptrs = self.lane_ptrs(base, offset);
        let (bits, many) = (self.gang.bits_ty(), self.gang.vector_ty(Elem::Ptr));
        let name = format!("llvm.masked.gather.{}.{}", ty.suffix(), many.suffix());
        self.cx.declare(format!("declare {ty} @{name}({many}, {bits}, {ty})"));
        let (mask, ptrs) = (self.bits_now(), ptrs.of(many));
        Ok(self.w.inst(format_args!(
            "call {ty} @{name}({many} align {align} {ptrs}, {}, {ty} zeroinitializer)",
            mask.typed(bits)
        )))
    }

    /// Where lanes meet in one element the highest of them wins. Without scatters in hardware LLVM would write a branch for every lane
    /// that may be off, so that a loop over those that are on is shorter, faster and compiles in a fraction of the time.
    pub fn scatter(&mut self, base: Operand, offset: Num, ty: Ty, value: Operand, align: usize) -> Res<()> {
        if let Some(places) = self.places_one_by_one(base, offset, ty) {
            self.store_one_by_one(&places, ty, value, align);
            return Ok(());
        }
        if !self.cx.target.gathers || self.gang.mask != Mask::Full && !self.cx.target.mask_registers {
            return self.scatter_by_lane(base, offset, ty, value, align);
        }
        let ptrs = self.lane_ptrs(base, offset);
        let (bits, many) = (self.gang.bits_ty(), self.gang.vector_ty(Elem::Ptr));
        let name = format!("llvm.masked.scatter.{}.{}", ty.suffix(), many.suffix());
        self.cx.declare(format!("declare void @{name}({ty}, {many}, {bits})"));
        let (mask, ptrs) = (self.bits_now(), ptrs.of(many));
        self.w.line(format_args!(
            "call void @{name}({}, {many} align {align} {ptrs}, {})",
            value.typed(ty),
            mask.typed(bits)
        ));
        Ok(())
    }

    pub fn gather_by_lane(&mut self, base: Operand, offset: Num, ty: Ty, align: usize) -> Res<Operand> {
        let (offset, one) = (self.spill(offset, Elem::I64), Ty::scalar(ty.elem));
        let all = self.w.alloca(ty);
        self.w.store(ty, Operand::Zero, all);
        self.each_lane(&mut |fx, lane| {
            let at = fx.lane_of(offset, lane);
            let ptr = fx.w.offset(base, at);
            let x = fx.w.inst(format_args!("load {one}, {}, align {align}", ptr.typed(Ty::PTR)));
            let slot = fx.lane_slot(all, ty.elem, lane);
            fx.w.store(one, x, slot);
            Ok(())
        })?;
        Ok(self.w.load(ty, all))
    }

    pub fn scatter_by_lane(&mut self, base: Operand, offset: Num, ty: Ty, value: Operand, align: usize) -> Res<()> {
        let (offset, value) = (self.spill(offset, Elem::I64), self.spill(Num::Varying(value), ty.elem));
        self.each_lane(&mut |fx, lane| {
            let (at, stored) = (fx.lane_of(offset, lane), fx.lane_of(value, lane));
            let ptr = fx.w.offset(base, at);
            fx.w.line(format_args!(
                "store {}, {}, align {align}",
                stored.typed(Ty::scalar(ty.elem)),
                ptr.typed(Ty::PTR)
            ));
            Ok(())
        })
    }

    /// The places to go to one after the other, where that is faster than a vector's gather.
    fn places_one_by_one(&mut self, base: Operand, offset: Num, ty: Ty) -> Option<Places> {
        let strided = self.strided_places(base, offset);
        strided.or_else(|| self.places_without_gathers(base, offset, ty))
    }

    /// On every target; lanes that are off could not be left out.
    fn strided_places(&mut self, base: Operand, offset: Num) -> Option<Places> {
        let (first, step) = self.in_steps(offset).filter(|_| self.gang.mask == Mask::Full)?;
        let first = self.w.offset(base, first);
        let times = std::array::from_fn(|n| self.mul_scalar(step, Operand::Int(n as i64 + 1)));
        Some(Places::Strided(first, times))
    }

    /// Where the target has no gathers. What stands a second time, for gangs that are not whole, seldom runs: a loop over the lanes is shorter.
    fn places_without_gathers(&mut self, base: Operand, offset: Num, ty: Ty) -> Option<Places> {
        if self.cx.target.gathers || self.control.rest || self.control.tail {
            return None;
        }
        let ptrs = self.lane_ptrs(base, offset);
        Some(Places::Any(self.off_lanes_apart(ptrs, ty)))
    }

    /// Pointers of which those of lanes that are off lead to a place that nobody else reads: with a zero in it for them to load.
    fn off_lanes_apart(&mut self, ptrs: Operand, ty: Ty) -> Operand {
        let Mask::Lanes(mask) = self.gang.mask else { return ptrs };
        let (many, one) = (self.gang.vector_ty(Elem::Ptr), Ty::scalar(ty.elem));
        let zero = self.w.alloca(one);
        self.w.store(one, Operand::Zero, zero);
        let (zeros, on) = (self.splat(zero, many), self.bits_of(mask));
        self.select_op(many, on, ptrs, zeros)
    }

    fn load_one_by_one(&mut self, places: &Places, ty: Ty, align: usize) -> Operand {
        let one = Ty::scalar(ty.elem);
        let (mut all, mut at) = (Operand::Undef, None);
        for lane in 0..ty.lanes {
            let ptr = self.place_of_lane(places, lane, &mut at);
            let x = self.w.inst(format_args!("load {one}, {}, align {align}", ptr.typed(Ty::PTR)));
            all = self
                .w
                .inst(format_args!("insertelement {}, {}, i64 {lane}", all.typed(ty), x.typed(one)));
        }
        all
    }

    fn store_one_by_one(&mut self, places: &Places, ty: Ty, value: Operand, align: usize) {
        let one = Ty::scalar(ty.elem);
        let mut at = None;
        for lane in 0..ty.lanes {
            let ptr = self.place_of_lane(places, lane, &mut at);
            let x = self.w.inst(format_args!("extractelement {}, i64 {lane}", value.typed(ty)));
            self.w
                .line(format_args!("store {}, {}, align {align}", x.typed(one), ptr.typed(Ty::PTR)));
        }
    }

    /// A lane's pointer, the lanes asked for in order. `at`: what the last ones were addressed from.
    fn place_of_lane(&mut self, places: &Places, lane: u32, at: &mut Option<Operand>) -> Operand {
        match places {
            Places::Any(ptrs) => {
                let many = self.gang.vector_ty(Elem::Ptr);
                self.w.inst(format_args!("extractelement {}, i64 {lane}", ptrs.typed(many)))
            }
            Places::Strided(first, times) => {
                let base = match (*at, lane % PER_BASE) {
                    (None, _) => *first,
                    (Some(last), 0) => self.w.offset(last, times[PER_BASE as usize - 1]),
                    (Some(last), _) => last,
                };
                *at = Some(base);
                match lane % PER_BASE {
                    0 => base,
                    n => self.w.offset(base, times[n as usize - 1]),
                }
            }
        }
    }
}
