//! Which stages there are, and whether they can be computed part by part.

use std::sync::Arc;

use super::{Cut, Stage, same_memory};
use crate::dims::{self, Dims, Strides};
use crate::error::Result;
use crate::folds;
use crate::lower::{CHEAP, Found, Lowered, Read, lower_with};
use crate::machine;
use crate::memory::Piece;
use crate::program::{Load, Program};
use crate::value::{Kind, Value};

/// Longer chains are computed one by one.
const MOST_STAGES: usize = 8;
/// A part has so many times the points that it shares with the next one, at the least: these are computed for both.
const OVERLAP: u64 = 4;

/// The stages, each after those that it reads.
#[derive(Debug, Default)]
pub struct Plan {
    pub stages: Vec<Stage>,
    /// The nodes of stages, and what stands for their memory. Two that are the same fold share a stage.
    pub promised: Vec<(Value, Piece)>,
    /// Maps that several stages compute, at some cost: stages of their own, for a part at a time.
    shared: Vec<Value>,
}

/// Stands for memory that is not there yet.
fn place(node: &Value) -> Result<Piece> {
    Piece::fresh(machine::CPU, &[1], node.elem)
}

impl Plan {
    /// The stages of a node, which needs these first, and where they are cut; none if they do not fit each other.
    pub fn of(root: &Value, needs: &[Value], extents: &Dims) -> Result<Option<(Plan, Cut)>> {
        let mut plan = Plan::default();
        if !plan.visit(root)? || plan.stages.len() < 2 {
            return Ok(None);
        }
        let Some(cut) = plan.cut(extents)? else { return Ok(None) };
        if let Some(shared) = plan.with_shared(root)? {
            // References are counted when there is one plan.
            plan = shared;
            if plan.fits(needs, extents, cut) {
                return Ok(Some((plan, cut)));
            }
            plan = Plan::default();
            if !plan.visit(root)? {
                return Ok(None);
            }
        }
        Ok(plan.fits(needs, extents, cut).then_some((plan, cut)))
    }

