//! Unary, binary and ternary arithmetic and comparisons, the same for one scalar and for a vector of lanes.

use weft_ir::{BinOp, CmpOp, Scalar, UnOp};
use weft_llvm_text::compare_name;

use super::divide::Division;
use super::func::Fx;
use super::rounding::Rounding;
use super::values::{Num, Res, elem};
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    pub fn unary(&mut self, op: UnOp, s: Scalar, a: Num) -> Res<Num> {
        if op == UnOp::Neg && s == Scalar::I64 {
            return Ok(self.sub(Num::int(0), a));
        }
        let ty = self.gang.ty_of(a, elem(s));
        let x = self.take(a, ty);
        let result = match op {
            UnOp::Neg if s.is_float() => {
                let fast = self.fast();
                self.w.inst(format_args!("fneg {fast}{}", x.typed(ty)))
            }
            UnOp::Neg => self.w.inst(format_args!("sub {}, {}", Operand::Int(0).typed(ty), x.of(ty))),
            UnOp::Not => {
                let ones = if s == Scalar::Bool { Operand::Bool(true) } else { Operand::Int(-1) };
                self.w.inst(format_args!("xor {}, {}", x.typed(ty), ones.of(ty)))
            }
            UnOp::Abs if s.is_float() => self.float_call("fabs", ty, &[x]),
            UnOp::Abs if s.is_signed() => self.flag_call("abs", ty, x),
            UnOp::Abs | UnOp::Conj => x,
            UnOp::Sqrt => self.float_call("sqrt", ty, &[x]),
            UnOp::Floor => self.round(Rounding::Floor, ty, x),
            UnOp::Ceil => self.round(Rounding::Ceil, ty, x),
            UnOp::Trunc => self.round(Rounding::Trunc, ty, x),
            UnOp::Rint => self.round(Rounding::Rint, ty, x),
            UnOp::BitReverse => self.call("bitreverse", ty, &[x]),
            UnOp::Popcount => self.call("ctpop", ty, &[x]),
            UnOp::Clz => self.flag_call("ctlz", ty, x),
            UnOp::Ctz => self.flag_call("cttz", ty, x),
            UnOp::IsNan => self.w.inst(format_args!("fcmp uno {}, {}", x.typed(ty), x.of(ty))),
            UnOp::IsInf => self.is_inf(ty, x),
            UnOp::SignBit => self.sign_bit(ty, x),
        };
        Ok(self.wrap(result, ty))
    }

    fn is_inf(&mut self, ty: Ty, x: Operand) -> Operand {
        let magnitude = self.call("fabs", ty, &[x]);
        let inf = if ty.elem == Elem::F32 {
            Operand::F32(f32::INFINITY.to_bits())
        } else {
            Operand::F64(f64::INFINITY.to_bits())
        };
        self.w.inst(format_args!("fcmp oeq {}, {}", magnitude.typed(ty), inf.of(ty)))
    }

    pub fn binary(&mut self, op: BinOp, s: Scalar, a: Num, b: Num, count: Scalar) -> Res<Num> {
        if s == Scalar::I64 {
            match op {
                BinOp::Add => return Ok(self.add(a, b)),
                BinOp::Sub => return Ok(self.sub(a, b)),
                BinOp::Mul => return Ok(self.mul(a, b)),
                _ => {}
            }
        }
        let ty = self.gang.join_ty(&[a, b], elem(s));
        let x = self.take(a, ty);
        let y = self.take(b, ty.with(elem(count)));
        let result = match op {
            BinOp::Add => self.basic("add", ty, x, y),
            BinOp::Sub => self.basic("sub", ty, x, y),
            BinOp::Mul => self.basic("mul", ty, x, y),
            BinOp::Div => self.basic("div", ty, x, y),
            BinOp::And => self.plain("and", ty, x, y),
            BinOp::Or => self.plain("or", ty, x, y),
            BinOp::Xor => self.plain("xor", ty, x, y),
            BinOp::FloorDiv => self.division(Division::Floor, s, ty, x, (y, b)),
            BinOp::Mod => self.division(Division::Mod, s, ty, x, (y, b)),
            BinOp::Rem => self.division(Division::Rem, s, ty, x, (y, b)),
            BinOp::Shl => self.shift(true, s, ty, x, y, count),
            BinOp::Shr => self.shift(false, s, ty, x, y, count),
            BinOp::Min => self.min_max(true, s, ty, x, y),
            BinOp::Max => self.min_max(false, s, ty, x, y),
            BinOp::CopySign => self.call("copysign", ty, &[x, y]),
            BinOp::IntPow => return self.int_pow(s, ty, x, y, count),
        };
        Ok(self.wrap(result, ty))
    }

    /// An instruction that LLVM has for integers and, with an `f` before its name, for floats.
    fn basic(&mut self, name: &str, ty: Ty, x: Operand, y: Operand) -> Operand {
        let (kind, fast) = if ty.elem.is_float() { ("f", self.fast()) } else { ("", "") };
        self.w.inst(format_args!("{kind}{name} {fast}{}, {}", x.typed(ty), y.of(ty)))
    }

    /// `a if a < b else b`, a NaN in either giving NaN.
    fn min_max(&mut self, least: bool, s: Scalar, ty: Ty, x: Operand, y: Operand) -> Operand {
        if s.is_float() {
            return self.float_min_max(if least { "olt" } else { "ogt" }, ty, x, y);
        }
        if s == Scalar::Bool {
            return self.plain(if least { "and" } else { "or" }, ty, x, y);
        }
        let name = match (least, s.is_signed()) {
            (true, true) => "smin",
            (true, false) => "umin",
            (false, true) => "smax",
            (false, false) => "umax",
        };
        self.call(name, ty, &[x, y])
    }

    fn float_min_max(&mut self, compare: &str, ty: Ty, x: Operand, y: Operand) -> Operand {
        let first = self.w.inst(format_args!("fcmp {compare} {}, {}", x.typed(ty), y.of(ty)));
        let mut picked = self.select_op(ty, first, x, y);
        if ty.lanes > 0 && self.cx.target.features.contains("sse2") {
            // The first choice alone is one instruction of x86; LLVM would make one of both, which takes four.
            let fence = format!("llvm.arithmetic.fence.{}", ty.suffix());
            self.cx.declare(format!("declare {ty} @{fence}({ty})"));
            picked = self.w.inst(format_args!("call {ty} @{fence}({})", picked.typed(ty)));
        }
        let nan = self.w.inst(format_args!("fcmp uno {}, {}", x.typed(ty), x.of(ty)));
        self.select_op(ty, nan, x, picked)
    }

    /// Counts outside the type's bits give 0, or the sign for a signed right shift.
    fn shift(&mut self, left: bool, s: Scalar, ty: Ty, x: Operand, count: Operand, of: Scalar) -> Operand {
        let bits = i64::from(elem(s).bits());
        let arithmetic = !left && s.is_signed();
        let name = match (left, arithmetic) {
            (true, _) => "shl",
            (false, true) => "ashr",
            (false, false) => "lshr",
        };
        if let Some(n) = count.int() {
            return match (0..bits).contains(&n) {
                true => self.plain(name, ty, x, count),
                false if arithmetic => self.plain(name, ty, x, Operand::Int(bits - 1)),
                false => Operand::Int(0),
            };
        }
        let from = ty.with(elem(of));
        let inside = self
            .w
            .inst(format_args!("icmp ult {}, {}", count.typed(from), Operand::Int(bits).of(from)));
        let resized = self.resize_int(count, from, ty, false);
        let spare = Operand::Int(if arithmetic { bits - 1 } else { 0 });
        let safe = self.select_op(ty, inside, resized, spare);
        let shifted = self.plain(name, ty, x, safe);
        if arithmetic {
            return shifted;
        }
        self.select_op(ty, inside, shifted, Operand::Int(0))
    }

    pub fn compare(&mut self, op: CmpOp, s: Scalar, a: Num, b: Num) -> Num {
        let ty = self.gang.join_ty(&[a, b], elem(s));
        let (x, y) = (self.take(a, ty), self.take(b, ty));
        let name = compare_name(op, s);
        let result = self.w.inst(format_args!("{name} {}, {}", x.typed(ty), y.of(ty)));
        self.wrap(result, ty)
    }

    pub fn select(&mut self, s: Scalar, cond: Num, a: Num, b: Num) -> Num {
        if let (Num::Uniform(c), Num::Affine(x, step), Num::Affine(y, other)) = (cond, a, b)
            && step == other
        {
            return Num::Affine(self.select_op(Ty::I64, c, x, y), step);
        }
        let ty = self.gang.join_ty(&[cond, a, b], elem(s));
        let (x, y) = (self.take(a, ty), self.take(b, ty));
        let bits = self.gang.ty_of(cond, Elem::I1);
        let c = self.take(cond, bits);
        let result = self
            .w
            .inst(format_args!("select {}, {}, {}", c.typed(bits), x.typed(ty), y.typed(ty)));
        self.wrap(result, ty)
    }

    pub fn fma(&mut self, s: Scalar, a: Num, b: Num, c: Num) -> Num {
        let ty = self.gang.join_ty(&[a, b, c], elem(s));
        let args = [self.take(a, ty), self.take(b, ty), self.take(c, ty)];
        if !self.cx.target.fma {
            self.cx.symbol(if ty.elem == Elem::F32 { "fmaf" } else { "fma" });
        }
        let result = self.float_call("fma", ty, &args);
        self.wrap(result, ty)
    }

    /// A power by squaring, in a function of its own.
    fn int_pow(&mut self, s: Scalar, ty: Ty, x: Operand, y: Operand, count: Scalar) -> Res<Num> {
        if !s.is_int() || !count.is_int() {
            return self.internal("an integer power of a value that is no integer");
        }
        let exponent = ty.with(elem(count));
        let wide = self.resize_int(y, exponent, ty.with(Elem::I64), count.is_signed());
        let name = self.cx.pow_function(ty, s.is_signed(), count.is_signed());
        let e = ty.with(Elem::I64);
        // Through memory: vectors that are passed on the stack may lie misaligned behind arrays of a size known only at run time.
        let (base, power, result) = (self.w.alloca(ty), self.w.alloca(e), self.w.alloca(ty));
        self.w.store(ty, x, base);
        self.w.store(e, wide, power);
        let ptr = |op: Operand| op.typed(Ty::PTR);
        self.w
            .line(format_args!("call void @{name}({}, {}, {})", ptr(base), ptr(power), ptr(result)));
        let result = self.w.load(ty, result);
        Ok(self.wrap(result, ty))
    }
}
