//! Flushes: what was asked for is computed, and of what it is made only what has to be stored on the way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_forks::Mutex;
use weft_ir::Scalar;

use crate::dims::{self, Strides};
use crate::error::{Error, Result};
use crate::lower::{CHEAP, Lowered, lower};
use crate::memory::{Block, Piece, needed};
use crate::number::Bits;
use crate::program::{Load, Program, Slot};
use crate::run::run;
use crate::tiles::Target;
use crate::value::{Fold, Kind, Node, Region, State, Unfinished, Value, release};
use crate::{devices, folds, machine, memory, planned, staged};

/// One flush at a time: it takes nodes apart that others may hold.
static TURN: Mutex<()> = Mutex::new(());

/// Computes values and stores them.
pub fn compute(values: &[Value]) -> Result<()> {
    loop {
        // Owners are dropped last, when another flush may begin.
        let (done, _owners) = memory::keeping_owners(|| {
            let _turn = TURN.lock();
            some_of(values)
        });
        if done? {
            return Ok(());
        }
        machine::pause()?;
    }
}

/// The first element of a value, which is computed for it: its bits as memory has them.
pub fn element(value: &Value) -> Result<Bits> {
    compute(std::slice::from_ref(value))?;
    let piece = value.piece().ok_or_else(|| Error::Internal("a value was not computed".into()))?;
    let mut bytes = [0u8; 16];
    piece.block.buffer().read(piece.offset as usize, &mut bytes[..value.elem.size()])?;
    let word = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
    Ok([word(0), word(8)])
}

/// How long a flush computes before the host language is asked whether to go on.
const SLICE: Duration = Duration::from_millis(50);

