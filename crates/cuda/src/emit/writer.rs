//! LLVM IR as text: types, operands, instructions, labels. An operand knows its type and is shown with it.

use std::fmt::{self, Arguments, Display};
use std::ops::{Deref, DerefMut};

use weft_ir::Scalar;
pub use weft_llvm_text::Label;
use weft_llvm_text::{Text, float_bits};

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    F64,
    Ptr(Memory),
}

/// LLVM's address spaces for NVPTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Arrays of a thread, as allocas; LLVM finds out that they are `.local`.
    Generic,
    Global,
    Shared,
    Constant,
}

impl Memory {
    pub const fn number(self) -> u32 {
        match self {
            Memory::Generic => 0,
            Memory::Global => 1,
            Memory::Shared => 3,
            Memory::Constant => 4,
        }
    }
}

impl Ty {
    /// How a scalar sits in a register.
    pub const fn of(s: Scalar) -> Ty {
        match s {
            Scalar::Bool => Ty::I1,
            Scalar::I8 | Scalar::U8 => Ty::I8,
            Scalar::I16 | Scalar::U16 => Ty::I16,
            Scalar::I32 | Scalar::U32 => Ty::I32,
            Scalar::I64 | Scalar::U64 => Ty::I64,
            Scalar::F16 => Ty::F16,
            Scalar::BF16 => Ty::BF16,
            Scalar::F32 | Scalar::C64 => Ty::F32,
            Scalar::F64 | Scalar::C128 => Ty::F64,
        }
    }

    /// How a scalar sits in memory: a bool takes a byte.
    pub const fn in_memory(s: Scalar) -> Ty {
        match Ty::of(s) {
            Ty::I1 => Ty::I8,
            other => other,
        }
    }

    /// The integer of as many bits.
    pub const fn int(self) -> Ty {
        match self {
            Ty::F16 | Ty::BF16 => Ty::I16,
            Ty::F32 => Ty::I32,
            Ty::F64 | Ty::Ptr(_) => Ty::I64,
            other => other,
        }
    }

    pub const fn bits(self) -> u32 {
        match self {
            Ty::I1 => 1,
            Ty::I8 => 8,
            Ty::I16 | Ty::F16 | Ty::BF16 => 16,
            Ty::I32 | Ty::F32 => 32,
            Ty::I64 | Ty::F64 | Ty::Ptr(_) => 64,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64)
    }

    pub const fn is_half(self) -> bool {
        matches!(self, Ty::F16 | Ty::BF16)
    }

    /// What the names of intrinsics for this type end in.
    pub const fn suffix(self) -> &'static str {
        match self {
            Ty::I1 => "i1",
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::F16 => "f16",
            Ty::BF16 => "bf16",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
            Ty::Ptr(_) => "p0",
        }
    }

    pub const fn int_const(self, v: i64) -> Operand {
        Operand {
            ty: self,
            atom: Atom::Int(v),
        }
    }

    /// A float constant; exact only where the type holds the number. 16-bit floats: 0, 1, infinity.
    pub const fn float_const(self, v: f64) -> Operand {
        match self {
            Ty::F16 => Operand::half(
                self,
                if v == 0.0 {
                    0
                } else if v == 1.0 {
                    0x3C00
                } else {
                    0x7C00
                },
            ),
            Ty::BF16 => Operand::half(self, ((v as f32).to_bits() >> 16) as u16),
            Ty::F32 => Operand::f32((v as f32).to_bits()),
            _ => Operand::f64(v.to_bits()),
        }
    }
}

