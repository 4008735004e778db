//! The gang being written: its lanes, which of them are on, and where they stand.

use std::collections::HashMap;

use super::values::Num;
use super::writer::{Elem, Operand, Ty};

/// The gang being written: how many lanes it has, which are on, and where they stand.
pub struct Gang {
    /// 0 in scalar code.
    pub lanes: u32,
    /// The gang is a warp.
    pub is_warp: bool,
    pub mask: Mask,
    /// How a mask sits in a slot: `i1`, or an integer as wide as the lanes' data where the target has no mask registers.
    pub mask_elem: Elem,
    pub geometry: Option<Geometry>,
    /// Whole gangs store to addresses that are multiples of so many bytes, and past the caches.
    pub streams: Option<i64>,
    /// The vectors `0, step, 2 * step, …` that there are, by step.
    pub steps: HashMap<i64, Operand>,
}

/// The lanes that are on. Code is only reached with at least one lane on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// All of them, known when the code is written.
    Full,
    /// As this mask says.
    Lanes(Operand),
}

/// Where the gang being written stands.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    pub thread: [Num; 3],
    pub block: [Operand; 3],
    pub block_dim: [Operand; 3],
    pub grid_dim: [Operand; 3],
}

impl Gang {
    /// The type of a register that holds such a number.
    pub fn ty_of(&self, n: Num, elem: Elem) -> Ty {
        let lanes = if n.is_uniform() { 0 } else { self.lanes };
        Ty { elem, lanes }
    }

    pub fn vector_ty(&self, elem: Elem) -> Ty {
        Ty { elem, lanes: self.lanes }
    }

    /// Scalar if all of them are uniform, else a vector.
    pub fn join_ty(&self, nums: &[Num], elem: Elem) -> Ty {
        let lanes = if nums.iter().all(|n| n.is_uniform()) { 0 } else { self.lanes };
        Ty { elem, lanes }
    }

    /// The type of masks.
    pub fn mask_ty(&self) -> Ty {
        self.vector_ty(self.mask_elem)
    }

    /// The type of conditions.
    pub fn bits_ty(&self) -> Ty {
        self.vector_ty(Elem::I1)
    }

    pub fn all_on(&self) -> Operand {
        if self.mask_elem == Elem::I1 {
            Operand::Bool(true)
        } else {
            Operand::Int(-1)
        }
    }

    /// The current mask.
    pub fn mask_now(&self) -> Operand {
        match self.mask {
            Mask::Full => self.all_on(),
            Mask::Lanes(op) => op,
        }
    }
}
