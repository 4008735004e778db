//! Programs: what one kernel computes at every point of an index space, as a list of steps.

use smallvec::SmallVec;
use weft_ir::Scalar;

use crate::dims::{Dims, Strides};
use crate::memory::Piece;
use crate::number::Bits;
use crate::operation::Operation;
use crate::value::{LARGE, READING};

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub extents: Dims,
    pub loads: SmallVec<[Load; 4]>,
    pub constants: SmallVec<[(Scalar, Bits); 4]>,
    pub iotas: SmallVec<[Iota; 2]>,
    pub steps: Vec<Step>,
    pub result: Option<Slot>,
}

/// An operand in memory: its address at the first point, and how far it moves along the axes.
#[derive(Clone, Debug)]
pub struct Load {
    pub elem: Scalar,
    pub piece: Piece,
    pub offset: i64,
    pub strides: Strides,
}

/// `start + (first + index * by) * step` along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iota {
    pub elem: Scalar,
    pub start: Bits,
    pub step: Bits,
    pub along: Option<u8>,
    pub first: i64,
    pub by: i64,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub operation: &'static Operation,
    pub args: SmallVec<[Slot; 3]>,
}

/// Where a value of a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    Load(u16),
    Constant(u16),
    Iota(u16),
    Step(u16),
}

impl Load {
    pub fn address(&self) -> u64 {
        self.piece.address().wrapping_add_signed(self.offset)
    }
}

impl Program {
    /// Copies an operand.
    pub fn copy(extents: Dims, load: Load) -> Program {
        Program {
            extents,
            loads: SmallVec::from_elem(load, 1),
            result: Some(Slot::Load(0)),
            ..Program::default()
        }
    }

    /// The same of a part of an axis.
    pub fn part(&self, axis: usize, first: u64, count: u64) -> Program {
        let mut part = self.clone();
        part.extents[axis] = count;
        for load in &mut part.loads {
            load.offset += load.strides[axis] * first as i64;
        }
        for iota in part.iotas.iter_mut().filter(|iota| iota.along == Some(axis as u8)) {
            iota.first += iota.by * first as i64;
        }
        part
    }

    /// What counts for the length of a kernel: its operations, and the memory that it reads.
    pub fn costs(&self) -> u32 {
        let operations: u32 = self.steps.iter().map(|step| step.operation.cost).sum();
        operations + READING * self.blocks_of(LARGE) as u32
    }

    /// How many blocks of memory it reads.
    pub fn blocks(&self) -> usize {
        self.blocks_of(0)
    }

    /// Those of at least so many bytes.
    fn blocks_of(&self, least: u64) -> usize {
        let counted = self.loads.iter().filter(|load| load.piece.block.bytes() as u64 >= least);
        let mut blocks: SmallVec<[u64; 8]> = counted.map(|load| load.piece.block.address()).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.len()
    }

    /// Are there operations that are compiled alone? These take aligned elements only.
    pub fn has_singles(&self) -> bool {
        self.steps.iter().any(|step| step.operation.tile.is_none())
    }

    /// An operand in memory, once.
    pub fn loaded(&mut self, load: Load) -> Slot {
        let same = |known: &Load| known.address() == load.address() && known.elem == load.elem && known.strides == load.strides;
        let at = self.loads.iter().position(same).unwrap_or_else(|| {
            self.loads.push(load);
            self.loads.len() - 1
        });
        Slot::Load(at as u16)
    }

    /// A number. Equal ones have places of their own: which numbers are equal must not decide what is compiled.
    pub fn constant(&mut self, constant: (Scalar, Bits)) -> Slot {
        self.constants.push(constant);
        Slot::Constant(self.constants.len() as u16 - 1)
    }

    /// Which axes of the index space a slot's value depends on: one bit each.
    pub fn axes(&self, slot: Slot, steps: &[u64]) -> u64 {
        match slot {
            Slot::Constant(_) => 0,
            Slot::Load(at) => (self.loads[at as usize].strides.iter().enumerate())
                .filter(|(axis, stride)| **stride != 0 && self.extents[*axis] != 1)
                .fold(0, |mask, (axis, _)| mask | 1 << axis),
            Slot::Iota(at) => self.iotas[at as usize].along.map_or(0, |axis| 1 << axis),
            Slot::Step(at) => steps[at as usize],
        }
    }

    pub fn elem(&self, slot: Slot) -> Scalar {
        match slot {
            Slot::Load(at) => self.loads[at as usize].elem,
            Slot::Constant(at) => self.constants[at as usize].0,
            Slot::Iota(at) => self.iotas[at as usize].elem,
            Slot::Step(at) => self.steps[at as usize].operation.result,
        }
    }
}
