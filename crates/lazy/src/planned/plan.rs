//! The list of what is done, made of notes: what nobody needs is left out, memory is used again as soon as it is free, and code is found once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Known, Map, Note, Notes, Operand, Place, Source, nowhere};
use crate::capture::Call;
use crate::compiled::{self, Found, Ready};
use crate::error::{Error, Result};
use crate::memory::{Block, Piece};
use crate::program::Program;
use crate::schedule;
use crate::value::{Node, Value};
use crate::{dims, folds, machine, tiles};

/// How long a plan runs before the host language is asked whether to go on.
const SLICE: Duration = Duration::from_millis(50);
/// Bytes that plans keep between runs, all together.
const MOST_KEPT: u64 = 128 << 20;
/// Results are written over their operands from so many bytes on: below these, tiles that lie apart are faster. And up to as many as go past
/// the caches.
const WORTH_REUSING: std::ops::Range<u64> = 1 << 16..32 << 20;
/// What they keep.
static KEPT: AtomicU64 = AtomicU64::new(0);
/// A block is needed by whoever gets the values.
const TO_THE_END: usize = usize::MAX;

/// Where a block's memory is when the plan runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Leaf(usize),
    Constant(usize),
    /// One of the plan's own.
    Room(usize),
    /// Handed out: so many bytes, or those of a leaf that was given up, if nobody else has them.
    Fresh(u64, Option<usize>),
    /// Nobody needs it.
    Unused,
}

/// Something that is done, with the code that does it once that is found.
#[derive(Debug)]
struct Step {
    note: Note,
    ready: Option<Box<Ready>>,
}

/// A value that the graph gives: its type and shape, and its place.
#[derive(Debug)]
struct End {
    like: Value,
    place: Place,
}

#[derive(Debug)]
pub struct Plan {
    steps: Vec<Step>,
    blocks: Vec<Memory>,
    /// Bytes of the plan's own memory.
    rooms: Vec<u64>,
    kept: Vec<Arc<Block>>,
    /// What it keeps is counted.
    is_counted: bool,
    ends: Vec<End>,
}

impl Drop for Plan {
    fn drop(&mut self) {
        if self.is_counted {
            KEPT.fetch_sub(self.rooms.iter().sum(), Ordering::Relaxed);
        }
    }
}

impl Plan {
    /// The plan of a run, which gave these values; none where it cannot be done again for other arguments. Some leaves are given up.
    pub fn of(mut notes: Notes, values: &[Value], given_up: &[bool]) -> Option<Plan> {
        let mut ends = Vec::new();
        for value in values {
            let place = notes.piece(&value.piece()?)?;
            let like = Node::fill(value.elem, value.shape.clone(), [0; 2]);
            ends.push(End { like, place });
        }
        // Who writes to an argument asks whether others have it.
        let writes_others = |note: &Note| written(note).iter().any(|place| notes.known[place.block].source != Source::Made);
        if notes.failed || notes.notes.iter().any(writes_others) {
            return None;
        }
        let steps = needed(&mut notes, &ends);
        if !is_made_before(&steps, &notes.known, &ends) {
            return None;
        }
        let mut plan = Plan {
            blocks: vec![Memory::Unused; notes.known.len()],
            steps,
            rooms: Vec::new(),
            kept: Vec::new(),
            is_counted: false,
            ends,
        };
        plan.place(&notes.known, given_up);
        Some(plan)
    }

