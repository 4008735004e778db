//! Folds: the elements that a program gives at the points of an index space, combined along some of its axes.
//!
//! Elements that lie in memory are folded where they lie. Those that are computed are stored for a part of the index space at a time.

#![allow(unsafe_code)] // Operands are places in memory that programs keep alive.

use smallvec::SmallVec;
use weft_ir::Scalar;
use weft_tile::fold::{self, Axis, Fold as Machine, Outer, Types};

use crate::dims::{self, Dims, Strides};
use crate::error::{Error, Result};
use crate::memory::{Piece, needed};
use crate::operation::What;
use crate::program::{Load, Program, Slot};
use crate::tiles::Target;
use crate::value::{Fold, FoldKind};
use crate::{arguments, device_folds, hoist, machine, parts, planned, run, threads, trace, whole};

/// Where elements lie.
#[derive(Clone, Debug)]
pub struct Source {
    pub elem: Scalar,
    pub address: u64,
    pub strides: Strides,
}

pub fn run(program: Program, fold: &Fold, target: &Target) -> Result<()> {
    trace::kernel("fold", &program, target, || {
        let hoisted = hoist::hoist(&program, target.device())?;
        let program = hoisted.as_ref().unwrap_or(&program);
        match target.device() {
            machine::CPU => {
                planned::map(program, target, Some(fold));
                planned::quietly(|| folded(program, fold, target)).map(|()| "tiles")
            }
            _ => {
                planned::fail();
                device_folds::run(program, fold, target)
            }
        }
    })
}

pub fn folded(program: &Program, fold: &Fold, target: &Target) -> Result<()> {
    if target.strides.is_empty() && program.extents.is_empty() {
        return run::run(program, target);
    }
    if let Some(source) = in_memory(program, fold) {
        return source_fold(&source, &program.extents, fold, target);
    }
    let uncast = uncast(program, fold);
    let program = uncast.as_ref().unwrap_or(program);
    match way(program, fold)? {
        Way::Parts(axis) => by_parts(program, fold, target, axis),
        Way::Whole if whole::run(program, fold, target)? => Ok(()),
        Way::Whole | Way::Stored => stored(program, fold, target),
    }
}

/// How elements are folded that have to be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// For parts of an axis that is kept.
    Parts(usize),
    /// All axes are folded.
    Whole,
    /// All elements are stored before.
    Stored,
}

/// Parts are of the axis that is kept and outermost in memory; but short rows cost more to compute one by one than memory does.
fn way(program: &Program, fold: &Fold) -> Result<Way> {
    let elem = element(program)?;
    let strides = nearest(program, elem);
    let kept = (0..program.extents.len()).filter(|axis| fold.axes & (1 << axis) == 0 && program.extents[*axis] > 1);
    let Some(axis) = kept.rev().max_by_key(|&axis| strides[axis]) else {
        return Ok(Way::Whole);
    };
    let (item, each) = (elem.size() as u64, share(program, axis)?);
    let is_short = strides[axis] == item as i64 && each < program.extents[axis] && each * item < parts::narrow();
    Ok(if is_short { Way::Stored } else { Way::Parts(axis) })
}

/// Are all elements computed and stored before they are folded along some axes?
pub fn stores_all(program: &Program, fold: &Fold) -> Result<bool> {
    let uncast = uncast(program, fold);
    let program = uncast.as_ref().unwrap_or(program);
    Ok(in_memory(program, fold).is_none() && way(program, fold)? == Way::Stored)
}

/// Elements that need no computing, but for a conversion that folds do themselves.
fn in_memory(program: &Program, fold: &Fold) -> Option<Source> {
    let load = match (program.steps.as_slice(), program.result?) {
        ([], Slot::Load(at)) => at,
        ([step], Slot::Step(0)) => match (step.operation.what, step.args.as_slice(), fold.what) {
            (What::Cast, [Slot::Load(at)], FoldKind::Ufunc(name, _))
                if is_loaded(name, step.operation.operands[0], step.operation.result) =>
            {
                *at
            }
            _ => return None,
        },
        _ => return None,
    };
    let Load { elem, strides, .. } = &program.loads[load as usize];
    Some(Source {
        elem: *elem,
        address: program.loads[load as usize].address(),
        strides: strides.clone(),
    })
}

