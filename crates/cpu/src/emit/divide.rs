//! Division as NumPy has it: quotients rounded down, remainders of either sign, a zero divisor that does not trap.

use weft_ir::Scalar;

use super::func::Fx;
use super::gang::Mask;
use super::rounding::Rounding;
use super::values::{Num, elem};
use super::writer::{Elem, Operand, Ty};

/// Which result of a division, as `BinOp` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    Floor,
    Mod,
    Rem,
}

/// What integers are divided by.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    at: Operand,
    signed: bool,
    /// The same for all lanes.
    shared: bool,
}

impl Fx<'_, '_> {
    /// `divisor`: as an operand of the type, and as it was.
    pub fn division(&mut self, part: Division, s: Scalar, ty: Ty, x: Operand, divisor: (Operand, Num)) -> Operand {
        let (y, number) = divisor;
        if s.is_float() {
            return self.float_division(part, ty, x, y);
        }
        let divisor = Divisor {
            at: y,
            signed: s.is_signed(),
            shared: matches!(number, Num::Uniform(_)),
        };
        self.int_division(part, s, ty, x, divisor)
    }

    /// The divisor of an integer division as one that cannot trap: 1 for 0 and for -1, whatever is in lanes that are off.
    fn int_division(&mut self, part: Division, s: Scalar, ty: Ty, x: Operand, divisor: Divisor) -> Operand {
        let signed = divisor.signed;
        if let Some(d) = divisor.at.int() {
            return self.division_by_constant(part, ty, x, (d, divisor), elem(s).bits());
        }
        let bits = ty.with(Elem::I1);
        let y = self.frozen(divisor.at, ty);
        let zero = self.w.inst(format_args!("icmp eq {}, {}", y.typed(ty), Operand::Int(0).of(ty)));
        let mut bad = zero;
        let mut minus = None;
        if signed {
            let m = self.w.inst(format_args!("icmp eq {}, {}", y.typed(ty), Operand::Int(-1).of(ty)));
            bad = self.plain("or", bits, zero, m);
            minus = Some(m);
        }
        let d = Divisor {
            at: self.select_op(ty, bad, Operand::Int(1), y),
            ..divisor
        };
        let quotient = match part {
            Division::Mod if signed => return self.floor_mod(ty, x, d),
            Division::Rem | Division::Mod => return self.remainder(ty, x, d),
            Division::Floor if signed => self.floor_quotient(ty, x, d),
            Division::Floor => self.quotient(ty, x, d),
        };
        let quotient = match minus {
            Some(m) => {
                let negated = self.plain("sub", ty, Operand::Int(0), x);
                self.select_op(ty, m, negated, quotient)
            }
            None => quotient,
        };
        self.select_op(ty, zero, Operand::Int(0), quotient)
    }

    fn division_by_constant(&mut self, part: Division, ty: Ty, x: Operand, (d, y): (i64, Divisor), bits: u32) -> Operand {
        let (signed, zero) = (y.signed, Operand::Int(0));
        let (negates, power) = (d == -1 && signed, d > 0 && d & (d - 1) == 0);
        if d == 0 {
            return zero;
        }
        match part {
            Division::Floor if d == 1 => x,
            Division::Floor if negates => self.plain("sub", ty, zero, x),
            Division::Floor if signed && power && d.trailing_zeros() < bits => {
                self.plain("ashr", ty, x, Operand::Int(i64::from(d.trailing_zeros())))
            }
            Division::Floor if signed => self.floor_quotient(ty, x, y),
            Division::Floor => self.quotient(ty, x, y),
            Division::Mod | Division::Rem if d == 1 || negates => zero,
            Division::Rem => self.remainder(ty, x, y),
            Division::Mod if power => self.plain("and", ty, x, Operand::Int(d - 1)),
            Division::Mod if signed => self.floor_mod(ty, x, y),
            Division::Mod => self.remainder(ty, x, y),
        }
    }

    /// Towards zero, by a divisor that does not trap.
    fn quotient(&mut self, ty: Ty, x: Operand, d: Divisor) -> Operand {
        match self.float_of_quotients(ty, d) {
            Some(float) => self.quotient_by_float(ty, float, x, d),
            None => self.plain(if d.signed { "sdiv" } else { "udiv" }, ty, x, d.at),
        }
    }

