//! Division as Python and NumPy have it: floors, remainders with the divisor's sign, zero divisors; and integer powers.

use weft_ir::Scalar;
use weft_thread::Code;

use super::func::Fx;
use super::helpers::{self, fmod, pow};
use super::values::{Num, Res};
use super::writer::{Operand, Ty};

/// What is asked for of a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// The quotient, rounded down.
    Floor,
    /// The remainder with the divisor's sign.
    Mod,
    /// The remainder with the dividend's sign.
    Rem,
}

impl Fx<'_, '_> {
    pub fn division(&mut self, op: Division, s: Scalar, x: Operand, y: Operand) -> Operand {
        if s.is_float() {
            self.float_division(op, x, y)
        } else {
            self.int_division(op, s.is_signed(), x, y)
        }
    }

    /// Of two integers of one width. A zero divisor gives 0.
    fn int_division(&mut self, op: Division, signed: bool, x: Operand, y: Operand) -> Operand {
        if let Some(d) = y.int() {
            return self.division_by_constant(op, signed, x, d);
        }
        let ty = x.ty;
        let zero = self.w.compare("icmp eq", y, ty.int_const(0));
        let mut bad = zero;
        if signed {
            // The least number divided by -1 does not fit; divided by 1 it is what wrapping gives.
            let least = self.w.compare("icmp eq", x, ty.int_const(least(ty)));
            let minus = self.w.compare("icmp eq", y, ty.int_const(-1));
            let overflows = self.w.binary("and", least, minus);
            bad = self.w.binary("or", zero, overflows);
        }
        let d = self.w.select(bad, ty.int_const(1), y);
        let quotient = match (op, signed) {
            (Division::Rem, true) => return self.w.binary("srem", x, d),
            (Division::Rem | Division::Mod, false) => return self.w.binary("urem", x, d),
            (Division::Mod, true) => return self.floor_mod(x, d),
            (Division::Floor, true) => self.floor_quotient(x, d),
            (Division::Floor, false) => self.w.binary("udiv", x, d),
        };
        self.w.select(zero, ty.int_const(0), quotient)
    }

    fn division_by_constant(&mut self, op: Division, signed: bool, x: Operand, d: i64) -> Operand {
        let ty = x.ty;
        let y = ty.int_const(d);
        let power = d > 0 && d & (d - 1) == 0;
        match (d, op) {
            (0, _) => ty.int_const(0),
            (1, Division::Floor) => x,
            (-1, Division::Floor) if signed => self.w.binary("sub", ty.int_const(0), x),
            (1, _) => ty.int_const(0),
            (-1, _) if signed => ty.int_const(0),
            (_, Division::Rem) => self.w.binary(if signed { "srem" } else { "urem" }, x, y),
            (_, Division::Mod) if power => self.w.binary("and", x, ty.int_const(d - 1)),
            (_, Division::Floor) if signed && power => self.w.binary("ashr", x, ty.int_const(d.trailing_zeros().into())),
            (_, Division::Mod) if signed => self.floor_mod(x, y),
            (_, Division::Mod) => self.w.binary("urem", x, y),
            (_, Division::Floor) if signed => self.floor_quotient(x, y),
            (_, Division::Floor) => self.w.binary("udiv", x, y),
        }
    }

    /// Remainder with the divisor's sign, for a divisor that does not trap.
    fn floor_mod(&mut self, x: Operand, d: Operand) -> Operand {
        let r = self.w.binary("srem", x, d);
        let off = self.floors_down(r, d);
        let shifted = self.w.binary("add", r, d);
        self.w.select(off, shifted, r)
    }

    fn floor_quotient(&mut self, x: Operand, d: Operand) -> Operand {
        let q = self.w.binary("sdiv", x, d);
        let back = self.w.binary("mul", q, d);
        let r = self.w.binary("sub", x, back);
        let off = self.floors_down(r, d);
        let less = self.w.binary("add", q, q.ty.int_const(-1));
        self.w.select(off, less, q)
    }

    /// The remainder is not zero and has not the divisor's sign.
    fn floors_down(&mut self, r: Operand, d: Operand) -> Operand {
        let zero = r.ty.int_const(0);
        let signs = self.w.binary("xor", r, d);
        let differ = self.w.compare("icmp slt", signs, zero);
        let some = self.w.compare("icmp ne", r, zero);
        self.w.binary("and", differ, some)
    }

    /// NumPy's `fmod`, `remainder` and `floor_divide`.
    fn float_division(&mut self, op: Division, x: Operand, y: Operand) -> Operand {
        let ty = x.ty;
        if ty.is_half() {
            let (x, y) = (self.float_to_float(x, Ty::F32), self.float_to_float(y, Ty::F32));
            let result = self.float_division(op, x, y);
            return self.float_to_float(result, ty);
        }
        let rem = self.helper(&fmod(ty), ty, &[x, y]);
        if op == Division::Rem {
            return rem;
        }
        let zero = ty.float_const(0.0);
        let some = self.w.compare("fcmp une", rem, zero);
        let (rs, ys) = (self.sign_bit(rem), self.sign_bit(y));
        let differ = self.w.binary("xor", rs, ys);
        let off = self.w.binary("and", some, differ);
        if op == Division::Mod {
            let moved = self.w.binary("fadd", rem, y);
            let adjusted = self.w.select(off, moved, rem);
            let signed_zero = self.call("copysign", &[zero, y]);
            return self.w.select(some, adjusted, signed_zero);
        }
        self.float_floor_quotient(x, y, rem, off)
    }

    fn float_floor_quotient(&mut self, x: Operand, y: Operand, rem: Operand, off: Operand) -> Operand {
        let [zero, one, half] = [0.0, 1.0, 0.5].map(|v| x.ty.float_const(v));
        let exact = self.w.binary("fsub", x, rem);
        let div = self.w.binary("fdiv", exact, y);
        let less = self.w.binary("fsub", div, one);
        let div = self.w.select(off, less, div);
        let floor = self.call("floor", &[div]);
        let gap = self.w.binary("fsub", div, floor);
        let up = self.w.compare("fcmp ogt", gap, half);
        let raised = self.w.binary("fadd", floor, one);
        let whole = self.w.select(up, raised, floor);
        let ratio = self.w.binary("fdiv", x, y);
        let signed_zero = self.call("copysign", &[zero, ratio]);
        let some = self.w.compare("fcmp une", div, zero);
        let result = self.w.select(some, whole, signed_zero);
        let by_zero = self.w.compare("fcmp oeq", y, zero);
        self.w.select(by_zero, ratio, result)
    }

    /// A power by squaring.
    pub fn int_pow(&mut self, s: Scalar, x: Operand, y: Operand, count: Scalar) -> Res<Num> {
        if !s.is_int() || !count.is_int() {
            return self.internal("an integer power of a value that is no integer");
        }
        let exponent = self.w.resize(y, Ty::I64, count.is_signed());
        let helper = pow(x.ty, s.is_signed(), count.is_signed());
        Ok(Num::Reg(self.helper(&helper, x.ty, &[x, exponent])))
    }

    /// Calls a function of our own, written when it is first called.
    fn helper(&mut self, helper: &helpers::Helper, result: Ty, args: &[Operand]) -> Operand {
        self.cx.helper(helper);
        let args: Vec<String> = args.iter().map(Operand::to_string).collect();
        self.w
            .inst(result, format_args!("call {result} @{}({})", helper.name, args.join(", ")))
    }
}

/// The least signed integer of a type.
fn least(ty: Ty) -> i64 {
    i64::MIN >> (64 - ty.bits())
}