/// Bools that are only cast to be added up: they are counted, and take less memory.
fn uncast(program: &Program, fold: &Fold) -> Option<Program> {
    let (Some((last, before)), FoldKind::Ufunc(name, compute)) = (program.steps.split_last(), fold.what) else {
        return None;
    };
    let ends = program.result == Some(Slot::Step(before.len() as u16)) && last.operation.what == What::Cast;
    let types = Types {
        elem: last.operation.operands[0],
        compute: last.operation.result,
        result: last.operation.result,
    };
    if !ends || types.compute != compute || !fold::find(name, compute).is_some_and(|op| fold::are_counted(op, types)) {
        return None;
    }
    let mut program = program.clone();
    program.result = Some(last.args[0]);
    program.steps.pop();
    Some(program)
}

/// Do folds convert elements so while they load them?
fn is_loaded(name: &str, from: Scalar, to: Scalar) -> bool {
    if to.is_complex() && !matches!(name, "add" | "multiply") {
        // Extremes of complex numbers are searched for, and copied as they lie.
        return false;
    }
    let types = Types {
        elem: from,
        compute: to,
        result: to,
    };
    fold::find("add", to).is_some_and(|op| Machine::new(op, types, &[], &[]).is_some())
}

/// Folds what lies in memory.
pub fn source_fold(source: &Source, extents: &[u64], fold: &Fold, target: &Target) -> Result<()> {
    let (mut outer, mut inner): (SmallVec<[Outer; 4]>, SmallVec<[Axis; 4]>) = (SmallVec::new(), SmallVec::new());
    let mut outputs = target.strides.iter();
    for (axis, (&extent, &stride)) in extents.iter().zip(&source.strides).enumerate() {
        if fold.axes & (1 << axis) != 0 {
            inner.push(Axis { extent, stride });
        } else {
            let output = outputs.next().copied().unwrap_or(0);
            outer.push(Outer {
                extent,
                input: stride,
                output,
            });
        }
    }
    if outer.iter().any(|axis| axis.extent == 0) {
        return Ok(());
    }
    let (name, compute) = match fold.what {
        FoldKind::Ufunc(name, compute) => (name, compute),
        FoldKind::ArgMax => return arguments::run(source, true, &outer, inner[0], target),
        FoldKind::ArgMin => return arguments::run(source, false, &outer, inner[0], target),
    };
    if compute.is_complex() && !matches!(name, "add" | "multiply") {
        return arguments::extremes(source, name, &outer, &inner, target);
    }
    let types = Types {
        elem: source.elem,
        compute,
        result: target.elem,
    };
    let found = fold::find(name, compute).and_then(|op| Machine::new(op, types, &outer, &inner));
    let made = found.ok_or_else(|| Error::Type(format!("'{name}' does not fold elements of {}", compute.numpy_name())))?;
    // Elements that are repeated may be more than memory has.
    let bytes = dims::bytes(extents, source.elem.size()).unwrap_or(u64::MAX);
    match threads::worth(bytes) as u64 {
        1 => {
            // SAFETY: the source's memory is kept by the program that names it, the target's by its piece; both reach over the extents.
            unsafe { made.run(source.address as *const u8, target.address as *mut u8, 0..made.units()) };
            Ok(())
        }
        threads if made.chunks() == 1 => run_shared(&made.cut_for(threads), source, bytes, target, threads),
        threads => run_shared(&made, source, bytes, target, threads),
    }
}

