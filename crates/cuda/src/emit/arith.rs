//! Unary, binary and ternary arithmetic and comparisons of numbers.

use weft_ir::{BinOp, Scalar, UnOp};
use weft_thread::Numbers;

use super::divide::Division;
use super::func::Fx;
use super::values::{Num, Res};
use super::writer::{Operand, Ty};

/// The first `sm` with arithmetic of bfloat16.
const FIRST_WITH_BFLOATS: u32 = 80;

impl Fx<'_, '_> {
    pub fn unary_inst(&mut self, op: UnOp, s: Scalar, x: Operand) -> Operand {
        let ty = x.ty;
        match op {
            UnOp::Neg if s.is_float() => {
                let fast = self.fast();
                self.w.inst(ty, format_args!("fneg {fast}{x}"))
            }
            UnOp::Neg => self.w.binary("sub", ty.int_const(0), x),
            UnOp::Not if s == Scalar::Bool => self.w.binary("xor", x, Operand::bool(true)),
            UnOp::Not => self.w.binary("xor", x, ty.int_const(-1)),
            UnOp::Abs if s.is_float() => self.float_call("fabs", &[x]),
            UnOp::Abs if s.is_signed() => self.flag_call("abs", x),
            UnOp::Abs | UnOp::Conj => x,
            UnOp::Sqrt => self.float_call("sqrt", &[x]),
            UnOp::Floor => self.float_call("floor", &[x]),
            UnOp::Ceil => self.float_call("ceil", &[x]),
            UnOp::Trunc => self.float_call("trunc", &[x]),
            UnOp::Rint => self.float_call("rint", &[x]),
            UnOp::Popcount => self.call("ctpop", &[x]),
            UnOp::Clz => self.flag_call("ctlz", x),
            UnOp::Ctz => self.flag_call("cttz", x),
            UnOp::BitReverse => self.call("bitreverse", &[x]),
            UnOp::IsNan => self.w.compare("fcmp uno", x, x),
            UnOp::IsInf => {
                let magnitude = self.call("fabs", &[x]);
                self.w.compare("fcmp oeq", magnitude, ty.float_const(f64::INFINITY))
            }
            UnOp::SignBit => self.sign_bit(x),
        }
    }

    pub fn sign_bit(&mut self, x: Operand) -> Operand {
        let bits = self.w.bitcast(x, x.ty.int());
        self.w.compare("icmp slt", bits, bits.ty.int_const(0))
    }

    /// An LLVM intrinsic whose operands and result have one type.
    pub fn call(&mut self, name: &str, args: &[Operand]) -> Operand {
        self.intrinsic("", name, args)
    }

    pub fn float_call(&mut self, name: &str, args: &[Operand]) -> Operand {
        let fast = self.fast();
        self.intrinsic(fast, name, args)
    }

    fn intrinsic(&mut self, flags: &str, name: &str, args: &[Operand]) -> Operand {
        let ty = args[0].ty;
        let types = vec![ty.to_string(); args.len()].join(", ");
        let shown: Vec<String> = args.iter().map(Operand::to_string).collect();
        let suffix = ty.suffix();
        self.cx.declare(format!("declare {ty} @llvm.{name}.{suffix}({types})"));
        self.w
            .inst(ty, format_args!("call {flags}{ty} @llvm.{name}.{suffix}({})", shown.join(", ")))
    }

    /// `abs`, `ctlz`, `cttz`: defined on every operand.
    fn flag_call(&mut self, name: &str, x: Operand) -> Operand {
        let (ty, suffix) = (x.ty, x.ty.suffix());
        self.cx.declare(format!("declare {ty} @llvm.{name}.{suffix}({ty}, i1)"));
        self.w.inst(ty, format_args!("call {ty} @llvm.{name}.{suffix}({x}, i1 false)"))
    }

