//! Several kernels, part by part: a softmax along rows is a maximum, a sum and a quotient of some rows at a time, and a blur the rows of its
//! second direction after those of its first, which stay in the cache from stage to stage. Parts are of one axis, which nobody folds.

mod noted;
mod plan;

use std::sync::Arc;

use crate::dims::{self, Dims, Strides};
use crate::error::{Error, Result};
use crate::hoist::hoist_ready;
use crate::lower::Found;
use crate::memory::{Piece, needed};
use crate::program::{Load, Program};
use crate::run::run as run_program;
use crate::tiles::Target;
use crate::value::{Fold, Kind, Value};
use crate::{folds, machine, parts, planned, threads, trace};

pub(crate) use noted::Noted;
use plan::Plan;

/// One kernel of several.
#[derive(Debug)]
struct Stage {
    node: Value,
    /// What it folds; else it is a map.
    fold: Option<Fold>,
    program: Program,
    /// Stands for the memory of its results in the programs of other stages.
    place: Piece,
    found: Found,
    /// Its results are stored, as the node's; else there is memory for those of a part, wherever parts are computed.
    is_kept: bool,
    /// Of how many points behind the part its results are needed, too.
    behind: u64,
}

/// How the index space is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    axis: usize,
    /// Of so many indices at the most.
    each: u64,
}

/// The memory of a stage's results. Where they are not kept the piece only stands for that of the parts.
#[derive(Debug)]
struct Memory {
    piece: Piece,
    strides: Strides,
}

/// Computes a map or a fold and what it needs, if it is worth it and these stages can be computed part by part; else false, and nothing was
/// done.
pub fn run(root: &Value, needs: &[Value]) -> Result<bool> {
    let extents = match root.look(space, |_| None).flatten() {
        Some(of) => of,
        None => dims::copy(&root.shape),
    };
    if root.device != machine::CPU || needed(&extents, root.elem)? < 2 * parts::bytes() {
        return Ok(false);
    }
    let Some((mut plan, cut)) = Plan::of(root, needs, &extents)? else {
        return Ok(false);
    };
    plan.hoist()?;
    let memory = plan.allocate(cut)?;
    plan.settle(&memory);
    planned::stages(|notes| Noted::of(&plan, &memory, &extents, cut, notes));
    planned::quietly(|| trace::by_stages(plan.stages.len(), || plan.compute(&memory, &extents, cut)))?;
    plan.store(memory);
    Ok(true)
}

/// The index space of a fold.
fn space(kind: &Kind) -> Option<Dims> {
    match kind {
        Kind::Fold { of, .. } => Some(dims::copy(&of.shape)),
        _ => None,
    }
}

/// Does a piece of memory hold all elements of a part? It was made for them, which is easy to get wrong, and hard to see.
fn holds(piece: &Piece, offset: i64, extents: &[u64], strides: &[i64], item: usize) -> Result<()> {
    match dims::lie_within(offset, extents, strides, item, piece.block.bytes() as u64) {
        true => Ok(()),
        false => Err(Error::Internal("a part of a stage lies outside of its memory".into())),
    }
}

fn same_memory(a: &Piece, b: &Piece) -> bool {
    Arc::ptr_eq(&a.block, &b.block)
}

impl Plan {
    /// What needs no other stage, and depends on fewer axes, is computed once, not for every part.
    fn hoist(&mut self) -> Result<()> {
        let places: Vec<Piece> = self.stages.iter().map(|stage| stage.place.clone()).collect();
        let is_ready = |load: &Load| !places.iter().any(|place| same_memory(place, &load.piece));
        for stage in &mut self.stages {
            if let Some(hoisted) = hoist_ready(&stage.program, machine::CPU, &is_ready)? {
                stage.program = hoisted;
            }
        }
        Ok(())
    }

    /// Memory for the results of each stage.
    fn allocate(&self, cut: Cut) -> Result<Vec<Memory>> {
        let memory = self.stages.iter().map(|stage| {
            Ok(Memory {
                piece: match stage.is_kept {
                    true => Piece::fresh(machine::CPU, &stage.node.shape, stage.node.elem)?,
                    false => stage.place.clone(),
                },
                strides: self.strides(stage, cut),
            })
        });
        memory.collect()
    }

    /// Where results lie: dense, or, if each point of the readers reads its own, as the elements that they are made of.
    fn strides(&self, stage: &Stage, cut: Cut) -> Strides {
        let mut loads = self.stages.iter().flat_map(|reader| &reader.program.loads);
        let is_own = loads.all(|load| !same_memory(&load.piece, &stage.place) || stage.is_own(load));
        match !stage.is_kept && is_own {
            true => folds::nearest(&stage.program.part(cut.axis, 0, stage.most(cut)), stage.node.elem),
            false => stage.dense(),
        }
    }