    /// Says where blocks are: each from the first step that has it to the last one.
    fn place(&mut self, known: &[Known], given_up: &[bool]) {
        let (mut first, mut last) = (vec![usize::MAX; known.len()], vec![0; known.len()]);
        for (at, step) in self.steps.iter().enumerate() {
            for place in met(&step.note) {
                first[place.block] = first[place.block].min(at);
                last[place.block] = last[place.block].max(at);
            }
        }
        for end in &self.ends {
            last[end.place.block] = TO_THE_END;
        }
        for (memory, known) in self.blocks.iter_mut().zip(known) {
            *memory = match known.source {
                Source::Leaf(at) => Memory::Leaf(at),
                Source::Constant(at) => Memory::Constant(at),
                // What has no elements is written by nobody.
                Source::Made if known.bytes == 0 => Memory::Fresh(0, None),
                Source::Made => Memory::Unused,
            };
        }
        let leaf = |block: usize| match known[block].source {
            Source::Leaf(at) => given_up.get(at).copied().unwrap_or(false).then_some(at),
            _ => None,
        };
        // Rooms, and leaves that were given up, that nobody needs any more.
        let (mut free, mut left): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for at in 0..self.steps.len() {
            for (which, place) in written(&self.steps[at].note).into_iter().enumerate() {
                let block = place.block;
                if first[block] != at || known[block].bytes == 0 {
                    continue;
                }
                let over = overwritten(&self.steps[at].note, which, known, &|block| last[block] == at);
                let bytes = known[block].bytes;
                self.blocks[block] = match (last[block], over.map(|of| (of, self.blocks[of]))) {
                    (TO_THE_END, over) => {
                        let own = over.map(|(of, _)| of).filter(|of| leaf(*of).is_some());
                        let of = own.or_else(|| left.iter().copied().find(|of| known[*of].bytes == bytes));
                        left.retain(|other| Some(*other) != of);
                        // It is no one's any more.
                        of.into_iter().for_each(|of| last[of] = TO_THE_END);
                        Memory::Fresh(bytes, of.and_then(leaf))
                    }
                    (_, Some((of, Memory::Room(room)))) => {
                        last[of] = TO_THE_END;
                        Memory::Room(room)
                    }
                    _ => Memory::Room(self.room(&mut free, bytes)),
                };
            }
            let mut ended: Vec<usize> = met(&self.steps[at].note).map(|place| place.block).collect();
            ended.sort_unstable();
            ended.dedup();
            for block in ended.into_iter().filter(|block| last[*block] == at) {
                match self.blocks[block] {
                    Memory::Room(room) => free.push(room),
                    Memory::Leaf(_) if leaf(block).is_some() => left.push(block),
                    _ => {}
                }
            }
        }
    }

    fn room(&mut self, free: &mut Vec<usize>, bytes: u64) -> usize {
        match free.iter().rposition(|&room| self.rooms[room] == bytes) {
            Some(at) => free.swap_remove(at),
            None => {
                self.rooms.push(bytes);
                self.rooms.len() - 1
            }
        }
    }

    /// Runs it on the memory of leaves, of which some were given up by those who had them, and constants: the values. None where the leaves
    /// lie so that its code does not take them.
    pub fn run(&mut self, leaves: &[Piece], constants: &[Option<Piece>]) -> Result<Option<Vec<Value>>> {
        if !leaves.iter().all(lies_well) {
            return Ok(None);
        }
        for at in self.kept.len()..self.rooms.len() {
            self.kept.push(Block::new(self.rooms[at])?);
        }
        let mut now: Vec<Option<Piece>> = Vec::with_capacity(self.blocks.len());
        for memory in &self.blocks {
            now.push(match *memory {
                Memory::Leaf(at) => Some(leaves[at].clone()),
                Memory::Constant(at) => constants[at].clone(),
                Memory::Room(at) => Some(Piece::whole(self.kept[at].clone())),
                Memory::Fresh(0, _) => Some(fresh(0, None)?),
                Memory::Fresh(..) | Memory::Unused => None,
            });
        }
        let mut since = Instant::now();
        for step in &mut self.steps {
            for block in written(&step.note).into_iter().map(|place| place.block) {
                if let (Memory::Fresh(bytes, of), None) = (self.blocks[block], &now[block]) {
                    now[block] = Some(fresh(bytes, of.map(|of| &leaves[of]))?);
                }
            }
            step.run(&now)?;
            if since.elapsed() >= SLICE {
                machine::pause()?;
                since = Instant::now();
            }
        }
        let values = self.ends.iter().map(|end| {
            let found = piece(&now, end.place)?;
            let piece = Piece {
                block: found.block.clone(),
                offset: found.offset.wrapping_add_signed(end.place.offset),
            };
            Ok(Node::stored(end.like.elem, end.like.shape.clone(), piece))
        });
        let values = values.collect::<Result<Vec<Value>>>()?;
        self.keep();
        Ok(Some(values))
    }

