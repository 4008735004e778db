//! Stages as a plan runs them again: without nodes, with memory that is put in for each run.

use super::{Cut, Memory, Plan, Stage};
use crate::dims::{self, Dims};
use crate::error::Result;
use crate::lower::Found;
use crate::memory::Piece;
use crate::planned::{Notes, Place, nowhere, plan};
use crate::value::Node;

/// What one run of several stages was.
#[derive(Debug)]
pub struct Noted {
    plan: Plan,
    memory: Vec<Memory>,
    extents: Dims,
    cut: Cut,
    /// Operands of stages that come from elsewhere: which stage's, which one, and where from.
    from: Vec<(usize, usize, Place)>,
    /// Stages whose results are kept, and where these go.
    to: Vec<(usize, Place)>,
}

impl Noted {
    pub(super) fn of(plan: &Plan, memory: &[Memory], extents: &Dims, cut: Cut, notes: &mut Notes) -> Option<Noted> {
        let nowhere = nowhere()?;
        let mut noted = Noted {
            plan: Plan::default(),
            memory: Vec::new(),
            extents: dims::copy(extents),
            cut,
            from: Vec::new(),
            to: Vec::new(),
        };
        let between = |piece: &Piece| {
            let mut stages = plan.stages.iter().zip(memory);
            stages.any(|(stage, memory)| !stage.is_kept && super::same_memory(&memory.piece, piece))
        };
        for (at, (stage, memory)) in plan.stages.iter().zip(memory).enumerate() {
            let mut program = stage.program.clone();
            for (number, load) in program.loads.iter_mut().enumerate() {
                // What is there for a part at a time is found by its place.
                if between(&load.piece) {
                    continue;
                }
                let mut place = notes.piece(&load.piece)?;
                place.offset += load.offset;
                noted.from.push((at, number, place));
                load.piece = nowhere.clone();
            }
            if stage.is_kept {
                noted.to.push((at, notes.piece(&memory.piece)?));
            }
            noted.memory.push(Memory {
                piece: if stage.is_kept { nowhere.clone() } else { memory.piece.clone() },
                strides: memory.strides.clone(),
            });
            noted.plan.stages.push(Stage {
                node: Node::fill(stage.node.elem, stage.node.shape.clone(), [0; 2]),
                fold: stage.fold.clone(),
                program,
                place: stage.place.clone(),
                found: Found::default(),
                is_kept: stage.is_kept,
                behind: stage.behind,
            });
        }
        Some(noted)
    }

    pub fn read(&self) -> impl Iterator<Item = Place> + '_ {
        self.from.iter().map(|(.., place)| *place)
    }

    pub fn written(&self) -> impl Iterator<Item = Place> + '_ {
        self.to.iter().map(|(_, place)| *place)
    }

    pub fn run(&mut self, now: &[Option<Piece>]) -> Result<()> {
        for &(stage, load, place) in &self.from {
            let load = &mut self.plan.stages[stage].program.loads[load];
            load.piece = plan::piece(now, place)?.clone();
            load.offset = place.offset;
        }
        for &(stage, place) in &self.to {
            self.memory[stage].piece = plan::piece(now, place)?.clone();
        }
        let done = self.plan.compute(&self.memory, &self.extents, self.cut);
        if let Some(nowhere) = nowhere() {
            for &(stage, load, _) in &self.from {
                self.plan.stages[stage].program.loads[load].piece = nowhere.clone();
            }
            for &(stage, _) in &self.to {
                self.memory[stage].piece = nowhere.clone();
            }
        }
        done
    }
}