impl Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::F16 => f.write_str("half"),
            Ty::BF16 => f.write_str("bfloat"),
            Ty::F32 => f.write_str("float"),
            Ty::F64 => f.write_str("double"),
            Ty::Ptr(Memory::Generic) => f.write_str("ptr"),
            Ty::Ptr(memory) => write!(f, "ptr addrspace({})", memory.number()),
            int => f.write_str(int.suffix()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Atom {
    Reg(u32),
    /// The kernel's parameter for a slot.
    Param(u32),
    /// A hidden parameter or global of that name.
    Named(&'static str),
    SharedArray(u32),
    ConstArray(u32),
    Bool(bool),
    Int(i64),
    F16(u16),
    BF16(u16),
    F32(u32),
    F64(u64),
}

/// What an instruction reads. Shown with its type; [`Operand::bare`] shows it without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    pub ty: Ty,
    atom: Atom,
}

impl Operand {
    /// Where errors and lines of output go.
    pub const MAILBOX: Operand = Operand::named(Memory::Global, "%mailbox");
    /// A word in which barriers of the grid count.
    pub const COUNTER: Operand = Operand::named(Memory::Global, "%counter");
    pub const DYNAMIC_SHARED: Operand = Operand::named(Memory::Shared, "@weft$dynamic");

    /// In functions that are called: where the kernel's frame lies, and the caller's.
    pub const TOP: Operand = Operand::number("%top");
    pub const ABOVE: Operand = Operand::number("%above");

    const fn number(name: &'static str) -> Operand {
        Operand {
            ty: Ty::I64,
            atom: Atom::Named(name),
        }
    }

    const fn named(memory: Memory, name: &'static str) -> Operand {
        Operand {
            ty: Ty::Ptr(memory),
            atom: Atom::Named(name),
        }
    }

    pub const fn param(slot: u32, ty: Ty) -> Operand {
        Operand {
            ty,
            atom: Atom::Param(slot),
        }
    }

    pub const fn shared_array(number: u32) -> Operand {
        Operand {
            ty: Ty::Ptr(Memory::Shared),
            atom: Atom::SharedArray(number),
        }
    }

    pub const fn const_array(number: u32, memory: Memory) -> Operand {
        Operand {
            ty: Ty::Ptr(memory),
            atom: Atom::ConstArray(number),
        }
    }

    pub const fn bool(b: bool) -> Operand {
        Operand {
            ty: Ty::I1,
            atom: Atom::Bool(b),
        }
    }

    /// A 16-bit float.
    pub const fn half(ty: Ty, bits: u16) -> Operand {
        let atom = match ty {
            Ty::BF16 => Atom::BF16(bits),
            _ => Atom::F16(bits),
        };
        Operand { ty, atom }
    }

    pub const fn f32(bits: u32) -> Operand {
        Operand {
            ty: Ty::F32,
            atom: Atom::F32(bits),
        }
    }

    pub const fn f64(bits: u64) -> Operand {
        Operand {
            ty: Ty::F64,
            atom: Atom::F64(bits),
        }
    }

    /// The number an integer constant is.
    pub const fn int(self) -> Option<i64> {
        match self.atom {
            Atom::Int(v) => Some(v),
            _ => None,
        }
    }

    pub const fn bare(self) -> Bare {
        Bare(self)
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.bare())
    }
}

/// An operand without its type.
#[derive(Clone, Copy, Debug)]
pub struct Bare(Operand);

impl Display for Bare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.atom {
            Atom::Reg(n) => write!(f, "%v{n}"),
            Atom::Param(slot) => write!(f, "%p{slot}"),
            Atom::Named(name) => f.write_str(name),
            Atom::SharedArray(n) => write!(f, "@weft$shared{n}"),
            Atom::ConstArray(n) => write!(f, "@weft$const{n}"),
            Atom::Bool(b) => write!(f, "{b}"),
            Atom::Int(v) => write!(f, "{v}"),
            Atom::F16(bits) => write!(f, "0xH{bits:04X}"),
            Atom::BF16(bits) => write!(f, "0xR{bits:04X}"),
            Atom::F32(bits) => write!(f, "0x{:016X}", float_bits(bits)),
            Atom::F64(bits) => write!(f, "0x{bits:016X}"),
        }
    }
}

/// The text of one function.
#[derive(Debug, Default)]
pub struct Writer(Text);

impl Deref for Writer {
    type Target = Text;

    fn deref(&self) -> &Text {
        &self.0
    }
}