    /// Lets go of its memory, if plans keep too much.
    fn keep(&mut self) {
        let own = self.rooms.iter().sum::<u64>();
        if !self.is_counted && KEPT.fetch_add(own, Ordering::Relaxed).saturating_add(own) <= MOST_KEPT {
            self.is_counted = true;
        } else if !self.is_counted {
            KEPT.fetch_sub(own, Ordering::Relaxed);
            self.kept.clear();
        }
    }

    /// How many kernels and calls there are.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }
}

/// Memory for what is handed out: that of a leaf that was given up, which the caller and the plan have, if nobody else has it.
fn fresh(bytes: u64, of: Option<&Piece>) -> Result<Piece> {
    const OWN: usize = 2;
    match of {
        Some(piece) if piece.offset == 0 && piece.block.bytes() as u64 == bytes && piece.is_own(OWN) => Ok(piece.clone()),
        _ => Ok(Piece::whole(Block::new(bytes)?)),
    }
}

/// Compiled code takes elements that are aligned.
pub fn lies_well(piece: &Piece) -> bool {
    piece.address().is_multiple_of(16)
}

/// Steps of which something is needed in the end.
fn needed(notes: &mut Notes, ends: &[End]) -> Vec<Step> {
    let mut wanted = vec![false; notes.known.len()];
    ends.iter().for_each(|end| wanted[end.place.block] = true);
    let mut steps: Vec<Step> = Vec::new();
    for note in std::mem::take(&mut notes.notes).into_iter().rev() {
        if written(&note).iter().any(|place| wanted[place.block]) {
            read(&note).iter().for_each(|place| wanted[place.block] = true);
            steps.push(Step { note, ready: None });
        }
    }
    steps.reverse();
    steps
}

/// Is all that is read, or given, written before, if it has elements?
fn is_made_before(steps: &[Step], known: &[Known], ends: &[End]) -> bool {
    let mut there: Vec<bool> = known.iter().map(|known| known.source != Source::Made || known.bytes == 0).collect();
    for step in steps {
        written(&step.note).iter().for_each(|place| there[place.block] = true);
        if !read(&step.note).iter().all(|place| there[place.block]) {
            return false;
        }
    }
    ends.iter().all(|end| there[end.place.block])
}

type Places = smallvec::SmallVec<[Place; 4]>;

/// Places that are read.
fn read(note: &Note) -> Places {
    match note {
        Note::Map(map) => map.from.clone(),
        Note::Stages(stages) => stages.read().collect(),
        Note::Copy { from, .. } => Places::from_elem(*from, 1),
        Note::Call { call, operands } => operands[..call.reads()].iter().map(|(place, _)| *place).collect(),
    }
}

fn written(note: &Note) -> Places {
    match note {
        Note::Map(map) => Places::from_elem(map.to, 1),
        Note::Stages(stages) => stages.written().collect(),
        Note::Copy { to, .. } => Places::from_elem(*to, 1),
        Note::Call { call, operands } => operands[call.reads()..].iter().map(|(place, _)| *place).collect(),
    }
}

fn met(note: &Note) -> impl Iterator<Item = Place> + use<> {
    read(note).into_iter().chain(written(note))
}

/// An operand that nobody needs afterwards, and that a result may overwrite: each point reads the place that it writes.
fn overwritten(note: &Note, which: usize, known: &[Known], dies: &dyn Fn(usize) -> bool) -> Option<usize> {
    let map = match note {
        Note::Map(map) => map,
        Note::Call { call, operands } => return replaced(call.as_ref(), operands, which, known, dies),
        Note::Stages(_) | Note::Copy { .. } => return None,
    };
    let (program, target) = (&map.program, &map.target);
    let bytes = known[map.to.block].bytes;
    let is_whole = map.to.offset == 0 && dims::bytes(&program.extents, target.elem.size()) == Some(bytes);
    if map.fold.is_some() || !is_whole || !WORTH_REUSING.contains(&bytes) {
        return None;
    }
    let is_own = |of: usize| {
        let mut loads = program.loads.iter().zip(&map.from).filter(|(_, place)| place.block == of);
        loads.all(|(load, place)| {
            let mut steps = program.extents.iter().zip(load.strides.iter().zip(&target.strides));
            place.offset == 0 && load.elem.size() == target.elem.size() && steps.all(|(&n, (a, b))| n == 1 || a == b)
        })
    };
    let mut blocks = map.from.iter().map(|place| place.block);
    blocks.find(|&of| of != map.to.block && known[of].bytes == bytes && dies(of) && is_own(of))
}