/// Folds by several threads. Units that are fewer than these by far are cut into chunks.
fn run_shared(made: &Machine, source: &Source, bytes: u64, target: &Target, threads: u64) -> Result<()> {
    let (units, chunks, part) = (made.units(), made.chunks(), made.part_size().next_multiple_of(size_of::<Word>()));
    if units >= 4 * threads || chunks == 1 {
        return threads::share(units, bytes, &|units| {
            // SAFETY: the source's memory is kept by the program that names it, the target's by its piece; both reach over the extents. Units
            // have different results.
            unsafe { made.run(source.address as *const u8, target.address as *mut u8, units) };
            Ok(())
        });
    }
    let mut parts: Vec<Word> = vec![0; (units * chunks) as usize * part / size_of::<Word>()];
    let start = parts.as_mut_ptr() as u64;
    let place = |unit: u64, chunk: u64| start + (unit * chunks + chunk) * part as u64;
    threads::share(units * chunks, bytes, &|numbers| {
        for number in numbers {
            let (unit, chunk) = (number / chunks, number % chunks);
            // SAFETY: as above; each chunk has a place of its own.
            unsafe { made.part(source.address as *const u8, unit, chunk, place(unit, chunk) as *mut u8) };
        }
        Ok(())
    })?;
    for unit in 0..units {
        // SAFETY: as above; the parts of all chunks are there.
        unsafe { made.join(unit, place(unit, 0) as *const u8, part, target.address as *mut u8) };
    }
    Ok(())
}

/// Memory for what chunks are folded to is aligned so.
pub type Word = u128;

/// Computes and folds the elements of some points of the result at a time.
fn by_parts(program: &Program, fold: &Fold, target: &Target, axis: usize) -> Result<()> {
    let elem = element(program)?;
    let count = program.extents[axis];
    let each = share(program, axis)?;
    let along = (0..axis).filter(|axis| fold.axes & (1 << axis) == 0).count();
    let mut extents = program.extents.clone();
    extents[axis] = each;
    threads::share(count.div_ceil(each), needed(&program.extents, elem)?, &|parts| {
        let room = Piece::fresh(machine::CPU, &extents, elem)?;
        for first in parts.map(|part| part * each) {
            let part = program.part(axis, first, each.min(count - first));
            let source = compute(&part, elem, &room, nearest(&part, elem))?;
            let mut to = target.clone();
            to.address = to.address.wrapping_add_signed(target.strides[along] * first as i64);
            source_fold(&source, &part.extents, fold, &to)?;
        }
        Ok(())
    })
}

/// How much of an axis is computed at a time.
pub fn share(program: &Program, axis: usize) -> Result<u64> {
    let count = program.extents[axis];
    let whole = needed(&program.extents, element(program)?)?;
    Ok((parts::bytes() / (whole / count.max(1)).max(1)).clamp(1, count.max(1)))
}

/// Computes all elements and folds them.
fn stored(program: &Program, fold: &Fold, target: &Target) -> Result<()> {
    let elem = element(program)?;
    let room = Piece::fresh(machine::CPU, &program.extents, elem)?;
    let source = compute(program, elem, &room, nearest(program, elem))?;
    source_fold(&source, &program.extents, fold, target)
}

/// Computes a program's elements into memory that has room for them, where they lie at these strides.
pub fn compute(program: &Program, elem: Scalar, room: &Piece, strides: Strides) -> Result<Source> {
    let target = Target::of(elem, room, 0, &program.extents, strides.clone());
    run::run(program, &target)?;
    Ok(Source {
        elem,
        address: room.address(),
        strides,
    })
}

/// Strides of elements that lie as an operand does that has one for each: they are computed in the order in which that is read.
pub fn nearest(program: &Program, elem: Scalar) -> Strides {
    let moves = |load: &&Load| {
        load.strides
            .iter()
            .zip(&program.extents)
            .all(|(stride, extent)| *stride != 0 || *extent == 1)
    };
    let Some(whole) = program.loads.iter().find(moves) else {
        return dims::dense(&program.extents, elem.size());
    };
    let mut order: SmallVec<[usize; 4]> = (0..program.extents.len()).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(whole.strides[axis].unsigned_abs()));
    let extents: Dims = order.iter().map(|&axis| program.extents[axis]).collect();
    let mut strides = whole.strides.clone();
    for (axis, stride) in order.into_iter().zip(dims::dense(&extents, elem.size())) {
        strides[axis] = stride;
    }
    strides
}

pub fn element(program: &Program) -> Result<Scalar> {
    let result = program.result.ok_or_else(|| Error::Internal("a program without a result".into()))?;
    Ok(program.elem(result))
}
