//! Single LLVM instructions and intrinsics on operands, scalars or vectors alike.

use super::func::Fx;
use super::writer::{Elem, Operand, Ty};

impl Fx<'_, '_> {
    /// An LLVM intrinsic whose operands and result have one type.
    pub fn call(&mut self, name: &str, ty: Ty, args: &[Operand]) -> Operand {
        self.intrinsic("", name, ty, args)
    }

    pub fn float_call(&mut self, name: &str, ty: Ty, args: &[Operand]) -> Operand {
        let fast = self.fast();
        self.intrinsic(fast, name, ty, args)
    }

    fn intrinsic(&mut self, flags: &str, name: &str, ty: Ty, args: &[Operand]) -> Operand {
        let name = format!("llvm.{name}.{}", ty.suffix());
        let types = vec![ty.to_string(); args.len()].join(", ");
        self.cx.declare(format!("declare {ty} @{name}({types})"));
        let args: Vec<String> = args.iter().map(|a| a.typed(ty).to_string()).collect();
        self.w.inst(format_args!("call {flags}{ty} @{name}({})", args.join(", ")))
    }

    /// `abs`, `ctlz`, `cttz`: defined on every operand.
    pub fn flag_call(&mut self, name: &str, ty: Ty, x: Operand) -> Operand {
        let name = format!("llvm.{name}.{}", ty.suffix());
        self.cx.declare(format!("declare {ty} @{name}({ty}, i1)"));
        self.w.inst(format_args!("call {ty} @{name}({}, i1 false)", x.typed(ty)))
    }

    pub fn plain(&mut self, name: &str, ty: Ty, x: Operand, y: Operand) -> Operand {
        self.w.inst(format_args!("{name} {}, {}", x.typed(ty), y.of(ty)))
    }

    /// `cond ? a : b` with a condition of as many lanes as the type.
    pub fn select_op(&mut self, ty: Ty, cond: Operand, a: Operand, b: Operand) -> Operand {
        let bits = ty.with(Elem::I1);
        self.w
            .inst(format_args!("select {}, {}, {}", cond.typed(bits), a.typed(ty), b.typed(ty)))
    }

    pub fn convert(&mut self, op: &str, x: Operand, from: Ty, to: Ty) -> Operand {
        self.w.inst(format_args!("{op} {} to {to}", x.typed(from)))
    }

    pub fn resize_int(&mut self, x: Operand, from: Ty, to: Ty, signed: bool) -> Operand {
        match from.elem.bits().cmp(&to.elem.bits()) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater => self.convert("trunc", x, from, to),
            std::cmp::Ordering::Less => self.convert(if signed { "sext" } else { "zext" }, x, from, to),
        }
    }

    pub fn part(&mut self, vector: Operand, ty: Ty, first: u32, count: u32) -> Operand {
        let picks: Vec<String> = (first..first + count).map(|i| format!("i32 {i}")).collect();
        self.w.inst(format_args!(
            "shufflevector {}, {ty} poison, <{count} x i32> <{}>",
            vector.typed(ty),
            picks.join(", ")
        ))
    }
}