/// The operand that a routine says a result may be put over, if both are all of their memory.
fn replaced(call: &dyn Call, operands: &[(Place, Operand)], which: usize, known: &[Known], dies: &dyn Fn(usize) -> bool) -> Option<usize> {
    let (reads, of) = (call.reads(), call.replaces(which)?);
    let ((from, before), (to, after)) = (operands.get(of)?, operands.get(reads + which)?);
    let bytes = known[to.block].bytes;
    let is_whole = |place: &Place, operand: &Operand| {
        place.offset == 0 && known[place.block].bytes == bytes && dims::bytes(&operand.shape, operand.elem.size()) == Some(bytes)
    };
    let is_same = before.elem == after.elem && before.shape == after.shape && before.strides == after.strides;
    let is_alone = operands.iter().filter(|(place, _)| place.block == from.block).count() == 1;
    let may = is_whole(from, before) && is_whole(to, after) && is_same && is_alone && WORTH_REUSING.contains(&bytes);
    (may && dies(from.block)).then_some(from.block)
}

impl Step {
    fn run(&mut self, now: &[Option<Piece>]) -> Result<()> {
        match &mut self.note {
            Note::Map(map) => run_map(map, &mut self.ready, now),
            Note::Stages(stages) => stages.run(now),
            Note::Copy { from, to, bytes } => {
                let (from, to) = (address(now, *from)?, address(now, *to)?);
                weft_runtime::raw::copy(to, from, *bytes as usize);
                Ok(())
            }
            Note::Call { call, operands } => {
                for (place, operand) in operands.iter_mut() {
                    operand.address = address(now, *place)?;
                }
                let operands: smallvec::SmallVec<[&Operand; 4]> = operands.iter().map(|(_, operand)| operand).collect();
                call.run(&operands)
            }
        }
    }
}

fn run_map(map: &mut Map, ready: &mut Option<Box<Ready>>, now: &[Option<Piece>]) -> Result<()> {
    if let Some(ready) = ready {
        ready.target(address(now, map.to)?);
        for (at, place) in map.from.iter().enumerate() {
            ready.operand(at, address(now, *place)?);
        }
        return ready.run();
    }
    map.target.address = address(now, map.to)?;
    put(&mut map.program, &map.from, now)?;
    let done = match &map.fold {
        Some(fold) => folds::folded(&map.program, fold, &map.target),
        None => match compiled::find(&map.program, &map.target) {
            Ok(Found::Code(code)) => {
                let done = code.run();
                *ready = Some(code);
                done
            }
            Ok(Found::Nothing) => tiles::run(&map.program, &map.target),
            Ok(Found::Empty) => Ok(()),
            Err(error) => Err(error),
        },
    };
    // Nobody's memory is kept between runs.
    take(&mut map.program);
    done
}

/// Has a program read the memory that there is now.
fn put(program: &mut Program, from: &[Place], now: &[Option<Piece>]) -> Result<()> {
    for (load, place) in program.loads.iter_mut().zip(from) {
        load.piece = piece(now, *place)?.clone();
        load.offset = place.offset;
    }
    Ok(())
}

/// Has it let go of the memory.
fn take(program: &mut Program) {
    if let Some(nowhere) = nowhere() {
        program.loads.iter_mut().for_each(|load| load.piece = nowhere.clone());
    }
}

pub fn piece(now: &[Option<Piece>], place: Place) -> Result<&Piece> {
    let found = now[place.block].as_ref();
    found.ok_or_else(|| Error::Internal("a plan reads what is not there yet".into()))
}

fn address(now: &[Option<Piece>], place: Place) -> Result<u64> {
    Ok(piece(now, place)?.address().wrapping_add_signed(place.offset))
}

/// The memory of values; what is not stored yet is computed before.
pub fn stored(values: &[Value]) -> Result<Vec<Piece>> {
    let missing: Vec<Value> = values.iter().filter(|value| !value.is_stored()).cloned().collect();
    if !missing.is_empty() {
        schedule::compute(&missing)?;
    }
    let piece = |value: &Value| value.piece().ok_or_else(|| Error::Internal("a value was not computed".into()));
    values.iter().map(piece).collect()
}