    /// An intrinsic of NVPTX.
    pub fn nvvm(&mut self, name: &str, ty: Ty, args: &[Operand]) -> Operand {
        let call = self.nvvm_call(name, &ty.to_string(), args);
        self.w.inst(ty, format_args!("{call}"))
    }

    pub fn nvvm_call(&mut self, name: &str, result: &str, args: &[Operand]) -> String {
        let types: Vec<String> = args.iter().map(|arg| arg.ty.to_string()).collect();
        let shown: Vec<String> = args.iter().map(Operand::to_string).collect();
        self.cx.declare(format!("declare {result} @llvm.nvvm.{name}({})", types.join(", ")));
        format!("call {result} @llvm.nvvm.{name}({})", shown.join(", "))
    }

    /// `count` is the type of the second operand, which differs for shifts and powers.
    pub fn binary_inst(&mut self, op: BinOp, s: Scalar, a: Num, b: Num, count: Scalar) -> Res<Num> {
        let (x, y) = (self.take(a), self.take(b));
        let float = s.is_float();
        Ok(Num::Reg(match op {
            BinOp::Add => self.flagged(if float { "fadd" } else { "add" }, x, y),
            BinOp::Sub => self.flagged(if float { "fsub" } else { "sub" }, x, y),
            BinOp::Mul => self.flagged(if float { "fmul" } else { "mul" }, x, y),
            BinOp::Div => self.flagged("fdiv", x, y),
            BinOp::And => self.w.binary("and", x, y),
            BinOp::Or => self.w.binary("or", x, y),
            BinOp::Xor => self.w.binary("xor", x, y),
            BinOp::FloorDiv => self.division(Division::Floor, s, x, y),
            BinOp::Mod => self.division(Division::Mod, s, x, y),
            BinOp::Rem => self.division(Division::Rem, s, x, y),
            BinOp::Shl => self.shift("shl", x, b, count.is_signed()),
            BinOp::Shr => self.shift(if s.is_signed() { "ashr" } else { "lshr" }, x, b, count.is_signed()),
            BinOp::Min => self.min_max(true, s, x, y),
            BinOp::Max => self.min_max(false, s, x, y),
            BinOp::CopySign => self.call("copysign", &[x, y]),
            BinOp::IntPow => return self.int_pow(s, x, y, count),
        }))
    }

    fn flagged(&mut self, name: &str, x: Operand, y: Operand) -> Operand {
        let fast = if x.ty.is_float() { self.fast() } else { "" };
        self.w.inst(x.ty, format_args!("{name} {fast}{x}, {}", y.bare()))
    }

    /// `a if a < b else b`, a NaN in either giving NaN.
    fn min_max(&mut self, min: bool, s: Scalar, x: Operand, y: Operand) -> Operand {
        match (s.is_float(), s.is_signed()) {
            (true, _) => self.float_min_max(if min { "fcmp olt" } else { "fcmp ogt" }, x, y),
            (false, _) if s == Scalar::Bool => self.w.binary(if min { "and" } else { "or" }, x, y),
            (false, true) => self.call(if min { "smin" } else { "smax" }, &[x, y]),
            (false, false) => self.call(if min { "umin" } else { "umax" }, &[x, y]),
        }
    }

    /// Not the hardware's: of two zeros that compares less which is negative.
    fn float_min_max(&mut self, compare: &str, x: Operand, y: Operand) -> Operand {
        let first = self.w.compare(compare, x, y);
        let nan = self.w.compare("fcmp uno", x, x);
        let first = self.w.binary("or", first, nan);
        self.w.select(first, x, y)
    }