    /// Has programs read where the memory is.
    fn settle(&mut self, memory: &[Memory]) {
        let places: Vec<(Piece, Strides)> = self.stages.iter().map(|stage| (stage.place.clone(), stage.dense())).collect();
        for load in self.stages.iter_mut().flat_map(|stage| &mut stage.program.loads) {
            let found = places.iter().zip(memory).find(|((place, _), _)| same_memory(place, &load.piece));
            if let Some(((_, dense), memory)) = found {
                load.piece = memory.piece.clone();
                if *dense != memory.strides {
                    load.strides.clone_from(&memory.strides);
                }
            }
        }
    }

    fn compute(&self, memory: &[Memory], extents: &Dims, cut: Cut) -> Result<()> {
        let count = extents[cut.axis];
        let bytes = self.stages.iter().map(|stage| needed(&stage.program.extents, stage.node.elem));
        let bytes = bytes.sum::<Result<u64>>()?;
        threads::share(count.div_ceil(cut.each), bytes, &|parts| {
            let own = self
                .stages
                .iter()
                .zip(memory)
                .map(|(stage, memory)| stage.memory_of_parts(memory, cut));
            let own: Vec<Piece> = own.collect::<Result<_>>()?;
            for first in parts.map(|part| part * cut.each) {
                let some = cut.each.min(count - first);
                for (at, stage) in self.stages.iter().enumerate() {
                    let part = self.part(stage, memory, &own, cut, (first, some))?;
                    stage.compute(part, (&own[at], stage.start(cut, first)), &memory[at].strides)?;
                }
            }
            Ok(())
        })
    }

    /// A stage's program for a part, which reads what there is of other stages.
    fn part(&self, stage: &Stage, memory: &[Memory], own: &[Piece], cut: Cut, (first, some): (u64, u64)) -> Result<Program> {
        let end = first.saturating_add(some).saturating_add(stage.behind);
        if stage.program.extents.get(cut.axis).is_none_or(|&extent| end > extent) {
            return Err(Error::Internal("a part of a stage is none of its index space".into()));
        }
        let mut part = stage.program.part(cut.axis, first, some + stage.behind);
        for load in &mut part.loads {
            let of = (self.stages.iter().zip(memory)).position(|(of, memory)| !of.is_kept && same_memory(&memory.piece, &load.piece));
            if let Some(of) = of {
                // Its memory starts with the first point of the part.
                load.offset -= load.strides[cut.axis] * first as i64;
                load.piece = own[of].clone();
                holds(&load.piece, load.offset, &part.extents, &load.strides, load.elem.size())?;
            }
        }
        Ok(part)
    }

    /// From here on nodes are what was computed of them.
    fn store(self, memory: Vec<Memory>) {
        let passed = self.stages.iter().flat_map(|stage| &stage.found.passed);
        for node in passed.filter_map(|node| node.upgrade()) {
            node.pass();
        }
        for (stage, Memory { piece, .. }) in self.stages.into_iter().zip(memory) {
            if !stage.is_kept {
                stage.node.pass();
                continue;
            }
            let twins = (self.promised.iter()).filter(|(node, place)| same_memory(place, &stage.place) && !Arc::ptr_eq(node, &stage.node));
            twins.for_each(|(node, _)| node.store(piece.clone()));
            stage.node.store(piece);
        }
    }
}

impl Stage {
    /// Of so many indices its results are needed at a time.
    fn most(&self, cut: Cut) -> u64 {
        (cut.each + self.behind).min(self.program.extents[cut.axis])
    }

    /// The memory of whoever computes some of the parts, one after the other.
    fn memory_of_parts(&self, memory: &Memory, cut: Cut) -> Result<Piece> {
        if self.is_kept {
            return Ok(memory.piece.clone());
        }
        let mut part = dims::copy(&self.program.extents);
        part[cut.axis] = self.most(cut);
        Piece::fresh(machine::CPU, &part, self.node.elem)
    }

    /// Where the results of a part start in the memory.
    fn start(&self, cut: Cut, first: u64) -> i64 {
        if self.is_kept { self.stride(cut.axis) * first as i64 } else { 0 }
    }

    /// Computes a part, whose results lie from a place of a piece on.
    fn compute(&self, part: Program, (piece, start): (&Piece, i64), strides: &Strides) -> Result<()> {
        let kept = |axis: &usize| self.fold.as_ref().is_none_or(|fold| fold.axes & (1 << axis) == 0);
        let shape: Dims = (0..part.extents.len()).filter(kept).map(|axis| part.extents[axis]).collect();
        holds(piece, start, &shape, strides, self.node.elem.size())?;
        let target = Target::of(self.node.elem, piece, start, &shape, strides.clone());
        match &self.fold {
            Some(fold) => folds::run(part, fold, &target),
            None => run_program(&part, &target),
        }
    }
}
