//! Masks: which lanes are on, how masks are kept, tests of whole masks.
//!
//! On a target with mask registers a mask is a vector of `i1`. Elsewhere it is a vector of integers as wide as the data, all ones or zero,
//! which is what comparisons give there; `i1` vectors that live across blocks would be packed and unpacked again.

use super::func::Fx;
use super::gang::Mask;
use super::values::Num;
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    fn is_on(op: Operand) -> bool {
        matches!(op, Operand::Bool(true) | Operand::Int(-1))
    }

    fn is_off(op: Operand) -> bool {
        matches!(op, Operand::Bool(false) | Operand::Int(0))
    }

    /// A mask as a condition, where an instruction takes one.
    pub fn bits_of(&mut self, mask: Operand) -> Operand {
        match mask {
            _ if self.gang.mask_elem == Elem::I1 => mask,
            Operand::Int(v) => Operand::Bool(v != 0),
            _ => {
                let ty = self.gang.mask_ty();
                self.w.inst(format_args!("icmp slt {}, zeroinitializer", mask.typed(ty)))
            }
        }
    }

    pub fn bits_now(&mut self) -> Operand {
        let mask = self.gang.mask_now();
        self.bits_of(mask)
    }

    /// A condition as a mask. Under `fastmath` a lane that is off may hold poison, which must not spread.
    pub fn mask_of(&mut self, bits: Operand) -> Operand {
        let (narrow, wide) = (self.gang.bits_ty(), self.gang.mask_ty());
        if let Operand::Bool(b) = bits {
            return if wide == narrow { bits } else { Operand::Int(-i64::from(b)) };
        }
        let bits = match self.f.flags.fastmath {
            true => self.w.inst(format_args!("freeze {}", bits.typed(narrow))),
            false => bits,
        };
        if wide == narrow {
            return bits;
        }
        self.convert("sext", bits, narrow, wide)
    }

    /// The lanes of the current mask that a mask has too.
    pub fn narrowed(&mut self, cond: Operand) -> Operand {
        let mask = self.gang.mask_now();
        self.mask_and(mask, cond)
    }

    pub fn mask_and(&mut self, a: Operand, b: Operand) -> Operand {
        if Self::is_on(a) || Self::is_off(b) {
            return b;
        }
        if Self::is_on(b) || Self::is_off(a) {
            return a;
        }
        let ty = self.gang.mask_ty();
        self.plain("and", ty, a, b)
    }

    pub fn mask_not(&mut self, mask: Operand) -> Operand {
        let ty = self.gang.mask_ty();
        match mask {
            Operand::Bool(b) => Operand::Bool(!b),
            Operand::Int(v) => Operand::Int(!v),
            _ => {
                let on = self.gang.all_on();
                self.plain("xor", ty, mask, on)
            }
        }
    }

    /// `mask & !gone`.
    pub fn mask_without(&mut self, mask: Operand, gone: Operand) -> Operand {
        let kept = self.mask_not(gone);
        self.mask_and(kept, mask)
    }

    /// Is a lane on?
    pub fn any(&mut self, mask: Operand) -> Operand {
        if Self::is_on(mask) || Self::is_off(mask) {
            return Operand::Bool(Self::is_on(mask));
        }
        let ty = self.gang.mask_ty();
        if ty.elem == Elem::I1 {
            let name = format!("llvm.vector.reduce.or.{}", ty.suffix());
            self.cx.declare(format!("declare i1 @{name}({ty})"));
            return self.w.inst(format_args!("call i1 @{name}({})", mask.typed(ty)));
        }
        self.any_wide(mask, ty)
    }

    /// Folds the mask down to one register before it becomes bits: one `or` each, and a single test at the end.
    fn any_wide(&mut self, mask: Operand, ty: Ty) -> Operand {
        let register = (self.cx.target.vector_bits / ty.elem.bits()).max(1);
        let (mut folded, mut ty) = (mask, ty);
        while ty.lanes > register && ty.lanes > 1 {
            let half = ty.lanes / 2;
            let low = self.part(folded, ty, 0, half);
            let high = self.part(folded, ty, half, half);
            ty.lanes = half;
            folded = self.plain("or", ty, low, high);
        }
        let lanes = ty.lanes;
        let bits = self.w.inst(format_args!("icmp slt {}, zeroinitializer", folded.typed(ty)));
        let word = self.w.inst(format_args!("bitcast {} to i{lanes}", bits.typed(ty.with(Elem::I1))));
        self.w.inst(format_args!("icmp ne i{lanes} {}, 0", word.of(Ty::I64)))
    }

    /// Memory for a mask that changes across blocks; promoted to a register by LLVM.
    pub fn mask_slot(&mut self) -> Operand {
        let ty = self.gang.mask_ty();
        self.w.alloca(ty)
    }

    pub fn save_mask(&mut self, slot: Operand, mask: Operand) {
        let ty = self.gang.mask_ty();
        self.w.store(ty, mask, slot);
    }

    pub fn load_mask(&mut self, slot: Operand) -> Operand {
        let ty = self.gang.mask_ty();
        self.w.load(ty, slot)
    }

    /// The mask of the lanes in which `base` is below `end`.
    pub fn lanes_below(&mut self, base: Num, end: Operand) -> Operand {
        if let (Num::Affine(first, 1), false) = (base, self.gang.mask_elem == Elem::I64) {
            return self.first_lanes(first, end);
        }
        let ty = self.gang.vector_ty(Elem::I64);
        let (lanes, end) = (self.take(base, ty), self.splat(end, ty));
        let below = self.w.inst(format_args!("icmp slt {}, {}", lanes.typed(ty), end.of(ty)));
        self.mask_of(below)
    }

    /// As many of the first lanes as there are numbers from `first` to `end`: compared in 32 bits, which are half as many vectors.
    fn first_lanes(&mut self, first: Operand, end: Operand) -> Operand {
        let left = self.sub_scalar(end, first);
        let left = self.call("smin", Ty::I64, &[left, Operand::Int(self.gang.lanes.into())]);
        let left = self.call("smax", Ty::I64, &[left, Operand::Int(0)]);
        let left = self.convert("trunc", left, Ty::I64, Ty::I32);
        let ty = self.gang.vector_ty(Elem::I32);
        let left = self.splat(left, ty);
        let lanes = self.narrow_steps(1, ty);
        let below = self.w.inst(format_args!("icmp slt {}, {}", lanes.typed(ty), left.of(ty)));
        self.mask_of(below)
    }

    pub fn trailing_zeros(&mut self, bits: Operand) -> Operand {
        self.cx.declare("declare i64 @llvm.cttz.i64(i64, i1)".to_owned());
        self.w
            .inst(format_args!("call i64 @llvm.cttz.i64({}, i1 true)", bits.typed(Ty::I64)))
    }

    /// The mask as an `i64` of one bit a lane.
    pub fn mask_bits(&mut self) -> Operand {
        let lanes = self.gang.lanes;
        if self.gang.mask == Mask::Full {
            return Operand::Int(if lanes == 64 { -1 } else { (1 << lanes) - 1 });
        }
        let (mask, ty) = (self.bits_now(), self.gang.bits_ty());
        let bits = self.w.inst(format_args!("bitcast {} to i{lanes}", mask.typed(ty)));
        if lanes == 64 {
            return bits;
        }
        self.w.inst(format_args!("zext i{lanes} {} to i64", bits.of(Ty::I64)))
    }
}