impl DerefMut for Writer {
    fn deref_mut(&mut self) -> &mut Text {
        &mut self.0
    }
}

impl Writer {
    fn reg(&mut self, ty: Ty) -> Operand {
        let atom = Atom::Reg(self.new_reg());
        Operand { ty, atom }
    }

    /// An instruction with a result of type `ty`.
    pub fn inst(&mut self, ty: Ty, text: Arguments<'_>) -> Operand {
        let reg = self.reg(ty);
        self.line(format_args!("{} = {text}", reg.bare()));
        reg
    }

    /// An instruction of the entry block, before the body.
    pub fn entry_inst(&mut self, ty: Ty, text: Arguments<'_>) -> Operand {
        let reg = self.reg(ty);
        self.entry_line(format_args!("{} = {text}", reg.bare()));
        reg
    }

    pub fn alloca(&mut self, ty: Ty) -> Operand {
        self.entry_inst(Ty::Ptr(Memory::Generic), format_args!("alloca {ty}"))
    }

    /// An instruction whose result is a structure; gives its name.
    pub fn aggregate(&mut self, text: Arguments<'_>) -> String {
        let reg = self.reg(Ty::I1).bare().to_string();
        self.line(format_args!("{reg} = {text}"));
        reg
    }

    pub fn cond_br(&mut self, cond: Operand, yes: Label, no: Label) {
        match cond.atom {
            Atom::Bool(true) => self.br(yes),
            Atom::Bool(false) => self.br(no),
            _ => self.branch(cond.bare(), yes, no),
        }
    }

    /// A branch whose first side is rarely taken.
    pub fn rare_br(&mut self, cond: Operand, rare: Label, usual: Label) {
        if matches!(cond.atom, Atom::Bool(_)) {
            return self.cond_br(cond, rare, usual);
        }
        self.rare_branch(cond.bare(), rare, usual);
    }

    /// Reads a variable.
    pub fn load(&mut self, ty: Ty, ptr: Operand) -> Operand {
        self.inst(ty, format_args!("load {ty}, {ptr}"))
    }

    /// Writes a variable.
    pub fn store(&mut self, value: Operand, ptr: Operand) {
        self.line(format_args!("store {value}, {ptr}"));
    }

    /// An operation of two operands and a result of one type.
    pub fn binary(&mut self, name: &str, x: Operand, y: Operand) -> Operand {
        self.inst(x.ty, format_args!("{name} {x}, {}", y.bare()))
    }

    /// `icmp` or `fcmp` with its condition.
    pub fn compare(&mut self, name: &str, x: Operand, y: Operand) -> Operand {
        self.inst(Ty::I1, format_args!("{name} {x}, {}", y.bare()))
    }

    pub fn select(&mut self, cond: Operand, x: Operand, y: Operand) -> Operand {
        match cond.atom {
            Atom::Bool(true) => x,
            Atom::Bool(false) => y,
            _ => self.inst(x.ty, format_args!("select {cond}, {x}, {y}")),
        }
    }

    pub fn convert(&mut self, name: &str, x: Operand, to: Ty) -> Operand {
        self.inst(to, format_args!("{name} {x} to {to}"))
    }

    /// An integer of another width; low bits kept.
    pub fn resize(&mut self, x: Operand, to: Ty, signed: bool) -> Operand {
        if let Atom::Int(v) = x.atom {
            let low = i64::MAX.cast_unsigned() >> (64 - x.ty.bits()).saturating_sub(1);
            return to.int_const(if signed || x.ty.bits() == 64 { v } else { v & low.cast_signed() });
        }
        match x.ty.bits().cmp(&to.bits()) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater => self.convert("trunc", x, to),
            std::cmp::Ordering::Less => self.convert(if signed { "sext" } else { "zext" }, x, to),
        }
    }

    pub fn bitcast(&mut self, x: Operand, to: Ty) -> Operand {
        if x.ty == to { x } else { self.convert("bitcast", x, to) }
    }
}