    /// Counts outside the type's bits give 0, or the sign for a signed right shift.
    fn shift(&mut self, name: &str, x: Operand, count: Num, signed: bool) -> Operand {
        let bits = i64::from(x.ty.bits());
        let arithmetic = name == "ashr";
        if let Some(n) = count.const_int() {
            return match (0..bits).contains(&n) {
                true => self.w.binary(name, x, x.ty.int_const(n)),
                false if arithmetic => self.w.binary(name, x, x.ty.int_const(bits - 1)),
                false => x.ty.int_const(0),
            };
        }
        let count = self.shift_count(count, signed);
        if arithmetic {
            let most = self.call("umin", &[count, Ty::I32.int_const(bits - 1)]);
            let most = self.w.resize(most, x.ty, false);
            return self.w.binary(name, x, most);
        }
        // The hardware's own shift: LLVM knows it by this pattern, of which it looks at the low 32 bits only.
        let inside = self.w.compare("icmp ult", count, Ty::I32.int_const(bits));
        let resized = self.w.resize(count, x.ty, false);
        let shifted = self.w.binary(name, x, resized);
        self.w.select(inside, shifted, x.ty.int_const(0))
    }

    /// A count as an unsigned number of 32 bits; what is negative or does not fit becomes one that is too large for any type.
    fn shift_count(&mut self, count: Num, signed: bool) -> Operand {
        match count {
            Num::Short(op, _) => op,
            Num::Reg(op) if op.ty == Ty::I64 => {
                let most = self.call("umin", &[op, Ty::I64.int_const(64)]);
                self.w.resize(most, Ty::I32, false)
            }
            Num::Reg(op) => self.w.resize(op, Ty::I32, signed),
        }
    }

    pub fn fma_inst(&mut self, args: [Operand; 3]) -> Operand {
        if args[0].ty == Ty::BF16 && self.cx.target.sm < FIRST_WITH_BFLOATS {
            return self.bfloat_fma(args);
        }
        self.float_call("fma", &args)
    }

    /// LLVM would round to float32 on the way. The product is exact as a double; where the sum is not, it is rounded to odd, to a double and
    /// then to a float32, which no later rounding can tell from the exact sum.
    fn bfloat_fma(&mut self, args: [Operand; 3]) -> Operand {
        let [a, b, c] = args.map(|x| self.w.convert("fpext", x, Ty::F64));
        let product = self.w.binary("fmul", a, b);
        let sum = self.odd_sum(product, c);
        let single = self.nvvm("d2f.rz", Ty::F32, &[sum]);
        let back = self.w.convert("fpext", single, Ty::F64);
        let inexact = self.w.compare("fcmp one", back, sum);
        let bits = self.w.bitcast(single, Ty::I32);
        let odd = self.w.binary("or", bits, Ty::I32.int_const(1));
        let bits = self.w.select(inexact, odd, bits);
        let single = self.w.bitcast(bits, Ty::F32);
        self.w.convert("fptrunc", single, Ty::BF16)
    }

    /// A sum of doubles; where it is not exact, that one of its neighbours whose last bit is set.
    fn odd_sum(&mut self, a: Operand, b: Operand) -> Operand {
        let sum = self.w.binary("fadd", a, b);
        let from_b = self.w.binary("fsub", sum, a);
        let from_a = self.w.binary("fsub", sum, from_b);
        let (lost_a, lost_b) = (self.w.binary("fsub", a, from_a), self.w.binary("fsub", b, from_b));
        let error = self.w.binary("fadd", lost_a, lost_b);
        let zero = Ty::F64.float_const(0.0);
        let inexact = self.w.compare("fcmp one", error, zero);
        let (more, positive) = (self.w.compare("fcmp ogt", error, zero), self.w.compare("fcmp ogt", sum, zero));
        let same = self.w.compare("icmp eq", more, positive);
        let bits = self.w.bitcast(sum, Ty::I64);
        let last = self.w.convert("trunc", bits, Ty::I1);
        let even = self.w.binary("xor", last, Operand::bool(true));
        let moves = self.w.binary("and", inexact, even);
        let step = self.w.select(same, Ty::I64.int_const(1), Ty::I64.int_const(-1));
        let step = self.w.select(moves, step, Ty::I64.int_const(0));
        let bits = self.w.binary("add", bits, step);
        self.w.bitcast(bits, Ty::F64)
    }
}
