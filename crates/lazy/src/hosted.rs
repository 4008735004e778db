//! What a device has no code for: its operands are copied to the host, computed there, and the result is copied back. Counted.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::Result;
use crate::memory::{Block, Piece};
use crate::program::Program;
use crate::tiles::Target;
use crate::value::Fold;
use crate::{devices, folds, machine, run};

pub fn run(program: &Program, target: &Target) -> Result<()> {
    machine::detour(target.device())?;
    let program = brought(program)?;
    written(target, |target| run::run(&program, target))
}

pub fn fold(program: &Program, fold: &Fold, target: &Target) -> Result<()> {
    machine::detour(target.device())?;
    let program = brought(program)?;
    written(target, |target| folds::folded(&program, fold, target))
}

/// The program with copies of its operands in the host's memory.
fn brought(program: &Program) -> Result<Program> {
    let mut copies: SmallVec<[(Arc<Block>, Arc<Block>); 4]> = SmallVec::new();
    let mut here = program.clone();
    for load in &mut here.loads {
        let of = load.piece.block.clone();
        let known = copies
            .iter()
            .find(|(known, _)| Arc::ptr_eq(known, &of))
            .map(|(_, copy)| copy.clone());
        load.piece.block = match known {
            Some(copy) => copy,
            None => {
                let copy = copied(&of)?;
                copies.push((of, copy.clone()));
                copy
            }
        };
    }
    Ok(here)
}

/// Works on a copy of the target's memory in the host's, which is then copied back.
fn written(target: &Target, work: impl FnOnce(&Target) -> Result<()>) -> Result<()> {
    let Some(block) = &target.block else { return work(target) };
    let copy = copied(block)?;
    work(&Target {
        address: target.address.wrapping_sub(block.address()).wrapping_add(copy.address()),
        block: None,
        ..target.clone()
    })?;
    devices::carry(&Piece::whole(block.clone()), &Piece::whole(copy), block.bytes() as u64)
}

fn copied(block: &Arc<Block>) -> Result<Arc<Block>> {
    let copy = Block::new(block.bytes() as u64)?;
    devices::carry(&Piece::whole(copy.clone()), &Piece::whole(block.clone()), block.bytes() as u64)?;
    Ok(copy)
}