/// Computes values; false where there are more when it has done so for a while. Nothing is held then: what others compute in the pause owns
/// its memory.
fn some_of(values: &[Value]) -> Result<bool> {
    let mut since = None;
    for value in values {
        if !ensure(value, &mut since)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Computes a value, and before it what it needs, without recursion: chains may be longer than the stack. False where time is up, which
/// runs from the first node that is computed on: those above it are looked at again after a pause.
fn ensure(value: &Value, since: &mut Option<Instant>) -> Result<bool> {
    let mut waiting = vec![value.clone()];
    while let Some(node) = waiting.last().cloned() {
        match attempt(&node)? {
            None => {
                waiting.pop();
                if !waiting.is_empty() && since.get_or_insert_with(Instant::now).elapsed() >= SLICE {
                    return Ok(false);
                }
            }
            Some(needs) if needs.is_empty() => return Err(Error::Internal("a value needs nothing and is not computed".into())),
            Some(needs) => waiting.extend(needs),
        }
    }
    Ok(true)
}

type Needs = smallvec::SmallVec<[Value; 4]>;

/// Computes a node, or says what has to be computed first.
fn attempt(node: &Value) -> Result<Option<Needs>> {
    let special = match &*node.lock() {
        State::Stored(_) => return Ok(None),
        State::Failed(error) => return Err(error.again()),
        State::Empty => return Err(Error::Internal("a value was lost while it was computed".into())),
        State::Pending(Kind::Unfinished(_)) => None,
        State::Pending(kind @ (Kind::Reshape(_) | Kind::Update { .. } | Kind::Fold { .. } | Kind::Moved(_))) => Some(Some(kind.clone())),
        State::Pending(_) => Some(None),
    };
    let Some(special) = special else {
        return match node.take() {
            Some(Kind::Unfinished(rest)) => finished(node, rest),
            _ => Err(Error::Internal("an update was lost while it was computed".into())),
        };
    };
    match special {
        Some(Kind::Reshape(of)) => match of.piece() {
            Some(piece) => {
                node.store(piece);
                Ok(None)
            }
            None => Ok(Some(Needs::from_elem(of, 1))),
        },
        Some(Kind::Moved(of)) => moved(node, &of),
        Some(Kind::Update { base, region, value }) => update(node, base, &region, value),
        Some(Kind::Fold { fold, of }) => folded(node, &fold, &of),
        _ => computed(node),
    }
}

/// The elements of a map, or what has to be stored before.
fn computed(node: &Value) -> Result<Option<Needs>> {
    match lower(node, true)? {
        Lowered::Needs(needs) => staged_or(node, needs),
        Lowered::Ready(program) => {
            let piece = fresh(node)?;
            run(&program, &dense(node, &piece))?;
            node.store(piece);
            Ok(None)
        }
    }
}

/// Computes a node together with the folds and maps that it needs, where that can be, or says what it needs.
fn staged_or(node: &Value, needs: Needs) -> Result<Option<Needs>> {
    let is_stage = |need: &Value| need.look(|kind| matches!(kind, Kind::Fold { .. } | Kind::Map { .. }), |_| false) == Some(true);
    match needs.iter().all(is_stage) && staged::run(node, &needs)? {
        true => Ok(None),
        false => Ok(Some(needs)),
    }
}

/// Memory for all elements of a node.
fn fresh(node: &Node) -> Result<Piece> {
    Piece::fresh(node.device, &node.shape, node.elem)
}

fn dense(node: &Node, piece: &Piece) -> Target {
    let strides = dims::dense(&node.shape, node.elem.size());
    Target::of(node.elem, piece, 0, &node.shape, strides)
}

/// The elements of a node of another device, by way of the host.
fn moved(node: &Value, of: &Value) -> Result<Option<Needs>> {
    let Some(from) = of.piece() else {
        return Ok(Some(Needs::from_elem(of.clone(), 1)));
    };
    planned::fail();
    let piece = fresh(node)?;
    devices::carry(&piece, &from, needed(&node.shape, node.elem)?)?;
    node.store(piece);
    Ok(None)
}

fn folded(node: &Value, fold: &Fold, of: &Value) -> Result<Option<Needs>> {
    match lower(of, false)? {
        Lowered::Needs(needs) => staged_or(node, needs),
        Lowered::Ready(program) if is_kept(of, fold, &program)? => Ok(Some(Needs::from_elem(of.clone(), 1))),
        Lowered::Ready(program) => {
            let piece = fresh(node)?;
            folds::run(*program, fold, &dense(node, &piece))?;
            node.store(piece);
            Ok(None)
        }
    }
}

/// Elements that were costly, and that somebody else refers to, are kept where they have to be stored to be folded.
fn is_kept(of: &Value, fold: &Fold, program: &Program) -> Result<bool> {
    // The fold itself refers to them, and who asks.
    let others = Arc::strong_count(of) > 2;
    Ok(others && of.device == machine::CPU && of.costs() > CHEAP && !of.is_stored() && folds::stores_all(program, fold)?)
}

/// Some elements replaced: in place where nobody else has the memory, else in a copy.
fn update(node: &Value, base: Value, region: &Region, value: Value) -> Result<Option<Needs>> {
    if !base.is_stored() {
        return Ok(Some(Needs::from_elem(base, 1)));
    }
    let program = match lower(&value, false)? {
        Lowered::Needs(needs) => return Ok(Some(needs)),
        Lowered::Ready(program) => *program,
    };
    let elem = value.elem;
    // What the program reads of the same memory has to be read before it is overwritten.
    let Some(old) = base.piece() else {
        return Ok(Some(Needs::from_elem(base, 1)));
    };
    if is_itself(&program, &old, region, elem) {
        node.store(old);
        return Ok(None);
    }
    let program = match reads_what_it_writes(&program, &old, region, elem) {
        true => {
            let read = through_memory(&program, elem, region, node.device)?;
            // It holds the memory, which would then be copied.
            drop(program);
            read
        }
        false => program,
    };
    let rest = Unfinished {
        memory: old,
        region: region.clone(),
        elem,
        program,
    };
    // Who else has the memory is known when the graph has let go of it.
    let kind = node.take();
    drop((base, value));
    if let Some(kind) = kind {
        release(kind);
    }
    finished(node, Box::new(rest))
}

/// An update whose operands are stored. Where it fails it is tried again when it is asked for, unless it may have overwritten what it reads.
fn finished(node: &Value, rest: Box<Unfinished>) -> Result<Option<Needs>> {
    let reads = |load: &&Load| Arc::ptr_eq(&load.piece.block, &rest.memory.block);
    let readers = rest.program.loads.iter().filter(reads).count();
    let in_place = rest.memory.is_own(1 + readers);
    match written(node, &rest, in_place) {
        Ok(piece) => {
            node.store(piece);
            Ok(None)
        }
        Err(error) => {
            match in_place && readers > 0 && !error.is_early() {
                true => node.fail(Arc::new(error.again())),
                false => node.put_back(Kind::Unfinished(rest)),
            }
            Err(error)
        }
    }
}

/// The memory of an update's result, with its elements.
fn written(node: &Node, rest: &Unfinished, in_place: bool) -> Result<Piece> {
    let piece = match in_place {
        true => rest.memory.clone(),
        false => copied(&rest.memory, needed(&node.shape, node.elem)?)?,
    };
    let region = &rest.region;
    let target = Target::of(rest.elem, &piece, region.offset, &region.shape, region.strides.clone());
    run(&rest.program, &target)?;
    Ok(piece)
}

pub fn copied(old: &Piece, bytes: u64) -> Result<Piece> {
    let device = old.block.device();
    let new = Piece::whole(Block::on(device, bytes)?);
    match device {
        machine::CPU => {
            planned::copy(old, &new, bytes);
            weft_runtime::raw::copy(new.address(), old.address(), bytes as usize);
        }
        _ => devices::copy(&new, old, bytes)?,
    }
    Ok(new)
}

/// Does the program read places of the memory that it will write, other than each point its own?
fn reads_what_it_writes(program: &Program, memory: &Piece, region: &Region, elem: Scalar) -> bool {
    let written = bounds(
        memory.address().wrapping_add_signed(region.offset),
        &region.shape,
        &region.strides,
        elem.size(),
    );
    program.loads.iter().any(|load| {
        if !Arc::ptr_eq(&load.piece.block, &memory.block) {
            return false;
        }
        let read = bounds(load.address(), &program.extents, &load.strides, load.elem.size());
        !reads_own(load, memory, region, elem) && read.0 < written.1 && written.0 < read.1
    })
}

/// Is what is written what is there? So it is where elements are assigned to themselves by way of another array.
fn is_itself(program: &Program, memory: &Piece, region: &Region, elem: Scalar) -> bool {
    match (program.steps.as_slice(), program.result) {
        ([], Some(Slot::Load(at))) => reads_own(&program.loads[at as usize], memory, region, elem),
        _ => false,
    }
}

/// Does each point read the place that it writes?
fn reads_own(load: &Load, memory: &Piece, region: &Region, elem: Scalar) -> bool {
    Arc::ptr_eq(&load.piece.block, &memory.block)
        && load.address() == memory.address().wrapping_add_signed(region.offset)
        && load.elem.size() == elem.size()
        && same_steps(&region.shape, &load.strides, &region.strides)
}

fn same_steps(shape: &[u64], a: &[i64], b: &[i64]) -> bool {
    shape.iter().zip(a.iter().zip(b)).all(|(&n, (a, b))| n == 1 || a == b)
}

/// The lowest address, and one past the highest.
fn bounds(start: u64, shape: &[u64], strides: &[i64], item: usize) -> (u64, u64) {
    let (mut low, mut high) = (start, start);
    for (&n, &stride) in shape.iter().zip(strides) {
        let reach = (n as i64 - 1).wrapping_mul(stride);
        match reach < 0 {
            true => low = low.wrapping_add_signed(reach),
            false => high = high.wrapping_add_signed(reach),
        }
    }
    (low, high + item as u64)
}

/// Runs a program into memory of its own; the result copies that.
fn through_memory(program: &Program, elem: Scalar, region: &Region, device: u8) -> Result<Program> {
    let piece = Piece::fresh(device, &region.shape, elem)?;
    let strides: Strides = dims::dense(&region.shape, elem.size());
    let target = Target::of(elem, &piece, 0, &region.shape, strides.clone());
    run(program, &target)?;
    let load = Load {
        elem,
        piece,
        offset: 0,
        strides,
    };
    Ok(Program::copy(region.shape.clone(), load))
}
