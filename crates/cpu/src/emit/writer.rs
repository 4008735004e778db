//! LLVM IR as text: types, operands, instructions, labels.
//!
//! Constants know no lanes: the type an operand is shown with decides whether it is written as a scalar or a splat.

use std::fmt::{self, Arguments, Display};
use std::ops::{Deref, DerefMut};

pub use weft_llvm_text::Label;
use weft_llvm_text::{Text, float_bits};

/// What a lane of a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    I1,
    I8,
    I16,
    I32,
    I64,
    /// Only while it is converted: elsewhere a 16-bit float is its bits.
    F16,
    F32,
    F64,
    Ptr,
}

impl Elem {
    pub const fn name(self) -> &'static str {
        match self {
            Elem::I1 => "i1",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::F16 => "half",
            Elem::F32 => "float",
            Elem::F64 => "double",
            Elem::Ptr => "ptr",
        }
    }

    /// The suffix intrinsics carry.
    pub const fn suffix(self) -> &'static str {
        match self {
            Elem::F16 => "f16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
            Elem::Ptr => "p0",
            other => other.name(),
        }
    }

    pub const fn bits(self) -> u32 {
        match self {
            Elem::I1 => 1,
            Elem::I8 => 8,
            Elem::I16 | Elem::F16 => 16,
            Elem::I32 | Elem::F32 => 32,
            Elem::I64 | Elem::F64 | Elem::Ptr => 64,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F64)
    }
}

/// A scalar, or a vector when `lanes` is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty {
    pub elem: Elem,
    pub lanes: u32,
}

impl Ty {
    pub const BOOL: Ty = Ty::scalar(Elem::I1);
    pub const I32: Ty = Ty::scalar(Elem::I32);
    pub const I64: Ty = Ty::scalar(Elem::I64);
    pub const PTR: Ty = Ty::scalar(Elem::Ptr);

    pub const fn scalar(elem: Elem) -> Ty {
        Ty { elem, lanes: 0 }
    }

    pub const fn with(self, elem: Elem) -> Ty {
        Ty { elem, ..self }
    }

    /// `v8f64`, `i32`: what an overloaded intrinsic's name ends in.
    pub fn suffix(self) -> String {
        match self.lanes {
            0 => self.elem.suffix().to_owned(),
            n => format!("v{n}{}", self.elem.suffix()),
        }
    }
}

impl Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            0 => f.write_str(self.elem.name()),
            n => write!(f, "<{n} x {}>", self.elem.name()),
        }
    }
}

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    Reg(u32),
    /// A parameter of the function being written.
    Arg(&'static str),
    /// A constant array of the module.
    Global(u32),
    Bool(bool),
    Int(i64),
    F32(u32),
    F64(u64),
    Null,
    Zero,
    Undef,
}

impl Operand {
    pub const fn is_const(self) -> bool {
        !matches!(self, Operand::Reg(_) | Operand::Arg(_))
    }

    pub const fn int(self) -> Option<i64> {
        match self {
            Operand::Int(v) => Some(v),
            _ => None,
        }
    }

    /// The operand as a value of a type, without the type.
    pub fn of(self, ty: Ty) -> Shown {
        Shown {
            op: self,
            ty,
            typed: false,
        }
    }

    /// The type, then the operand.
    pub fn typed(self, ty: Ty) -> Shown {
        Shown { op: self, ty, typed: true }
    }

    fn write_scalar(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Reg(n) => write!(f, "%v{n}"),
            Operand::Arg(name) => write!(f, "%{name}"),
            Operand::Global(n) => write!(f, "@c{n}"),
            Operand::Bool(b) => write!(f, "{b}"),
            Operand::Int(v) => write!(f, "{v}"),
            Operand::F32(bits) => write!(f, "0x{:016X}", float_bits(bits)),
            Operand::F64(bits) => write!(f, "0x{bits:016X}"),
            Operand::Null => f.write_str("null"),
            Operand::Zero => f.write_str("zeroinitializer"),
            Operand::Undef => f.write_str("undef"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Shown {
    op: Operand,
    ty: Ty,
    typed: bool,
}

impl Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.typed {
            write!(f, "{} ", self.ty)?;
        }
        match self.op {
            Operand::Bool(_) | Operand::Int(_) | Operand::F32(_) | Operand::F64(_) if self.ty.lanes > 0 => {
                write!(f, "splat ({} ", self.ty.elem.name())?;
                self.op.write_scalar(f)?;
                f.write_str(")")
            }
            op => op.write_scalar(f),
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
    pub fn reg(&mut self) -> Operand {
        Operand::Reg(self.new_reg())
    }

    /// An instruction with a result.
    pub fn inst(&mut self, text: Arguments<'_>) -> Operand {
        let reg = self.reg();
        self.line(format_args!("{} = {text}", reg.of(Ty::I64)));
        reg
    }

    /// An instruction of the entry block, before the body.
    pub fn entry_inst(&mut self, text: Arguments<'_>) -> Operand {
        let reg = self.reg();
        self.entry_line(format_args!("{} = {text}", reg.of(Ty::I64)));
        reg
    }

    pub fn alloca(&mut self, ty: Ty) -> Operand {
        self.entry_inst(format_args!("alloca {ty}"))
    }

    pub fn cond_br(&mut self, cond: Operand, yes: Label, no: Label) {
        match cond {
            Operand::Bool(true) => self.br(yes),
            Operand::Bool(false) => self.br(no),
            _ => self.branch(cond.of(Ty::BOOL), yes, no),
        }
    }

    /// A branch whose first side is rarely taken.
    pub fn rare_br(&mut self, cond: Operand, rare: Label, usual: Label) {
        if cond.is_const() {
            return self.cond_br(cond, rare, usual);
        }
        self.rare_branch(cond.of(Ty::BOOL), rare, usual);
    }

    pub fn load(&mut self, ty: Ty, ptr: Operand) -> Operand {
        self.inst(format_args!("load {ty}, {}", ptr.typed(Ty::PTR)))
    }

    pub fn store(&mut self, ty: Ty, value: Operand, ptr: Operand) {
        self.line(format_args!("store {}, {}", value.typed(ty), ptr.typed(Ty::PTR)));
    }

    /// `ptr + offset` bytes.
    pub fn offset(&mut self, ptr: Operand, offset: Operand) -> Operand {
        if offset == Operand::Int(0) {
            return ptr;
        }
        self.inst(format_args!("getelementptr i8, {}, {}", ptr.typed(Ty::PTR), offset.typed(Ty::I64)))
    }
}
