//! Instructions for tensor cores: `mma`, and the loads of what it multiplies.

use super::function::{Decoder, Result};
use super::memory::{Target, space};
use super::mods::Mods;
use crate::exec::inst::{Factors, Op, Tensor};
use crate::exec::lanes::Slot;
use crate::ptx::syntax::{Operand, Space, Ty};

impl Decoder<'_> {
    /// `d, a, b, c`, each of as many registers as a lane has of it.
    pub(super) fn multiply(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let factors = mods.parts().find_map(|part| match part {
            "f16" => Some(Factors::F16),
            "bf16" => Some(Factors::BF16),
            "tf32" => Some(Factors::TF32),
            _ => None,
        });
        let factors = factors.ok_or_else(|| mods.error("expected a type that is multiplied"))?;
        // The form has been looked at: nothing else is in it.
        while mods.find(|_| Some(())).is_some() {}
        self.count(operands, 4)?;
        let what = Tensor::Multiply {
            factors,
            to: self.fragment(&operands[0], Self::written)?,
            left: self.fragment(&operands[1], Self::read)?,
            right: self.fragment(&operands[2], Self::read)?,
            sums: self.fragment(&operands[3], Self::read)?,
        };
        self.tensor(what);
        Ok(())
    }

    pub(super) fn load_squares(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let space = mods.find(space).unwrap_or(Space::Generic);
        let transposed = mods.take("trans");
        let count = if mods.take("x4") {
            4
        } else if mods.take("x2") {
            2
        } else {
            1
        };
        while mods.find(|_| Some(())).is_some() {}
        self.count(operands, 2)?;
        let Operand::Vector(items) = &operands[0] else {
            return self.error("expected registers in braces");
        };
        if items.len() != count {
            return self.error(format!("expected a vector of {count}"));
        }
        let mut to = [self.linker.constant(0); 4];
        for (slot, item) in to.iter_mut().zip(items) {
            *slot = self.written(item)?;
        }
        let Target::Memory(address) = self.target(&operands[1], space)? else {
            return self.error("matrices are loaded from shared memory");
        };
        self.tensor(Tensor::Load {
            address,
            count: count as u8,
            transposed,
            to,
        });
        Ok(())
    }

    /// A lane's part of a matrix.
    fn fragment<const N: usize>(
        &mut self,
        operand: &Operand,
        mut each: impl FnMut(&mut Self, &Operand) -> Result<Slot>,
    ) -> Result<[Slot; N]> {
        let Operand::Vector(items) = operand else {
            return self.error("expected registers in braces");
        };
        let slots = items.iter().map(|item| each(self, item)).collect::<Result<Vec<_>>>()?;
        match slots.try_into() {
            Ok(slots) => Ok(slots),
            Err(_) => self.error(format!("expected a vector of {N}")),
        }
    }

    fn written(&mut self, item: &Operand) -> Result<Slot> {
        Ok(self.destination(item)?.0)
    }

    fn read(&mut self, item: &Operand) -> Result<Slot> {
        self.source(item, Ty::B32)
    }

    fn tensor(&mut self, what: Tensor) {
        let number = self.linker.tensors.len() as u32;
        self.linker.tensors.push(what);
        let members = self.linker.constant(u32::MAX.into());
        // All lanes must execute the very same instruction.
        let class = self.linker.class(&format!("tensor {number}"));
        self.push(Op::Tensor {
            what: number,
            members,
            class,
        });
    }
}