    /// Remainder with the dividend's sign.
    fn remainder(&mut self, ty: Ty, x: Operand, d: Divisor) -> Operand {
        let Some(float) = self.float_of_quotients(ty, d) else {
            return self.plain(if d.signed { "srem" } else { "urem" }, ty, x, d.at);
        };
        let q = self.quotient_by_float(ty, float, x, d);
        let back = self.plain("mul", ty, q, d.at);
        self.plain("sub", ty, x, back)
    }

    /// The type of floats that divides vectors of integers, which no hardware divides: LLVM would take them apart. (2·10⁶ uint8 by a number on
    /// Zen 4: 2.3 ms, with this 0.1.) By what is known while compiling LLVM multiplies instead.
    ///
    /// Where floats have more bits than the integers, the quotient's integer part is right: a quotient that is no integer is at least `1 / d`
    /// away from one, and it is rounded by less.
    fn float_of_quotients(&self, ty: Ty, d: Divisor) -> Option<Ty> {
        match ty.elem {
            _ if ty.lanes == 0 || d.at.int().is_some() => None,
            Elem::I8 | Elem::I16 => Some(ty.with(Elem::F32)),
            Elem::I32 => Some(ty.with(Elem::F64)),
            _ => None,
        }
    }

    /// A divisor that all lanes share is divided by once. Its inverse is made larger by more than what the inverse and the product are rounded
    /// by, and by less than a quotient would need to get to the next integer.
    fn quotient_by_float(&mut self, ty: Ty, float: Ty, x: Operand, d: Divisor) -> Operand {
        if d.shared && !d.signed && ty.elem == Elem::I8 {
            return self.quotient_of_bytes(ty, float, x, d);
        }
        let (from, to) = if d.signed { ("sitofp", "fptosi") } else { ("uitofp", "fptoui") };
        let (x, by) = (self.convert(from, x, ty, float), self.convert(from, d.at, ty, float));
        let ratio = if d.shared {
            let above_one = match float.elem {
                Elem::F32 => Operand::F32((1.0 + 2f32.powi(-21)).to_bits()),
                _ => Operand::F64((1.0 + 2f64.powi(-48)).to_bits()),
            };
            let inverse = self.plain("fdiv", float, above_one, by);
            self.plain("fmul", float, x, inverse)
        } else {
            self.plain("fdiv", float, x, by)
        };
        self.convert(to, ratio, float, ty)
    }

    /// Of unsigned bytes by one that all lanes share: products of 16 bits, which vectors have. (Granlund and Montgomery, Division by Invariant
    /// Integers using Multiplication, 1994, figure 4.1.) With l = ⌈log2 d⌉ and m = ⌊256 · (2^l - d) / d⌋ + 1 the quotient is
    /// t + (x - t) / 2 over 2^(l - 1), where t = m · x / 256; of d = 1 it is x.
    fn quotient_of_bytes(&mut self, ty: Ty, float: Ty, x: Operand, d: Divisor) -> Operand {
        let half = ty.with(Elem::I16);
        let (x, d) = (self.convert("zext", x, ty, half), self.convert("zext", d.at, ty, half));
        let one = Operand::Int(1);
        let is_one = self.w.inst(format_args!("icmp eq {}, {}", d.typed(half), one.of(half)));
        let less = self.plain("sub", half, d, one);
        let zeros = self.flag_call("ctlz", half, less);
        let log = self.plain("sub", half, Operand::Int(16), zeros);
        let power = self.plain("shl", half, one, log);
        let above = self.plain("sub", half, power, d);
        let scaled = self.plain("shl", half, above, Operand::Int(8));
        let (scaled, by) = (self.convert("uitofp", scaled, half, float), self.convert("uitofp", d, half, float));
        let ratio = self.plain("fdiv", float, scaled, by);
        let below = self.convert("fptoui", ratio, float, half);
        let m = self.plain("add", half, below, one);
        let first = self.select_op(half, is_one, Operand::Int(0), one);
        let second = self.plain("sub", half, log, first);
        let product = self.plain("mul", half, m, x);
        let t = self.plain("lshr", half, product, Operand::Int(8));
        let rest = self.plain("sub", half, x, t);
        let rest = self.plain("lshr", half, rest, first);
        let sum = self.plain("add", half, t, rest);
        let quotient = self.plain("lshr", half, sum, second);
        self.convert("trunc", quotient, half, ty)
    }

