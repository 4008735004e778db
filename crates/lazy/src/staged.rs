//! Folds and what is made of them, part by part: a softmax along rows is a maximum, a sum and a quotient of some rows at a time, which stay in
//! the cache from stage to stage. All stages have the same index space and fold the same axes; parts are of an axis that is kept.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::dims::{self, Dims, Strides};
use crate::error::Result;
use crate::lower::{CHEAP, Lowered, lower_with};
use crate::memory::{Piece, needed};
use crate::program::Program;
use crate::run::run as run_program;
use crate::tiles::Target;
use crate::value::{Fold, Kind, Value};
use crate::{folds, machine, parts, threads, trace};

/// Longer chains of folds are computed one by one.
const MOST_STAGES: usize = 8;

struct Stage {
    node: Value,
    /// What it folds; else it is a map.
    fold: Option<Fold>,
    program: Program,
    /// Stands for the memory of its results in the programs of other stages.
    place: Piece,
    /// Maps that it computes on the way, and that others refer to, too.
    passed: SmallVec<[Value; 8]>,
}

/// The stages, each after those that it reads.
#[derive(Default)]
struct Plan {
    stages: Vec<Stage>,
    /// The nodes of stages, and what stands for their memory. Two that are the same fold share a stage.
    promised: Vec<(Value, Piece)>,
    /// Maps that several stages need: they are stages themselves, and kept for a part at a time.
    shared: Vec<Value>,
}

/// How the index space is cut.
#[derive(Clone, Copy)]
struct Cut {
    axis: usize,
    /// Of so many indices at the most.
    each: u64,
}

/// The memory of a stage's results.
struct Memory {
    piece: Piece,
    strides: Strides,
    /// It has one part, of these extents, and then the next; the piece only stands for it.
    part: Option<Dims>,
}