    /// Adds a node's stage, after those of the folds and maps that it needs; false where it needs something else.
    fn visit(&mut self, node: &Value) -> Result<bool> {
        let (of, fold) = match node.kind() {
            Some(Kind::Fold { fold, of }) => (of, Some(fold)),
            Some(Kind::Map { .. }) => (node.clone(), None),
            _ => return Ok(false),
        };
        for _ in 0..MOST_STAGES {
            let others: Vec<(Value, Piece)> = (self.promised.iter())
                .filter(|(known, _)| !Arc::ptr_eq(known, node))
                .cloned()
                .collect();
            let mut found = Found::default();
            let lowered = lower_with(&of, fold.is_none(), &others, &mut found)?;
            if fold.is_some() {
                // It is the fold's own operand, of which this is a copy.
                found.reads.retain(|read| read.place != std::ptr::from_ref(&of) as usize);
                found.reads.push(Read::of(&of, Arc::as_ptr(node) as usize));
            }
            match lowered {
                Lowered::Needs(needs) => {
                    for need in needs {
                        if !self.add(&need)? {
                            return Ok(false);
                        }
                    }
                }
                Lowered::Ready(program) => {
                    if !self.add_read(&program)? || self.stages.len() >= MOST_STAGES {
                        return Ok(false);
                    }
                    let known = self.promised.iter().find(|(known, _)| Arc::ptr_eq(known, node));
                    self.stages.push(Stage {
                        place: known.map_or_else(|| place(node), |(_, place)| Ok(place.clone()))?,
                        node: node.clone(),
                        fold,
                        program: *program,
                        found,
                        is_kept: true,
                        behind: 0,
                    });
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A node that a stage needs; the same fold of the same elements is one.
    fn add(&mut self, node: &Value) -> Result<bool> {
        if self.promised.iter().any(|(known, _)| Arc::ptr_eq(known, node)) || self.promised.len() >= MOST_STAGES {
            return Ok(false);
        }
        let twin = self
            .stages
            .iter()
            .find(|stage| is_same(&stage.node, node))
            .map(|stage| stage.place.clone());
        let known = twin.is_some();
        let place = twin.map_or_else(|| place(node), Ok)?;
        self.promised.push((node.clone(), place));
        Ok(known || self.visit(node)?)
    }

    /// The stages of nodes that a program reads, if they are none yet.
    fn add_read(&mut self, program: &Program) -> Result<bool> {
        for (node, place) in self.promised.clone() {
            let is_read = program.loads.iter().any(|load| same_memory(&load.piece, &place));
            let is_stage = self.stages.iter().any(|stage| same_memory(&stage.place, &place));
            if is_read && !is_stage && !self.visit(&node)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Parts along the axis that is outermost in memory; none where that is folded, or a part would be all.
    fn cut(&self, extents: &Dims) -> Result<Option<Cut>> {
        let Some(stage) = self.stages.first() else { return Ok(None) };
        if !self.is_even(extents) {
            return Ok(None);
        }
        let folded = self.stages.iter().filter_map(|stage| stage.fold.as_ref());
        let folded = folded.fold(0, |axes, fold| axes | fold.axes);
        let strides = folds::nearest(&stage.program, folds::element(&stage.program)?);
        let long = (0..extents.len()).filter(|&axis| extents[axis] > 1);
        let Some(axis) = long.max_by_key(|&axis| strides[axis]) else {
            return Ok(None);
        };
        let each = folds::share(&stage.program, axis)?;
        let fits = folded & (1 << axis) == 0 && each < extents[axis];
        Ok(fits.then_some(Cut { axis, each }))
    }

    /// Have all stages as many axes, and points?
    fn is_even(&self, extents: &Dims) -> bool {
        let mut spaces = self.stages.iter().map(|stage| &stage.program.extents);
        spaces.all(|space| space.len() == extents.len() && !space.contains(&0))
    }

    /// The plan where maps that several stages compute, at some cost, are computed once for each part.
    fn with_shared(&self, root: &Value) -> Result<Option<Plan>> {
        let mut plan = Plan::default();
        let passed = self.stages.iter().flat_map(|stage| &stage.found.passed);
        let passed: Vec<Value> = passed.filter_map(|node| node.upgrade()).collect();
        for (at, node) in passed.iter().enumerate() {
            let is_last_but_one = passed[at + 1..].iter().filter(|other| Arc::ptr_eq(other, node)).count() == 1;
            if is_last_but_one && node.costs() > CHEAP {
                plan.promised.push((node.clone(), place(node)?));
                plan.shared.push(node.clone());
            }
        }
        Ok((!plan.shared.is_empty() && plan.visit(root)?).then_some(plan))
    }

    /// Can the stages be computed part by part? Says which are kept, and what else of them a part needs.
    fn fits(&mut self, needs: &[Value], extents: &Dims, cut: Cut) -> bool {
        if !self.is_even(extents) {
            return false;
        }
        for at in 0..self.stages.len() {
            let stage = &self.stages[at];
            let is_last = at + 1 == self.stages.len();
            self.stages[at].is_kept = is_last || stage.fold.is_some() || self.has_others(&stage.node, needs);
        }
        // Each after those that read it.
        for at in (0..self.stages.len()).rev() {
            let Some(behind) = self.reach(at, cut) else { return false };
            let stage = &mut self.stages[at];
            stage.behind = behind;
            let is_whole = behind == 0 && stage.program.extents == *extents;
            if stage.is_kept && !is_whole || behind.saturating_mul(OVERLAP) > cut.each {
                return false;
            }
        }
        true
    }

    /// Is a map referred to by others than the nodes that its stages compute? They would have to compute it again.
    fn has_others(&self, node: &Value, needs: &[Value]) -> bool {
        let id = Arc::as_ptr(node);
        let mut known: Vec<usize> = (self.stages.iter().flat_map(|stage| &stage.found.reads))
            .filter(|read| read.node.as_ptr() == id)
            .map(|read| read.place)
            .collect();
        known.sort_unstable();
        known.dedup();
        let needed = needs.iter().filter(|need| Arc::ptr_eq(need, node)).count();
        let shared = self.shared.iter().filter(|shared| Arc::ptr_eq(shared, node)).count();
        // The plan's own are in its lists and in the stage.
        Arc::strong_count(node) > known.len() + needed + shared + 2
    }

    /// How many points behind a part its readers need of a stage; none where they do not read it part by part.
    fn reach(&self, at: usize, cut: Cut) -> Option<u64> {
        let read = &self.stages[at];
        let mut behind = 0;
        for stage in &self.stages[at + 1..] {
            for load in stage.program.loads.iter().filter(|load| same_memory(&load.piece, &read.place)) {
                behind = behind.max(stage.behind + read.shift(load, &stage.program.extents, cut)?);
            }
        }
        Some(behind)
    }
}

/// Are these the same folds of the same elements?
fn is_same(a: &Value, b: &Value) -> bool {
    match (a.kind(), b.kind()) {
        (Some(Kind::Fold { fold, of }), Some(Kind::Fold { fold: other, of: elements })) => {
            fold == other && Arc::ptr_eq(&of, &elements) && a.elem == b.elem && a.shape == b.shape
        }
        _ => false,
    }
}

impl Stage {
    /// How far the results of neighbours along an axis of the index space are apart.
    pub fn stride(&self, axis: usize) -> i64 {
        let folded = self.fold.as_ref().map_or(0, |fold| fold.axes);
        let along = (0..axis).filter(|axis| folded & (1 << axis) == 0).count();
        self.dense().get(along).copied().unwrap_or(0)
    }

    /// Where its results lie if they lie one behind the other.
    pub fn dense(&self) -> Strides {
        dims::dense(&self.node.shape, self.node.elem.size())
    }

    /// Does each point of a reader read its own?
    pub fn is_own(&self, load: &Load) -> bool {
        load.offset == 0 && load.strides == self.dense()
    }

    /// How many points further along the axis that is cut a reader of this index space reads it than the reader's own; none where it does not
    /// move along that axis, and that one only. Strides of axes that are longer than 1 differ, and no two of them add up to another.
    fn shift(&self, load: &Load, space: &Dims, cut: Cut) -> Option<u64> {
        let (own, stride) = (&self.program.extents, self.stride(cut.axis));
        if load.strides[cut.axis] != stride {
            return None;
        }
        let shift = match load.offset {
            0 if self.fold.is_some() || self.is_own(load) => 0,
            // Axes further out would be in the offset, and a part has other strides along them.
            _ if self.fold.is_some() || !self.is_outermost(cut.axis) => return None,
            offset => u64::try_from(offset / stride).ok()?,
        };
        let (points, read) = (space[cut.axis], own[cut.axis]);
        (points > 1 && shift.checked_add(points)? <= read).then_some(shift)
    }

    fn is_outermost(&self, axis: usize) -> bool {
        self.program.extents[..axis].iter().all(|&extent| extent == 1)
    }
}
