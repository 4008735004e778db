//! What registers, variables and views are in LLVM's IR for NVPTX.

use weft_ir::Scalar;
use weft_thread::{Machine, Register};

use super::EmitError;
use super::writer::{Operand, Ty};

pub type Res<T> = Result<T, EmitError>;
pub type Num = weft_thread::Num<Operand>;
pub type Val = weft_thread::Val<Nvptx>;
pub type View = weft_thread::View<Nvptx>;

#[derive(Clone, Copy, Debug)]
pub struct Nvptx;

impl Machine for Nvptx {
    type Operand = Operand;
    type Variable = Variable;
    type Place = Place;
    type PlaceSlot = PlaceSlot;
    type Address = Address;

    /// Bytes.
    const STRIDE: Scalar = Scalar::I64;
}

/// Memory on the stack, of which LLVM makes registers.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub ptr: Operand,
    pub ty: Ty,
}

/// Where a view lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Address of the first element.
    pub base: Operand,
    /// Element numbers of a contiguous array fit 32 bits.
    pub short: bool,
    /// Bytes every element's address is a multiple of.
    pub align: usize,
}

/// A place whose address is in a variable.
#[derive(Clone, Copy, Debug)]
pub struct PlaceSlot {
    pub base: Variable,
    pub short: bool,
    pub align: usize,
}

/// Where an element lies.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub ptr: Operand,
    pub align: usize,
}

impl Register for Operand {
    fn constant(s: Scalar, v: i64) -> Operand {
        Ty::of(s).int_const(s.wrap(v))
    }

    fn truth(holds: bool) -> Operand {
        Operand::bool(holds)
    }

    fn float_constant(s: Scalar, bits: u64) -> Operand {
        match Ty::of(s) {
            ty @ (Ty::F16 | Ty::BF16) => Operand::half(ty, bits as u16),
            Ty::F32 => Operand::f32(bits as u32),
            _ => Operand::f64(bits),
        }
    }

    fn known(self) -> Option<i64> {
        self.int()
    }

    fn is_i64(self) -> bool {
        self.ty == Ty::I64
    }
}