    /// Remainder with the divisor's sign, for a divisor that does not trap.
    fn floor_mod(&mut self, ty: Ty, x: Operand, d: Divisor) -> Operand {
        let r = self.remainder(ty, x, d);
        let off = self.floors_down(ty, r, d.at);
        let shifted = self.plain("add", ty, r, d.at);
        self.select_op(ty, off, shifted, r)
    }

    fn floor_quotient(&mut self, ty: Ty, x: Operand, d: Divisor) -> Operand {
        let q = self.quotient(ty, x, d);
        let back = self.plain("mul", ty, q, d.at);
        let r = self.plain("sub", ty, x, back);
        let off = self.floors_down(ty, r, d.at);
        let less = self.plain("add", ty, q, Operand::Int(-1));
        self.select_op(ty, off, less, q)
    }

    /// The remainder is not zero and has not the divisor's sign.
    fn floors_down(&mut self, ty: Ty, r: Operand, d: Operand) -> Operand {
        let bits = ty.with(Elem::I1);
        let signs = self.plain("xor", ty, r, d);
        let differ = self
            .w
            .inst(format_args!("icmp slt {}, {}", signs.typed(ty), Operand::Int(0).of(ty)));
        let some = self.w.inst(format_args!("icmp ne {}, {}", r.typed(ty), Operand::Int(0).of(ty)));
        self.plain("and", bits, differ, some)
    }

    /// Stops undefined bits of lanes that are off.
    fn frozen(&mut self, op: Operand, ty: Ty) -> Operand {
        if ty.lanes == 0 || self.gang.mask == Mask::Full {
            return op;
        }
        self.w.inst(format_args!("freeze {}", op.typed(ty)))
    }

    /// NumPy's `fmod`, `remainder` and `floor_divide`.
    fn float_division(&mut self, part: Division, ty: Ty, x: Operand, y: Operand) -> Operand {
        self.cx.symbol(if ty.elem == Elem::F32 { "fmodf" } else { "fmod" });
        let rem = self.plain("frem", ty, x, y);
        if part == Division::Rem {
            return rem;
        }
        let zero = Operand::F64(0);
        let zero = if ty.elem == Elem::F32 { Operand::F32(0) } else { zero };
        let bits = ty.with(Elem::I1);
        let some = self.w.inst(format_args!("fcmp une {}, {}", rem.typed(ty), zero.of(ty)));
        let (rs, ys) = (self.sign_bit(ty, rem), self.sign_bit(ty, y));
        let differ = self.plain("xor", bits, rs, ys);
        let off = self.plain("and", bits, some, differ);
        let moved = self.plain("fadd", ty, rem, y);
        let adjusted = self.select_op(ty, off, moved, rem);
        if part == Division::Mod {
            let signed_zero = self.call("copysign", ty, &[zero, y]);
            return self.select_op(ty, some, adjusted, signed_zero);
        }
        self.float_floor_quotient(ty, x, y, rem, off)
    }

    fn float_floor_quotient(&mut self, ty: Ty, x: Operand, y: Operand, rem: Operand, off: Operand) -> Operand {
        let (zero, one, half) = if ty.elem == Elem::F32 {
            (Operand::F32(0), Operand::F32(1f32.to_bits()), Operand::F32(0.5f32.to_bits()))
        } else {
            (Operand::F64(0), Operand::F64(1f64.to_bits()), Operand::F64(0.5f64.to_bits()))
        };
        let exact = self.plain("fsub", ty, x, rem);
        let div = self.plain("fdiv", ty, exact, y);
        let less = self.plain("fsub", ty, div, one);
        let div = self.select_op(ty, off, less, div);
        let floor = self.round(Rounding::Floor, ty, div);
        let gap = self.plain("fsub", ty, div, floor);
        let up = self.w.inst(format_args!("fcmp ogt {}, {}", gap.typed(ty), half.of(ty)));
        let raised = self.plain("fadd", ty, floor, one);
        let whole = self.select_op(ty, up, raised, floor);
        let ratio = self.plain("fdiv", ty, x, y);
        let signed_zero = self.call("copysign", ty, &[zero, ratio]);
        let some = self.w.inst(format_args!("fcmp une {}, {}", div.typed(ty), zero.of(ty)));
        let result = self.select_op(ty, some, whole, signed_zero);
        let by_zero = self.w.inst(format_args!("fcmp oeq {}, {}", y.typed(ty), zero.of(ty)));
        self.select_op(ty, by_zero, ratio, result)
    }
}