/// Computes a map or a fold that needs folds, and these, if it is worth it and their stages fit each other; else false, and nothing was done.
pub fn run(root: &Value) -> Result<bool> {
    let extents = match root.look(space, |_| None).flatten() {
        Some(of) => of,
        None => dims::copy(&root.shape),
    };
    if root.device != machine::CPU || needed(&extents, root.elem)? < 2 * parts::bytes() {
        return Ok(false);
    }
    let mut plan = Plan::default();
    if !plan.visit(root)? || !plan.is_even(&extents) {
        return Ok(false);
    }
    let Some(cut) = plan.cut(&extents)? else { return Ok(false) };
    if let Some(shared) = plan.with_shared(root, &extents, cut)? {
        plan = shared;
    }
    if !plan.keeps_apart(&extents, cut) {
        return Ok(false);
    }
    let memory = plan.allocate(&extents, cut)?;
    plan.settle(&memory);
    trace::by_stages(plan.stages.len(), || plan.compute(&memory, &extents, cut))?;
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

/// Stands for memory that is not there yet.
fn place(node: &Value) -> Result<Piece> {
    Piece::fresh(machine::CPU, &[1], node.elem)
}

fn same_memory(a: &Piece, b: &Piece) -> bool {
    Arc::ptr_eq(&a.block, &b.block)
}

impl Plan {
    /// Adds a node's stage, after those of the folds that it needs; false where it needs something else.
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
            let mut passed = SmallVec::new();
            match lower_with(&of, fold.is_none(), &others, &mut passed)? {
                Lowered::Needs(needs) => {
                    for need in needs {
                        let is_fold = need.look(|kind| matches!(kind, Kind::Fold { .. }), |_| false);
                        if is_fold != Some(true) || !self.add(&need)? {
                            return Ok(false);
                        }
                    }
                }
                Lowered::Ready(program) => {
                    if !self.add_read(&program)? || self.stages.len() >= MOST_STAGES {
                        return Ok(false);
                    }
                    let known = self.promised.iter().find(|(known, _)| Arc::ptr_eq(known, node));
                    let place = known.map_or_else(|| place(node), |(_, place)| Ok(place.clone()))?;
                    self.stages.push(Stage {
                        node: node.clone(),
                        fold,
                        program: *program,
                        place,
                        passed,
                    });
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A fold that a stage needs; the same of the same elements is one.
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

    /// The stages of maps that a program reads, if they are none yet.
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

    /// Have all stages this index space, and do folds fold the same axes of it?
    fn is_even(&self, extents: &Dims) -> bool {
        let mut folds = self.stages.iter().filter_map(|stage| stage.fold.as_ref().map(|fold| fold.axes));
        let first = folds.next();
        let same = first.is_some_and(|axes| folds.all(|other| other == axes));
        same && self.stages.len() > 1 && self.stages.iter().all(|stage| stage.program.extents == *extents)
    }

    /// Parts along the axis that is outermost in memory; none where that is folded, or a part would be all.
    fn cut(&self, extents: &Dims) -> Result<Option<Cut>> {
        let Some(stage) = self.stages.first() else { return Ok(None) };
        let elem = folds::element(&stage.program)?;
        let axes = stage.fold.as_ref().map_or(0, |fold| fold.axes);
        let strides = folds::nearest(&stage.program, elem);
        let long = (0..extents.len()).filter(|&axis| extents[axis] > 1);
        let Some(axis) = long.max_by_key(|&axis| strides[axis]) else {
            return Ok(None);
        };
        let each = folds::share(&stage.program, axis)?;
        let fits = axes & (1 << axis) == 0 && each < extents[axis];
        Ok(fits.then_some(Cut { axis, each }))
    }

    /// The plan where maps that several stages compute, at some cost, are computed once for each part.
    fn with_shared(&self, root: &Value, extents: &Dims, cut: Cut) -> Result<Option<Plan>> {
        let mut plan = Plan::default();
        let passed: Vec<&Value> = self.stages.iter().flat_map(|stage| &stage.passed).collect();
        for (at, node) in passed.iter().enumerate() {
            let is_last_but_one = passed[at + 1..].iter().filter(|other| Arc::ptr_eq(other, node)).count() == 1;
            if is_last_but_one && node.shape == *extents && node.costs() > CHEAP {
                plan.promised.push(((*node).clone(), place(node)?));
                plan.shared.push((*node).clone());
            }
        }
        let fits = !plan.shared.is_empty() && plan.visit(root)? && plan.is_even(extents) && plan.keeps_apart(extents, cut);
        Ok(fits.then_some(plan))
    }

    fn is_shared(&self, node: &Value) -> bool {
        self.shared.iter().any(|known| Arc::ptr_eq(known, node))
    }

    /// Does each part read of other stages what they computed of the same part?
    fn keeps_apart(&self, extents: &Dims, cut: Cut) -> bool {
        let loads = self.stages.iter().flat_map(|stage| &stage.program.loads);
        let mut reads = loads.filter_map(|load| {
            let stage = self.stages.iter().find(|stage| same_memory(&stage.place, &load.piece))?;
            Some((load, stage))
        });
        reads.all(|(load, stage)| match self.is_shared(&stage.node) {
            true => load.offset == 0 && load.strides == dims::dense(extents, load.elem.size()),
            false => load.offset == 0 && load.strides[cut.axis] == stage.stride(cut.axis),
        })
    }

    /// Memory for the results of each stage. That of one part each thread has by itself.
    fn allocate(&self, extents: &Dims, cut: Cut) -> Result<Vec<Memory>> {
        let memory = self.stages.iter().map(|stage| {
            let node = &stage.node;
            let part = self.is_shared(node).then(|| {
                let mut part = dims::copy(extents);
                part[cut.axis] = cut.each;
                part
            });
            Ok(match part {
                Some(part) => Memory {
                    piece: stage.place.clone(),
                    strides: folds::nearest(&stage.program.part(cut.axis, 0, cut.each), node.elem),
                    part: Some(part),
                },
                None => Memory {
                    piece: Piece::fresh(machine::CPU, &node.shape, node.elem)?,
                    strides: dims::dense(&node.shape, node.elem.size()),
                    part: None,
                },
            })
        });
        memory.collect()
    }

    /// Has programs read where the memory is.
    fn settle(&mut self, memory: &[Memory]) {
        let places: Vec<Piece> = self.stages.iter().map(|stage| stage.place.clone()).collect();
        for load in self.stages.iter_mut().flat_map(|stage| &mut stage.program.loads) {
            let found = places.iter().zip(memory).find(|(place, _)| same_memory(place, &load.piece));
            if let Some((_, memory)) = found {
                load.piece = memory.piece.clone();
                if memory.part.is_some() {
                    load.strides.clone_from(&memory.strides);
                }
            }
        }
    }

    fn compute(&self, memory: &[Memory], extents: &Dims, cut: Cut) -> Result<()> {
        let count = extents[cut.axis];
        let bytes = self
            .stages
            .iter()
            .map(|stage| needed(extents, stage.node.elem))
            .sum::<Result<u64>>()?;
        threads::share(count.div_ceil(cut.each), bytes, &|parts| {
            let pieces = self.stages.iter().zip(memory).map(|(stage, memory)| memory.on_a_thread(stage));
            let pieces: Vec<Piece> = pieces.collect::<Result<_>>()?;
            for first in parts.map(|part| part * cut.each) {
                let some = cut.each.min(count - first);
                for (at, stage) in self.stages.iter().enumerate() {
                    let mut part = stage.program.part(cut.axis, first, some);
                    for load in &mut part.loads {
                        let of_part = memory
                            .iter()
                            .position(|memory| memory.part.is_some() && same_memory(&memory.piece, &load.piece));
                        if let Some(of_part) = of_part {
                            load.piece = pieces[of_part].clone();
                            load.offset = 0;
                        }
                    }
                    let start = if memory[at].part.is_some() {
                        0
                    } else {
                        stage.stride(cut.axis) * first as i64
                    };
                    stage.compute(part, (&pieces[at], start), &memory[at].strides)?;
                }
            }
            Ok(())
        })
    }

    /// From here on nodes are what was computed of them.
    fn store(self, memory: Vec<Memory>) {
        for node in self.stages.iter().flat_map(|stage| &stage.passed).chain(&self.shared) {
            node.pass();
        }
        for (stage, Memory { piece, part, .. }) in self.stages.into_iter().zip(memory) {
            if part.is_some() {
                continue;
            }
            let twins = (self.promised.iter()).filter(|(node, place)| same_memory(place, &stage.place) && !Arc::ptr_eq(node, &stage.node));
            twins.for_each(|(node, _)| node.store(piece.clone()));
            stage.node.store(piece);
        }
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
    fn stride(&self, axis: usize) -> i64 {
        let folded = self.fold.as_ref().map_or(0, |fold| fold.axes);
        let along = (0..axis).filter(|axis| folded & (1 << axis) == 0).count();
        let strides = dims::dense(&self.node.shape, self.node.elem.size());
        strides.get(along).copied().unwrap_or(0)
    }

    /// Computes a part, whose results lie from a place of a piece on.
    fn compute(&self, part: Program, (piece, start): (&Piece, i64), strides: &Strides) -> Result<()> {
        let kept = |axis: &usize| self.fold.as_ref().is_none_or(|fold| fold.axes & (1 << axis) == 0);
        let shape: Dims = (0..part.extents.len()).filter(kept).map(|axis| part.extents[axis]).collect();
        let target = Target::of(self.node.elem, piece, start, &shape, strides.clone());
        match &self.fold {
            Some(fold) => folds::run(part, fold, &target),
            None => run_program(&part, &target),
        }
    }
}

impl Memory {
    /// For a thread, which computes some of the parts.
    fn on_a_thread(&self, stage: &Stage) -> Result<Piece> {
        match &self.part {
            Some(part) => Piece::fresh(machine::CPU, part, stage.node.elem),
            None => Ok(self.piece.clone()),
        }
    }
}
